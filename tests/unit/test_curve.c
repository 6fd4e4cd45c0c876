/* The Rényi curve of an event is the curve that the file of its kind computes. */
#include "unit.h"
#include "repeated_event.h"

#include "account/curve.h"
#include "account/kinds.h"
#include "priv/repeated.h"
#include "priv/joint.h"
#include "priv/pure.h"
#include "priv/rdp.h"
#include "priv/replaced.h"
#include "priv/sparse_vector.h"

static const double orders[] = {1.5, 2, 8, 31, 256};
enum { N = sizeof orders / sizeof *orders, LARGEST = 512 };

static struct dp_event event_of(enum dp_sampling sampling, int queries, struct dp_query first, struct dp_query second)
{
    return (struct dp_event){.sampling = sampling,
                             .rate = sampling == DP_SAMPLING_NONE || sampling == DP_SAMPLING_SHUFFLED ? 1 : 0.1,
                             .epoch_laps = sampling == DP_SAMPLING_SHUFFLED ? 10 : 0,
                             .queries = queries,
                             .query = {first, second}};
}

static const struct dp_query gaussian = {.kind = DP_QUERY_GAUSSIAN, .multiplier = 2},
                             loud = {.kind = DP_QUERY_GAUSSIAN, .multiplier = 3},
                             laplace = {.kind = DP_QUERY_LAPLACE, .multiplier = 4},
                             pure = {.kind = DP_QUERY_PURE, .epsilon = 0.3},
                             exponential = {.kind = DP_QUERY_EXPONENTIAL, .epsilon = 0.3},
                             svt = {.kind = DP_QUERY_SPARSE_LAPLACE, .epsilon = 0.2, .query_epsilon = 0.1, .most = 7},
                             svt_gaussian = {.kind = DP_QUERY_SPARSE_GAUSSIAN, .rho = 0.05, .most = 7};

static void is(struct dp_event event, const double *expected)
{
    double r[N];
    assert_int_equal(dp_event_curve(&event, orders, N, r, NULL), DP_OK);
    for (int i = 0; i < N; i++)
        assert_true(fabs(r[i] - expected[i]) <= 1e-12 * expected[i]);
}

/* Adds the curve of a query on every row, at each order. */
static void add(const double *at, size_t n, struct dp_query query, double *sum)
{
    double r[LARGEST + 1];
    switch (query.kind) {
    case DP_QUERY_GAUSSIAN:
        dp_rdp_gaussian(query.multiplier, at, n, r);
        break;
    case DP_QUERY_LAPLACE:
        dp_rdp_laplace(query.multiplier, at, n, r);
        break;
    case DP_QUERY_PURE:
        dp_rdp_pure(query.epsilon, at, n, r);
        break;
    case DP_QUERY_EXPONENTIAL:
        dp_rdp_exponential(query.epsilon, at, n, r);
        break;
    case DP_QUERY_SPARSE_LAPLACE:
        dp_rdp_sparse_vector_laplace(query.epsilon, query.query_epsilon, 1 << 20, query.most, at, n, r);
        break;
    case DP_QUERY_SPARSE_GAUSSIAN: /* ρ = 1/(2 z²): 1/3 for the threshold (sensitivity 1), 2/3 for a query (2) */
        dp_rdp_sparse_vector_gaussian(1 / sqrt(2 * query.rho / 3), 2 / sqrt(4 * query.rho / 3), query.most, at, n, r);
        break;
    default:
        fail();
    }
    for (size_t i = 0; i < n; i++)
        sum[i] += r[i];
}

TEST(every_row)
{
    const struct dp_query kinds[] = {gaussian, laplace, pure, svt, svt_gaussian};
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++) {
            double sum[N] = {0};
            add(orders, N, kinds[i], sum);
            add(orders, N, kinds[j], sum);
            is(event_of(DP_SAMPLING_NONE, 2, kinds[i], kinds[j]), sum);
            is(event_of(DP_SAMPLING_SHUFFLED, 2, kinds[i], kinds[j]), sum);
        }
}

TEST(one_query_on_a_sample)
{
    double r[N];
    double z[] = {2, 3}, both = dp_gaussian_joint(z, 2);
    dp_rdp_sampled_gaussian(0.1, 2, orders, N, r);
    is(event_of(DP_SAMPLING_POISSON, 1, gaussian, gaussian), r);
    dp_rdp_sampled_gaussian(0.1, both, orders, N, r);
    is(event_of(DP_SAMPLING_POISSON, 2, gaussian, loud), r);
    dp_rdp_replaced_gaussian(0.1, 2, orders, N, r);
    is(event_of(DP_SAMPLING_SUBSTITUTED, 1, gaussian, gaussian), r);
    dp_rdp_exchanged_gaussian(0.1, 2, orders, N, r);
    is(event_of(DP_SAMPLING_COINS, 1, gaussian, gaussian), r);
    dp_rdp_visible_batch(0.1, 2, orders, N, r);
    is(event_of(DP_SAMPLING_VISIBLE, 1, gaussian, gaussian), r);
    struct dp_repeated_law law;
    dp_repeated_law(&(struct dp_repeated){0.1, 300, 0.97}, &law);
    dp_rdp_repeated(&law, 2, orders, N, r);
    is(repeated_event(0.1, 300, 0.97, 2), r);
    /* Draws that are certain contract, too. */
    dp_repeated_law(&(struct dp_repeated){1, 300, 0.97}, &law);
    dp_rdp_repeated(&law, 2, orders, N, r);
    is(repeated_event(1, 300, 0.97, 2), r);
    double sampled = dp_pure_sampled(0.1, 0.3);
    dp_rdp_pure(sampled, orders, N, r);
    is(event_of(DP_SAMPLING_SUBSTITUTED, 1, pure, pure), r);
    is(event_of(DP_SAMPLING_COINS, 1, pure, pure), r);
}

static void least(const double *one, const double *other, double *out)
{
    for (int i = 0; i < N; i++)
        out[i] = fmin(one[i], other[i]);
}

/* Adds the curve that dominates a query: its own pair, or the randomised response of its epsilon. */
static void add_pair(const double *at, size_t n, struct dp_query query, double *sum)
{
    struct dp_query response = {.kind = DP_QUERY_PURE, .epsilon = query.epsilon + 2 * query.query_epsilon};
    add(at, n, query.kind == DP_QUERY_SPARSE_LAPLACE || query.kind == DP_QUERY_EXPONENTIAL ? response : query, sum);
}

/* Bounds queries on one Poisson sample as pairs, and as arbitrary mechanisms. */
static void amplified(const struct dp_query *query, int n, double *pairs, double *any)
{
    double whole[LARGEST + 1], paired[LARGEST + 1] = {0}, sum[LARGEST + 1] = {0};
    for (int l = 0; l <= LARGEST; l++)
        whole[l] = l;
    for (int i = 0; i < n; i++) {
        add_pair(whole + 2, LARGEST - 1, query[i], paired + 2);
        add(whole + 2, LARGEST - 1, query[i], sum + 2);
    }
    dp_rdp_sampled_symmetric(0.1, paired, LARGEST, orders, N, pairs);
    dp_rdp_sampled(0.1, sum, LARGEST, orders, N, any);
}

/* A pure query has its pair on the sample, or its sampled epsilon. */
TEST(pure_on_a_sample)
{
    double pairs[N], any[N], response[N], r[N];
    dp_rdp_pure(dp_pure_sampled(0.1, 0.3), orders, N, response);
    amplified(&pure, 1, pairs, any);
    least(pairs, response, r);
    is(event_of(DP_SAMPLING_POISSON, 1, pure, pure), r);
    assert_true(pairs[1] < 0.9 * response[1]); /* the sampled epsilon bounds the loss in both directions by the larger of its
                                                * two bounds */

    /* The exponential mechanism is one of these, and costs less on every row; no pair for it is known. */
    amplified(&exponential, 1, pairs, any);
    least(pairs, response, r);
    least(any, r, r);
    is(event_of(DP_SAMPLING_POISSON, 1, exponential, exponential), r);
    assert_true(r[1] == any[1] && any[1] < 0.5 * pairs[1]);

    dp_rdp_pure(dp_pure_sampled(0.1, 0.4), orders, N, response);
    amplified(&svt, 1, pairs, any);
    least(pairs, response, r);
    least(any, r, r);
    is(event_of(DP_SAMPLING_POISSON, 1, svt, svt), r);
    assert_true(r[2] < 0.9 * any[2]);

    const struct dp_query long_search = {.kind = DP_QUERY_SPARSE_LAPLACE, .epsilon = 2, .query_epsilon = 1, .most = 2};
    const struct dp_event event = event_of(DP_SAMPLING_POISSON, 1, long_search, long_search);
    amplified(&long_search, 1, pairs, any);
    assert_int_equal(dp_event_curve(&event, orders, N, r, &err), DP_OK);
    assert_true(any[1] < pairs[1] && r[1] == any[1]); /* at order 2 the factor is 1 */
}

TEST(several_on_a_sample)
{
    double pairs[N], any[N], response[N], r[N];
    struct dp_query two[] = {gaussian, laplace};
    amplified(two, 2, pairs, any);
    is(event_of(DP_SAMPLING_POISSON, 2, gaussian, laplace), pairs);
    two[1] = svt;
    amplified(two, 2, pairs, any);
    least(pairs, any, r);
    assert_true(pairs[2] < 0.9 * any[2]);
    is(event_of(DP_SAMPLING_POISSON, 2, gaussian, svt), r);
    is(event_of(DP_SAMPLING_POISSON, 2, svt, gaussian), r);
    two[0] = laplace, two[1] = pure;
    amplified(two, 2, pairs, any);
    dp_rdp_pure(dp_pure_sampled(0.1, 0.25 + 0.3), orders, N, response);
    least(pairs, response, r);
    is(event_of(DP_SAMPLING_POISSON, 2, laplace, pure), r);
    /* A sparse vector with Gaussian noise has no pair that an involution exchanges. */
    two[0] = gaussian, two[1] = svt_gaussian;
    amplified(two, 2, pairs, any);
    is(event_of(DP_SAMPLING_POISSON, 2, gaussian, svt_gaussian), any);
}

/* Amplification of a sparse vector's own curve ends at some order. Above it, the curve of its pair gives the bound. */
TEST(large_orders_have_a_bound)
{
    const struct dp_event event = event_of(DP_SAMPLING_POISSON, 2, gaussian, svt);
    double order[] = {513, 8192}, r[2];
    assert_int_equal(dp_event_curve(&event, order, 2, r, &err), DP_OK);
    assert_true(r[0] > 0 && r[1] >= r[0] && isfinite(r[1]));
}

/* Noise on a grid of 2^20 steps: losses this large reveal the grid, which the reals do not have. */
TEST(a_search_has_noise_on_a_grid)
{
    const struct dp_query query = {.kind = DP_QUERY_SPARSE_LAPLACE, .epsilon = 1e5, .query_epsilon = 1, .most = 1};
    double grid[N], real[N], charged[N];
    dp_rdp_sparse_vector_laplace(1e5, 1, 1 << 20, 1, orders, N, grid);
    dp_rdp_sparse_vector_laplace(1e5, 1, 0, 1, orders, N, real);
    assert_int_equal(dp_kind_curve(&query, orders, N, charged, &err), DP_OK);
    for (int i = 0; i < N; i++)
        assert_true(charged[i] >= grid[i]);
    assert_true(grid[1] > real[1] + 1e-4);
}

TESTS(NULL, NULL)
