/* Compares every dual update with a numerical minimiser of its subproblem (GSL Brent), on random subproblems. */
#include "random.h"
#include "unit.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_min.h>

#include "math/dual.h"
#include "math/loss.h"

struct problem {
    enum dp_loss loss;
    double width, y, alpha, u, s;
};

static double objective(double zeta, void *context)
{
    const struct problem *p = context;
    return dp_loss_conjugate(p->loss, p->width, p->y, p->alpha + zeta) + p->u * zeta + 0.5 * p->s * zeta * zeta;
}

/* The minimiser on [low, high] by Brent, to about 1e-8 (the square root of the precision). */
static double minimise(const struct problem *p, double low, double high)
{
    gsl_function f = {objective, (void *)p};
    gsl_min_fminimizer *m = gsl_min_fminimizer_alloc(gsl_min_fminimizer_brent);
    double best = 0.5 * (low + high), least = INFINITY;
    for (int i = 0; i <= 1000; i++) { /* a starting point lower than both ends */
        double zeta = low + (high - low) * i / 1000.0, value = objective(zeta, (void *)p);
        if (value < least) {
            least = value;
            best = zeta;
        }
    }
    if (best > low && best < high && gsl_min_fminimizer_set(m, &f, best, low, high) == GSL_SUCCESS) {
        for (int i = 0; i < 200; i++)
            if (gsl_min_fminimizer_iterate(m) != GSL_SUCCESS)
                break;
        best = gsl_min_fminimizer_x_minimum(m);
    }
    gsl_min_fminimizer_free(m);
    return best;
}

static struct problem random_problem(gsl_rng *rng, enum dp_loss loss)
{
    struct problem p = {.loss = loss};
    p.width = 0.05 + 2 * gsl_rng_uniform(rng);
    p.y = dp_loss_is_classification(loss) ? (gsl_rng_uniform(rng) < 0.5 ? -1.0 : 1.0) : 4 * gsl_rng_uniform(rng) - 2;
    p.u = 6 * gsl_rng_uniform(rng) - 3;
    p.s = exp(8 * gsl_rng_uniform(rng) - 4);
    if (dp_loss_is_classification(loss))
        p.alpha = p.y * gsl_rng_uniform(rng);
    else if (loss == DP_LOSS_HUBER)
        p.alpha = p.width * (2 * gsl_rng_uniform(rng) - 1);
    else
        p.alpha = 4 * gsl_rng_uniform(rng) - 2;
    return p;
}

static void domain(const struct problem *p, double *low, double *high)
{
    *low = -20;
    *high = 20;
    if (p->loss == DP_LOSS_HUBER) {
        *low = -p->width;
        *high = p->width;
    } else if (dp_loss_is_classification(p->loss)) {
        *low = p->y > 0 ? 0 : -1;
        *high = p->y > 0 ? 1 : 0;
    }
    *low += 1e-12 - p->alpha; /* rounding must not step outside, where G is infinite */
    *high -= 1e-12 + p->alpha;
}

TEST(updates_minimise_the_subproblem)
{
    gsl_set_error_handler_off();
    gsl_rng *rng = random_numbers();
    for (int loss = DP_LOSS_SQUARED; loss <= DP_LOSS_HUBER; loss++) {
        for (int i = 0; i < 500; i++) {
            struct problem p = random_problem(rng, (enum dp_loss)loss);
            double low, high;
            domain(&p, &low, &high);
            double zeta = dp_dual_update(p.loss, p.width, p.y, p.alpha, p.u, p.s, 100);
            double best = minimise(&p, low, high);
            assert_true(zeta >= low - 1e-11 && zeta <= high + 1e-11);
            assert_near(zeta, best, 3e-6);
            assert_true(objective(zeta, &p) <= objective(best, &p) + 1e-11);
        }
    }
}

/* One Newton step is the minimiser of the second-order expansion of G at the feasible point, inside the domain. */
TEST(logistic_takes_one_newton_step)
{
    gsl_rng *rng = random_numbers();
    for (int i = 0; i < 500; i++) {
        struct problem p = random_problem(rng, DP_LOSS_LOGISTIC);
        double start = p.y * fmin(fmax(p.y * p.alpha, DP_LOGISTIC_MARGIN), 1 - DP_LOGISTIC_MARGIN) - p.alpha;
        double b = p.y * (p.alpha + start), h = 1e-5 * fmin(b, 1 - b);
        double up = objective(start + h, &p), middle = objective(start, &p), down = objective(start - h, &p);
        double step = -(up - down) / (2 * h) / ((up - 2 * middle + down) / (h * h));
        double zeta = dp_dual_update(p.loss, p.width, p.y, p.alpha, p.u, p.s, 1);
        double landed = p.y * (p.alpha + start + step);
        if (landed > 0.02 && landed < 0.98)
            assert_near(zeta - start, step, 2e-3);
        double now = p.y * (p.alpha + zeta);
        assert_true(now > 0 && now < 1);
    }
}

/* Numbers of updates below, at and above the width of a vector, with values of all kinds. */
TEST(several_updates_are_those_of_each)
{
    enum { MOST = 37 };
    static const double odd[] = {0, -0.0, 1e-320, 1e308, (double)NAN, (double)INFINITY, -(double)INFINITY};
    gsl_rng *rng = random_numbers();
    for (int loss = 0; loss <= DP_LOSS_HUBER; loss++) {
        for (size_t count = 0; count <= MOST; count++) {
            double y[MOST], alpha[MOST], u[MOST], s[MOST], zeta[MOST], width = 0.7;
            for (size_t i = 0; i < count; i++) {
                struct problem p = random_problem(rng, (enum dp_loss)loss);
                y[i] = p.y, alpha[i] = p.alpha, u[i] = p.u, s[i] = p.s;
                double *one[] = {&alpha[i], &u[i], &s[i]};
                if (gsl_rng_uniform_int(rng, 3) == 0)
                    *one[gsl_rng_uniform_int(rng, 3)] = odd[gsl_rng_uniform_int(rng, sizeof odd / sizeof *odd)];
            }
            dp_dual_updates((enum dp_loss)loss, width, y, alpha, u, s, 2, zeta, count);
            for (size_t i = 0; i < count; i++) {
                double alone = dp_dual_update((enum dp_loss)loss, width, y[i], alpha[i], u[i], s[i], 2);
                assert_true((isnan(alone) && isnan(zeta[i])) || memcmp(&zeta[i], &alone, sizeof alone) == 0);
            }
        }
    }
}

/* Noise may make alpha infeasible: the constraint is enforced before the step. */
TEST(infeasible_alpha_comes_back)
{
    for (int loss = DP_LOSS_HINGE; loss <= DP_LOSS_HUBER; loss++) {
        for (double alpha = -5; alpha <= 5; alpha += 0.37) {
            double y = loss == DP_LOSS_HUBER ? 0.3 : 1.0, width = 0.7;
            double zeta = dp_dual_update((enum dp_loss)loss, width, y, alpha, 0.2, 0.5, 1);
            assert_true(isfinite(dp_loss_conjugate((enum dp_loss)loss, width, y, alpha + zeta)) ||
                        fabs(alpha + zeta) <= width + 1e-12);
        }
    }
}

TEST(slopes_of_the_dual_are_slopes)
{
    gsl_rng *rng = random_numbers();
    for (int loss = DP_LOSS_SQUARED; loss <= DP_LOSS_HUBER; loss++) {
        for (int i = 0; i < 300; i++) {
            struct problem p = random_problem(rng, (enum dp_loss)loss);
            double low, high, inside = 1e-3, h = 1e-6;
            dp_dual_range(p.loss, p.width, p.y, &low, &high);
            if (p.loss == DP_LOSS_SQUARED) {
                assert_true(isinf(low) && low < 0 && isinf(high) && high > 0);
            } else {
                assert_true(isfinite(dp_loss_conjugate(p.loss, p.width, p.y, low)));
                assert_true(isfinite(dp_loss_conjugate(p.loss, p.width, p.y, high)));
                assert_true(isinf(dp_loss_conjugate(p.loss, p.width, p.y, low - 1e-6)));
                assert_true(isinf(dp_loss_conjugate(p.loss, p.width, p.y, high + 1e-6)));
            }
            p.alpha = fmin(fmax(p.alpha, low + inside * p.width), high - inside * p.width);
            assert_near(dp_dual_slope(p.loss, p.width, p.y, p.alpha, p.u), (objective(h, &p) - objective(-h, &p)) / (2 * h),
                        1e-4);
        }
    }
    assert_true(dp_dual_slope(DP_LOSS_LOGISTIC, 1, 1, 0, 5) == -INFINITY);
    assert_true(dp_dual_slope(DP_LOSS_LOGISTIC, 1, -1, -1, 5) == -INFINITY);
}

TEST(conjugates_are_conjugate)
{
    /* Fenchel–Young: l(u) + l*(−a) + a u ≥ 0, with equality at a = −l'(u). */
    gsl_rng *rng = random_numbers();
    for (int loss = DP_LOSS_SQUARED; loss <= DP_LOSS_HUBER; loss++) {
        for (int i = 0; i < 300; i++) {
            struct problem p = random_problem(rng, (enum dp_loss)loss);
            double value = dp_loss_value(p.loss, p.width, p.y, p.u);
            double any = dp_loss_conjugate(p.loss, p.width, p.y, p.alpha);
            double at = -dp_loss_slope(p.loss, p.width, p.y, p.u);
            double tight = dp_loss_conjugate(p.loss, p.width, p.y, at);
            assert_true(value + any + p.alpha * p.u >= -1e-12);
            assert_near(value + tight + at * p.u, 0, 1e-9);
        }
    }
}

TEST(slopes_are_slopes)
{
    for (int loss = DP_LOSS_SQUARED; loss <= DP_LOSS_HUBER; loss++) {
        for (double u = -2.95; u < 3; u += 0.31) {
            double h = 1e-6, y = 1;
            double slope =
                (dp_loss_value((enum dp_loss)loss, 0.5, y, u + h) - dp_loss_value((enum dp_loss)loss, 0.5, y, u - h)) / (2 * h);
            assert_near(dp_loss_slope((enum dp_loss)loss, 0.5, y, u), slope, 1e-6);
        }
    }
}

/* The losses from their definitions, in long double. */
static long double reference(enum dp_loss loss, long double g, long double y, long double u)
{
    long double m = 1 - y * u, r = fabsl(u - y);
    switch (loss) {
    case DP_LOSS_SQUARED:
        return r * r / 2;
    case DP_LOSS_HINGE:
        return m > 0 ? m : 0;
    case DP_LOSS_LOGISTIC:
        return logl(1 + expl(-y * u));
    case DP_LOSS_SMOOTH_HINGE:
        return m < 0 ? 0 : m < g ? m * m / (2 * g) : m - g / 2;
    case DP_LOSS_HUBER:
        return r < g ? r * r / 2 : g * r - g * g / 2;
    case DP_LOSS_HUBERISED_HINGE:
        return m < -g ? 0 : m < g ? (m + g) * (m + g) / (4 * g) : m;
    case DP_LOSS_POISSON:
        return expl(u) - y * u;
    default:
        return NAN;
    }
}

/* A second derivative is the slope of the slope, and never above the smoothness. */
TEST(curvatures_are_slopes_of_slopes)
{
    const double h = 1e-6;
    static const enum dp_loss all[] = {DP_LOSS_SQUARED, DP_LOSS_LOGISTIC,        DP_LOSS_SMOOTH_HINGE,
                                       DP_LOSS_HUBER,   DP_LOSS_HUBERISED_HINGE, DP_LOSS_POISSON};
    for (size_t l = 0; l < sizeof all / sizeof *all; l++)
        for (double y = -1; y <= 1; y += 2)
            for (double u = -4.03; u < 4; u += 0.11) {
                double g = dp_losses[all[l]].width * 1.3;
                double c = dp_loss_curvature(all[l], g, y, u);
                assert_near(c, (dp_loss_slope(all[l], g, y, u + h) - dp_loss_slope(all[l], g, y, u - h)) / (2 * h), 1e-7);
                assert_true(c <= dp_loss_smoothness(all[l], g));
            }
    assert_true(dp_loss_curvature(DP_LOSS_LOGISTIC, 1, 1, 1e4) == 0 && isnan(dp_loss_curvature(DP_LOSS_HINGE, 1, 1, 0)));
}

TEST(values_and_slopes_are_those_of_the_definition)
{
    const long double h = 1e-6L; /* step of the central difference: its error is of order h², its rounding 1e-13 */
    for (int loss = DP_LOSS_SQUARED; loss < DP_LOSS_SOFTMAX; loss++) {
        enum dp_loss l = (enum dp_loss)loss;
        for (int sign = -1; sign <= 1; sign += 2) {
            double y = l == DP_LOSS_POISSON ? 2 + sign : sign;
            for (double u = -2.953; u < 3; u += 0.0317) { /* misses every kink by more than h */
                long double up = reference(l, 0.5L, y, u + h), down = reference(l, 0.5L, y, u - h);
                assert_near(dp_loss_value(l, 0.5, y, u), (double)reference(l, 0.5L, y, u), 1e-14);
                assert_near(dp_loss_slope(l, 0.5, y, u), (double)((up - down) / (2 * h)), 1e-10);
            }
        }
    }
}

TEST(softmax_is_that_of_the_definition)
{
    const double u[4] = {0.3, -1.7, 2.9, 0.8};
    const long double h = 1e-6L;
    for (size_t class = 0; class < 4; class ++) {
        double slope[4], total = 0;
        long double sum = 0;
        for (int k = 0; k < 4; k++)
            sum += expl((long double)u[k]);
        assert_near(dp_softmax_value(u, 4, class), (double)(logl(sum) - (long double)u[class]), 1e-14);
        dp_softmax_slope(u, 4, class, slope);
        for (size_t k = 0; k < 4; k++) {
            long double own = expl((long double)u[k]), other = sum - own;
            long double up = logl(other + expl(u[k] + h)), down = logl(other + expl(u[k] - h));
            assert_near(slope[k], (double)((up - down) / (2 * h)) - (k == class ? 1 : 0), 1e-10);
            total += slope[k];
        }
        assert_near(total, 0, 1e-15);
    }
    /* Scores that overflow exp. */
    const double large[3] = {2000, 1000, -3000};
    double slope[3];
    dp_softmax_slope(large, 3, 1, slope);
    assert_true(dp_softmax_value(large, 3, 0) == 0 && dp_softmax_value(large, 3, 1) == 1000);
    assert_true(slope[0] == 1 && slope[1] == -1 && slope[2] == 0);
}

TEST(slopes_of_a_row)
{
    const double u[3] = {0.3, -1.7, 0.9};
    double slope[3], expected[3], in_place[3] = {0.3, -1.7, 0.9};
    dp_softmax_slope(u, 3, 2, expected);
    dp_loss_row_slope(DP_LOSS_SOFTMAX, 1, 2, 3, u, 3, slope);
    assert_memory_equal(slope, expected, sizeof slope);
    /* one-vs-rest: for its own output the class is +1, for the others −1 */
    dp_loss_row_slope(DP_LOSS_LOGISTIC, 1, 2, 3, in_place, 3, in_place);
    for (size_t k = 0; k < 3; k++)
        assert_true(in_place[k] == dp_loss_slope(DP_LOSS_LOGISTIC, 1, k == 2 ? 1 : -1, u[k]));
    dp_loss_row_slope(DP_LOSS_HUBER, 0.5, 0.2, 0, u, 1, slope);
    assert_true(slope[0] == dp_loss_slope(DP_LOSS_HUBER, 0.5, 0.2, u[0]));
    assert_true(dp_loss_outputs(0) == 1 && dp_loss_outputs(2) == 1 && dp_loss_outputs(3) == 3);
}

static double norm(const double *v, size_t count)
{
    double sum = 0;
    for (size_t k = 0; k < count; k++)
        sum += v[k] * v[k];
    return sqrt(sum);
}

/* Pairs of scores: their slopes are within the largest norm, and differ by at most the smoothness times the distance of the
   scores. Some close pairs nearly reach both bounds. */
TEST(slopes_keep_to_their_bounds)
{
    gsl_rng *rng = random_numbers();
    for (int loss = DP_LOSS_SQUARED; loss < DP_LOSS_COUNT; loss++) {
        enum dp_loss l = (enum dp_loss)loss;
        size_t outputs = l == DP_LOSS_SOFTMAX ? 3 : 2, classes = dp_loss_is_classification(l) ? 3 : 0;
        double width = 0.3, longest = 0, steepest = 0;
        double lipschitz = dp_loss_lipschitz(l, width, outputs), smoothness = dp_loss_smoothness(l, width);
        for (int i = 0; i < 200000; i++) {
            double u[3], v[3], s[3], t[3], spread = exp(12 * gsl_rng_uniform(rng) - 6), near = exp(-8 * gsl_rng_uniform(rng));
            double label = (double)gsl_rng_uniform_int(rng, 3);
            for (size_t k = 0; k < outputs; k++) {
                u[k] = spread * (2 * gsl_rng_uniform(rng) - 1);
                v[k] = u[k] + near * (2 * gsl_rng_uniform(rng) - 1);
            }
            dp_loss_row_slope(l, width, label, classes, u, outputs, s);
            dp_loss_row_slope(l, width, label, classes, v, outputs, t);
            longest = fmax(longest, norm(s, outputs));
            for (size_t k = 0; k < outputs; k++) {
                s[k] -= t[k];
                u[k] -= v[k];
            }
            steepest = fmax(steepest, norm(s, outputs) / norm(u, outputs));
        }
        assert_true(longest <= lipschitz * (1 + 1e-12));
        assert_true(steepest <= smoothness * (1 + 1e-9));
        assert_true(isinf(lipschitz) || longest > 0.999 * lipschitz);
        assert_true(isinf(smoothness) || steepest > 0.99 * smoothness);
        assert_int_equal(isinf(lipschitz), l == DP_LOSS_SQUARED || l == DP_LOSS_POISSON);
        assert_int_equal(isinf(smoothness), l == DP_LOSS_HINGE || l == DP_LOSS_POISSON);
    }
}

/* Slopes in long double, by the definition. */
static void exact_slopes(enum dp_loss loss, double width, double label, const double *u, size_t outputs, long double *slope)
{
    long double g = width, sum = 0, top = u[0];
    for (size_t k = 1; k < outputs; k++)
        top = fmaxl(top, u[k]);
    for (size_t k = 0; k < outputs; k++)
        sum += expl(u[k] - top);
    for (size_t k = 0; k < outputs; k++) {
        long double y = dp_loss_target(label, 3, outputs, k), m = 1 - y * u[k];
        switch (loss) {
        case DP_LOSS_SOFTMAX:
            slope[k] = expl(u[k] - top) / sum - ((double)k == label);
            break;
        case DP_LOSS_LOGISTIC:
            slope[k] = -y / (1 + expl(y * u[k]));
            break;
        case DP_LOSS_SMOOTH_HINGE:
            slope[k] = -y * fminl(fmaxl(m / g, 0), 1);
            break;
        case DP_LOSS_HUBERISED_HINGE:
            slope[k] = -y * fminl(fmaxl((m + g) / (2 * g), 0), 1);
            break;
        default:
            slope[k] = fminl(fmaxl(u[k] - y, -g), g);
            break;
        }
    }
}

TEST(slopes_round_within_their_bounds)
{
    static const enum dp_loss losses[] = {DP_LOSS_LOGISTIC, DP_LOSS_SMOOTH_HINGE, DP_LOSS_HUBER, DP_LOSS_HUBERISED_HINGE,
                                          DP_LOSS_SOFTMAX};
    gsl_rng *rng = random_numbers();
    for (size_t l = 0; l < 5; l++) {
        double closest = 0;
        for (double width = 1e-6; width < 20; width *= 10) {
            double worst = 0, bound = dp_loss_slope_rounding(losses[l], width, 4);
            for (int i = 0; i < 20000; i++) {
                double u[4], s[4], off[4], spread = exp(12 * gsl_rng_uniform(rng) - 6);
                double label = (double)gsl_rng_uniform_int(rng, 4), middle = losses[l] == DP_LOSS_SOFTMAX ? 0 : i % 3 - 1;
                long double exact[4];
                if (i % 2 != 0) /* where slopes change */
                    spread = width;
                for (size_t k = 0; k < 4; k++)
                    u[k] = middle + spread * (2 * gsl_rng_uniform(rng) - 1);
                dp_loss_row_slope(losses[l], width, label, 3, u, 4, s);
                exact_slopes(losses[l], width, label, u, 4, exact);
                for (size_t k = 0; k < 4; k++)
                    off[k] = (double)(s[k] - exact[k]);
                worst = fmax(worst, norm(off, 4));
            }
            assert_true(worst <= bound);
            closest = fmax(closest, worst / bound);
        }
        assert_true(closest > 0.05);
    }
}

TEST(domains_and_targets)
{
    assert_true(dp_loss_takes(DP_LOSS_POISSON, 0) && dp_loss_takes(DP_LOSS_POISSON, 17));
    assert_false(dp_loss_takes(DP_LOSS_POISSON, -1) || dp_loss_takes(DP_LOSS_POISSON, (double)INFINITY));
    assert_true(dp_loss_takes(DP_LOSS_HUBERISED_HINGE, -1) && dp_loss_takes(DP_LOSS_SQUARED, -0.5));
    assert_false(dp_loss_takes(DP_LOSS_HINGE, 0) || dp_loss_takes(DP_LOSS_SQUARED, (double)NAN));
    assert_false(dp_loss_takes(DP_LOSS_SOFTMAX, 1.5) || dp_loss_takes(DP_LOSS_SOFTMAX, -1));
    assert_true(dp_losses[DP_LOSS_HUBERISED_HINGE].width == 0.5 && dp_losses[DP_LOSS_HUBER].width == 1);
    assert_near(dp_loss_prediction(DP_LOSS_POISSON, 1), 2.718281828459045, 1e-15);
    assert_near(dp_loss_prediction(DP_LOSS_SQUARED, 1), 1, 0);
    assert_true(dp_loss_target(1, 2, 1, 0) == 1 && dp_loss_target(0, 2, 1, 0) == -1);
    assert_true(dp_loss_target(2, 3, 3, 2) == 1 && dp_loss_target(2, 3, 3, 1) == -1);
    assert_true(dp_loss_target(0.7, 0, 1, 0) == 0.7);
}

TEST(names_parse)
{
    enum dp_loss loss;
    assert_int_equal(dp_loss_parse("smooth-hinge", &loss), 0);
    assert_int_equal(loss, DP_LOSS_SMOOTH_HINGE);
    assert_int_equal(dp_loss_parse("hing", &loss), -1);
}

TESTS(NULL, NULL)
