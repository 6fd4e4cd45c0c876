/* Budgets that protect hardly anybody, however exactly they are kept. */
#pragma once

#include "base/err.h"

#define DP_WEAK_EPSILON 10 /* above this, little is hidden */

/* dp_weak_check(epsilon, delta, rows, allow, say, self, err): refuses epsilon > DP_WEAK_EPSILON and delta ≥ 1/rows.
 *
 * allow  the user wants it (--allow-weak): then nothing is refused, and say(self, sentence) is called for each doubt. say may be
 *        NULL.
 * rows   rows or persons; 0: unknown.
 * DP_E_UNSAFE: refused. */
int dp_weak_check(double epsilon, double delta, int64_t rows, bool allow, void (*say)(void *self, const char *sentence),
                  void *self, struct dp_err *err);
