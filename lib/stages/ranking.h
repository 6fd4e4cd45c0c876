/* Scores of candidates by the losses of a batch (math/scores.h), in one pass over its rows: each row is read once and scored
 * with all candidates. Scores are whole numbers, so any number of threads gives the same result. */
#pragma once

#include "math/line.h"
#include "model/family.h"
#include "stages/batch.h"

struct dp_ranking {
    struct dp_line line; /* computes the losses of up to DP_LINE_ROWS candidates at one row as if each were a row */
    struct dp_form form; /* all candidates, joined into one model: outputs × candidates */
    size_t candidates;
    int threads;
    double bound, grid;       /* bound and grid of the differences of a row's losses */
    double *direction;        /* zeros, one for each output: there is no line search here */
    double *u, *block, *loss; /* work space of each thread */
    size_t u_size, block_size, loss_size;
    int64_t *score; /* threads × candidates */
};

/* form: of one candidate, whose family must be linear, so that several models can be joined into one. Starts zeroed; close it
 * after a failure, too. */
void dp_ranking_open(struct dp_ranking *ranking, const struct dp_line *line, const struct dp_form *form, size_t candidates,
                     double bound, int threads);
void dp_ranking_close(struct dp_ranking *ranking);

/* The scores of the candidates, in steps of the grid; borrowed. candidates: the form's entries for each. If one row of the data
 * is added or removed, two scores change by amounts that differ by at most bound / grid. unit > 0: the unit of losses. */
int64_t *dp_ranking_take(struct dp_ranking *ranking, const struct dp_batch *batch, const double *candidates, double unit);
