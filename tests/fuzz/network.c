/* The text of a network, and a block of examples through it, forward and backward. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "nets/pass.h"

#define MOST 20000 /* values and parameters of a network that is tried */

/* Products with the weights of a small network take little time. */
static bool is_small(const struct dp_net *net)
{
    size_t work = net->inputs;
    for (size_t l = 0; l < net->layers; l++) {
        const struct dp_net_layer *y = &net->layer[l];
        size_t side = y->kind == DP_NET_FC ? 1 : y->kernel, padded = y->in.width + 2 * y->pad;
        work += dp_net_size(y->out) * (dp_net_has_weights(y) ? dp_net_fan_in(y) : 6 + side * side) +
                (y->in.height + 2 * y->pad) * padded * y->in.channels;
        if (work > 50 * MOST)
            return false;
    }
    return net->parameters <= MOST && net->inputs <= MOST;
}

/* The part of one example in the sum has L2 norm at most the bound. */
static void use(const struct dp_net *net)
{
    static double start[MOST];
    static float weights[MOST], row[MOST], slope[MOST * DP_NET_MOST_LANES];
    static int64_t sum[MOST];
    const double bound = 0.5, grid = 0x1p-20;
    double squares[DP_NET_MOST_LANES], norm2 = 0;
    struct dp_net_pass pass;
    dp_net_start(net, start);
    for (size_t j = 0; j < net->parameters; j++)
        weights[j] = (float)start[j];
    for (size_t j = 0; j < net->inputs; j++)
        row[j] = (float)(j % 7) / 8 - 0.3f;
    const struct dp_row rows[1] = {dp_row_dense(row, net->inputs)};
    dp_net_pass_open(&pass, net, 1);
    dp_net_load(&pass, rows, NULL, 1);
    dp_net_forward(&pass, weights);
    memset(slope, 0, net->outputs * pass.kernels->lanes * sizeof *slope);
    slope[0] = 1e3f;
    dp_net_backward(&pass, weights, slope, 0);
    dp_net_squares(&pass, squares);
    memset(sum, 0, sizeof sum);
    dp_net_add(&pass, squares, bound, grid, sum);
    for (size_t j = 0; j < net->parameters; j++)
        norm2 += (double)sum[j] * (double)sum[j];
    fuzz_assert(norm2 <= bound / grid * (bound / grid));
    dp_net_pass_close(&pass);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct dp_net net;
    struct dp_err err = {0};
    char *text = fuzz_text(data, size);
    int rc = dp_net_parse(&net, text, &err);
    fuzz_said(rc, &err);
    if (rc == DP_OK) {
        size_t parameters = 0;
        for (size_t l = 0; l < net.layers; parameters += net.layer[l++].parameters)
            fuzz_assert(net.layer[l].first == parameters && dp_net_size(net.layer[l].out) > 0);
        fuzz_assert(parameters == net.parameters && net.outputs == dp_net_size(net.layer[net.layers - 1].out));
        if (is_small(&net))
            use(&net);
    }
    free(text);
    return 0;
}
