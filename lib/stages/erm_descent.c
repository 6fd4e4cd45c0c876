/* dp-erm --method descent: full gradient descent for a fixed number of steps. One person moves its result by at most
 * dp_descent_sensitivity and the rounding of its steps (priv/output.h). */

#include "math/vec.h"
#include "stages/erm.h"

/* A bound on how far one person moves the result, from a model of norm `start`. */
static double bound_of(const struct dp_erm *s, const struct dp_erm_shape *shape, double start)
{
    int64_t steps = s->options->iterations;
    struct dp_descent d = dp_erm_descent_of(s, shape->outputs);
    double exact = dp_descent_sensitivity((int64_t)shape->rows, d.mu, d.beta, d.lipschitz, d.eta, steps, false);
    return dp_erm_bound(s, shape, &d, steps, exact, dp_erm_chain(shape->rows, shape->outputs * shape->cols), start);
}

static void descent_announce(const struct dp_erm *s, struct dp_record *open)
{
    struct dp_erm_shape shape;
    bool known = dp_erm_shape_ahead(s, open->rows, &shape);
    dp_record_bound(open, DP_F_SUM, dp_adjacency_chosen(s->options->row.adjacency), known ? bound_of(s, &shape, 0) : 0);
}

static int descent_lap(struct dp_stage *stage, struct dp_frame *frame, const struct dp_batch *batch, const double *model,
                       struct dp_err *err)
{
    struct dp_erm *s = stage->state;
    const struct dp_erm_risk risk = {s, batch, NULL};
    const struct dp_erm_shape shape = dp_erm_shape_of(s);
    double bound = bound_of(s, &shape, sqrt(dp_norm2(model, dp_erm_size(s))));
    double eta = dp_erm_descent_of(s, shape.outputs).eta;
    memcpy(s->w, model, dp_erm_size(s) * sizeof *s->w);
    for (int64_t t = 0; isfinite(bound) && t < s->options->iterations; t++)
        dp_erm_descend(&risk, eta, s->w);
    return dp_erm_give(s, frame, model, bound, err);
}

const struct dp_erm_method dp_erm_descent = {
    .bounded = true,
    .check = dp_erm_bound_check,
    .announce = descent_announce,
    .lap = descent_lap,
};
