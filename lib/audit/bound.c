#include "audit/bound.h"

#include <gsl/gsl_cdf.h>

#define MOST (~(unsigned __int128)0)

unsigned __int128 dp_audit_distance2(const int64_t *a, const int64_t *b, size_t count)
{
    unsigned __int128 sum = 0;
    for (size_t j = 0; j < count; j++) {
        /* the difference of two int64 fits a uint64 without its sign */
        uint64_t d = a[j] > b[j] ? (uint64_t)a[j] - (uint64_t)b[j] : (uint64_t)b[j] - (uint64_t)a[j];
        unsigned __int128 square = (unsigned __int128)d * d;
        if (sum > MOST - square)
            return MOST;
        sum += square;
    }
    return sum;
}

unsigned __int128 dp_audit_distance1(const int64_t *a, const int64_t *b, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t apart = a[i] > b[i] ? (uint64_t)a[i] - (uint64_t)b[i] : (uint64_t)b[i] - (uint64_t)a[i];
        if (__builtin_add_overflow(sum, apart, &sum))
            return MOST;
    }
    return (unsigned __int128)sum * sum;
}

bool dp_audit_exceeds(unsigned __int128 distance2, double bound, double grid)
{
    int exponent;
    double fraction = frexp(bound / grid, &exponent); /* exact: grid is a power of two */
    uint64_t mantissa = (uint64_t)ldexp(fraction, 53);
    int shift = 2 * (exponent - 53); /* (bound/grid)² = mantissa² 2^shift */
    unsigned __int128 square = (unsigned __int128)mantissa * mantissa;
    if (shift <= -128)
        return distance2 > 0;
    if (shift <= 0)
        return distance2 > square >> -shift; /* a whole number exceeds x if it exceeds ⌊x⌋ */
    return shift < 128 && square <= MOST >> shift && distance2 > square << shift;
}

/* The p in [0, 1] at which the probability of a Beta(a, b) below p (above p, if upper) is `tail`, by bisection: GSL's own
   inverse does not always converge. Errs to the outside. */
static double beta_quantile(double a, double b, double tail, bool upper)
{
    double low = 0, high = 1;
    for (int i = 0; i < 64; i++) {
        double middle = (low + high) / 2;
        if (upper ? gsl_cdf_beta_Q(middle, a, b) > tail : gsl_cdf_beta_P(middle, a, b) < tail)
            low = middle;
        else
            high = middle;
    }
    return upper ? high : low;
}

double dp_audit_proportion_lower(uint64_t successes, uint64_t trials, double confidence)
{
    if (successes == 0)
        return 0;
    return beta_quantile((double)successes, (double)(trials - successes) + 1, 1 - confidence, false);
}

double dp_audit_proportion_upper(uint64_t successes, uint64_t trials, double confidence)
{
    if (successes >= trials)
        return 1;
    return beta_quantile((double)successes + 1, (double)(trials - successes), 1 - confidence, true);
}

double dp_audit_epsilon_lower(uint64_t hits, uint64_t alarms, uint64_t runs, double delta, double confidence)
{
    double each = 1 - (1 - confidence) / 2, epsilon = 0;
    double hit = dp_audit_proportion_lower(hits, runs, each), alarm = dp_audit_proportion_upper(alarms, runs, each);
    if (hit - delta > 0 && alarm > 0)
        epsilon = fmax(epsilon, log((hit - delta) / alarm));
    if (1 - alarm - delta > 0 && hit < 1)
        epsilon = fmax(epsilon, log((1 - alarm - delta) / (1 - hit)));
    return epsilon;
}

double dp_audit_evidence(double q, double ratio)
{
    double high = fmax(ratio, 0);
    return high + log((1 - q) * exp(-high) + q * exp(ratio - high));
}

/* The inverse of h(x) = 1 − f(x) for a mechanism that is μ-Gaussian, or (ε, δ): the curve `at` has one parameter, μ or ε. */
typedef double inverse_curve(double y, double at, double delta);

static double of_mu(double y, double mu, double delta)
{
    (void)delta;
    return y <= 0 ? 0 : y >= 1 ? 1 : gsl_cdf_ugaussian_P(gsl_cdf_ugaussian_Pinv(y) - mu);
}

static double of_epsilon(double y, double epsilon, double delta)
{
    return fmax(0, fmax((y - delta) * exp(-epsilon), 1 - delta - (1 - y) * exp(epsilon)));
}

/* Whether that curve allows Pr[at least `correct` guesses are right] = chance. The most probable way has no more than `correct`
   right, and, from there down, as little for each smaller number as its inequality asks for: probability that is moved to a
   smaller number makes every other inequality easier. */
static bool allows(inverse_curve *inverse, double at, double delta, uint64_t correct, uint64_t guesses, uint64_t canaries,
                   double chance)
{
    const double m = (double)canaries;
    double right = (double)correct * chance, wrong = (double)(guesses - correct) * chance, sum = chance;
    for (uint64_t j = correct; j > 0 && sum <= 1; j--) {
        double least = (m * inverse(fmin(1, right / m), at, delta) - wrong) / (double)(guesses - j + 1);
        least = fmax(0, least);
        right += (double)(j - 1) * least;
        wrong += (double)(guesses - j + 1) * least;
        sum += least;
    }
    return sum <= 1;
}

/* The largest parameter of a curve that is refuted, from below; 0 if none is. */
static double refuted(inverse_curve *inverse, double delta, uint64_t correct, uint64_t guesses, uint64_t canaries,
                      double confidence)
{
    double low = 0, high = 64;
    for (int i = 0; i < 50; i++) {
        double middle = (low + high) / 2;
        if (allows(inverse, middle, delta, correct, guesses, canaries, 1 - confidence))
            high = middle;
        else
            low = middle;
    }
    return low;
}

double dp_audit_guessed_mu(uint64_t correct, uint64_t guesses, uint64_t canaries, double confidence)
{
    return refuted(of_mu, 0, correct, guesses, canaries, confidence);
}

double dp_audit_guessed_epsilon(uint64_t correct, uint64_t guesses, uint64_t canaries, double delta, double confidence)
{
    return refuted(of_epsilon, delta, correct, guesses, canaries, confidence);
}

bool dp_audit_unlikely(uint64_t successes, uint64_t trials, double p, double confidence)
{
    double limit = (1 - confidence) / 2, k = (double)successes, n = (double)trials;
    if (trials == 0)
        return false;
    if (p <= 0 || p >= 1)
        return p <= 0 ? successes > 0 : successes < trials;
    /* Pr[X ≤ k] and Pr[X ≥ k] as incomplete beta functions */
    double low = successes == trials ? 1 : gsl_cdf_beta_Q(p, k + 1, n - k);
    double high = successes == 0 ? 1 : gsl_cdf_beta_P(p, k, n - k + 1);
    return low < limit || high < limit;
}
