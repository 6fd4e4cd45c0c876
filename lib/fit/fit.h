/* Chooses the run for a linear model from public facts about a table, with nothing to tune. dp-fit(1) states the rules and how
 * they were found. Nothing here reads a row. */
#pragma once

#include "base/err.h"
#include "math/loss.h"

/* Losses that the rules are for, as choices of an option. */
#define DP_FIT_LOSSES "squared|logistic|smooth-hinge|huber|huberised-hinge|poisson|softmax"

struct dp_fit_facts {
    int64_t persons;         /* the unit of privacy: rows, if each row counts as one person */
    int64_t columns;         /* as they are stored */
    int64_t classes;         /* 0: the label is a number */
    int64_t rows_per_person; /* most rows of a person; 0: each row counts as one person */
    int64_t cosines;         /* of the columns, those that are cosines of a number (data/basis.h) */
    bool constant;           /* one of the columns is constant */
    bool images;             /* the columns are features of images (images/map.h) */
    bool here;               /* one dp-sample has all rows, so that laps of gradients may sample them */
};

struct dp_fit_budget {
    double epsilon; /* > 0 */
    double delta;   /* in (0, 1) */
    double
        before; /* mu of what the same budget has paid for before, Gaussians of all rows, and a part of delta for names; or 0 */
    double named;
    bool replace_one;
};

enum dp_fit_run {
    DP_FIT_PLAIN,       /* gradients of the rows without a transform: the moments would be mostly noise */
    DP_FIT_TRANSFORMED, /* one lap of second moments, then gradients after their transform */
    DP_FIT_UNCUT,       /* the same for a regression: rows are not cut, residuals are clipped at a quantile */
    DP_FIT_DECAYED,     /* features of images: gradients without a transform, with a step that falls to 0 */
    DP_FIT_STREAM,      /* rows that arrive once: gradients of windows, with noise that is correlated over laps */
};

/* With rate 1, a release whose noise has multiplier z uses the part (whole / z)^2 of the budget, and parts add up: so
 *   plain, decayed   (laps + temperature) (whole / gradient)^2                                 <= 1
 *   transformed  (whole / moments)^2 + (laps + temperature) (whole / gradient)^2               <= 1
 *   uncut        the same, with laps (whole / counts)^2, and with late + 9 (laps - late) in place of laps:
 *                (whole / moments)^2 + (late + 9 (laps - late)) (whole / gradient)^2 + ...   <= 1, see DP_FIT_EARLY
 * With a rate below 1 the multipliers of its laps are smaller by that rate, and then all multipliers are larger by one factor,
 * with which the run spends the budget.
 * Numbers have the digits of a pipeline's text: multipliers nine, rounded up, all others six. */
struct dp_fit {
    enum dp_fit_run run;
    enum dp_loss loss;
    double intercept;                 /* the value of the constant column that is appended, or 0 */
    double whole;                     /* the multiplier of one release that spends all of the budget */
    double reach;                     /* persons / (s whole sqrt(columns)), the size of a mean over its noise, with s = 1, or 2
                                       * for replace-one */
    int64_t laps;                     /* of gradients */
    double rate;                      /* of Poisson sampling, for laps of gradients and of the temperature; 1: all rows */
    double moments_rate;              /* the same for the lap of moments */
    int64_t temperature;              /* laps after them, with the same noise, for one factor on all scores */
    double gradient, moments, counts; /* multipliers; uncut: early laps have gradient, late laps a third of it */
    double clip, scale, step;         /* of dp-grad and dp-step */
    bool unit;                        /* rows are scaled to norm 1 first */
    bool last;                        /* plain: the result is the last model, not the mean of the second half */
    double floor, radius;             /* of dp-transform */
    int64_t late;                     /* uncut: number of first laps that only find the constant and the bound */
    double quantile, quantile_rate;   /* uncut: the quantile that the bound follows, and how fast */
    double tail;                      /* uncut: the models of this last part of the laps are averaged */
    int64_t window, bands;            /* stream: rows of a lap; B of dp-noise */
};

/* Plain and decayed: the momentum of dp-step. */
#define DP_FIT_MOMENTUM 0.9

/* Uncut: the squared noise of an early lap over the squared noise of a late lap. */
#define DP_FIT_EARLY 9

/* The k of the default delta, 10^-k: the largest power of ten below 1 / persons^1.1. persons >= 1. */
int dp_fit_delta_exponent(int64_t persons);

/* delta, or that power of ten if it is NAN. */
double dp_fit_delta(double delta, int64_t persons);

/* Takes from the budget what a schema has cost, epsilon and delta, or 0 and 0; rounds down. path: of its data set. DP_E_BUDGET:
 * nothing is left. */
int dp_fit_left(struct dp_fit_budget *budget, double epsilon, double delta, const char *path, struct dp_err *err);

/* The noise multiplier of one Gaussian release of all rows that spends what is left of the budget. DP_E_BUDGET: nothing is. */
int dp_fit_release(const struct dp_fit_budget *budget, double *multiplier, struct dp_err *err);

/* A run over more persons samples its laps, so it is no Gaussian mechanism that composes with a schema exactly. */
#define DP_FIT_MOST_COMPOSED 131072

/* dp_fit_schema_share(epsilon, persons): the part of epsilon that pays for a schema: 0.1, or as much as epsilon 0.04 is, up
 * to 0.4, if the run composes with the schema. A model loses more by names that a schema lacks than by noise of its run. */
double dp_fit_schema_share(double epsilon, int64_t persons);

/* dp_fit_loss(classes): squared for a number, logistic for two classes, softmax for more. */
enum dp_loss dp_fit_loss(int64_t classes);

/* Whether the budget pays for curves: features of numbers that the columns count already (data/basis.h). */
bool dp_fit_curves(const struct dp_fit_facts *facts, const struct dp_fit *fit);

/* How many products of pairs of columns (data/products.h) the budget also pays for; the columns do not count them. */
int64_t dp_fit_products(const struct dp_fit_facts *facts, const struct dp_fit *fit);

const char *dp_fit_unit(const struct dp_fit_facts *facts);

/* dp_fit_choose(facts, budget, loss, fit, err): fill *fit with the run for these facts. DP_E_USAGE   the budget makes no sense.
 * DP_E_RUN     one class only, or too few persons to hide one of them. DP_E_BUDGET  the budget does not pay for one useful lap;
 * the sentence says which epsilon, or how many persons, would suffice. */
int dp_fit_choose(const struct dp_fit_facts *facts, const struct dp_fit_budget *budget, enum dp_loss loss, struct dp_fit *fit,
                  struct dp_err *err);

/* The same for `persons` rows that arrive once, about as many as will come, each in one window. All laps together cost one
 * release, so fit->gradient is fit->whole. dp-fit-rules(7) has the rule. DP_E_USAGE, DP_E_RUN: as above. */
int dp_fit_stream(const struct dp_fit_facts *facts, const struct dp_fit_budget *budget, enum dp_loss loss, struct dp_fit *fit,
                  struct dp_err *err);

/* The degree of dp-step --average polynomial for a stream. */
#define DP_FIT_STREAM_DEGREE 3
