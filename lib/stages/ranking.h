/* Scores of candidates by the losses of a batch (math/scores.h), in one pass over its rows: a row is read once, for its scores
   under all candidates. Scores are whole numbers, so that any number of threads gives the same. */
#ifndef DP_STAGES_RANKING_H
#define DP_STAGES_RANKING_H

#include "math/line.h"
#include "model/family.h"
#include "stages/batch.h"

struct dp_ranking {
    struct dp_line line; /* the losses of up to DP_LINE_ROWS candidates at one row are computed as those of so many rows */
    struct dp_form form; /* all candidates as one model: as many times the outputs */
    size_t candidates;
    int threads;
    double bound, grid;       /* of the differences of a row's losses */
    double *direction;        /* outputs zeros: nobody goes along a line */
    double *u, *block, *loss; /* threads × what each needs */
    size_t u_size, block_size, loss_size;
    int64_t *score; /* threads × candidates */
};

/* form: of one candidate, whose family must be linear: several of such models are one. Starts zeroed; close it, whatever open
   returned. */
int dp_ranking_open(struct dp_ranking *ranking, const struct dp_line *line, const struct dp_form *form, size_t candidates,
                    double bound, int threads, struct dp_err *err);
void dp_ranking_close(struct dp_ranking *ranking);

/* score_i of `candidates` (a row each, of the form's entries), in steps of the grid: two of them move by amounts that differ by
   at most bound / grid when one row comes or goes. unit > 0: that of the losses. */
void dp_ranking_take(struct dp_ranking *ranking, const struct dp_batch *batch, const double *candidates, double unit,
                     int64_t *score);

#endif
