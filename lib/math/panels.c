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

/* Four rows with one panel. */
DP_KERNEL(void, multiply_quad,
          (const double *restrict panel, const double *restrict x, size_t cols, double (*restrict out)[PANEL]),
          (panel, x, cols, out))
{
    double a[PANEL] = {0}, b[PANEL] = {0}, c[PANEL] = {0}, d[PANEL] = {0};
    for (size_t j = 0; j < cols; j++) {
        double xa = x[j], xb = x[cols + j], xc = x[2 * cols + j], xd = x[3 * cols + j];
        for (size_t i = 0; i < PANEL; i++) {
            double t = panel[j * PANEL + i];
            a[i] += xa * t;
            b[i] += xb * t;
            c[i] += xc * t;
            d[i] += xd * t;
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

static void dense(const struct dp_panels *panels, const double *wide, size_t count, double *products)
{
    double out[QUAD][PANEL];
    for (size_t first = 0; first < panels->rows; first += PANEL)
        for (size_t i = 0; i < count; i += QUAD) {
            multiply_quad(panels->packed + first * panels->cols, wide + i * panels->cols, panels->cols, out);
            for (size_t r = 0; r < QUAD && i + r < count; r++)
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
    size_t whole = (count + QUAD - 1) / QUAD * QUAD;
    memset(wide + count * panels->cols, 0, (whole - count) * panels->cols * sizeof *wide);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < features; j++)
            wide[i * panels->cols + j] = (double)dp_row_value(&rows[i], j);
        if (ends)
            wide[i * panels->cols + features] = constant;
    }
    dense(panels, wide, count, products);
}
