/* The family "network": all parameters of nets/net.h as one row. Scores are the outputs of its last layer. */

#include "base/mem.h"
#include "model/family.h"
#include "nets/pass.h"

static void shape(struct dp_form *form)
{
    form->rows = 1;
    form->cols = form->net.parameters;
}

static bool read(struct dp_form *form)
{
    form->features = form->net.inputs;
    form->outputs = form->net.outputs;
    return form->rows == 1 && form->cols == form->net.parameters && form->intercept == 0;
}

static void start(const struct dp_form *form, double *parameters)
{
    dp_net_start(&form->net, parameters);
}

struct room {
    struct dp_net_pass pass;
    float *weights;
};

static void close_room(void *context)
{
    struct room *room = context;
    if (room == NULL)
        return;
    dp_net_pass_close(&room->pass);
    free(room->weights);
    free(room);
}

static void *open_room(const struct dp_form *form)
{
    struct room *room = dp_new(1, sizeof *room);
    room->weights = dp_new(form->cols, sizeof *room->weights);
    dp_net_pass_open(&room->pass, &form->net, 0);
    return room;
}

static void score(const struct dp_form *form, const double *parameters, const struct dp_row *rows, size_t count,
                  const struct dp_row *next, double *scores, double *norm2, void *context)
{
    struct room *room = context;
    (void)next;
    for (size_t j = 0; j < form->cols; j++)
        room->weights[j] = (float)parameters[j];
    for (size_t first = 0, lanes; first < count; first += lanes) {
        lanes = count - first < room->pass.kernels->lanes ? count - first : room->pass.kernels->lanes;
        dp_net_load(&room->pass, rows + first, NULL, lanes);
        dp_net_forward(&room->pass, room->weights);
        for (size_t i = 0; i < lanes; i++)
            for (size_t k = 0; k < form->outputs; k++)
                scores[(first + i) * form->outputs + k] = dp_net_output(&room->pass, k, i);
    }
    for (size_t i = 0; norm2 != NULL && i < count; i++)
        norm2[i] = dp_row_norm2(rows[i]);
}

const struct dp_family dp_family_network = {
    .name = "network",
    .sides = "1 × parameters",
    .rows = DP_FAMILY_ROWS, /* each call converts the parameters */
    .shape = shape,
    .read = read,
    .start = start,
    .open_room = open_room,
    .close_room = close_room,
    .score = score,
};
