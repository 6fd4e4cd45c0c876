/* Reads the line of text that describes a network; a mistake is reported with its column. */
#include "nets/net.h"

#include <ctype.h>

/* The text, the part of it that has been read, and the values that "save" keeps until "add". */
struct text {
    const char *from, *at;
    struct dp_err *err;
    const char *save; /* NULL: none are kept */
    size_t kept;      /* how many layers are before them */
    struct dp_net_shape shape;
};

static int wrong(const struct text *t, const char *what)
{
    size_t length = strcspn(t->at, " ;\n");
    return length == 0 ? dp_fail(t->err, DP_E_RUN, "network, column %zu: %s", (size_t)(t->at - t->from) + 1, what)
                       : dp_fail(t->err, DP_E_RUN, "network, column %zu, '%.*s': %s", (size_t)(t->at - t->from) + 1,
                                 length < 40 ? (int)length : 40, t->at, what);
}

static void skip(struct text *t)
{
    while (*t->at == ' ')
        t->at++;
}

/* Whether the next word is this one; then it is taken. */
static bool take(struct text *t, const char *word)
{
    size_t length = strlen(word);
    skip(t);
    if (strncmp(t->at, word, length) != 0 || (isalpha((unsigned char)word[0]) && isalnum((unsigned char)t->at[length])))
        return false;
    t->at += length;
    return true;
}

/* A whole number from 1, or from 0 if `zero`, to `most`. */
static int number(struct text *t, size_t least, size_t most, size_t *out)
{
    const char *from = t->at;
    size_t value = 0;
    for (; isdigit((unsigned char)*t->at) && value <= most; t->at++)
        value = 10 * value + (size_t)(*t->at - '0');
    bool read = t->at > from;
    if (!read || value < least || value > most) {
        t->at = from;
        return wrong(t, read ? "this number is out of range" : "a whole number belongs here");
    }
    *out = value;
    return DP_OK;
}

static int read_shape(struct text *t, struct dp_net_shape *shape)
{
    skip(t);
    const char *from = t->at;
    *shape = (struct dp_net_shape){1, 1, 1};
    if (!isdigit((unsigned char)*t->at))
        return wrong(t, "first comes the number of columns, or HEIGHTxWIDTHxCHANNELS");
    int rc = number(t, 1, DP_NET_MOST_VALUES, &shape->channels);
    if (rc != DP_OK || *t->at != 'x')
        return rc;
    shape->height = shape->channels;
    t->at++;
    rc = number(t, 1, 4096, &shape->width);
    if (rc == DP_OK && *t->at++ != 'x') {
        t->at = from;
        return wrong(t, "an image is HEIGHTxWIDTHxCHANNELS");
    }
    rc = rc ?: number(t, 1, 4096, &shape->channels);
    if (rc == DP_OK && (shape->height > 4096 || dp_net_size(*shape) > DP_NET_MOST_VALUES)) {
        t->at = from;
        return wrong(t, "this is too large");
    }
    return rc;
}

/* "/S", which may be absent. */
static int read_stride(struct text *t, size_t usual, size_t *stride)
{
    *stride = usual;
    if (*t->at != '/')
        return DP_OK;
    t->at++;
    return number(t, 1, 4096, stride);
}

static enum dp_net_activation read_activation(struct text *t)
{
    return take(t, "tanh") ? DP_NET_TANH : take(t, "relu") ? DP_NET_RELU : DP_NET_LINEAR;
}

/* KxK[/S] of a filter, K[/S] of a pool. */
static int read_window(struct text *t, struct dp_net_layer *layer)
{
    size_t width;
    skip(t);
    const char *from = t->at;
    int rc = number(t, 1, 4096, &layer->kernel);
    if (rc != DP_OK || layer->kind != DP_NET_CONV)
        return rc ?: read_stride(t, layer->kernel, &layer->stride);
    if (*t->at != 'x')
        return wrong(t, "a filter is KxK");
    t->at++;
    rc = number(t, 1, 4096, &width);
    if (rc == DP_OK && width != layer->kernel) {
        t->at = from;
        return wrong(t, "a filter has as many rows as columns");
    }
    rc = rc ?: read_stride(t, 1, &layer->stride);
    if (rc == DP_OK && take(t, "pad")) {
        skip(t);
        rc = number(t, 0, 4096, &layer->pad);
    }
    return rc;
}

/* How many windows fit. */
static size_t places(const struct dp_net_layer *layer, size_t side)
{
    size_t room = side + 2 * layer->pad;
    return room < layer->kernel ? 0 : (room - layer->kernel) / layer->stride + 1;
}

/* The outputs of conv and fc, and the windows of conv and pools. */
static int read_windows(struct text *t, struct dp_net_layer *layer)
{
    size_t outputs = 0;
    bool weights = dp_net_has_weights(layer);
    skip(t);
    int rc = weights ? number(t, 1, DP_NET_MOST_VALUES, &outputs) : DP_OK;
    if (rc == DP_OK && layer->kind != DP_NET_FC)
        rc = read_window(t, layer);
    if (rc != DP_OK)
        return rc;
    layer->out = (struct dp_net_shape){1, 1, outputs};
    if (layer->kind != DP_NET_FC)
        layer->out = (struct dp_net_shape){places(layer, layer->in.height), places(layer, layer->in.width),
                                           weights ? outputs : layer->in.channels};
    layer->parameters = weights ? outputs * (dp_net_fan_in(layer) + 1) : 0;
    return DP_OK;
}

static int read_norm(struct text *t, struct dp_net_layer *layer)
{
    skip(t);
    const char *from = t->at;
    layer->out = layer->in;
    layer->parameters = 2 * layer->in.channels;
    int rc = number(t, 1, layer->in.channels, &layer->groups);
    if (rc != DP_OK || (layer->in.channels % layer->groups == 0 && layer->groups < dp_net_size(layer->in)))
        return rc;
    t->at = from;
    return wrong(t, layer->in.channels % layer->groups != 0 ? "the channels do not divide into so many groups"
                                                            : "a group would have only one value");
}

static int read_add(struct text *t, struct dp_net_layer *layer)
{
    const struct dp_net_shape *a = &layer->in, *b = &t->shape;
    const char *end = t->at;
    t->at -= strlen("add"); /* for errors */
    if (t->save == NULL)
        return wrong(t, "no values were saved before");
    if (a->height != b->height || a->width != b->width || a->channels != b->channels)
        return wrong(t, "the saved values have another shape");
    layer->out = layer->in;
    layer->kept = t->kept;
    t->save = NULL;
    t->at = end;
    return DP_OK;
}

static int read_kind(struct text *t, struct dp_net_layer *layer)
{
    static const struct {
        const char *word;
        enum dp_net_kind kind;
        int (*read)(struct text *t, struct dp_net_layer *layer);
    } kinds[] = {
        {"conv", DP_NET_CONV, read_windows},           {"fc", DP_NET_FC, read_windows},  {"pool", DP_NET_POOL, read_windows},
        {"mean-pool", DP_NET_MEAN_POOL, read_windows}, {"norm", DP_NET_NORM, read_norm}, {"add", DP_NET_ADD, read_add},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (take(t, kinds[i].word)) {
            layer->kind = kinds[i].kind;
            return kinds[i].read(t, layer);
        }
    return wrong(t, "a layer is conv, pool, mean-pool, norm, add or fc");
}

static int read_layer(struct text *t, struct dp_net_layer *layer)
{
    skip(t);
    const char *from = t->at;
    int rc = read_kind(t, layer);
    if (rc != DP_OK)
        return rc;
    if (layer->kind != DP_NET_POOL && layer->kind != DP_NET_MEAN_POOL)
        layer->activation = read_activation(t);
    skip(t);
    if (*t->at != ';' && *t->at != '\0')
        return wrong(t, "this does not belong to the layer");
    const char *end = t->at;
    t->at = from;
    if (dp_net_size(layer->out) == 0)
        return wrong(t, "the window is larger than its input");
    if (dp_net_size(layer->out) > DP_NET_MOST_VALUES || layer->parameters > DP_NET_MOST_PARAMETERS)
        return wrong(t, "this layer is too large");
    t->at = end;
    return DP_OK;
}

/* "save": keeps the values after the first `layers` layers, which have this shape. */
static int read_save(struct text *t, const char *word, size_t layers, struct dp_net_shape shape)
{
    if (t->save != NULL) {
        t->at = word;
        return wrong(t, "the values that were saved before are still to be added");
    }
    t->save = word;
    t->kept = layers;
    t->shape = shape;
    skip(t);
    return DP_OK;
}

/* A number from `least` to 1e6 after its sign. */
static int read_number(struct text *t, double least, const char *refusal, float *number)
{
    char *end;
    skip(t);
    double value = isdigit((unsigned char)*t->at) ? strtod(t->at, &end) : -1;
    if (!(value >= least && value <= 1e6))
        return wrong(t, refusal);
    t->at = end;
    *number = (float)value;
    return DP_OK;
}

/* "* F" and then "- S", which may be absent. */
static int read_scaling(struct text *t, struct dp_net *net)
{
    int rc = DP_OK;
    net->factor = 1;
    if (take(t, "*"))
        rc = read_number(t, 1e-6, "the factor of the inputs is a number from 1e-6 to 1e6", &net->factor);
    if (rc == DP_OK && take(t, "-"))
        rc = read_number(t, 0, "what is taken off the inputs is a number from 0 to 1e6", &net->centre);
    return rc;
}

/* The layers, and the seed. */
static int read_layers(struct text *t, struct dp_net *net, struct dp_net_shape shape)
{
    int rc = DP_OK;
    while (rc == DP_OK && *t->at == ';') {
        size_t seed;
        t->at++;
        if (take(t, "seed")) {
            skip(t);
            rc = number(t, 0, (size_t)1 << 53, &seed);
            net->seed = (int64_t)seed;
            skip(t);
            break;
        }
        skip(t);
        const char *word = t->at;
        if (take(t, "save")) {
            rc = read_save(t, word, net->layers, shape);
            continue;
        }
        if (net->layers == DP_NET_LAYERS)
            return wrong(t, "there are too many layers");
        struct dp_net_layer *layer = &net->layer[net->layers++];
        *layer = (struct dp_net_layer){.in = shape, .first = net->parameters};
        rc = read_layer(t, layer);
        shape = layer->out;
        net->parameters += layer->parameters;
        if (rc == DP_OK && net->parameters > DP_NET_MOST_PARAMETERS)
            return wrong(t, "there are too many parameters");
    }
    return rc == DP_OK && *t->at != '\0' ? wrong(t, "layers are separated by ';'") : rc;
}

int dp_net_parse(struct dp_net *net, const char *text, struct dp_err *err)
{
    struct text t = {.from = text, .at = text + strcspn(text, "\n"), .err = err};
    struct dp_net_shape shape;
    *net = (struct dp_net){.seed = 1};
    if (*t.at != '\0')
        return wrong(&t, "a network is one line");
    t.at = text;
    int rc = read_shape(&t, &shape);
    net->inputs = dp_net_size(shape);
    rc = rc ?: read_scaling(&t, net);
    skip(&t);
    rc = rc ?: read_layers(&t, net, shape);
    if (rc == DP_OK && t.save != NULL) {
        t.at = t.save;
        return wrong(&t, "the saved values are never added");
    }
    if (rc == DP_OK && (net->layers == 0 || net->layer[net->layers - 1].kind != DP_NET_FC))
        return wrong(&t, "the last layer is fc");
    if (rc == DP_OK && net->layer[net->layers - 1].activation != DP_NET_LINEAR)
        return wrong(&t, "the last layer has no activation");
    net->outputs = rc == DP_OK ? net->layer[net->layers - 1].out.channels : 0;
    return rc;
}
