/* A block of examples through a network, forward and backward: outputs, each example's gradient, its norm, and the sum of all
 * clipped gradients as whole numbers. One room for each thread; its memory does not depend on the batch: the values of
 * a block (kernels->lanes examples), and their gradients of filters. The gradient of a matrix (fc) is d xᵀ and is not stored:
 * ‖d (x, 1)ᵀ‖² = ‖d‖² (‖x‖² + 1) (Goodfellow 2015). If an example has several views (nets/view.h), its gradient is the mean over
 * them, and the gradient of a matrix is stored as well. */
#pragma once

#include "math/vec.h"
#include "nets/kernels.h"
#include "nets/net.h"
#include "nets/view.h"

struct dp_net_pass {
    const struct dp_net *net; /* borrowed */
    const struct dp_net_kernels *kernels;
    float *memory;                  /* owned */
    float *in[DP_NET_LAYERS];       /* input of a layer, with the zeros around it */
    float *out[DP_NET_LAYERS];      /* its output, after the activation */
    float *gradient[DP_NET_LAYERS]; /* gradient of the layer's parameters; NULL if it is d xᵀ */
    float *kept[DP_NET_LAYERS];     /* d: slope by its output (fc) */
    float *slope[2], *padded;       /* derivatives of the loss by a layer's output and input; the second is padded with zeros */
    float *added;                   /* slope by what "add" has added */
    float *room;                    /* of the kernels */
    float *row;                     /* one row as floats */
};

/* views: number of views of each example for dp_net_backward; 0 if it will not be called. Starts zeroed; close it even if this
 * fails. */
void dp_net_pass_open(struct dp_net_pass *pass, const struct dp_net *net, size_t views);
void dp_net_pass_close(struct dp_net_pass *pass);

/* Loads the rows of at most kernels->lanes examples, each with the net's number of inputs, or a view of each row; views may be
 * NULL. The other lanes keep what they have, and add nothing while their slopes are 0. */
void dp_net_load(struct dp_net_pass *pass, const struct dp_row *rows, const struct dp_net_view *views, size_t count);

/* Outputs of the block: value k of example l is dp_net_output. weights: the parameters as floats. */
void dp_net_forward(struct dp_net_pass *pass, const float *weights);
static inline double dp_net_output(const struct dp_net_pass *pass, size_t k, size_t l)
{
    return (double)pass->out[pass->net->layers - 1][k * pass->kernels->lanes + l];
}

/* slope: outputs × kernels->lanes, derivative of each example's loss by its outputs; 0 for lanes without an example.
   View 0 begins the gradients of new examples, later views add to them: the slopes belong to the mean over the views. */
void dp_net_backward(struct dp_net_pass *pass, const float *weights, const float *slope, size_t view);

/* squares[l]: the squared norm of example l's gradient, in double (relative error below (parameters + 16) 2^-53). */
void dp_net_squares(const struct dp_net_pass *pass, double *squares);

/* sum_j −= Σ_l trunc(g_lj min(1, C'/‖g_l‖) / grid) over the lanes with finite squares, where C' is the bound less the rounding
 * errors of the norm: each example's part, times the grid, has L2 norm at most the bound as real numbers. The sum is of negative
 * gradients. Call it after dp_net_squares. */
void dp_net_add(const struct dp_net_pass *pass, const double *squares, double bound, double grid, int64_t *sum);
