/* dp-tally: counts the rows of a lap with a positive label, and releases the count, which one person changes by at most 1.
 * dp-headcount, after the gate: makes it a model of one number, the expected count of all rows. */
#include "math/grid.h"
#include "stages/announced.h"
#include "stages/row_stage.h"
#include "stages/shared_options.h"

#define DP_OPTIONS struct dp_row_options
static const struct dp_option options[] = {
    DP_DATA_OPTION(data),
    {.name = NULL},
};

static const struct dp_option no_options[] = {{.name = NULL}};

static void record(const struct dp_stage *stage, struct dp_record *open)
{
    (void)stage;
    dp_record_bound(open, DP_F_TALLY, DP_ADJACENCY_NULL_RECORD, 1);
}

static int lap(struct dp_stage *stage, struct dp_frame *frame, const struct dp_batch *batch, const double *model,
               struct dp_err *err)
{
    int64_t *tally, positive = 0;
    (void)model;
    int rc = dp_frame_make_array(frame, DP_F_TALLY, DP_I64, 1, 1, &tally, err);
    if (rc != DP_OK)
        return rc;
    for (size_t i = 0; i < batch->count; i++)
        positive += dp_batch_label(batch, i) > 0;
    *tally = (int64_t)((double)positive / dp_grid_for(1));
    record(stage, dp_frame_edit_record(frame, DP_F_NONE));
    dp_frame_set_real(frame, DP_F_BOUND, 1);
    dp_frame_set_real(frame, DP_F_GRID, dp_grid_for(1));
    frame->label = DP_LABEL_BOUNDED;
    return DP_OK;
}

static int headcount_hello(struct dp_stage *stage, struct dp_frame *frame, struct dp_err *err)
{
    struct dp_record *record;
    for (int at = 0; (record = dp_announced_answer(stage, frame, &at)) != NULL; record->means = DP_MEANS_TAKEN)
        if (record->of != DP_F_TALLY)
            return dp_fail(err, DP_E_USAGE, "there is no tally");
    return DP_OK;
}

static int headcount_fire(struct dp_stage *stage, struct dp_frame *frame, struct dp_out *out, struct dp_err *err)
{
    const struct dp_record *record = dp_frame_record(frame, DP_F_TALLY);
    const struct dp_array *tally;
    double *model;
    (void)stage;
    int rc = dp_frame_need_array(frame, DP_F_TALLY, DP_I64, 2, &tally, err);
    if (rc == DP_OK)
        rc = dp_frame_make_array(frame, DP_F_MODEL, DP_F64, 1, 1, &model, err);
    if (rc != DP_OK)
        return rc;
    *model = dp_frame_real(frame, DP_F_GRID, 0) * (double)*(int64_t *)tally->data / record->rate;
    dp_frame_drop(frame, DP_F_TALLY);
    return out->frame(out, frame, err);
}

const struct dp_stage_class dp_tally_class = {
    .name = "dp-tally",
    .summary = "Count the rows with a positive label",
    .options = options,
    .options_size = sizeof(struct dp_row_options),
    .state_size = sizeof(struct dp_row_state),
    .takes = DP_LABEL_RAW,
    .gives = DP_LABEL_BOUNDED,
    .rows = &(const struct dp_row_stage){.means = DP_MEANS_TALLY, .record = record, .lap = lap},
    .ephemeral = true,
    .additive = true,
};

const struct dp_stage_class dp_headcount_class = {
    .name = "dp-headcount",
    .summary = "Make the released count a model",
    .options = no_options,
    .takes = DP_LABEL_RELEASED,
    .gives = DP_LABEL_RELEASED,
    .hello = headcount_hello,
    .fire = headcount_fire,
    .ephemeral = true,
};
