/* dp-erm --method minimum: the minimiser over all rows, the reference for every private method, down to a requested norm of ∇F,
 * computed at the released model. F is lambda-strongly convex, so F(W) − min F ≤ ‖∇F(W)‖²/(2 lambda). The influence of one row
 * has no bound. */

#include "math/vec.h"
#include "stages/erm.h"

static void minimum_announce(const struct dp_erm *s, struct dp_record *open)
{
    (void)s;
    open->of = DP_F_SUM;
}

static int not_converged(const struct dp_erm *s, const struct dp_minimum *found, struct dp_err *err)
{
    const char *lambda = s->options->row.lambda > 0 ? "" : ", or a --lambda";
    if (found->end == DP_MINIMUM_INFINITE)
        return dp_fail(err, DP_E_RUN, "the objective is not finite at the model to start from");
    if (found->end == DP_MINIMUM_MOST)
        return dp_fail(
            err, DP_E_RUN,
            "did not converge: in %lld passes the norm of the gradient came down to %.3g, --tolerance is %g; more passes "
            "(--most) may help%s",
            (long long)found->evaluations, found->norm, s->tolerance, lambda);
    return dp_fail(err, DP_E_RUN,
                   "did not converge: after %lld passes rounding hides where it is lower, with a norm of the gradient of %.3g; "
                   "--tolerance is %g, a larger one may help%s",
                   (long long)found->evaluations, found->norm, s->tolerance, lambda);
}

/* sum = minimiser − initial model. The certificate is about the model that dp-step computes from the two. */
static int minimise(struct dp_erm_risk *r, const double *model, double *sum, struct dp_minimum *found, struct dp_err *err)
{
    struct dp_erm *s = r->state;
    size_t size = dp_erm_size(s);
    memcpy(s->w, model, size * sizeof *s->w);
    dp_erm_solve(r, s->tolerance, found);
    if (found->end != DP_MINIMUM_REACHED)
        return not_converged(s, found, err);
    for (size_t j = 0; j < size; j++) {
        sum[j] = s->w[j] - model[j];
        s->w[j] = model[j] + sum[j];
    }
    found->value = dp_erm_risk_at(r, s->w, s->slope);
    found->norm = sqrt(dp_norm2(s->slope, size));
    found->end = found->norm <= s->tolerance ? DP_MINIMUM_REACHED : DP_MINIMUM_STUCK;
    return found->end == DP_MINIMUM_REACHED ? DP_OK : not_converged(s, found, err);
}

static int minimum_lap(struct dp_stage *stage, struct dp_frame *frame, const struct dp_batch *batch, const double *model,
                       struct dp_err *err)
{
    struct dp_erm *s = stage->state;
    struct dp_erm_risk risk = {s, batch, NULL};
    struct dp_minimum found;
    double *sum;
    int rc = dp_frame_make_array(frame, DP_F_SUM, DP_F64, s->row.form.rows, s->row.form.cols, &sum, err);
    rc = rc ?: minimise(&risk, model, sum, &found, err);
    if (rc != DP_OK)
        return rc;
    dp_frame_edit_record(frame, DP_F_NONE)->of = DP_F_SUM;
    double gap = found.norm * found.norm / (2 * s->options->row.lambda);
    dp_frame_set_real(frame, DP_F_OBJECTIVE, found.value);
    if (isfinite(gap))
        dp_frame_set_real(frame, DP_F_GAP, gap);
    return DP_OK;
}

const struct dp_erm_method dp_erm_minimum = {
    .announce = minimum_announce,
    .lap = minimum_lap,
};
