/* ONNX: the layers of a network. Rows are [row][column][channel]; ONNX has channels first. */

#include "base/mem.h"
#include "export.h"
#include "onnx_graph.h"

/* Weights of an output, from [row][column][channel] to [channel][row][column]. */
static void channels_first(const double *from, struct dp_net_shape kernel, size_t outputs, double *to)
{
    size_t area = kernel.height * kernel.width, fan_in = dp_net_size(kernel);
    for (size_t o = 0; o < outputs; o++)
        for (size_t i = 0; i < area; i++)
            for (size_t c = 0; c < kernel.channels; c++)
                to[o * fan_in + c * area + i] = from[o * fan_in + i * kernel.channels + c];
}

static void put_sums(struct onnx_graph *g, const struct dp_net_layer *y, const double *parameters, double *room)
{
    bool conv = y->kind == DP_NET_CONV;
    const struct dp_net_shape kernel = {conv ? y->kernel : y->in.height, conv ? y->kernel : y->in.width, y->in.channels};
    const double n = (double)y->kernel, stride = (double)y->stride, pad = (double)y->pad;
    const long long outputs = (long long)y->out.channels, side = (long long)y->kernel;
    const long long filters[] = {outputs, (long long)kernel.channels, side, side},
                    matrix[] = {outputs, (long long)dp_net_size(kernel)};
    const struct onnx_attribute how[] = {{"kernel_shape", ONNX_LIST, 2, {n, n}},
                                         {"strides", ONNX_LIST, 2, {stride, stride}},
                                         {"pads", ONNX_LIST, 4, {pad, pad, pad, pad}}};
    char weights[ONNX_NAME], biases[ONNX_NAME];
    channels_first(parameters + y->first, kernel, y->out.channels, room);
    onnx_constant(g, room, conv ? filters : matrix, conv ? 4 : 2, weights);
    onnx_constant(g, parameters + y->first + y->out.channels * dp_net_fan_in(y), &outputs, 1, biases);
    if (conv) {
        onnx_node(g, "Conv", weights, biases, how, 3);
        return;
    }
    if (y->in.height * y->in.width > 1)
        onnx_node(g, "Flatten", NULL, NULL, &(struct onnx_attribute){"axis", ONNX_WHOLE, 1, {1}}, 1);
    onnx_node(g, "Gemm", weights, biases, &(struct onnx_attribute){"transB", ONNX_WHOLE, 1, {1}}, 1);
}

static void put_shape(struct onnx_graph *g, const long long *size, size_t dimensions)
{
    char name[ONNX_NAME];
    onnx_whole(g, size, dimensions, name);
    onnx_node(g, "Reshape", name, NULL, NULL, 0);
}

/* Groups of channels, each normalised as an instance; then factor and constant of each channel. */
static void put_groups(struct onnx_graph *g, const struct dp_net_layer *y, const double *parameters, double *room)
{
    const long long groups = (long long)y->groups, channels = (long long)y->in.channels;
    const long long apart[] = {-1, groups, (long long)(dp_net_size(y->in) / y->groups), 1};
    const long long shape[] = {-1, channels, (long long)y->in.height, (long long)y->in.width}, each[] = {channels, 1, 1};
    const size_t dimensions = y->in.height * y->in.width > 1 ? 4 : 2;
    char one[ONNX_NAME], zero[ONNX_NAME], name[ONNX_NAME];
    put_shape(g, apart, 4);
    for (size_t k = 0; k < 2 * y->groups; k++)
        room[k] = k < y->groups;
    onnx_constant(g, room, &groups, 1, one);
    onnx_constant(g, room + y->groups, &groups, 1, zero);
    onnx_node(g, "InstanceNormalization", one, zero, &(struct onnx_attribute){"epsilon", ONNX_REAL, 1, {1e-5}}, 1);
    put_shape(g, shape, dimensions);
    for (size_t k = 0; k < 2; k++) {
        onnx_constant(g, parameters + y->first + k * y->in.channels, each, dimensions - 1, name);
        onnx_node(g, k == 0 ? "Mul" : "Add", name, NULL, NULL, 0);
    }
}

static void put_layer(struct onnx_graph *g, const struct dp_net_layer *y, const double *parameters, double *room,
                      char kept[][ONNX_NAME])
{
    const double n = (double)y->kernel, stride = (double)y->stride;
    const struct onnx_attribute how[] = {{"kernel_shape", ONNX_LIST, 2, {n, n}}, {"strides", ONNX_LIST, 2, {stride, stride}}};
    switch (y->kind) {
    case DP_NET_CONV:
    case DP_NET_FC:
        put_sums(g, y, parameters, room);
        break;
    case DP_NET_POOL:
    case DP_NET_MEAN_POOL:
        onnx_node(g, y->kind == DP_NET_POOL ? "MaxPool" : "AveragePool", NULL, NULL, how, 2);
        break;
    case DP_NET_NORM:
        put_groups(g, y, parameters, room);
        break;
    case DP_NET_ADD:
        onnx_node(g, "Add", kept[y->kept], NULL, NULL, 0);
        break;
    }
    if (y->activation != DP_NET_LINEAR)
        onnx_node(g, y->activation == DP_NET_TANH ? "Tanh" : "Relu", NULL, NULL, NULL, 0);
}

/* An image of one value for each input, channels first. */
static void put_image(struct onnx_graph *g, struct dp_net_shape shape)
{
    const long long size[] = {-1, (long long)shape.height, (long long)shape.width, (long long)shape.channels};
    if (shape.height * shape.width == 1)
        return;
    put_shape(g, size, 4);
    onnx_node(g, "Transpose", NULL, NULL, &(struct onnx_attribute){"perm", ONNX_LIST, 4, {0, 3, 1, 2}}, 1);
}

void export_onnx_layers(const struct export *e, struct onnx_graph *g)
{
    const struct dp_terms *t = e->terms;
    const struct dp_net *net = &t->predictor.form.net;
    double *room = dp_new(net->parameters, sizeof *room), divisor = t->table && t->norm == DP_NORM_BOUNDS ? t->plan.divisor : 1;
    const double factor = net->factor / divisor, centre = net->centre;
    char before[DP_NET_LAYERS][ONNX_NAME]; /* the values before each layer */
    onnx_with(g, "Mul", &factor, 0, 1);
    onnx_with(g, "Sub", &centre, 0, 1);
    put_image(g, net->layer[0].in);
    for (size_t l = 0; l < net->layers; l++) {
        strcpy(before[l], g->value);
        put_layer(g, &net->layer[l], t->predictor.parameters, room, before);
    }
    free(room);
}
