/* A network as a line of text, and its layers.
 *
 *   28x28x1 * 28 - 0.3; conv 16 8x8/2 pad 2 tanh; pool 2/1; conv 32 4x4/2 tanh; pool 2/1; fc 32 tanh; fc 10; seed 7
 *
 * First the shape of a row: height x width x channels, pixel after pixel, or a number of columns; a factor of its values (1),
 * since rows of a data set have norm 1 at most, which makes pixels small; and a number that is subtracted from them (0), so
 * that they are centred at 0. Then the layers:
 *
 *   conv O KxK[/S] [pad P] [tanh|relu]   O filters of K × K, at distance S (1), on an image with P (0) zeros around it
 *   pool K[/S]                           largest of K × K, at distance S (K)
 *   mean-pool K[/S]                      mean of K × K
 *   fc O [tanh|relu]                     all inputs to each of O outputs
 *   norm G [tanh|relu]                   group normalisation of one example (Wu & He 2018): the channels in G groups, each
 *                                        group made mean 0 and variance 1, then times a_c plus b_c in channel c
 *   save                                 not a layer: keeps the values that are there
 *   add [tanh|relu]                      adds the kept values, of the same shape, to those that are there (a residual)
 *   seed N                               of the initial weights (1), last
 *
 * Parameters, layer after layer: for each output o the weights, as [row][column][channel] of its filter, or for an fc
 * layer in the order of its inputs; then the O biases. For norm: all a_c, then all b_c. */
#pragma once

#include "base/err.h"

#define DP_NET_LAYERS 64
#define DP_NET_MOST_PARAMETERS ((size_t)1 << 24)
#define DP_NET_MOST_VALUES ((size_t)1 << 20) /* outputs of one layer */

enum dp_net_kind { DP_NET_CONV, DP_NET_FC, DP_NET_POOL, DP_NET_MEAN_POOL, DP_NET_NORM, DP_NET_ADD };
enum dp_net_activation { DP_NET_LINEAR, DP_NET_TANH, DP_NET_RELU };

struct dp_net_shape {
    size_t height, width, channels;
};

struct dp_net_layer {
    enum dp_net_kind kind;
    enum dp_net_activation activation;
    size_t kernel, stride, pad;
    size_t groups;               /* norm */
    size_t kept;                 /* add: how many layers are before the kept values */
    struct dp_net_shape in, out; /* fc: 1 × 1 × number */
    size_t first, parameters;    /* place among the parameters, and number; 0 for pools */
};

struct dp_net {
    size_t inputs, outputs, parameters, layers;
    int64_t seed;
    float factor, centre; /* an input is factor × value − centre */
    struct dp_net_layer layer[DP_NET_LAYERS];
};

static inline size_t dp_net_size(struct dp_net_shape shape)
{
    return shape.height * shape.width * shape.channels;
}

/* Whether the layer multiplies its inputs by weights; norm has parameters, too. */
static inline bool dp_net_has_weights(const struct dp_net_layer *layer)
{
    return layer->kind == DP_NET_CONV || layer->kind == DP_NET_FC;
}

/* Number of inputs of one output of a layer with weights. */
static inline size_t dp_net_fan_in(const struct dp_net_layer *layer)
{
    return layer->kind == DP_NET_FC ? dp_net_size(layer->in) : layer->kernel * layer->kernel * layer->in.channels;
}

/* Reads the text (nets/text.c). DP_E_RUN: it is not a network; the sentence names the column. */
int dp_net_parse(struct dp_net *net, const char *text, struct dp_err *err);

/* The initial parameters, a public draw from the net's seed: weights are uniform with mean 0 and variance g / fan-in, where g is
 * 2 if relu follows (He et al. 2015) and 1 otherwise (LeCun et al. 1998); biases are 0; a_c is 1 and b_c is 0. */
void dp_net_start(const struct dp_net *net, double *parameters);
