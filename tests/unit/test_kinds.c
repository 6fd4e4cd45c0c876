/* The cost of each kind of query: the columns of the table against its formulas, and against each other. */
#include "charges.h"

#include "account/curve.h"
#include "account/kinds.h"
#include "account/solve.h"
#include "priv/pure.h"
#include "priv/rdp.h"

/* One query of each kind, its epsilon and its ρ by hand; 0: the kind does not have that figure. */
static const struct {
    struct dp_query query;
    double epsilon, rho;
    bool exact; /* the charge may be the exact cost */
} rows[] = {
    {{.kind = DP_QUERY_GAUSSIAN, .multiplier = 4}, 0, 1. / 32, true},
    {{.kind = DP_QUERY_CORRELATED, .multiplier = 4, .correlated = 5}, 0, 1. / 32, true},
    {{.kind = DP_QUERY_LAPLACE, .multiplier = 4}, 0.25, 1. / 32, true},
    {{.kind = DP_QUERY_DISCRETE_LAPLACE, .multiplier = 5}, 0.2, 0.02, false},
    {{.kind = DP_QUERY_LAPLACE_COUNTS, .multiplier = 5}, 0.2, 0.02, false},
    {{.kind = DP_QUERY_GAMMA, .multiplier = 10}, 0.1, 0.005, false},
    {{.kind = DP_QUERY_PURE, .epsilon = 0.3}, 0.3, 0.045, true},
    {{.kind = DP_QUERY_EXPONENTIAL, .epsilon = 0.4}, 0.4, 0.02, false},
    {{.kind = DP_QUERY_COUNTS, .epsilon = 0.4}, 0.4, 0.08, false},
    {{.kind = DP_QUERY_SPARSE_LAPLACE, .epsilon = 0.1, .query_epsilon = 0.2, .most = 7}, 0.5, 0.125, false},
    {{.kind = DP_QUERY_SPARSE_GAUSSIAN, .rho = 0.05, .most = 7}, 0, 0, false},
    {{.kind = DP_QUERY_OBJECTIVE, .multiplier = 1000, .objective = 4, .curvature = 0.01, .vertices = 1}, 0, 0, false},
    {{.kind = DP_QUERY_GAUSSIAN_THRESHOLD, .multiplier = 30, .named_delta = 1e-9}, 0, 0, false},
    {{.kind = DP_QUERY_STATED, .epsilon = 0.5, .delta = 1e-9}, 0, 0, false},
    {{.kind = DP_QUERY_ZCDP, .rho = 0.125}, 0, 0.125, false},
};
enum { ROWS = sizeof rows / sizeof *rows };

static void is_just_above(double value, double expected)
{
    if (expected == 0)
        assert_true(isinf(value));
    else
        assert_true(value >= expected && value <= expected * (1 + 1e-14));
}

TEST(every_kind_has_its_costs)
{
    unsigned seen = 1u << DP_QUERY_NONE;
    for (int i = 0; i < ROWS; i++) {
        is_just_above(dp_kind_epsilon(&rows[i].query), rows[i].epsilon);
        is_just_above(dp_kind_rho(&rows[i].query), rows[i].rho);
        seen |= 1u << rows[i].query.kind;
    }
    assert_int_equal(seen, (1u << DP_QUERY_KIND_COUNT) - 1);
}

/* No order costs more than the epsilon, nor more than ρα. */
TEST(curves_are_below_what_bounds_them)
{
    for (int i = 0; i < ROWS; i++) {
        double r[DP_RDP_ORDER_COUNT], e = dp_kind_epsilon(&rows[i].query), rho = dp_kind_rho(&rows[i].query);
        err = (struct dp_err){0};
        assert_int_equal(dp_kind_curve(&rows[i].query, dp_rdp_orders, DP_RDP_ORDER_COUNT, r, &err), DP_OK);
        for (int k = 0; k < DP_RDP_ORDER_COUNT; k++)
            assert_true(r[k] > 0 && r[k] <= e && r[k] <= rho * dp_rdp_orders[k] * (1 + 1e-12));
        assert_true(isinf(e) || r[DP_RDP_ORDER_COUNT - 1] > 0.9 * e);
    }
    struct dp_query none = {.kind = DP_QUERY_NONE};
    double r;
    assert_int_equal(dp_kind_curve(&none, dp_rdp_orders, 1, &r, &err), DP_E_RUN);
}

/* Searches whose noise is on the grid of their losses cost the figures of a reference computation. */
TEST(a_search_has_its_reference_figures)
{
    const struct dp_query laplace = {.kind = DP_QUERY_SPARSE_LAPLACE, .epsilon = 0.5, .query_epsilon = 0.25, .most = 30};
    const struct dp_query gaussian = {.kind = DP_QUERY_SPARSE_GAUSSIAN, .rho = 0.1, .most = 30};
    const double order[] = {2, 8};
    double r[2];
    assert_int_equal(dp_kind_curve(&laplace, order, 2, r, &err), DP_OK);
    assert_near(r[0], 0.4570, 1e-4);
    assert_near(r[1], 0.82129, 1e-4);
    assert_int_equal(dp_kind_curve(&gaussian, order, 2, r, &err), DP_OK);
    assert_near(r[0], 0.4417, 1e-4);
    assert_near(r[1], 1.0689, 1e-4);
}

/* Discrete noise costs the most if the sensitivity is one step of its grid, and nothing excludes that. */
TEST(noise_on_a_coarse_grid)
{
    const struct dp_query query = {.kind = DP_QUERY_DISCRETE_LAPLACE, .multiplier = 5};
    double charged[DP_RDP_ORDER_COUNT], cost[DP_RDP_ORDER_COUNT];
    assert_int_equal(dp_kind_curve(&query, dp_rdp_orders, DP_RDP_ORDER_COUNT, charged, &err), DP_OK);
    dp_rdp_discrete_laplace(1 / query.multiplier, 1, dp_rdp_orders, DP_RDP_ORDER_COUNT, cost);
    for (int k = 0; k < DP_RDP_ORDER_COUNT; k++)
        assert_true(charged[k] >= cost[k] * (1 - 1e-12));
}

static struct dp_answer ask(const struct dp_query *query, enum dp_sampling sampling, double rate)
{
    const struct dp_event event = {.sampling = sampling, .rate = rate, .queries = 1, .query = {*query}};
    return answer_of(DP_ACCOUNTANT_BEST, LAPS_OF(event, 20), 1e-6);
}

/* There is a lower bound only if the pair is the query's own. */
TEST(what_stands_in_has_no_lower_bound)
{
    for (int i = 0; i < ROWS; i++) {
        if (dp_query_is_statement(rows[i].query.kind) || rows[i].query.kind == DP_QUERY_CORRELATED)
            continue;
        struct dp_answer all = ask(&rows[i].query, DP_SAMPLING_NONE, 1), some = ask(&rows[i].query, DP_SAMPLING_POISSON, 0.1);
        assert_true(rows[i].exact ? all.lower > 0.99 * all.upper : all.lower == 0);
        assert_true(rows[i].exact ? some.lower > 0.99 * some.upper : some.lower == 0);
        assert_true(some.upper < all.upper);
    }
}

/* A row exchanged for another on a sample: every pure query is covered, by its sampled epsilon. */
TEST(whatever_is_pure_may_be_exchanged)
{
    for (int i = 0; i < ROWS; i++) {
        const double e = rows[i].epsilon;
        struct dp_event event = {.sampling = DP_SAMPLING_SUBSTITUTED, .rate = 0.1, .queries = 1, .query = {rows[i].query}};
        err = (struct dp_err){0};
        double r, order = 8192;
        int rc = dp_event_curve(&event, &order, 1, &r, &err);
        if (e > 0)
            assert_true(rc == DP_OK && r > 0.9 * log1p(0.1 * expm1(e)) && r <= log1p(0.1 * expm1(e)) * (1 + 1e-12) &&
                        ask(&rows[i].query, DP_SAMPLING_SUBSTITUTED, 0.1).upper > 0);
        else
            assert_int_equal(rc, rows[i].query.kind == DP_QUERY_GAUSSIAN ? DP_OK : DP_E_RUN);
    }
}

/* A threshold has the δ of its Gaussian and of its names, by itself and next to other charges. */
TEST(names_cost_delta)
{
    const struct dp_query named = {.kind = DP_QUERY_GAUSSIAN_THRESHOLD, .multiplier = 20, .named_delta = 5e-7};
    const struct dp_query plain = {.kind = DP_QUERY_GAUSSIAN, .multiplier = 20};
    struct dp_charge charge[2] = {{{.sampling = DP_SAMPLING_NONE, .rate = 1, .queries = 1, .query = {named}}, 1},
                                  {{.sampling = DP_SAMPLING_NONE, .rate = 1, .queries = 1, .query = {plain}}, 3}};
    for (int64_t others = 0; others <= 3; others += 3) {
        const struct dp_charges charges = {.count = others > 0 ? 2 : 1, .charge = charge};
        const struct dp_answer answer = answer_of(DP_ACCOUNTANT_BEST, &charges, 1e-6);
        assert_near(answer.upper, answer_of(DP_ACCOUNTANT_BEST, LAPS_OF(charge[1].event, 1 + others), 5e-7).upper, 1e-8);
        assert_true(others == 0 || answer.lower == 0);
    }
    charge[0].laps = 2;
    assert_true(isinf(answer_of(DP_ACCOUNTANT_BEST, CHARGES_OF(charge), 1e-6).upper));
}

static struct dp_charge once(enum dp_query_kind kind, double size, double delta)
{
    struct dp_query query = {.kind = kind, .delta = delta};
    *(double *)dp_query_edit(&query, kind == DP_QUERY_GAUSSIAN ? DP_QUERY_multiplier
                                     : kind == DP_QUERY_ZCDP   ? DP_QUERY_rho
                                                               : DP_QUERY_epsilon) = size;
    return (struct dp_charge){{.sampling = DP_SAMPLING_NONE, .rate = 1, .queries = 1, .query = {query}}, 1};
}

static double best_of(struct dp_charge *charge, size_t count, double delta)
{
    return answer_of(DP_ACCOUNTANT_BEST, &(struct dp_charges){.count = count, .charge = charge}, delta).upper;
}

static double gaussian_delta(double epsilon, double mu)
{
    return 0.5 * erfc((epsilon / mu - mu / 2) / M_SQRT2) - exp(epsilon) * 0.5 * erfc((epsilon / mu + mu / 2) / M_SQRT2);
}

/* A statement of (ε, δ) is randomised response of ε, except with probability δ. One costs what it states; two add up; with
 * a Gaussian of μ, by hand, δ(e) = δ + p δ_μ(e − ε) + (1 − p) δ_μ(e + ε), p = e^ε / (1 + e^ε). */
TEST(statements_cost_what_they_state)
{
    struct dp_charge charge[3] = {once(DP_QUERY_STATED, 0.5, 1e-6), once(DP_QUERY_STATED, 0.25, 2e-6)};
    const struct dp_charges two = {.count = 2, .charge = charge};
    struct dp_answer delta;
    assert_true(best_of(charge, 1, 1e-6) == 0.5);
    assert_true(isinf(best_of(charge, 1, 9e-7)));
    assert_true(best_of(charge, 2, 3e-6) == 0.75);
    assert_int_equal(dp_solve_delta(DP_ACCOUNTANT_BEST, &two, 0.75, &delta, &err), DP_OK);
    assert_near(delta.upper, 3e-6, 1e-11);
    for (int i = 0; i < 4; i++) {
        const double mu = 0.1 + 0.3 * i, e = 0.2 + 0.4 * i, p = 1 / (1 + exp(-e)), given = 1e-5 * (1 + i);
        charge[0] = once(DP_QUERY_STATED, e, 3e-6);
        charge[1] = once(DP_QUERY_GAUSSIAN, 1 / mu, 0);
        double epsilon = best_of(charge, 2, given);
        double truth = 3e-6 + p * gaussian_delta(epsilon - e, mu) + (1 - p) * gaussian_delta(epsilon + e, mu);
        assert_true(truth <= given && truth > given * (1 - 1e-4));
        assert_int_equal(dp_solve_delta(DP_ACCOUNTANT_BEST, &two, epsilon, &delta, &err), DP_OK);
        assert_true(delta.upper >= truth * (1 - 1e-9) && delta.upper <= given * (1 + 1e-4));
    }
}

/* The curve αρ is the curve of a Gaussian with ρ = 1/(2σ²). Where only its ρ is known, a run with it costs at least
 * as much as where its noise is known, and little more. */
TEST(a_stated_rho_is_above_its_gaussian)
{
    for (int i = 0; i < 4; i++) {
        const double sigma = 2 + 3 * i, z = 1.5 + 2 * i, delta = pow(10, -4 - i);
        struct dp_charge charge[2] = {once(DP_QUERY_GAUSSIAN, sigma, 0),
                                      {dp_event_gaussian(DP_SAMPLING_POISSON, 0.05, z, 0), 100}};
        double known = best_of(charge, 2, delta), alone = best_of(charge, 1, delta);
        charge[0] = once(DP_QUERY_ZCDP, 1 / (2 * sigma * sigma), 0);
        double stated = best_of(charge, 2, delta);
        assert_true(stated > known && stated < 1.12 * known);
        assert_true(best_of(charge, 1, delta) > alone && best_of(charge, 1, delta) < 1.12 * alone);
    }
}

/* Nothing is known of a sample, and nothing of what else was asked of it. */
TEST(statements_are_not_sampled)
{
    struct dp_charge charge = once(DP_QUERY_ZCDP, 0.1, 0);
    assert_int_equal(dp_event_check(&charge.event, &err), DP_OK);
    charge.event.sampling = DP_SAMPLING_POISSON;
    assert_fails(dp_event_check(&charge.event, &err), DP_E_RUN,
                 "a release of another tool (zcdp) is not sampled, and is the only query of its event");
    charge.event.sampling = DP_SAMPLING_NONE;
    charge.event.query[charge.event.queries++] = rows[0].query;
    assert_int_equal(dp_event_check(&charge.event, &err), DP_E_RUN);
}

TESTS(NULL, NULL)
