/* Kernels over dense rows, one version for each set of instructions; math/vec.h and math/tally.h use them. A product and a sum
   of doubles are never contracted, so with the fixed lanes (math/lanes.h) all versions give the same bits. No kernel reads
   beyond the last entry of a row. */
#pragma once

#include "base/isa.h"
#include "math/lanes.h"
#include "math/vec.h"

#define DP_SPAN 400 /* columns at a time: rows as doubles and the lanes of their sums stay in the cache */
#define DP_QUAD 4

struct dp_kernels {
    double (*dot)(const float *x, const double *w, size_t count);
    double (*norm2)(const float *x, size_t count);
    double (*plain_norm2)(const double *w, size_t count);
    void (*axpy)(double a, const float *x, double *w, size_t count);
    void (*add_grid)(double a, double inverse_grid, const float *x, int64_t *sum, size_t count);

    /* The same for rows of whole numbers q_j with scales: x_j = q_j × scale_j. */
    double (*narrow_dot)(const int16_t *q, const float *scale, const double *w, size_t count);
    double (*narrow_norm2)(const int16_t *q, const float *scale, size_t count);
    void (*narrow_axpy)(double a, const int16_t *q, const float *scale, double *w, size_t count);
    void (*narrow_add_grid)(double a, double inverse_grid, const int16_t *q, const float *scale, int64_t *sum, size_t count);
    void (*unpack)(const int16_t *q, const float *scale, float *x, size_t count);

    /* Packs the numbers that have a bit that is 1 to the front of `kept`, which has room for count and LANES more. Returns how
       many they are. Bit j mod 8 of bits[j / 8] says whether number j is one; bits has count / 8 bytes of room, with count
       rounded up to a multiple of LANES. */
    size_t (*pack)(const float *x, size_t count, unsigned char *bits, uint32_t *kept);

    /* dot[i] = Σ_j row_ij w_j and, unless norm2 is NULL, norm2[i] = Σ_j row_ij² of `count` rows, which share one length; next as
       for dp_rows_dot. */
    void (*dot_norm2)(const struct dp_row *rows, size_t count, const struct dp_row *next, const double *w, double *dot,
                      double *norm2);

    /* Adds four rows times v, then times w, to the lanes: eight sums, as many as the registers hold. */
    void (*dot_4x2)(const double (*x)[DP_SPAN], const double *v, const double *w, size_t count, double (*lane)[LANES]);
    void (*widen)(const float *x, double *wide, size_t count);

    /* lane[k × stride + j] += Σ_i trunc(a[i × outputs + k] x_i[j]) for j < cols, where |a x| < 2^24. lane is on a boundary of
       64 bytes, and stride a multiple of 16 that is at least cols; columns between cols and stride may be written to, but do
       not change. Leaves the rounding mode unchanged. */
    void (*add)(const float *a, size_t outputs, const float *const *x, size_t count, size_t cols, int32_t *lane, size_t stride);
};

extern const struct dp_kernels dp_kernels_portable;
#ifdef DP_ISA_X86
extern const struct dp_kernels dp_kernels_avx2, dp_kernels_avx512;
#endif

/* The kernels for dp_isa_used. */
const struct dp_kernels *dp_kernels(void);
