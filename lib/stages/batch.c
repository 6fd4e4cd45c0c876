#include "stages/batch.h"

#include "base/mem.h"
#include "base/unit.h"

#define BATCH_MOST ((size_t)1 << 31) /* rows */

int dp_reader_open(struct dp_reader *reader, const char *data, struct dp_err *err)
{
    return data != NULL ? dp_dataset_open(&reader->dataset, data, err) : DP_OK;
}

void dp_reader_close(struct dp_reader *reader)
{
    dp_dataset_close(reader->dataset);
    dp_transformed_close(&reader->transformed);
    free(reader->bits);
    free(reader->id);
    free(reader->start);
}

/* Checks that no row occurs twice, with a bit for each row: for batches that are not in order. */
static int check_once(const int64_t *id, size_t count, size_t rows, struct dp_reader *reader, int64_t lap, struct dp_err *err)
{
    size_t marked = 0;
    bool twice = false;
    if (reader->bits == NULL) {
        reader->bits = dp_new(rows / 64 + 1, sizeof *reader->bits);
    }
    for (; marked < count && !twice; marked++) {
        uint64_t bit = (uint64_t)1 << (id[marked] % 64);
        twice = (reader->bits[id[marked] / 64] & bit) != 0;
        reader->bits[id[marked] / 64] |= bit;
    }
    for (size_t k = 0; k < marked; k++)
        reader->bits[id[k] / 64] = 0;
    return twice ? dp_fail(err, DP_E_UNSAFE, "a row is twice in the batch of lap %lld", (long long)lap) : DP_OK;
}

static int check_rows(const int64_t *id, size_t count, size_t rows, struct dp_reader *reader, int64_t lap, struct dp_err *err)
{
    bool inside = true, ascending = true;
    if (reader->units != 0 && reader->units != rows)
        return dp_fail(err, DP_E_RUN, "the number of rows changes during the run");
    reader->units = rows;
    for (size_t k = 0; k < count; k++) {
        inside &= (uint64_t)id[k] < rows;
        ascending &= k == 0 || id[k - 1] < id[k];
    }
    if (!inside)
        return dp_fail(err, DP_E_RUN, "a row number of lap %lld is out of range", (long long)lap);
    return ascending ? DP_OK : check_once(id, count, rows, reader, lap, err);
}

static void set_columns(struct dp_batch *batch, size_t features)
{
    batch->features = features;
    batch->cols = batch->sum_cols = features + (batch->intercept != 0 ? 1 : 0);
}

/* Whether the record counts the rows of the data set. In a shard it counts the rows of all shards, and says which of them are
 * here. */
static bool counts(const struct dp_record *record, const struct dp_frame *frame, const struct dp_dataset *dataset)
{
    size_t all = (size_t)record->rows, first = (size_t)dp_frame_int(frame, DP_F_FIRST_ROW, 0);
    return dp_frame_has(frame, DP_F_FIRST_ROW) ? first <= all && dataset->persons <= all - first : dataset->persons == all;
}

static int too_many(const struct dp_frame *frame, struct dp_err *err)
{
    return dp_fail(err, DP_E_RUN, "lap %lld has more than 2^31 rows", (long long)frame->lap);
}

/* Finds the rows of the persons in the frame. */
static int take_persons(struct dp_batch *batch, const struct dp_frame *frame, struct dp_reader *reader, struct dp_err *err)
{
    size_t first, rows = 0;
    dp_extend(&reader->start, &reader->start_capacity, batch->persons + 1, sizeof *reader->start);
    int rc = DP_OK;
    for (size_t p = 0; rc == DP_OK && p < batch->persons; p++) {
        reader->start[p] = rows;
        rows += dp_dataset_person(batch->dataset, (size_t)batch->id[p], &first);
        rc = rows <= BATCH_MOST ? DP_OK : too_many(frame, err);
    }
    if (rc != DP_OK)
        return rc;
    dp_extend(&reader->id, &reader->id_capacity, rows + 1, sizeof *reader->id);
    reader->start[batch->persons] = rows;
    for (size_t p = 0; p < batch->persons; p++) {
        dp_dataset_person(batch->dataset, (size_t)batch->id[p], &first);
        for (size_t i = reader->start[p]; i < reader->start[p + 1]; i++)
            reader->id[i] = (int64_t)(first++);
    }
    batch->start = reader->start;
    batch->id = reader->id;
    batch->count = rows;
    return DP_OK;
}

/* The same for inline rows. most: rows per person. */
static int take_inline_persons(struct dp_batch *batch, const struct dp_frame *frame, struct dp_reader *reader, size_t most,
                               struct dp_err *err)
{
    const struct dp_array *sizes;
    size_t rows = 0;
    int rc = dp_frame_need_array(frame, DP_F_PERSON_ROWS, DP_I64, 1, &sizes, err);
    if (rc == DP_OK && sizes->count != batch->persons)
        rc = dp_fail(err, DP_E_RUN, "person_rows and rows of lap %lld differ in length", (long long)frame->lap);
    if (rc != DP_OK)
        return rc;
    dp_extend(&reader->start, &reader->start_capacity, batch->persons + 1, sizeof *reader->start);
    const int64_t *size = sizes->data;
    for (size_t p = 0; p < batch->persons; p++) {
        if (size[p] < 1 || (uint64_t)size[p] > most)
            return dp_fail(err, DP_E_UNSAFE, "a person of lap %lld does not have 1 to %zu rows", (long long)frame->lap, most);
        reader->start[p] = rows;
        rows += (size_t)size[p];
        if (rows > BATCH_MOST)
            return too_many(frame, err);
    }
    reader->start[batch->persons] = rows;
    batch->start = reader->start;
    batch->count = rows;
    return DP_OK;
}

/* Turns persons into rows. */
static int divide(struct dp_batch *batch, const struct dp_frame *frame, struct dp_reader *reader, struct dp_err *err)
{
    size_t most;
    const char *unit = dp_frame_text(frame, DP_F_UNIT, NULL);
    if (!dp_unit_read(unit, &most) || (batch->dataset != NULL && most != batch->dataset->rows_per_person))
        return dp_fail(err, DP_E_RUN, "lap %lld does not say what its unit of privacy is", (long long)frame->lap);
    if (most <= 1)
        return DP_OK;
    if (!reader->persons)
        return dp_fail(err, DP_E_UNSAFE, "lap %lld has several rows of a person, and this stage bounds single rows",
                       (long long)frame->lap);
    batch->rows *= most;
    batch->expected *= (double)most;
    if (batch->dataset != NULL)
        return take_persons(batch, frame, reader, err);
    return take_inline_persons(batch, frame, reader, most, err);
}

static int read_inline(struct dp_batch *batch, const struct dp_frame *frame, struct dp_err *err)
{
    const struct dp_array *x, *y;
    if (!dp_frame_has(frame, DP_F_X))
        return dp_fail(err, DP_E_USAGE, "--data is required: the frames carry row numbers, not rows");
    int rc = dp_frame_need_array(frame, DP_F_X, DP_F32, 2, &x, err);
    rc = rc ?: dp_frame_need_array(frame, DP_F_Y, DP_F64, 1, &y, err);
    if (rc != DP_OK)
        return rc;
    if (x->dims[0] != batch->count || y->count != batch->count)
        return dp_fail(err, DP_E_RUN, "X, y and rows of lap %lld differ in length", (long long)frame->lap);
    set_columns(batch, x->dims[1]);
    batch->x = x->data;
    batch->y = y->data;
    return DP_OK;
}

static int transform_rows(struct dp_reader *reader, struct dp_batch *batch, const struct dp_frame *frame, struct dp_err *err)
{
    struct dp_transform transform;
    int rc = dp_transform_read(&transform, frame, batch->cols, err);
    if (rc != DP_OK || transform.rows == 0)
        return rc;
    if (reader->transform != DP_TRANSFORM_APPLIED)
        return dp_fail(err, DP_E_RUN, "the rows of lap %lld are behind a transform, which this stage does not know",
                       (long long)frame->lap);
    struct dp_transformed_batch rows = {.count = batch->count,
                                        .features = batch->features,
                                        .constant = (double)batch->intercept,
                                        .id = batch->id,
                                        .dataset = batch->dataset,
                                        .x = batch->x};
    batch->transformed = &reader->transformed;
    batch->sum_cols = transform.rows;
    return dp_transformed_take(&reader->transformed, &transform, &rows, frame, err);
}

/* The batch with rows as they are in the data. */
static int read_own(struct dp_reader *reader, struct dp_batch *batch, const struct dp_frame *frame, struct dp_err *err)
{
    const struct dp_dataset *dataset = reader->dataset;
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
    *batch = (struct dp_batch){.count = rows->count,
                               .persons = rows->count,
                               .rows = dataset != NULL ? dataset->persons : (size_t)m->rows,
                               .id = rows->data,
                               .dataset = dataset,
                               .intercept = (float)intercept};
    batch->expected = m->rate * (double)batch->rows;
    if (batch->count > BATCH_MOST)
        return too_many(frame, err);
    if (dataset != NULL && (strcmp(dp_frame_text(frame, DP_F_DATA, ""), dataset->digest) != 0 || !counts(m, frame, dataset)))
        return dp_fail(err, DP_E_RUN, "the rows were sampled from another data set than --data names");
    rc = check_rows(batch->id, batch->count, batch->rows, reader, frame->lap, err);
    rc = rc ?: divide(batch, frame, reader, err);
    if (rc != DP_OK)
        return rc;
    if (dataset != NULL) {
        set_columns(batch, dataset->cols);
        batch->y = dataset->y;
        return DP_OK;
    }
    return read_inline(batch, frame, err);
}

int dp_reader_read(struct dp_reader *reader, struct dp_batch *batch, const struct dp_frame *frame, struct dp_err *err)
{
    int rc = read_own(reader, batch, frame, err);
    return rc == DP_OK && reader->transform != DP_TRANSFORM_IGNORED ? transform_rows(reader, batch, frame, err) : rc;
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

/* Row i as it is in the data. */
static struct dp_row own_row(const struct dp_batch *batch, size_t i)
{
    if (batch->dataset != NULL)
        return dp_dataset_row(batch->dataset, (size_t)batch->id[i]);
    return dp_row_dense(batch->x + i * batch->features, batch->features);
}

struct dp_row dp_batch_row(const struct dp_batch *batch, size_t i)
{
    return batch->transformed != NULL ? dp_transformed_row(batch->transformed, dp_batch_place(batch, i)) : own_row(batch, i);
}

/* Whether scores are made of z. */
static bool is_turned(const struct dp_batch *batch)
{
    return batch->transformed != NULL && batch->transformed->model != NULL;
}

/* The row of which the score of row i is made. */
static struct dp_row scored_row(const struct dp_batch *batch, size_t i)
{
    return is_turned(batch) ? dp_batch_row(batch, i) : own_row(batch, i);
}

double dp_batch_norm2(const struct dp_batch *batch, size_t i)
{
    if (batch->transformed != NULL)
        return dp_transformed_norm2(batch->transformed, dp_batch_place(batch, i));
    return dp_row_norm2(own_row(batch, i)) + (double)batch->intercept * (double)batch->intercept;
}

/* The rows after the block. */
static void look_ahead(const struct dp_batch *batch, struct dp_block *block)
{
    size_t after = block->first + block->count, left = batch->count - after;
    block->ahead = left < DP_ROWS ? left : DP_ROWS;
    for (size_t i = 0; i < block->ahead; i++) {
        block->next[i] = scored_row(batch, after + i);
        __builtin_prefetch(batch->y + dp_batch_place(batch, after + i));
    }
    for (size_t i = block->ahead; i < DP_ROWS; i++)
        block->next[i] = (struct dp_row){0};
}

void dp_batch_block(const struct dp_batch *batch, size_t first, struct dp_block *block)
{
    size_t left = batch->count - first;
    block->first = first;
    block->count = left < DP_ROWS ? left : DP_ROWS;
    block->together = false;
    for (size_t i = 0; i < block->count; i++)
        block->row[i] = scored_row(batch, first + i);
    look_ahead(batch, block);
}

void dp_batch_block_of(const struct dp_batch *batch, size_t first, size_t count, struct dp_block *block)
{
    block->first = first;
    block->count = count;
    block->ahead = 0;
    block->together = false;
    for (size_t i = 0; i < count; i++)
        block->row[i] = scored_row(batch, first + i);
    for (size_t i = 0; i < DP_ROWS; i++)
        block->next[i] = (struct dp_row){0};
}

void dp_block_next(const struct dp_batch *batch, struct dp_block *block)
{
    memcpy(block->row, block->next, block->ahead * sizeof *block->row);
    block->first += block->count;
    block->count = block->ahead;
    look_ahead(batch, block);
}

void dp_block_score(const struct dp_batch *batch, const struct dp_block *block, const struct dp_form *form,
                    const double *parameters, double *scores, double *norm2, void *room)
{
    const struct dp_transformed *t = batch->transformed;
    if (is_turned(batch))
        dp_rows_dot(block->row, block->count, block->next, t->model, form->outputs, t->width, scores, NULL);
    else
        form->family->score(form, parameters, block->row, block->count, block->next, scores, t == NULL ? norm2 : NULL, room);
    for (size_t i = 0; norm2 != NULL && i < block->count; i++) {
        if (t != NULL)
            norm2[i] = dp_transformed_norm2(t, dp_batch_place(batch, block->first + i));
        else
            norm2[i] += (double)batch->intercept * (double)batch->intercept;
    }
    for (size_t at = 0; t != NULL && !is_turned(batch) && at < block->count * form->outputs; at++)
        scores[at] *= dp_transformed_cut(t, dp_batch_place(batch, block->first + at / form->outputs));
}

size_t dp_batch_score(const struct dp_batch *batch, const struct dp_form *form, const double *parameters, size_t first,
                      double *scores, void *room)
{
    struct dp_block block;
    dp_batch_block(batch, first, &block);
    dp_block_score(batch, &block, form, parameters, scores, NULL, room);
    return block.count;
}

void dp_batch_forget(struct dp_frame *frame)
{
    static const enum dp_field fields[] = {DP_F_ROWS, DP_F_X, DP_F_Y, DP_F_PERSON_ROWS, DP_F_UPDATES};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        dp_frame_drop(frame, fields[i]);
}
