/* What a run has spent. The gate and the calculator both ask this: for the same run they get the same bits.
 *
 * Mechanisms are charged as events: "one lap did this". Equal events are counted, never added up, and the
 * spending is ε(δ) = min_α  Σ_events count · r_event(α) + penalty(α, δ)          (see priv/rdp.h) Epsilon in
 * nats, rounded up; adjacency is whatever the multiplier was taken against (null-record by default). */
#ifndef DP_PRIV_ACCOUNTANT_H
#define DP_PRIV_ACCOUNTANT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum dp_event_kind {
    DP_EVENT_POISSON,  /* every row by its own fresh coin of probability `rate` */
    DP_EVENT_FULL,     /* every row; rate is ignored */
    DP_EVENT_SHUFFLED, /* a part of one permutation per epoch; rate = 1/(laps per epoch). No amplification: T
                          laps are charged as ⌈T · rate⌉ Gaussians, one per epoch begun */
};

/* One lap's release of a sum with Gaussian noise. */
struct dp_event {
    enum dp_event_kind kind;
    double rate;       /* in (0, 1] */
    double multiplier; /* noise standard deviation / L2 sensitivity of all that is released in the lap, > 0 */
    bool released_state; /* the noised per-row state of the batch's rows is released too: shows who was in it
                          */
};

enum dp_accountant_kind {
    DP_ACCOUNTANT_RDP, /* sound: Rényi orders; DP_EVENT_POISSON with released_state by priv/mixture.h */
    DP_ACCOUNTANT_PUBLISHED, /* NOT sound, for --as-published: the DP-SCD paper's moments accountant. Integer
                                orders 2 … 129 with its Proposition 1; shuffled epochs taken for Poisson
                                sampling, and a released state taken for a hidden one. The formula is
                                evaluated in log space. */
};

/* Refuses (DP_E_UNSAFE) what cannot be charged: a rate outside (0, 1], a multiplier that is not positive and
 * finite. */
int dp_event_check(const struct dp_event *event, struct dp_err *err);

/* How many unamplified or amplified Gaussians `laps` of this event are charged as: laps, or the epochs begun
   when shuffled. A quotient within 1e-12 of a whole number counts as that number. */
int64_t dp_event_units(const struct dp_event *event, int64_t laps);

struct dp_accountant;

/* An accountant with nothing spent; the caller owns it and frees it with dp_accountant_free. DP_E_RUN: no
 * memory. */
int dp_accountant_new(enum dp_accountant_kind kind, struct dp_accountant **accountant, struct dp_err *err);
void dp_accountant_free(struct dp_accountant *accountant);

/* For runs whose noise is chosen from earlier releases: fixes one order, before anything is charged, so that
 * the spending is a privacy filter (Feldman, Zrnic, Individual Privacy Accounting via a Rényi Filter (2021));
 * the best of all orders is not one. Takes the largest tabulated order <= order and writes it to *order.
 * DP_E_UNSAFE after the first charge or for an order below the table. */
int dp_accountant_fix_order(struct dp_accountant *accountant, double *order, struct dp_err *err);

/* Charges `laps` more of the event (> 0). Allocates only for an event not seen before, at most 4096 of which
   are kept. On failure nothing is charged: DP_E_UNSAFE (dp_event_check), DP_E_RUN (memory, too many events or
   laps). */
int dp_accountant_add(struct dp_accountant *accountant, const struct dp_event *event, int64_t laps,
                      struct dp_err *err);

/* The epsilon of all that was charged, 0 < delta < 1; 0 for nothing. A Poisson event with released state
   among other events cannot be accounted for: DP_E_UNSAFE. */
int dp_accountant_epsilon(struct dp_accountant *accountant, double delta, double *epsilon,
                          struct dp_err *err);

/* The epsilon that dp_accountant_add(event, laps) would bring about; nothing is charged. Under a microsecond
   per distinct event for one seen before (a millisecond for mixtures). */
int dp_accountant_epsilon_with(struct dp_accountant *accountant, const struct dp_event *event, int64_t laps,
                               double delta, double *epsilon, struct dp_err *err);

/* The order of the minimum in the last answer; NAN for a mixture, or before any. */
double dp_accountant_order(const struct dp_accountant *accountant);

/* The epsilon of a whole run of equal laps: what an accountant charged with them answers. *order may be NULL.
 */
int dp_accountant_run(enum dp_accountant_kind kind, const struct dp_event *event, int64_t laps, double delta,
                      double *epsilon, double *order, struct dp_err *err);

#endif
