/* The Rényi curve of an event: r(α) of one lap of it. A selection may release its setting, too: the divergence of order
 * α of setting and trial together is
 *     r(α) = ln[mean over the settings of e^((α−1) r_setting(α))] / (α − 1),
 * never above the divergence of the worst setting. */
#pragma once

#include "account/event.h"

/* Several Gaussians on one batch are exactly one Gaussian, 1/z² = Σ 1/z_i². Sets *multiplier, rounded down, and returns true;
   false if the event has another query. */
bool dp_event_is_gaussian(const struct dp_event *event, double *multiplier);

/* out[i] = r(orders[i]), an upper bound; +infinity if none is known at that order. For shuffled epochs it is the curve of a
 * whole epoch: see dp_event_times. DP_E_RUN as dp_event_check, or if no curve exists at any order. */
int dp_event_curve(const struct dp_event *event, const double *orders, size_t n, double *out, struct dp_err *err);
