#include "account/kinds.h"

#include "priv/mixture.h"
#include "priv/objective.h"
#include "priv/pure.h"
#include "priv/rdp.h"
#include "priv/sparse_vector.h"
#include "priv/zcdp.h"

/* Raised by more than the rounding error of the quotient. */
static double inverse(const struct dp_query *query)
{
    double quotient = 1 / query->multiplier;
    return fma(quotient, query->multiplier, -1) == 0 ? quotient : (1 + 0x1p-51) / query->multiplier;
}

static double given(const struct dp_query *query)
{
    return query->epsilon;
}

static double threshold_and_query(const struct dp_query *query)
{
    return (query->epsilon + 2 * query->query_epsilon) * (1 + 0x1p-51);
}

static void gaussian(const struct dp_query *query, const double *orders, size_t n, double *out)
{
    dp_rdp_gaussian(query->multiplier, orders, n, out);
}

static double gaussian_rho(const struct dp_query *query)
{
    return dp_zcdp_gaussian(query->multiplier);
}

static void laplace(const struct dp_query *query, const double *orders, size_t n, double *out)
{
    dp_rdp_laplace(query->multiplier, orders, n, out);
}

static void exponential(const struct dp_query *query, const double *orders, size_t n, double *out)
{
    dp_rdp_exponential(query->epsilon, orders, n, out);
}

static double exponential_rho(const struct dp_query *query)
{
    return dp_zcdp_exponential(query->epsilon);
}

/* The noise is on the grid of the losses, which has at least this many points per unit of sensitivity (dp_grid_for). A finer
   grid costs less (priv/sparse_vector.h), and so does noise on the reals. */
enum { LEAST_STEPS = 1 << 20 };

static void sparse_laplace(const struct dp_query *query, const double *orders, size_t n, double *out)
{
    dp_rdp_sparse_vector_laplace(query->epsilon, query->query_epsilon, LEAST_STEPS, query->most, orders, n, out);
}

/* The split 1:2 of priv/sparse_vector.h, rounded down. */
static void sparse_gaussian(const struct dp_query *query, const double *orders, size_t n, double *out)
{
    dp_rdp_sparse_vector_gaussian(sqrt(1.5 / query->rho) * (1 - 1e-15), sqrt(3 / query->rho) * (1 - 1e-15), query->most, orders,
                                  n, out);
}

static struct dp_objective objective_of(const struct dp_query *query)
{
    return (struct dp_objective){query->objective, query->multiplier, query->curvature, query->vertices};
}

static void objective(const struct dp_query *query, const double *orders, size_t n, double *out)
{
    struct dp_objective of = objective_of(query);
    dp_objective_curve(&of, orders, n, out);
}

static double objective_delta(const struct dp_query *query, double epsilon)
{
    struct dp_objective of = objective_of(query);
    return dp_objective_delta(&of, epsilon);
}

/* No order bounds it: with probability named_delta a text of one person is named, with probability delta anything is. */
static void unbounded(const struct dp_query *query, const double *orders, size_t n, double *out)
{
    (void)query, (void)orders;
    for (size_t i = 0; i < n; i++)
        out[i] = (double)INFINITY;
}

static double stated_rho(const struct dp_query *query)
{
    return query->rho;
}

/* αρ, by the definition of ρ-zCDP. */
static void zcdp(const struct dp_query *query, const double *orders, size_t n, double *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = orders[i] * query->rho * (1 + 0x1p-51);
}

/* Except with probability named_delta, it is a function of the Gaussian mechanism on the texts of the others. */
static double threshold_delta(const struct dp_query *query, double epsilon)
{
    double gaussian = exp(dp_gaussian_log_delta(epsilon, (1 + 0x1p-51) / query->multiplier));
    return fmin(1, (gaussian + query->named_delta) * (1 + 1e-12));
}

/* clang-format off */
#define ROWS(X)                                                                                                                \
    /*                           epsilon              curve            rho           pair             exact  symm.  one n. profile */ \
    X(DP_QUERY_NONE,             NULL,                NULL,            NULL,         DP_PLD_PURE,     false, false, false, NULL) \
    X(DP_QUERY_GAUSSIAN,         NULL,                gaussian,        gaussian_rho, DP_PLD_GAUSSIAN, true,  true,  false, NULL) \
    X(DP_QUERY_CORRELATED,       NULL,                gaussian,        gaussian_rho, DP_PLD_GAUSSIAN, true,  true,  false, NULL) \
    X(DP_QUERY_LAPLACE,          inverse,             laplace,         NULL,         DP_PLD_LAPLACE,  true,  true,  true,  NULL) \
    /* Randomised response costs more than either of these two, unless the sensitivity is one step of the grid. */             \
    X(DP_QUERY_DISCRETE_LAPLACE, inverse,             NULL,            NULL,         DP_PLD_PURE,     false, true,  true,  NULL) \
    X(DP_QUERY_LAPLACE_COUNTS,   inverse,             NULL,            NULL,         DP_PLD_PURE,     false, true,  false, NULL) \
    X(DP_QUERY_GAMMA,            inverse,             NULL,            NULL,         DP_PLD_PURE,     false, true,  false, NULL) \
    X(DP_QUERY_PURE,             given,               NULL,            NULL,         DP_PLD_PURE,     true,  true,  false, NULL) \
    X(DP_QUERY_EXPONENTIAL,      given,               exponential,     exponential_rho, DP_PLD_PURE,  false, false, false, NULL) \
    X(DP_QUERY_COUNTS,           given,               NULL,            NULL,         DP_PLD_PURE,     false, true,  false, NULL) \
    X(DP_QUERY_SPARSE_LAPLACE,   threshold_and_query, sparse_laplace,  NULL,         DP_PLD_PURE,     false, false, false, NULL) \
    X(DP_QUERY_SPARSE_GAUSSIAN,  NULL,                sparse_gaussian, NULL,         DP_PLD_PURE,     false, false, false, NULL) \
    X(DP_QUERY_OBJECTIVE,        NULL,                objective,       NULL,         DP_PLD_PURE,     false, false, false, objective_delta) \
    X(DP_QUERY_GAUSSIAN_THRESHOLD, NULL,              unbounded,       NULL,         DP_PLD_PURE,     false, false, false, threshold_delta) \
    X(DP_QUERY_STATED,           NULL,                unbounded,       NULL,         DP_PLD_PURE,     false, false, false, NULL) \
    X(DP_QUERY_ZCDP,             NULL,                zcdp,            stated_rho,   DP_PLD_PURE,     false, false, false, NULL)
/* clang-format on */

#define ROW(kind, ...) [kind] = {__VA_ARGS__},
const struct dp_kind_cost dp_kinds[DP_QUERY_KIND_COUNT] = {ROWS(ROW)};

#define SEEN(kind, ...) | 1u << (kind)
_Static_assert((0u ROWS(SEEN)) == (1u << DP_QUERY_KIND_COUNT) - 1, "a row for each kind of query");

double dp_kind_epsilon(const struct dp_query *query)
{
    const struct dp_kind_cost *kind = &dp_kinds[query->kind];
    return kind->epsilon != NULL ? kind->epsilon(query) : INFINITY;
}

double dp_kind_rho(const struct dp_query *query)
{
    const struct dp_kind_cost *kind = &dp_kinds[query->kind];
    return kind->rho != NULL ? kind->rho(query) : dp_zcdp_pure(dp_kind_epsilon(query));
}

int dp_kind_curve(const struct dp_query *query, const double *orders, size_t n, double *out, struct dp_err *err)
{
    const struct dp_kind_cost *kind = &dp_kinds[query->kind];
    if (kind->curve == NULL && kind->epsilon == NULL)
        return dp_fail(err, DP_E_RUN, "a query without noise has no bound");
    if (kind->curve != NULL)
        kind->curve(query, orders, n, out);
    else
        dp_rdp_pure(kind->epsilon(query), orders, n, out);
    return DP_OK;
}
