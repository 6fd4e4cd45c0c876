/* dp-transform: computes, from released second moments, the transform of rows for the gradients of later laps. Post-processing:
 * runs after the gate, so everything that it puts into the frame is public. */

#include "base/mem.h"
#include "math/moments.h"
#include "math/whiten.h"
#include "model/sum.h"
#include "model/transform.h"
#include "stages/announced.h"

struct options {
    double floor, radius, constant;
    int64_t rank;
    bool uncut;
};

#define DP_OPTIONS struct options

static const struct dp_option options[] = {
    DP_OPTION_REAL(
        'f', floor, "RHO", DP_ABOVE(0),
        "directions shorter than RHO times the noise stay short: the floor is RHO x its scale x the root of the number of columns",
        .fallback = "0.5"),
    DP_OPTION_REAL('R', radius, "R", DP_ABOVE(0), "cut rows to R times their root mean square length", .fallback = "0.7"),
    DP_OPTION_INT('r', rank, "M", DP_FROM_TO(1, DP_MOMENTS_MOST), "keep only the M longest directions"),
    DP_OPTION_REAL(0, constant, "V", DP_ABOVE(0),
                   "the last column is V in each row: add a row to the transform, for the constant"),
    DP_OPTION_FLAG(0, uncut, "do not cut rows: for losses whose gradients grow with the row and are clipped by its length"),
    {.name = NULL},
};

/* Keeps the first d of the `all` rows and columns of M: the others are labels. */
static void leave_labels(double *moments, size_t all, size_t d)
{
    for (size_t i = 1; i < d; i++)
        memmove(moments + i * d, moments + i * all, d * sizeof *moments);
}

/* Reads M, d × d, and how to whiten with it. The caller frees *moments. */
static int read_moments(const struct dp_stage *stage, const struct dp_frame *frame, double **moments, size_t *d,
                        struct dp_whitening *how, struct dp_err *err)
{
    const struct options *o = stage->options;
    const struct dp_record *m = dp_frame_record(frame, DP_F_SUM);
    const struct dp_array *model = dp_frame_array(frame, DP_F_MODEL);
    long long lap = (long long)frame->lap;
    double noise = dp_frame_real(frame, DP_F_NOISE_SCALE, 0);
    struct dp_sum sum;
    int rc = dp_sum_read(&sum, frame, err);
    if (rc != DP_OK)
        return rc;
    const struct dp_array *a = sum.values;
    size_t all = dp_whiten_columns(a->count), labels = (size_t)dp_frame_int(frame, DP_F_LABEL_COLUMNS, 0);
    *d = labels < all ? all - labels : 0;
    if (a->ndim != 2 || a->dims[0] != 1 || *d == 0 || all * (all + 1) / 2 != a->count || sum.columns != NULL ||
        (model != NULL && model->ndim == 2 && model->dims[1] != *d))
        return dp_fail(err, DP_E_RUN, "the sum of lap %lld is not one of moments (--on KIND names the laps of dp-moments)",
                       lap);
    if (all > DP_MOMENTS_MOST)
        return dp_fail(err, DP_E_RUN, "the moments of lap %lld are of %zu columns, more than %d", lap, all, DP_MOMENTS_MOST);
    if (m == NULL || !(m->rate > 0) || m->rows <= 0)
        return dp_fail(err, DP_E_RUN, "the frame of lap %lld does not record how its rows were sampled", lap);
    if (!(noise > 0 && isfinite(noise)))
        return dp_fail(err, DP_E_RUN, "the moments of lap %lld have no noise, by which the floor is set", lap);
    *how = (struct dp_whitening){.rows = m->rate * (double)m->rows,
                                 .floor = o->floor * noise * sqrt((double)*d),
                                 .radius = o->radius,
                                 .keep = o->rank > 0 && (size_t)o->rank < *d ? (size_t)o->rank : 0};
    double *packed = dp_new(a->count, sizeof *packed);
    *moments = dp_new(all * all, sizeof **moments);
    for (size_t i = 0; i < a->count; i++)
        packed[i] = dp_sum_at(&sum, i);
    dp_whiten_unpack(packed, all, *moments);
    leave_labels(*moments, all, *d);
    free(packed);
    return rc;
}

static int transform_hello(struct dp_stage *stage, struct dp_frame *frame, struct dp_err *err)
{
    return dp_announced_taken(stage, frame, DP_MEANS_MOMENTS, DP_MEANS_TRANSFORM,
                              "moments (--on KIND names the laps of dp-moments)", err);
}

static int transform_fire(struct dp_stage *stage, struct dp_frame *frame, struct dp_out *out, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct dp_whitening how;
    double *moments = NULL, *transform, effective, curvature;
    const size_t more = isnan(o->constant) ? 0 : 1;
    size_t d, directions;
    int rc = read_moments(stage, frame, &moments, &d, &how, err);
    directions = how.keep > 0 ? how.keep : d;
    rc = rc ?: dp_frame_make_array(frame, DP_F_TRANSFORM, DP_F64, directions + more, d, &transform, err);
    rc = rc ?: dp_whiten(&how, moments, d, transform, &effective, &curvature, err);
    free(moments);
    if (rc != DP_OK)
        return rc;
    if (more > 0) {
        memset(transform + directions * d, 0, d * sizeof *transform);
        transform[directions * d + d - 1] = DP_TRANSFORM_CONSTANT / o->constant;
    }
    dp_frame_set_real(frame, DP_F_CURVATURE, curvature);
    dp_frame_drop(frame, DP_F_UNCUT);
    if (o->uncut)
        dp_frame_set_bool(frame, DP_F_UNCUT, true);
    dp_frame_drop(frame, DP_F_SUM);
    dp_frame_drop(frame, DP_F_BOUND); /* the bound of the moments, which dp-clip --follow must not take over */
    return out->frame(out, frame, err);
}

const struct dp_stage_class dp_transform_class = {
    .name = "dp-transform",
    .summary = "Make the transform of rows from released moments",
    .options = options,
    .options_size = sizeof(struct options),
    .takes = DP_LABEL_RELEASED,
    .gives = DP_LABEL_RELEASED,
    .hello = transform_hello,
    .fire = transform_fire,
    .ephemeral = true,
};
