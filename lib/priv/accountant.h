/* What a run costs: one event per lap, the same every lap. The gate and the calculator ask here, so that they
   agree to the last bit. Epsilon is in nats and an upper bound. */
#ifndef DP_PRIV_ACCOUNTANT_H
#define DP_PRIV_ACCOUNTANT_H

#include <stdint.h>

#include "base/err.h"

enum dp_event_kind {
    DP_EVENT_POISSON,  /* Gaussian on a Poisson sample of rate q: amplified by sampling */
    DP_EVENT_GAUSSIAN, /* Gaussian on every row */
    DP_EVENT_SHUFFLED, /* parts of one permutation per epoch: one Gaussian per epoch begun, nothing amplified
                        */
    DP_EVENT_VISIBLE_BATCH, /* Poisson sample whose members show (noised alpha): a person pays for each lap
                               they are in */
};

struct dp_event {
    enum dp_event_kind kind;
    double rate;        /* q; Poisson and visible batch */
    double multiplier;  /* z: noise standard deviation / sensitivity */
    int64_t epoch_laps; /* shuffled */
};

enum dp_accountant_kind {
    DP_ACCOUNTANT_RDP,       /* Rényi DP; the mixture of priv/mixture.h for a visible batch */
    DP_ACCOUNTANT_PUBLISHED, /* as the DP-SCD paper: Poisson-sampled Gaussian at whole orders, Proposition 1.
                                Not sound. */
};
#define DP_ACCOUNTANT_CHOICES "rdp|published"

struct dp_accountant;

/* An accountant for laps like *event; the caller frees it. Computes r(α) of one lap at every order
 * (priv/rdp.h), about 2 ms. Published: a visible or shuffled batch is taken for a Poisson sample, and only
 * every-row laps are not. DP_E_RUN: delta outside (0, 1), a multiplier that is not positive and finite, a
 * rate that is needed and outside (0, 1], shuffled epochs of no laps, no memory. */
int dp_accountant_new(struct dp_accountant **accountant, enum dp_accountant_kind kind,
                      const struct dp_event *event, double delta, struct dp_err *err);
void dp_accountant_free(struct dp_accountant *accountant);

/* Epsilon after this many laps, rounded up: min_α laps · r(α) + penalty(α, δ), always from the count and
 * never by adding lap to lap, so that whoever asks about the same run gets the same bits. Allocates nothing;
 * under a microsecond, and about a millisecond for a visible batch. 0 for no laps; infinite when nothing
 * bounds the loss. */
double dp_accountant_epsilon(const struct dp_accountant *accountant, int64_t laps);

#endif
