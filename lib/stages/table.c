/* dp-table: makes the released tables of dp-count the model of the run, with the noise that they have. Post-processing: it runs
 * after the gate. */

#include "stages/announced.h"
#include "stages/counted.h"

#define DP_OPTIONS struct options
struct options {
    char none;
};
static const struct dp_option options[] = {{.name = NULL}};

static int table_hello(struct dp_stage *stage, struct dp_frame *hello, struct dp_err *err)
{
    return dp_announced_taken(stage, hello, DP_MEANS_TABLES, DP_MEANS_TAKEN, "tables (--on KIND names the laps of dp-count)",
                              err);
}

static int table_fire(struct dp_stage *stage, struct dp_frame *frame, struct dp_out *out, struct dp_err *err)
{
    struct dp_tables tables = {0};
    double *numbers = NULL;
    (void)stage;
    int rc = dp_counted_take(frame, &tables, &numbers, err);
    rc = rc ?: dp_counted_model(frame, &tables, numbers, err);
    dp_tables_free(&tables);
    free(numbers);
    return rc ?: out->frame(out, frame, err);
}

const struct dp_stage_class dp_table_class = {
    .name = "dp-table",
    .summary = "Print released tables of counts and means, or take them from a run",
    .options = options,
    .options_size = sizeof(struct options),
    .takes = DP_LABEL_RELEASED,
    .gives = DP_LABEL_RELEASED,
    .hello = table_hello,
    .fire = table_fire,
    .ephemeral = true,
};
