#include "stages/batch.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

static int check_rows(const int64_t *id, size_t count, int64_t rows, struct dp_batch_seen *seen, int64_t lap,
                      struct dp_err *err)
{
    if (seen->rows != (size_t)rows) {
        if (seen->bits != NULL)
            return dp_fail(err, DP_E_RUN, "the number of rows changes during the run");
        int rc = dp_alloc(&seen->bits, (size_t)rows / 64 + 1, sizeof *seen->bits, err);
        if (rc != DP_OK)
            return rc;
        seen->rows = (size_t)rows;
    }
    int rc = DP_OK;
    size_t marked = 0;
    for (; marked < count; marked++) {
        int64_t i = id[marked];
        if (i < 0 || i >= rows) {
            rc = dp_fail(err, DP_E_RUN, "a row number of lap %lld is out of range", (long long)lap);
            break;
        }
        uint64_t bit = (uint64_t)1 << (i % 64);
        if (seen->bits[i / 64] & bit) {
            rc = dp_fail(err, DP_E_UNSAFE, "a row stands twice in the batch of lap %lld", (long long)lap);
            break;
        }
        seen->bits[i / 64] |= bit;
    }
    for (size_t k = 0; k < marked; k++)
        seen->bits[id[k] / 64] = 0;
    return rc;
}

static void set_columns(struct dp_batch *batch, size_t features)
{
    batch->features = features;
    batch->cols = batch->sum_cols = features + (batch->intercept != 0 ? 1 : 0);
}

static int read_inline(struct dp_batch *batch, const struct dp_frame *frame, struct dp_err *err)
{
    const struct dp_array *x, *y;
    if (!dp_frame_has(frame, DP_F_X))
        return dp_fail(err, DP_E_USAGE, "--data is required: the frames carry row numbers, not rows");
    int rc = dp_frame_need_array(frame, DP_F_X, DP_F32, 2, &x, err);
    if (rc == DP_OK)
        rc = dp_frame_need_array(frame, DP_F_Y, DP_F64, 1, &y, err);
    if (rc != DP_OK)
        return rc;
    if (x->dims[0] != batch->count || y->count != batch->count)
        return dp_fail(err, DP_E_RUN, "X, y and rows of lap %lld differ in length", (long long)frame->lap);
    set_columns(batch, x->dims[1]);
    batch->x = x->data;
    batch->y = y->data;
    return DP_OK;
}

static int go_behind(struct dp_batch *batch, const struct dp_frame *frame, struct dp_behind *behind, struct dp_err *err)
{
    struct dp_transform transform;
    int rc = dp_transform_read(&transform, frame, batch->cols, err);
    if (rc != DP_OK || transform.rows == 0)
        return rc;
    if (behind == NULL)
        return dp_fail(err, DP_E_RUN, "the rows of lap %lld are behind a transform, which this stage does not know",
                       (long long)frame->lap);
    struct dp_behind_batch rows = {.count = batch->count,
                                   .features = batch->features,
                                   .constant = (double)batch->intercept,
                                   .id = batch->id,
                                   .dataset = batch->dataset,
                                   .x = batch->x};
    batch->behind = behind;
    batch->sum_cols = transform.rows;
    return dp_behind_take(behind, &transform, &rows, frame, err);
}

int dp_batch_read_own(struct dp_batch *batch, const struct dp_frame *frame, const struct dp_dataset *dataset,
                      struct dp_batch_seen *seen, struct dp_err *err)
{
    const struct dp_array *rows;
    const struct dp_record *m = dp_frame_record(frame, DP_F_NONE);
    if (m == NULL || m->rows <= 0)
        return dp_fail(err, DP_E_UNSAFE, "the frame of lap %lld does not record how its rows were sampled",
                       (long long)frame->lap);
    int rc = dp_frame_need_array(frame, DP_F_ROWS, DP_I64, 1, &rows, err);
    if (rc != DP_OK)
        return rc;
    double intercept = dp_frame_real(frame, DP_F_INTERCEPT, 0);
    /* A float, so that its products with coefficients are exact. */
    if (!isfinite(intercept) || (double)(float)intercept != intercept)
        return dp_fail(err, DP_E_RUN, "the intercept of lap %lld is not a finite f4", (long long)frame->lap);
    *batch = (struct dp_batch){.count = rows->count, .id = rows->data, .dataset = dataset, .intercept = (float)intercept};
    if (batch->count > (size_t)1 << 31)
        return dp_fail(err, DP_E_RUN, "lap %lld has more than 2^31 rows", (long long)frame->lap);
    rc = check_rows(batch->id, batch->count, m->rows, seen, frame->lap, err);
    if (rc != DP_OK)
        return rc;
    if (dataset != NULL) {
        if (strcmp(dp_frame_text(frame, DP_F_DATA, ""), dataset->digest) != 0 || (size_t)m->rows != dataset->rows)
            return dp_fail(err, DP_E_RUN, "the rows were sampled from another data set than --data names");
        set_columns(batch, dataset->cols);
        batch->y = dataset->y;
        return DP_OK;
    }
    return read_inline(batch, frame, err);
}

int dp_batch_read(struct dp_batch *batch, const struct dp_frame *frame, const struct dp_dataset *dataset,
                  struct dp_batch_seen *seen, struct dp_behind *behind, struct dp_err *err)
{
    int rc = dp_batch_read_own(batch, frame, dataset, seen, err);
    return rc == DP_OK ? go_behind(batch, frame, behind, err) : rc;
}

int dp_batch_same_shape(const struct dp_batch *batch, const struct dp_frame *frame, size_t cols, size_t rows,
                        struct dp_err *err)
{
    return batch->cols == cols && dp_frame_record(frame, DP_F_NONE)->rows == (int64_t)rows
               ? DP_OK
               : dp_fail(err, DP_E_RUN, "the rows change their shape during the run");
}

int dp_batch_classes(const struct dp_frame *frame, size_t *classes, struct dp_err *err)
{
    int64_t said = dp_frame_int(frame, DP_F_CLASSES, -1);
    *classes = said >= 0 ? (size_t)said : 0;
    return said >= 0 ? DP_OK : dp_fail(err, DP_E_RUN, "the frame does not say how many classes the labels have");
}

/* Where row i is kept: by its number in the data set, or where it stands in the batch. */
static size_t place(const struct dp_batch *batch, size_t i)
{
    return batch->dataset != NULL ? (size_t)batch->id[i] : i;
}

/* Row i as it is in the data. */
static struct dp_row own_row(const struct dp_batch *batch, size_t i)
{
    if (batch->dataset != NULL)
        return dp_dataset_row(batch->dataset, (size_t)batch->id[i]);
    return (struct dp_row){batch->x + i * batch->features, NULL, batch->features};
}

struct dp_row dp_batch_row(const struct dp_batch *batch, size_t i)
{
    return batch->behind != NULL ? dp_behind_row(batch->behind, place(batch, i)) : own_row(batch, i);
}

double dp_batch_norm2(const struct dp_batch *batch, size_t i)
{
    if (batch->behind != NULL)
        return dp_behind_norm2(batch->behind, place(batch, i));
    return dp_row_norm2(own_row(batch, i)) + (double)batch->intercept * (double)batch->intercept;
}

double dp_batch_label(const struct dp_batch *batch, size_t i)
{
    return batch->y[place(batch, i)];
}

size_t dp_batch_score(const struct dp_batch *batch, const struct dp_form *form, const double *parameters, size_t first,
                      double *scores)
{
    struct dp_row row[DP_ROWS] = {{0}}, next[DP_ROWS] = {{0}}; /* sampled rows lie far apart: the CPU does not guess them */
    size_t left = batch->count - first, count = left < DP_ROWS ? left : DP_ROWS;
    for (size_t i = 0; i < count; i++) {
        row[i] = own_row(batch, first + i);
        if (i + DP_ROWS < left) {
            size_t ahead = first + i + DP_ROWS;
            next[i] = own_row(batch, ahead);
            __builtin_prefetch(batch->y + place(batch, ahead));
        }
    }
    form->family->score(form, parameters, row, count, next, scores);
    for (size_t at = 0; batch->behind != NULL && at < count * form->outputs; at++)
        scores[at] *= dp_behind_cut(batch->behind, place(batch, first + at / form->outputs));
    return count;
}

void dp_batch_forget(struct dp_frame *frame)
{
    static const enum dp_field fields[] = {DP_F_ROWS, DP_F_X, DP_F_Y, DP_F_UPDATES};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        dp_frame_drop(frame, fields[i]);
}
