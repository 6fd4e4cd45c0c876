/* Private selection, for accountants: a random number of runs, each with a setting chosen uniformly at random and independently
 * of all rows; the run with the best noised score is released (priv/trials.h). A run and its score are one trial. The setting
 * may be released, too: the divergence of order α of setting and trial together is
 *     r(α) = ln[mean over the settings of e^((α−1) r_setting(α))] / (α − 1),
 * never above the divergence of the worst setting. */
#ifndef DP_ACCOUNT_SELECTION_H
#define DP_ACCOUNT_SELECTION_H

#include "account/event.h"
#include "priv/trials.h"

/* Settings whose runs cost the same. */
struct dp_setting {
    int64_t times;             /* number of settings of the grid, 1 or more */
    struct dp_charges charges; /* charges of one run, without selections */
};

struct dp_selection {
    struct dp_trials trials;
    double score_multiplier; /* noise multiplier of each score; 0: the scores cost nothing */
    size_t settings, capacity;
    struct dp_setting *setting;
};

#define DP_SELECTION_MOST_SETTINGS 1000000

int dp_selection_new(struct dp_selection **selection, const struct dp_trials *trials, double score_multiplier,
                     struct dp_err *err);
void dp_selection_free(struct dp_selection *selection); /* may be NULL */
int dp_selection_copy(struct dp_selection **to, const struct dp_selection *from, struct dp_err *err);

/* Adds `times` settings whose runs have these charges, which are copied. */
int dp_selection_add(struct dp_selection *selection, const struct dp_charges *charges, int64_t times, struct dp_err *err);

/* DP_E_RUN: an invalid law, multiplier or charge; no settings, or too many; a selection among selections. */
int dp_selection_check(const struct dp_selection *selection, struct dp_err *err);

/* Both may be NULL. Settings count in their order. */
bool dp_selection_same(const struct dp_selection *a, const struct dp_selection *b);

/* The event of a selection, which it borrows. */
struct dp_event dp_event_selected(struct dp_selection *selection);

/* out[i] = r'(orders[i]) of the selection, an upper bound. Errors as dp_event_curve. */
int dp_selection_curve(const struct dp_selection *selection, const double *orders, size_t n, double *out, struct dp_err *err);

#endif
