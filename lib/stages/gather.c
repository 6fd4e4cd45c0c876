#include "stages/gather.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void dp_gather_close(struct dp_gather *gather)
{
    free(gather->partial);
    gather->partial = NULL;
    gather->capacity = 0;
}

static void add_rows(const struct dp_batch *batch, size_t from, size_t to, const float *coefficients, size_t classes,
                     double inverse_grid, int64_t *sum)
{
    const float last = dp_batch_constant(batch);
    const struct dp_row constant = {&last, NULL, 1};
    struct dp_row rows[DP_ROWS];
    for (size_t i = from; i < to; i += DP_ROWS) {
        size_t count = to - i < DP_ROWS ? to - i : DP_ROWS;
        const float *c = coefficients + i * classes;
        for (size_t r = 0; r < count; r++)
            rows[r] = dp_batch_row(batch, i + r);
        if (classes > 1)
            dp_rows_add_grid(c, classes, inverse_grid, rows, count, sum, batch->sum_cols);
        for (size_t r = 0; classes == 1 && r < count; r++)
            if (c[r] != 0)
                dp_row_add_grid(c[r], inverse_grid, rows[r], sum);
        for (size_t at = 0; last != 0 && at < count * classes; at++)
            dp_row_add_grid(c[at], inverse_grid, constant, sum + at % classes * batch->cols + batch->features);
    }
}

int dp_gather_sum(struct dp_gather *gather, const struct dp_batch *batch, const float *coefficients, size_t classes,
                  double grid, int64_t *sum, struct dp_err *err)
{
    int threads = gather->threads;
    size_t size = classes * batch->sum_cols;
    memset(sum, 0, size * sizeof *sum);
    if (threads < 2 || batch->count < (size_t)threads) {
        add_rows(batch, 0, batch->count, coefficients, classes, 1 / grid, sum);
        return DP_OK;
    }
    size_t others = (size_t)(threads - 1) * size;
    int rc = dp_grow(&gather->partial, &gather->capacity, others, sizeof *sum, err);
    if (rc != DP_OK)
        return rc;
    memset(gather->partial, 0, others * sizeof *sum);
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int t = 0; t < threads; t++) {
        size_t from = batch->count * (size_t)t / (size_t)threads, to = batch->count * ((size_t)t + 1) / (size_t)threads;
        int64_t *own = t == 0 ? sum : gather->partial + (size_t)(t - 1) * size;
        add_rows(batch, from, to, coefficients, classes, 1 / grid, own);
    }
    for (int t = 1; t < threads; t++)
        for (size_t j = 0; j < size; j++)
            sum[j] += gather->partial[(size_t)(t - 1) * size + j];
    return DP_OK;
}
