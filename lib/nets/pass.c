#include "nets/pass.h"

#include "base/mem.h"
#include "math/grid.h"

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

static struct dp_net_groups groups_of(const struct dp_net_layer *layer)
{
    return (struct dp_net_groups){layer->in.height * layer->in.width, layer->in.channels, layer->groups};
}

/* Takes `count` values of all lanes from the memory, or only counts them as long as there is no memory. */
static float *take(const struct dp_net_pass *pass, size_t *used, size_t count)
{
    float *at = pass->memory != NULL ? pass->memory + *used : NULL;
    *used += count * pass->kernels->lanes;
    return at;
}

/* Gives each part its place. Returns the number of floats. */
static size_t divide(struct dp_net_pass *pass, size_t views)
{
    const struct dp_net *net = pass->net;
    const size_t lanes = pass->kernels->lanes;
    size_t used = 0, most = net->inputs, most_padded = 0, most_added = 0, most_room = 0;
    float *before = take(pass, &used, net->inputs);
    for (size_t l = 0; l < net->layers; l++) {
        const struct dp_net_layer *layer = &net->layer[l];
        const struct dp_net_window window = window_of(layer);
        size_t size = dp_net_size(layer->out), room = dp_net_has_weights(layer) ? dp_net_room(&window, lanes) : 0;
        pass->in[l] = layer->pad > 0 ? take(pass, &used, padded_size(layer)) : before;
        pass->out[l] = before = take(pass, &used, size);
        if (views > 1 || (views > 0 && layer->kind != DP_NET_FC))
            pass->gradient[l] = take(pass, &used, layer->parameters);
        else if (views > 0)
            pass->kept[l] = take(pass, &used, size);
        most_added = layer->kind == DP_NET_ADD && size > most_added ? size : most_added;
        most = size > most ? size : most;
        most_room = room > most_room ? room : most_room;
        most_padded = layer->pad > 0 && padded_size(layer) > most_padded ? padded_size(layer) : most_padded;
    }
    for (int i = 0; views > 0 && i < 2; i++)
        pass->slope[i] = take(pass, &used, most);
    if (views > 0) {
        pass->padded = take(pass, &used, most_padded);
        pass->added = take(pass, &used, most_added);
        pass->room = take(pass, &used, (most_room + lanes - 1) / lanes);
    }
    pass->row = take(pass, &used, (net->inputs + lanes - 1) / lanes);
    return used;
}

void dp_net_pass_open(struct dp_net_pass *pass, const struct dp_net *net, size_t views)
{
    *pass = (struct dp_net_pass){.net = net, .kernels = dp_net_kernels()};
    size_t bytes = (divide(pass, views) * sizeof(float) + 63) / 64 * 64; /* aligned_alloc wants whole boundaries */
    pass->memory = dp_got(aligned_alloc(64, bytes));
    memset(pass->memory, 0, bytes); /* the zeros around an image stay */
    divide(pass, views);
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
    const size_t lanes = pass->kernels->lanes;
    float *to = input(pass) + lane, factor = pass->net->factor, centre = pass->net->centre;
    for (size_t j = 0; row->columns != NULL && j < pass->net->inputs; j++)
        to[j * lanes] = -centre;
    for (size_t j = 0; row->columns != NULL && j < row->count; j++)
        to[(size_t)row->columns[j] * lanes] = factor * row->values[j] - centre;
    if (row->columns != NULL)
        return;
    const float *values = dp_row_floats(row, pass->row);
    for (size_t j = 0; j < row->count; j++)
        to[j * lanes] = factor * values[j] - centre;
}

static int64_t clamp(int64_t i, size_t side)
{
    return i < 0 ? 0 : i >= (int64_t)side ? (int64_t)side - 1 : i;
}

/* Loads a view of a row: its values, each at another place. */
static void load_view(const struct dp_net_pass *pass, const struct dp_row *row, const struct dp_net_view *view, size_t lane)
{
    const struct dp_net_shape shape = pass->net->layer[0].in;
    const size_t lanes = pass->kernels->lanes;
    float *to = input(pass) + lane, *values = pass->row;
    load_row(pass, row, lane);
    for (size_t j = 0; j < pass->net->inputs; j++)
        values[j] = to[j * lanes];
    for (size_t i = 0; i < shape.height; i++)
        for (size_t j = 0; j < shape.width; j++) {
            size_t column = view->mirrored ? shape.width - 1 - j : j;
            int64_t from = clamp((int64_t)i + view->down, shape.height) * (int64_t)shape.width +
                           clamp((int64_t)column + view->right, shape.width);
            for (size_t c = 0; c < shape.channels; c++, to += lanes)
                *to = values[(size_t)from * shape.channels + c];
        }
}

void dp_net_load(struct dp_net_pass *pass, const struct dp_row *rows, const struct dp_net_view *views, size_t count)
{
    for (size_t l = 0; l < count; l++)
        if (views == NULL)
            load_row(pass, &rows[l], l);
        else
            load_view(pass, &rows[l], &views[l], l);
}

/* Copies `count` values of all lanes. */
static void copy(const struct dp_net_pass *pass, const float *from, size_t count, float *to)
{
    memcpy(to, from, count * pass->kernels->lanes * sizeof *to);
}

/* Copies an image into one with zeros around it, or such an image's inner part. */
static void pad(const struct dp_net_layer *layer, size_t lanes, const float *image, float *padded)
{
    size_t run = layer->in.width * layer->in.channels * lanes, side = layer->pad * layer->in.channels * lanes;
    size_t pitch = run + 2 * side;
    float *to = padded + layer->pad * pitch + side;
    for (size_t i = 0; i < layer->in.height; i++)
        memcpy(to + i * pitch, image + i * run, run * sizeof *image);
}

static void crop(const struct dp_net_layer *layer, size_t lanes, const float *padded, float *image)
{
    size_t run = layer->in.width * layer->in.channels * lanes, side = layer->pad * layer->in.channels * lanes;
    size_t pitch = run + 2 * side;
    const float *from = padded + layer->pad * pitch + side;
    for (size_t i = 0; i < layer->in.height; i++)
        memcpy(image + i * run, from + i * pitch, run * sizeof *image);
}

/* Output of "add": its input plus the kept values. */
static void add_kept(const struct dp_net_pass *pass, size_t l)
{
    const struct dp_net_layer *layer = &pass->net->layer[l];
    size_t size = dp_net_size(layer->out);
    copy(pass, pass->in[l], size, pass->out[l]);
    pass->kernels->plus(layer->kept > 0 ? pass->out[layer->kept - 1] : input(pass), pass->out[l], size);
}

static void run_layer(const struct dp_net_pass *pass, size_t l, const float *w)
{
    const struct dp_net_kernels *k = pass->kernels;
    const struct dp_net_layer *layer = &pass->net->layer[l];
    const struct dp_net_window window = window_of(layer);
    const struct dp_net_groups groups = groups_of(layer);
    const float *in = pass->in[l];
    float *out = pass->out[l];
    switch (layer->kind) {
    case DP_NET_CONV:
    case DP_NET_FC:
        k->forward(&window, in, w, w + layer->out.channels * dp_net_fan_in(layer), out);
        break;
    case DP_NET_POOL:
        k->pool(&window, in, out);
        break;
    case DP_NET_MEAN_POOL:
        k->mean_pool(&window, in, out);
        break;
    case DP_NET_NORM:
        k->norm(&groups, in, w, out);
        break;
    case DP_NET_ADD:
        add_kept(pass, l);
        break;
    }
}

void dp_net_forward(struct dp_net_pass *pass, const float *weights)
{
    const struct dp_net_kernels *k = pass->kernels;
    const float *before = input(pass);
    for (size_t l = 0; l < pass->net->layers; l++) {
        const struct dp_net_layer *layer = &pass->net->layer[l];
        float *out = pass->out[l];
        if (layer->pad > 0)
            pad(layer, k->lanes, before, pass->in[l]);
        run_layer(pass, l, weights + layer->first);
        if (layer->activation != DP_NET_LINEAR)
            (layer->activation == DP_NET_TANH ? k->tanh : k->relu)(out, dp_net_size(layer->out));
        before = out;
    }
}

/* From the derivative by a layer's output to the derivative by its input. */
static void back_to_input(struct dp_net_pass *pass, size_t l, const struct dp_net_window *window, const float *weights,
                          const float *slope, float *to)
{
    const struct dp_net_layer *layer = &pass->net->layer[l];
    const struct dp_net_kernels *k = pass->kernels;
    float *room = layer->pad > 0 ? pass->padded : to;
    if (layer->kind == DP_NET_ADD) {
        copy(pass, slope, dp_net_size(layer->in), to);
        return;
    }
    memset(room, 0, padded_size(layer) * k->lanes * sizeof *room);
    if (dp_net_has_weights(layer))
        k->input_back(window, slope, weights + layer->first, room, pass->room);
    else if (layer->kind == DP_NET_POOL)
        k->pool_back(window, pass->in[l], pass->out[l], slope, room);
    else
        k->mean_pool_back(window, slope, room);
    if (layer->pad > 0)
        crop(layer, k->lanes, room, to);
}

/* Adds to the gradient by the layer's own parameters. norm also gives the derivative by its input. */
static void back_to_parameters(const struct dp_net_pass *pass, size_t l, const struct dp_net_window *window,
                               const float *weights, const float *slope, bool more, float *to)
{
    const struct dp_net_layer *layer = &pass->net->layer[l];
    const struct dp_net_groups groups = groups_of(layer);
    if (layer->kind == DP_NET_NORM)
        pass->kernels->norm_back(&groups, pass->in[l], weights + layer->first, slope, pass->gradient[l], to);
    else if (pass->kept[l] != NULL)
        copy(pass, slope, layer->out.channels, pass->kept[l]);
    else if (layer->parameters > 0)
        pass->kernels->weights_back(window, pass->in[l], slope, pass->gradient[l], more, pass->room);
}

void dp_net_backward(struct dp_net_pass *pass, const float *weights, const float *slope, size_t view)
{
    const struct dp_net *net = pass->net;
    const struct dp_net_kernels *k = pass->kernels;
    float *now = pass->slope[0], *next = pass->slope[1];
    size_t kept = SIZE_MAX; /* of the "add" that was passed last */
    copy(pass, slope, net->outputs, now);
    for (size_t l = net->layers; l-- > 0;) {
        const struct dp_net_layer *layer = &net->layer[l];
        struct dp_net_window window = window_of(layer);
        if (kept == l + 1)
            k->plus(pass->added, now, dp_net_size(layer->out));
        if (layer->activation != DP_NET_LINEAR)
            (layer->activation == DP_NET_TANH ? k->tanh_back : k->relu_back)(pass->out[l], now, dp_net_size(layer->out));
        if (layer->kind == DP_NET_ADD) {
            copy(pass, now, dp_net_size(layer->out), pass->added);
            kept = layer->kept;
        }
        if (view == 0 && layer->kind == DP_NET_NORM)
            memset(pass->gradient[l], 0, layer->parameters * k->lanes * sizeof(float));
        back_to_parameters(pass, l, &window, weights, now, view > 0, next);
        if (l > 0 && layer->kind != DP_NET_NORM)
            back_to_input(pass, l, &window, weights, now, next);
        float *swap = now;
        now = next;
        next = swap;
    }
}

/* The squared norm of a matrix's gradient. */
static void outer_squares(const struct dp_net_pass *pass, size_t l, double *squares)
{
    const struct dp_net_layer *layer = &pass->net->layer[l];
    double d[DP_NET_MOST_LANES] = {0}, x[DP_NET_MOST_LANES] = {0};
    pass->kernels->squares(pass->kept[l], layer->out.channels, d);
    pass->kernels->squares(pass->in[l], dp_net_size(layer->in), x);
    for (size_t i = 0; i < pass->kernels->lanes; i++)
        squares[i] += d[i] * (x[i] + 1);
}

void dp_net_squares(const struct dp_net_pass *pass, double *squares)
{
    memset(squares, 0, pass->kernels->lanes * sizeof *squares);
    for (size_t l = 0; l < pass->net->layers; l++)
        if (pass->kept[l] != NULL)
            outer_squares(pass, l, squares);
        else if (pass->net->layer[l].parameters > 0)
            pass->kernels->squares(pass->gradient[l], pass->net->layer[l].parameters, squares);
}

/* PROOF that limit_of keeps ‖t‖ grid ≤ bound, where t is what an example adds. With v = g × scale, |scale| ≤ limit / (‖g‖ grid),
 * as real numbers: a float product is at most |g scale| (1 + 2^-24), or below 1 and truncated to 0. In (d scale) x the first
 * product can be subnormal, where its error is at most 2^-150, and |x| < 2^128. So |t_j| ≤ |v_j| (1 + 2^-22.9) + 2^-21, and with
 * at most 2^24 parameters ‖t‖ ≤ ‖v‖ (1 + 2^-22.9) + 2^-9. (count + 64) 2^-52 is far above the error of the norm. */
static double limit_of(double bound, double grid, size_t count)
{
    return bound * (1 - 0x1p-22 - ((double)count + 64) * 0x1p-52) - 0x1p-9 * grid;
}

void dp_net_add(const struct dp_net_pass *pass, const double *squares, double bound, double grid, int64_t *sum)
{
    const struct dp_net *net = pass->net;
    _Alignas(64) float scale[DP_NET_MOST_LANES];
    _Alignas(64) int32_t keep[DP_NET_MOST_LANES];
    double limit = limit_of(bound, grid, net->parameters);
    for (size_t i = 0; i < pass->kernels->lanes; i++) {
        double norm = sqrt(squares[i]);
        keep[i] = isfinite(norm) ? -1 : 0;
        scale[i] = dp_float_toward_zero(-(norm > limit ? limit / norm : 1) / grid);
    }
    for (size_t l = 0; l < net->layers; l++) {
        const struct dp_net_layer *layer = &net->layer[l];
        int64_t *to = sum + layer->first;
        if (pass->kept[l] != NULL) {
            pass->kernels->add_outer(pass->kept[l], layer->out.channels, pass->in[l], dp_net_size(layer->in), scale, keep, to);
            pass->kernels->add(pass->kept[l], layer->out.channels, scale, keep,
                               to + layer->out.channels * dp_net_size(layer->in));
        } else if (layer->parameters > 0) {
            pass->kernels->add(pass->gradient[l], layer->parameters, scale, keep, to);
        }
    }
}
