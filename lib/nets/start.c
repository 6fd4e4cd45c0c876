/* Draws the initial parameters of a network from its seed. */
#include "math/rng.h"
#include "nets/net.h"

/* Uniform on (−1, 1): the odd multiples of 2^-53. */
static double uniform(struct dp_stream *stream)
{
    return (double)(2 * (int64_t)(dp_stream_next(stream) >> 11) + 1) * 0x1p-53 - 1;
}

void dp_net_start(const struct dp_net *net, double *parameters)
{
    struct dp_key key;
    memset(parameters, 0, net->parameters * sizeof *parameters);
    dp_key_derive(&key, net->seed, "network", 0);
    for (size_t l = 0; l < net->layers; l++) {
        const struct dp_net_layer *layer = &net->layer[l];
        for (size_t c = 0; layer->kind == DP_NET_NORM && c < layer->out.channels; c++)
            parameters[layer->first + c] = 1;
        if (!dp_net_has_weights(layer))
            continue;
        double fan_in = (double)dp_net_fan_in(layer), width = sqrt((layer->activation == DP_NET_RELU ? 6 : 3) / fan_in);
        struct dp_stream stream;
        dp_stream_start(&stream, &key, DP_DRAW_WEIGHTS, l);
        for (size_t i = 0; i < layer->parameters - layer->out.channels; i++)
            parameters[layer->first + i] = width * uniform(&stream);
    }
}
