/* Stochastic dual coordinate ascent without privacy: the optimum that the private variants are measured against. Needs no
   tuning, and its duality gap says how far it still is. */
#include <math.h>
#include <string.h>

#include "stages/scd.h"

/* P(w) and P(w) − D(alpha) on all rows of the batch, at v = model; sums over outputs. */
static void duality_gap(const struct dp_scd *s, const struct dp_batch *batch, const double *v, double *objective, double *gap)
{
    const struct dp_scd_options *o = s->options;
    enum dp_loss loss = (enum dp_loss)o->loss;
    double losses = 0, conjugates = 0, n = (double)s->rows;
    for (size_t i = 0; i < batch->count; i++) {
        struct dp_row row = dp_batch_row(batch, i);
        const double *alpha = s->alpha + (size_t)batch->id[i] * s->outputs;
        for (size_t k = 0; k < s->outputs; k++) {
            double y = dp_scd_target(s, dp_batch_label(batch, i), k);
            losses += dp_loss_value(loss, o->width, y, dp_row_dot(row, v + k * s->cols) / s->lambda_n);
            conjugates += dp_loss_conjugate(loss, o->width, y, alpha[k]);
        }
    }
    double quadratic = dp_norm2(v, s->outputs * s->cols) / (2 * o->lambda * n * n);
    *objective = losses / n + quadratic;
    *gap = *objective + conjugates / n + quadratic;
}

int dp_scd_non_private(struct dp_stage *stage, struct dp_frame *frame, const struct dp_batch *batch, const double *model,
                       struct dp_err *err)
{
    struct dp_scd *s = stage->state;
    const struct dp_scd_options *o = stage->options;
    double *sum;
    int rc = dp_frame_make_array(frame, DP_F_SUM, DP_F64, s->outputs, s->cols, &sum, err);
    if (rc != DP_OK)
        return rc;
    size_t size = s->outputs * s->cols;
    memcpy(s->work, model, size * sizeof *s->work);
    for (size_t i = 0; i < batch->count; i++) {
        struct dp_row row = dp_batch_row(batch, i);
        double curvature = dp_row_norm2(row) / s->lambda_n, label = dp_batch_label(batch, i);
        double *alpha = s->alpha + (size_t)batch->id[i] * s->outputs;
        for (size_t k = 0; k < s->outputs; k++) {
            double *v = s->work + k * s->cols;
            double zeta = dp_dual_update((enum dp_loss)o->loss, o->width, dp_scd_target(s, label, k), alpha[k],
                                         dp_row_dot(row, v) / s->lambda_n, curvature, (int)o->newton);
            if (!isfinite(zeta))
                return dp_fail(err, DP_E_RUN, "an update of lap %lld is not finite", (long long)frame->lap);
            alpha[k] += zeta;
            if (zeta != 0)
                dp_row_axpy(zeta, row, v);
        }
    }
    for (size_t j = 0; j < size; j++)
        sum[j] = s->work[j] - model[j];
    dp_frame_edit_record(frame, DP_F_NONE)->of = DP_F_SUM;
    bool last = stage->turn == stage->turns;
    if (batch->count == s->rows && (stage->turn % o->gap_every == 0 || last)) {
        double objective, gap;
        duality_gap(s, batch, s->work, &objective, &gap);
        dp_frame_set_real(frame, DP_F_OBJECTIVE, objective);
        dp_frame_set_real(frame, DP_F_GAP, gap);
    }
    return DP_OK;
}
