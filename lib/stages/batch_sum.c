#include "stages/batch_sum.h"

#include <omp.h>

#include "base/mem.h"
#include "math/grid.h"

#define PER_THREAD 262144.0
#define MOST_CHOSEN 64

void dp_batch_sum_allow(struct dp_batch_sum *batch_sum, int64_t threads)
{
    int there = omp_get_num_procs();
    batch_sum->choose = threads < 1;
    batch_sum->threads = threads >= 1 ? (int)threads : there < MOST_CHOSEN ? there : MOST_CHOSEN;
}

int dp_batch_sum_pay(int most, double rows, size_t cols, size_t outputs)
{
    double work = rows * (double)cols * (1 + (double)outputs / 8) / PER_THREAD;
    return work >= most ? most : work > 1 ? (int)work : 1;
}

/* Threads of this lap. */
static int threads_of(const struct dp_batch_sum *batch_sum, const struct dp_batch *batch, size_t outputs)
{
    return batch_sum->choose ? dp_batch_sum_pay(batch_sum->threads, batch->expected, batch->cols, outputs) : batch_sum->threads;
}

void dp_batch_sum_close(struct dp_batch_sum *batch_sum)
{
    for (int t = 0; batch_sum->tally != NULL && t < batch_sum->threads; t++)
        dp_tally_close(&batch_sum->tally[t]);
    for (int t = 0; batch_sum->together != NULL && t < batch_sum->threads; t++)
        dp_together_close(&batch_sum->together[t]);
    free(batch_sum->tally);
    free(batch_sum->together);
    free(batch_sum->coefficient);
    free(batch_sum->unpacked);
    *batch_sum = (struct dp_batch_sum){.threads = batch_sum->threads};
}

/* A pass over a batch. */
struct pass {
    const struct dp_batch *batch;
    size_t outputs;
    double bound;
    dp_batch_sum_update *update;
    void *context;
    struct dp_batch_sum *batch_sum; /* NULL: no sums */
    float *coefficient;             /* coefficients of all rows, or of DP_ROWS rows for each thread */
};

static void add_block(struct dp_tally *tally, const struct dp_batch *batch, const struct dp_block *block,
                      const float *coefficient)
{
    struct dp_row transformed[DP_ROWS];
    for (size_t i = 0; batch->transformed != NULL && i < block->count; i++)
        transformed[i] = dp_batch_row(batch, block->first + i);
    dp_tally_add(tally, coefficient, batch->transformed != NULL ? transformed : block->row, block->count);
}

static bool is_narrow(const struct dp_batch *batch)
{
    return batch->dataset != NULL && batch->dataset->storage == DP_STORAGE_INT16;
}

/* Narrow rows become floats once, for their coefficients and for the sum. */
static void unpack(const struct dp_batch_sum *batch_sum, size_t thread, struct dp_block *block)
{
    float *room = (float *)(((uintptr_t)batch_sum->unpacked + 63) & ~(uintptr_t)63) + thread * DP_ROWS * batch_sum->stride;
    for (size_t i = 0; i < block->count; i++, room += batch_sum->stride) {
        struct dp_row *row = &block->row[i]; /* member by member: copying a whole row that was just written would stall */
        row->values = dp_row_floats(row, room);
        row->narrow = NULL;
    }
}

/* Blocks from … to − 1. */
static void go(const struct pass *p, size_t thread, size_t from, size_t to)
{
    struct dp_block block;
    for (size_t b = from; b < to; b++) {
        float *own = p->coefficient +
                     (p->batch_sum != NULL ? thread * dp_apart(DP_ROWS * p->outputs, sizeof *own) : b * DP_ROWS * p->outputs);
        if (b == from)
            dp_batch_block(p->batch, b * DP_ROWS, &block);
        else
            dp_block_next(p->batch, &block);
        if (p->batch_sum != NULL && is_narrow(p->batch))
            unpack(p->batch_sum, thread, &block);
        p->update(p->context, thread, &block, own);
        if (p->batch_sum != NULL)
            add_block(&p->batch_sum->tally[thread], p->batch, &block, own);
    }
}

/* Assembles the block of `count` rows, and computes their coefficients. */
static float *update_block(const struct pass *p, size_t thread, size_t first, size_t count, bool together,
                           struct dp_block *block)
{
    float *own = p->coefficient + thread * dp_apart(DP_ROWS * p->outputs, sizeof *own);
    dp_batch_block_of(p->batch, first, count, block);
    block->together = together;
    if (is_narrow(p->batch))
        unpack(p->batch_sum, thread, block);
    p->update(p->context, thread, block, own);
    return own;
}

/* Several rows of one person. */
static void add_together(const struct pass *p, size_t thread, size_t first, size_t end)
{
    struct dp_together *together = &p->batch_sum->together[thread];
    struct dp_block block;
    for (size_t at = first; at < end; at += DP_ROWS) {
        const float *own = update_block(p, thread, at, end - at < DP_ROWS ? end - at : DP_ROWS, true, &block);
        for (size_t i = 0; i < block.count; i++)
            dp_together_add(together, own + i * p->outputs,
                            p->batch->transformed != NULL ? dp_batch_row(p->batch, at + i) : block.row[i]);
    }
    dp_together_clip(together, p->bound, dp_grid_for(p->bound));
}

/* Persons from … to − 1. */
static void go_persons(const struct pass *p, size_t thread, size_t from, size_t to)
{
    const size_t *start = p->batch->start;
    struct dp_block block;
    for (size_t i = from; i < to; i++) {
        if (start[i + 1] - start[i] > 1)
            add_together(p, thread, start[i], start[i + 1]);
        else if (start[i + 1] > start[i])
            add_block(&p->batch_sum->tally[thread], p->batch, &block, update_block(p, thread, start[i], 1, false, &block));
    }
}

static void go_all(const struct pass *p, int threads)
{
    bool persons = p->batch_sum != NULL && p->batch->start != NULL;
    size_t parts = persons ? p->batch->persons : (p->batch->count + DP_ROWS - 1) / DP_ROWS;
    void (*part)(const struct pass *, size_t, size_t, size_t) = persons ? go_persons : go;
    if (threads < 2 || parts < 2) {
        part(p, 0, 0, parts);
        return;
    }
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int t = 0; t < threads; t++)
        part(p, (size_t)t, parts * (size_t)t / (size_t)threads, parts * ((size_t)t + 1) / (size_t)threads);
}

/* Makes room for the sums of persons with several rows. */
static void begin_together(struct dp_batch_sum *batch_sum, const struct dp_batch *batch, size_t outputs, size_t threads)
{
    float constant = dp_batch_constant(batch);
    if (batch_sum->together == NULL)
        batch_sum->together = dp_new((size_t)batch_sum->threads, sizeof *batch_sum->together);
    for (size_t t = 0; t < threads; t++)
        dp_together_begin(&batch_sum->together[t], outputs, batch->sum_cols - (constant != 0 ? 1 : 0), constant);
}

void dp_batch_sum_make(struct dp_batch_sum *batch_sum, const struct dp_batch *batch, size_t outputs, double bound,
                       dp_batch_sum_update *update, void *context, int64_t *sum)
{
    size_t threads = (size_t)threads_of(batch_sum, batch, outputs);
    float constant = dp_batch_constant(batch);
    if (batch_sum->tally == NULL)
        batch_sum->tally = dp_new((size_t)batch_sum->threads, sizeof *batch_sum->tally);
    dp_extend(&batch_sum->coefficient, &batch_sum->capacity, threads * dp_apart(DP_ROWS * outputs, sizeof(float)),
              sizeof *batch_sum->coefficient);
    batch_sum->stride = (batch->features + 15) / 16 * 16;
    if (is_narrow(batch))
        dp_extend(&batch_sum->unpacked, &batch_sum->unpacked_capacity, threads * DP_ROWS * batch_sum->stride + 16,
                  sizeof *batch_sum->unpacked);
    for (size_t t = 0; t < threads; t++)
        dp_tally_begin(&batch_sum->tally[t], outputs, batch->sum_cols - (constant != 0 ? 1 : 0), constant, dp_grid_for(bound));
    if (batch->start != NULL)
        begin_together(batch_sum, batch, outputs, threads);
    const struct pass pass = {batch, outputs, bound, update, context, batch_sum, batch_sum->coefficient};
    go_all(&pass, (int)threads);
    memset(sum, 0, outputs * batch->sum_cols * sizeof *sum);
    batch_sum->within = 0;
    for (size_t t = 0; t < threads; t++)
        dp_tally_end(&batch_sum->tally[t], sum);
    for (size_t t = 0; batch->start != NULL && t < threads; t++) {
        dp_together_end(&batch_sum->together[t], sum);
        batch_sum->within += batch_sum->together[t].within;
    }
}

void dp_batch_sum_updates(const struct dp_batch_sum *batch_sum, const struct dp_batch *batch, size_t outputs,
                          dp_batch_sum_update *update, void *context, float *coefficient)
{
    const struct pass pass = {batch, outputs, 0, update, context, NULL, coefficient};
    go_all(&pass, threads_of(batch_sum, batch, outputs));
}
