/* The privacy profile of one lap whose δ(ε) has a formula, without composition. Laps with a profile:
 *   every row is in the lap    a kind of query with a profile (account/kinds.h), exact to rounding
 *   many draws within the lap  Gaussian noise on their result (priv/repeated.h), whose grid costs about 1e-3 of ε at most */
#pragma once

#include "account/event.h"

/* The one event of the charges, if they are one lap of one event that has a profile; else NULL. */
const struct dp_event *dp_profile_event(const struct dp_charges *charges);

/* δ(epsilon) of one lap of an event that has a profile, rounded up, at most 1. epsilon ≥ 0. */
double dp_profile_delta(const struct dp_event *event, double epsilon);

/* The smallest ε ≥ 0 on a grid of relative spacing 2^-33 with δ(ε) ≤ delta. 0 < delta < 1; infinite if no ε below 1e9 will
   do. */
double dp_profile_epsilon(const struct dp_event *event, double delta);

/* The same for one query on every row, for accountants that add up (ε, δ). The query's kind must have a profile. */
double dp_profile_query_epsilon(const struct dp_query *query, double delta);
