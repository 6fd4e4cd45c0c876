/* Simulated searches: the exact law of the answers of AboveThreshold and of a noisy minimum, on data with and without one
 * person, against the accountants' charge. The laws are computed here from the definitions of the mechanisms only, by summing
 * over the noise of the threshold, or of one candidate; they use none of the library's bounds. */
#include "unit.h"

#include <gsl/gsl_rng.h>

#include "account/curve.h"
#include "priv/sparse_vector.h"

enum { MOST = 1000, POINTS = 20001 };

/* Noise of one number: its points, their probabilities, and the probability of at least t. Values are in units of the
   sensitivity. */
struct noise {
    double scale; /* of a Gaussian: its standard deviation */
    int steps;    /* for discrete Laplace noise: points of its grid per unit of sensitivity; 0 for a Gaussian */
};

static double at_least(struct noise noise, double t)
{
    if (noise.steps == 0)
        return erfc(t / noise.scale / M_SQRT2) / 2;
    double k = nearbyint(t * noise.steps), theta = exp(-1 / (noise.scale * noise.steps));
    return k >= 1 ? pow(theta, k) / (1 + theta) : 1 - pow(theta, 1 - k) / (1 + theta);
}

/* The opposite of at_least, without a difference from 1: noise in steps is below t if its negative is a step above −t. */
static double below(struct noise noise, double t)
{
    return at_least(noise, noise.steps == 0 ? -t : 1.0 / noise.steps - t);
}

/* The points that matter, at most POINTS, and their weights. A Gaussian uses the trapezoidal rule, whose error falls
   exponentially. */
static int spread(struct noise noise, double *point, double *weight)
{
    double step = noise.steps > 0 ? 1.0 / noise.steps : noise.scale / 24;
    int far = (int)fmin((noise.steps > 0 ? 120 : 20) * noise.scale / step, POINTS / 2);
    double theta = exp(-step / noise.scale);
    for (int i = 0; i <= 2 * far; i++) {
        double x = step * (i - far), u = x / noise.scale;
        point[i] = x;
        weight[i] =
            noise.steps > 0 ? (1 - theta) / (1 + theta) * pow(theta, abs(i - far)) : exp(-u * u / 2) / sqrt(2 * M_PI) / 24;
    }
    return 2 * far + 1;
}

/* law[k]: query k of `queries` is the first whose noised value reaches the noised threshold 0; law[queries]: no query is. */
static void above_threshold(struct noise threshold, struct noise query, const double *value, int queries, double *law)
{
    static double point[POINTS], keep[POINTS];
    int points = spread(threshold, point, keep);
    for (int k = 0; k <= queries; k++)
        law[k] = 0;
    for (int k = 0; k < queries; k++)
        for (int i = 0; i < points; i++) {
            double t = point[i] - value[k];
            law[k] += keep[i] * at_least(query, t);
            keep[i] *= below(query, t);
        }
    for (int i = 0; i < points; i++)
        law[queries] += keep[i];
}

static double divergence(const double *p, const double *q, int n, double order)
{
    double sum = 0;
    for (int k = 0; k < n; k++)
        if (p[k] > 0)
            sum += exp(order * log(p[k]) + (1 - order) * log(q[k]));
    return log(sum) / (order - 1);
}

static double either(const double *p, const double *q, int n, double order)
{
    return fmax(divergence(p, q, n, order), divergence(q, p, n, order));
}

static gsl_rng *rng;
static double uniform(double low, double high)
{
    return low + (high - low) * gsl_rng_uniform(rng);
}

/* Values below the public threshold, equal, rising or random, and the same with one more person: each moves by at most 1 in
   either direction. Multiples of 1/steps. */
static void draw_values(int queries, double scale, int steps, double *value, double *other)
{
    double level = uniform(-3, 1) * scale, rise = uniform(0, 2) * scale;
    int how = (int)gsl_rng_uniform_int(rng, 3), shape = (int)gsl_rng_uniform_int(rng, 4);
    double grid = steps > 0 ? steps : 1 << 20, sign = gsl_rng_uniform_int(rng, 2) ? 1 : -1;
    for (int k = 0; k < queries; k++) {
        double at = level + (how == 0 ? 0 : how == 1 ? rise * k / queries : uniform(-1, 1) * scale);
        double moved = shape == 0 ? 1 : shape == 1 ? (k % 2 ? 1 : -1) : shape == 2 ? uniform(-1, 1) : k % 4 ? 1 : -1;
        value[k] = nearbyint(at * grid) / grid;
        other[k] = value[k] + sign * trunc(moved * grid) / grid;
    }
}

static const double orders[] = {1.5, 2, 4, 8, 32};
enum { ORDERS = sizeof orders / sizeof *orders };

LONG_TEST(no_search_costs_more_than_is_charged)
{
    static const int longest[] = {1, 3, 10, 30, 100};
    static double value[MOST], other[MOST], p[MOST + 1], q[MOST + 1];
    double closest[2] = {0, 0};
    for (int game = 0; game < 300; game++) {
        bool gaussian = game % 2;
        int queries = longest[game / 2 % 5], steps = gaussian ? 0 : 1 << game / 2 % 3;
        double scale = uniform(0.7, gaussian ? 8 : 5), ratio = uniform(0.7, 3), bound[ORDERS];
        struct noise threshold = {scale, steps}, query = {scale * ratio, steps};
        draw_values(queries, query.scale, steps, value, other);
        above_threshold(threshold, query, value, queries, p);
        above_threshold(threshold, query, other, queries, q);
        if (gaussian)
            dp_rdp_sparse_vector_gaussian(scale, query.scale, queries, orders, ORDERS, bound);
        else
            dp_rdp_sparse_vector_laplace(1 / scale, 1 / query.scale, steps, queries, orders, ORDERS, bound);
        for (int i = 0; i < ORDERS; i++) {
            double played = either(p, q, queries + 1, orders[i]);
            if (!(played <= bound[i] * (1 + 1e-9)))
                fail_msg("game %d, %d queries, order %g: reaches %.9g of %.9g", game, queries, orders[i], played, bound[i]);
            closest[gaussian] = fmax(closest[gaussian], played / bound[i]);
        }
    }
    /* The games come close to the bounds. */
    if (!(closest[0] > 0.8 && closest[1] > 0.4))
        fail_msg("the closest games reach %g and %g of their bounds", closest[0], closest[1]);
}

/* Gaussian noise split as in the paper, whose Theorem 3 says that the whole costs αρ. That is false: 1000 slowly rising
   queries, which one person moves alternately up and down, cost .263 instead of .2. */
TEST(theorem_3_does_not_hold)
{
    static double value[MOST], other[MOST], p[MOST + 1], q[MOST + 1];
    double rho = 0.1, order = 2, bound;
    struct noise threshold = {sqrt(1.5 / rho), 0}, query = {sqrt(3 / rho), 0};
    for (int k = 0; k < MOST; k++) {
        double t = (double)k / MOST;
        value[k] = -20 + 12 * t + 6 * pow(t, 8);
        other[k] = value[k] + (k % 2 ? -1 : 1);
    }
    above_threshold(threshold, query, value, MOST, p);
    above_threshold(threshold, query, other, MOST, q);
    double played = divergence(p, q, MOST + 1, order);
    dp_rdp_sparse_vector_gaussian(threshold.scale, query.scale, MOST, &order, 1, &bound);
    assert_true(played > 0.2413 && played > order * rho && played < bound);
    assert_near(played, 0.2637, 1e-3);
    /* With 30 queries it does not show. */
    above_threshold(threshold, query, value + 600, 30, p);
    above_threshold(threshold, query, other + 600, 30, q);
    assert_true(either(p, q, 31, order) < order * rho);
}

/* ln of the mean of (1 − q + q t)^power under the answers without the person. t is the likelihood ratio of a search's answer,
   times the ratio of a Gaussian of multiplier 1/mu. */
static double sampled(double rate, const double *with, const double *without, int n, double mu, double power)
{
    double sum = 0, step = 1.0 / 32;
    for (int k = 0; k < n; k++) {
        if (!(without[k] > 0))
            continue;
        if (!(mu > 0)) {
            sum += without[k] * pow(1 - rate + rate * with[k] / without[k], power);
            continue;
        }
        for (double u = -10; u < 10 + fabs(power) * mu; u += step)
            sum += step * without[k] * exp(-u * u / 2) / sqrt(2 * M_PI) *
                   pow(1 - rate + rate * with[k] / without[k] * exp(u * mu - mu * mu / 2), power);
    }
    return log(sum);
}

/* Checks a search on a Poisson sample, by itself and together with a Gaussian on the same sample, with the person added or left
 * out. */
LONG_TEST(no_search_on_a_sample_costs_more)
{
    static double value[MOST], other[MOST], p[MOST + 1], q[MOST + 1];
    double closest = 0;
    for (int game = 0; game < 60; game++) {
        bool gaussian = game % 3 == 2;
        int queries = game % 2 ? 4 : 20, steps = gaussian ? 0 : 128;
        double rate = game % 4 ? uniform(0.02, 0.3) : 0.9, rho = uniform(0.05, 0.5), z = game % 5 ? uniform(1, 6) : 0;
        double first = uniform(0.3, 1.5), each = uniform(0.1, 0.8), charged[ORDERS];
        struct noise threshold = {gaussian ? sqrt(1.5 / rho) : 1 / first, steps};
        struct noise query = {gaussian ? sqrt(3 / rho) : 1 / each, steps};
        struct dp_event event = {.sampling = DP_SAMPLING_POISSON, .rate = rate, .queries = z > 0 ? 2 : 1};
        err = (struct dp_err){0};
        event.query[0] =
            gaussian
                ? (struct dp_query){.kind = DP_QUERY_SPARSE_GAUSSIAN, .rho = rho, .most = queries}
                : (struct dp_query){.kind = DP_QUERY_SPARSE_LAPLACE, .epsilon = first, .query_epsilon = each, .most = queries};
        event.query[1] = (struct dp_query){.kind = DP_QUERY_GAUSSIAN, .multiplier = z};
        draw_values(queries, query.scale, steps, value, other);
        above_threshold(threshold, query, value, queries, p);
        above_threshold(threshold, query, other, queries, q);
        assert_int_equal(dp_event_curve(&event, orders, ORDERS - 1, charged, &err), DP_OK);
        for (int i = 0; i < ORDERS - 1; i++)
            for (int side = 0; side < 4; side++) {
                double power = side & 1 ? orders[i] : 1 - orders[i], mu = z > 0 ? 1 / z : 0;
                double log_a = sampled(rate, side & 2 ? p : q, side & 2 ? q : p, queries + 1, mu, power);
                double cost = log_a / (orders[i] - 1);
                if (!(cost <= charged[i] * (1 + 1e-9)))
                    fail_msg("game %d, order %g: costs %.9g, charged %.9g", game, orders[i], cost, charged[i]);
                closest = fmax(closest, cost / charged[i]);
            }
    }
    assert_true(closest > 0.5);
}

/* --- the least of noised scores --- */

enum { CANDIDATES = 6, FAR = 1200 };

/* Discrete Laplace noise on whole numbers, or its positive half, which is geometric. */
struct ladder {
    double theta;
    bool one_sided;
};

static double mass(struct ladder noise, int x)
{
    if (noise.one_sided)
        return x < 0 ? 0 : (1 - noise.theta) * pow(noise.theta, x);
    return (1 - noise.theta) / (1 + noise.theta) * pow(noise.theta, abs(x));
}

static double beyond(struct ladder noise, int x) /* Pr[ν >= x] */
{
    if (noise.one_sided)
        return x <= 0 ? 1 : pow(noise.theta, x);
    return x >= 1 ? pow(noise.theta, x) / (1 + noise.theta) : 1 - pow(noise.theta, 1 - x) / (1 + noise.theta);
}

/* law[i]: candidate i has the least score plus noise, the first of equals. */
static void noisy_least(struct ladder noise, const int *score, int candidates, double *law)
{
    for (int i = 0; i < candidates; i++) {
        law[i] = 0;
        for (int x = -FAR; x <= FAR; x++) {
            double chance = mass(noise, x);
            for (int j = 0; j < candidates && chance > 0; j++)
                if (j != i)
                    chance *= beyond(noise, score[i] + x - score[j] + (j < i));
            law[i] += chance;
        }
    }
}

static double worst_ratio(const double *p, const double *q, int n)
{
    double worst = 0;
    for (int i = 0; i < n; i++)
        worst = fmax(worst, fabs(log(p[i] / q[i])));
    return worst;
}

/* One person adds between 0 and the sensitivity to each score, all in one direction. With noise of scale sensitivity over
   epsilon this costs epsilon. If a row is exchanged, scores move by as much in either direction, and the recorded sensitivity
   is twice as large. */
TEST(a_noisy_choice_costs_its_epsilon)
{
    double closest[2] = {0, 0};
    for (int game = 0; game < 400; game++) {
        int candidates = 2 + game % (CANDIDATES - 1), steps = 1 + game % 7, score[CANDIDATES], other[CANDIDATES];
        bool exchanged = game & 1;
        double epsilon = uniform(0.1, 2), p[CANDIDATES], q[CANDIDATES];
        struct ladder noise = {exp(-epsilon / (exchanged ? 2 * steps : steps)), false};
        for (int i = 0; i < candidates; i++) {
            int moved =
                game % 3 ? (gsl_rng_uniform_int(rng, 2) ? steps : 0) : (int)gsl_rng_uniform_int(rng, (unsigned)steps + 1);
            score[i] = (int)gsl_rng_uniform_int(rng, 30);
            other[i] = score[i] + (exchanged && gsl_rng_uniform_int(rng, 2) ? -moved : moved);
        }
        noisy_least(noise, score, candidates, p);
        noisy_least(noise, other, candidates, q);
        double ratio = worst_ratio(p, q, candidates);
        if (!(ratio <= epsilon * (1 + 1e-9)))
            fail_msg("game %d: a choice of epsilon %.9g costs %.9g", game, epsilon, ratio);
        closest[exchanged] = fmax(closest[exchanged], ratio / epsilon);
    }
    if (!(closest[0] > 0.9 && closest[1] > 0.9))
        fail_msg("the closest games reach %g and %g of their epsilon", closest[0], closest[1]);
}

/* The published code takes the largest of minus the score minus exponential noise: the least score plus noise that is never
   negative. If n candidates are equal and one person adds the sensitivity to the first, each of the others has an advantage of
   the sensitivity, and the first's probability falls by e^{−(n−1) epsilon}: n − 1 times the charge for the choice. It is never
   more. */
TEST(one_sided_noise_costs_far_more)
{
    const double epsilon = 0.5;
    enum { STEPS = 4 };
    struct ladder noise = {exp(-epsilon / STEPS), true};
    double closest = 0;
    for (int n = 2; n <= CANDIDATES; n++) {
        int score[CANDIDATES] = {0}, other[CANDIDATES] = {STEPS};
        double p[CANDIDATES], q[CANDIDATES];
        noisy_least(noise, score, n, p);
        noisy_least(noise, other, n, q);
        assert_near(worst_ratio(p, q, n), (n - 1) * epsilon, 1e-9);
        for (int game = 0; game < 20; game++) {
            for (int i = 0; i < n; i++) {
                score[i] = (int)gsl_rng_uniform_int(rng, 9);
                other[i] = score[i] + (int)gsl_rng_uniform_int(rng, STEPS + 1);
            }
            noisy_least(noise, score, n, p);
            noisy_least(noise, other, n, q);
            closest = fmax(closest, worst_ratio(p, q, n) / (n - 1) / epsilon);
        }
    }
    assert_true(closest > 0.5 && closest <= 1 + 1e-9);
}

int main(void)
{
    rng = gsl_rng_alloc(gsl_rng_mt19937);
    int failed = all_tests(NULL, NULL);
    gsl_rng_free(rng);
    return failed;
}
