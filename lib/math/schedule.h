/* Public schedules b_1 … b_T > 0, fixed before the run. A scheduled step size is eta/b_t, scheduled noise is alpha_t ∝ √b_t
 * (ADP-SGD: alpha_t² ∝ b_t): the noise of a smaller step matters less.
 *
 *   constant      b_t = 1
 *   inverse       b_t = t
 *   sqrt:A:C      b_t = √(A + C t), A + C > 0, C ≥ 0
 *   linear[:E]    1/b_t falls linearly in √t from 1 at t = 1 to E at t = T + 1        (0 ≤ E ≤ 1, default 0)
 *   linear-decay[:E]  1/b_t = 1 − (1 − E)(t − 1)/T: falls linearly in t from 1 at t = 1 to E at t = T + 1
 *   cosine[:E]    1/b_t = E + (1 − E)(1 + cos(π (t − 1)/T))/2 = E + (1 − E) c², c = cos(π (t − 1)/(2T)) rounded to float,
 *                 because the last bits of cos depend on the machine
 *   first:K:B     b_t = B while t ≤ K, and 1 from then on              (K ≥ 1 whole, B > 0)
 *   anything else is the name of a file with b_t, one number per line (data/schedule_file.h)
 *
 * Paper: Wu et al., "Adaptive differentially private empirical risk minimization" (ADP-SGD), 2021. */
#pragma once

#include "base/err.h"

enum dp_schedule_kind {
    DP_SCHEDULE_CONSTANT,
    DP_SCHEDULE_INVERSE,
    DP_SCHEDULE_SQRT,
    DP_SCHEDULE_LINEAR,
    DP_SCHEDULE_LINEAR_DECAY,
    DP_SCHEDULE_COSINE,
    DP_SCHEDULE_FIRST,
    DP_SCHEDULE_TABLE
};

struct dp_schedule {
    enum dp_schedule_kind kind;
    double a, c;   /* sqrt: A and C; linear, linear-decay, cosine: a is E; first: K and B */
    double *value; /* table: `count` values b_1 …, owned */
    size_t count;
};

/* Parses a schedule in one of the forms above. DP_OK; 1 if text begins with none of their names (then it names a file, and
   *schedule is not set); DP_E_USAGE with a sentence that begins with `option` ("--schedule"). */
int dp_schedule_parse(struct dp_schedule *schedule, const char *option, const char *text, struct dp_err *err);

void dp_schedule_free(struct dp_schedule *schedule);

/* Checks that the schedule covers laps 1 … laps. DP_E_RUN: a table is too short, or the form needs the number of laps and laps
   is 0. */
int dp_schedule_check(const struct dp_schedule *schedule, const char *option, int64_t laps, struct dp_err *err);

/* b_t of a run of `laps` laps, 1 ≤ t ≤ laps. dp_schedule_check must have accepted the schedule. */
double dp_schedule_at(const struct dp_schedule *schedule, int64_t t, int64_t laps);

/* alpha_t/alpha_1 = √(b_t/b_1): the factor of the noise multiplier in lap t. */
double dp_schedule_noise(const struct dp_schedule *schedule, int64_t t, int64_t laps);
