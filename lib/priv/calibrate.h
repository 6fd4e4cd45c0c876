/* The noise a budget asks for. */
#ifndef DP_PRIV_CALIBRATE_H
#define DP_PRIV_CALIBRATE_H

#include "priv/accountant.h"

/* The smallest noise multiplier, to nine significant digits and rounded up, with which `laps` events like *event cost at
   most epsilon at delta. What is returned has been asked of the accountant again: it meets the target as printed.
   event->multiplier is not read. DP_E_RUN when nothing between 1e-3 and 1e9 does. */
int dp_calibrate_multiplier(enum dp_accountant_kind kind, const struct dp_event *event, int64_t laps, double epsilon,
                            double delta, double *multiplier, struct dp_err *err);

/* value as a decimal of `digits` significant digits, not below it. */
double dp_round_up(double value, int digits);

#endif
