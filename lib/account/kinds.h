/* The cost of a query: a table with one row for each kind, which all accountants use. A new kind is a row in query/query.h, a
 * row here and its formula. Epsilon, ρ and r(α) are in nats and upper bounds, rounded up; all functions are pure.
 *
 * A missing entry (NULL) follows from the kind's epsilon: randomised response with that epsilon dominates every epsilon-DP
 * mechanism. A pure kind therefore needs only that one formula. */
#pragma once

#include "base/err.h"
#include "priv/pld.h"
#include "query/query.h"

struct dp_kind_cost {
    /* The query's epsilon if it is epsilon-DP by itself; otherwise NULL. */
    double (*epsilon)(const struct dp_query *query);
    /* out[i] = r(orders[i]) of one query on every row. NULL: the curve of its epsilon (priv/pure.h). */
    void (*curve)(const struct dp_query *query, const double *orders, size_t n, double *out);
    /* ρ of zero-concentrated DP. NULL: the ρ of its epsilon (priv/zcdp.h). */
    double (*rho)(const struct dp_query *query);
    /* The pair of distributions that dominates it on every row, as a part of a privacy loss distribution: DP_PLD_GAUSSIAN or
       DP_PLD_LAPLACE of its multiplier, or DP_PLD_PURE of its epsilon. */
    enum dp_pld_kind pair;
    /* The pair costs exactly as much as the query: a lower bound on the pair's cost is a lower bound on the query's. */
    bool exact;
    /* The query's curve is, or bounds, the curve of one pair whose members an involution exchanges (priv/joint.h). */
    bool symmetric;
    /* The query is only valid on one number, because its sensitivity is in L1, and a record's in L2. These are equal for one
     * number. */
    bool one_number;
    /* The query's δ(ε) on every row, ε ≥ 0, for the accountant of one lap (account/profile.h). NULL: no such formula. */
    double (*delta)(const struct dp_query *query, double epsilon);
};

extern const struct dp_kind_cost dp_kinds[DP_QUERY_KIND_COUNT];

/* The epsilon of the query as a pure mechanism; infinite if it is not pure. */
double dp_kind_epsilon(const struct dp_query *query);

/* Its ρ; infinite if none is known. */
double dp_kind_rho(const struct dp_query *query);

/* Its r(α) on every row. DP_E_RUN: it has no curve; DP_QUERY_NONE is the only such kind. */
int dp_kind_curve(const struct dp_query *query, const double *orders, size_t n, double *out, struct dp_err *err);

static inline bool dp_kind_is_gaussian(const struct dp_query *query)
{
    return dp_kinds[query->kind].pair == DP_PLD_GAUSSIAN;
}

static inline bool dp_kind_has_rho(const struct dp_query *query)
{
    return dp_kinds[query->kind].rho != NULL || dp_kinds[query->kind].epsilon != NULL;
}

/* Whether the query is Gaussian or pure, so that it has a pair of distributions. */
static inline bool dp_kind_has_pair(const struct dp_query *query)
{
    return dp_kind_is_gaussian(query) || dp_kinds[query->kind].epsilon != NULL;
}

/* Whether a lap with this query has some (ε, δ). */
static inline bool dp_kind_has_guarantee(const struct dp_query *query)
{
    return dp_kind_has_pair(query) || dp_kinds[query->kind].delta != NULL;
}
