/* dp-erm --method coins: stochastic gradient descent that draws a Poisson batch in each of its T = ceil(K N/B) steps, at a rate
 * of q = B/N, and releases only the last model. How far a person moves the model is random: priv/repeated.h accounts for it.
 *
 * A step is  w ← w − eta ((1/D) Σ_{i in batch} s_i x_i + lambda w),  D = max(B, m/kappa), where m is the number of coins that
 * came up, whether or not their rows contribute anything: m does not depend on the data. With h the smoothness of one row's
 * loss, the batch's objective has a curvature between lambda and lambda + h m/D ≤ lambda + kappa h, and
 *   kappa = (1 + rho − eta lambda)/(eta h) ≥ 1,  rho = max(|1 − eta lambda|, |1 − eta (lambda + h)|),
 * makes the step contract by rho for every batch, of any size; kappa is 2 at eta = 1/(lambda + h). A row that was drawn adds
 * eta L/D ≤ eta L/B to the distance. Rounding moves the result no further than in a descent with gradients kappa L and
 * smoothness kappa h. This move, with the grid, must be within DP_REPEATED_ROUNDING of the effect of one draw. */

#include "base/mem.h"
#include "math/coins.h"
#include "math/vec.h"
#include "priv/repeated.h"
#include "stages/erm.h"

#define MOST_ROWS ((int64_t)1 << 31) /* rows of a lap (stages/batch.h) */

/* The descent of a lap over so many rows. */
struct plan {
    struct dp_descent d;
    struct dp_repeated repeated;
    double room;  /* kappa */
    double most;  /* rows of a batch */
    double bound; /* bound of one draw; INFINITY if rounding is too large for it */
};

static struct dp_repeated repeated_of(const struct dp_erm *s, const struct dp_descent *d, int64_t rows)
{
    const struct dp_erm_options *o = s->options;
    return (struct dp_repeated){.rate = fmin((double)o->batch / (double)rows, 1),
                                .draws = (o->passes * rows - 1) / o->batch + 1,
                                .contraction = dp_descent_contraction(d, d->eta)};
}

/* The largest batch whose rounding is accounted for. A larger one has a probability below e^−72 (Bernstein's inequality) and
 * ends the run; this depends only on the coins. */
static double most_repeated(const struct dp_repeated *repeated, size_t rows)
{
    double mean = repeated->rate * (double)rows;
    return fmin((double)rows, mean + 12 * sqrt(mean) + 72);
}

/* The plan from a model of norm `start`. */
static struct plan plan_of(const struct dp_erm *s, const struct dp_erm_shape *shape, double start)
{
    struct dp_descent d = dp_erm_descent_of(s, shape->outputs);
    struct plan plan = {.d = d, .repeated = repeated_of(s, &d, (int64_t)shape->rows)};
    double reach = dp_erm_reach(s->options),
           smoothness = dp_loss_smoothness(s->row.training.loss, s->row.training.width) * reach * reach;
    double pull = d.eta * d.mu;
    plan.room = (1 + plan.repeated.contraction - pull) / (d.eta * smoothness) * (1 - 0x1p-40);
    struct dp_descent worst = d;
    worst.beta = d.mu + plan.room * smoothness;
    worst.lipschitz = plan.room * d.lipschitz;
    plan.bound = d.eta * d.lipschitz / (double)s->options->batch * (1 + 1e-12);
    plan.most = most_repeated(&plan.repeated, shape->rows);
    double rounding = dp_erm_rounding(s, shape, &worst, plan.repeated.draws, plan.most, start) / plan.bound;
    if (!(rounding + dp_erm_truncation(shape) <= DP_REPEATED_ROUNDING))
        plan.bound = (double)INFINITY;
    return plan;
}

/* Fills in the record of a lap, or of the hello frame. */
static void describe(struct dp_record *record, const struct dp_repeated *repeated)
{
    record->sampler = DP_SAMPLER_REPEATED;
    record->rate = repeated->rate;
    record->draws = repeated->draws;
    record->contraction = repeated->contraction;
}

static void coins_announce(const struct dp_erm *s, struct dp_record *open)
{
    struct dp_erm_shape shape;
    struct dp_descent d = dp_erm_descent_of(s, 1);
    int64_t rows = open->rows < 1 ? 1 : open->rows < MOST_ROWS ? open->rows : MOST_ROWS;
    struct dp_repeated repeated = repeated_of(s, &d, rows);
    bool known = dp_erm_shape_ahead(s, open->rows, &shape);
    describe(open, &repeated);
    dp_record_bound(open, DP_F_SUM, dp_adjacency_chosen(s->options->row.adjacency), known ? plan_of(s, &shape, 0).bound : 0);
}

/* Coins have the address of their step among all steps of the run, of which there are fewer than 2^40, and of their row. */
static int check_lap(const struct dp_erm *s, const struct dp_frame *frame, const struct dp_batch *batch,
                     const struct plan *plan, struct dp_err *err)
{
    long long lap = (long long)frame->lap;
    if (s->options->batch > (int64_t)s->row.rows)
        return dp_fail(err, DP_E_RUN, "--batch: must be at most the %zu rows, got %lld", s->row.rows,
                       (long long)s->options->batch);
    if (lap > ((int64_t)1 << 40) / plan->repeated.draws - 1)
        return dp_fail(err, DP_E_RUN, "lap %lld of %lld steps is beyond the coins of a run", lap,
                       (long long)plan->repeated.draws);
    for (size_t i = 0; i < batch->count; i++)
        if (batch->id[i] != (int64_t)i)
            return dp_fail(err, DP_E_RUN, "the rows of lap %lld are not in their order", lap);
    if (isinf(plan->bound))
        return dp_fail(err, DP_E_RUN,
                       "rounding may move the model of lap %lld by more than 2^-10 of what one draw does: fewer steps, larger "
                       "ones, smaller batches, or a start nearer to 0",
                       lap);
    return DP_OK;
}

/* Draws the rows of a step; returns their number. */
static size_t draw(const struct dp_coins *coins, const struct dp_key *key, uint64_t step, size_t rows, int64_t *drawn)
{
    size_t count = 0;
    int64_t from = 0;
    while (from < (int64_t)rows)
        count += dp_coins_toss(coins, key, step, &from, (int64_t)rows, drawn + count);
    return count;
}

static int coins_lap(struct dp_stage *stage, struct dp_frame *frame, const struct dp_batch *batch, const double *model,
                     struct dp_err *err)
{
    struct dp_erm *s = stage->state;
    const struct dp_erm_risk risk = {s, batch, NULL};
    const struct dp_erm_shape shape = dp_erm_shape_of(s);
    const struct plan plan = plan_of(s, &shape, sqrt(dp_norm2(model, dp_erm_size(s))));
    struct dp_coins coins;
    int rc = check_lap(s, frame, batch, &plan, err);
    if (rc != DP_OK)
        return rc;
    int64_t *drawn = dp_new(s->row.rows + DP_COINS_TOSSED, sizeof *drawn);
    dp_coins_prepare(&coins, plan.repeated.rate, DP_DRAW_STEP_COINS);
    memcpy(s->w, model, dp_erm_size(s) * sizeof *s->w);
    for (int64_t t = 0; rc == DP_OK && t < plan.repeated.draws; t++) {
        uint64_t step = (uint64_t)(frame->lap * plan.repeated.draws + t);
        size_t count = draw(&coins, &stage->key, step, s->row.rows, drawn);
        double divisor = fmax((double)s->options->batch, (double)count / plan.room);
        if ((double)count > plan.most)
            rc =
                dp_fail(err, DP_E_RUN, "step %lld of lap %lld drew far too many rows", (long long)t + 1, (long long)frame->lap);
        dp_erm_step(&risk, drawn, 0, count, divisor, plan.d.eta, s->w);
    }
    free(drawn);
    if (rc != DP_OK)
        return rc;
    describe(dp_frame_edit_record(frame, DP_F_NONE), &plan.repeated);
    return dp_erm_give(s, frame, model, plan.bound, err);
}

const struct dp_erm_method dp_erm_coins = {
    .bounded = true,
    .batches = true,
    .check = dp_erm_bound_check,
    .announce = coins_announce,
    .lap = coins_lap,
};
