/* The interface between the files that answer a question about a privacy loss distribution. Other files include priv/pld.h. */
#pragma once

#include "priv/pld.h"
#include "priv/pld_cells.h"
#include "priv/pld_compose.h"
#include "priv/pld_invert.h"

/* The largest loss of one lap, and the largest answer: e^500 and e^250 are far below the largest double. */
#define DP_PLD_LOSS_MAX 500.0
/* The other terms of an inversion, as a part of δ: far below 4e-7, the smallest difference that bounds may have. */
#define DP_PLD_SPARE 1e-9
/* Bounds of a prefix and of a rough answer differ by at most this fraction: more digits are not used. */
#define DP_PLD_CLOSE 1e-4
/* A contour that needs more frequencies is given up. With laps cut it may have more: a grid takes at least a quarter of a
   second for such runs. */
#define DP_PLD_MOST_FREQUENCIES 1024
#define DP_PLD_MOST_CUT 8192

struct dp_pld_question {
    const struct dp_pld_part *parts;
    size_t count;
    double laps; /* of all parts */
    bool of_delta, symmetric;
    bool rough;            /* use only one coarse grid, for the direction that is probably more expensive */
    double epsilon, delta; /* one is given; the other is first set by Rényi DP */
    double deviations;
    double scale;               /* the largest |loss| of one lap: the unit of the search for s is 1/scale */
    struct dp_pld_nodes *nodes; /* nodes of each part; empty if the part is sketched with the one before */
    double *rare;               /* with a cut, the rare share of each node, part after part */
};

struct dp_pld_aim {
    double epsilon; /* the grid has to be accurate near this ε */
    double bias;    /* how far the upper bound may be above the truth there, roughly */
    bool rough;     /* the lower bound does not count */
};

/* --- priv/pld.c --- */

/* Checks the parts, and fills a->laps and a->symmetric. DP_E_RUN as dp_pld_epsilon. */
int dp_pld_check(struct dp_pld_question *a, struct dp_err *err);

/* Whether the losses are within reach of grids and contours; fills a->deviations and a->scale. */
bool dp_pld_reaches(struct dp_pld_question *a);

/* --- priv/pld_estimate.c --- */

/* Fills a->nodes and a->rare. */
void dp_pld_sketch(struct dp_pld_question *a);
void dp_pld_sketch_free(struct dp_pld_question *a);

/* Laps of a part and of those after it that are sketched with it; *next is the first part that is not. */
double dp_pld_sketched_laps(const struct dp_pld_question *a, size_t part, size_t *next);

/* Σ T K(s) of all parts; mean and variance of S under the weights. */
double dp_pld_moment(const struct dp_pld_question *a, bool add, double s, double *mean, double *variance);

/* dp_pld_moment without mean and variance. */
double dp_pld_log_moment(const struct dp_pld_question *a, bool add, double s);

/* s >= 0 with mean S = epsilon under the weights, roughly. */
double dp_pld_tilt(const struct dp_pld_question *a, bool add, double epsilon);

/* The ε of one direction whose estimated δ is `delta`. */
double dp_pld_estimated_epsilon(const struct dp_pld_question *a, bool add, double delta);

/* The estimate of the answer in one direction: δ or ε. */
double dp_pld_estimated(const struct dp_pld_question *a, bool add);

/* For a lap that loses more than all the others: the ε at which T times the δ of one lap is delta. A bit below the truth if
   such laps are rare. */
double dp_pld_single_lap(const struct dp_pld_question *a, bool add, double delta);

/* |E e^{iωS}| under the weights. */
double dp_pld_surviving(const struct dp_pld_question *a, bool add, double s, double omega);

/* --- priv/pld_grid.c --- */

/* The window of a grid for an answer near epsilon and delta, with the tilts of its ends. */
struct dp_pld_window dp_pld_grid_window(const struct dp_pld_question *a, bool add, double epsilon, double delta);

/* The step of a grid. It is larger if rounding would make a finer grid worse, or if a finer grid would have too many points for
   the given work. */
double dp_pld_grid_step(const struct dp_pld_question *a, bool add, const struct dp_pld_window *w, struct dp_pld_aim g,
                        double work, double rounding, bool *finest);

/* The fraction of an answer by which it may be too high. Few laps are cheap and get more digits; many parts are expensive and
 * get fewer. */
double dp_pld_share(const struct dp_pld_question *a);

/* A coarse grid, to locate the answer, then finer ones until the bounds are close. Few laps are cheap and get more digits, many
   parts are expensive and get fewer. If one lap may lose more than all the others, the estimate is
   far too high. Stops at an upper bound of `enough`. */
void dp_pld_grid_refine(const struct dp_pld_question *a, bool add, double estimate, double enough,
                        struct dp_pld_answer *answer);

/* For the direction that probably matters less: a coarse grid, if it already shows that; its step follows from the distance of
 * the two estimates. */
void dp_pld_grid_compare(const struct dp_pld_question *a, bool add, double estimate, double apart,
                         const struct dp_pld_answer *larger, struct dp_pld_answer *answer);

/* Whether the bounds are within a hundredth of the upper one. */
bool dp_pld_is_tight(const struct dp_pld_answer *answer);

/* --- priv/pld_by_inversion.c --- */

/* The error of the sum with which the bounds differ by at most the fraction `apart`. It is an error of δ. The steeper δ falls,
 * the smaller the error of ε. */
double dp_pld_contour_error(const struct dp_pld_question *a, bool add, const struct dp_pld_contour *contour, double epsilon,
                            double delta, double apart);

/* A contour for an answer near epsilon and delta: the shortest period that keeps the other terms small, and frequencies up to
   where nothing is left of a normal S. */
struct dp_pld_contour dp_pld_contour_for(const struct dp_pld_question *a, bool add, double epsilon, double delta);

/* Bounds by inversion. True if they are as close as bounds of the finest grids, so no grid is needed. */
bool dp_pld_by_inversion(const struct dp_pld_question *a, bool add, double estimate, struct dp_pld_answer *answer);

/* Whether Chernoff's bound suffices to show that this direction matters less than the bound on the other one. */
bool dp_pld_is_less(const struct dp_pld_question *a, bool add, const struct dp_pld_answer *larger);

/* --- priv/pld_cut.c --- */

/* A contour for the runs with a rare lap: as dp_pld_contour_for, for bounds that differ by at most the fraction `apart`. False
 * if no cut is good. */
bool dp_pld_cut_contour(const struct dp_pld_question *a, double epsilon, double delta, double apart, struct dp_pld_contour *c);

/* --- priv/pld_renyi.c --- */

/* The largest loss of a run: the sum of the parts' largest losses, infinite with a Gaussian part. Rounded up. */
double dp_pld_most(const struct dp_pld_question *a);

/* rdp[i]: the sum of the parts' Rényi bounds at orders[i]; n at most DP_RDP_ORDER_COUNT. */
void dp_pld_renyi(const struct dp_pld_question *a, const double *orders, size_t n, double *rdp);

/* The smaller of the Rényi bound on ε at a->delta and dp_pld_most. */
double dp_pld_renyi_epsilon(const struct dp_pld_question *a, const double *orders, size_t n);
