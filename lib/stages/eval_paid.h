/* dp-eval --private: counts of private rows with Laplace noise, paid for as one query. */
#pragma once

#include "base/registry_place.h"
#include "gate/once.h"
#include "model/predictor.h"

struct dp_eval_paid_options {
    double epsilon, delta;
    int adjacency; /* a choice of --adjacency */
    const char *ledger;
    bool no_ledger, allow_weak;
    struct dp_registry_choice registry;
};

struct dp_eval_paid {
    const struct dp_dataset *data; /* data set and model are the caller's */
    const struct dp_predictor *model;
    bool brier;     /* the squared errors of the probabilities are summed, too */
    size_t size;    /* classes², and 1 with brier */
    double *noised; /* size: counts by true and predicted class; then the sum of squared errors */
    double scale;   /* of the noise on each of them */
    double *p;      /* workspace for probabilities */
    int64_t *sum, *noise;
};

/* dp_eval_paid_sum(p, decided, scores): what all persons add to each number, in units of 1 / DP_EVAL_PAID_ONE.
 *
 * A row with a label, of a person with m such rows, adds ⌊ONE/m⌋ to the cell of its true and its predicted class, and ⌊e ONE/m⌋
 * to the last number, e in 0 … 1: its squared error, halved with more than two classes; 0 if that is not a number. So one person
 * adds at most 1 to all cells together, and at most 1 to the last number. decided, scores: of the rows that have a label. */
#define DP_EVAL_PAID_ONE 0x1p20
void dp_eval_paid_sum(struct dp_eval_paid *paid, const double *decided, const double *scores);

/* How many persons have no row with a label, by the noised cells; *noise: the deviation. */
double dp_eval_paid_unlabelled(const struct dp_eval_paid *paid, double *noise);

/* Allocates. The caller sets data, model and brier, and closes it, after a failure, too. */
void dp_eval_paid_open(struct dp_eval_paid *paid);
void dp_eval_paid_close(struct dp_eval_paid *paid);

/* Pays for the numbers in the ledger of the rows, and then fills `noised`: the sums with discrete Laplace noise of scale
 * sensitivity / epsilon, drawn from a fresh key. started: seconds since 1970. *cost: of the query at options->delta. warning:
 * why there is no registry, or "". DP_E_BUDGET: the budget of the rows does not pay for it, and nothing is charged. */
int dp_eval_paid_release(struct dp_eval_paid *paid, const struct dp_eval_paid_options *options, const char *directory,
                         const struct dp_registry_place *place, int64_t started, const double *decided, const double *scores,
                         struct dp_answer *cost, char warning[DP_ERR_MESSAGE_SIZE], struct dp_err *err);
