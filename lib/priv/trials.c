#include "priv/trials.h"

#include <mpfr.h>

#include "base/number.h"
#include "math/uniform.h"
#include "math/upward.h"
#include "priv/rdp.h"

/* --- the law ------------------------------------------------------------------------------------------------------ */

int dp_trials_check(const struct dp_trials *t, struct dp_err *err)
{
    if (t->law == DP_TRIALS_POISSON) {
        if (t->mean > 0 && t->mean <= DP_TRIALS_MOST_MEAN && t->eta == 0 && t->gamma == 0)
            return DP_OK;
        return dp_fail(err, DP_E_RUN, "the mean of a Poisson number of trials lies between 0 and %g, got %g",
                       DP_TRIALS_MOST_MEAN, t->mean);
    }
    if (t->law != DP_TRIALS_NEGATIVE_BINOMIAL || t->mean != 0)
        return dp_fail(err, DP_E_RUN, "the number of trials has no law that is known here");
    if (!(t->eta > -1 && t->eta <= 1000))
        return dp_fail(err, DP_E_RUN, "eta of a number of trials is above -1 and at most 1000, got %g", t->eta);
    if (!(t->gamma > 0 && t->gamma < 1))
        return dp_fail(err, DP_E_RUN, "gamma of a number of trials lies between 0 and 1, got %g", t->gamma);
    if (!(dp_trials_mean(t) <= DP_TRIALS_MOST_MEAN))
        return dp_fail(err, DP_E_RUN, "%.6g trials on average are more than %g", dp_trials_mean(t), DP_TRIALS_MOST_MEAN);
    return DP_OK;
}

int dp_trials_parse(struct dp_trials *trials, const char *text, struct dp_err *err)
{
    static const struct {
        const char *name;
        int numbers;
        struct dp_trials law;
    } laws[] = {
        {"poisson", 1, {.law = DP_TRIALS_POISSON}},
        {"geometric", 1, {.law = DP_TRIALS_NEGATIVE_BINOMIAL, .eta = 1}},
        {"logarithmic", 1, {.law = DP_TRIALS_NEGATIVE_BINOMIAL, .eta = 0}},
        {"negative-binomial", 2, {.law = DP_TRIALS_NEGATIVE_BINOMIAL}},
    };
    size_t length = strcspn(text, ":"), i = 0, count = sizeof laws / sizeof *laws;
    double number[2] = {0, 0};
    while (i < count && !(strlen(laws[i].name) == length && memcmp(laws[i].name, text, length) == 0))
        i++;
    bool known = i < count;
    const char *at = text + length;
    for (int k = 0; known && k < laws[i].numbers; k++) {
        char part[64];
        size_t digits = *at == ':' ? strcspn(at + 1, ":") : 0;
        known = digits > 0 && digits < sizeof part;
        if (known) {
            memcpy(part, at + 1, digits);
            part[digits] = '\0';
            known = dp_number_real(part, &number[k]);
            at += 1 + digits;
        }
    }
    if (!known || *at != '\0')
        return dp_fail(err, DP_E_USAGE,
                       "'%.80s' is not poisson:MEAN, geometric:GAMMA, logarithmic:GAMMA or negative-binomial:ETA:GAMMA", text);
    *trials = laws[i].law;
    if (trials->law == DP_TRIALS_POISSON)
        trials->mean = number[0];
    else
        trials->gamma = number[laws[i].numbers - 1];
    if (laws[i].numbers == 2)
        trials->eta = number[0];
    struct dp_err why = {0};
    return dp_trials_check(trials, &why) == DP_OK ? DP_OK : dp_fail(err, DP_E_USAGE, "%s", why.message);
}

bool dp_trials_same(const struct dp_trials *a, const struct dp_trials *b)
{
    return a->law == b->law && a->mean == b->mean && a->eta == b->eta && a->gamma == b->gamma;
}

double dp_trials_mean(const struct dp_trials *t)
{
    if (t->law == DP_TRIALS_POISSON)
        return t->mean;
    double log_inverse = -log(t->gamma);
    double share = t->eta == 0 ? log_inverse : -expm1(-t->eta * log_inverse) / t->eta; /* (1 − γ^η)/η */
    return (1 - t->gamma) / t->gamma / share * (1 + 1e-13 * (1 + fabs(t->eta)));
}

/* --- a number of its law ------------------------------------------------------------------------------------------ */

/* Pr[K = 1] of the truncated negative binomial, η(1−γ)/(γ^−η − 1), and (1−γ)/ln(1/γ) for η = 0; rounded in one direction. */
static void set_first(const struct dp_trials *t, mpfr_t p, mpfr_rnd_t direction)
{
    mpfr_rnd_t other = direction == MPFR_RNDU ? MPFR_RNDD : MPFR_RNDU;
    mpfr_t share;
    mpfr_init2(share, mpfr_get_prec(p));
    mpfr_set_d(share, t->gamma, direction); /* exact, as all doubles are in these precisions */
    mpfr_log(share, share, direction);
    mpfr_neg(share, share, MPFR_RNDN); /* ln(1/γ), rounded the other way */
    if (t->eta != 0) {
        mpfr_mul_d(share, share, fabs(t->eta), other);
        if (t->eta < 0)
            mpfr_neg(share, share, MPFR_RNDN);
        mpfr_expm1(share, share, t->eta > 0 ? other : direction);
        mpfr_abs(share, share, MPFR_RNDN);
    }
    mpfr_set_d(p, t->gamma, direction);
    mpfr_ui_sub(p, 1, p, direction);
    if (t->eta != 0)
        mpfr_mul_d(p, p, fabs(t->eta), direction);
    mpfr_div(p, p, share, direction);
    mpfr_clear(share);
}

/* Turns Pr[K = k] into Pr[K = k + 1]. */
static void set_next(const struct dp_trials *t, mpfr_t p, mpfr_t work, uint64_t k, mpfr_rnd_t direction)
{
    if (t->law == DP_TRIALS_POISSON) {
        mpfr_mul_d(p, p, t->mean, direction);
    } else {
        mpfr_set_d(work, t->gamma, direction);
        mpfr_ui_sub(work, 1, work, direction);
        mpfr_mul(p, p, work, direction);
        mpfr_set_d(work, t->eta, direction);
        mpfr_add_ui(work, work, k, direction);
        mpfr_mul(p, p, work, direction);
    }
    mpfr_div_ui(p, p, k + 1, direction);
}

/* The number, or −1 if this many words of V do not decide it. Rounded numbers: [0] is below the real number and [1] above. */
static int64_t decide(const struct dp_trials *t, const struct dp_key *key, uint64_t words)
{
    static const mpfr_rnd_t direction[2] = {MPFR_RNDD, MPFR_RNDU};
    mpfr_t v[2], term[2], sum[2], work;
    int64_t k = t->law == DP_TRIALS_POISSON ? 0 : 1, found = -1;
    mpfr_init2(work, (mpfr_prec_t)(64 * words + 64));
    for (int i = 0; i < 2; i++) {
        mpfr_inits2((mpfr_prec_t)(64 * words + 64), v[i], term[i], sum[i], (mpfr_ptr)NULL);
        if (t->law == DP_TRIALS_POISSON) {
            mpfr_set_d(term[i], -t->mean, MPFR_RNDN);
            mpfr_exp(term[i], term[i], direction[i]);
        } else {
            set_first(t, term[i], direction[i]);
        }
        mpfr_set(sum[i], term[i], direction[i]);
    }
    dp_uniform_between(key, DP_DRAW_TRIALS, 0, 0, words, 0, v[0], v[1]);
    while (mpfr_greater_p(v[0], sum[1])) { /* V is above Pr[K ≤ k] */
        for (int i = 0; i < 2; i++) {
            set_next(t, term[i], work, (uint64_t)k, direction[i]);
            mpfr_add(sum[i], sum[i], term[i], direction[i]);
        }
        k++;
    }
    if (mpfr_lessequal_p(v[1], sum[0]))
        found = k;
    for (int i = 0; i < 2; i++)
        mpfr_clears(v[i], term[i], sum[i], (mpfr_ptr)NULL);
    mpfr_clear(work);
    return found;
}

int64_t dp_trials_draw(const struct dp_trials *trials, const struct dp_key *key)
{
    int64_t found = -1;
    for (uint64_t words = 2; found < 0; words++)
        found = decide(trials, key, words);
    mpfr_free_cache();
    return found;
}

/* --- the cost ----------------------------------------------------------------------------------------------------- */

/* δ(ε) of one trial from its curve, the inverse of dp_rdp_epsilon; at most 1. */
static double delta_of(const double *base, double epsilon)
{
    double least = 0;
    for (size_t i = 0; i < DP_RDP_ORDER_COUNT; i++) {
        double a = dp_rdp_orders[i], share = log1p(-1 / a);
        double size = (a - 1) * (fabs(base[i]) + fabs(share) + epsilon) + log(a);
        double log_delta = (a - 1) * (base[i] + share - epsilon) - log(a) + 4 * DP_SLACK * size;
        if (log_delta < least)
            least = log_delta;
    }
    return dp_upward(exp(least));
}

static double poisson(double mean, const double *base, double order, double one)
{
    double epsilon = -log1p(-1 / order) * (1 - 2 * DP_SLACK);
    double result = log(mean) + (order - 1) * (one + mean * delta_of(base, epsilon));
    double larger = fmax(result, -mean), log_sum = larger + log1p(exp(-fabs(result + mean)));
    return log_sum + 4 * DP_SLACK * (fabs(log_sum) + fabs(result) + fabs(log(mean)) + 1);
}

/* The least over b of (1 − 1/b) r(b) + ln(1/γ)/b. */
static double least_of(const double *base, double log_inverse)
{
    double least = log_inverse; /* b = 1 */
    for (size_t i = 0; i < DP_RDP_ORDER_COUNT; i++)
        least = fmin(least, (1 - 1 / dp_rdp_orders[i]) * base[i] + log_inverse / dp_rdp_orders[i]);
    return least;
}

void dp_rdp_trials(const struct dp_trials *t, const double *base, const double *orders, const double *one, size_t n,
                   double *out)
{
    bool counts = t->law == DP_TRIALS_POISSON;
    double more = counts ? 0 : (1 + t->eta) * least_of(base, -log(t->gamma)), mean = dp_trials_mean(t);
    for (size_t i = 0; i < n; i++) {
        if (!(one[i] < INFINITY))
            out[i] = INFINITY;
        else if (counts)
            out[i] = dp_upward(fmax(poisson(t->mean, base, orders[i], one[i]), 0) / (orders[i] - 1));
        else
            out[i] = dp_upward(one[i] + more + (log(mean) + 1e-12) / (orders[i] - 1)) * (1 + DP_SLACK);
    }
}
