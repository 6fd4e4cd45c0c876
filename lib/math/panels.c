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
static size_t gather_plain(const float *const *row, size_t features, double *x, size_t cols, uint32_t *at)
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

/* Bit j mod 64 says whether column j, or one that has the same bit, is not zero. */
static uint64_t pattern_plain(const float *row, size_t features)
{
    uint64_t pattern = 0;
    for (size_t j = 0; j < features; j++)
        pattern |= (uint64_t)(row[j] != 0) << (j % 64);
    return pattern;
}

#ifdef DP_ISA_X86
#include <immintrin.h>

DP_TARGET_AVX512 static inline __mmask16 first(size_t count)
{
    return (__mmask16)(count < 16 ? (1U << count) - 1 : 0xffff);
}

DP_TARGET_AVX512 static inline __mmask16 not_zero(__m512 x)
{
    return _mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_NEQ_UQ);
}

DP_TARGET_AVX512 static size_t gather_wide(const float *const *row, size_t features, double *x, size_t cols, uint32_t *at)
{
    const __m512i places = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    size_t count = 0;
    for (size_t j = 0; j < features; j += 16) {
        __mmask16 keep = 0;
        __m512 entries[QUAD];
        for (size_t r = 0; r < QUAD; r++) {
            entries[r] = _mm512_maskz_loadu_ps(first(features - j), row[r] + j);
            keep |= not_zero(entries[r]);
        }
        const size_t kept = (size_t)__builtin_popcount(keep);
        const __mmask16 to = first(kept);
        for (size_t r = 0; r < QUAD; r++) {
            __m512 packed = _mm512_maskz_compress_ps(keep, entries[r]);
            __m256 high = _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(packed), 1));
            double *into = x + r * cols + count;
            _mm512_mask_storeu_pd(into, (__mmask8)to, _mm512_cvtps_pd(_mm512_castps512_ps256(packed)));
            _mm512_mask_storeu_pd(into + 8, (__mmask8)(to >> 8), _mm512_cvtps_pd(high));
        }
        __m512i numbers = _mm512_add_epi32(places, _mm512_set1_epi32((int)j));
        _mm512_mask_storeu_epi32(at + count, to, _mm512_maskz_compress_epi32(keep, numbers));
        count += kept;
    }
    return count;
}

DP_TARGET_AVX512 static uint64_t pattern_wide(const float *row, size_t features)
{
    uint64_t pattern = 0;
    for (size_t j = 0; j < features; j += 16)
        pattern |= (uint64_t)not_zero(_mm512_maskz_loadu_ps(first(features - j), row + j)) << (j % 64);
    return pattern;
}
#endif

static size_t gather(const float *const *row, size_t features, double *x, size_t cols, uint32_t *at)
{
#ifdef DP_ISA_X86
    if (dp_isa_used() == DP_ISA_AVX512)
        return gather_wide(row, features, x, cols, at);
#endif
    return gather_plain(row, features, x, cols, at);
}

static uint64_t pattern_of(struct dp_row row, size_t features)
{
    if (row.narrow != NULL)
        return 0;
#ifdef DP_ISA_X86
    if (dp_isa_used() == DP_ISA_AVX512)
        return pattern_wide(row.values, features);
#endif
    return pattern_plain(row.values, features);
}

#define AHEAD 4

/* The rows in an order that puts those next to each other which have zeros in the same columns, as rows of the same categories
 * do: four rows together then have fewer columns. */
static void arrange(const struct dp_row *rows, size_t count, size_t features, size_t *order)
{
    uint64_t pattern[DP_PANELS_ROWS];
    for (size_t i = 0; i < count; i++) {
        if (i + AHEAD < count)
            dp_row_prefetch(rows[i + AHEAD]);
        uint64_t own = pattern_of(rows[i], features);
        size_t at = i;
        for (; at > 0 && pattern[at - 1] > own; at--) {
            pattern[at] = pattern[at - 1];
            order[at] = order[at - 1];
        }
        pattern[at] = own;
        order[at] = i;
    }
}

/* A block of rows in the workspace. */
struct block {
    double *x;    /* quads × 4 cols: their columns that are not zero */
    uint32_t *at; /* quads × cols: the numbers of these columns */
    size_t used[DP_PANELS_ROWS / QUAD], count;
    size_t order[DP_PANELS_ROWS]; /* of the rows */
};

static void widen(const struct dp_panels *panels, const struct dp_row *rows, size_t count, size_t features, double constant,
                  double *room, struct block *b)
{
    const size_t cols = panels->cols, whole = (count + QUAD - 1) / QUAD * QUAD;
    b->x = room;
    b->at = (uint32_t *)(room + DP_PANELS_ROWS * cols);
    b->count = count;
    float *floats = (float *)(b->at + DP_PANELS_ROWS / QUAD * cols);
    arrange(rows, count, features, b->order);
    for (size_t q = 0; q < whole / QUAD; q++) {
        double *x = b->x + q * QUAD * cols;
        const float *row[QUAD];
        for (size_t r = 0; r < QUAD; r++) /* some row instead of those that are not there */
            row[r] = dp_row_floats(&rows[b->order[q * QUAD + r < count ? q * QUAD + r : 0]], floats + r * cols);
        b->used[q] = gather(row, features, x, cols, b->at + q * cols);
        if (cols == features)
            continue;
        for (size_t r = 0; r < QUAD; r++)
            x[r * cols + b->used[q]] = constant;
        b->at[q * cols + b->used[q]++] = (uint32_t)features;
    }
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
                memcpy(products + b->order[i + r] * panels->rows + first, out[r], width_of(panels, first) * sizeof **out);
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
    struct block block;
    widen(panels, rows, count, features, constant, wide, &block);
    dense(panels, &block, products);
}
