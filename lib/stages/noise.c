/* dp-noise: Gaussian noise on the grid, on a sum whose sensitivity is bounded. */
#include <math.h>

#include "math/grid.h"
#include "stages/stages.h"

struct options {
    double multiplier;
};

static const struct dp_option options[] = {
    {.name = "multiplier", .letter = 'z', .kind = DP_OPT_REAL, .offset = offsetof(struct options, multiplier),
     .metavar = "Z", .help = "noise standard deviation divided by the sensitivity", .min = 0, .max = INFINITY,
     .flags = DP_OPT_REQUIRED | DP_OPT_OPEN_MIN},
    {.name = NULL},
};

static int noise_fire(struct dp_stage *stage, struct dp_frame *frame, struct dp_out *out, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct dp_mechanism *m = dp_frame_mechanism(frame);
    double grid = dp_frame_real(frame, DP_F_GRID, 0);
    struct dp_array *sum;
    int rc = dp_frame_need_array(frame, DP_F_SUM, DP_I64, 2, &sum, err);
    if (rc != DP_OK)
        return rc;
    if (m == NULL || !(m->sensitivity > 0) || !(grid > 0))
        return dp_fail(err, DP_E_UNSAFE, "the sum of lap %lld has no recorded sensitivity or grid",
                       (long long)frame->lap);
    if (m->noise != DP_NOISE_NONE)
        return dp_fail(err, DP_E_UNSAFE, "the sum of lap %lld is recorded as noised already", (long long)frame->lap);
    m->noise = DP_NOISE_GAUSSIAN;
    m->multiplier = o->multiplier;
    m->scale = o->multiplier * m->sensitivity;
    if (dp_grid_add_gaussian(&stage->key, DP_DRAW_NOISE, (uint64_t)frame->lap, 0, m->scale / grid, sum->data,
                             sum->count) != 0)
        return dp_fail(err, DP_E_RUN, "--multiplier: noise of scale %g does not fit the grid", m->scale);
    frame->label = DP_LABEL_NOISED;
    return out->frame(out, frame, err);
}

const struct dp_stage_class dp_noise_class = {
    .name = "dp-noise",
    .summary = "Add Gaussian noise to a bounded sum",
    .options = options,
    .options_size = sizeof(struct options),
    .takes = DP_LABEL_BOUNDED,
    .gives = DP_LABEL_NOISED,
    .fire = noise_fire,
};
