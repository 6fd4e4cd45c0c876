/* Stochastic dual coordinate ascent without privacy: the optimum that the private variants are measured against, and a useful
 * solver itself. It needs no tuning, and its duality gap bounds the distance to the optimum.
 *
 * If a batch is all rows, a lap begins with the last certificate's values at each row, and makes passes in random order over
 * the rows that can still move: Hsieh, Chang, Lin, Keerthi and Sundararajan, "A dual coordinate descent method for large-scale
 * linear SVM", 2008, section 3.2. A row whose dual variable is at an end of its range, and would be pushed beyond it by more
 * than a margin, is left out until the next lap looks at all rows again. */

#include "stages/scd.h"

#define MARGIN 0.25 /* share of the largest violation of the pass before; from 1/8 to 1/2 the number of visits hardly changes */
#define ENOUGH 0.1  /* a lap ends when violations have fallen to this part of their initial value */
#define PASSES 4    /* or before it makes more visits than this many passes over all rows */

/* The problem of one output, in a lap. */
struct descent {
    struct dp_scd *s;
    const struct dp_batch *batch;
    size_t output;
};

/* Results of a pass: how far slopes are from values at which no row would move. Each slope is computed when its row is
 * visited. */
struct violations {
    double largest, sum;
    size_t left; /* the next pass visits the first `left` rows of the list */
};

/* A dual variable and its range. */
struct variable {
    double y, at, low, high, slope;
};

static double *alpha_of(const struct descent *d, size_t id)
{
    return d->s->alpha + id * d->s->outputs + d->output;
}

static struct variable variable_of(const struct descent *d, size_t id)
{
    const struct dp_scd_options *o = d->s->options;
    struct variable a = {.y = dp_scd_target(d->s, dp_scd_label(d->s, d->batch, id), d->output), .at = *alpha_of(d, id)};
    dp_dual_range((enum dp_loss)o->row.loss, o->row.width, a.y, &a.low, &a.high);
    return a;
}

/* Counts the row, and puts it on the list unless it is stuck. Returns its violation. */
static double look(const struct descent *d, size_t id, const struct variable *a, double margin, struct violations *found)
{
    double down = a->at > a->low ? a->slope : 0, up = a->at < a->high ? -a->slope : 0; /* against the slope */
    double violation = down > up ? down : up;
    bool stuck = (a->at <= a->low && a->slope > margin) || (a->at >= a->high && a->slope < -margin);
    found->sum += violation;
    found->largest = violation > found->largest ? violation : found->largest;
    if (!stuck)
        d->s->certificate.list[found->left++] = (uint32_t)id;
    return violation;
}

static int visit(const struct descent *d, size_t id, struct dp_row row, double margin, struct violations *found, int64_t lap,
                 struct dp_err *err)
{
    struct dp_scd *s = d->s;
    const struct dp_scd_options *o = s->options;
    enum dp_loss loss = (enum dp_loss)o->row.loss;
    struct variable a = variable_of(d, id);
    double *v = s->work + d->output * s->row.cols, u = dp_row_dot(row, v) / s->lambda_n;
    a.slope = dp_dual_slope(loss, o->row.width, a.y, a.at, u);
    if (look(d, id, &a, margin, found) == 0)
        return DP_OK;
    int newton = o->newton < 10 ? 10 : (int)o->newton; /* one step from the paper's margin may never reach the minimiser */
    double zeta = dp_dual_update(loss, o->row.width, a.y, a.at, u, dp_scd_norm2(s, id, row) / s->lambda_n, newton);
    if (!isfinite(zeta))
        return dp_fail(err, DP_E_RUN, "an update of lap %lld is not finite", (long long)lap);
    double next = a.at + zeta; /* alpha must be exactly in the domain, otherwise the dual is infinite */
    next = next < a.low ? a.low : next > a.high ? a.high : next;
    *alpha_of(d, id) = next;
    if (next != a.at)
        dp_row_axpy(next - a.at, row, v);
    return DP_OK;
}

/* Prefetches the row: rows in random order are far apart. */
static struct dp_row ask_for(const struct descent *d, size_t id)
{
    struct dp_row row = dp_scd_row(d->s, d->batch, id);
    dp_row_prefetch(row);
    if (row.columns != NULL)
        __builtin_prefetch(row.columns);
    __builtin_prefetch(alpha_of(d, id));
    return row;
}

#define AHEAD 4
static int pass_over(const struct descent *d, size_t count, double margin, struct violations *found, int64_t lap,
                     struct dp_err *err)
{
    const uint32_t *list = d->s->certificate.list;
    struct dp_row rows[AHEAD];
    int rc = DP_OK;
    *found = (struct violations){0};
    for (size_t i = 0; i < AHEAD && i < count; i++)
        rows[i] = ask_for(d, list[i]);
    for (size_t i = 0; rc == DP_OK && i < count; i++) {
        struct dp_row row = rows[i % AHEAD];
        if (i + AHEAD < count)
            rows[i % AHEAD] = ask_for(d, list[i + AHEAD]);
        rc = visit(d, list[i], row, margin, found, lap, err);
    }
    return rc;
}

/* Counts all rows with the certificate's values, and puts rows that may move on the list. */
static struct violations look_at_all(const struct descent *d)
{
    const struct dp_scd *s = d->s;
    struct violations all = {0}, found = {0};
    for (int margins = 0; margins < 2; margins++) {
        found = (struct violations){0};
        for (size_t id = 0; id < s->row.rows; id++) {
            struct variable a = variable_of(d, id);
            a.slope = s->certificate.slope[id * s->outputs + d->output];
            look(d, id, &a, margins == 0 ? (double)INFINITY : MARGIN * all.largest, &found);
        }
        all = margins == 0 ? found : all;
    }
    return found;
}

static int descend_all(const struct descent *d, struct dp_stream *stream, int64_t lap, struct dp_err *err)
{
    struct violations first = look_at_all(d), found = first;
    size_t visits = 0, most = PASSES * d->s->row.rows;
    int rc = DP_OK;
    while (rc == DP_OK && found.left > 0 && found.largest > 0 && (visits == 0 || visits + found.left <= most)) {
        size_t count = found.left;
        dp_stream_shuffle(stream, d->s->certificate.list, count);
        rc = pass_over(d, count, MARGIN * found.largest, &found, lap, err);
        visits += count;
        if (found.sum < ENOUGH * first.sum)
            break;
    }
    return rc;
}

/* One pass over a batch of some rows, without earlier values. */
static int descend_batch(const struct descent *d, struct dp_stream *stream, int64_t lap, struct dp_err *err)
{
    struct violations found;
    for (size_t i = 0; i < d->batch->count; i++)
        d->s->certificate.list[i] = (uint32_t)d->batch->id[i];
    dp_stream_shuffle(stream, d->s->certificate.list, d->batch->count);
    return pass_over(d, d->batch->count, (double)INFINITY, &found, lap, err);
}

/* The initial v: for a batch of all rows it is computed from alpha, whatever model the frame has. */
static void begin(struct dp_scd *s, const struct dp_batch *batch, bool all, const double *model)
{
    struct dp_scd_certificate *c = &s->certificate;
    size_t size = s->outputs * s->row.cols * sizeof *model;
    for (size_t i = 0; batch->dataset == NULL && i < batch->count; i++)
        c->place[batch->id[i]] = (uint32_t)i;
    if (all && !(c->made && memcmp(c->point, model, size) == 0))
        dp_scd_certify(s, batch, model);
    memcpy(s->work, all ? c->total : model, size);
}

int dp_scd_non_private(struct dp_stage *stage, struct dp_frame *frame, const struct dp_batch *batch, const double *model,
                       struct dp_err *err)
{
    struct dp_scd *s = stage->state;
    struct dp_scd_certificate *c = &s->certificate;
    struct dp_stream stream;
    double *sum;
    bool all = batch->count == s->row.rows, last = stage->turn == stage->turns;
    int rc = dp_frame_make_array(frame, DP_F_SUM, DP_F64, s->outputs, s->row.cols, &sum, err);
    if (rc != DP_OK)
        return rc;
    begin(s, batch, all, model);
    dp_stream_start(&stream, &stage->key, DP_DRAW_PERMUTATION, (uint64_t)frame->lap);
    for (size_t k = 0; rc == DP_OK && k < s->outputs; k++) {
        const struct descent d = {s, batch, k};
        rc = (all ? descend_all : descend_batch)(&d, &stream, frame->lap, err);
    }
    if (rc != DP_OK)
        return rc;
    for (size_t j = 0; j < s->outputs * s->row.cols; j++)
        sum[j] = s->work[j] - model[j];
    struct dp_record *record = dp_frame_edit_record(frame, DP_F_NONE);
    record->release = DP_RELEASE_NONE;
    record->of = DP_F_SUM;
    if (all && (stage->turn % s->options->gap_every == 0 || last)) {
        for (size_t j = 0; j < s->outputs * s->row.cols; j++)
            c->point[j] = model[j] + sum[j]; /* the model that dp-step makes, to the last bit */
        dp_scd_certify(s, batch, c->point);
        dp_frame_set_real(frame, DP_F_OBJECTIVE, c->objective);
        dp_frame_set_real(frame, DP_F_GAP, c->gap);
    }
    return DP_OK;
}
