/* Chooses the run for a linear model from public facts about a table, with nothing to tune. dp-fit(1) states the rules. Nothing
 * here reads a row, and nothing is spent. */
#ifndef DPLINE_FIT_H
#define DPLINE_FIT_H

#include <stdint.h>

#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Public facts about the table. */
struct dpline_fit_facts {
    int64_t persons;         /* number of persons; the number of rows if each row counts as one person */
    int64_t columns;         /* as they are stored */
    int64_t classes;         /* 0: the label is a number */
    int64_t rows_per_person; /* most rows of a person; 0: one row is taken for one person */
    int constant;            /* 1: one of the columns is constant */
    int64_t images;          /* 1: the columns are features of images, by dp-import --features */
    int64_t unused[3];
};

enum dpline_fit_run {
    DPLINE_FIT_PLAIN = 0,       /* gradients of the rows without a transform; for logistic and softmax the last model */
    DPLINE_FIT_TRANSFORMED = 1, /* one lap of second moments, then gradients after their transform */
    DPLINE_FIT_UNCUT = 2,       /* the same, with rows that are not cut and residuals that are clipped at a quantile */
    DPLINE_FIT_DECAYED = 3      /* features of images: gradients of the rows, with a step that falls linearly to 0 */
};

/* Members that a run does not have, and all of `unused`, are 0. */
struct dpline_fit {
    enum dpline_fit_run run;
    const char *loss; /* static */
    double delta;
    double intercept; /* the value of the constant column that is appended, or 0 */
    double reach;     /* a mean over all persons / the noise of one release that spends the budget */
    int64_t laps;     /* of gradients */
    /* Noise multipliers, rounded up. Uncut: the first `late` laps have `gradient`, the others a third of it. */
    double moments, gradient, counts;
    double clip, scale, step, floor, radius;
    int unit; /* 1: rows are scaled to norm 1 first */
    int64_t late;
    double quantile, quantile_rate, tail;
    int64_t temperature; /* softmax: laps after the gradients, with the same noise, for one factor on all scores */
    double unused[3];
};

/* The default delta for this number of persons, at least 1: the largest power of ten below 1 / persons^1.1. */
DPLINE_PUBLIC double dpline_fit_delta(int64_t persons);

/* Fills *fit with the run for these facts and this budget. delta 0: the default; replace_one as in struct dpline_run; loss
   logistic for two classes, softmax for more, squared for a number. DPLINE_E_USAGE: an argument makes no sense. DPLINE_E_RUN:
   one class only, or too few persons to hide one of them. DPLINE_E_BUDGET: the budget does not pay for one useful lap. */
DPLINE_PUBLIC int dpline_fit_choose(const struct dpline_fit_facts *facts, double epsilon, double delta, int replace_one,
                                    const char *loss, struct dpline_fit *fit, struct dpline_error *error);

#ifdef __cplusplus
}
#endif

#endif
