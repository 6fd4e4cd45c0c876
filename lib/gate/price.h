/* What a lap of an event costs a run whose laps follow what was released: at the order of its filter, and as a paper claims.
 * Most laps are like one of the few before them, and a search takes milliseconds to charge, so prices are kept. */
#ifndef DP_GATE_PRICE_H
#define DP_GATE_PRICE_H

#include <stdbool.h>

#include "account/claimed.h"

struct dp_price {
    struct dp_event event;
    double r;                          /* r(order), an upper bound; infinite where the event has no curve */
    double claimed[DP_CLAIMED_ORDERS]; /* zeros unless asked for */
};

struct dp_prices;

/* claims: each price has what is claimed, too. The caller frees it. */
int dp_prices_new(struct dp_prices **prices, double order, bool claims, struct dp_err *err);
void dp_prices_free(struct dp_prices *prices);

/* *price is valid until the next call. DP_E_RUN as dp_event_curve. */
int dp_price_of(struct dp_prices *prices, const struct dp_event *event, const struct dp_price **price, struct dp_err *err);

#endif
