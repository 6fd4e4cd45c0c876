#include "nets/pass.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define L DP_NET_LANES

static bool has_weights(const struct dp_net_layer *layer)
{
    return layer->parameters > 0;
}

static size_t padded_size(const struct dp_net_layer *layer)
{
    return (layer->in.height + 2 * layer->pad) * (layer->in.width + 2 * layer->pad) * layer->in.channels;
}

static struct dp_net_window window_of(const struct dp_net_layer *layer)
{
    size_t channels = layer->in.channels, pitch = (layer->in.width + 2 * layer->pad) * channels;
    if (layer->kind == DP_NET_FC)
        return (struct dp_net_window){1, dp_net_size(layer->in), 0, 0, 0, 1, 1, layer->out.channels};
    return (struct dp_net_window){layer->kernel,         layer->kernel * channels, pitch,
                                  layer->stride * pitch, layer->stride * channels, layer->out.height,
                                  layer->out.width,      layer->out.channels};
}

/* Takes `count` values of all lanes from the memory, or only counts them as long as there is no memory. */
static float *take(const struct dp_net_pass *pass, size_t *used, size_t count)
{
    float *at = pass->memory != NULL ? pass->memory + *used : NULL;
    *used += count * L;
    return at;
}

/* Gives each part its place. Returns the number of floats. */
static size_t divide(struct dp_net_pass *pass, bool gradients)
{
    const struct dp_net *net = pass->net;
    size_t used = 0, most = net->inputs, most_padded = 0;
    float *before = take(pass, &used, net->inputs);
    for (size_t l = 0; l < net->layers; l++) {
        const struct dp_net_layer *layer = &net->layer[l];
        size_t size = dp_net_size(layer->out);
        pass->in[l] = layer->pad > 0 ? take(pass, &used, padded_size(layer)) : before;
        pass->out[l] = before = take(pass, &used, size);
        if (gradients && layer->kind == DP_NET_CONV)
            pass->gradient[l] = take(pass, &used, layer->parameters);
        if (gradients && layer->kind == DP_NET_FC)
            pass->kept[l] = take(pass, &used, size);
        most = size > most ? size : most;
        most_padded = layer->pad > 0 && padded_size(layer) > most_padded ? padded_size(layer) : most_padded;
    }
    for (int i = 0; gradients && i < 2; i++)
        pass->slope[i] = take(pass, &used, most);
    if (gradients)
        pass->padded = take(pass, &used, most_padded);
    pass->row = take(pass, &used, (net->inputs + L - 1) / L);
    return used;
}

int dp_net_pass_open(struct dp_net_pass *pass, const struct dp_net *net, bool gradients, struct dp_err *err)
{
    *pass = (struct dp_net_pass){.net = net, .kernels = dp_net_kernels()};
    size_t bytes = divide(pass, gradients) * sizeof(float);
    pass->memory = aligned_alloc(64, bytes);
    if (pass->memory == NULL)
        return dp_fail(err, DP_E_RUN, "no memory for %zu bytes of a network's values", bytes);
    memset(pass->memory, 0, bytes); /* the zeros around an image stay */
    divide(pass, gradients);
    return DP_OK;
}

void dp_net_pass_close(struct dp_net_pass *pass)
{
    free(pass->memory);
    *pass = (struct dp_net_pass){0};
}

/* The values of the first layer's input. */
static float *input(const struct dp_net_pass *pass)
{
    return pass->memory;
}

static void load_row(const struct dp_net_pass *pass, const struct dp_row *row, size_t lane)
{
    float *to = input(pass) + lane, factor = pass->net->factor, centre = pass->net->centre;
    for (size_t j = 0; row->columns != NULL && j < pass->net->inputs; j++)
        to[j * L] = -centre;
    for (size_t j = 0; row->columns != NULL && j < row->count; j++)
        to[(size_t)row->columns[j] * L] = factor * row->values[j] - centre;
    if (row->columns != NULL)
        return;
    const float *values = dp_row_floats(row, pass->row);
    for (size_t j = 0; j < row->count; j++)
        to[j * L] = factor * values[j] - centre;
}

void dp_net_load(struct dp_net_pass *pass, const struct dp_row *rows, size_t count)
{
    for (size_t l = 0; l < count; l++)
        load_row(pass, &rows[l], l);
}

/* Copies an image into one with zeros around it, or adds such an image's inner part. */
static void pad(const struct dp_net_layer *layer, const float *image, float *padded)
{
    size_t run = layer->in.width * layer->in.channels * L, pitch = run + 2 * layer->pad * layer->in.channels * L;
    float *to = padded + layer->pad * pitch + layer->pad * layer->in.channels * L;
    for (size_t i = 0; i < layer->in.height; i++)
        memcpy(to + i * pitch, image + i * run, run * sizeof *image);
}

static void crop(const struct dp_net_layer *layer, const float *padded, float *image)
{
    size_t run = layer->in.width * layer->in.channels * L, pitch = run + 2 * layer->pad * layer->in.channels * L;
    const float *from = padded + layer->pad * pitch + layer->pad * layer->in.channels * L;
    for (size_t i = 0; i < layer->in.height; i++)
        memcpy(image + i * run, from + i * pitch, run * sizeof *image);
}

void dp_net_forward(struct dp_net_pass *pass, const float *weights)
{
    const struct dp_net_kernels *k = pass->kernels;
    const float *before = input(pass);
    for (size_t l = 0; l < pass->net->layers; l++) {
        const struct dp_net_layer *layer = &pass->net->layer[l];
        struct dp_net_window window = window_of(layer);
        const float *w = weights + layer->first;
        float *out = pass->out[l];
        if (layer->pad > 0)
            pad(layer, before, pass->in[l]);
        if (has_weights(layer))
            k->forward(&window, pass->in[l], w, w + layer->out.channels * dp_net_fan_in(layer), out);
        else
            (layer->kind == DP_NET_POOL ? k->pool : k->mean_pool)(&window, pass->in[l], out);
        if (layer->activation != DP_NET_LINEAR)
            (layer->activation == DP_NET_TANH ? k->tanh : k->relu)(out, dp_net_size(layer->out));
        before = out;
    }
}

/* The squared norm of a matrix's gradient. */
static void outer_squares(const struct dp_net_pass *pass, size_t l, const float *slope, double *squares)
{
    const struct dp_net_layer *layer = &pass->net->layer[l];
    double d[L] = {0}, x[L] = {0};
    pass->kernels->squares(slope, layer->out.channels, d);
    pass->kernels->squares(pass->in[l], dp_net_size(layer->in), x);
    for (size_t i = 0; i < L; i++)
        squares[i] += d[i] * (x[i] + 1);
}

/* From the slope by a layer's output to the slope by its input. */
static void back_to_input(struct dp_net_pass *pass, size_t l, const struct dp_net_window *window, const float *weights,
                          const float *slope, float *to)
{
    const struct dp_net_layer *layer = &pass->net->layer[l];
    const struct dp_net_kernels *k = pass->kernels;
    float *room = layer->pad > 0 ? pass->padded : to;
    memset(room, 0, padded_size(layer) * L * sizeof *room);
    if (has_weights(layer))
        k->input_back(window, slope, weights + layer->first, room);
    else if (layer->kind == DP_NET_POOL)
        k->pool_back(window, pass->in[l], pass->out[l], slope, room);
    else
        k->mean_pool_back(window, slope, room);
    if (layer->pad > 0)
        crop(layer, room, to);
}

void dp_net_backward(struct dp_net_pass *pass, const float *weights, const float *slope, double *squares)
{
    const struct dp_net *net = pass->net;
    const struct dp_net_kernels *k = pass->kernels;
    float *now = pass->slope[0], *next = pass->slope[1];
    memset(squares, 0, L * sizeof *squares);
    memcpy(now, slope, net->outputs * L * sizeof *now);
    for (size_t l = net->layers; l-- > 0;) {
        const struct dp_net_layer *layer = &net->layer[l];
        struct dp_net_window window = window_of(layer);
        if (layer->activation != DP_NET_LINEAR)
            (layer->activation == DP_NET_TANH ? k->tanh_back : k->relu_back)(pass->out[l], now, dp_net_size(layer->out));
        if (layer->kind == DP_NET_CONV) {
            k->weights_back(&window, pass->in[l], now, pass->gradient[l]);
            k->squares(pass->gradient[l], layer->parameters, squares);
        } else if (layer->kind == DP_NET_FC) {
            memcpy(pass->kept[l], now, layer->out.channels * L * sizeof *now);
            outer_squares(pass, l, now, squares);
        }
        if (l > 0)
            back_to_input(pass, l, &window, weights, now, next);
        float *swap = now;
        now = next;
        next = swap;
    }
}

/* As the margin of math/grid.c: far above the rounding errors of the norm and of the products. */
static double margin(size_t count)
{
    return ((double)count + 64) * 0x1p-52;
}

void dp_net_add(const struct dp_net_pass *pass, const double *squares, double bound, double grid, int64_t *sum)
{
    const struct dp_net *net = pass->net;
    _Alignas(64) double scale[L];
    _Alignas(64) int32_t keep[L];
    double limit = bound * (1 - margin(net->parameters));
    for (size_t i = 0; i < L; i++) {
        double norm = sqrt(squares[i]);
        keep[i] = isfinite(norm) ? -1 : 0;
        scale[i] = -(norm > limit ? limit / norm : 1) / grid;
    }
    for (size_t l = 0; l < net->layers; l++) {
        const struct dp_net_layer *layer = &net->layer[l];
        int64_t *to = sum + layer->first;
        if (layer->kind == DP_NET_CONV) {
            pass->kernels->add(pass->gradient[l], layer->parameters, scale, keep, to);
        } else if (layer->kind == DP_NET_FC) {
            pass->kernels->add_outer(pass->kept[l], layer->out.channels, pass->in[l], dp_net_size(layer->in), scale, keep, to);
            pass->kernels->add(pass->kept[l], layer->out.channels, scale, keep,
                               to + layer->out.channels * dp_net_size(layer->in));
        }
    }
}
