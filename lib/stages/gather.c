#include "stages/gather.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

int dp_gather_open(struct dp_gather *gather, int threads, size_t classes, size_t cols, struct dp_err *err)
{
    gather->threads = threads;
    gather->size = classes * cols;
    if (threads < 2)
        return DP_OK;
    return dp_alloc(&gather->partial, (size_t)(threads - 1) * gather->size, sizeof(int64_t), err);
}

void dp_gather_close(struct dp_gather *gather)
{
    free(gather->partial);
    gather->partial = NULL;
}

static void add_rows(const struct dp_batch *batch, size_t from, size_t to, const float *coefficients, size_t classes,
                     double inverse_grid, int64_t *sum)
{
    const struct dp_row constant = {&batch->intercept, NULL, 1};
    struct dp_row rows[DP_ROWS];
    for (size_t i = from; i < to; i += DP_ROWS) {
        size_t count = to - i < DP_ROWS ? to - i : DP_ROWS;
        const float *c = coefficients + i * classes;
        for (size_t r = 0; r < count; r++)
            rows[r] = dp_batch_row(batch, i + r);
        if (classes > 1)
            dp_rows_add_grid(c, classes, inverse_grid, rows, count, sum, batch->cols);
        for (size_t r = 0; classes == 1 && r < count; r++)
            if (c[r] != 0)
                dp_row_add_grid(c[r], inverse_grid, rows[r], sum);
        for (size_t at = 0; batch->intercept != 0 && at < count * classes; at++)
            dp_row_add_grid(c[at], inverse_grid, constant, sum + at % classes * batch->cols + batch->features);
    }
}

void dp_gather_sum(struct dp_gather *gather, const struct dp_batch *batch, const float *coefficients, size_t classes,
                   double grid, int64_t *sum)
{
    int threads = gather->threads;
    memset(sum, 0, gather->size * sizeof *sum);
    if (threads < 2 || batch->count < (size_t)threads) {
        add_rows(batch, 0, batch->count, coefficients, classes, 1 / grid, sum);
        return;
    }
    memset(gather->partial, 0, (size_t)(threads - 1) * gather->size * sizeof *sum);
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int t = 0; t < threads; t++) {
        size_t from = batch->count * (size_t)t / (size_t)threads, to = batch->count * ((size_t)t + 1) / (size_t)threads;
        int64_t *own = t == 0 ? sum : gather->partial + (size_t)(t - 1) * gather->size;
        add_rows(batch, from, to, coefficients, classes, 1 / grid, own);
    }
    for (int t = 1; t < threads; t++)
        for (size_t j = 0; j < gather->size; j++)
            sum[j] += gather->partial[(size_t)(t - 1) * gather->size + j];
}
