#include "math/panels.h"

#include "base/mem.h"
#include "base/isa.h"

#define PANEL 16
#define QUAD 4

void dp_panels_open(struct dp_panels *panels, const double *matrix, size_t rows, size_t cols)
{
    size_t count = (rows + PANEL - 1) / PANEL;
    dp_panels_close(panels);
    panels->packed = dp_new(count * PANEL, cols * sizeof(double));
    panels->rows = rows;
    panels->cols = cols;
    for (size_t k = 0; k < rows; k++)
        for (size_t j = 0; j < cols; j++)
            panels->packed[(k / PANEL * cols + j) * PANEL + k % PANEL] = matrix[k * cols + j];
}

void dp_panels_close(struct dp_panels *panels)
{
    free(panels->packed);
    *panels = (struct dp_panels){0};
}

/* Four rows, of which the columns `at` are in x one after another, with one panel. */
DP_KERNEL(void, multiply_quad,
          (const double *restrict panel, const double *restrict x, size_t cols, const uint32_t *restrict at, size_t count,
           double (*restrict out)[PANEL]),
          (panel, x, cols, at, count, out))
{
    double a[PANEL] = {0}, b[PANEL] = {0}, c[PANEL] = {0}, d[PANEL] = {0};
    for (size_t j = 0; j < count; j++) {
        const double *t = panel + (size_t)at[j] * PANEL, xa = x[j], xb = x[cols + j], xc = x[2 * cols + j],
                     xd = x[3 * cols + j];
        __asm__("" : "+r"(t)); /* else the compiler takes two columns at a time, and gathers single numbers of both */
        for (size_t i = 0; i < PANEL; i++) {
            a[i] += xa * t[i];
            b[i] += xb * t[i];
            c[i] += xc * t[i];
            d[i] += xd * t[i];
        }
    }
    memcpy(out[0], a, sizeof a);
    memcpy(out[1], b, sizeof b);
    memcpy(out[2], c, sizeof c);
    memcpy(out[3], d, sizeof d);
}

DP_KERNEL(void, multiply_sparse, (const double *restrict panel, struct dp_row row, double *restrict out), (panel, row, out))
{
    double a[PANEL] = {0};
    for (size_t e = 0; e < row.count; e++) {
        const double *t = panel + (size_t)row.columns[e] * PANEL;
        for (size_t i = 0; i < PANEL; i++)
            a[i] += (double)row.values[e] * t[i];
    }
    memcpy(out, a, sizeof a);
}

static size_t width_of(const struct dp_panels *panels, size_t first)
{
    return panels->rows - first < PANEL ? panels->rows - first : PANEL;
}

/* Puts the columns of four rows of floats that are not zero in all of them into x, and their numbers into `at`. Returns how many
 * they are. A column of zeros would add zeros to sums that are never -0: the bits are the same without it. */
static size_t gather(const float *const *row, size_t features, double *x, size_t cols, uint32_t *at)
{
    size_t count = 0;
    for (size_t j = 0; j < features; j++) {
        const float a = row[0][j], b = row[1][j], c = row[2][j], d = row[3][j];
        x[count] = (double)a;
        x[cols + count] = (double)b;
        x[2 * cols + count] = (double)c;
        x[3 * cols + count] = (double)d;
        at[count] = (uint32_t)j;
        count += a != 0 || b != 0 || c != 0 || d != 0;
    }
    return count;
}

/* A block of rows in the workspace. */
struct block {
    double *x;    /* quads × 4 cols: their columns that are not zero */
    uint32_t *at; /* quads × cols: the numbers of these columns */
    size_t used[DP_PANELS_ROWS / QUAD], count;
};

static struct block widen(const struct dp_panels *panels, const struct dp_row *rows, size_t count, size_t features,
                          double constant, double *room)
{
    const size_t cols = panels->cols, whole = (count + QUAD - 1) / QUAD * QUAD;
    struct block b = {.x = room, .at = (uint32_t *)(room + DP_PANELS_ROWS * cols), .count = count};
    float *floats = (float *)(b.at + DP_PANELS_ROWS / QUAD * cols);
    for (size_t q = 0; q < whole / QUAD; q++) {
        double *x = b.x + q * QUAD * cols;
        const float *row[QUAD];
        for (size_t r = 0; r < QUAD; r++) /* the first row instead of those that are not there */
            row[r] = dp_row_floats(&rows[q * QUAD + r < count ? q * QUAD + r : 0], floats + r * cols);
        b.used[q] = gather(row, features, x, cols, b.at + q * cols);
        if (cols == features)
            continue;
        for (size_t r = 0; r < QUAD; r++)
            x[r * cols + b.used[q]] = constant;
        b.at[q * cols + b.used[q]++] = (uint32_t)features;
    }
    return b;
}

/* One panel with all rows: it stays in the first-level cache. */
static void dense(const struct dp_panels *panels, const struct block *b, double *products)
{
    double out[QUAD][PANEL];
    for (size_t first = 0; first < panels->rows; first += PANEL)
        for (size_t i = 0; i < b->count; i += QUAD) {
            multiply_quad(panels->packed + first * panels->cols, b->x + i * panels->cols, panels->cols,
                          b->at + i / QUAD * panels->cols, b->used[i / QUAD], out);
            for (size_t r = 0; r < QUAD && i + r < b->count; r++)
                memcpy(products + (i + r) * panels->rows + first, out[r], width_of(panels, first) * sizeof **out);
        }
}

/* The constant is added last, as in a dense row. */
static void sparse(const struct dp_panels *panels, struct dp_row row, bool ends, double constant, double *product)
{
    double out[PANEL];
    for (size_t first = 0; first < panels->rows; first += PANEL) {
        const double *panel = panels->packed + first * panels->cols, *last = panel + (panels->cols - 1) * PANEL;
        multiply_sparse(panel, row, out);
        for (size_t i = 0; ends && i < PANEL; i++)
            out[i] += constant * last[i];
        memcpy(product + first, out, width_of(panels, first) * sizeof *out);
    }
}

void dp_panels_multiply(const struct dp_panels *panels, const struct dp_row *rows, size_t count, size_t features,
                        double constant, double *wide, double *products)
{
    bool ends = panels->cols > features;
    if (count > 0 && rows[0].columns != NULL) {
        for (size_t i = 0; i < count; i++)
            sparse(panels, rows[i], ends, constant, products + i * panels->rows);
        return;
    }
    const struct block block = widen(panels, rows, count, features, constant, wide);
    dense(panels, &block, products);
}
