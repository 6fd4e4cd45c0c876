#include "priv/pld.h"

#include <float.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_fft_halfcomplex.h>
#include <gsl/gsl_fft_real.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "priv/rdp.h"

enum { POINTS_MAX = 1 << 22, COARSE_POINTS = 1 << 14, ROUNDS = 5 };
static const double unit_roundoff = DBL_EPSILON / 2;
static const double lower_share = 1e-4; /* of δ, given up by the lower bound */
static const double spill_share = 1e-8; /* of δ, added for what truncation and window leave out */
static const double loss_max = 500;
static const double deviations_max = 12; /* how far out the quadrature is exact */

/* One lap in one direction: log_mass[k] at loss (first + k) h. */
struct lap {
    double h;
    int64_t first;
    size_t count;
    double *log_mass;
};

static double loss_at(const struct lap *lap, size_t k)
{
    return (double)(lap->first + (int64_t)k) * lap->h;
}

static double loss_end(const struct lap *lap)
{
    return fmax(fabs(loss_at(lap, 0)), fabs(loss_at(lap, lap->count - 1)));
}

/* Four and eight Gauss-Legendre points. */
static const double x4[] = {-0.86113631159405258, -0.33998104358485626, 0.33998104358485626,
                            0.86113631159405258};
static const double w4[] = {0.34785484513745386, 0.65214515486254614, 0.65214515486254614,
                            0.34785484513745386};
static const double x8[] = {-0.96028985649753623, -0.79666647741362674, -0.52553240991632899,
                            -0.18343464249564980, 0.18343464249564980,  0.52553240991632899,
                            0.79666647741362674,  0.96028985649753623};
static const double w8[] = {0.10122853629037626, 0.22238103445337447, 0.31370664587788729,
                            0.36268378337836198, 0.36268378337836198, 0.31370664587788729,
                            0.22238103445337447, 0.10122853629037626};

/* Adds to *mass the A mass of [left, right] and to *up that less e^{floor} times the B mass; floor_ratio is
 * e^{floor} where `low`, else e^{floor} - 1.
 * Eight points on a quarter, or four on a hundredth, of a standard deviation are exact to rounding up to
 * twelve standard deviations from the centres; further out masses are below 1e-30 of all. */
static void integrate(double q, double mu, double left, double right, bool low, double floor_ratio,
                      double *mass, double *up)
{
    double width = right - left;
    int panels = width <= 0.25 ? 1 : (int)ceil(width * 4), points = width <= 0.01 ? 4 : 8;
    const double *x = points == 4 ? x4 : x8, *w = points == 4 ? w4 : w8;
    double from = left;
    for (int i = 1; i <= panels; i++) {
        double to = i == panels ? right : left + width * i / panels;
        double middle = (from + to) / 2, half = (to - from) / 2;
        for (int j = 0; j < points; j++) {
            double u = middle + half * x[j];
            double base = half * w[j] * exp(-u * u / 2) * 0.39894228040143268;
            double v = u * mu - mu * mu / 2;
            if (low) { /* 1 + g may be tiny: keep its digits */
                double ratio = (1 - q) + q * exp(v);
                *mass += base * ratio;
                *up += base * (ratio - floor_ratio);
            } else {
                double g = q * expm1(v);
                *mass += base * (1 + g);
                *up += base * (g - floor_ratio);
            }
        }
        from = to;
    }
}

static double loss_of(double q, double mu, double u)
{
    double v = u * mu - mu * mu / 2, g = q * expm1(v);
    return g < -0.5 ? log((1 - q) + q * exp(v)) : log1p(g);
}

/* Where the loss is `loss`; -infinity below its range. */
static double place_of(double q, double mu, double loss)
{
    if (loss < -1) {
        double ratio = (exp(loss) - (1 - q)) / q;
        return ratio <= 0 ? -INFINITY : (log(ratio) + mu * mu / 2) / mu;
    }
    double v = expm1(loss) / q;
    return v <= -1 ? -INFINITY : (log1p(v) + mu * mu / 2) / mu;
}

/* The remove direction, u in [-d, mu + d]. False without memory. */
static bool lap_new(struct lap *lap, double q, double mu, double d, double h)
{
    int64_t first = (int64_t)floor(loss_of(q, mu, -d) / h), last = (int64_t)ceil(loss_of(q, mu, mu + d) / h);
    lap->h = h;
    lap->first = first;
    lap->count = (size_t)(last - first) + 1;
    lap->log_mass = calloc(lap->count, sizeof *lap->log_mass);
    if (lap->log_mass == NULL)
        return false;
    double left = -d, spread = -expm1(-h);
    for (size_t k = 0; k + 1 < lap->count; k++) {
        double floor_loss = (double)(first + (int64_t)k) * h, edge = (double)(first + (int64_t)k + 1) * h;
        bool deep = floor_loss < -1;
        double right = k + 2 == lap->count ? mu + d : fmin(fmax(place_of(q, mu, edge), left), mu + d);
        double mass = 0, up = 0;
        integrate(q, mu, left, right, deep, deep ? exp(floor_loss) : expm1(floor_loss), &mass, &up);
        up = fmin(fmax(up / spread, 0), mass);
        lap->log_mass[k] += mass - up;
        lap->log_mass[k + 1] += up;
        left = right;
    }
    for (size_t k = 0; k < lap->count; k++)
        lap->log_mass[k] = log(lap->log_mass[k]);
    return true;
}

/* Turns remove into add: B mass, losses negated. */
static void lap_mirror(struct lap *lap)
{
    for (size_t k = 0; k < lap->count; k++)
        lap->log_mass[k] -= loss_at(lap, k);
    for (size_t i = 0, j = lap->count - 1; i < j; i++, j--) {
        double swap = lap->log_mass[i];
        lap->log_mass[i] = lap->log_mass[j];
        lap->log_mass[j] = swap;
    }
    lap->first = -(lap->first + (int64_t)lap->count - 1);
}

/* K(s) = ln Σ mass e^{s loss}; mean and variance of the loss under those weights where wanted. Sums as
   Kahan does: the result is taken T times. */
static double log_moment(const struct lap *lap, double s, double *mean, double *variance)
{
    double peak = -INFINITY;
    for (size_t k = 0; k < lap->count; k++)
        peak = fmax(peak, lap->log_mass[k] + s * loss_at(lap, k));
    double sum = 0, lost = 0, first = 0, second = 0;
    for (size_t k = 0; k < lap->count; k++) {
        double loss = loss_at(lap, k), w = lap->log_mass[k] + s * loss - peak;
        if (w < -100)
            continue;
        w = exp(w);
        double y = w - lost, t = sum + y; /* Kahan */
        lost = (t - sum) - y;
        sum = t;
        first += w * loss;
        second += w * loss * loss;
    }
    if (mean != NULL)
        *mean = first / sum;
    if (variance != NULL)
        *variance = fmax(second / sum - first / sum * (first / sum), 0);
    return peak + log(sum);
}

/* s >= 0 with mean loss `wanted` under the weights, roughly: any s gives a valid bound. */
static double tilt_for(const struct lap *lap, double wanted)
{
    double low = 0, high = 1, mean;
    log_moment(lap, 0, &mean, NULL);
    if (mean >= wanted)
        return 0;
    for (; high < 4096; high *= 4) {
        log_moment(lap, high, &mean, NULL);
        if (mean >= wanted)
            break;
        low = high;
    }
    for (int i = 0; i < 9; i++) {
        double s = (low + high) / 2;
        log_moment(lap, s, &mean, NULL);
        *(mean < wanted ? &low : &high) = s;
    }
    return (low + high) / 2;
}

/* Where the window may end, and the s of the two Chernoff bounds that say so. */
struct window {
    double s, above, below; /* above > s > below */
    double bottom, top;
};

static struct window window_for(const struct lap *lap, double laps, double wanted, double delta)
{
    struct window w = {.s = tilt_for(lap, wanted / laps)};
    double mean, variance, middle = log_moment(lap, w.s, &mean, &variance);
    double unit = 1 / sqrt(laps * variance + lap->h * lap->h);
    w.top = INFINITY;
    w.bottom = -INFINITY;
    for (double step = unit / 2; step < 40 * unit; step *= 1.6) {
        double s = w.s + step;
        double top = (laps * log_moment(lap, s, NULL, NULL) - log(spill_share * delta)) / s;
        double heavy = laps * (log_moment(lap, s, NULL, NULL) - middle) - log(lower_share / 10);
        top = fmax(top, heavy / step);
        if (top < w.top) {
            w.top = top;
            w.above = s;
        }
        s = w.s - step;
        double bottom = (log(lower_share / 10) + laps * (middle - log_moment(lap, s, NULL, NULL))) / step;
        if (bottom > w.bottom) {
            w.bottom = bottom;
            w.below = s;
        }
    }
    w.top = fmin(w.top, laps * loss_at(lap, lap->count - 1));
    w.bottom = fmax(w.bottom, laps * loss_at(lap, 0));
    return w;
}

/* All laps of one direction, and what is not known about them. */
struct composed {
    double *mass; /* weighted, at loss j h, index j mod n */
    size_t n;
    int64_t bottom, top;     /* j in [bottom, top) */
    double h, s, log_scale;  /* T K(s) */
    double error;            /* of each mass */
    double above, infinite;  /* δ of what is beyond the window and beyond everything */
    double wrapped;          /* weighted mass that wrapped around */
    double factor, shift;    /* e^{Tκ} and sums; of ε */
    double blur, blur_share; /* Δ and what Hoeffding leaves, relative to δ */
};

static void power(double *re, double *im, int64_t laps)
{
    double a = *re, b = *im, c = 1, d = 0;
    for (int64_t n = laps;;) {
        if (n & 1) {
            double t = c * a - d * b;
            d = c * b + d * a;
            c = t;
        }
        if ((n >>= 1) == 0)
            break;
        double t = a * a - b * b;
        b = 2 * a * b;
        a = t;
    }
    *re = c;
    *im = d;
}

/* The bound on one output's error is in the header; where |f|^T is below 1e-60 it is not computed.
   The 2e-60 for each output also cover the masses below e^-200 that compose() leaves out. */
static bool transform(struct composed *c, int64_t laps)
{
    gsl_fft_real_wavetable *real = gsl_fft_real_wavetable_alloc(c->n);
    gsl_fft_halfcomplex_wavetable *half = gsl_fft_halfcomplex_wavetable_alloc(c->n);
    gsl_fft_real_workspace *work = gsl_fft_real_workspace_alloc(c->n);
    bool ok = real != NULL && half != NULL && work != NULL;
    if (ok) {
        double e = 24 * unit_roundoff * log2((double)c->n), total = 0;
        double t = (double)laps, per_power = 8 * t * unit_roundoff + e, least = exp(-138 / t);
        gsl_fft_real_transform(c->mass, 1, c->n, real, work);
        for (size_t i = 0; i < c->n;) {
            bool alone = i == 0 || i + 1 == c->n;
            double re = c->mass[i], im = alone ? 0 : c->mass[i + 1], size = hypot(re, im) + e;
            double bound = 2e-60;
            if (size < least) {
                re = im = 0;
                bound += laps == 1 ? size : 0;
            } else {
                double before = exp((t - 1) * log(size));
                bound += t * e * before + per_power * before * size;
                power(&re, &im, laps);
            }
            total += alone ? bound : 2 * bound;
            c->mass[i] = re;
            if (!alone)
                c->mass[i + 1] = im;
            i += alone ? 1 : 2;
        }
        gsl_fft_halfcomplex_inverse(c->mass, 1, c->n, half, work);
        c->error = total / (double)c->n;
    }
    gsl_fft_real_wavetable_free(real);
    gsl_fft_halfcomplex_wavetable_free(half);
    gsl_fft_real_workspace_free(work);
    return ok;
}

static bool compose(struct composed *c, const struct lap *lap, int64_t laps, struct window w, double outside,
                    double delta)
{
    double t = (double)laps, h = lap->h;
    c->h = h;
    c->s = w.s;
    c->bottom = (int64_t)floor(w.bottom / h);
    int64_t wanted = (int64_t)ceil(w.top / h) + 2 - c->bottom;
    for (c->n = 16; (int64_t)c->n < wanted && c->n < POINTS_MAX; c->n *= 2)
        ;
    c->top = c->bottom + (int64_t)c->n;
    c->mass = calloc(c->n, sizeof *c->mass);
    if (c->mass == NULL)
        return false;
    double k = log_moment(lap, w.s, NULL, NULL);
    for (size_t i = 0; i < lap->count; i++) {
        double x = lap->log_mass[i] + w.s * loss_at(lap, i) - k;
        if (x > -200)
            c->mass[(size_t)(lap->first + (int64_t)i) & (c->n - 1)] += exp(x);
    }
    if (!transform(c, laps)) {
        free(c->mass);
        return false;
    }
    double kappa = 1e-13 + 16 * unit_roundoff * (w.s + 1) * loss_end(lap);
    double top = (double)c->top * h, bottom = (double)c->bottom * h;
    c->log_scale = t * k;
    c->infinite = t * outside;
    c->above = c->wrapped = 0;
    if (top <= t * loss_at(lap, lap->count - 1)) {
        double beyond = log_moment(lap, w.above, NULL, NULL);
        c->above = exp(t * beyond - w.above * top + t * kappa);
        c->wrapped += exp(t * (beyond - k) - (w.above - w.s) * top + t * kappa);
    }
    if (bottom > t * loss_at(lap, 0))
        c->wrapped +=
            exp(t * (log_moment(lap, w.below, NULL, NULL) - k) + (w.s - w.below) * bottom + t * kappa);
    c->factor = exp(t * kappa);
    c->shift = t * 32 * unit_roundoff * (1 + loss_end(lap));
    double hoeffding = t * h * h * exp(h) / 8 + h * sqrt(t / 2 * log(1 / (lower_share * delta)));
    c->blur = fmin(hoeffding, t * h);
    c->blur_share = hoeffding < t * h ? lower_share : 0;
    return true;
}

/* δ at ε, or a bound on it, from the sums over the losses above: Σ weight and Σ weight e^{base − loss}. */
static double delta_between(const struct composed *c, bool upper, double epsilon, double sum, double damped,
                            double base)
{
    double peak = c->s > 0 ? exp(c->s * log(c->s / (c->s + 1))) / (c->s + 1) : 1;
    double weights = (double)c->n;
    if (c->s > 0)
        weights = fmin(weights, 1 / (c->h * c->s * (c->s + 1)) + 2);
    double scale = exp(c->log_scale - c->s * epsilon);
    double noise = c->error * weights * scale + 4 * unit_roundoff * (double)c->n * fabs(sum);
    double seen = sum - exp(epsilon - base) * damped;
    if (upper)
        return c->factor * (seen + noise) + c->above + c->infinite;
    return (seen - noise - c->wrapped * peak * scale) / c->factor;
}

/* The ε where that falls to delta, or -infinity when it is always below; +infinity when never. */
static double epsilon_of(const struct composed *c, bool upper, double delta)
{
    double sum = 0, damped = 0, base = (double)c->top * c->h;
    for (int64_t j = c->top - 1; j >= c->bottom; j--) {
        double loss = (double)j * c->h;
        if (delta_between(c, upper, loss, sum, damped, base) > delta) {
            if (j == c->top - 1)
                return upper ? INFINITY : loss;
            double low = loss, high = loss + c->h;
            for (int i = 0; i < 40; i++) {
                double middle = (low + high) / 2;
                *(delta_between(c, upper, middle, sum, damped, base) > delta ? &low : &high) = middle;
            }
            return upper ? high : low;
        }
        double w = c->mass[(size_t)j & (c->n - 1)] * exp(c->log_scale - c->s * loss);
        sum += w;
        damped += w * exp(base - loss);
        if (loss < 0)
            break;
    }
    return upper && (double)c->bottom * c->h > 0 ? (double)c->bottom * c->h : -INFINITY;
}

static double delta_of(const struct composed *c, bool upper, double epsilon)
{
    double sum = 0, damped = 0, base = (double)c->top * c->h;
    if (epsilon >= base)
        return upper ? c->above + c->infinite : 0;
    if (epsilon < (double)c->bottom * c->h)
        return upper ? 1 : 0;
    for (int64_t j = c->top - 1; j >= c->bottom && (double)j * c->h > epsilon; j--) {
        double loss = (double)j * c->h;
        double w = c->mass[(size_t)j & (c->n - 1)] * exp(c->log_scale - c->s * loss);
        sum += w;
        damped += w * exp(base - loss);
    }
    return delta_between(c, upper, epsilon, sum, damped, base);
}

struct question {
    double q, mu;
    int64_t laps;
    bool of_delta;         /* asked: δ at epsilon; else ε at delta */
    double epsilon, delta; /* one given, the other the Rényi bound */
};

/* Both directions on a grid of step h, windows chosen around `epsilon` from the coarse laps. */
static bool bounds_on(const struct question *a, const struct lap coarse[2], double d, double h,
                      double epsilon, double delta, struct dp_pld_answer *answer)
{
    struct lap lap = {0};
    double t = (double)a->laps, outside = 2 * gsl_cdf_ugaussian_Q(d) * (1 + 1e-9);
    answer->upper = answer->lower = 0;
    if (!lap_new(&lap, a->q, a->mu, d, h))
        return false;
    bool ok = true;
    for (int add = 0; add < 2 && ok; add++) {
        struct composed c = {0};
        struct window w = window_for(&coarse[add], t, epsilon, delta);
        if (add)
            lap_mirror(&lap);
        ok = compose(&c, &lap, a->laps, w, outside, delta);
        if (!ok)
            break;
        if (a->of_delta) {
            answer->upper = fmax(answer->upper, delta_of(&c, true, a->epsilon - c.shift));
            double lower = delta_of(&c, false, a->epsilon + c.blur + c.shift);
            answer->lower = fmax(answer->lower, lower - c.blur_share * delta);
        } else {
            answer->upper = fmax(answer->upper, epsilon_of(&c, true, a->delta) + c.shift);
            double lower = epsilon_of(&c, false, a->delta * (1 + c.blur_share));
            answer->lower = fmax(answer->lower, lower - c.blur - c.shift);
        }
        free(c.mass);
    }
    free(lap.log_mass);
    return ok;
}

/* The step with which both the blur of the lower bound and the bias T h²(s+1)/12 of the upper are small. */
static double step_for(const struct question *a, double epsilon, double delta, double s, double gap)
{
    double t = (double)a->laps;
    double blur = fmin(t, sqrt(t / 2 * log(1 / (lower_share * delta))));
    double h = gap / blur;
    return fmin(h, fmax(sqrt(3e-7 * epsilon * 12 / (t * (s + 1))), h / 16));
}

static int solve(const struct question *a, struct dp_pld_answer *answer, struct dp_err *err)
{
    double epsilon = a->epsilon, delta = a->delta, t = (double)a->laps;
    double rdp = a->of_delta ? delta : epsilon;
    *answer = (struct dp_pld_answer){rdp, 0, rdp == 0};
    double d = gsl_cdf_ugaussian_Qinv(fmax(spill_share * delta / (2 * t), 1e-300));
    double low = loss_of(a->q, a->mu, -d), high = loss_of(a->q, a->mu, a->mu + d), range = high - low;
    if (rdp == 0 || epsilon > loss_max || d > deviations_max || !(range > 0) || !(high < loss_max) ||
        !(low > -loss_max))
        return DP_OK;
    struct lap coarse[2] = {0};
    double start = fmax(range / COARSE_POINTS, fmin(range / 512, epsilon * 0.1 / sqrt(t)));
    bool ok = lap_new(&coarse[0], a->q, a->mu, d, start) && lap_new(&coarse[1], a->q, a->mu, d, start);
    if (ok) {
        lap_mirror(&coarse[1]);
        double gap = 0.1 * epsilon;
        for (int round = 0; round < ROUNDS && ok; round++) {
            struct dp_pld_answer now;
            struct window w = window_for(&coarse[0], t, epsilon, delta),
                          v = window_for(&coarse[1], t, epsilon, delta);
            double s = fmax(w.s, v.s), span = fmax(w.top - w.bottom, v.top - v.bottom);
            if (a->of_delta)
                gap = (round == 0 ? 0.1 : 0.003) / (s + 1);
            double h = step_for(a, epsilon, delta, s, gap);
            if (round == 0)
                h = gap / fmin(t, sqrt(t / 2 * log(1 / (lower_share * delta))));
            double least = fmax(span * 1.001, range) / (POINTS_MAX - 8);
            bool finest = h <= least;
            h = fmax(h, least);
            ok = bounds_on(a, coarse, d, h, epsilon, delta, &now);
            if (!ok)
                break;
            answer->upper = fmin(answer->upper, now.upper);
            answer->lower = fmax(answer->lower, now.lower);
            answer->tight = answer->upper - answer->lower <= 0.01 * answer->upper;
            if ((round > 0 && answer->tight) || finest || answer->upper <= 0)
                break;
            *(a->of_delta ? &delta : &epsilon) = answer->upper;
            gap = (round < 2 ? 0.004 : 0.002) * epsilon;
        }
    }
    free(coarse[0].log_mass);
    free(coarse[1].log_mass);
    return ok ? DP_OK : dp_fail(err, DP_E_RUN, "no memory for a privacy loss distribution");
}

static int check(double rate, double multiplier, int64_t laps, struct dp_err *err)
{
    if (!(rate > 0 && rate <= 1))
        return dp_fail(err, DP_E_RUN, "the sampling rate must be above 0 and at most 1, got %g", rate);
    if (!(multiplier > 0 && isfinite(multiplier)))
        return dp_fail(err, DP_E_RUN, "the noise multiplier must be positive and finite, got %g", multiplier);
    if (laps < 1)
        return dp_fail(err, DP_E_RUN, "a run has at least one lap, got %lld", (long long)laps);
    return DP_OK;
}

static void renyi(double rate, double multiplier, int64_t laps, double *rdp)
{
    dp_rdp_sampled_gaussian(rate, multiplier, dp_rdp_orders, DP_RDP_ORDER_COUNT, rdp);
    for (int i = 0; i < DP_RDP_ORDER_COUNT; i++)
        rdp[i] *= (double)laps;
}

int dp_pld_epsilon(double rate, double multiplier, int64_t laps, double delta, struct dp_pld_answer *answer,
                   struct dp_err *err)
{
    int rc = check(rate, multiplier, laps, err);
    if (rc != DP_OK)
        return rc;
    if (!(delta > 0 && delta < 1))
        return dp_fail(err, DP_E_RUN, "delta must be between 0 and 1, got %g", delta);
    double rdp[DP_RDP_ORDER_COUNT];
    renyi(rate, multiplier, laps, rdp);
    struct question a = {rate, 1 / multiplier, laps, false, 0, delta};
    a.epsilon = dp_rdp_epsilon(dp_rdp_orders, rdp, DP_RDP_ORDER_COUNT, delta, NULL);
    if (!isfinite(a.epsilon))
        return dp_fail(err, DP_E_RUN, "this much noise gives no bound at all");
    return solve(&a, answer, err);
}

int dp_pld_delta(double rate, double multiplier, int64_t laps, double epsilon, struct dp_pld_answer *answer,
                 struct dp_err *err)
{
    int rc = check(rate, multiplier, laps, err);
    if (rc != DP_OK)
        return rc;
    if (!(epsilon >= 0 && isfinite(epsilon)))
        return dp_fail(err, DP_E_RUN, "epsilon must be finite and not negative, got %g", epsilon);
    double rdp[DP_RDP_ORDER_COUNT], log_delta = 0;
    renyi(rate, multiplier, laps, rdp);
    for (int i = 0; i < DP_RDP_ORDER_COUNT; i++) {
        /* ε = r + ln(1 − 1/α) − (ln δ + ln α)/(α − 1), for δ */
        double order = dp_rdp_orders[i];
        double x = (order - 1) * (rdp[i] - epsilon + log1p(-1 / order)) - log(order);
        log_delta = fmin(log_delta, x + 1e-12 * (1 + fabs(x) + (order - 1) * (rdp[i] + epsilon)));
    }
    struct question a = {rate, 1 / multiplier, laps, true, epsilon, fmax(exp(log_delta), DBL_MIN)};
    return solve(&a, answer, err);
}
