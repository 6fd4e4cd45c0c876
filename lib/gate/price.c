#include "gate/price.h"

#include <stdlib.h>

#include "account/curve.h"
#include "base/mem.h"

enum { KEPT = 8 };

struct dp_prices {
    double order;
    bool claims;
    int count, next;
    struct dp_price kept[KEPT];
};

int dp_prices_new(struct dp_prices **prices, double order, bool claims, struct dp_err *err)
{
    int rc = dp_alloc(prices, 1, sizeof **prices, err);
    if (rc == DP_OK)
        **prices = (struct dp_prices){.order = order, .claims = claims};
    return rc;
}

void dp_prices_free(struct dp_prices *prices)
{
    free(prices);
}

int dp_price_of(struct dp_prices *prices, const struct dp_event *event, const struct dp_price **price, struct dp_err *err)
{
    for (int i = 0; i < prices->count; i++) {
        *price = &prices->kept[i];
        if (dp_event_same(&(*price)->event, event))
            return DP_OK;
    }
    struct dp_price *new = &prices->kept[prices->next];
    int rc = dp_event_curve(event, &prices->order, 1, &new->r, err);
    if (rc == DP_OK && prices->claims)
        rc = dp_claimed_curve(event, new->claimed, err);
    if (rc != DP_OK) { /* the place holds nothing now */
        new->event = (struct dp_event){0};
        return rc;
    }
    new->event = *event;
    prices->next = (prices->next + 1) % KEPT;
    prices->count += prices->count < KEPT;
    *price = new;
    return DP_OK;
}
