/* C: the layers of a network, and functions that take a row through them. */
#include "export.h"

/* Whether the inputs of layer l are added later. */
static bool is_saved(const struct dp_net *net, size_t l)
{
    for (size_t later = l; later < net->layers; later++)
        if (net->layer[later].kind == DP_NET_ADD && net->layer[later].kept == l)
            return true;
    return false;
}

/* A fully connected layer (fc) is a filter as large as its input. */
static void put_layer(const struct export *e, const struct dp_net *net, size_t l)
{
    static const int kind[] = {
        [DP_NET_CONV] = 0, [DP_NET_FC] = 0, [DP_NET_POOL] = 1, [DP_NET_MEAN_POOL] = 2, [DP_NET_NORM] = 3, [DP_NET_ADD] = 4};
    static const int activation[] = {[DP_NET_LINEAR] = 0, [DP_NET_TANH] = 1, [DP_NET_RELU] = 2};
    const struct dp_net_layer *y = &net->layer[l];
    bool fc = y->kind == DP_NET_FC;
    fprintf(e->out, "    {%d, %d, %d, %zu, %zu, %zu, %zu, %zu, %zu, %zu, %zu, %zu, %zu, %zu, %zu},\n", kind[y->kind],
            activation[y->activation], is_saved(net, l), y->groups, y->in.height, y->in.width, y->in.channels, y->out.height,
            y->out.width, y->out.channels, fc ? y->in.height : y->kernel, fc ? y->in.width : y->kernel, fc ? 1 : y->stride,
            y->pad, y->first);
}

static const char code_of_layers[] =
    "/* Outside an image there are zeros. */\n"
    "static float input(const struct layer *y, const float *x, long row, long column, long channel)\n"
    "{\n"
    "    if (row < 0 || row >= y->height || column < 0 || column >= y->width)\n"
    "        return 0;\n"
    "    return x[(row * y->width + column) * y->channels + channel];\n"
    "}\n"
    "\n"
    "static float output(const struct layer *y, const float *x, long row, long column, long o)\n"
    "{\n"
    "    long top = row * y->stride - y->pad, left = column * y->stride - y->pad;\n"
    "    long fan_in = y->kernel_rows * y->kernel_columns * y->channels;\n"
    "    const float *w = weights + y->first + o * fan_in;\n"
    "    float u = y->kind == 0 ? weights[y->first + y->outputs * fan_in + o] : 0;\n"
    "    for (long i = 0; i < y->kernel_rows; i++)\n"
    "        for (long j = 0; j < y->kernel_columns; j++) {\n"
    "            for (long c = 0; y->kind == 0 && c < y->channels; c++)\n"
    "                u += input(y, x, top + i, left + j, c) * *w++;\n"
    "            if (y->kind == 1 && (i + j == 0 || input(y, x, top + i, left + j, o) > u))\n"
    "                u = input(y, x, top + i, left + j, o);\n"
    "            if (y->kind == 2)\n"
    "                u += input(y, x, top + i, left + j, o);\n"
    "        }\n"
    "    if (y->kind == 2)\n"
    "        u *= 1 / (float)(y->kernel_rows * y->kernel_columns);\n"
    "    return u;\n"
    "}\n"
    "\n"
    "/* Each group of channels gets mean 0 and variance 1, then each channel its factor and its constant. */\n"
    "static void normalise(const struct layer *y, const float *x, float *to)\n"
    "{\n"
    "    long size = y->height * y->width * y->channels, each = y->channels / y->groups, n = size / y->groups;\n"
    "    const float *w = weights + y->first;\n"
    "    for (long g = 0; g < y->groups; g++) {\n"
    "        float part = 1 / (float)n, mean = 0, far = 0;\n"
    "        for (long i = 0; i < size; i++)\n"
    "            mean += i % y->channels / each == g ? x[i] : 0;\n"
    "        mean *= part;\n"
    "        for (long i = 0; i < size; i++)\n"
    "            far += i % y->channels / each == g ? (x[i] - mean) * (x[i] - mean) : 0;\n"
    "        float scale = 1 / sqrtf(far * part + 1e-5f);\n"
    "        for (long i = 0; i < size; i++)\n"
    "            if (i % y->channels / each == g)\n"
    "                to[i] = (x[i] - mean) * scale * w[i % y->channels] + w[y->channels + i % y->channels];\n"
    "    }\n"
    "}\n"
    "\n"
    "static void run_layer(const struct layer *y, const float *x, const float *saved, float *to)\n"
    "{\n"
    "    long size = y->out_rows * y->out_columns * y->outputs;\n"
    "    if (y->kind == 3)\n"
    "        normalise(y, x, to);\n"
    "    for (long i = 0; y->kind == 4 && i < size; i++)\n"
    "        to[i] = x[i] + saved[i];\n"
    "    for (long i = 0; y->kind < 3 && i < size; i++)\n"
    "        to[i] = output(y, x, i / y->outputs / y->out_columns, i / y->outputs % y->out_columns, i % y->outputs);\n"
    "    for (long i = 0; i < size; i++)\n"
    "        to[i] = y->activation == 1 ? tanhf(to[i]) : y->activation == 2 && to[i] < 0 ? 0 : to[i];\n"
    "}\n"
    "\n"
    "/* The outputs of the last layer. The first room has the inputs, the third what is added later. */\n"
    "static const float *run_network(float room[3][ROOM])\n"
    "{\n"
    "    int from = 0;\n"
    "    for (int l = 0; l < LAYERS; l++, from = 1 - from) {\n"
    "        if (layers[l].saved)\n"
    "            memcpy(room[2], room[from], sizeof room[2]);\n"
    "        run_layer(&layers[l], room[from], room[2], room[1 - from]);\n"
    "    }\n"
    "    return room[from];\n"
    "}\n"
    "\n";

void export_layers(const struct export *e)
{
    const struct dp_predictor *p = &e->terms->predictor;
    const struct dp_net *net = &p->form.net;
    size_t room = net->inputs;
    fputs("static const float weights[] = {", e->out);
    for (size_t j = 0; j < net->parameters; j++)
        fprintf(e->out, "%s%.9e,", j % 8 == 0 ? "\n    " : " ", (double)(float)p->parameters[j]);
    fputs(
        "\n};\n\n/* kind: 0 weighted sums, 1 largest values, 2 means, 3 normalised groups, 4 a sum. activation: 1 tanh, 2 relu. */\n"
        "static const struct layer {\n    int kind, activation, saved;\n    long groups, height, width, channels, out_rows, out_columns, outputs;\n"
        "    long kernel_rows, kernel_columns, stride, pad, first;\n} layers[] = {\n",
        e->out);
    for (size_t l = 0; l < net->layers; l++) {
        put_layer(e, net, l);
        room = dp_net_size(net->layer[l].out) > room ? dp_net_size(net->layer[l].out) : room;
    }
    fprintf(e->out, "};\nenum { LAYERS = %zu, ROOM = %zu };\n\n", net->layers, room);
    fputs(code_of_layers, e->out);
}

void export_run(const struct export *e)
{
    const struct dp_net *net = &e->terms->predictor.form.net;
    fprintf(e->out,
            "    static _Thread_local float room[3][ROOM];\n"
            "    for (int j = 0; j < MODEL_FEATURES; j++)\n"
            "        room[0][j] = %.9ef * (float)(scale * x[j]) - %.9ef;\n"
            "    const float *u = run_network(room);\n"
            "    for (int k = 0; k < MODEL_OUTPUTS; k++)\n"
            "        score[k] = u[k];\n"
            "    return 0;\n"
            "}\n"
            "\n",
            (double)net->factor, (double)net->centre);
}
