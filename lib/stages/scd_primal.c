/* Primal DP-SCD, Algorithm 2: a step changes some weights, each computed from all rows. Every lap reads every row, so sampling
   does not amplify. Only the weights are released. The predictions X w are computed again from them, so no vector of predictions needs
   noise. */

#include "math/grid.h"
#include "stages/labels.h"
#include "stages/scd.h"

/* Slope and curvature of the mean loss in the chosen columns: slope_kj = (1/N) Σ l'(u_ik) x_ij, curve_j = (1/N) Σ b x_ij². */
static void columns_of(const struct dp_scd *s, const struct dp_batch *batch, const double *weights, const int64_t *columns,
                       size_t chosen, double *slope, double *curve)
{
    const struct dp_scd_options *o = s->options;
    enum dp_loss loss = (enum dp_loss)o->row.loss;
    double smoothness = dp_loss_smoothness(loss, o->row.width), n = (double)s->row.rows;
    memset(slope, 0, s->outputs * chosen * sizeof *slope);
    memset(curve, 0, chosen * sizeof *curve);
    for (size_t i = 0; i < batch->count; i++) {
        struct dp_row row = dp_batch_row(batch, i);
        double label = dp_batch_label(batch, i);
        for (size_t j = 0; j < chosen; j++) {
            double x = dp_row_at(row, (size_t)columns[j]);
            curve[j] += smoothness / n * x * x;
        }
        bool known = dp_labels_take(loss, s->row.classes, label);
        for (size_t k = 0; known && k < s->outputs; k++) {
            double u = dp_row_dot(row, weights + k * s->row.cols);
            double l = dp_loss_slope(loss, o->row.width, dp_scd_target(s, label, k), u) / n;
            for (size_t j = 0; j < chosen; j++)
                slope[k * chosen + j] += l * dp_row_at(row, (size_t)columns[j]);
        }
    }
}

int dp_scd_primal(struct dp_stage *stage, struct dp_frame *frame, const struct dp_batch *batch, const double *model,
                  struct dp_err *err)
{
    struct dp_scd *s = stage->state;
    const struct dp_scd_options *o = stage->options;
    const struct dp_array *columns;
    int64_t *sum;
    int rc = dp_frame_need_array(frame, DP_F_COLUMNS, DP_I64, 1, &columns, err);
    if (rc == DP_OK && (columns->count == 0 || columns->count > s->row.cols || batch->count != s->row.rows))
        rc = dp_fail(err, DP_E_RUN, "--variant primal wants every row and some columns: dp-sample --mode full --columns L");
    if (rc != DP_OK)
        return rc;
    const int64_t *column = columns->data;
    size_t chosen = columns->count;
    for (size_t j = 0; j < chosen; j++)
        if (column[j] < 0 || (size_t)column[j] >= s->row.cols)
            return dp_fail(err, DP_E_RUN, "a column of lap %lld is out of range", (long long)frame->lap);
    rc = dp_frame_make_array(frame, DP_F_SUM, DP_I64, s->outputs, chosen, &sum, err);
    if (rc != DP_OK)
        return rc;
    double *slope = s->work, *curve = s->work + s->outputs * s->row.cols;
    columns_of(s, batch, model, column, chosen, slope, curve);
    double sigma_prime = o->sigma_prime_scale * (double)chosen, grid = dp_grid_for(o->clip);
    for (size_t j = 0; j < chosen; j++) {
        for (size_t k = 0; k < s->outputs; k++)
            s->zeta[k] = -(slope[k * chosen + j] + o->row.lambda * model[k * s->row.cols + (size_t)column[j]]) /
                         (sigma_prime * curve[j] + o->row.lambda);
        float *clipped = s->coefficient;
        dp_grid_clip(s->zeta, s->outputs, o->clip, 1.0, 1, clipped);
        for (size_t k = 0; k < s->outputs; k++)
            sum[k * chosen + j] = (int64_t)((double)clipped[k] / grid);
    }
    /* Every coordinate may change sign, by 2C each. Algorithm 2's factor √(L+1) also pays for a released X w. */
    double updates = (double)chosen;
    dp_scd_record(s, frame, DP_RELEASE_SUM)->sensitivity = 2 * o->clip * sqrt(updates * (updates + 1));
    return DP_OK;
}
