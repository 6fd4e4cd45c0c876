/* dp-table: makes the released tables of dp-count the model of the run, with the noise that they have. Post-processing: it runs
 * after the gate. */

#include "base/mem.h"
#include "model/sum.h"
#include "stages/announced.h"
#include "stages/stages.h"
#include "tables/tables.h"

#define DP_OPTIONS struct options
struct options {
    char none;
};
static const struct dp_option options[] = {{.name = NULL}};

/* Refuses sums that are not tables before anything is paid for. */
static int table_hello(struct dp_stage *stage, struct dp_frame *hello, struct dp_err *err)
{
    struct dp_record *record;
    char kind[DP_RECORD_ON + 16];
    for (int at = 0; (record = dp_announced_answer(stage, hello, &at)) != NULL; record->means = DP_MEANS_TAKEN)
        if (record->means != DP_MEANS_TABLES && record->means != DP_MEANS_NONE)
            return dp_fail(err, DP_E_USAGE, "laps%s release no tables (--on KIND names the laps of dp-count)",
                           dp_announced_kind(record, kind));
    return DP_OK;
}

/* States the noise of the lap in each table of the list. */
static int state_noise(struct dp_frame *frame, struct dp_tables *tables, const struct dp_sum *sum, struct dp_err *err)
{
    const struct dp_record *record = dp_frame_record(frame, DP_F_SUM);
    double scale = dp_frame_real(frame, DP_F_NOISE_SCALE, 0);
    int rc = dp_tables_read(tables, dp_frame_text(frame, DP_F_TABLES, ""), err);
    if (rc == DP_OK && sum->values->count != tables->numbers)
        rc = dp_fail(err, DP_E_RUN, "the sum of lap %lld has %zu numbers, its tables have %zu", (long long)frame->lap,
                     (size_t)sum->values->count, tables->numbers);
    if (rc == DP_OK && (record == NULL || !(scale > 0)))
        rc = dp_fail(err, DP_E_RUN, "the tables of lap %lld have no noise", (long long)frame->lap);
    for (size_t i = 0; rc == DP_OK && i < tables->count; i++) {
        tables->table[i].scale = scale;
        tables->table[i].laplace = record->query.kind == DP_QUERY_LAPLACE_COUNTS;
    }
    return rc;
}

static int table_fire(struct dp_stage *stage, struct dp_frame *frame, struct dp_out *out, struct dp_err *err)
{
    struct dp_tables tables = {0};
    struct dp_sum sum;
    double *model;
    (void)stage;
    int rc = dp_sum_read(&sum, frame, err);
    rc = rc ?: state_noise(frame, &tables, &sum, err);
    if (rc == DP_OK) {
        char *text = dp_tables_text(&tables);
        dp_frame_set_text(frame, DP_F_TABLES, text, strlen(text));
        dp_frame_set_text(frame, DP_F_METHOD, "tables", strlen("tables"));
        dp_frame_set_text(frame, DP_F_FAMILY, "tables", strlen("tables"));
        dp_frame_drop(frame, DP_F_MODEL);
        free(text);
    }
    rc = rc ?: dp_frame_make_array(frame, DP_F_MODEL, DP_F64, 1, tables.numbers, &model, err);
    for (size_t i = 0; rc == DP_OK && i < tables.numbers; i++)
        model[i] = dp_sum_at(&sum, i);
    dp_tables_free(&tables);
    if (rc != DP_OK)
        return rc;
    dp_frame_drop(frame, DP_F_SUM);
    dp_frame_drop(frame, DP_F_BOUND);
    return out->frame(out, frame, err);
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
