/* The smallest budget of a run: one that pays for one lap of each of its kinds. */
#pragma once

#include "gate/spend.h"

/* Checks that the budget of a run pays for `once`, one lap of each of its `kinds` kinds. spend will charge the run and has
   charged nothing yet. DP_E_BUDGET: it does not; err names the smallest sufficient budget of three digits, by the filter, the
   best accountant or, if the plan is too long to be searched, the meter. */
int dp_least_check(const struct dp_spend *spend, const struct dp_charges *once, int kinds, struct dp_err *err);
