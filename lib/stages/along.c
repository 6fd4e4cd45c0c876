#include "stages/along.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "math/grid.h"

int dp_along_open(struct dp_along *along, const struct dp_line *line, const struct dp_form *form, double bound, int threads,
                  struct dp_err *err)
{
    *along = (struct dp_along){.line = *line, .threads = threads, .bound = bound, .grid = dp_grid_for(bound)};
    along->form = dp_form_for(form->family, form->features, 2 * form->outputs, form->intercept);
    int rc = dp_alloc(&along->parameters, along->form.rows * along->form.cols, sizeof(double), err);
    return rc == DP_OK ? dp_alloc(&along->scores, (size_t)threads * DP_ROWS * along->form.outputs, sizeof(double), err) : rc;
}

void dp_along_close(struct dp_along *along)
{
    free(along->parameters);
    free(along->scores);
    free(along->block);
    free(along->loss);
}

static size_t blocks_of(const struct dp_along *along)
{
    return (along->rows + DP_LINE_ROWS - 1) / DP_LINE_ROWS;
}

static size_t rows_of(const struct dp_along *along, size_t b)
{
    size_t left = along->rows - b * DP_LINE_ROWS;
    return left < DP_LINE_ROWS ? left : DP_LINE_ROWS;
}

/* Block b: scores, and the losses at the model. */
static void take_block(struct dp_along *along, const struct dp_batch *batch, size_t b, double *scores)
{
    size_t size = dp_line_block_size(&along->line), outputs = along->line.outputs, first = b * DP_LINE_ROWS;
    double *block = along->block + b * size;
    memset(block, 0, size * sizeof *block);
    for (size_t i = 0, count; i < rows_of(along, b); i += count) {
        count = dp_batch_score(batch, &along->form, along->parameters, first + i, scores);
        for (size_t r = 0; r < count; r++) {
            const double *u = scores + r * 2 * outputs;
            dp_line_put(&along->line, block, i + r, dp_batch_label(batch, first + i + r), u, u + outputs);
        }
    }
    dp_line_losses(&along->line, block, rows_of(along, b), 0, along->bound, along->loss + first);
}

int dp_along_take(struct dp_along *along, const struct dp_batch *batch, const double *model, const double *direction,
                  struct dp_err *err)
{
    size_t size = along->form.rows / 2 * along->form.cols, each = DP_ROWS * along->form.outputs;
    along->rows = batch->count;
    size_t blocks = blocks_of(along);
    int rc = dp_grow(&along->block, &along->block_capacity, blocks * dp_line_block_size(&along->line), sizeof(double), err);
    if (rc == DP_OK)
        rc = dp_grow(&along->loss, &along->loss_capacity, blocks * DP_LINE_ROWS, sizeof(double), err);
    if (rc != DP_OK)
        return rc;
    memcpy(along->parameters, model, size * sizeof *model);
    memcpy(along->parameters + size, direction, size * sizeof *direction);
    if (along->threads > 1) {
#pragma omp parallel for num_threads(along->threads) schedule(static)
        for (size_t b = 0; b < blocks; b++)
            take_block(along, batch, b, along->scores + (size_t)omp_get_thread_num() * each);
    } else {
        for (size_t b = 0; b < blocks; b++)
            take_block(along, batch, b, along->scores);
    }
    return DP_OK;
}

/* The part of block b: its losses at eta, or their difference to the losses at the model. */
static int64_t pass_block(const struct dp_along *along, size_t b, double eta, bool alone)
{
    static const double nothing[DP_LINE_ROWS];
    double loss[DP_LINE_ROWS];
    size_t count = rows_of(along, b);
    dp_line_losses(&along->line, along->block + b * dp_line_block_size(&along->line), count, eta, along->bound, loss);
    return alone ? dp_line_fall(loss, nothing, count, 1 / along->grid)
                 : dp_line_fall(along->loss + b * DP_LINE_ROWS, loss, count, 1 / along->grid);
}

static int64_t pass(const struct dp_along *along, double eta, bool alone)
{
    size_t blocks = blocks_of(along);
    int64_t sum = 0;
    if (along->threads > 1) {
#pragma omp parallel for num_threads(along->threads) schedule(static) reduction(+ : sum)
        for (size_t b = 0; b < blocks; b++)
            sum += pass_block(along, b, eta, alone);
    } else {
        for (size_t b = 0; b < blocks; b++)
            sum += pass_block(along, b, eta, alone);
    }
    return sum;
}

int64_t dp_along_fall(const struct dp_along *along, double eta)
{
    return pass(along, eta, false);
}

int64_t dp_along_sum(const struct dp_along *along, double eta)
{
    return pass(along, eta, true);
}
