/* Objective perturbation: its bounds against quadrature of the random variable that they bound, and against the mechanism
 * itself, whose density on small problems is known. Nothing here is random. */
#include "charges.h"

#include "account/calibrate.h"
#include "account/profile.h"
#include "account/solve.h"
#include "math/loss.h"
#include "priv/objective.h"

static double normal(double x)
{
    return exp(-x * x / 2) / sqrt(2 * M_PI);
}

static double cdf(double x)
{
    return 0.5 * erfc(-x / M_SQRT2);
}

/* δ of a Gaussian of shift mu at any epsilon, also a negative one. */
static double delta_of_gaussian(double epsilon, double mu)
{
    return cdf(mu / 2 - epsilon / mu) - exp(epsilon) * cdf(-mu / 2 - epsilon / mu);
}

/* The ends of a person's slope as vectors: in one dimension if a row is absent or not, in two if x and x', `angle` apart, are
   exchanged. */
struct ends {
    int count;
    double at[4][2];
};

static struct ends ends_of(bool either_sign, bool exchanged, double angle)
{
    struct ends e = {0};
    double lowest = either_sign ? -1 : 0;
    for (double a = lowest; a <= 1; a += 1 - lowest)
        for (double b = exchanged ? lowest : 0; b <= (exchanged ? 1 : 0); b += 1 - lowest) {
            e.at[e.count][0] = (a - b * cos(angle)) / (exchanged ? 2 : 1);
            e.at[e.count++][1] = -b * sin(angle) / (exchanged ? 2 : 1);
        }
    return e;
}

/* The largest loss at the ends, for the normal (n, o). */
static double largest(const struct dp_objective *of, const struct ends *e, double n, double o)
{
    double most = -INFINITY;
    for (int i = 0; i < e->count; i++) {
        const double *a = e->at[i];
        most = fmax(most, (a[0] * a[0] + a[1] * a[1]) / (2 * of->noise * of->noise) + (a[0] * n + a[1] * o) / of->noise);
    }
    return log1p(of->curvature) + most;
}

/* E f(largest) over both normals; f is δ given the rest, or the moment of order α. */
static double expect(const struct dp_objective *of, const struct ends *e, bool flat, double epsilon, double order)
{
    const double step = flat ? 2.5e-4 : 0.02, far = 10;
    double sum = 0, m = 1 / of->slack;
    for (double n = -far; n <= far; n += step)
        for (double o = flat ? 0 : -far; o <= (flat ? 0 : far); o += step) {
            double z = largest(of, e, n, o), weight = normal(n) * step * (flat ? 1 : normal(o) * step);
            sum += weight *
                   (order > 0 ? exp((order - 1) * z + (order - 1) * order * m * m / 2) : delta_of_gaussian(epsilon - z, m));
        }
    return sum;
}

static const struct dp_objective some[] = {
    {2.6, 1e4, 0.0102, 1}, {0.7, 3, 0.5, 1}, {20, 100, 0.01, 1}, {4, 5, 0.1, 2},
    {1, 1e3, 0.02, 2},     {1, 2, 3, 2},     {9, 50, 1e-6, 2},
};
enum { SOME = sizeof some / sizeof *some };

/* The bound is never below the quadrature, and equals it if slack is 0 and only one end counts. */
TEST(a_profile_is_that_of_its_variable)
{
    for (int i = 0; i < SOME; i++)
        for (double epsilon = 0; epsilon < 4; epsilon += 0.17) {
            const struct dp_objective *of = &some[i];
            struct ends e = ends_of(of->vertices == 2, false, 0);
            double bound = dp_objective_delta(of, epsilon), exact = expect(of, &e, true, epsilon, 0);
            double rest = epsilon - log1p(of->curvature);
            if (!(bound >= exact * (1 - 1e-6) - 1e-13))
                fail_msg("%d: delta(%g) is %.9g, above its bound %.9g", i, epsilon, exact, bound);
            bool alone = of->slack >= 1e3 * of->noise && rest > 1 / (of->noise * of->noise);
            if (alone && exact > 1e-12 && !(bound <= exact * (1 + 1e-4)))
                fail_msg("%d: delta(%g) is %.9g, its bound %.9g", i, epsilon, exact, bound);
            assert_true(bound <= 1);
        }
}

TEST(a_curve_is_that_of_its_variable)
{
    const double order[] = {1.01, 1.5, 2, 3.7, 8, 20};
    for (int i = 0; i < SOME; i++)
        for (int k = 0; k < 6; k++) {
            const struct dp_objective *of = &some[i];
            struct ends e = ends_of(of->vertices == 2, false, 0);
            double bound, exact = log(expect(of, &e, true, 0, order[k])) / (order[k] - 1);
            if (order[k] > 5 * of->noise)
                continue; /* the quadrature ends before its weight is negligible */
            dp_objective_curve(of, &order[k], 1, &bound);
            if (!(bound >= exact - 1e-7)) /* error of the quadrature, whose integrand has a kink */
                fail_msg("%d: r(%g) is %.9g, above its bound %.9g", i, order[k], exact, bound);
            if (of->vertices == 1 && !(bound <= exact * (1 + 1e-6)))
                fail_msg("%d: r(%g) is %.9g, its bound %.9g", i, order[k], exact, bound);
        }
}

/* For any angle between the two rows. */
TEST(an_exchange_has_more_ends)
{
    for (int either = 0; either < 2; either++)
        for (double angle = 0.3; angle < 3.2; angle += 0.7)
            for (double epsilon = 0.1; epsilon < 3; epsilon += 0.9) {
                const double order = 3;
                struct dp_objective of = {1.5, 20, 0.05, dp_objective_vertices(either, true)};
                struct ends e = ends_of(either, true, angle);
                double r, bound = dp_objective_delta(&of, epsilon), exact = expect(&of, &e, false, epsilon, 0);
                if (!(bound >= exact))
                    fail_msg("delta(%g) at angle %g is %.9g, above its bound %.9g", epsilon, angle, exact, bound);
                dp_objective_curve(&of, &order, 1, &r);
                assert_true(r >= log(expect(&of, &e, false, 0, order)) / (order - 1));
            }
    assert_true(dp_objective_vertices(false, true) == 3 && dp_objective_vertices(true, true) == 4);
}

/* --- the mechanism itself, on rows of norm 1 --- */

struct row {
    double x[2], y;
};

struct problem {
    enum dp_loss loss;
    double width, lipschitz, smoothness, lambda; /* Λ */
    int rows;
    struct row row[8];
    double times; /* how often each of them is there */
};

static double curvature_at(enum dp_loss loss, double width, double y, double u)
{
    const double h = 1e-4;
    return loss == DP_LOSS_HUBER ? fabs(u - y) <= width
                                 : (dp_loss_slope(loss, width, y, u + h) - dp_loss_slope(loss, width, y, u - h)) / (2 * h);
}

/* Computes −b and the Hessian of J at w, for the rows of the problem and one more row. */
static void derive(const struct problem *p, const struct row *more, const double w[2], double b[2], double h[3])
{
    b[0] = p->lambda * w[0];
    b[1] = p->lambda * w[1];
    h[0] = h[2] = p->lambda;
    h[1] = 0;
    for (int i = 0; i <= p->rows; i++) {
        const struct row *r = i < p->rows ? &p->row[i] : more;
        double times = i < p->rows ? p->times : 1;
        if (r == NULL)
            continue;
        double u = r->x[0] * w[0] + r->x[1] * w[1], slope = times * dp_loss_slope(p->loss, p->width, r->y, u);
        double second = times * curvature_at(p->loss, p->width, r->y, u);
        for (int j = 0; j < 2; j++)
            b[j] += slope * r->x[j];
        h[0] += second * r->x[0] * r->x[0];
        h[1] += second * r->x[0] * r->x[1];
        h[2] += second * r->x[1] * r->x[1];
    }
}

/* The density of the minimiser at w. */
static double density(const struct problem *p, const struct row *more, double sigma, const double w[2], int dimensions)
{
    double b[2], h[3];
    derive(p, more, w, b, h);
    if (dimensions == 1)
        return normal(b[0] / sigma) / sigma * h[0];
    return normal(b[0] / sigma) * normal(b[1] / sigma) / (sigma * sigma) * (h[0] * h[2] - h[1] * h[1]);
}

enum { POINTS = 60001, COARSE = 2001, PLANE = 501 };

/* An interval that holds all but a negligible part of w. */
static double reach(const struct problem *p, double sigma)
{
    return (p->times * p->rows * p->lipschitz + p->lipschitz + 8 * sigma) / p->lambda;
}

/* The minimiser in one dimension for this −b. */
static double minimiser(const struct problem *p, const struct row *more, double minus_b)
{
    double low = -1e4, high = 1e4, b[2], h[3];
    for (int i = 0; i < 100; i++) {
        const double w[2] = {(low + high) / 2, 0};
        derive(p, more, w, b, h);
        *(b[0] < minus_b ? &low : &high) = w[0];
    }
    return high;
}

/* Computes both densities on a line that leaves out a negligible part of each, with `margin` on its sides; returns the step of
   the line. */
static double densities(const struct problem *of, const struct row *person, double sigma, double margin, int points, double *p,
                        double *q)
{
    double from = fmin(minimiser(of, person, -9 * sigma), minimiser(of, NULL, -9 * sigma)) - margin;
    double to = fmax(minimiser(of, person, 9 * sigma), minimiser(of, NULL, 9 * sigma)) + margin,
           step = (to - from) / (points - 1);
    for (int i = 0; i < points; i++) {
        const double w[2] = {from + i * step, 0};
        p[i] = density(of, person, sigma, w, 1);
        q[i] = density(of, NULL, sigma, w, 1);
    }
    return step;
}

/* The larger of ∫ (p − e^ε q)₊ and the same integral with p and q exchanged. The densities are step functions. */
static double divergence(const double *p, const double *q, int count, double step, double epsilon)
{
    double there = 0, back = 0, e = exp(epsilon);
    for (int i = 0; i < count; i++) {
        there += fmax(p[i] - e * q[i], 0) * step;
        back += fmax(q[i] - e * p[i], 0) * step;
    }
    return fmax(there, back);
}

static void check_mechanism(const char *name, const double *p, const double *q, int count, double step,
                            const struct dp_objective *of, double part)
{
    double total = 0;
    for (int i = 0; i < count; i++)
        total += (p[i] + q[i]) / 2 * step;
    assert_near(total, 1, 1e-4); /* the second derivative jumps between two points */
    for (double epsilon = 0.02; epsilon < 3; epsilon += 0.25) {
        double truth = divergence(p, q, count, step, epsilon), bound = dp_objective_delta(of, epsilon);
        if (!(truth <= bound * (1 + 1e-6) + 1e-7))
            fail_msg("%s: delta(%g) is %.9g, above its bound %.9g", name, epsilon, truth, bound);
        if (truth > 1e-4 && epsilon > 0.2 && !(truth >= part * bound))
            fail_msg("%s: delta(%g) is %.9g, far below its bound %.9g", name, epsilon, truth, bound);
    }
}

/* One dimension: rows that pull on the minimiser so that the person's slope decides (the bound is then nearly met), rows that
   do not, and a loss whose slope has either sign. */
TEST(a_person_is_present_or_not)
{
    static double p[POINTS], q[POINTS];
    const struct {
        const char *name;
        struct problem problem;
        struct row person;
        double z, part;
    } cases[] = {
        {"far on one side", {DP_LOSS_LOGISTIC, 1, 1, 0.25, 25, 1, {{{1, 0}, -1}}, 9000}, {{1, 0}, 1}, 2, 0.8},
        {"alone", {DP_LOSS_LOGISTIC, 1, 1, 0.25, 2, 0, {{{0}, 0}}, 0}, {{1, 0}, 1}, 1.5, 0},
        {"in the middle", {DP_LOSS_LOGISTIC, 1, 1, 0.25, 10, 2, {{{1, 0}, -1}, {{1, 0}, 1}}, 20}, {{1, 0}, 1}, 2, 0},
        {"smooth hinge", {DP_LOSS_SMOOTH_HINGE, 0.5, 1, 2, 20, 1, {{{0.7, 0}, 1}}, 30}, {{1, 0}, -1}, 1, 0},
        {"either sign", {DP_LOSS_HUBER, 0.5, 0.5, 1, 5, 1, {{{1, 0}, 0.3}}, 3}, {{1, 0}, 0.2}, 4, 0},
        {"an outlier", {DP_LOSS_HUBER, 0.5, 0.5, 1, 30, 1, {{{1, 0}, 0.3}}, 60}, {{1, 0}, 90}, 1.2, 0.4},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const struct problem *of = &cases[c].problem;
        double step = densities(of, &cases[c].person, cases[c].z * of->lipschitz, 0, POINTS, p, q);
        struct dp_objective o = {cases[c].z, 1e9, of->smoothness / of->lambda,
                                 dp_objective_vertices(of->loss == DP_LOSS_HUBER, false)};
        check_mechanism(cases[c].name, p, q, POINTS, step, &o, cases[c].part);
    }
}

/* The two minimisers are off by e in opposite directions, and noise hides that. */
TEST(minima_are_approximate)
{
    static double p[COARSE], q[COARSE], missed[2][COARSE];
    const struct problem of = {DP_LOSS_LOGISTIC, 1, 1, 0.25, 25, 1, {{{1, 0}, -1}}, 9000};
    const struct row person = {{1, 0}, 1};
    const double z = 2, slack = 1.5, e = 0.02, noise = slack * 2 * e;
    const double step = densities(&of, &person, z, 6 * noise, COARSE, p, q);
    for (int i = 0; i < COARSE; i++) {
        missed[0][i] = missed[1][i] = 0;
        for (int j = 0; j < COARSE; j++) {
            double apart = (i - j) * step;
            missed[0][i] += p[j] * normal((apart + e) / noise) / noise * step;
            missed[1][i] += q[j] * normal((apart - e) / noise) / noise * step;
        }
    }
    struct dp_objective o = {z, slack, of.smoothness / of.lambda, 1};
    check_mechanism("missed by e", missed[0], missed[1], COARSE, step, &o, 0);
    check_mechanism("missed by e the other way", missed[1], missed[0], COARSE, step, &o, 0);
    /* If the minimisers are exact, the bound holds without slack. */
    struct dp_objective less = {z, 1e9, of.smoothness / of.lambda, 1};
    assert_true(divergence(p, q, COARSE, step, 0.5) <= dp_objective_delta(&less, 0.5));
}

/* Two dimensions: a row is exchanged for another row at an angle to it. */
TEST(a_row_is_exchanged)
{
    static double p[PLANE * PLANE], q[PLANE * PLANE];
    const struct problem of = {DP_LOSS_LOGISTIC, 1, 1, 0.25, 3, 2, {{{0.6, 0.8}, -1}, {{-0.8, 0.6}, 1}}, 2};
    const double z = 0.9, sigma = z * 2, far = reach(&of, sigma), step = 2 * far / (PLANE - 1);
    const struct row one = {{1, 0}, 1};
    for (double angle = 0; angle < 3.2; angle += 1.5) {
        const struct row other = {{cos(angle), sin(angle)}, -1};
        for (int i = 0; i < PLANE * PLANE; i++) {
            const double w[2] = {-far + i / PLANE * step, -far + i % PLANE * step};
            p[i] = density(&of, &one, sigma, w, 2);
            q[i] = density(&of, &other, sigma, w, 2);
        }
        struct dp_objective o = {z, 1e9, of.smoothness / of.lambda, 3};
        check_mechanism("exchanged", p, q, PLANE * PLANE, step * step, &o, 0);
    }
}

/* --- accountants --- */

static struct dp_event event_of(double noise, double slack, double curvature)
{
    const struct dp_query query = {
        .kind = DP_QUERY_OBJECTIVE, .multiplier = slack, .objective = noise, .curvature = curvature, .vertices = 1};
    return (struct dp_event){.sampling = DP_SAMPLING_NONE, .rate = 1, .queries = 1, .query = {query}};
}

/* One lap has a profile, and no other accountant is below it; several laps are composed. */
TEST(one_lap_has_a_profile)
{
    for (double noise = 0.3; noise < 100; noise *= 3)
        for (double delta = 1e-10; delta < 0.1; delta *= 100) {
            const struct dp_event event = event_of(noise, 1e4, 0.01);
            const struct dp_charges *once = LAPS_OF(event, 1), *twice = LAPS_OF(event, 2);
            struct dp_answer best = answer_of(DP_ACCOUNTANT_BEST, once, delta), at;
            err = (struct dp_err){0};
            assert_int_equal(best.by, DP_ACCOUNTANT_PROFILE);
            assert_true(best.lower == 0 && !best.tight);
            assert_true(best.upper <= answer_of(DP_ACCOUNTANT_RDP, once, delta).upper);
            assert_true(best.upper <= answer_of(DP_ACCOUNTANT_ADVANCED, once, delta).upper);
            assert_true(dp_profile_delta(&event, best.upper) <= delta);
            assert_true(dp_profile_delta(&event, best.upper * (1 - 1e-9)) > delta);
            assert_int_equal(dp_solve_delta(DP_ACCOUNTANT_BEST, once, best.upper, &at, &err), DP_OK);
            assert_true(at.upper <= delta * (1 + 1e-5) && at.upper >= delta * (1 - 1e-5) && at.by == DP_ACCOUNTANT_PROFILE);
            assert_false(dp_account_covers(DP_ACCOUNTANT_PROFILE, twice));
            assert_false(dp_account_covers(DP_ACCOUNTANT_PLD, twice));
            assert_true(answer_of(DP_ACCOUNTANT_BEST, twice, delta).upper >= best.upper);
        }
}

/* The noise on the objective is stretched. */
TEST(calibration_meets_its_target)
{
    const struct dp_event event = event_of(1, 1e4, 0.01), loud = event_of(1, 1e4, 0.5);
    double z;
    for (double epsilon = 0.05; epsilon < 10; epsilon *= 2) {
        assert_ok(dp_calibrate_noise(DP_ACCOUNTANT_BEST, LAPS_OF(event, 1), epsilon, 1e-5, &z, &err));
        const struct dp_event met = event_of(z, 1e4, 0.01), missed = event_of(z * (1 - 1e-5), 1e4, 0.01);
        assert_true(answer_of(DP_ACCOUNTANT_BEST, LAPS_OF(met, 1), 1e-5).upper <= epsilon);
        assert_true(answer_of(DP_ACCOUNTANT_BEST, LAPS_OF(missed, 1), 1e-5).upper > epsilon);
    }
    /* No noise pays for the determinants. */
    assert_int_equal(dp_calibrate_noise(DP_ACCOUNTANT_BEST, LAPS_OF(loud, 1), 0.3, 1e-5, &z, &err), DP_E_RUN);
}

TEST(nothing_is_free_at_the_ends)
{
    const double order[] = {1.01, 2, 8192};
    const double at[] = {1e-300, 1e-9, 1, 1e9, 1e300};
    for (int a = 0; a < 5; a++)
        for (int b = 0; b < 5; b++)
            for (int c = 0; c < 5; c++) {
                struct dp_objective of = {at[a], at[b], at[c], 4};
                double r[3];
                for (double epsilon = 0; epsilon < 1e6; epsilon = 10 * epsilon + 0.1) {
                    double delta = dp_objective_delta(&of, epsilon);
                    assert_true(delta > 0 && delta <= 1);
                }
                dp_objective_curve(&of, order, 3, r);
                for (int k = 0; k < 3; k++)
                    assert_true(r[k] >= log1p(at[c]) && r[k] > 0);
            }
}

TESTS(NULL, NULL)
