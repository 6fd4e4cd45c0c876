/* Private selection, for accountants: a random number of runs, each with a setting chosen uniformly at random and independently
 * of all rows; the run with the best noised score is released (priv/trials.h). A run and its score are one trial. The setting
 * may be released, too: the divergence of order α of setting and trial together is
 *     r(α) = ln[mean over the settings of e^((α−1) r_setting(α))] / (α − 1),
 * never above the divergence of the worst setting. */
#pragma once

#include "account/event.h"
#include "priv/trials.h"

/* Settings whose runs cost the same. */
struct dp_setting {
    int64_t times;             /* number of settings of the grid, 1 or more */
    struct dp_charges charges; /* charges of one run, without selections */
};

struct dp_tuning {
    struct dp_trials trials;
    double score_multiplier; /* noise multiplier of each score; 0: the scores cost nothing */
    size_t settings, capacity;
    struct dp_setting *setting;
};

#define DP_TUNING_MOST_SETTINGS 1000000

void dp_tuning_new(struct dp_tuning **tuning, const struct dp_trials *trials, double score_multiplier);
void dp_tuning_free(struct dp_tuning *tuning); /* may be NULL */
int dp_tuning_copy(struct dp_tuning **to, const struct dp_tuning *from, struct dp_err *err);

/* Adds `times` settings whose runs have these charges, which are copied. */
int dp_tuning_add(struct dp_tuning *tuning, const struct dp_charges *charges, int64_t times, struct dp_err *err);

/* DP_E_RUN: an invalid law, multiplier or charge; no settings, or too many; a selection among selections. */
int dp_tuning_check(const struct dp_tuning *tuning, struct dp_err *err);

/* Both may be NULL. Settings count in their order. */
bool dp_tuning_same(const struct dp_tuning *a, const struct dp_tuning *b);

/* The event of a selection, which it borrows. */
struct dp_event dp_event_tuned(struct dp_tuning *tuning);

/* out[i] = r'(orders[i]) of the selection, an upper bound. Errors as dp_event_curve. */
int dp_tuning_curve(const struct dp_tuning *tuning, const double *orders, size_t n, double *out, struct dp_err *err);
