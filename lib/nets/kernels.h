/* Kernels of a network's layers, one version for each set of instructions. `lanes` examples go through a layer together:
 * value i of example l is at x[i × lanes + l]. Each example has its own lane, the arithmetic of a lane has a fixed order,
 * and a product and a sum are never contracted, so all versions give the same bits, whichever examples share a block. Arrays of
 * values are on a boundary of a vector. */
#pragma once

#include "base/isa.h"

#define DP_NET_MOST_LANES 16

/* Places and values of a window that weights_back takes at once, so that their copies stay in the first cache. */
#define DP_NET_TILE 48
#define DP_NET_PANEL 12

/* The places of a window on its input. Counted in values of one example. */
struct dp_net_window {
    size_t rows, run;     /* rows of the window, and its values in each, which are adjacent */
    size_t pitch;         /* distance from a row of the input to the next row */
    size_t down, right;   /* distance from a place to the place below, and to the next place */
    size_t height, width; /* places */
    size_t outputs;       /* of a place; y has height × width × outputs values */
};

struct dp_net_groups {
    size_t places, channels, groups;
};

struct dp_net_kernels {
    size_t lanes;

    /* y_o = bias_o + Σ_k w_ok x_k at each place. w: outputs × (rows × run). */
    void (*forward)(const struct dp_net_window *window, const float *x, const float *w, const float *bias, float *y);
    /* dw_ok = Σ d_o x_k over all places, and Σ d_o for each o after them; added to what is there if `more`. room: dp_net_room
       floats. */
    void (*weights_back)(const struct dp_net_window *window, const float *x, const float *d, float *dw, bool more, float *room);
    /* dx_k += Σ_o w_ok d_o at each place. */
    void (*input_back)(const struct dp_net_window *window, const float *d, const float *w, float *dx, float *room);

    /* The largest value, and the mean, of each channel in a window: run = columns × outputs, outputs = channels. */
    void (*pool)(const struct dp_net_window *window, const float *x, float *y);
    void (*mean_pool)(const struct dp_net_window *window, const float *x, float *y);
    /* dx += d at the first of the largest values of each window; dx += d / (size of the window) at all its values. */
    void (*pool_back)(const struct dp_net_window *window, const float *x, const float *y, const float *d, float *dx);
    void (*mean_pool_back)(const struct dp_net_window *window, const float *d, float *dx);

    /* The groups of channels of an image: y = a_c (x − mean) / sqrt(variance + 1e-5) + b_c, where w is all a, then all b, and
       mean and variance are of the group. Backward: dw like w; dx is written. */
    void (*norm)(const struct dp_net_groups *n, const float *x, const float *w, float *y);
    void (*norm_back)(const struct dp_net_groups *n, const float *x, const float *w, const float *d, float *dw, float *dx);
    /* y += x. */
    void (*plus)(const float *x, float *y, size_t count);

    /* count values in place: tanh x within 2 ulp of 1, and max(x, 0), where NaN stays NaN. Backward: d times the slope at the
       output y. */
    void (*tanh)(float *x, size_t count);
    void (*relu)(float *x, size_t count);
    void (*tanh_back)(const float *y, float *d, size_t count);
    void (*relu_back)(const float *y, float *d, size_t count);

    /* squares_l += Σ_i g_il², in double: relative error below (count + 4) 2^-53. */
    void (*squares)(const float *g, size_t count, double *squares);
    /* sum_i += Σ_l trunc(g_il scale_l), in floats, lanes with keep_l = −1 only (otherwise 0). |g_il scale_l| < 2^24. */
    void (*add)(const float *g, size_t count, const float *scale, const int32_t *keep, int64_t *sum);
    /* The same for the gradient d_o x_i of a layer that is a matrix: sum[o × inputs + i], trunc((d_o scale) x_i). */
    void (*add_outer)(const float *d, size_t outputs, const float *x, size_t inputs, const float *scale, const int32_t *keep,
                      int64_t *sum);
};

extern const struct dp_net_kernels dp_net_kernels_portable;
#ifdef DP_ISA_X86
extern const struct dp_net_kernels dp_net_kernels_avx2, dp_net_kernels_avx512;
#endif

/* Floats that weights_back and input_back want as room for copies. */
size_t dp_net_room(const struct dp_net_window *window, size_t lanes);
/* The kernels for dp_isa_used. */
const struct dp_net_kernels *dp_net_kernels(void);
