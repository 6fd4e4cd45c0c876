#include "math/moments.h"

#include "base/isa.h"
#include "base/mem.h"

#define ROWS 256 /* rows that are added together */
#define PANEL DP_PAIRS_RIGHT
#define ROOT 0x1.6a09e6p+0 /* √2, rounded down to a float: its product with a float is exact in double */
#define FINEST (-500)

/* 4^e ≥ bound 2^-29 for the smallest such e. */
double dp_moments_grid(double bound)
{
    int exponent;
    double fraction = frexp(bound, &exponent); /* bound = fraction 2^exponent, 0.5 ≤ fraction < 1 */
    int least = exponent - 29 - (fraction == 0.5), e = (least + 4096 + 1) / 2 - 2048;
    return ldexp(1, 2 * (e > FINEST ? e : FINEST));
}

void dp_moments_open(struct dp_moments *m, size_t cols, double bound)
{
    size_t panels = (cols + PANEL - 1) / PANEL;
    *m = (struct dp_moments){.cols = cols, .bound = bound, .panels = panels, .units = 1 / sqrt(dp_moments_grid(bound))};
    m->multiply = dp_pairs_for_this_cpu();
    m->left = dp_new(ROWS * panels * PANEL, sizeof *m->left);
    m->right = dp_new(ROWS * panels * PANEL, sizeof *m->right);
    m->most = dp_new(2 * panels, sizeof *m->most);
    m->floats = dp_new(cols, sizeof *m->floats);
    m->r = dp_new(panels * PANEL, sizeof *m->r);
    m->q = dp_new(panels * PANEL, sizeof *m->q);
    m->even_r = dp_new(panels * PANEL, sizeof *m->even_r);
    m->even_q = dp_new(panels * PANEL, sizeof *m->even_q);
    m->column = dp_new(cols, sizeof *m->column);
}

void dp_moments_close(struct dp_moments *m)
{
    free(m->left);
    free(m->right);
    free(m->most);
    free(m->floats);
    free(m->r);
    free(m->q);
    free(m->even_r);
    free(m->even_q);
    free(m->column);
    *m = (struct dp_moments){0};
}

double dp_moments_norm2(struct dp_row row, const float *tail, size_t tails)
{
    double norm2 = dp_row_norm2(row);
    for (size_t j = 0; j < tails; j++)
        norm2 += (double)tail[j] * (double)tail[j];
    return norm2;
}

/* The factor that makes the sum of the rows' squared norms at most the bound, in real arithmetic: 1, a smaller number, or 0 if
 * the sum is not finite. */
double dp_moments_shrink(const struct dp_moments *m, double norm2, size_t rows)
{
    if (!isfinite(norm2))
        return 0;
    /* Far above the rounding errors of norm, limit and their quotient. */
    double margin = ldexp((double)m->cols + (double)rows + 63, -52);
    double norm = sqrt(norm2) * (1 + margin), limit = sqrt(m->bound) * (1 - margin);
    return norm > limit ? limit / norm : 1;
}

/* by: at most 1, and below dp_moments_shrink's real number by more than the rounding of its products here. Products with 1, with
   ROOT and with the power of two are exact; truncation is toward zero. */
DP_KERNEL(void, to_grid,
          (const float *restrict x, size_t count, double by, double units, int16_t *restrict r, int16_t *restrict q),
          (x, count, by, units, r, q))
{
    for (size_t j = 0; j < count; j++) {
        double z = by * (double)x[j];
        q[j] = (int16_t)(int32_t)(z * units);
        r[j] = (int16_t)(int32_t)(ROOT * z * units);
    }
}

static void add_sparse(struct dp_moments *m, size_t count, int64_t *sum)
{
    for (size_t i = 0; i < count; i++) {
        int64_t *to = sum + dp_moments_at(m->cols, (size_t)m->column[i]) - m->column[i];
        to[m->column[i]] += m->q[i] * m->q[i];
        for (size_t j = i + 1; j < count; j++)
            to[m->column[j]] += m->r[i] * m->q[j];
    }
}

/* Puts two rows into the panels. */
DP_KERNEL(void, interleave, (const int16_t *restrict even, const int16_t *restrict odd, size_t panels, int16_t *restrict to),
          (even, odd, panels, to))
{
    for (size_t p = 0; p < panels; p++, even += PANEL, odd += PANEL, to += ROWS * PANEL)
        for (size_t k = 0; k < PANEL; k++) {
            to[2 * k] = even[k];
            to[2 * k + 1] = odd[k];
        }
}

static void swap(int16_t **a, int16_t **b)
{
    int16_t *c = *a;
    *a = *b;
    *b = c;
}

/* Puts r and q of the next row into the panels: of an even row, when the odd row after it comes. */
static void put(struct dp_moments *m)
{
    if (m->waiting++ % 2 == 0) {
        swap(&m->r, &m->even_r);
        swap(&m->q, &m->even_q);
        return;
    }
    const size_t at = dp_pairs_at(m->waiting - 2, 0);
    interleave(m->even_r, m->r, m->panels, m->left + at);
    interleave(m->even_q, m->q, m->panels, m->right + at);
}

void dp_moments_add(struct dp_moments *m, struct dp_row row, const float *tail, size_t tails, int64_t *sum)
{
    dp_moments_add_by(m, dp_moments_shrink(m, dp_moments_norm2(row, tail, tails), 1), row, tail, tails, sum);
}

void dp_moments_add_by(struct dp_moments *m, double by, struct dp_row row, const float *tail, size_t tails, int64_t *sum)
{
    size_t features = m->cols - tails, count = row.count;
    if (by == 0)
        return;
    to_grid(dp_row_floats(&row, m->floats), count, by, m->units, m->r, m->q);
    to_grid(tail, tails, by, m->units, m->r + count, m->q + count);
    if (row.columns == NULL) {
        put(m);
        if (m->waiting == ROWS)
            dp_moments_flush(m, sum);
        return;
    }
    memcpy(m->column, row.columns, count * sizeof *m->column);
    for (size_t j = 0; j < tails; j++)
        m->column[count + j] = (int32_t)(features + j);
    add_sparse(m, count + tails, sum);
}

DP_KERNEL(int16_t, largest, (const int16_t *panel, size_t count), (panel, count))
{
    int16_t most = 0;
    for (size_t i = 0; i < count; i++) {
        int16_t size = (int16_t)(panel[i] < 0 ? -panel[i] : panel[i]);
        most = size > most ? size : most;
    }
    return most;
}

/* Adds the part of a tile that is above the diagonal: columns i … i + 3 and the columns of panel p. */
static void add_part(const struct dp_moments *m, size_t i, size_t p, const int32_t part[DP_PAIRS_LEFT][PANEL], int64_t *sum)
{
    size_t to = p * PANEL + PANEL < m->cols ? PANEL : m->cols - p * PANEL;
    for (size_t a = 0; a < DP_PAIRS_LEFT && i + a < m->cols; a++) {
        int64_t *own = sum + dp_moments_at(m->cols, i + a) + p * PANEL - i - a;
        for (size_t k = i + a < p * PANEL ? 0 : i + a + 1 - p * PANEL; k < to; k++)
            own[k] += part[a][k];
    }
}

/* Adds a tile, in so many rows at a time that their sums have no more than 31 bits. Two rows always have room: |r| < 2^15 and
   |q| < 2^14.5. */
static void add_tile(const struct dp_moments *m, size_t i, size_t p, int64_t *sum)
{
    int32_t most = m->most[i / PANEL] * m->most[m->panels + p];
    size_t left = ROWS * PANEL * (i / PANEL) + dp_pairs_at(0, i % PANEL), right = ROWS * PANEL * p;
    size_t all = m->waiting / 2, room = most > 0 ? (size_t)(INT32_MAX / most / 2) : 0;
    for (size_t from = 0, count; most > 0 && from < all; from += count) {
        int32_t part[DP_PAIRS_LEFT][PANEL] = {0};
        count = room < all - from ? room : all - from;
        m->multiply(m->left + left + dp_pairs_at(2 * from, 0), m->right + right + dp_pairs_at(2 * from, 0), count, part);
        add_part(m, i, p, (const int32_t(*)[PANEL])part, sum);
    }
}

/* total[k] = Σ q² of column k of a panel. */
DP_KERNEL(void, add_squares, (const int16_t *restrict q, size_t pairs, int64_t *restrict total), (q, pairs, total))
{
    for (size_t i = 0; i < pairs; i++, q += 2 * PANEL)
        for (size_t k = 0; k < PANEL; k++)
            total[k] += q[2 * k] * q[2 * k] + q[2 * k + 1] * q[2 * k + 1]; /* below 2^30 */
}

static void add_diagonal(const struct dp_moments *m, size_t p, int64_t *sum)
{
    int64_t total[PANEL] = {0};
    add_squares(m->right + ROWS * PANEL * p, m->waiting / 2, total);
    for (size_t k = 0; k < PANEL && p * PANEL + k < m->cols; k++)
        sum[dp_moments_at(m->cols, p * PANEL + k)] += total[k];
}

#define TOGETHER 16 /* panels that stay in the cache */

void dp_moments_flush(struct dp_moments *m, int64_t *sum)
{
    if (m->waiting % 2 == 1) { /* a row of zeros makes the last pair whole */
        memset(m->r, 0, m->cols * sizeof *m->r);
        memset(m->q, 0, m->cols * sizeof *m->q);
        put(m);
    }
    for (size_t p = 0; p < m->panels; p++) {
        m->most[p] = largest(m->left + ROWS * PANEL * p, m->waiting * PANEL);
        m->most[m->panels + p] = largest(m->right + ROWS * PANEL * p, m->waiting * PANEL);
        add_diagonal(m, p, sum);
    }
    for (size_t from = 0; from < m->panels && m->waiting > 0; from += TOGETHER) {
        size_t to = from + TOGETHER < m->panels ? from + TOGETHER : m->panels;
        for (size_t i = 0; i < m->cols && i < to * PANEL; i += DP_PAIRS_LEFT)
            for (size_t p = i / PANEL > from ? i / PANEL : from; p < to; p++)
                add_tile(m, i, p, sum);
    }
    m->waiting = 0;
}

double dp_moments_along(const int64_t *sum, size_t cols, const double *z, size_t count)
{
    double total = 0;
    for (size_t i = 0; i < count; i++) {
        const int64_t *own = sum + dp_moments_at(cols, i);
        double off = 0;
        for (size_t j = i + 1; j < count; j++)
            off += (double)own[j - i] * z[j];
        total += z[i] * ((double)*own * z[i] + M_SQRT2 * off);
    }
    return total;
}
