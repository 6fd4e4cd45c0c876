/* The angle between two vectors. */
#pragma once

#include "base/c.h"

/* In radians, from 0 to pi: 2 atan2(‖a/‖a‖ − b/‖b‖‖, ‖a/‖a‖ + b/‖b‖‖), accurate to some 1e-15; the arc cosine of a product is
 * off by 1e-8 (Kahan, 2006, "How futile are mindless assessments of roundoff", section 12). Lengths neither overflow nor
 * vanish. A vector of zeros, or one that is not finite, has no direction: its angle to all others is pi/2. */
double dp_angle(const double *a, const double *b, size_t count);
