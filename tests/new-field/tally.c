/* dp-tally: counts the rows of a lap with a positive label, and releases the count, which one person changes by at most 1.
 * dp-headcount, after the gate: makes it a model of one number, the expected count of all rows. */
#include "math/grid.h"
#include "stages/announced.h"
#include "stages/batch.h"
#include "stages/shared_options.h"
#include "stages/stages.h"

struct options {
    const char *data;
};

#define DP_OPTIONS struct options
static const struct dp_option options[] = {
    DP_DATA_OPTION(data),
    {.name = NULL},
};

static const struct dp_option no_options[] = {{.name = NULL}};

static int tally_open(struct dp_stage *stage, struct dp_err *err)
{
    const struct options *o = stage->options;
    return dp_reader_open(stage->state, o->data, err);
}

static void tally_close(struct dp_stage *stage)
{
    dp_reader_close(stage->state);
}

static void bound(struct dp_record *record)
{
    record->release = DP_RELEASE_SUM;
    dp_record_bound(record, DP_F_TALLY, DP_ADJACENCY_NULL_RECORD, 1);
}

static int tally_hello(struct dp_stage *stage, struct dp_frame *frame, struct dp_err *err)
{
    struct dp_record *record;
    (void)err;
    for (int at = 0; (record = dp_announced(stage, frame, DP_F_NONE, &at)) != NULL;) {
        record->means = DP_MEANS_TALLY;
        bound(record);
    }
    return DP_OK;
}

static int tally_fire(struct dp_stage *stage, struct dp_frame *frame, struct dp_out *out, struct dp_err *err)
{
    struct dp_batch batch;
    int64_t *tally, positive = 0;
    int rc = dp_reader_read(stage->state, &batch, frame, err);
    if (rc == DP_OK)
        rc = dp_frame_make_array(frame, DP_F_TALLY, DP_I64, 1, 1, &tally, err);
    if (rc != DP_OK)
        return rc;
    for (size_t i = 0; i < batch.count; i++)
        positive += dp_batch_label(&batch, i) > 0;
    *tally = (int64_t)((double)positive / dp_grid_for(1));
    bound(dp_frame_edit_record(frame, DP_F_NONE));
    dp_frame_set_real(frame, DP_F_BOUND, 1);
    dp_frame_set_real(frame, DP_F_GRID, dp_grid_for(1));
    frame->label = DP_LABEL_BOUNDED;
    dp_batch_forget(frame);
    return out->frame(out, frame, err);
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
    .options_size = sizeof(struct options),
    .state_size = sizeof(struct dp_reader),
    .takes = DP_LABEL_RAW,
    .gives = DP_LABEL_BOUNDED,
    .open = tally_open,
    .hello = tally_hello,
    .fire = tally_fire,
    .close = tally_close,
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
