/* What a run needs at least: a budget that pays for one lap of each of its kinds. */
#ifndef DP_GATE_LEAST_H
#define DP_GATE_LEAST_H

#include "gate/spend.h"

/* `once` is one lap of each of `kinds` kinds of a run that is to be charged by `spend`, which has charged nothing yet.
   DP_E_BUDGET, with the smallest budget of three digits that would do: its own does not pay for them. That budget has been
   asked in the same way: the filter at the order that it has, the best accountant, or, of a plan too long to be searched, its
   meter. */
int dp_least_check(const struct dp_spend *spend, const struct dp_charges *once, int kinds, struct dp_err *err);

#endif
