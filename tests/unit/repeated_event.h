/* Events of draws within a lap. */
#pragma once

#include "account/event.h"

/* One Gaussian query on the result of that many draws within the lap. */
static inline struct dp_event repeated_event(double rate, int64_t draws, double contraction, double multiplier)
{
    struct dp_event event = dp_event_gaussian(DP_SAMPLING_REPEATED, rate, multiplier, 0);
    event.draws = draws;
    event.contraction = contraction;
    return event;
}
