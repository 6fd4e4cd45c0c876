#include "tables/picture.h"

#include "base/text.h"

enum { LABEL = 220, WIDE = 96, BAR = 480, HIGH = 24, TOP = 64 };

/* The words of the row of a picture: all columns of the table but `last` ones. */
static void row_words(const struct dp_cells *cells, const struct dp_table *t, size_t last, size_t row, FILE *out)
{
    char word[DP_CELLS_WORD], shown[DP_TEXT_SHOWN];
    size_t place[DP_TABLES_COLUMNS];
    for (size_t k = t->columns - last; k-- > 0; row /= t->cells[k])
        place[k] = row % t->cells[k];
    for (size_t k = 0; k < t->columns - last; k++) {
        dp_cells_word(cells, (size_t)dp_cells_find(cells, t->column[k]), place[k], word);
        fputs(k > 0 ? ", " : "", out);
        dp_text_xml(dp_text_show(word, strlen(word), shown), out);
    }
}

static void text_at(double x, double y, const char *anchor, FILE *out)
{
    fprintf(out, "<text x=\"%g\" y=\"%g\" text-anchor=\"%s\">", x, y, anchor);
}

void dp_picture_print(const struct dp_cells *cells, const struct dp_table *t, const double *value, FILE *out)
{
    const size_t last = t->columns > 1 ? 1 : 0, across = last ? t->cells[t->columns - 1] : 1, rows = t->size / across;
    const double *count = value + t->offset;
    double most = 1;
    for (size_t i = 0; i < t->size; i++)
        most = fmax(most, count[i]);
    fprintf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%zu\" height=\"%zu\" font-family=\"sans-serif\" font-size=\"12\">\n"
        "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
        LABEL + (last ? across * WIDE : BAR + 80) + 16, TOP + rows * HIGH + 16);
    text_at(16, 24, "start", out);
    fputs("Rows by ", out);
    for (size_t k = 0; k < t->columns; k++) {
        fputs(k == 0 ? "" : k + 1 == t->columns ? " and " : ", ", out);
        dp_text_xml(t->column[k], out);
    }
    fputs("</text>\n", out);
    for (size_t c = 0; last && c < across; c++) {
        char word[DP_CELLS_WORD];
        dp_cells_word(cells, (size_t)dp_cells_find(cells, t->column[t->columns - 1]), c, word);
        if (dp_text_cut(word, strlen(word), 14) < strlen(word))
            strcpy(word + dp_text_cut(word, strlen(word), 13), "…");
        text_at(LABEL + ((double)c + 0.5) * WIDE, TOP - 8, "middle", out);
        dp_text_xml(word, out);
        fputs("</text>\n", out);
    }
    for (size_t i = 0; i < t->size; i++) {
        const double part = fmax(count[i], 0) / most, y = TOP + (double)(i / across) * HIGH;
        const double x = LABEL + (last ? (double)(i % across) * WIDE : 0), wide = last ? WIDE - 2 : fmax(part * BAR, 1);
        const int red = last ? (int)(247 - 214 * part) : 74, green = last ? (int)(251 - 138 * part) : 134;
        fprintf(out, "<rect x=\"%g\" y=\"%g\" width=\"%.1f\" height=\"%d\" fill=\"rgb(%d,%d,%d)\"/>\n", x, y, wide, HIGH - 2,
                red, green, last ? (int)(255 - 74 * part) : 184);
        fprintf(out, "<text x=\"%.1f\" y=\"%g\" text-anchor=\"%s\" fill=\"%s\">%.0f</text>\n",
                last ? x + WIDE / 2.0 : x + wide + 6, y + 15, last ? "middle" : "start",
                last && part > 0.55 ? "white" : "black", round(count[i]) + 0.0);
        if (i % across == 0) {
            text_at(LABEL - 8, y + 15, "end", out);
            row_words(cells, t, last, i / across, out);
            fputs("</text>\n", out);
        }
    }
    fputs("</svg>\n", out);
}
