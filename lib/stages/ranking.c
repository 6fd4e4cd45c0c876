#include "stages/ranking.h"

#include <omp.h>

#include "base/mem.h"
#include "math/grid.h"
#include "math/scores.h"

void dp_ranking_open(struct dp_ranking *ranking, const struct dp_line *line, const struct dp_form *form, size_t candidates,
                     double bound, int threads)
{
    size_t outputs = form->outputs, blocks = (candidates + DP_LINE_ROWS - 1) / DP_LINE_ROWS, each = (size_t)threads;
    *ranking = (struct dp_ranking){
        .line = *line, .candidates = candidates, .threads = threads, .bound = bound, .grid = dp_grid_for(bound)};
    ranking->form = dp_form_for(form->family, form->features, candidates * outputs, form->intercept);
    ranking->u_size = DP_ROWS * candidates * outputs;
    ranking->block_size = dp_line_block_size(line);
    ranking->loss_size = blocks * DP_LINE_ROWS;
    ranking->direction = dp_new(outputs, sizeof(double));
    ranking->u = dp_new(each * ranking->u_size, sizeof(double));
    ranking->block = dp_new(each * ranking->block_size, sizeof(double));
    ranking->loss = dp_new(each * ranking->loss_size, sizeof(double));
    ranking->score = dp_new(each * candidates, sizeof(int64_t));
}

void dp_ranking_close(struct dp_ranking *ranking)
{
    free(ranking->direction);
    free(ranking->u);
    free(ranking->block);
    free(ranking->loss);
    free(ranking->score);
}

/* The losses of all candidates at one row, whose scores under them are u. */
static void losses(const struct dp_ranking *r, double label, const double *u, double *block, double *loss)
{
    for (size_t first = 0; first < r->candidates; first += DP_LINE_ROWS) {
        size_t left = r->candidates - first, count = left < DP_LINE_ROWS ? left : DP_LINE_ROWS;
        for (size_t i = 0; i < count; i++)
            dp_line_put(&r->line, block, i, label, u + (first + i) * r->line.outputs, r->direction);
        dp_line_losses(&r->line, block, count, 0, (double)INFINITY, loss + first);
    }
}

/* Up to DP_ROWS rows from `first` on. */
static void take_rows(struct dp_ranking *r, const struct dp_batch *batch, const double *candidates, double unit, size_t first,
                      size_t thread)
{
    double *u = r->u + thread * r->u_size, *loss = r->loss + thread * r->loss_size;
    size_t count = dp_batch_score(batch, &r->form, candidates, first, u, NULL);
    for (size_t i = 0; i < count; i++) {
        losses(r, dp_batch_label(batch, first + i), u + i * r->form.outputs, r->block + thread * r->block_size, loss);
        dp_scores_add(loss, r->candidates, unit, r->bound, 1 / r->grid, r->score + thread * r->candidates);
    }
}

int64_t *dp_ranking_take(struct dp_ranking *ranking, const struct dp_batch *batch, const double *candidates, double unit)
{
    size_t count = ranking->candidates;
    int64_t *score = ranking->score;
    memset(score, 0, (size_t)ranking->threads * count * sizeof *score);
#pragma omp parallel for num_threads(ranking->threads) schedule(static) if (ranking->threads > 1)
    for (size_t i = 0; i < batch->count; i += DP_ROWS)
        take_rows(ranking, batch, candidates, unit, i, (size_t)omp_get_thread_num());
    for (size_t thread = 1; thread < (size_t)ranking->threads; thread++)
        for (size_t i = 0; i < count; i++)
            score[i] += score[thread * count + i];
    return score;
}
