/* Rows as a table: in the words of the schema. */

#include <math.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/text.h"
#include "data/words.h"
#include "rows/rows.h"

#define NARROW 16 /* a bin of so small a part of the bounds may be one number */
/* A bound that is as near to a whole number, as a part of the bounds, is taken for it: a paid schema may have -2^-19 for 0. */
#define NEAR 0x1p-16

/* One number against others: the schema has no other bounds. */
static bool is_one_number(const struct dp_cells *cells, size_t column)
{
    return !cells->column[column].label && dp_column_is_one_number(cells->column[column].of);
}

/* Whether numbers of the column are taken to be whole: the bounds are, and if they are close, two bins or more are so narrow
 * that a frequent number has them, and each of these has a whole number. */
static bool is_whole(const struct dp_cells *cells, size_t column)
{
    double least, most;
    size_t narrow = 0;
    if (!dp_cells_bounds(cells, column, &least, &most) || fabs(least - round(least)) > NEAR * (most - least) ||
        fabs(most - round(most)) > NEAR * (most - least))
        return false;
    for (size_t k = 0; most - least < DP_ROWS_WHOLE && k < cells->column[column].listed; k++) {
        const double low = dp_cells_edge(cells, column, k), high = dp_cells_edge(cells, column, k + 1);
        if (high - low > (most - least) / NARROW)
            continue;
        if (ceil(low) >= high && high < most)
            return false;
        narrow++;
    }
    return most - least >= DP_ROWS_WHOLE || narrow >= 2;
}

/* The share of the rows of a column that part k has from low to high. `whole`: a part without a whole number has no share. */
static double share_of(const struct dp_basis *b, size_t k, double low, double high, bool whole)
{
    const double from = fmax(b->place[k], low), to = fmin(b->place[k + 1], high);
    if (b->place[k] == b->place[k + 1])
        return from == to && (to < high || k + 1 == b->parts) ? b->share[k] : 0;
    return from < to && (!whole || ceil(from) < to) ? b->share[k] * (to - from) / (b->place[k + 1] - b->place[k]) : 0;
}

/* Narrows low to high to one of the parts that the schema knows between them, by their shares; *u, from 0 to 1, chooses it, and
 * becomes a place in it. */
static void choose_part(const struct dp_basis *b, bool whole, double *low, double *high, double *u)
{
    double all = 0, before = 0, share = 0;
    size_t k = 0;
    for (size_t i = 0; i < b->parts; i++)
        all += share_of(b, i, *low, *high, whole);
    if (!(all > 0))
        return;
    for (; k < b->parts; k++) {
        share = share_of(b, k, *low, *high, whole);
        if (share > 0 && *u * all < before + share)
            break;
        before += share;
    }
    if (k == b->parts)
        return;
    *u = (*u * all - before) / share;
    *low = fmax(b->place[k], *low);
    *high = fmin(b->place[k + 1], *high);
}

/* A number of the cell: a whole one if there is one and numbers of the column are `whole`. u: 64 random bits. */
static double number_in(const struct dp_cells *cells, size_t column, size_t cell, bool whole, uint64_t u)
{
    double low = dp_cells_edge(cells, column, cell), high = dp_cells_edge(cells, column, cell + 1), least = 0, most = 0;
    double part = (double)(u >> 11) * 0x1p-53;
    dp_cells_bounds(cells, column, &least, &most);
    if (is_one_number(cells, column)) /* a whole one; other numbers are beyond the other bound */
        return least == floor(least) ? least + (low > least) : most - (high < most);
    if (!cells->column[column].label)
        choose_part(&cells->column[column].of->basis, whole, &low, &high, &part);
    if (low == high)
        return low;
    const double first = ceil(low), last = ceil(high) - 1;
    if (whole)
        return fmin(first + floor(part * fmax(last - first + 1, 1)), most);
    double step = pow(10, floor(log10((most - least) / 256))), v = low + part * (high - low);
    v = round(v / step) * step;
    return v >= low && v < high ? v : low;
}

static void put_number(const struct dp_column *c, double v, FILE *out)
{
    char text[DP_DATE_TEXT];
    if (c->date == NULL)
        fprintf(out, "%.9g", v);
    else
        fputs(dp_cells_number(c, v, text, sizeof text), out);
}

/* A text that shares the bucket, or "other". */
static void put_bucket(const struct dp_column *c, size_t cell, FILE *out)
{
    const size_t bucket = cell - (c->categories.count - c->buckets);
    char text[40] = "other";
    for (unsigned k = 1; k < 100000; k++) {
        snprintf(text, sizeof text, "other %u", k);
        if (dp_words_hash(text, strlen(text)) % c->buckets == bucket)
            break;
    }
    fputs(text, out);
}

/* A missing cell is empty, or has the number that is missing in this column, such as -1. */
static void put_missing(const struct dp_column *c, FILE *out)
{
    double value;
    for (size_t k = 0; c->type == DP_COLUMN_NUMERIC && k < c->missing.count; k++)
        if (dp_number_real(c->missing.text[k], &value)) {
            fputs(c->missing.text[k], out);
            return;
        }
}

static void put_cell(const struct dp_rows_source *source, size_t j, size_t cell, bool whole, uint64_t u, FILE *out)
{
    const size_t column = source->column[j];
    const struct dp_cell_column *c = &source->cells.column[column];
    char word[DP_CELLS_WORD];
    double least, most;
    if (cell == c->missing) {
        put_missing(c->of, out);
        return;
    }
    if (cell != c->other && dp_cells_bounds(&source->cells, column, &least, &most)) {
        put_number(c->of, number_in(&source->cells, column, cell, whole, u), out);
        return;
    }
    if (cell != c->other && !c->label && cell >= c->listed - c->of->buckets) {
        put_bucket(c->of, cell, out);
        return;
    }
    dp_cells_word(&source->cells, column, cell, word);
    dp_text_csv("", word, strlen(word), out);
}

static void put_name(const struct dp_rows_source *source, size_t j, FILE *out)
{
    char shown[DP_TEXT_SHOWN];
    const char *name = source->cells.column[source->column[j]].name;
    fputs(dp_text_show(name, strlen(name), shown), out);
}

void dp_rows_say(const struct dp_rows_source *source, const struct dp_rows_errors errors[DP_ROWS_DEEPEST - 1], double width,
                 const char *begin, FILE *out)
{
    static const char *const words[DP_ROWS_DEEPEST - 1] = {"two", "three", "four"};
    for (size_t k = 0; k < DP_ROWS_DEEPEST - 1; k++) {
        const struct dp_rows_errors *e = &errors[k];
        if (e->of == NULL && k < 2)
            fprintf(out, "%stables of %s columns: no table was released, so the error of rows is not known\n", begin, words[k]);
        if (e->of == NULL)
            continue;
        fprintf(
            out,
            "%stables of %s columns: rows differ from the %zu that were released by %.3f on average (total variation), where "
            "noise gives %.3f; at most by %.3f, where noise gives %.3f, for ",
            begin, words[k], e->tables, e->far, e->noise, e->largest, e->largest_noise);
        for (size_t i = 0; i < e->of->columns; i++) {
            fputs(i == 0 ? "" : ", ", out);
            put_name(source, e->of->column[i], out);
        }
        fputs(k > 0 ? "; the error for other columns is not known\n" : "\n", out);
    }
    fprintf(out, "%sdo not believe a group of fewer than %.0f rows, by two columns or one: noise hides it\n", begin,
            ceil(width));
}

void dp_rows_warn(const struct dp_rows_source *source, const char *program)
{
    for (size_t j = 0; j < source->shape.columns; j++) {
        const struct dp_cell_column *c = &source->cells.column[source->column[j]];
        char shown[DP_TEXT_SHOWN];
        const char *name = dp_text_show(c->name, strlen(c->name), shown);
        if (is_one_number(&source->cells, source->column[j])) {
            const bool above = c->of->low == floor(c->of->low);
            const double one = above ? c->of->low : c->of->high;
            fprintf(stderr, "%s: column '%s': rows have %.0f for each number %s %.0f, which the schema does not tell apart\n",
                    program, name, above ? one + 1 : one - 1, above ? "above" : "below", one);
        }
        if (!c->label && c->of->type == DP_COLUMN_CATEGORICAL && c->of->buckets > 0)
            fprintf(stderr, "%s: column '%s': texts that the schema does not name are 'other 1', 'other 2', ...\n", program,
                    name);
    }
}

void dp_rows_print(const struct dp_rows_source *source, const struct dp_key *key, const uint16_t *row, size_t pool,
                   const uint32_t *chosen, size_t count, FILE *out)
{
    const size_t columns = source->shape.columns;
    uint64_t *word = dp_new(columns * 512, sizeof *word);
    bool whole[columns];
    for (size_t j = 0; j < columns; j++) {
        whole[j] = is_whole(&source->cells, source->column[j]);
        const char *name = source->cells.column[source->column[j]].name;
        dp_text_csv("", name, strlen(name), out);
        putc(j + 1 < columns ? ',' : '\n', out);
    }
    for (size_t i = 0; i < count; i++) {
        if (i % 512 == 0)
            for (size_t j = 0; j < columns; j++)
                dp_draw(key, DP_DRAW_ROWS, DP_ROWS_ORDER + 1 + j, i * sizeof *word, word + j * 512, 512 * sizeof *word);
        for (size_t j = 0; j < columns; j++) {
            put_cell(source, j, row[j * pool + chosen[i]], whole[j], word[j * 512 + i % 512], out);
            putc(j + 1 < columns ? ',' : '\n', out);
        }
    }
    free(word);
}
