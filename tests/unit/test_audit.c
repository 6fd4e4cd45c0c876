/* The arithmetic of dp-audit, against closed forms and exact reasoning. */
#include "unit.h"

#include <gsl/gsl_cdf.h>

#include "audit/bound.h"
#include "audit/provoke.h"
#include "audit/sampler.h"

TEST(distances)
{
    const int64_t a[] = {3, -4, 0}, b[] = {0, 0, 0}, most[] = {INT64_MAX, INT64_MAX}, least[] = {INT64_MIN, INT64_MIN};
    assert_true(dp_audit_distance2(a, b, 3) == 25);
    assert_true(dp_audit_distance2(b, a, 3) == 25);
    assert_true(dp_audit_distance2(a, a, 3) == 0);
    /* (2^64 − 1)² fits 128 bits, twice that does not */
    unsigned __int128 one = (unsigned __int128)UINT64_MAX * UINT64_MAX;
    assert_true(dp_audit_distance2(most, least, 1) == one);
    assert_true(dp_audit_distance2(least, most, 1) == one);
    assert_true(dp_audit_distance2(most, least, 2) == ~(unsigned __int128)0);
}

TEST(bounds_are_exact)
{
    assert_false(dp_audit_exceeds(9, 3, 1));
    assert_true(dp_audit_exceeds(10, 3, 1));
    assert_false(dp_audit_exceeds(9, 0.75, 0.25));
    assert_true(dp_audit_exceeds(10, 0.75, 0.25));
    assert_false(dp_audit_exceeds(6, 2.5, 1)); /* 6.25 */
    assert_true(dp_audit_exceeds(7, 2.5, 1));
    /* the double nearest to √2 is above it, its neighbour below */
    assert_false(dp_audit_exceeds(2, M_SQRT2, 1));
    assert_true(dp_audit_exceeds(2, nextafter(M_SQRT2, 0), 1));
    /* 2^20 + 1 squared, where a double would do; 2^53 + 1 squared, where it would not */
    assert_true(dp_audit_exceeds(((unsigned __int128)1 << 40) + 1, 0x1p20, 1));
    assert_false(dp_audit_exceeds((unsigned __int128)1 << 106, 0x1p53, 1));
    assert_true(dp_audit_exceeds(((unsigned __int128)1 << 106) + 1, 0x1p53, 1));
    assert_false(dp_audit_exceeds((unsigned __int128)1 << 120, 0x1p60, 1));
    assert_true(dp_audit_exceeds(((unsigned __int128)1 << 120) + 1, 0x1p60, 1));
    assert_true(dp_audit_exceeds(1, 1e-300, 1));
    assert_false(dp_audit_exceeds(0, 1e-300, 1));
}

/* Pr[Bin(n, p) ≥ k], term by term */
static double tail(int k, int n, double p)
{
    double sum = 0;
    for (int i = k; i <= n; i++)
        sum += exp(lgamma(n + 1.0) - lgamma(i + 1.0) - lgamma(n - i + 1.0) + i * log(p) + (n - i) * log1p(-p));
    return sum;
}

TEST(proportions)
{
    assert_near(dp_audit_proportion_upper(0, 50, 0.99), 1 - pow(0.01, 1 / 50.0), 1e-12);
    assert_near(dp_audit_proportion_lower(50, 50, 0.99), pow(0.01, 1 / 50.0), 1e-12);
    assert_true(dp_audit_proportion_lower(0, 50, 0.99) == 0);
    assert_true(dp_audit_proportion_upper(50, 50, 0.99) == 1);
    const int k[] = {1, 7, 30, 99}, n[] = {10, 20, 200, 100};
    for (int i = 0; i < 4; i++) {
        double low = dp_audit_proportion_lower((uint64_t)k[i], (uint64_t)n[i], 0.9995);
        double high = dp_audit_proportion_upper((uint64_t)k[i], (uint64_t)n[i], 0.9995);
        assert_near(tail(k[i], n[i], low) / 0.0005, 1, 1e-9);
        assert_near((1 - tail(k[i] + 1, n[i], high)) / 0.0005, 1, 1e-9);
    }
}

TEST(epsilons)
{
    /* all hits and no alarm in n runs, confidence 1 − 2a: TPR ≥ a^(1/n), FPR ≤ 1 − a^(1/n) */
    double root = pow(0.005, 1 / 100.0);
    assert_near(dp_audit_epsilon_lower(100, 0, 100, 0, 0.99), log(root / (1 - root)), 1e-9);
    assert_near(dp_audit_epsilon_lower(100, 0, 100, 0.1, 0.99), log((root - 0.1) / (1 - root)), 1e-9);
    /* the other direction: the test says present in all runs with the canary, and in nearly all without */
    double low = pow(0.005, 1 / 100.0), high = dp_audit_proportion_upper(60, 100, 0.995);
    assert_near(dp_audit_epsilon_lower(100, 60, 100, 0, 0.99), log((1 - high) / (1 - low)), 1e-9);
    /* guesses at chance level, or worse, prove nothing */
    assert_true(dp_audit_epsilon_lower(50, 50, 100, 0, 0.99) == 0);
    assert_true(dp_audit_epsilon_lower(0, 100, 100, 0, 0.99) == 0);
    assert_true(dp_audit_epsilon_lower(0, 0, 100, 0, 0.99) == 0);
    assert_true(dp_audit_epsilon_lower(100, 100, 100, 0, 0.99) == 0);
    assert_true(dp_audit_epsilon_lower(60, 50, 100, 0.9, 0.99) == 0);
}

TEST(unlikely_counts)
{
    /* ten coins all tails: 1/1024 = 0.00098 */
    assert_true(dp_audit_unlikely(0, 10, 0.5, 0.998));
    assert_false(dp_audit_unlikely(0, 10, 0.5, 0.9985));
    assert_true(dp_audit_unlikely(10, 10, 0.5, 0.998));
    assert_false(dp_audit_unlikely(10, 10, 0.5, 0.9985));
    assert_false(dp_audit_unlikely(5, 10, 0.5, 0.5));
    assert_false(dp_audit_unlikely(0, 0, 0.5, 0.5));
    assert_false(dp_audit_unlikely(10, 10, 1, 0.999));
    assert_true(dp_audit_unlikely(9, 10, 1, 0.999));
}

/* Laps of `size` rows from `first` on in a data set of 100 at rate 0.1. */
static int note(struct dp_audit_sampler *s, int64_t lap, int64_t first, int64_t size)
{
    int64_t id[100];
    for (int64_t i = 0; i < size; i++)
        id[i] = (first + i) % 100;
    return dp_audit_sampler_note(s, lap, id, (size_t)size, NULL);
}

/* Pr[X = k], X binomial. */
static double binomial(uint64_t k, uint64_t n, double p)
{
    double lg = lgamma((double)n + 1) - lgamma((double)k + 1) - lgamma((double)(n - k) + 1);
    return exp(lg + (double)k * log(p) + (double)(n - k) * log1p(-p));
}

/* Canaries that do not meet, each seen with Gaussian noise: guesses for all of them are right with probability Φ(μ/2), each by
   itself. By randomised response they are right with e^ε/(e^ε + 1), or always with probability δ. The bounds are above the
   truth in at most 1 − confidence of all runs, counted exactly. */
TEST(guesses_prove_no_more_than_the_truth)
{
    const double confidence = .95;
    for (uint64_t m = 10; m <= 100; m *= 10)
        for (int i = 0; i < 4; i++) {
            double mu = .25 * (i + 1), right = gsl_cdf_ugaussian_P(mu / 2), above = 0, epsilon_above = 0, epsilon = mu,
                   delta = .01;
            double answered = delta + (1 - delta) * exp(epsilon) / (1 + exp(epsilon));
            for (uint64_t k = 0; k <= m; k++) {
                if (dp_audit_guessed_mu(k, m, m, confidence) > mu)
                    above += binomial(k, m, right);
                if (dp_audit_guessed_epsilon(k, m, m, delta, confidence) > epsilon)
                    epsilon_above += binomial(k, m, answered);
            }
            assert_true(above <= 1 - confidence);
            assert_true(epsilon_above <= 1 - confidence);
        }
}

/* Values of tests/vectors/make-guesses.py, which solves the linear program that is behind the recursion. */
TEST(guesses_prove_what_a_linear_program_does)
{
    static const struct {
        uint64_t correct, guesses, canaries;
        double delta, epsilon;
    } rows[] = {{10, 10, 10, 0, 1.0518732},
                {10, 10, 10, 0.001, 1.0444757},
                {30, 40, 40, 0, 0.4413747},
                {30, 40, 40, 0.01, 0.3456320},
                {38, 40, 200, 0.001, 1.6928403},
                {75, 100, 500, 0.0001, 0.6839173},
                {24, 40, 40, 0, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_near(dp_audit_guessed_epsilon(rows[i].correct, rows[i].guesses, rows[i].canaries, rows[i].delta, .95),
                    rows[i].epsilon, 2e-6);
    assert_near(dp_audit_guessed_mu(5, 10, 10, .95), 0, 1e-9);
    assert_true(dp_audit_guessed_mu(200, 200, 1000, .95) > dp_audit_guessed_mu(150, 200, 1000, .95));
}

TEST(samplers_that_contradict_themselves)
{
    struct dp_audit_sampler s;
    struct dp_record m = {.sampler = DP_SAMPLER_FIXED, .rate = 0.1, .rows = 100};
    dp_audit_sampler_open(&s, &m);
    assert_int_equal(note(&s, 1, 5, 10), DP_OK);
    assert_int_equal(note(&s, 2, 5, 11), DP_E_RUN);
    dp_audit_sampler_close(&s);
    m = (struct dp_record){.sampler = DP_SAMPLER_SHUFFLE, .rate = 0.1, .rows = 100, .epoch_laps = 10};
    dp_audit_sampler_open(&s, &m);
    for (int64_t lap = 1; lap <= 20; lap++)
        assert_int_equal(note(&s, lap, lap * 10, 10), DP_OK);
    assert_int_equal(note(&s, 21, 0, 10), DP_OK);
    assert_int_equal(note(&s, 22, 9, 10), DP_E_RUN);
    dp_audit_sampler_close(&s);
}

TEST(batches_of_one_size_are_not_poisson)
{
    struct dp_audit_sampler s;
    struct dp_record m = {.sampler = DP_SAMPLER_POISSON, .rate = 0.1, .rows = 100};
    dp_audit_sampler_open(&s, &m);
    /* one row in a hundred is in both batches of a pair, as with coins; but every batch has ten rows */
    for (int64_t lap = 1; lap <= 100; lap++)
        assert_int_equal(note(&s, lap, lap % 2 == 0 ? 9 : 0, 10), DP_OK);
    assert_true(s.twice.successes == 50 && s.twice.trials == 5000);
    assert_int_equal(dp_audit_sampler_judge(&s, 0.999, &err), DP_E_RUN);
    assert_non_null(strstr(err.message, "50 times two batches of one size"));
    dp_audit_sampler_close(&s);
}

TEST(other_labels_are_below_zero_too)
{
    const float x[] = {0.5F, 0.25F, 0.125F};
    const double y[] = {3, 0, -2}, want[] = {-3, -1, 2}, classes[] = {1, 2, 0};
    struct dp_dataset d = {.rows = 3, .cols = 1, .persons = 3, .y = y, .first = {.values = x, .count = 1}};
    struct dp_provoked p;
    for (int kind = 0; kind < 2; kind++) {
        d.label.kind = kind == 0 ? DP_LABEL_REAL : DP_LABEL_CLASSES;
        d.label.classes = kind == 0 ? 0 : 3;
        d.y = kind == 0 ? y : (const double[]){0, 1, 2};
        dp_provoke_open(&p, &d);
        for (size_t i = 0; i < 3; i++) {
            assert_true(dp_provoke(&p, DP_PROVOKE_OTHER_LABEL, i, (i + 1) % 3));
            assert_true(p.rows.count == 1 && p.rows.x[0] == x[i]);
            assert_true(p.rows.y[0] == (kind == 0 ? want[i] : classes[i]));
        }
        dp_provoke_close(&p);
    }
}

static void put(struct dp_frame *f, enum dp_field field, enum dp_dtype dtype, uint64_t d0, uint64_t d1, const void *from)
{
    void *data;
    assert_int_equal(dp_frame_make_array(f, field, dtype, d0, d1, &data, NULL), DP_OK);
    if (d0 > 0)
        memcpy(data, from, d0 * (d1 > 0 ? d1 : 1) * dp_dtype_size(dtype));
}

static void expect(const struct dp_frame *f, enum dp_field field, uint64_t d0, uint64_t d1, const void *want)
{
    const struct dp_array *a = dp_frame_array(f, field);
    assert_true(a->dims[0] == d0 && a->count == d0 * (d1 > 0 ? d1 : 1) && (d1 == 0 || a->dims[1] == d1));
    assert_memory_equal(a->data, want, a->count * dp_dtype_size(a->dtype));
}

/* Person 4, of two rows, between persons 2 and 5, of two rows and one; and person 0 into an empty frame. */
TEST(persons_are_put_in_with_their_rows)
{
    const int64_t ids[] = {2, 5}, sizes[] = {2, 1}, all[] = {2, 4, 5}, all_sizes[] = {2, 2, 1};
    const float x[] = {1, 2, 3, 4, 5, 6}, own_x[] = {7, 8, 9, 10}, all_x[] = {1, 2, 3, 4, 7, 8, 9, 10, 5, 6};
    const double y[] = {1, 2, 3}, own_y[] = {-1, -2}, all_y[] = {1, 2, -1, -2, 3};
    const struct dp_variant_rows own = {.count = 2, .x = own_x, .y = own_y};
    struct dp_frame *f = dp_frame_new();
    bool was;
    dp_frame_reset(f, DP_KIND_LAP);
    put(f, DP_F_ROWS, DP_I64, 2, 0, ids);
    put(f, DP_F_PERSON_ROWS, DP_I64, 2, 0, sizes);
    put(f, DP_F_X, DP_F32, 3, 2, x);
    put(f, DP_F_Y, DP_F64, 3, 0, y);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(dp_audit_insert_person(f, 4, &own, 2, &was, &err), DP_OK);
        assert_true(was == (again == 1));
        expect(f, DP_F_ROWS, 3, 0, all);
        expect(f, DP_F_PERSON_ROWS, 3, 0, all_sizes);
        expect(f, DP_F_X, 5, 2, all_x);
        expect(f, DP_F_Y, 5, 0, all_y);
    }
    assert_int_equal(dp_audit_insert_person(f, 3, &own, 1, &was, &err), DP_E_RUN);
    assert_int_equal(dp_audit_remove_person(f, 4, &was, &err), DP_OK);
    assert_true(was);
    expect(f, DP_F_ROWS, 2, 0, ids);
    expect(f, DP_F_X, 3, 2, x);
    expect(f, DP_F_Y, 3, 0, y);
    dp_frame_reset(f, DP_KIND_LAP);
    put(f, DP_F_ROWS, DP_I64, 0, 0, NULL);
    put(f, DP_F_X, DP_F32, 0, 4, NULL);
    put(f, DP_F_Y, DP_F64, 0, 0, NULL);
    assert_int_equal(dp_audit_insert_person(f, 0, &(struct dp_variant_rows){.count = 1, .x = own_x, .y = own_y}, 4, &was, &err),
                     DP_OK);
    expect(f, DP_F_X, 1, 4, own_x);
    expect(f, DP_F_Y, 1, 0, own_y);
    dp_frame_free(f);
}

TESTS(NULL, NULL)
