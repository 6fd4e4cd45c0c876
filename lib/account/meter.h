/* The cost of a run so far, by Rényi DP at every order of priv/rdp.h (and the mixture of priv/mixture.h for one event with a
 * visible batch), fast enough to ask after each lap. It is always computed from how often each event
 * ran, never by adding laps one by one, so that the same run always gives the same bits. Epsilon is in nats and an upper
 * bound. */
#pragma once

#include "account/event.h"

struct dp_meter;

/* An empty meter; the caller frees it. DP_E_RUN unless 0 < delta < 1. */
int dp_meter_new(struct dp_meter **meter, double delta, struct dp_err *err);
void dp_meter_free(struct dp_meter *meter);

/* The same charges at another delta, 0 < delta < 1. Takes no time: the curves stay. */
void dp_meter_at(struct dp_meter *meter, double delta);

/* Adds laps (0 or more) of an event. The curve of a new event takes about 2 ms; further laps take no time. The laps of shuffled
 * epochs continue each other. DP_E_RUN: the event has no curve. */
int dp_meter_charge(struct dp_meter *meter, const struct dp_event *event, int64_t laps, struct dp_err *err);

/* Removes all laps; the curves stay. */
void dp_meter_clear(struct dp_meter *meter);

/* Epsilon of all charges, min_α Σ times · r(α) + penalty(α, δ), rounded up: 0 for nothing, infinite if nothing bounds the loss.
   Under a microsecond per event; about a millisecond for a visible batch. */
double dp_meter_epsilon(const struct dp_meter *meter);
