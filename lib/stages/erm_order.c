/* dp-erm --method permutation: stochastic gradient descent over one random permutation of the rows, the same in each pass, in
   consecutive batches (priv/output.h). The permutation is not released; privacy does not depend on its secrecy. */

#include "base/mem.h"
#include "math/vec.h"
#include "stages/erm.h"

/* A bound on how far one person moves the result, from a model of norm `start`. --batch is at most the number of rows. */
static double bound_of(const struct dp_erm *s, const struct dp_erm_shape *shape, double start)
{
    const struct dp_erm_options *o = s->options;
    int64_t rows = (int64_t)shape->rows, batches = dp_permutation_batches(rows, o->batch);
    struct dp_descent d = dp_erm_descent_of(s, shape->outputs);
    double exact = dp_permutation_sensitivity(&d, rows, o->batch, o->passes, false);
    return dp_erm_bound(s, shape, &d, o->passes * batches, exact, (double)(rows / batches + 1), start);
}

static void permutation_announce(const struct dp_erm *s, struct dp_record *open)
{
    struct dp_erm_shape shape;
    bool known = dp_erm_shape_ahead(s, open->rows, &shape) && s->options->batch <= open->rows;
    dp_record_bound(open, DP_F_SUM, dp_adjacency_chosen(s->options->row.adjacency), known ? bound_of(s, &shape, 0) : 0);
}

/* A permutation of 0 … count − 1, uniform. */
static void shuffle(const struct dp_stage *stage, uint64_t lap, int64_t *order, size_t count)
{
    struct dp_stream stream;
    dp_stream_start(&stream, &stage->key, DP_DRAW_PERMUTATION, lap);
    for (size_t i = 0; i < count; i++) {
        size_t at = (size_t)dp_stream_below(&stream, i + 1);
        order[i] = order[at];
        order[at] = (int64_t)i;
    }
}

static void pass_over(const struct dp_erm_risk *r, const int64_t *order, const struct dp_descent *d, int64_t *t)
{
    struct dp_erm *s = r->state;
    size_t batches = (size_t)dp_permutation_batches((int64_t)s->row.rows, s->options->batch);
    for (size_t m = 0; m < batches; m++) {
        size_t from = s->row.rows * m / batches, to = s->row.rows * (m + 1) / batches;
        dp_erm_step(r, order, from, to, (double)(to - from), dp_descent_step(d, ++*t), s->w);
    }
}

static int permutation_lap(struct dp_stage *stage, struct dp_frame *frame, const struct dp_batch *batch, const double *model,
                           struct dp_err *err)
{
    struct dp_erm *s = stage->state;
    const struct dp_erm_risk risk = {s, batch, NULL};
    const struct dp_erm_shape shape = dp_erm_shape_of(s);
    const struct dp_descent d = dp_erm_descent_of(s, shape.outputs);
    int64_t *order = NULL, t = 0;
    if (s->options->batch > (int64_t)s->row.rows)
        return dp_fail(err, DP_E_RUN, "--batch: must be at most the %zu rows, got %lld", s->row.rows,
                       (long long)s->options->batch);
    double bound = bound_of(s, &shape, sqrt(dp_norm2(model, dp_erm_size(s))));
    order = dp_new(s->row.rows, sizeof *order);
    shuffle(stage, (uint64_t)frame->lap, order, s->row.rows);
    memcpy(s->w, model, dp_erm_size(s) * sizeof *s->w);
    for (int64_t pass = 0; isfinite(bound) && pass < s->options->passes; pass++)
        pass_over(&risk, order, &d, &t);
    free(order);
    return dp_erm_give(s, frame, model, bound, err);
}

const struct dp_erm_method dp_erm_permutation = {
    .bounded = true,
    .batches = true,
    .check = dp_erm_bound_check,
    .announce = permutation_announce,
    .lap = permutation_lap,
};
