#include "priv/pld.h"

#include <float.h>
#include <gsl/gsl_cdf.h>

#include "priv/pld_question.h"
#include "priv/rdp.h"

/* The quadrature of one lap is exact up to this many deviations. */
static const double deviations_max = 12;

int dp_pld_check(struct dp_pld_question *a, struct dp_err *err)
{
    bool replaced = false, sampled = false;
    if (a->count == 0)
        return dp_fail(err, DP_E_RUN, "a run has at least one part");
    a->symmetric = true;
    for (size_t i = 0; i < a->count; i++) {
        const struct dp_pld_part *p = &a->parts[i];
        /* a joint part: first its multiplier, then its epsilon */
        bool pure = p->kind == DP_PLD_PURE || (p->kind == DP_PLD_JOINT && p->multiplier > 0 && isfinite(p->multiplier));
        double size = pure ? p->epsilon : p->multiplier;
        if (!(p->rate > 0 && p->rate <= 1))
            return dp_fail(err, DP_E_RUN, "the sampling rate must be above 0 and at most 1, got %g", p->rate);
        if (!(size > 0 && isfinite(size)))
            return dp_fail(err, DP_E_RUN, "%s must be positive and finite, got %g",
                           pure ? "a pure epsilon" : "the noise multiplier", size);
        if (p->laps < 1)
            return dp_fail(err, DP_E_RUN, "a run has at least one lap, got %lld", (long long)p->laps);
        a->laps += (double)p->laps;
        a->symmetric = a->symmetric && dp_pld_symmetric(p);
        replaced = replaced || (dp_pld_exchanges(p) && p->rate < 1);
        sampled = sampled || (!dp_pld_exchanges(p) && p->rate < 1);
    }
    if (replaced && sampled)
        return dp_fail(err, DP_E_RUN, "parts sampled under replace-one and null-record adjacency do not compose");
    return DP_OK;
}

bool dp_pld_reaches(struct dp_pld_question *a)
{
    a->deviations = gsl_cdf_ugaussian_Qinv(fmax(DP_PLD_SPILL_SHARE * a->delta / (2 * a->laps), 1e-300));
    if (a->deviations > deviations_max || a->epsilon > DP_PLD_LOSS_MAX)
        return false;
    a->scale = 0;
    for (size_t i = 0; i < a->count; i++) {
        struct dp_pld_range r = dp_pld_range(&a->parts[i], false, a->deviations);
        if (!(r.high > r.low && r.low > -DP_PLD_LOSS_MAX && r.high < DP_PLD_LOSS_MAX))
            return false;
        a->scale = fmax(a->scale, fmax(-r.low, r.high));
    }
    return true;
}

static void solve(struct dp_pld_question *a, struct dp_pld_answer *answer)
{
    double renyi = a->of_delta ? a->delta : a->epsilon;
    *answer = (struct dp_pld_answer){renyi, 0, renyi == 0, 0};
    if (renyi == 0 || !dp_pld_reaches(a))
        return;
    dp_pld_sketch(a);
    if (a->of_delta) { /* Rényi's δ may be far too large, and too much would be cut off */
        a->delta = fmin(a->delta, fmax(dp_pld_estimated(a, false), a->symmetric ? 0 : dp_pld_estimated(a, true)) / 10);
        double before = a->deviations;
        if (!dp_pld_reaches(a)) {
            a->deviations = before;
        } else {
            dp_pld_sketch_free(a);
            dp_pld_sketch(a);
        }
    }
    double guess[2] = {dp_pld_estimated(a, false), a->symmetric ? 0 : dp_pld_estimated(a, true)};
    bool larger = guess[1] > guess[0];
    struct dp_pld_answer other = *answer;
    bool inverted = dp_pld_by_inversion(a, larger, guess[larger], answer);
    if (!inverted)
        dp_pld_grid_refine(a, larger, guess[larger], 0, answer);
    if (!a->symmetric && !a->rough && !dp_pld_is_less(a, !larger, answer)) {
        if (!inverted || !dp_pld_by_inversion(a, !larger, guess[!larger], &other))
            dp_pld_grid_compare(a, !larger, guess[!larger], 1 - guess[!larger] / guess[larger], answer, &other);
        answer->upper = fmax(answer->upper, other.upper);
        answer->lower = fmax(answer->lower, other.lower);
        answer->work += other.work;
    }
    answer->tight = dp_pld_is_tight(answer);
    dp_pld_sketch_free(a);
}

/* Asks at a few orders first, which are enough to begin with. */
static int ask_epsilon(struct dp_pld_question *a, double delta, struct dp_err *err)
{
    static const double few[] = {1.5, 2, 3, 4, 6, 8, 12, 16, 32, 64, 128, 256};
    int rc = dp_pld_check(a, err);
    if (rc == DP_OK && !(delta > 0 && delta < 1))
        rc = dp_fail(err, DP_E_RUN, "delta must be between 0 and 1, got %g", delta);
    if (rc != DP_OK)
        return rc;
    a->delta = delta;
    a->epsilon = dp_pld_renyi_epsilon(a, few, sizeof few / sizeof *few);
    if (a->epsilon > DP_PLD_LOSS_MAX)
        a->epsilon = dp_pld_renyi_epsilon(a, dp_rdp_orders, DP_RDP_ORDER_COUNT);
    return DP_OK;
}

int dp_pld_epsilon(const struct dp_pld_part *parts, size_t count, double delta, struct dp_pld_answer *answer,
                   struct dp_err *err)
{
    struct dp_pld_question a = {.parts = parts, .count = count};
    int rc = ask_epsilon(&a, delta, err);
    if (rc == DP_OK)
        solve(&a, answer);
    if (rc == DP_OK && answer->upper >= a.epsilon && a.epsilon > 0) { /* the grids said nothing */
        double renyi = dp_pld_renyi_epsilon(&a, dp_rdp_orders, DP_RDP_ORDER_COUNT);
        if (renyi < answer->upper)
            *answer = (struct dp_pld_answer){renyi, answer->lower, renyi - answer->lower <= 0.01 * renyi, answer->work};
    }
    return rc;
}

int dp_pld_rough(const struct dp_pld_part *parts, size_t count, double delta, struct dp_pld_answer *answer, struct dp_err *err)
{
    struct dp_pld_question a = {.parts = parts, .count = count, .rough = true};
    int rc = ask_epsilon(&a, delta, err);
    if (rc == DP_OK)
        solve(&a, answer);
    return rc;
}

int dp_pld_delta(const struct dp_pld_part *parts, size_t count, double epsilon, struct dp_pld_answer *answer,
                 struct dp_err *err)
{
    struct dp_pld_question a = {.parts = parts, .count = count, .of_delta = true, .epsilon = epsilon};
    int rc = dp_pld_check(&a, err);
    if (rc == DP_OK && !(epsilon >= 0 && isfinite(epsilon)))
        rc = dp_fail(err, DP_E_RUN, "epsilon must be finite and not negative, got %g", epsilon);
    if (rc != DP_OK)
        return rc;
    double rdp[DP_RDP_ORDER_COUNT], log_delta = 0;
    dp_pld_renyi(&a, dp_rdp_orders, DP_RDP_ORDER_COUNT, rdp);
    for (int i = 0; i < DP_RDP_ORDER_COUNT; i++) {
        /* ε = r + ln(1 − 1/α) − (ln δ + ln α)/(α − 1), for δ */
        double order = dp_rdp_orders[i];
        double x = (order - 1) * (rdp[i] - epsilon + log1p(-1 / order)) - log(order);
        log_delta = fmin(log_delta, x + 1e-12 * (1 + fabs(x) + (order - 1) * (rdp[i] + epsilon)));
    }
    a.delta = epsilon >= dp_pld_most(&a) ? 0 : fmax(exp(log_delta), DBL_MIN);
    solve(&a, answer);
    return DP_OK;
}

int dp_pld_estimate(const struct dp_pld_part *parts, size_t count, double delta, double *epsilon, struct dp_err *err)
{
    struct dp_pld_question a = {.parts = parts, .count = count, .delta = delta};
    int rc = dp_pld_check(&a, err);
    if (rc != DP_OK)
        return rc;
    *epsilon = NAN;
    if (!dp_pld_reaches(&a))
        return DP_OK;
    dp_pld_sketch(&a);
    *epsilon = fmax(dp_pld_estimated_epsilon(&a, false, delta), a.symmetric ? 0 : dp_pld_estimated_epsilon(&a, true, delta));
    dp_pld_sketch_free(&a);
    return DP_OK;
}
