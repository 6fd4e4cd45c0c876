/* x^n, n ≥ 0, by squaring. Only products, so the same bytes on every machine, which pow() of C libraries does not give. */
#pragma once

#include "base/c.h"

static inline double dp_power(double x, int64_t n)
{
    double power = 1;
    for (; n > 0; n /= 2, x *= x)
        power *= n % 2 == 1 ? x : 1;
    return power;
}
