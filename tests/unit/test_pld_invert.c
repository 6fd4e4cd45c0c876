/* Bounds by inversion hold for any contour, even a bad one, and are close on a good one. */
#include "random.h"
#include "unit.h"

#include "priv/mixture.h"
#include "priv/pld_compose.h"
#include "priv/pld_invert.h"

struct bounds {
    double upper, lower;
};

static struct bounds delta_on(const struct dp_pld_part *parts, size_t count, bool add, double deviations,
                              const struct dp_pld_contour *contour, double epsilon)
{
    struct bounds b = {INFINITY, 0};
    struct dp_pld_inverse *inverse = dp_pld_inverse_new(parts, count, add, deviations, contour);
    if (inverse == NULL)
        return b;
    dp_pld_inverse_take(inverse, parts);
    dp_pld_inverse_delta(inverse, epsilon, &b.upper, &b.lower);
    dp_pld_inverse_free(inverse);
    if (!(b.lower <= b.upper))
        fail_msg("s=%g period=%g, %zu frequencies, cut at %g by %g, most %g, x %g: %.12g to %.12g", contour->s, contour->period,
                 contour->frequencies, contour->cut.level, contour->cut.width, contour->most, contour->x, b.lower, b.upper);
    return b;
}

/* Approximately the variance of S of these laps: enough to choose a contour. */
static double variance_of(const struct dp_pld_part *part)
{
    double q = part->rate, sampled = q * q * expm1(1 / (part->multiplier * part->multiplier));
    return (double)part->laps * fmin(sampled, 1 / (part->multiplier * part->multiplier));
}

static struct dp_pld_contour any_contour(gsl_rng *rng, double s, double deviation)
{
    if (gsl_rng_uniform_int(rng, 3) == 0) { /* a good one */
        double period = 20 * deviation + 30 / s;
        return (struct dp_pld_contour){.s = s,
                                       .above = s + 5 / deviation,
                                       .below = 0.3 * s,
                                       .period = period,
                                       .frequencies = (size_t)(20 * period / (2 * M_PI * deviation)) + 1};
    }
    struct dp_pld_contour c = {.s = s * random_between(rng, 0.3, 3)};
    c.period = random_between(rng, 1, 40) * (deviation + 1 / c.s);
    c.above = c.s + random_between(rng, 0.3, 5) / deviation;
    c.below = c.s * gsl_rng_uniform(rng);
    c.frequencies = (size_t)random_between(rng, 2, 300);
    return c;
}

/* The same, with the laps cut in two at some loss. */
static struct dp_pld_contour any_cut(gsl_rng *rng, struct dp_pld_contour c, double epsilon)
{
    c.cut = (struct dp_pld_cut){epsilon * random_between(rng, 0.05, 2), random_between(rng, 0.1, 0.6)};
    c.most = epsilon * random_between(rng, 0.3, 2);
    c.x = random_between(rng, 0.3, 40) / epsilon;
    c.deviations = gsl_rng_uniform_int(rng, 2) == 0 ? 0 : random_between(rng, 4, 14);
    return c;
}

/* One Gaussian on all rows has e^{z (z + 1) μ²/2} at z = s + iω, in both directions. */
TEST(panels_at_high_frequencies)
{
    for (double mu = 0.02; mu < 6; mu *= 3)
        for (double omega = 0; omega * mu < 70; omega += omega * mu < 6 ? 1.5 / mu : omega)
            for (int i = 0; i < 4; i++) {
                const struct dp_pld_part part = {DP_PLD_GAUSSIAN, 1, 1 / mu, 0, 1};
                double s = i < 2 ? 0.3 : 2 / mu, re = 0, im = 0;
                struct dp_pld_panels panels;
                dp_pld_panels_new(&panels, &part, i % 2 == 0, 12, s, s, omega, (struct dp_pld_cut){0, 0});
                assert_true(panels.count > 0);
                double scale = s * (s + 1) * mu * mu / 2;
                for (size_t j = 0; j < panels.count * DP_PLD_PANEL; j++) {
                    double weight = exp(panels.log_mass[j] + s * panels.loss[j] - scale);
                    re += weight * cos(omega * panels.loss[j]);
                    im += weight * sin(omega * panels.loss[j]);
                }
                double size = exp(-omega * omega * mu * mu / 2), angle = omega * (2 * s + 1) * mu * mu / 2;
                assert_near(re, size * cos(angle), 1e-12);
                assert_near(im, size * sin(angle), 1e-12);
                dp_pld_panels_free(&panels);
            }
}

/* The rare part: v is normal under the weights, with mean (s + 1/2) μ² and deviation μ, and so is its sum with the cut's
   normal. */
TEST(panels_with_a_cut)
{
    for (double mu = 0.05; mu < 6; mu *= 3)
        for (double width = 0.01; width < 2; width *= 2)
            for (double s = 0; s < 2; s += 0.7) {
                const struct dp_pld_part part = {DP_PLD_GAUSSIAN, 1, 1 / mu, 0, 1};
                double level = mu + mu * mu / 2, middle = ((s + 0.5) * mu * mu - level) / hypot(mu, width), rare = 0;
                struct dp_pld_panels panels;
                dp_pld_panels_new(&panels, &part, false, 20, s, s, 0, (struct dp_pld_cut){level, width});
                assert_true(panels.count > 0);
                for (size_t j = 0; j < panels.count * DP_PLD_PANEL; j++)
                    rare += panels.rare[j] * exp(panels.log_mass[j] + s * panels.loss[j] - s * (s + 1) * mu * mu / 2);
                assert_near(rare, erfc(-middle * M_SQRT1_2) / 2, 1e-13);
                dp_pld_panels_free(&panels);
            }
}

/* T Gaussians on all rows are one of √T/z, in closed form. */
TEST(one_gaussian_on_any_contour)
{
    gsl_rng *rng = random_numbers(), *cuts = gsl_rng_alloc(gsl_rng_taus2);
    int close = 0;
    for (int i = 0; i < 3000; i++) {
        double mu = random_between(rng, 0.01, 5), epsilon = mu * random_between(rng, 0.1, 6) + mu * mu / 2;
        struct dp_pld_part part = {DP_PLD_GAUSSIAN, 1, 1, 0, (int64_t)random_between(rng, 1, i % 5 == 0 ? 1e11 : 1e4)};
        part.multiplier = sqrt((double)part.laps) / mu;
        struct dp_pld_contour c = any_contour(rng, epsilon / (mu * mu), mu);
        double exact = exp(dp_gaussian_log_delta(epsilon, mu)), deviations = i % 4 == 0 ? 4 : 11;
        struct bounds b = delta_on(&part, 1, i % 2 == 0, deviations, &c, epsilon);
        close += b.upper - b.lower < 1e-6 * exact;
        if (i % 3 == 0) {
            struct dp_pld_contour cut = any_cut(cuts, c, epsilon);
            struct bounds again = delta_on(&part, 1, i % 2 == 0, deviations, &cut, epsilon);
            b = (struct bounds){fmin(b.upper, again.upper), fmax(b.lower, again.lower)};
        }
        if (!(b.upper >= exact * (1 - 1e-11) && b.lower <= exact * (1 + 1e-11)))
            fail_msg("T=%g mu=%g epsilon=%g s=%g period=%g, %zu frequencies, cut at %g: %.12g to %.12g, exactly %.12g",
                     (double)part.laps, mu, epsilon, c.s, c.period, c.frequencies, deviations, b.lower, b.upper, exact);
    }
    assert_true(close > 200);
    gsl_rng_free(cuts);
}

/* δ of one lap, sampled: all losses above epsilon are beyond one u. */
static double one_lap(const struct dp_pld_part *part, double epsilon)
{
    double q = part->rate, mu = 1 / part->multiplier, u = log1p(expm1(epsilon) / q) / mu + mu / 2;
    return q * (erfc((u - mu) * M_SQRT1_2) - erfc(u * M_SQRT1_2)) / 2 - expm1(epsilon) * erfc(u * M_SQRT1_2) / 2;
}

/* A cut as priv/pld_cut.c would choose it if rare laps matter. */
static struct dp_pld_contour rare_contour(gsl_rng *rng, double epsilon)
{
    struct dp_pld_contour c = {.s = random_between(rng, 0.3, 2), .period = random_between(rng, 40, 200), .deviations = 14};
    c.above = c.s + random_between(rng, 0.1, 1);
    c.below = c.s * random_between(rng, 0.01, 0.5);
    c.cut = (struct dp_pld_cut){epsilon * random_between(rng, 0.2, 0.4), random_between(rng, 0.15, 0.25)};
    c.most = 0.95 * epsilon;
    c.x = random_between(rng, 20, 60) / epsilon;
    c.frequencies = (size_t)(c.period * random_between(rng, 2, 10) / (c.cut.width * c.cut.level * 2 * M_PI));
    return c;
}

/* Checks one lap, whose δ has a closed form, and a few laps of small rates. */
TEST(rare_laps_on_any_cut)
{
    gsl_rng *rng = random_numbers();
    int close = 0;
    for (int i = 0; i < 400; i++) {
        struct dp_pld_part part = {DP_PLD_GAUSSIAN, random_between(rng, 1e-5, 0.3), random_between(rng, 0.25, 0.9), 0, 1};
        double epsilon = random_between(rng, 0.2, 4), exact = one_lap(&part, epsilon);
        struct dp_pld_contour c = rare_contour(rng, epsilon);
        if (i % 2 == 0)
            c = any_cut(rng, any_contour(rng, random_between(rng, 0.2, 4), random_between(rng, 0.5, 4)), epsilon);
        struct bounds b = delta_on(&part, 1, false, i % 4 == 0 ? 5 : 11, &c, epsilon);
        close += b.upper - b.lower < 1e-5 * exact;
        if (!(b.upper >= exact * (1 - 1e-10) && b.lower <= exact * (1 + 1e-10)))
            fail_msg("q=%g z=%g epsilon=%g s=%g period=%g, %zu frequencies, cut at %g by %g, most %g, x %g: %.12g to %.12g, "
                     "exactly %.12g",
                     part.rate, part.multiplier, epsilon, c.s, c.period, c.frequencies, c.cut.level, c.cut.width, c.most, c.x,
                     b.lower, b.upper, exact);
    }
    assert_true(close > 30);
}

/* Checks bounds in the direction that matters less, and in the other direction. */
TEST(chernoff_is_above)
{
    gsl_rng *rng = random_numbers();
    int near = 0;
    for (int i = 0; i < 500; i++) {
        struct dp_pld_part part = {DP_PLD_GAUSSIAN, i % 2 == 0 ? 1 : random_between(rng, 1e-3, 0.5),
                                   random_between(rng, 0.5, 5), 0, 1};
        double mu = 1 / part.multiplier, epsilon = mu * random_between(rng, 0.5, 6), upper;
        double s = epsilon / (mu * mu) * random_between(rng, 0.3, 3), exact;
        exact = i % 2 == 0 ? exp(dp_gaussian_log_delta(epsilon, mu)) : one_lap(&part, epsilon);
        upper = dp_pld_chernoff(&part, 1, i % 4 == 0, 8, s, epsilon);
        assert_true(upper >= exact);
        near += upper < 10 * exact;
    }
    assert_true(near > 50);
}

static struct dp_pld_part any_part(gsl_rng *rng)
{
    const enum dp_pld_kind kinds[] = {DP_PLD_GAUSSIAN, DP_PLD_GAUSSIAN_REPLACED, DP_PLD_JOINT, DP_PLD_GAUSSIAN_COINS};
    struct dp_pld_part part = {kinds[gsl_rng_uniform_int(rng, 4)], random_between(rng, 1e-3, 1), random_between(rng, 0.6, 20),
                               0, 1};
    part.laps = (int64_t)random_between(rng, 1, 2e4);
    part.epsilon = part.kind == DP_PLD_JOINT ? random_between(rng, 0.01, 1) : 0;
    return part;
}

/* Compares with grids for the same run, in both directions: the bounds of both contain the truth. */
TEST(sampled_laps_on_any_contour)
{
    gsl_rng *rng = random_numbers(), *cuts = gsl_rng_alloc(gsl_rng_taus2);
    int close = 0, compared = 0;
    for (int i = 0; i < 240; i++) {
        struct dp_pld_part parts[2] = {any_part(rng), any_part(rng)};
        size_t count = i % 3 == 0 && !dp_pld_exchanges(&parts[0]) && !dp_pld_exchanges(&parts[1]) ? 2 : 1;
        bool add = i % 2 == 0;
        double variance = variance_of(&parts[0]) + (count > 1 ? variance_of(&parts[1]) : 0), deviation = sqrt(variance);
        double epsilon = deviation * random_between(rng, 0.3, 5) + variance / 2;
        if (epsilon > 30)
            continue;
        struct dp_pld_contour c = any_contour(rng, fmin(epsilon / variance, 200), deviation);
        double laps = (double)(parts[0].laps + (count > 1 ? parts[1].laps : 0));
        struct dp_pld_window w = {.s = 0, .above = 1 / deviation, .below = -1 / deviation, .split = INFINITY};
        w.top = epsilon + 20 * deviation + 8;
        w.bottom = -12 * deviation - 2;
        struct dp_pld_composed grid;
        struct bounds g, b = delta_on(parts, count, add, 8, &c, epsilon);
        struct dp_pld_contour cut = any_cut(cuts, c, epsilon);
        struct bounds again = delta_on(parts, count, add, 8, &cut, epsilon);
        dp_pld_compose(&grid, parts, count, add, 8, fmax(deviation / sqrt(laps) / 30, (w.top - w.bottom) / (1 << 17)), &w);
        dp_pld_composed_delta(&grid, epsilon, &g.upper, &g.lower);
        dp_pld_composed_free(&grid);
        compared += g.upper < 1.1 * g.lower;
        close += b.upper - b.lower < 1e-6 * b.upper;
        b = (struct bounds){fmin(b.upper, again.upper), fmax(b.lower, again.lower)};
        if (!(b.upper >= g.lower && b.lower <= g.upper))
            fail_msg(
                "kind %d q=%g z=%g T=%g, %zu parts, add %d epsilon=%g s=%g period=%g, %zu frequencies: %.12g to %.12g, grids "
                "%.12g to %.12g",
                parts[0].kind, parts[0].rate, parts[0].multiplier, (double)parts[0].laps, count, add, epsilon, c.s, c.period,
                c.frequencies, b.lower, b.upper, g.lower, g.upper);
    }
    assert_true(compared > 150 && close > 15);
    gsl_rng_free(cuts);
}

/* For any start of the search. */
TEST(epsilon_where_delta_is)
{
    const struct dp_pld_part part = {DP_PLD_GAUSSIAN, 1, 50, 0, 100};
    const struct dp_pld_contour c = {.s = 20, .above = 40, .below = 2, .period = 3, .frequencies = 100};
    double upper, lower;
    struct dp_pld_inverse *inverse = dp_pld_inverse_new(&part, 1, false, 9, &c);
    dp_pld_inverse_take(inverse, &part);
    for (double guess = 0.2; guess < 3; guess *= 3) {
        dp_pld_inverse_epsilon(inverse, 1e-5, guess, &upper, &lower);
        assert_true(dp_gaussian_log_delta(upper, 0.2) <= log(1e-5) + 1e-11 && dp_gaussian_log_delta(lower, 0.2) >= log(1e-5));
        assert_true(upper - lower < 1e-6 * upper);
    }
    dp_pld_inverse_epsilon(inverse, 0.5, 0.1, &upper, &lower);
    assert_true(upper == 0 && lower == 0);
    dp_pld_inverse_free(inverse);
}

/* The rounding errors of all parts count. With a part of very many laps and a part of one lap, in either order, the distance of
   the bounds is determined by the many laps: at least T · 2^-53 of δ. Also with a cut. */
TEST(all_parts_round)
{
    double width[2][2];
    for (int rare = 0; rare < 2; rare++) {
        const struct dp_pld_part many[] = {{DP_PLD_GAUSSIAN, 1, 1e4, 0, 100000000}, {DP_PLD_GAUSSIAN, 1e-7, 0.45, 0, 1000000}};
        const struct dp_pld_part one[] = {{DP_PLD_GAUSSIAN, 1, 2, 0, 1}, {DP_PLD_GAUSSIAN, 1e-3, 0.5, 0, 1}};
        struct dp_pld_contour c = {.s = 2, .above = 7, .below = 0.6, .period = 60, .frequencies = 400};
        if (rare)
            c = (struct dp_pld_contour){
                .s = 1, .above = 2, .below = 0.1, .period = 60, .frequencies = 4000, .cut = {0.3, 0.2}, .most = 0.9, .x = 30};
        for (int turn = 0; turn < 2; turn++) {
            const struct dp_pld_part parts[] = {turn ? one[rare] : many[rare], turn ? many[rare] : one[rare]};
            struct bounds b = delta_on(parts, 2, false, 12, &c, rare ? 1 : 3);
            width[rare][turn] = (b.upper - b.lower) / b.upper;
        }
        assert_near(width[rare][0] / width[rare][1], 1, 1e-3);
    }
    assert_true(width[0][0] > 1e8 * 0x1p-53 && width[0][0] < 1e-3);
}

/* The announced number of frequencies is enough; if rounding exceeds the allowed error, no number is. */
TEST(as_many_frequencies_as_it_takes)
{
    const struct dp_pld_part part = {DP_PLD_GAUSSIAN, 0.01, 2, 0, 10000};
    struct dp_pld_contour c = {.s = 8, .above = 12, .below = 2, .period = 6, .frequencies = 10};
    struct dp_pld_inverse *inverse = dp_pld_inverse_new(&part, 1, false, 8, &c);
    dp_pld_inverse_take(inverse, &part);
    size_t needs = dp_pld_inverse_needs(inverse, 1e-9);
    assert_true(needs > 10 && needs < 500 && dp_pld_inverse_needs(inverse, 1e-30) == SIZE_MAX);
    dp_pld_inverse_free(inverse);
    const struct dp_pld_part rare = {DP_PLD_GAUSSIAN, 1e-4, 0.45, 0, 100};
    struct dp_pld_contour cut = {.s = 1, .above = 2, .below = 0.1, .period = 60, .frequencies = 1000, .cut = {0.3, 0.2}};
    cut.most = 0.9;
    cut.x = 30;
    inverse = dp_pld_inverse_new(&rare, 1, false, 12, &cut);
    dp_pld_inverse_take(inverse, &rare);
    assert_true(dp_pld_inverse_needs(inverse, 1e-12) != SIZE_MAX && dp_pld_inverse_needs(inverse, 1e-20) == SIZE_MAX);
    dp_pld_inverse_free(inverse);
    struct bounds before = delta_on(&part, 1, false, 8, &c, 1.5);
    c.frequencies = needs;
    struct bounds after = delta_on(&part, 1, false, 8, &c, 1.5);
    assert_true(after.upper < before.upper && after.upper - after.lower < 1e-5 * after.upper);
}

TESTS(NULL, NULL)
