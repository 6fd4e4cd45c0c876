/* Choices have the law of their definition, by sums over all values of the noise, and its privacy. */
#include "drawn.h"
#include "unit.h"

#include <gsl/gsl_cdf.h>
#include <mpfr.h>

#include "math/choose.h"
#include "math/gaussian.h"
#include "math/laplace.h"

enum { CANDIDATES = 5, LAPS = 40000, WIDE = 600 };

/* Pr[ν ≥ k] of whole numbers. ν is discrete Laplace noise of that scale, or a rounded Gaussian of that standard deviation. */
static double tail(bool gaussian, double scale, int64_t k)
{
    double a = exp(-1 / scale);
    if (gaussian)
        return gsl_cdf_ugaussian_Q(((double)k - 0.5) / scale);
    return k > 0 ? pow(a, (double)k) / (1 + a) : 1 - pow(a, (double)(1 - k)) / (1 + a);
}

static double mass(bool gaussian, double scale, int64_t k)
{
    return tail(gaussian, scale, k) - tail(gaussian, scale, k + 1);
}

/* Pr[choice = i], i = 0 … count, where count means no choice. */
static void law_above(bool gaussian, double threshold_scale, double query_scale, const int64_t *sum, const int64_t *threshold,
                      int count, double *law)
{
    memset(law, 0, (size_t)(count + 1) * sizeof *law);
    for (int64_t level = -WIDE; level <= WIDE; level++) {
        double left = mass(gaussian, threshold_scale, level);
        for (int i = 0; i < count; i++) {
            double above = tail(gaussian, query_scale, threshold[i] + level - sum[i]);
            law[i] += left * above;
            left *= 1 - above;
        }
        law[count] += left;
    }
}

static void law_least(double scale, const int64_t *score, int count, double *law)
{
    for (int i = 0; i < count; i++) {
        law[i] = 0;
        for (int64_t noise = -WIDE; noise <= WIDE; noise++) {
            double others = 1; /* the first of equals */
            for (int j = 0; j < count; j++)
                if (j != i)
                    others *= tail(false, scale, score[i] + noise - score[j] + (j < i ? 1 : 0));
            law[i] += mass(false, scale, noise) * others;
        }
    }
}

/* Fixed seed; false-alarm rate over seeds 1e-6. */
static void assert_law(const double *seen, const double *law, int count)
{
    double chi = 0, total = 0;
    for (int i = 0; i < count; i++) {
        assert_true(law[i] * LAPS > 20);
        chi += (seen[i] - law[i] * LAPS) * (seen[i] - law[i] * LAPS) / (law[i] * LAPS);
        total += law[i];
    }
    assert_near(total, 1.0, 1e-12);
    assert_true(gsl_cdf_chisq_Q(chi, count - 1) > 1e-6);
}

static int choose_above(const struct dp_key *key, uint64_t lap, bool gaussian, double threshold_scale, double query_scale,
                        const int64_t *sum, const int64_t *threshold, int count)
{
    struct dp_above above;
    assert_int_equal(dp_above_open(&above, key, lap, gaussian, threshold_scale, query_scale), 0);
    int i = 0;
    while (i < count && !dp_above_ask(&above, (uint64_t)i, sum[i], threshold[i]))
        i++;
    return i;
}

TEST(the_first_above_has_its_law)
{
    const int64_t sum[CANDIDATES] = {-9, 2, 7, -3, 11}, threshold[CANDIDATES] = {4, 3, 9, 6, 5};
    double law[CANDIDATES + 1];
    const struct dp_key key = key_of(1, "choose");
    for (int gaussian = 0; gaussian <= 1; gaussian++) {
        double seen[CANDIDATES + 1] = {0};
        law_above(gaussian, 4.3, 9.1, sum, threshold, CANDIDATES, law);
        for (uint64_t lap = 1; lap <= LAPS; lap++)
            seen[choose_above(&key, lap, gaussian, 4.3, 9.1, sum, threshold, CANDIDATES)]++;
        assert_law(seen, law, CANDIDATES + 1);
    }
}

TEST(the_least_has_its_law)
{
    const int64_t score[CANDIDATES] = {14, 3, 9, 3, 5};
    double law[CANDIDATES], seen[CANDIDATES] = {0};
    size_t choice;
    const struct dp_key key = key_of(2, "choose");
    law_least(6.7, score, CANDIDATES, law);
    for (uint64_t lap = 1; lap <= LAPS; lap++) {
        assert_int_equal(dp_choose_least(&key, lap, 6.7, score, CANDIDATES, &choice), 0);
        seen[choice]++;
    }
    assert_law(seen, law, CANDIDATES);
}

static void law_exponential(double scale, const int64_t *score, int count, double *law)
{
    double total = 0;
    for (int i = 0; i < count; i++)
        total += law[i] = exp(-(double)score[i] / scale);
    for (int i = 0; i < count; i++)
        law[i] /= total;
}

LONG_TEST(the_exponential_mechanism_has_its_law)
{
    const int64_t score[CANDIDATES] = {14, 3, 9, 3, 5};
    double law[CANDIDATES], seen[CANDIDATES] = {0};
    size_t choice;
    const struct dp_key key = key_of(6, "choose");
    law_exponential(6.7, score, CANDIDATES, law);
    for (uint64_t lap = 1; lap <= LAPS; lap++) {
        assert_int_equal(dp_choose_exponential(&key, lap, 6.7, score, CANDIDATES, &choice), 0);
        seen[choice]++;
    }
    assert_law(seen, law, CANDIDATES);
}

/* Whether the first word of the draw decides, or the words after it: the bounds of candidates are whole parts of the first
   word. */
TEST(the_exponential_mechanism_looks_at_all_bits)
{
    enum { MANY = 1 << 10 };
    static int64_t score[MANY]; /* all equal: candidate i has the first ten bits i */
    size_t choice;
    const struct dp_key key = key_of(7, "choose");
    for (uint64_t lap = 1; lap <= 60; lap++) {
        assert_int_equal(dp_choose_exponential(&key, lap, 3, score, MANY, &choice), 0);
        assert_int_equal(choice, dp_draw_word(&key, DP_DRAW_CHOICE, lap, 0, 0) >> 54);
    }
    /* The least of scores that are far apart is chosen, at any place and distance. */
    for (uint64_t lap = 1; lap < 20; lap++) {
        const int64_t far[] = {INT64_MAX, INT64_MIN, 0};
        assert_int_equal(dp_choose_exponential(&key, lap, 0x1p48, far, 3, &choice), 0);
        assert_int_equal(choice, 1);
        assert_int_equal(dp_choose_exponential(&key, lap, 1e-300, (int64_t[]){1, 2, 0}, 3, &choice), 0);
        assert_int_equal(choice, 2);
        assert_int_equal(dp_choose_exponential(&key, lap, 5, (int64_t[]){INT64_MAX}, 1, &choice), 0);
        assert_int_equal(choice, 0);
    }
    const double wrong[] = {0, -1, NAN, INFINITY, 0x1.1p48};
    choice = 7;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_not_equal(dp_choose_exponential(&key, 1, wrong[i], (int64_t[]){1, 0}, 2, &choice), 0);
    assert_int_equal(choice, 7);
}

/* Finds a score, and a scale in *scale, with which the choice between this score and 0 is 0 with a probability that differs
   from p > 1/2 by less than 2^-66. It tries scales below 2^48 until a score is near enough to a whole number. */
static int64_t score_for(mpfr_t p, double *scale)
{
    int64_t score = 0;
    mpfr_t odds, x, whole;
    mpfr_inits2(300, odds, x, whole, (mpfr_ptr)0);
    mpfr_ui_sub(x, 1, p, MPFR_RNDN);
    mpfr_div(odds, p, x, MPFR_RNDN);
    mpfr_log(odds, odds, MPFR_RNDN);
    for (*scale = 0x1p48; score == 0; *scale -= 1) {
        mpfr_mul_d(x, odds, *scale, MPFR_RNDN);
        mpfr_round(whole, x);
        mpfr_sub(x, x, whole, MPFR_RNDN);
        if (fabs(mpfr_get_d(x, MPFR_RNDN)) < 0x1p-17)
            score = mpfr_get_sj(whole, MPFR_RNDN);
    }
    *scale += 1;
    mpfr_clears(odds, x, whole, (mpfr_ptr)0);
    return score;
}

/* If the first 64 bits do not decide, the next ones do: draws on either side of a bound between two candidates, which lies a
   quarter above them. */
TEST(the_exponential_mechanism_takes_more_bits)
{
    int below = 0, above = 0;
    mpfr_t p;
    mpfr_init2(p, 300);
    const struct dp_key key = key_of(9, "choose");
    for (uint64_t lap = 1; lap <= 24; lap++) {
        uint64_t first = dp_draw_word(&key, DP_DRAW_CHOICE, lap, 0, 0), second = dp_draw_word(&key, DP_DRAW_CHOICE, lap, 0, 1);
        if (first >> 63 == 0 || (second > UINT64_MAX / 16 * 5 && second < UINT64_MAX / 16 * 11))
            continue;
        mpfr_set_uj(p, first, MPFR_RNDN);
        mpfr_add_d(p, p, 0.5, MPFR_RNDN);
        mpfr_div_2ui(p, p, 64, MPFR_RNDN);
        double scale;
        size_t choice;
        int64_t score[] = {0, score_for(p, &scale)};
        assert_int_equal(dp_choose_exponential(&key, lap, scale, score, 2, &choice), 0);
        assert_int_equal(choice, second >= UINT64_MAX / 16 * 11);
        below += choice == 0;
        above += choice == 1;
    }
    assert_true(below > 0 && above > 0);
    mpfr_clear(p);
}

/* The addressed draws determine the choice, in any process, also for candidates after those that are drawn together. */
TEST(choices_follow_their_draws)
{
    enum { MANY = 30 };
    int64_t sum[MANY], threshold[MANY], noise[MANY], level;
    int last = 0;
    const struct dp_key key = key_of(3, "choose");
    for (uint64_t lap = 1; lap <= 400; lap++) {
        bool gaussian = lap % 2 == 0;
        for (int i = 0; i < MANY; i++) {
            sum[i] = (int64_t)(lap * 37 % 101) * i;
            threshold[i] = 4000 - (int64_t)(lap % 7) * 100 * i;
        }
        if (gaussian) {
            dp_gaussian_draw(&key, DP_DRAW_SEARCH_THRESHOLD, lap, 0, 500, &level, 1);
            dp_gaussian_draw(&key, DP_DRAW_SEARCH_QUERY, lap, 0, 900, noise, MANY);
        } else {
            dp_laplace_draw(&key, DP_DRAW_SEARCH_THRESHOLD, lap, 0, 500, &level, 1);
            dp_laplace_draw(&key, DP_DRAW_SEARCH_QUERY, lap, 0, 900, noise, MANY);
        }
        int expected = 0;
        while (expected < MANY && sum[expected] + noise[expected] < threshold[expected] + level)
            expected++;
        assert_int_equal(choose_above(&key, lap, gaussian, 500, 900, sum, threshold, MANY), expected);
        last = expected > 8 && expected < MANY ? last + 1 : last;
        if (gaussian)
            continue;
        size_t choice, least = 0;
        for (size_t i = 1; i < MANY; i++)
            if (sum[i] + noise[i] < sum[least] + noise[least])
                least = i;
        dp_choose_least(&key, lap, 900, sum, MANY, &choice);
        assert_int_equal(choice, least);
    }
    assert_true(last > 20);
}

TEST(the_ends_of_whole_numbers_are_numbers)
{
    struct dp_above above;
    size_t choice = 7;
    const struct dp_key key = key_of(4, "choose");
    for (int gaussian = 0; gaussian <= 1; gaussian++) {
        for (uint64_t lap = 1; lap < 50; lap++) {
            assert_int_equal(dp_above_open(&above, &key, lap, gaussian, 0x1p48, 0x1p48), 0);
            assert_false(dp_above_ask(&above, 0, 0, INT64_MAX));
            assert_true(dp_above_ask(&above, 0, 0, INT64_MIN));
            assert_true(dp_above_ask(&above, 0, INT64_MAX, 0));
            assert_false(dp_above_ask(&above, 0, INT64_MIN, 0));
        }
        const double wrong[] = {0, -1, NAN, INFINITY, 0x1.1p48};
        for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
            assert_int_not_equal(dp_above_open(&above, &key, 1, gaussian, wrong[i], 1), 0);
            assert_int_not_equal(dp_above_open(&above, &key, 1, gaussian, 1, wrong[i]), 0);
            assert_int_not_equal(dp_choose_least(&key, 1, wrong[i], (int64_t[]){1, 0}, 2, &choice), 0);
        }
    }
    assert_int_equal(choice, 7);
    for (uint64_t lap = 1; lap < 50; lap++) {
        assert_int_equal(dp_choose_least(&key, lap, 0x1p48, (int64_t[]){INT64_MAX, INT64_MIN, INT64_MAX}, 3, &choice), 0);
        assert_int_equal(choice, 1);
    }
}

/* The largest |ln| of a ratio of probabilities of the same choice. */
static double loss_between(const double *a, const double *b, int count)
{
    double most = 0;
    for (int i = 0; i < count; i++)
        most = fmax(most, fabs(log(a[i] / b[i])));
    return most;
}

/* One person adds a vector of range 8 to the scores; for a range of 16 the noise is not enough. */
TEST(the_exponential_mechanism_is_private)
{
    const double epsilon = 0.9;
    double a[CANDIDATES], b[CANDIDATES], most = 0, beyond = 0, range = 0;
    int64_t x[CANDIDATES], y[CANDIDATES];
    struct dp_stream stream = stream_of(8, "choose");
    for (int round = 0; round < 300; round++) {
        for (int i = 0; i < CANDIDATES; i++) {
            x[i] = (int64_t)dp_stream_below(&stream, 40);
            y[i] = x[i] + 3 + (int64_t)dp_stream_below(&stream, 2) * 8; /* a move of all scores costs nothing */
        }
        law_exponential(8 / epsilon, x, CANDIDATES, a);
        law_exponential(8 / epsilon, y, CANDIDATES, b);
        most = fmax(most, loss_between(a, b, CANDIDATES));
        double high = -INFINITY, low = INFINITY;
        for (int i = 0; i < CANDIDATES; i++) {
            high = fmax(high, log(a[i] / b[i]));
            low = fmin(low, log(a[i] / b[i]));
            y[i] = x[i] + (y[i] > x[i] + 3 ? 8 : -8);
        }
        range = fmax(range, high - low);
        law_exponential(8 / epsilon, y, CANDIDATES, b);
        beyond = fmax(beyond, loss_between(a, b, CANDIDATES));
    }
    assert_true(most <= epsilon * (1 + 1e-9) && most > 0.8 * epsilon && range <= epsilon * (1 + 1e-9));
    assert_true(beyond > 1.3 * epsilon);
}

/* One person moves all scores by 0 to 8 in one direction, or each by up to 4 in any direction. Noise of scale 8/ε is enough for
   either, and not for other moves. */
TEST(the_least_is_private)
{
    const double epsilon = 0.9;
    double a[CANDIDATES], b[CANDIDATES], most = 0, beyond = 0;
    int64_t x[CANDIDATES], y[CANDIDATES];
    struct dp_stream stream = stream_of(5, "choose");
    for (int round = 0; round < 200; round++) {
        bool together = round % 2 == 0;
        for (int i = 0; i < CANDIDATES; i++) {
            x[i] = (int64_t)dp_stream_below(&stream, round < 100 ? 3 : 40);
            y[i] = x[i] + (together ? (int64_t)dp_stream_below(&stream, 2) * 8 : (int64_t)dp_stream_below(&stream, 2) * 8 - 4);
        }
        law_least(8 / epsilon, x, CANDIDATES, a);
        law_least(8 / epsilon, y, CANDIDATES, b);
        most = fmax(most, loss_between(a, b, CANDIDATES));
        for (int i = 0; i < CANDIDATES; i++)
            y[i] = x[i] + (y[i] > x[i] ? 8 : -8);
        law_least(8 / epsilon, y, CANDIDATES, b);
        beyond = fmax(beyond, loss_between(a, b, CANDIDATES));
    }
    assert_true(most <= epsilon * (1 + 1e-9) && most > 0.8 * epsilon);
    assert_true(beyond > 1.3 * epsilon);
}

/* The law of published code (dp-linesearch(1)): the largest of −s_i less exponential noise. ∫ e^−x Π_j Pr[E ≥ x + gap_j] dx */
static double published(const double *gap, int others)
{
    enum { PARTS = 200000 };
    double sum = 0;
    for (int i = 0; i < PARTS; i++) {
        double x = 30 * (i + 0.5) / PARTS, term = exp(-x);
        for (int j = 0; j < others; j++)
            term *= exp(-fmax(0, x + gap[j]));
        sum += term * 30 / PARTS;
    }
    return sum;
}

TEST(the_published_noise_costs_as_often_as_there_are_others)
{
    const double epsilon = 0.5, far[4] = {5, 5, 5, 5}, moved[4] = {5.5, 5.5, 5.5, 5.5}; /* in units of the scale */
    assert_near(log(published(far, 4) / published(moved, 4)), 4 * epsilon, 1e-6);
}

TESTS(NULL, NULL)
