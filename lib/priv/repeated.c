#include "priv/repeated.h"

#include <float.h>

#include "math/bracket.h"
#include "math/upward.h"
#include "priv/mixture.h"

static const double LARGEST_EPSILON = 1e9;
static const double RARE = 80;              /* the probability of S beyond the grid is e^-80 */
static const double TOO_SMALL = 1e-40;      /* a smaller weight is not kept */
static const double SLOPE = 0.398942280402; /* 1/√(2π), rounded up */

/* 1 + ρ + … + ρ^(n−1), to a few units in the last place. */
static double geometric(double ratio, double n)
{
    return ratio < 1 ? -expm1(n * log1p(ratio - 1)) / (1 - ratio) : n;
}

static double largest(const struct dp_repeated *of)
{
    return dp_upward(geometric(of->contraction, (double)of->draws));
}

/* The mean of S, rounded up: Σ ρ^k, and Σ ρ^2k for a variance or second moment. */
static double mean_of(const struct dp_repeated *of)
{
    return of->rate * geometric(of->contraction, (double)of->draws) * (1 + 1e-12);
}

static double variance_of(const struct dp_repeated *of)
{
    double square = of->contraction * of->contraction;
    return of->rate * (1 - of->rate) * geometric(square, (double)of->draws) * (1 + 1e-12);
}

/* (1 + u) ln(1 + u) − u */
static double bennett(double u)
{
    return (1 + u) * log1p(u) - u;
}

/* −ln of a bound on Pr[S >= mean + x], x >= 0 (Bennett's inequality: each summand is at most 1). */
static double rarity(double variance, double x)
{
    return variance > 0 ? variance * bennett(x / variance) * (1 - 1e-12) : INFINITY;
}

/* The x at which rarity() is RARE, or more: by Bernstein's inequality, which is weaker. */
static double reach(double variance)
{
    double low = 0, high = RARE / 3 + sqrt(RARE * RARE / 9 + 2 * variance * RARE);
    for (int i = 0; i < 50; i++) {
        double middle = (low + high) / 2;
        *(rarity(variance, middle) < RARE ? &low : &high) = middle;
    }
    return high;
}

/* The start and the step of the grid for a law. Powers of two keep whole numbers whole. */
static void place(const struct dp_repeated *of, double most, double *low, double *step)
{
    double mean = mean_of(of), x = reach(variance_of(of));
    double high = fmin(fmax(mean + x, 1), most);
    *low = fmax(mean - x, 0);
    *step = exp2(ceil(log2((high - *low) / (DP_REPEATED_CELLS - 4))));
}

/* Weights on a grid. */
struct cells {
    size_t count;
    double weight[DP_REPEATED_CELLS + 2];
};

/* Puts the law of scale × X, X with the given law, on a grid of that step with the same start: the mass of a number goes to its
   two neighbours so that its mean is kept. Returns the mass above the grid. */
static double rescale(const struct dp_repeated_law *law, double scale, double step, struct cells *out)
{
    double ratio = dp_upward(scale * law->step / step), above = law->above;
    out->count = 0;
    memset(out->weight, 0, sizeof out->weight);
    for (size_t i = 0; i < DP_REPEATED_CELLS; i++) {
        double at = dp_upward((double)i * ratio), weight = dp_upward(law->weight[i]);
        if (weight == 0)
            continue;
        if (!(at < DP_REPEATED_CELLS)) {
            above += weight;
            continue;
        }
        size_t below = (size_t)at;
        double share = at - (double)below;
        if (share > 0 && share < 1 - 1e-12)
            share += 1e-12;
        out->weight[below] += weight * (1 - share);
        out->weight[below + 1] += dp_upward(weight * share);
        out->count = below + 2;
    }
    return above;
}

/* out: the law of the sum of two. Mass below the grid counts at its first point; mass above the grid is returned. */
static double convolve(const struct cells *a, const struct cells *b, size_t skip, double *out)
{
    double above = 0;
    memset(out, 0, DP_REPEATED_CELLS * sizeof *out);
    for (size_t i = 0; i < a->count; i++) {
        double weight = a->weight[i];
        if (weight == 0)
            continue;
        size_t first = i < skip ? skip - i : 0, end = DP_REPEATED_CELLS + skip - i;
        first = first < b->count ? first : b->count;
        end = end < b->count ? end : b->count;
        for (size_t j = 0; j < first; j++)
            out[0] += weight * b->weight[j];
        for (size_t j = first; j < end; j++)
            out[i + j - skip] += weight * b->weight[j];
        for (size_t j = end; j < b->count; j++)
            above += weight * b->weight[j];
    }
    return above;
}

/* The law of S_a + ρ^a S_b, with a the draws of the first law. */
static void add(const struct dp_repeated_law *a, const struct dp_repeated_law *b, struct dp_repeated_law *sum)
{
    struct cells first, second;
    struct dp_repeated of = a->of;
    double scale = fmin(dp_upward(pow(of.contraction, (double)of.draws)), 1), low, step;
    of.draws += b->of.draws;
    double most = largest(&of);
    place(&of, most, &low, &step);
    double above = rescale(a, 1, step, &first) + rescale(b, scale, step, &second);
    double least = dp_upward(a->low + dp_upward(scale * b->low));
    size_t skip = low > least ? (size_t)((low - least) / step) : 0;
    above += convolve(&first, &second, skip, sum->weight);
    sum->of = of;
    sum->most = most;
    sum->low = least + (double)skip * step;
    sum->step = step;
    /* More than the rounding of products and sums, and of products that underflow. */
    double more = 1 + (DP_REPEATED_CELLS + 8) * DBL_EPSILON;
    for (size_t i = 0; i < DP_REPEATED_CELLS; i++) {
        if (sum->weight[i] >= TOO_SMALL) {
            sum->weight[i] *= more;
            continue;
        }
        above += sum->weight[i];
        sum->weight[i] = 0;
    }
    sum->above = (above + DBL_MIN) * more;
}

void dp_repeated_law(const struct dp_repeated *repeated, struct dp_repeated_law *law)
{
    struct dp_repeated_law one = {.of = *repeated, .step = 1, .most = 1}, sum;
    one.of.draws = 1;
    one.weight[0] = dp_upward(1 - repeated->rate);
    one.weight[1] = repeated->rate;
    if (repeated->rate >= 1) { /* always drawn: S is a number */
        *law = (struct dp_repeated_law){
            .of = *repeated, .low = largest(repeated), .step = 1, .weight = {1}, .most = largest(repeated)};
        return;
    }
    *law = one;
    int bit = 62;
    while (repeated->draws >> bit == 0)
        bit--;
    while (--bit >= 0) {
        add(law, law, &sum);
        *law = sum;
        if (repeated->draws >> bit & 1) {
            add(&one, law, &sum);
            *law = sum;
        }
    }
}

/* The bound on δ_G: δ_G itself as long as it is convex in μ, then its tangent. */
static double convex_delta(double epsilon, double mu)
{
    double until = sqrt(2 * epsilon);
    double delta = exp(dp_gaussian_log_delta(epsilon, fmin(mu, until))) * (1 + 8 * DBL_EPSILON);
    return mu > until ? delta + SLOPE * dp_upward(mu - until * (1 - DBL_EPSILON)) : delta;
}

static double shift(double s, double multiplier)
{
    return dp_upward((s + DP_REPEATED_ROUNDING) / multiplier);
}

double dp_repeated_delta(const struct dp_repeated_law *law, double multiplier, double epsilon)
{
    if (law->of.rate >= 1)
        return exp(dp_gaussian_log_delta(epsilon, shift(law->low, multiplier)));
    double delta = 0;
    for (size_t i = 0; i < DP_REPEATED_CELLS; i++)
        if (law->weight[i] > 0)
            delta += law->weight[i] * convex_delta(epsilon, shift(law->low + (double)i * law->step, multiplier));
    if (law->above > 0)
        delta += law->above * convex_delta(epsilon, shift(law->most, multiplier));
    return fmin(delta * (1 + DP_REPEATED_CELLS * DBL_EPSILON), 1);
}

struct question {
    const struct dp_repeated_law *law;
    double multiplier, delta;
};

static double excess(double epsilon, void *context)
{
    const struct question *q = context;
    return log(fmax(dp_repeated_delta(q->law, q->multiplier, epsilon), DBL_MIN) / q->delta);
}

double dp_repeated_epsilon(const struct dp_repeated_law *law, double multiplier, double delta)
{
    struct question q = {law, multiplier, delta};
    return dp_bracket_smallest(excess, &q, LARGEST_EPSILON);
}

/* Adds ln of a bound on the share of E e^(growth S²) that comes from S beyond `from`: The tail is cut into pieces, and each
 * piece counts at its larger end. */
static void add_tail(const struct dp_repeated_law *law, double growth, double from, struct dp_log_sum *sum)
{
    double mean = mean_of(&law->of), variance = variance_of(&law->of), end = law->most + DP_REPEATED_ROUNDING;
    for (double at = from; at < end; at *= 1.02) {
        double next = fmin(1.02 * at, end);
        double rare = rarity(variance, fmax(at - 2 * DP_REPEATED_ROUNDING - mean, 0));
        double grown = dp_upward(growth * next * next);
        dp_log_sum_add(sum, grown - rare + DP_SLACK * (grown + rare));
    }
}

/* An upper bound on ln of E e^(growth S²) − 1, with S + 2^-10 for S. Up to the end of the grid the law is a bound for the
   function that follows its tangent from there on. */
static double log_excess(const struct dp_repeated_law *law, double growth)
{
    struct dp_log_sum sum = {.largest = -INFINITY};
    double most = law->most + DP_REPEATED_ROUNDING;
    double end = fmin(law->low + DP_REPEATED_CELLS * law->step + DP_REPEATED_ROUNDING, most);
    for (size_t i = 0; i < DP_REPEATED_CELLS; i++) {
        double s = law->low + (double)i * law->step + DP_REPEATED_ROUNDING, grown = dp_upward(growth * s * s);
        if (law->weight[i] == 0 || grown == 0)
            continue;
        double log_weight = log(law->weight[i]), log_growth = dp_log_expm1(grown);
        dp_log_sum_add(&sum, log_weight + log_growth + DP_SLACK * (fabs(log_weight) + fabs(log_growth) + 2));
    }
    if (law->above > 0) {
        double over = most - end, log_weight = log(law->above), grown = dp_upward(growth * end * end);
        double linear = log1p(2 * growth * end * over);
        dp_log_sum_add(&sum, log_weight + grown + linear + DP_SLACK * (fabs(log_weight) + grown + linear + 2));
    }
    add_tail(law, growth, end, &sum);
    return dp_log_sum_value(&sum, 2 * DP_REPEATED_CELLS);
}

void dp_rdp_repeated(const struct dp_repeated_law *law, double multiplier, const double *orders, size_t n, double *out)
{
    for (size_t i = 0; i < n; i++) {
        double order = orders[i], mu = shift(law->most, multiplier);
        out[i] = dp_upward(order * mu * mu / 2);
        if (law->of.rate >= 1 || !isfinite(out[i]))
            continue;
        double z = fmin(multiplier, 1e100), growth = dp_upward(order * (order - 1) / (2 * z * z));
        double bound = dp_upward(dp_log_one_plus_exp(log_excess(law, growth)) / (order - 1));
        if (bound < out[i])
            out[i] = fmax(bound, DBL_MIN);
    }
}
