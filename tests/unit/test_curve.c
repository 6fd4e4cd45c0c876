/* Which Rényi curve an event gets: that of the file which knows its kind. */
#include "unit.h"

#include <math.h>

#include "account/curve.h"
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
                             svt = {.kind = DP_QUERY_SPARSE_LAPLACE, .epsilon = 0.2, .query_epsilon = 0.1, .most = 7},
                             svt_gaussian = {.kind = DP_QUERY_SPARSE_GAUSSIAN, .rho = 0.05, .most = 7};

static void is(struct dp_event event, const double *expected)
{
    double r[N];
    struct dp_err err = {0};
    assert_int_equal(dp_event_curve(&event, orders, N, r, &err), DP_OK);
    for (int i = 0; i < N; i++)
        assert_true(fabs(r[i] - expected[i]) <= 1e-12 * expected[i]);
}

/* Of both queries on every row, at each order. */
static void add(const double *at, size_t n, struct dp_query query, double *sum)
{
    double r[LARGEST + 1];
    struct dp_err err = {0};
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
    case DP_QUERY_SPARSE_LAPLACE:
        assert_int_equal(dp_rdp_sparse_vector_laplace(query.epsilon, query.query_epsilon, 0, query.most, at, n, r, &err), 0);
        break;
    case DP_QUERY_SPARSE_GAUSSIAN: /* a third of ρ = 1/(2 z²) for the threshold, of sensitivity 1; the rest for a query, 2 */
        assert_int_equal(
            dp_rdp_sparse_vector_gaussian(1 / sqrt(2 * query.rho / 3), 2 / sqrt(4 * query.rho / 3), query.most, at, n, r, &err),
            0);
        break;
    default:
        fail();
    }
    for (size_t i = 0; i < n; i++)
        sum[i] += r[i];
}

static void every_row(void **state)
{
    (void)state;
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

static void one_query_on_a_sample(void **state)
{
    (void)state;
    double r[N];
    double z[] = {2, 3}, both = dp_gaussian_joint(z, 2);
    dp_rdp_sampled_gaussian(0.1, 2, orders, N, r);
    is(event_of(DP_SAMPLING_POISSON, 1, gaussian, gaussian), r);
    dp_rdp_sampled_gaussian(0.1, both, orders, N, r);
    is(event_of(DP_SAMPLING_POISSON, 2, gaussian, loud), r);
    dp_rdp_replaced_gaussian(0.1, 2, orders, N, r);
    is(event_of(DP_SAMPLING_REPLACED, 1, gaussian, gaussian), r);
    dp_rdp_visible_batch(0.1, 2, orders, N, r);
    is(event_of(DP_SAMPLING_VISIBLE, 1, gaussian, gaussian), r);
    dp_rdp_pure(dp_pure_sampled(0.1, 0.3), orders, N, r);
    is(event_of(DP_SAMPLING_POISSON, 1, pure, pure), r);
    is(event_of(DP_SAMPLING_REPLACED, 1, pure, pure), r);
}

static void several_on_a_sample(void **state)
{
    (void)state;
    const struct dp_query first[] = {gaussian, laplace, svt, gaussian}, second[] = {laplace, pure, gaussian, svt_gaussian};
    double whole[LARGEST + 1], r[N];
    for (int l = 0; l <= LARGEST; l++)
        whole[l] = l;
    for (int i = 0; i < 4; i++) {
        double sum[LARGEST + 1] = {0};
        add(whole + 2, LARGEST - 1, first[i], sum + 2);
        add(whole + 2, LARGEST - 1, second[i], sum + 2);
        /* A sparse vector has no pair that an involution exchanges. */
        (i < 2 ? dp_rdp_sampled_symmetric : dp_rdp_sampled)(0.1, sum, LARGEST, orders, N, r);
        is(event_of(DP_SAMPLING_POISSON, 2, first[i], second[i]), r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row),
        cmocka_unit_test(one_query_on_a_sample),
        cmocka_unit_test(several_on_a_sample),
    };
    return cmocka_run_group_tests_name("curve", tests, NULL, NULL);
}
