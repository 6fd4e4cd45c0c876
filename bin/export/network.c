/* C: the layers of a network, and functions that take a row through them. */
#include "export.h"

/* A layer fc is a filter as large as its input. */
static void put_layer(const struct export *e, const struct dp_net_layer *y)
{
    static const int kind[] = {[DP_NET_CONV] = 0, [DP_NET_FC] = 0, [DP_NET_POOL] = 1, [DP_NET_MEAN_POOL] = 2};
    static const int activation[] = {[DP_NET_LINEAR] = 0, [DP_NET_TANH] = 1, [DP_NET_RELU] = 2};
    bool fc = y->kind == DP_NET_FC;
    fprintf(e->out, "    {%d, %d, %zu, %zu, %zu, %zu, %zu, %zu, %zu, %zu, %zu, %zu, %zu},\n", kind[y->kind],
            activation[y->activation], y->in.height, y->in.width, y->in.channels, y->out.height, y->out.width, y->out.channels,
            fc ? y->in.height : y->kernel, fc ? y->in.width : y->kernel, fc ? 1 : y->stride, y->pad, y->first);
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
    "    return y->activation == 1 ? tanhf(u) : y->activation == 2 && u < 0 ? 0 : u;\n"
    "}\n"
    "\n"
    "/* The outputs of the last layer. The first room has the inputs. */\n"
    "static const float *run_network(float room[2][ROOM])\n"
    "{\n"
    "    int from = 0;\n"
    "    for (int l = 0; l < LAYERS; l++, from = 1 - from)\n"
    "        for (long i = 0; i < layers[l].out_rows; i++)\n"
    "            for (long j = 0; j < layers[l].out_columns; j++)\n"
    "                for (long o = 0; o < layers[l].outputs; o++)\n"
    "                    room[1 - from][(i * layers[l].out_columns + j) * layers[l].outputs + o] =\n"
    "                        output(&layers[l], room[from], i, j, o);\n"
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
        "\n};\n\n/* kind: 0 weighted sums, 1 largest values, 2 means. activation: 1 tanh, 2 relu. */\n"
        "static const struct layer {\n    int kind, activation;\n    long height, width, channels, out_rows, out_columns, outputs;\n"
        "    long kernel_rows, kernel_columns, stride, pad, first;\n} layers[] = {\n",
        e->out);
    for (size_t l = 0; l < net->layers; l++) {
        put_layer(e, &net->layer[l]);
        room = dp_net_size(net->layer[l].out) > room ? dp_net_size(net->layer[l].out) : room;
    }
    fprintf(e->out, "};\nenum { LAYERS = %zu, ROOM = %zu };\n\n", net->layers, room);
    fputs(code_of_layers, e->out);
}

void export_run(const struct export *e)
{
    const struct dp_net *net = &e->terms->predictor.form.net;
    fprintf(e->out,
            "    static _Thread_local float room[2][ROOM];\n"
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
