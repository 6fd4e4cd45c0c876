#include "stages/counted.h"

#include "base/mem.h"
#include "model/sum.h"

int dp_counted_take(struct dp_frame *frame, struct dp_tables *tables, double **numbers, struct dp_err *err)
{
    const struct dp_record *record = dp_frame_record(frame, DP_F_SUM);
    const double scale = dp_frame_real(frame, DP_F_NOISE_SCALE, 0);
    struct dp_sum sum;
    int rc = dp_sum_read(&sum, frame, err);
    rc = rc ?: dp_tables_read(tables, dp_frame_text(frame, DP_F_TABLES, ""), err);
    if (rc == DP_OK && sum.values->count != tables->numbers)
        rc = dp_fail(err, DP_E_RUN, "the sum of lap %lld has %zu numbers, its tables have %zu", (long long)frame->lap,
                     (size_t)sum.values->count, tables->numbers);
    if (rc == DP_OK && (record == NULL || !(scale > 0)))
        rc = dp_fail(err, DP_E_RUN, "the tables of lap %lld have no noise", (long long)frame->lap);
    if (rc != DP_OK)
        return rc;
    *numbers = dp_new(tables->numbers, sizeof **numbers);
    for (size_t i = 0; i < tables->numbers; i++)
        (*numbers)[i] = dp_sum_at(&sum, i);
    for (size_t i = 0; i < tables->count; i++) {
        struct dp_table *t = &tables->table[i];
        t->scale = scale;
        t->laplace = record->query.kind == DP_QUERY_LAPLACE_COUNTS;
        for (size_t k = 0; k < t->sums; k++)
            for (size_t cell = 0; cell < t->size; cell++)
                (*numbers)[dp_table_sum(t, k) + cell] /= t->weight;
    }
    dp_frame_drop(frame, DP_F_SUM);
    dp_frame_drop(frame, DP_F_BOUND);
    return DP_OK;
}

void dp_counted_list(struct dp_frame *frame, const struct dp_tables *tables)
{
    char *text = dp_tables_text(tables);
    dp_frame_set_text(frame, DP_F_TABLES, text, strlen(text));
    free(text);
}

int dp_counted_model(struct dp_frame *frame, const struct dp_tables *tables, const double *numbers, struct dp_err *err)
{
    double *model;
    dp_frame_drop(frame, DP_F_MODEL);
    int rc = dp_frame_make_array(frame, DP_F_MODEL, DP_F64, 1, tables->numbers, &model, err);
    if (rc != DP_OK)
        return rc;
    memcpy(model, numbers, tables->numbers * sizeof *model);
    dp_counted_list(frame, tables);
    return DP_OK;
}
