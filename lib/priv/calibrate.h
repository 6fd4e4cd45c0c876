/* The noise a budget asks for. */
#ifndef DP_PRIV_CALIBRATE_H
#define DP_PRIV_CALIBRATE_H

#include <stdint.h>

#include "base/err.h"
#include "priv/accountant.h"

enum { DP_CALIBRATE_DIGITS = 9 };

/* The smallest decimal of `digits` significant digits that is not below value > 0; 1 <= digits <= 15. The
   double returned is the one its decimal text reads back as. */
double dp_calibrate_round_up(double value, int digits);

/* The smallest noise multiplier z with which `laps` laps of the event (its own multiplier is ignored) stay
 * within (epsilon, delta), as a decimal of `digits` significant digits (1 to DP_CALIBRATE_DIGITS), rounded
 * up. With all digits it is within 1e-6 of the smallest. The same accountant, asked again about z, or about
 * any multiplier within 1e-12 of it (it may have gone through a product and a quotient), never answers more
 * than epsilon. At least 0.001. DP_E_RUN when no multiplier up to 1e8 reaches the target; DP_E_UNSAFE as
 * dp_event_check. */
int dp_calibrate_multiplier(enum dp_accountant_kind kind, const struct dp_event *event, int64_t laps,
                            double epsilon, double delta, int digits, double *multiplier, struct dp_err *err);

#endif
