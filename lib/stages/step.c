/* dp-step: the next model from the last one and a released sum, and the mean of released iterates. Post-processing:
   stands right of the gate. */
#include <math.h>
#include <string.h>

#include "stages/stages.h"

enum average { AVERAGE_NONE, AVERAGE_TAIL };

struct options {
    int average;
    double tail;
};

static const struct dp_option options[] = {
    {.name = "average", .letter = 'a', .kind = DP_OPT_CHOICE, .offset = offsetof(struct options, average),
     .metavar = "HOW", .help = "which iterates to average", .fallback = "none", .choices = "none|tail"},
    {.name = "tail", .kind = DP_OPT_REAL, .offset = offsetof(struct options, tail), .metavar = "PART",
     .help = "part of the laps, at the end, that --average tail takes", .fallback = "0.5", .min = 0, .max = 1,
     .flags = DP_OPT_OPEN_MIN},
    {.name = NULL},
};

/* model += sum, on all coordinates or on those of `columns`. */
static int add_sum(struct dp_frame *frame, struct dp_array *model, struct dp_err *err)
{
    struct dp_array *sum = dp_frame_array(frame, DP_F_SUM), *columns = dp_frame_array(frame, DP_F_COLUMNS);
    double grid = dp_frame_real(frame, DP_F_GRID, 0);
    uint64_t width = columns != NULL ? columns->count : model->dims[1];
    double *w = model->data;
    if (sum == NULL)
        return dp_fail(err, DP_E_RUN, "the frame of lap %lld has no released sum", (long long)frame->lap);
    bool whole = sum->dtype == DP_I64 && grid > 0;
    if (!whole && !(sum->dtype == DP_F64 && dp_frame_bool(frame, DP_F_NON_PRIVATE)))
        return dp_fail(err, DP_E_RUN, "the sum of lap %lld is not on a grid", (long long)frame->lap);
    if (sum->ndim != 2 || sum->dims[0] != model->dims[0] || sum->dims[1] != width)
        return dp_fail(err, DP_E_RUN, "the sum of lap %lld does not have the shape of the model",
                       (long long)frame->lap);
    if (columns != NULL && (columns->dtype != DP_I64 || columns->ndim != 1))
        return dp_fail(err, DP_E_RUN, "'columns' of lap %lld is not a vector of i8", (long long)frame->lap);
    for (uint64_t k = 0; k < model->dims[0]; k++) {
        for (uint64_t j = 0; j < width; j++) {
            uint64_t column = columns != NULL ? (uint64_t)((int64_t *)columns->data)[j] : j;
            if (column >= model->dims[1])
                return dp_fail(err, DP_E_RUN, "a column of lap %lld is out of range", (long long)frame->lap);
            double change = whole ? grid * (double)((int64_t *)sum->data)[k * width + j]
                                  : ((double *)sum->data)[k * width + j];
            w[k * model->dims[1] + column] += change;
        }
    }
    for (size_t i = 0; i < model->count; i++)
        if (!isfinite(w[i]))
            return dp_fail(err, DP_E_RUN, "the model is not finite after lap %lld", (long long)frame->lap);
    return DP_OK;
}

/* Running mean of the iterates from the start of the tail on. */
static int average_in(const struct options *o, struct dp_frame *frame, const struct dp_array *model,
                      struct dp_err *err)
{
    int64_t laps = dp_frame_int(frame, DP_F_LAPS, 0);
    if (laps <= 0)
        return dp_fail(err, DP_E_RUN, "--average tail: the stream does not say how many laps there will be");
    int64_t tail = (int64_t)ceil(o->tail * (double)laps);
    if (frame->lap <= laps - tail)
        return DP_OK;
    int64_t held = dp_frame_has(frame, DP_F_AVERAGE) ? dp_frame_int(frame, DP_F_AVERAGED, 0) : 0;
    struct dp_array *old = dp_frame_array(frame, DP_F_AVERAGE);
    if (old != NULL && (old->dtype != DP_F64 || old->count != model->count))
        return dp_fail(err, DP_E_RUN, "the average does not have the shape of the model");
    double *mean;
    const double *w = model->data;
    int rc = dp_frame_make_array(frame, DP_F_AVERAGE, DP_F64, model->dims[0], model->dims[1], &mean, err);
    if (rc != DP_OK)
        return rc;
    if (held == 0)
        memcpy(mean, w, model->count * sizeof *mean);
    for (size_t i = 0; held > 0 && i < model->count; i++)
        mean[i] += (w[i] - mean[i]) / (double)(held + 1);
    dp_frame_set_int(frame, DP_F_AVERAGED, held + 1);
    return DP_OK;
}

static int step_fire(struct dp_stage *stage, struct dp_frame *frame, struct dp_out *out, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct dp_array *model;
    int rc = dp_frame_need_array(frame, DP_F_MODEL, DP_F64, 2, &model, err);
    if (rc == DP_OK)
        rc = add_sum(frame, model, err);
    dp_frame_drop(frame, DP_F_SUM);
    dp_frame_drop(frame, DP_F_COLUMNS);
    if (rc == DP_OK && o->average == AVERAGE_TAIL)
        rc = average_in(o, frame, model, err);
    return rc != DP_OK ? rc : out->frame(out, frame, err);
}

const struct dp_stage_class dp_step_class = {
    .name = "dp-step",
    .summary = "Move the model by a released sum",
    .options = options,
    .options_size = sizeof(struct options),
    .takes = DP_LABEL_RELEASED,
    .gives = DP_LABEL_RELEASED,
    .fire = step_fire,
};
