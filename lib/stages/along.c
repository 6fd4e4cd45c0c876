#include "stages/along.h"

#include <omp.h>

#include "base/mem.h"
#include "data/row_maker.h"
#include "math/grid.h"

_Static_assert(DP_LINE_ROWS <= DP_ROW_MAKER_KEPT, "rows of a block stay until they are scored");

void dp_along_open(struct dp_along *along, const struct dp_line *line, const struct dp_form *form, double bound, int threads)
{
    *along = (struct dp_along){.line = *line, .threads = threads};
    dp_along_bound(along, bound);
    along->form = *form;
    along->count = form->rows * form->cols;
    along->linear = form->family == &dp_family_linear;
    if (along->linear)
        along->form = dp_form_for(form->family, form->features, 2 * form->outputs, form->intercept);
    along->parameters = dp_new(along->form.rows * along->form.cols, sizeof(double));
    along->scores = dp_new((size_t)threads * DP_LINE_ROWS * 2 * form->outputs, sizeof(double));
    along->room = dp_new((size_t)threads, sizeof *along->room);
    for (int t = 0; t < threads; t++)
        along->room[t] = dp_form_room(&along->form);
}

void dp_along_close(struct dp_along *along)
{
    for (int t = 0; along->room != NULL && t < along->threads; t++)
        dp_form_leave(&along->form, along->room[t]);
    free(along->room);
    free(along->parameters);
    free(along->scores);
    free(along->block);
    free(along->loss);
}

void dp_along_bound(struct dp_along *along, double bound)
{
    along->bound = bound;
    along->grid = dp_grid_for(bound);
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

/* Scores of rows from `first` on, at most `most` of them. Returns their number. */
static size_t score_rows(const struct dp_along *along, size_t first, size_t most, double *scores, void *room)
{
    struct dp_row row[DP_LINE_ROWS];
    if (along->linear)
        return dp_batch_score(along->batch, &along->form, along->parameters, first, scores, room);
    for (size_t i = 0; i < most; i++)
        row[i] = dp_batch_row(along->batch, first + i);
    along->form.family->score(&along->form, along->parameters, row, most, NULL, scores, NULL, room);
    return most;
}

/* Block b: its scores with the parameters. */
static void score_block(const struct dp_along *along, size_t b, size_t thread)
{
    size_t size = dp_line_block_size(&along->line), outputs = along->line.outputs, each = along->form.outputs;
    double *block = along->block + b * size, *scores = along->scores + thread * DP_LINE_ROWS * 2 * outputs;
    memset(block, 0, size * sizeof *block);
    for (size_t i = 0, count; i < rows_of(along, b); i += count) {
        size_t first = b * DP_LINE_ROWS + i;
        count = score_rows(along, first, rows_of(along, b) - i, scores, along->room[thread]);
        for (size_t r = 0; r < count; r++) {
            const double *u = scores + r * each, *v = u + (along->linear ? outputs : 0);
            dp_line_put(&along->line, block, i + r, dp_batch_label(along->batch, first + r), u, v);
        }
    }
}

/* Block b: scores, and the losses at the model. */
static void take_block(struct dp_along *along, size_t b, size_t thread)
{
    score_block(along, b, thread);
    dp_line_losses(&along->line, along->block + b * dp_line_block_size(&along->line), rows_of(along, b), 0, along->bound,
                   along->loss + b * DP_LINE_ROWS);
}

void dp_along_take(struct dp_along *along, const struct dp_batch *batch, const double *model, const double *direction)
{
    along->rows = batch->count;
    along->batch = batch;
    along->model = model;
    along->direction = direction;
    size_t blocks = blocks_of(along);
    dp_extend(&along->block, &along->block_capacity, blocks * dp_line_block_size(&along->line), sizeof(double));
    dp_extend(&along->loss, &along->loss_capacity, blocks * DP_LINE_ROWS, sizeof(double));
    memcpy(along->parameters, model, along->count * sizeof *model);
    if (along->linear)
        memcpy(along->parameters + along->count, direction, along->count * sizeof *direction);
    if (along->threads > 1) {
#pragma omp parallel for num_threads(along->threads) schedule(static)
        for (size_t b = 0; b < blocks; b++)
            take_block(along, b, (size_t)omp_get_thread_num());
    } else {
        for (size_t b = 0; b < blocks; b++)
            take_block(along, b, 0);
    }
}

/* Adds the part of block b to the sum: its losses at eta, or their differences from the losses at the model. */
static int64_t pass_block(const struct dp_along *along, size_t b, double eta, bool alone, size_t thread)
{
    static const double nothing[DP_LINE_ROWS];
    double loss[DP_LINE_ROWS];
    size_t count = rows_of(along, b);
    if (!along->linear) { /* the parameters are those at eta */
        score_block(along, b, thread);
        eta = 0;
    }
    dp_line_losses(&along->line, along->block + b * dp_line_block_size(&along->line), count, eta, along->bound, loss);
    return alone ? dp_line_fall(loss, nothing, count, 1 / along->grid)
                 : dp_line_fall(along->loss + b * DP_LINE_ROWS, loss, count, 1 / along->grid);
}

static int64_t pass(struct dp_along *along, double eta, bool alone)
{
    size_t blocks = blocks_of(along);
    int64_t sum = 0;
    for (size_t j = 0; !along->linear && j < along->count; j++)
        along->parameters[j] = along->model[j] - eta * along->direction[j];
    if (along->threads > 1) {
#pragma omp parallel for num_threads(along->threads) schedule(static) reduction(+ : sum)
        for (size_t b = 0; b < blocks; b++)
            sum += pass_block(along, b, eta, alone, (size_t)omp_get_thread_num());
    } else {
        for (size_t b = 0; b < blocks; b++)
            sum += pass_block(along, b, eta, alone, 0);
    }
    return sum;
}

int64_t dp_along_fall(struct dp_along *along, double eta)
{
    return pass(along, eta, false);
}

int64_t dp_along_sum(struct dp_along *along, double eta)
{
    return pass(along, eta, true);
}
