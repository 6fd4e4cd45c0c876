#include "stages/transformed.h"

#include <omp.h>

#include "base/isa.h"
#include "base/mem.h"
#include "math/inverse.h"

/* The largest norm of a row: so far below 1 that rounding to floats cannot raise it above 1. */
#define LONGEST (1 - 0x1p-22)
#define MOST_BACK 1024 /* columns: the time of an inverse grows with their cube */

static void forget(struct dp_transformed *transformed)
{
    dp_panels_close(&transformed->panels);
    free(transformed->matrix);
    free(transformed->back);
    free(transformed->model);
    for (size_t k = 0; k < transformed->parts; k++)
        free(transformed->part[k]);
    free(transformed->part);
    free(transformed->place);
    free(transformed->cut);
    free(transformed->norm2);
    free(transformed->wide);
    free(transformed->product);
    transformed->matrix = transformed->back = transformed->model = NULL;
    transformed->part = NULL;
    transformed->place = NULL;
    transformed->cut = transformed->norm2 = NULL;
    transformed->wide = transformed->product = NULL;
    transformed->model_capacity = transformed->parts = transformed->part_capacity = transformed->places = 0;
    transformed->rows = transformed->width = 0;
}

void dp_transformed_close(struct dp_transformed *transformed)
{
    forget(transformed);
    free(transformed->todo);
    transformed->todo = NULL;
}

static bool same(const struct dp_transformed *transformed, const struct dp_transform *t)
{
    return transformed->matrix != NULL && transformed->panels.rows == t->rows && transformed->panels.cols == t->cols &&
           transformed->unit == t->unit && transformed->uncut == t->uncut &&
           memcmp(transformed->matrix, t->matrix, t->rows * t->cols * sizeof *t->matrix) == 0;
}

static int set(struct dp_transformed *transformed, const struct dp_transform *t, const struct dp_frame *frame,
               struct dp_err *err)
{
    size_t entries = t->rows * t->cols, threads = (size_t)transformed->threads;
    forget(transformed);
    int rc = dp_transform_check(t, frame, err);
    if (rc != DP_OK)
        return rc;
    dp_panels_open(&transformed->panels, t->matrix, t->rows, t->cols);
    transformed->wide = dp_new(threads * dp_panels_room(&transformed->panels), sizeof(double));
    transformed->product = dp_new(threads * DP_PANELS_ROWS * t->rows, sizeof(double));
    transformed->matrix = dp_new(entries, sizeof(double));
    memcpy(transformed->matrix, t->matrix, entries * sizeof(double));
    if (t->rows >= t->cols && t->cols <= MOST_BACK)
        transformed->back = dp_inverse(t->matrix, t->cols);
    transformed->width = t->rows;
    transformed->unit = t->unit;
    transformed->uncut = t->uncut;
    return DP_OK;
}

/* Makes room for that many row numbers. Rows take memory when they are computed. */
static void make_room(struct dp_transformed *transformed, size_t rows)
{
    if (rows <= transformed->rows)
        return;
    free(transformed->place);
    free(transformed->cut);
    free(transformed->norm2);
    transformed->place = dp_new(rows, sizeof *transformed->place);
    transformed->cut = dp_new(rows, sizeof(double));
    transformed->norm2 = dp_new(rows, sizeof(double));
    transformed->rows = rows;
    transformed->places = 0;
}

/* Gives each row of the batch that is not computed yet a place: all rows, if they are inline. Returns their number. */
static size_t find_missing(struct dp_transformed *transformed, const struct dp_transformed_batch *batch)
{
    size_t count = 0;
    if (batch->dataset == NULL)
        transformed->places = 0;
    for (size_t i = 0; i < batch->count; i++) {
        size_t at = batch->dataset != NULL ? (size_t)batch->id[i] : i;
        if (batch->dataset != NULL && transformed->place[at] > 0)
            continue;
        transformed->place[at] = (uint32_t)(++transformed->places);
        transformed->todo[count++] = i;
    }
    while (transformed->parts * DP_TRANSFORMED_PART < transformed->places) {
        dp_extend(&transformed->part, &transformed->part_capacity, transformed->parts + 1, sizeof *transformed->part);
        transformed->part[transformed->parts++] = dp_new(DP_TRANSFORMED_PART, transformed->width * sizeof(float));
    }
    return count;
}

DP_KERNEL(void, shorten, (const double *restrict product, size_t count, double s, float *restrict z), (product, count, s, z))
{
    for (size_t k = 0; k < count; k++)
        z[k] = (float)(s * product[k]);
}

/* z and s of one row from T x; length: ‖x‖. A row of zeros has no length to be divided by, and stays. */
static void cut(const struct dp_transformed *transformed, double length, const double *product, float *z, double *s)
{
    double norm = sqrt(dp_norm2(product, transformed->width)), factor = transformed->unit && length > 0 ? 1 / length : 1;
    if (!transformed->uncut && norm * factor > LONGEST)
        factor = LONGEST / norm;
    *s = isfinite(norm) && isfinite(factor) ? factor : 0;
    if (*s > 0)
        shorten(product, transformed->width, *s, z);
    else
        memset(z, 0, transformed->width * sizeof *z); /* the product may not be finite */
}

static void make_block(struct dp_transformed *transformed, const struct dp_transformed_batch *batch, const size_t *todo,
                       size_t count, size_t thread)
{
    struct dp_row rows[DP_PANELS_ROWS] = {{0}};
    double *wide = transformed->wide + thread * dp_panels_room(&transformed->panels);
    double *product = transformed->product + thread * DP_PANELS_ROWS * transformed->width;
    for (size_t i = 0; i < count; i++)
        rows[i] = batch->dataset != NULL ? dp_dataset_row(batch->dataset, (size_t)batch->id[todo[i]])
                                         : dp_row_dense(batch->x + todo[i] * batch->features, batch->features);
    dp_panels_multiply(&transformed->panels, rows, count, batch->features, batch->constant, wide, product);
    for (size_t i = 0; i < count; i++) {
        size_t at = batch->dataset != NULL ? (size_t)batch->id[todo[i]] : todo[i];
        double length = transformed->unit ? sqrt(dp_row_norm2(rows[i]) + batch->constant * batch->constant) : 1;
        cut(transformed, length, product + i * transformed->width, dp_transformed_z(transformed, at), &transformed->cut[at]);
        transformed->norm2[at] = dp_row_norm2(dp_transformed_row(transformed, at));
    }
}

static void make(struct dp_transformed *transformed, const struct dp_transformed_batch *batch, size_t count)
{
    size_t blocks = (count + DP_PANELS_ROWS - 1) / DP_PANELS_ROWS;
#pragma omp parallel for num_threads(transformed->threads) schedule(static) if (transformed->threads > 1 && blocks > 1)
    for (size_t b = 0; b < blocks; b++) {
        size_t first = b * DP_PANELS_ROWS, left = count - first;
        make_block(transformed, batch, transformed->todo + first, left < DP_PANELS_ROWS ? left : DP_PANELS_ROWS,
                   (size_t)omp_get_thread_num());
    }
}

void dp_transformed_turn(struct dp_transformed *transformed, const double *w, size_t outputs)
{
    const size_t d = transformed->panels.cols, width = transformed->width;
    if (transformed->back == NULL)
        return;
    dp_extend(&transformed->model, &transformed->model_capacity, outputs * width, sizeof *transformed->model);
    memset(transformed->model, 0, outputs * width * sizeof *transformed->model);
    for (size_t k = 0; k < outputs; k++)
        for (size_t j = 0; j < d; j++)
            for (size_t i = 0; i < d; i++)
                transformed->model[k * width + i] += w[k * d + j] * transformed->back[j * d + i];
}

int dp_transformed_take(struct dp_transformed *transformed, const struct dp_transform *transform,
                        const struct dp_transformed_batch *batch, const struct dp_frame *frame, struct dp_err *err)
{
    int rc = same(transformed, transform) ? DP_OK : set(transformed, transform, frame, err);
    if (rc == DP_OK)
        make_room(transformed, batch->dataset != NULL ? batch->dataset->rows : batch->count);
    if (rc == DP_OK) {
        dp_extend(&transformed->todo, &transformed->todo_capacity, batch->count, sizeof *transformed->todo);
        make(transformed, batch, find_missing(transformed, batch));
    }
    return rc;
}
