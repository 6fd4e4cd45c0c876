/* dp-net-grad: the gradient of the loss of a network (nets/net.h) at each sampled row, clipped as one vector and summed on a
   grid. Gradients of a network are not products with the row, so this stage clips and adds them itself; nothing of it has the
   size batch × parameters. Each example has its own lane (nets/kernels.h), and sums are whole numbers, so the bytes depend
   neither on threads nor on the instruction set. */
#include <omp.h>

#include "base/mem.h"
#include "math/grid.h"
#include "math/loss.h"
#include "nets/pass.h"
#include "stages/labels.h"
#include "stages/row_stage.h"
#include "stages/shared_options.h"

struct options {
    struct dp_row_options row;
    const char *network;
    double clip;
    bool follow, flip;
    int64_t views, shift;
};

/* Memory of a thread. */
struct worker {
    struct dp_net_pass pass;
    int64_t *sum;
    float *slope; /* outputs × lanes of the kernels */
    double *score;
};

struct state {
    struct dp_row_state row;
    size_t threads;
    struct dp_net_views views;
    int64_t lap;
    struct worker *workers;
    float *weights;
};

#define DP_OPTIONS struct options

static const struct dp_option options[] = {
    DP_DATA_OPTION(row.data),
    DP_OPTION_TEXT('m', network, "TEXT", "the layers: \"28x28x1; conv 16 8x8/2 tanh; pool 2/1; fc 10\"", .required = true),
    DP_LOSS_OPTION(row.loss, DP_LOSS_CHOICES, "what is minimised"),
    DP_LOSS_WIDTH_OPTION(row.width),
    DP_LAMBDA_OPTION(row.lambda, "L2 regularisation, for dp-step to add"),
    DP_OPTION_REAL('C', clip, "C", DP_ABOVE(0), "L2 bound on one example's gradient", .required = true),
    DP_CLASS_WEIGHTS_OPTION(row.class_weights),
    DP_OPTION_INT(0, views, "K", DP_FROM_TO(1, DP_NET_MOST_VIEWS), "views of each image, averaged before the clip",
                  .fallback = "1"),
    DP_OPTION_INT(0, shift, "P", DP_FROM_TO(0, 1024), "move each view by up to P pixels in each direction", .fallback = "0"),
    DP_OPTION_FLAG(0, flip, "mirror half of the views"),
    DP_OPTION_FLAG(0, follow, "use the frame's bound, chosen from released values, instead of C"),
    DP_ADJACENCY_OPTION(row.adjacency),
    DP_THREADS_OPTION(row.threads),
    {.name = NULL},
};

/* Whether views differ from the rows. */
static bool moves(const struct state *s)
{
    return s->views.shift > 0 || s->views.flip;
}

static void net_grad_close(struct dp_stage *stage)
{
    struct state *s = stage->state;
    for (size_t t = 0; s->workers != NULL && t < s->threads; t++) {
        dp_net_pass_close(&s->workers[t].pass);
        free(s->workers[t].sum);
        free(s->workers[t].slope);
        free(s->workers[t].score);
    }
    free(s->workers);
    free(s->weights);
}

static int open_views(const struct options *o, struct state *s, struct dp_err *err)
{
    s->views = (struct dp_net_views){.count = o->views, .shift = o->shift, .flip = o->flip};
    dp_key_derive(&s->views.key, s->row.form.net.seed, "views", 0);
    if (!moves(s) && o->views > 1)
        return dp_fail(err, DP_E_USAGE, "--views: all views are the same without --shift and --flip");
    if (moves(s) && s->row.form.net.layer[0].in.height * s->row.form.net.layer[0].in.width == 1)
        return dp_fail(err, DP_E_USAGE, "--shift and --flip are for images, and the network begins with columns");
    return DP_OK;
}

static int net_grad_open(struct dp_stage *stage, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    s->row.training.method = &dp_method_gradient;
    s->row.training.family = &dp_family_network;
    s->row.training.network = o->network;
    s->row.bound = o->clip;
    s->row.follows = o->follow ? DP_FOLLOWS_BOUND : 0;
    s->threads = (size_t)o->row.threads;
    int rc = dp_form_network(&s->row.form, o->network, err);
    if (rc == DP_E_RUN)
        rc = err->status = DP_E_USAGE;
    return rc ?: open_views(o, s, err);
}

/* Whether the network fits rows of that many columns, and labels of that many classes. */
static int check_fit(const struct state *s, size_t columns, size_t classes, struct dp_err *err)
{
    size_t outputs = dp_loss_outputs(classes);
    if (s->row.form.features != columns)
        return dp_fail(err, DP_E_RUN, "--network: its input has %zu values, the rows have %zu columns", s->row.form.features,
                       columns);
    if (s->row.form.outputs != outputs)
        return dp_fail(err, DP_E_RUN, "--network: the last layer has %zu outputs, the labels need %zu", s->row.form.outputs,
                       outputs);
    return DP_OK;
}

static int net_grad_hello(struct dp_stage *stage, struct dp_frame *hello, struct dp_err *err)
{
    const struct state *s = stage->state;
    const struct dp_dataset *dataset = s->row.reader.dataset;
    (void)hello;
    return dataset != NULL ? check_fit(s, dataset->cols, dataset->label.classes, err) : DP_OK;
}

static void open_workers(struct state *s)
{
    s->weights = dp_new(s->row.form.cols, sizeof *s->weights);
    s->workers = dp_new(s->threads, sizeof *s->workers);
    for (size_t t = 0; t < s->threads; t++) {
        struct worker *worker = &s->workers[t];
        dp_net_pass_open(&worker->pass, &s->row.form.net, (size_t)s->views.count);
        if (t > 0) /* the first one adds to the frame's sum */
            worker->sum = dp_new(s->row.form.cols, sizeof *worker->sum);
        worker->slope = dp_new(s->row.form.outputs * worker->pass.kernels->lanes, sizeof *worker->slope);
        worker->score = dp_new(s->row.form.outputs, sizeof *worker->score);
    }
}

static int shape(struct dp_stage *stage, struct dp_frame *frame, const struct dp_batch *batch, struct dp_err *err)
{
    struct state *s = stage->state;
    (void)frame;
    int rc = check_fit(s, batch->features, s->row.classes, err);
    if (rc == DP_OK)
        open_workers(s);
    return rc;
}

/* Slopes of the mean loss of its views by the outputs of one view; zeros if its label is outside the loss's domain. */
static void slope_of(const struct state *s, struct worker *worker, double label, size_t lane)
{
    size_t outputs = s->row.form.outputs;
    double *u = worker->score, weight = 1;
    for (size_t k = 0; k < outputs; k++)
        u[k] = dp_net_output(&worker->pass, k, lane);
    if (dp_labels_take(s->row.training.loss, s->row.classes, label)) {
        dp_loss_row_slope(s->row.training.loss, s->row.training.width, label, s->row.classes, u, outputs, u);
        weight = dp_class_weight(&s->row.weights, label);
    } else {
        memset(u, 0, outputs * sizeof *u);
    }
    for (size_t k = 0; k < outputs; k++)
        worker->slope[k * worker->pass.kernels->lanes + lane] = (float)(weight * u[k] / (double)s->views.count);
}

/* View k of `count` examples, from `first` on, forward and backward. */
static void add_view(const struct state *s, struct worker *worker, const struct dp_batch *batch, size_t first, size_t count,
                     int64_t k)
{
    struct dp_row rows[DP_NET_MOST_LANES] = {{0}};
    struct dp_net_view views[DP_NET_MOST_LANES];
    for (size_t i = 0; i < count; i++) {
        rows[i] = dp_batch_row(batch, first + i);
        if (moves(s))
            views[i] = dp_net_view_draw(&s->views, s->lap, batch->id[first + i], k);
    }
    dp_net_load(&worker->pass, rows, moves(s) ? views : NULL, count);
    dp_net_forward(&worker->pass, s->weights);
    memset(worker->slope, 0, s->row.form.outputs * worker->pass.kernels->lanes * sizeof *worker->slope);
    for (size_t i = 0; i < count; i++)
        slope_of(s, worker, dp_batch_label(batch, first + i), i);
    dp_net_backward(&worker->pass, s->weights, worker->slope, (size_t)k);
}

/* The examples of a block, from `first` on. */
static void add_block(const struct state *s, struct worker *worker, const struct dp_batch *batch, size_t first, double bound,
                      int64_t *sum)
{
    size_t lanes = worker->pass.kernels->lanes, count = batch->count - first < lanes ? batch->count - first : lanes;
    double squares[DP_NET_MOST_LANES];
    for (int64_t k = 0; k < s->views.count; k++)
        add_view(s, worker, batch, first, count, k);
    dp_net_squares(&worker->pass, squares);
    dp_net_add(&worker->pass, squares, bound, dp_grid_for(bound), sum);
}

/* sum = Σ over the batch of the clipped negative gradients. */
static void add_all(struct state *s, const struct dp_batch *batch, double bound, int64_t *sum)
{
    const size_t lanes = s->workers[0].pass.kernels->lanes;
    size_t blocks = (batch->count + lanes - 1) / lanes, threads = blocks < s->threads ? blocks : s->threads;
    memset(sum, 0, s->row.form.cols * sizeof *sum);
#pragma omp parallel for num_threads(threads > 0 ? (int)threads : 1) schedule(static, 1)
    for (size_t t = 0; t < threads; t++) {
        int64_t *own = t > 0 ? s->workers[t].sum : sum;
        if (t > 0)
            memset(own, 0, s->row.form.cols * sizeof *own);
        for (size_t b = blocks * t / threads; b < blocks * (t + 1) / threads; b++)
            add_block(s, &s->workers[t], batch, b * lanes, bound, own);
    }
    for (size_t t = 1; t < threads; t++)
        for (size_t j = 0; j < s->row.form.cols; j++)
            sum[j] += s->workers[t].sum[j];
}

static int lap(struct dp_stage *stage, struct dp_frame *frame, const struct dp_batch *batch, const double *model,
               struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    double bound = o->clip;
    int64_t *sum;
    int rc = o->follow ? dp_bounded_follow(frame, &bound, err) : DP_OK;
    rc = rc ?: dp_frame_make_array(frame, DP_F_SUM, DP_I64, 1, s->row.form.cols, &sum, err);
    if (rc != DP_OK)
        return rc;
    for (size_t j = 0; j < s->row.form.cols; j++)
        s->weights[j] = (float)model[j];
    s->lap = frame->lap;
    add_all(s, batch, bound, sum);
    dp_bounded_state(frame, dp_adjacency_chosen(o->row.adjacency), bound);
    return DP_OK;
}

const struct dp_stage_class dp_net_grad_class = {
    .name = "dp-net-grad",
    .summary = "Compute the gradient of a network at each sampled row, clip it and add up",
    DP_STAGE_STRUCTS,
    .takes = DP_LABEL_RAW,
    .gives = DP_LABEL_BOUNDED,
    .rows = &(const struct dp_row_stage){.means = DP_MEANS_GRADIENT, .shape = shape, .lap = lap},
    .open = net_grad_open,
    .hello = net_grad_hello,
    .close = net_grad_close,
    .ephemeral = true,
    .additive = true,
};
