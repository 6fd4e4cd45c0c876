#include "tables/picture.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"

enum { EDGE = 16, LETTER = 7, WIDE = 96, BAR = 480, HIGH = 24, TOP = 64, ACROSS = 14 };

/* The words of a row: all columns of the table but `last` ones. */
static void row_words(const struct dp_cells *cells, const struct dp_table *t, size_t last, size_t row, FILE *out)
{
    char word[DP_CELLS_WORD], shown[DP_TEXT_SHOWN];
    size_t place[DP_TABLES_COLUMNS];
    for (size_t k = t->columns - last; k-- > 0; row /= t->cells[k])
        place[k] = row % t->cells[k];
    for (size_t k = 0; k < t->columns - last; k++) {
        dp_cells_word(cells, (size_t)dp_cells_find(cells, t->column[k]), place[k], word);
        fputs(k > 0 ? ", " : "", out);
        fputs(dp_text_show(word, strlen(word), shown), out);
    }
}

static void title(const struct dp_table *t, FILE *out)
{
    fputs("Rows by ", out);
    for (size_t k = 0; k < t->columns; k++) {
        fputs(k == 0 ? "" : k + 1 == t->columns ? " and " : ", ", out);
        char shown[DP_TEXT_SHOWN];
        fputs(dp_text_show(t->column[k], strlen(t->column[k]), shown), out);
    }
}

static size_t letters_of(const char *text)
{
    size_t letters = 0;
    for (; *text != '\0'; text++)
        letters += (*text & 0xC0) != 0x80; /* of UTF-8 */
    return letters;
}

/* The title, and the words of each row, as texts. */
struct labels {
    size_t last, across, rows; /* last: 1 if the last column goes across, which has `across` cells; or 0 and 1 */
    char *title, **row;
    size_t widest; /* letters of the longest words of a row */
};

static void open_labels(struct labels *l, const struct dp_cells *cells, const struct dp_table *t)
{
    size_t size;
    *l = (struct labels){.last = t->columns > 1 ? 1 : 0};
    l->across = l->last ? t->cells[t->columns - 1] : 1;
    l->rows = t->size / l->across;
    l->row = dp_new(l->rows, sizeof *l->row);
    FILE *memory = dp_got(open_memstream(&l->title, &size));
    title(t, memory);
    dp_close_text(memory);
    for (size_t i = 0; i < l->rows; i++) {
        memory = dp_got(open_memstream(&l->row[i], &size));
        row_words(cells, t, l->last, i, memory);
        dp_close_text(memory);
        const size_t letters = letters_of(l->row[i]);
        l->widest = letters > l->widest ? letters : l->widest;
    }
}

static void close_labels(struct labels *l)
{
    for (size_t i = 0; i < l->rows; i++)
        free(l->row[i]);
    free(l->row);
    free(l->title);
}

/* The word of cell c of the column that goes across, at most ACROSS letters. */
static const char *across_word(const struct dp_cells *cells, const struct dp_table *t, size_t c, char word[DP_CELLS_WORD])
{
    dp_cells_word(cells, (size_t)dp_cells_find(cells, t->column[t->columns - 1]), c, word);
    if (dp_text_cut(word, strlen(word), ACROSS) < strlen(word))
        strcpy(word + dp_text_cut(word, strlen(word), ACROSS - 1), "…");
    return word;
}

static void text_at(double x, double y, const char *anchor, FILE *out)
{
    fprintf(out, "<text x=\"%g\" y=\"%g\" text-anchor=\"%s\">", x, y, anchor);
}

void dp_picture_print(const struct dp_cells *cells, const struct dp_table *t, const double *value, FILE *out)
{
    struct labels l;
    open_labels(&l, cells, t);
    const size_t last = l.last, across = l.across;
    const double *count = value + t->offset;
    const size_t left = EDGE + l.widest * LETTER + 8, named = EDGE + letters_of(l.title) * LETTER;
    const size_t drawn = left + (last ? across * WIDE : BAR + 80);
    double most = 1;
    for (size_t i = 0; i < t->size; i++)
        most = fmax(most, count[i]);
    fprintf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%zu\" height=\"%zu\" font-family=\"sans-serif\" font-size=\"12\">\n"
        "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
        (drawn > named ? drawn : named) + EDGE, TOP + l.rows * HIGH + EDGE);
    text_at(EDGE, 24, "start", out);
    dp_text_xml(l.title, out);
    fputs("</text>\n", out);
    for (size_t c = 0; last && c < across; c++) {
        char word[DP_CELLS_WORD];
        text_at((double)left + ((double)c + 0.5) * WIDE, TOP - 8, "middle", out);
        dp_text_xml(across_word(cells, t, c, word), out);
        fputs("</text>\n", out);
    }
    for (size_t i = 0; i < t->size; i++) {
        const double part = fmax(count[i], 0) / most, y = TOP + (double)(i / across) * HIGH;
        const double x = (double)left + (last ? (double)(i % across) * WIDE : 0), wide = last ? WIDE - 2 : fmax(part * BAR, 1);
        const int red = last ? (int)(247 - 214 * part) : 74, green = last ? (int)(251 - 138 * part) : 134;
        fprintf(out, "<rect x=\"%g\" y=\"%g\" width=\"%.1f\" height=\"%d\" fill=\"rgb(%d,%d,%d)\"/>\n", x, y, wide, HIGH - 2,
                red, green, last ? (int)(255 - 74 * part) : 184);
        fprintf(out, "<text x=\"%.1f\" y=\"%g\" text-anchor=\"%s\" fill=\"%s\">%.0f</text>\n",
                last ? x + WIDE / 2.0 : x + wide + 6, y + 15, last ? "middle" : "start",
                last && part > 0.55 ? "white" : "black", round(count[i]) + 0.0);
        if (i % across == 0) {
            text_at((double)left - 8, y + 15, "end", out);
            dp_text_xml(l.row[i / across], out);
            fputs("</text>\n", out);
        }
    }
    fputs("</svg>\n", out);
    close_labels(&l);
}

/* The counts of a table with their sums: (rows + 1) × (across + 1). The caller frees them. */
static double *with_sums(const struct labels *l, const double *count)
{
    const size_t wide = l->across + 1;
    double *sum = dp_new((l->rows + 1) * wide, sizeof *sum);
    for (size_t i = 0; i < l->rows; i++)
        for (size_t c = 0; c < l->across; c++) {
            const double v = count[i * l->across + c];
            sum[i * wide + c] = v;
            sum[i * wide + l->across] += v;
            sum[l->rows * wide + c] += v;
            sum[l->rows * wide + l->across] += v;
        }
    return sum;
}

void dp_picture_text(const struct dp_cells *cells, const struct dp_table *t, const double *value, double width, FILE *out)
{
    struct labels l;
    char word[DP_CELLS_WORD];
    open_labels(&l, cells, t);
    const size_t left = l.widest > 3 ? l.widest : 3, shown = l.across + l.last;
    double *sum = with_sums(&l, value + t->offset);
    fprintf(out, "%s; counts ± %.3g, 19 times in 20\n\n", l.title, width);
    for (size_t i = 0; i < l.rows + 2; i++) {
        if (i == 0 && l.last == 0)
            continue; /* one column has no words across */
        const char *label = i == 0 ? "" : i <= l.rows ? l.row[i - 1] : "all";
        fprintf(out, "%s%*s", label, (int)(left - letters_of(label)), "");
        for (size_t c = 0; c < shown; c++) {
            if (i > 0)
                snprintf(word, sizeof word, "%.0f", round(sum[(i - 1) * (l.across + 1) + c]) + 0.0);
            else if (c < l.across)
                across_word(cells, t, c, word);
            else
                snprintf(word, sizeof word, "all");
            fprintf(out, "  %*s%s", (int)(ACROSS - letters_of(word)), "", word);
        }
        putc('\n', out);
    }
    free(sum);
    close_labels(&l);
}
