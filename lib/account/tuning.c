#include "account/tuning.h"

#include "account/curve.h"
#include "base/mem.h"
#include "math/upward.h"
#include "priv/rdp.h"

void dp_tuning_new(struct dp_tuning **tuning, const struct dp_trials *trials, double score_multiplier)
{
    *tuning = dp_new(1, sizeof **tuning);
    (*tuning)->trials = *trials;
    (*tuning)->score_multiplier = score_multiplier;
}

void dp_tuning_free(struct dp_tuning *tuning)
{
    if (tuning == NULL)
        return;
    for (size_t i = 0; i < tuning->settings; i++)
        dp_charges_free(&tuning->setting[i].charges);
    free(tuning->setting);
    free(tuning);
}

int dp_tuning_add(struct dp_tuning *tuning, const struct dp_charges *charges, int64_t times, struct dp_err *err)
{
    if (times < 1 || times > DP_TUNING_MOST_SETTINGS)
        return dp_fail(err, DP_E_RUN, "a selection has between 1 and %d settings of one cost, got %lld",
                       DP_TUNING_MOST_SETTINGS, (long long)times);
    for (size_t i = 0; i < tuning->settings; i++)
        if (dp_charges_same(&tuning->setting[i].charges, charges)) {
            tuning->setting[i].times += times;
            return DP_OK;
        }
    dp_extend(&tuning->setting, &tuning->capacity, tuning->settings + 1, sizeof *tuning->setting);
    int rc = DP_OK;
    struct dp_setting *setting = &tuning->setting[tuning->settings++];
    *setting = (struct dp_setting){.times = times};
    /* Runs are added one by one, because shuffled epochs of equal events must stay separate. */
    for (size_t i = 0; rc == DP_OK && i < charges->count; i++)
        rc = dp_charges_add(&setting->charges, &charges->charge[i].event, charges->charge[i].laps, err);
    return rc;
}

int dp_tuning_copy(struct dp_tuning **to, const struct dp_tuning *from, struct dp_err *err)
{
    dp_tuning_new(to, &from->trials, from->score_multiplier);
    int rc = DP_OK;
    for (size_t i = 0; rc == DP_OK && i < from->settings; i++)
        rc = dp_tuning_add(*to, &from->setting[i].charges, from->setting[i].times, err);
    if (rc != DP_OK) {
        dp_tuning_free(*to);
        *to = NULL;
    }
    return rc;
}

static int check_setting(const struct dp_setting *setting, struct dp_err *err)
{
    const struct dp_charges *charges = &setting->charges;
    if (setting->times < 1 || setting->times > DP_TUNING_MOST_SETTINGS)
        return dp_fail(err, DP_E_RUN, "a selection has between 1 and %d settings of one cost, got %lld",
                       DP_TUNING_MOST_SETTINGS, (long long)setting->times);
    if (charges->count == 0)
        return dp_fail(err, DP_E_RUN, "a setting of a selection has no laps");
    for (size_t i = 0; i < charges->count; i++) {
        const struct dp_charge *charge = &charges->charge[i];
        if (charge->event.sampling == DP_SAMPLING_TUNED)
            return dp_fail(err, DP_E_RUN, "a selection has another selection among its runs");
        if (charge->laps < 1 || charge->laps > DP_EVENT_MOST_LAPS)
            return dp_fail(err, DP_E_RUN, "a setting of a selection has %lld laps", (long long)charge->laps);
        int rc = dp_event_check(&charge->event, err);
        if (rc != DP_OK)
            return rc;
    }
    return DP_OK;
}

int dp_tuning_check(const struct dp_tuning *tuning, struct dp_err *err)
{
    int rc = dp_trials_check(&tuning->trials, err);
    if (rc == DP_OK && !(tuning->score_multiplier >= 0 && isfinite(tuning->score_multiplier)))
        rc = dp_fail(err, DP_E_RUN, "the noise on a score needs a finite multiplier of at least 0, got %g",
                     tuning->score_multiplier);
    if (rc == DP_OK && tuning->settings == 0)
        rc = dp_fail(err, DP_E_RUN, "a selection has no settings");
    for (size_t i = 0; rc == DP_OK && i < tuning->settings; i++)
        rc = check_setting(&tuning->setting[i], err);
    return rc;
}

bool dp_tuning_same(const struct dp_tuning *a, const struct dp_tuning *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    bool same =
        dp_trials_same(&a->trials, &b->trials) && a->score_multiplier == b->score_multiplier && a->settings == b->settings;
    for (size_t i = 0; same && i < a->settings; i++)
        same = a->setting[i].times == b->setting[i].times && dp_charges_same(&a->setting[i].charges, &b->setting[i].charges);
    return same;
}

struct dp_event dp_event_tuned(struct dp_tuning *tuning)
{
    return (struct dp_event){.sampling = DP_SAMPLING_TUNED, .rate = 1, .tuning = tuning};
}

/* Adds the curve of a run to the n numbers of out; work has room for n numbers. */
static int add_run(const struct dp_charges *charges, const double *orders, size_t n, double *work, double *out,
                   struct dp_err *err)
{
    int rc = DP_OK;
    for (size_t c = 0; rc == DP_OK && c < charges->count; c++) {
        double times = (double)dp_event_times(&charges->charge[c].event, charges->charge[c].laps);
        rc = dp_event_curve(&charges->charge[c].event, orders, n, work, err);
        for (size_t i = 0; rc == DP_OK && i < n; i++)
            out[i] = dp_upward(out[i] + times * work[i]);
    }
    return rc;
}

/* one[i]: the curve of one trial. work: 2 n numbers. */
static int trial(const struct dp_tuning *s, const double *orders, size_t n, double *work, double *one, struct dp_err *err)
{
    double before = 0, *run = work + n;
    int rc = DP_OK;
    for (size_t i = 0; i < n; i++)
        one[i] = 0;
    /* Adds one setting at a time: the logarithm of the mean over the settings so far and the next one. */
    for (size_t k = 0; rc == DP_OK && k < s->settings; k++) {
        double share = (double)s->setting[k].times / (before + (double)s->setting[k].times);
        for (size_t i = 0; i < n; i++)
            run[i] = 0;
        rc = add_run(&s->setting[k].charges, orders, n, work, run, err);
        for (size_t i = 0; rc == DP_OK && i < n; i++) {
            double here = run[i], there = one[i], a = orders[i] - 1, high = fmax(here, there), low = fmin(here, there);
            double of_high = here > there ? share : 1 - share;
            if (k == 0 || high == low || isinf(high))
                one[i] = high;
            else /* covers the rounding of the share, of the logarithm, and of the result */
                one[i] = fmin(high, dp_upward(high + (log(of_high + (1 - of_high) * exp(-a * (high - low))) +
                                                      16 * DP_SLACK * (1 + a * high)) /
                                                         a));
        }
        before += (double)s->setting[k].times;
    }
    for (size_t i = 0; rc == DP_OK && s->score_multiplier > 0 && i < n; i++) {
        double score;
        dp_rdp_gaussian(s->score_multiplier, &orders[i], 1, &score);
        one[i] = dp_upward(one[i] + score);
    }
    return rc;
}

int dp_tuning_curve(const struct dp_tuning *tuning, const double *orders, size_t n, double *out, struct dp_err *err)
{
    size_t count = n + DP_RDP_ORDER_COUNT;
    double *work = NULL, *all, *one;
    work = dp_new(4 * count, sizeof *work);
    all = work + 2 * count;
    one = all + count;
    memcpy(all, dp_rdp_orders, sizeof dp_rdp_orders);
    memcpy(all + DP_RDP_ORDER_COUNT, orders, n * sizeof *orders);
    int rc = trial(tuning, all, count, work, one, err);
    if (rc == DP_OK)
        dp_rdp_trials(&tuning->trials, one, orders, one + DP_RDP_ORDER_COUNT, n, out);
    free(work);
    return rc;
}
