#include "stages/behind.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Below 1 by more than the rounding to floats adds to a norm. */
#define LONGEST (1 - 0x1p-22)

static void forget(struct dp_behind *behind)
{
    dp_panels_close(&behind->panels);
    free(behind->matrix);
    free(behind->z);
    free(behind->cut);
    free(behind->norm2);
    free(behind->made);
    free(behind->wide);
    free(behind->product);
    behind->matrix = NULL;
    behind->z = NULL;
    behind->cut = behind->norm2 = NULL;
    behind->made = NULL;
    behind->wide = behind->product = NULL;
    behind->rows = behind->width = 0;
}

void dp_behind_close(struct dp_behind *behind)
{
    forget(behind);
    free(behind->todo);
    behind->todo = NULL;
}

static bool same(const struct dp_behind *behind, const struct dp_transform *t)
{
    return behind->matrix != NULL && behind->panels.rows == t->rows && behind->panels.cols == t->cols &&
           behind->unit == t->unit && behind->uncut == t->uncut &&
           memcmp(behind->matrix, t->matrix, t->rows * t->cols * sizeof *t->matrix) == 0;
}

static int set(struct dp_behind *behind, const struct dp_transform *t, const struct dp_frame *frame, struct dp_err *err)
{
    size_t entries = t->rows * t->cols, threads = (size_t)behind->threads;
    forget(behind);
    int rc = dp_transform_check(t, frame, err);
    if (rc == DP_OK)
        rc = dp_panels_open(&behind->panels, t->matrix, t->rows, t->cols, err);
    if (rc == DP_OK)
        rc = dp_alloc(&behind->wide, threads * dp_panels_room(&behind->panels), sizeof(double), err);
    if (rc == DP_OK)
        rc = dp_alloc(&behind->product, threads * DP_PANELS_ROWS * t->rows, sizeof(double), err);
    if (rc == DP_OK)
        rc = dp_alloc(&behind->matrix, entries, sizeof(double), err);
    if (rc != DP_OK)
        return rc;
    memcpy(behind->matrix, t->matrix, entries * sizeof(double));
    behind->width = t->rows;
    behind->unit = t->unit;
    behind->uncut = t->uncut;
    return DP_OK;
}

/* Room for so many rows. Only rows that are computed take memory: untouched pages of zeros take none. */
static int make_room(struct dp_behind *behind, size_t rows, struct dp_err *err)
{
    if (rows <= behind->rows)
        return DP_OK;
    free(behind->z);
    free(behind->cut);
    free(behind->norm2);
    free(behind->made);
    behind->z = NULL;
    behind->cut = behind->norm2 = NULL;
    behind->made = NULL;
    behind->rows = 0;
    int rc = dp_alloc(&behind->z, rows, behind->width * sizeof(float), err);
    if (rc == DP_OK)
        rc = dp_alloc(&behind->cut, rows, sizeof(double), err);
    if (rc == DP_OK)
        rc = dp_alloc(&behind->norm2, rows, sizeof(double), err);
    if (rc == DP_OK)
        rc = dp_alloc(&behind->made, rows / 64 + 1, sizeof(uint64_t), err);
    behind->rows = rc == DP_OK ? rows : 0;
    return rc;
}

/* Finds the rows of the batch that are not computed yet: all rows, if they are inline. */
static size_t find_missing(struct dp_behind *behind, const struct dp_behind_batch *batch)
{
    size_t count = 0;
    for (size_t i = 0; i < batch->count; i++) {
        size_t at = batch->dataset != NULL ? (size_t)batch->id[i] : i;
        uint64_t bit = (uint64_t)1 << (at % 64);
        if (batch->dataset == NULL || (behind->made[at / 64] & bit) == 0)
            behind->todo[count++] = i;
        behind->made[at / 64] |= bit;
    }
    return count;
}

/* z and s of one row from T x; length: ‖x‖. A row of zeros has no length to be divided by, and stays. */
static void cut(const struct dp_behind *behind, double length, const double *product, float *z, double *s)
{
    double norm = sqrt(dp_norm2(product, behind->width)), factor = behind->unit && length > 0 ? 1 / length : 1;
    if (!behind->uncut && norm * factor > LONGEST)
        factor = LONGEST / norm;
    *s = isfinite(norm) && isfinite(factor) ? factor : 0;
    for (size_t k = 0; k < behind->width; k++)
        z[k] = *s > 0 ? (float)(*s * product[k]) : 0;
}

static void make_block(struct dp_behind *behind, const struct dp_behind_batch *batch, const size_t *todo, size_t count,
                       size_t thread)
{
    struct dp_row rows[DP_PANELS_ROWS] = {{0}};
    double *wide = behind->wide + thread * dp_panels_room(&behind->panels);
    double *product = behind->product + thread * DP_PANELS_ROWS * behind->width;
    for (size_t i = 0; i < count; i++)
        rows[i] = batch->dataset != NULL ? dp_dataset_row(batch->dataset, (size_t)batch->id[todo[i]])
                                         : dp_row_dense(batch->x + todo[i] * batch->features, batch->features);
    dp_panels_multiply(&behind->panels, rows, count, batch->features, batch->constant, wide, product);
    for (size_t i = 0; i < count; i++) {
        size_t at = batch->dataset != NULL ? (size_t)batch->id[todo[i]] : todo[i];
        double length = sqrt(dp_row_norm2(rows[i]) + batch->constant * batch->constant);
        cut(behind, length, product + i * behind->width, behind->z + at * behind->width, &behind->cut[at]);
        behind->norm2[at] = dp_row_norm2(dp_behind_row(behind, at));
    }
}

static void make(struct dp_behind *behind, const struct dp_behind_batch *batch, size_t count)
{
    size_t blocks = (count + DP_PANELS_ROWS - 1) / DP_PANELS_ROWS;
#pragma omp parallel for num_threads(behind->threads) schedule(static) if (behind->threads > 1 && blocks > 1)
    for (size_t b = 0; b < blocks; b++) {
        size_t first = b * DP_PANELS_ROWS, left = count - first;
        make_block(behind, batch, behind->todo + first, left < DP_PANELS_ROWS ? left : DP_PANELS_ROWS,
                   (size_t)omp_get_thread_num());
    }
}

int dp_behind_take(struct dp_behind *behind, const struct dp_transform *transform, const struct dp_behind_batch *batch,
                   const struct dp_frame *frame, struct dp_err *err)
{
    int rc = same(behind, transform) ? DP_OK : set(behind, transform, frame, err);
    if (rc == DP_OK)
        rc = make_room(behind, batch->dataset != NULL ? batch->dataset->rows : batch->count, err);
    if (rc == DP_OK)
        rc = dp_grow(&behind->todo, &behind->todo_capacity, batch->count, sizeof *behind->todo, err);
    if (rc == DP_OK)
        make(behind, batch, find_missing(behind, batch));
    return rc;
}
