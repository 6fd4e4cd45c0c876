/* The noise a budget asks for. */
#ifndef DP_PRIV_CALIBRATE_H
#define DP_PRIV_CALIBRATE_H

#include "priv/accountant.h"

/* The smallest noise multiplier, to within 1e-6 of itself, with which `laps` events like *event cost at most
 * epsilon at delta; event->multiplier is not read. It is a decimal of nine significant digits, and the double
 * its text reads back as, rounded up. The same accountant, asked again about it or about any multiplier
 * within 1e-12 of it (it may have gone through a product and a quotient), never answers more than epsilon. At
 * least 0.001. DP_E_RUN when nothing up to 1e9 meets the target, and as dp_accountant_new. */
int dp_calibrate_multiplier(enum dp_accountant_kind kind, const struct dp_event *event, int64_t laps,
                            double epsilon, double delta, double *multiplier, struct dp_err *err);

/* The smallest decimal of `digits` significant digits (1 to 15) that is not below value. Zero and what is not
   finite come back as they are. */
double dp_round_up(double value, int digits);

#endif
