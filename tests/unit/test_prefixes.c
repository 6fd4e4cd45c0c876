/* Epsilon along a run: between the bounds of each prefix by itself, never falling, and at its end the whole run's epsilon. */
#include "unit.h"

#include "account/account.h"
#include "account/prefixes.h"

static struct dp_answer best_of(const struct dp_plan *plan, int64_t laps, double delta)
{
    struct dp_charges charges = {0};
    struct dp_answer answer;
    assert_int_equal(dp_plan_charges(plan, laps, &charges, NULL), DP_OK);
    assert_int_equal(dp_account_epsilon(DP_ACCOUNTANT_BEST, &charges, delta, &answer, NULL), DP_OK);
    dp_charges_free(&charges);
    return answer;
}

/* Checks n laps, then only the first `fewer` of them: epsilon is not below the truth, and at most `loose` times the best
   accountant's answer for the same laps. */
static void holds(const struct dp_plan *plan, const int64_t *laps, size_t n, size_t fewer, double delta, double loose)
{
    double epsilon[64];
    struct dp_answer own[64];
    for (size_t i = 0; i < n; i++)
        own[i] = best_of(plan, laps[i], delta);
    for (size_t count = n; count > 0; count = count > fewer ? fewer : 0) {
        assert_int_equal(dp_account_prefixes(plan, laps, count, delta, epsilon, NULL), DP_OK);
        for (size_t i = 0; i < count; i++) {
            assert_true(epsilon[i] >= own[i].lower);
            assert_true(epsilon[i] <= own[i].upper * loose);
            assert_true(i == 0 || epsilon[i] >= epsilon[i - 1]);
        }
        assert_true(epsilon[count - 1] == own[count - 1].upper);
    }
}

TEST(constant_runs)
{
    static const int64_t laps[] = {1, 7, 611, 2441, 2442};
    enum { N = sizeof laps / sizeof *laps };
    const struct {
        struct dp_event event;
        double delta, loose;
    } runs[] = {
        {dp_event_gaussian(DP_SAMPLING_POISSON, 100.0 / 24420, 1, 0), 1e-5, 1.002},
        {dp_event_gaussian(DP_SAMPLING_POISSON, 0.01, 4, 0), 1e-12, 1.002},
        {dp_event_gaussian(DP_SAMPLING_SUBSTITUTED, 0.01, 2, 0), 1e-6, 1.002},
        {dp_event_gaussian(DP_SAMPLING_NONE, 1, 20, 0), 1e-6, 1},
        {dp_event_gaussian(DP_SAMPLING_SHUFFLED, 0.01, 5, 100), 1e-6, 1},
        {dp_event_gaussian(DP_SAMPLING_VISIBLE, 0.01, 5, 0), 1e-6, 1},
        {{.sampling = DP_SAMPLING_POISSON, .rate = 0.01, .queries = 1, .query = {{.kind = DP_QUERY_LAPLACE, .multiplier = 3}}},
         1e-6,
         1.01},
        {{.sampling = DP_SAMPLING_POISSON,
          .rate = 0.01,
          .queries = 1,
          .query = {{.kind = DP_QUERY_SPARSE_GAUSSIAN, .rho = 0.01, .most = 5}}},
         1e-6,
         1},
    };
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        struct dp_plan plan = {0};
        err = (struct dp_err){0};
        assert_int_equal(dp_plan_add(&plan, &runs[i].event, laps[N - 1], &err), DP_OK);
        holds(&plan, laps, N, 0, runs[i].delta, runs[i].loose);
        holds(&plan, laps + 2, 1, 0, runs[i].delta, 1);
        dp_plan_free(&plan);
    }
}

TEST(planned_runs)
{
    enum { LAPS = 600, N = 5 };
    double z[LAPS];
    int64_t laps[N];
    struct dp_event coins = dp_event_gaussian(DP_SAMPLING_POISSON, 0.02, 1, 0);
    struct dp_event epochs = dp_event_gaussian(DP_SAMPLING_SHUFFLED, 0.02, 1, 50);
    for (int64_t i = 0; i < N; i++)
        laps[i] = LAPS * (i + 1) / N - (i < N - 1 ? i : 0);
    for (int kind = 0; kind < 3; kind++) { /* increasing noise, decreasing noise, and alternating noise */
        struct dp_plan plan = {0}, shuffled = {0};
        for (int t = 0; t < LAPS; t++)
            z[t] = kind == 0 ? 1 + 0.1 * (t / 50) : kind == 1 ? 2 - 0.1 * (t / 60) : 1 + t * 37 % 10;
        assert_int_equal(dp_plan_add_scheduled(&plan, &coins, z, LAPS, &err), DP_OK);
        assert_int_equal(dp_plan_add_scheduled(&shuffled, &epochs, z, LAPS, &err), DP_OK);
        /* also a plan cut short by its budget: laps with some noise scales will not come */
        holds(&plan, laps, N, N / 2, 1e-6, 1.02);
        holds(&shuffled, laps, N, N / 2, 1e-6, 1);
        dp_plan_free(&plan);
        dp_plan_free(&shuffled);
    }
}

/* A run with one lap of all rows and then samples; and a run in which the two take turns. */
TEST(laps_of_several_kinds)
{
    enum { N = 6 };
    static const int64_t laps[N] = {1, 2, 9, 40, 150, 201};
    struct dp_event moments = dp_event_gaussian(DP_SAMPLING_NONE, 1, 20, 0),
                    coins = dp_event_gaussian(DP_SAMPLING_POISSON, 0.02, 1.5, 0);
    struct dp_plan once = {0}, turns = {0};
    assert_int_equal(dp_plan_add(&once, &moments, 1, &err), DP_OK);
    assert_int_equal(dp_plan_add(&once, &coins, 200, &err), DP_OK);
    for (int i = 0; i < 201; i++)
        assert_int_equal(dp_plan_add(&turns, i % 2 ? &moments : &coins, 1, &err), DP_OK);
    holds(&once, laps, N, 0, 1e-6, 1.03);
    holds(&turns, laps, N, N / 2, 1e-6, 1.03);
    dp_plan_free(&once);
    dp_plan_free(&turns);
}

/* Rows that are not computed get a later row's bound. */
TEST(many_events_in_turns)
{
    enum { LAPS = 2000, N = 20 };
    double z[LAPS], epsilon[N];
    int64_t laps[N];
    struct dp_event coins = dp_event_gaussian(DP_SAMPLING_POISSON, 0.02, 1, 0);
    struct dp_plan plan = {0};
    for (int t = 0; t < LAPS; t++)
        z[t] = 1 + (double)(t * 37 % 100) / 100;
    for (int64_t i = 0; i < N; i++)
        laps[i] = LAPS * (i + 1) / N;
    assert_int_equal(dp_plan_add_scheduled(&plan, &coins, z, LAPS, &err), DP_OK);
    assert_int_equal(dp_account_prefixes(&plan, laps, N, 1e-6, epsilon, &err), DP_OK);
    for (size_t i = 0; i < N; i += 9) {
        struct dp_answer own = best_of(&plan, laps[i], 1e-6);
        struct dp_answer later = best_of(&plan, laps[i + 8 < N ? i + 8 : N - 1], 1e-6);
        assert_true(epsilon[i] >= own.lower && epsilon[i] <= 1.01 * later.upper);
    }
    dp_plan_free(&plan);
}

TEST(refused)
{
    double z[10], epsilon[3];
    struct dp_event event = dp_event_gaussian(DP_SAMPLING_POISSON, 0.02, 1, 0);
    struct dp_plan plan = {0};
    for (int t = 0; t < 10; t++)
        z[t] = 1 + t;
    assert_int_equal(dp_plan_add_scheduled(&plan, &event, z, 10, &err), DP_OK);
    assert_fails(dp_account_prefixes(&plan, (int64_t[]){1, 5, 11}, 3, 1e-5, epsilon, &err), DP_E_RUN,
                 "lap 11 is beyond the 10 laps that were planned");
    assert_int_equal(dp_account_prefixes(&plan, (int64_t[]){5, 5}, 2, 1e-5, epsilon, &err), DP_E_RUN);
    assert_int_equal(dp_account_prefixes(&plan, (int64_t[]){0, 5}, 2, 1e-5, epsilon, &err), DP_E_RUN);
    assert_int_equal(dp_account_prefixes(&plan, (int64_t[]){1, 5}, 2, 1, epsilon, &err), DP_E_RUN);
    dp_plan_free(&plan);
}

TESTS(NULL, NULL)
