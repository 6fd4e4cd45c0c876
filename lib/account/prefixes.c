#include "account/prefixes.h"

#include "base/mem.h"
#include "account/account.h"
#include "account/meter.h"

/* One charge for each event of the plan. Charges without laps stay, so that the rows of all prefixes have the same shape. */
static int charges_of(const struct dp_plan *plan, int64_t laps, struct dp_charges *charges, struct dp_err *err)
{
    int64_t *count = dp_new(plan->events, sizeof *count);
    int rc = DP_OK;
    dp_plan_count(plan, laps, count);
    for (size_t i = 0; rc == DP_OK && i < plan->events; i++)
        rc = dp_charges_add(charges, &plan->event[i], count[i], err);
    free(count);
    return rc;
}

/* Drops events that only later laps have: they are not part of this run. */
static void drop_unused(struct dp_charges *row, size_t n)
{
    for (size_t c = row[n - 1].count; c-- > 0;) {
        if (row[n - 1].charge[c].laps > 0)
            continue;
        for (size_t i = 0; i < n; i++)
            row[i].charge[c] = row[i].charge[--row[i].count];
    }
}

static int check(const struct dp_plan *plan, const int64_t *laps, size_t n, struct dp_err *err)
{
    if (n == 0 || laps[0] < 1)
        return dp_fail(err, DP_E_RUN, "a run has at least one lap");
    for (size_t i = 0; i + 1 < n; i++)
        if (laps[i + 1] <= laps[i])
            return dp_fail(err, DP_E_RUN, "laps must ascend, got %lld after %lld", (long long)laps[i + 1], (long long)laps[i]);
    if (laps[n - 1] > plan->laps)
        return dp_fail(err, DP_E_RUN, "lap %lld is beyond the %lld laps that were planned", (long long)laps[n - 1],
                       (long long)plan->laps);
    return DP_OK;
}

/* The first n rows by Rényi DP; the curves are computed once. */
static int by_meter(const struct dp_charges *row, size_t n, double delta, double *epsilon, struct dp_err *err)
{
    struct dp_meter *meter;
    int rc = dp_meter_new(&meter, delta, err);
    if (rc != DP_OK)
        return rc;
    for (size_t i = 0; rc == DP_OK && i < n; i++) {
        for (size_t c = 0; rc == DP_OK && c < row[i].count; c++) {
            int64_t more = row[i].charge[c].laps - (i > 0 ? row[i - 1].charge[c].laps : 0);
            if (more > 0)
                rc = dp_meter_charge(meter, &row[i].charge[c].event, more, err);
        }
        epsilon[i] = fmin(epsilon[i], dp_meter_epsilon(meter));
    }
    dp_meter_free(meter);
    return rc;
}

/* *rough: the number of first rows for which Rényi DP may give a better bound. */
static int by_pld(const struct dp_charges *row, size_t n, double delta, double *epsilon, size_t *rough, struct dp_err *err)
{
    struct dp_pld_part *parts = NULL;
    double *upper = dp_new(n, sizeof *upper);
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        struct dp_pld_part *own = dp_account_pld_parts(&row[i], &count);
        if (own != NULL && parts == NULL)
            parts = dp_new(n * count, sizeof *parts);
        for (size_t p = 0; own != NULL && p < count; p++)
            parts[i * count + p] = own[p];
        free(own);
    }
    int rc = dp_pld_prefixes(parts, count, n, delta, upper, rough, err);
    for (size_t i = 0; rc == DP_OK && i + 1 < n; i++)
        epsilon[i] = fmin(epsilon[i], upper[i]);
    free(upper);
    free(parts);
    return rc;
}

static int by_gdp(const struct dp_charges *row, size_t n, double delta, double *epsilon, struct dp_err *err)
{
    int rc = DP_OK;
    for (size_t i = 0; rc == DP_OK && i + 1 < n; i++) {
        struct dp_answer answer;
        rc = dp_account_epsilon(DP_ACCOUNTANT_GDP, &row[i], delta, &answer, err);
        epsilon[i] = answer.upper;
    }
    return rc;
}

int dp_account_prefixes(const struct dp_plan *plan, const int64_t *laps, size_t n, double delta, double *epsilon,
                        struct dp_err *err)
{
    struct dp_charges *row, whole = {0};
    struct dp_answer answer;
    int rc = check(plan, laps, n, err);
    if (rc != DP_OK)
        return rc;
    row = dp_new(n, sizeof *row);
    for (size_t i = 0; rc == DP_OK && i < n; i++) {
        epsilon[i] = (double)INFINITY;
        rc = charges_of(plan, laps[i], &row[i], err);
    }
    if (rc == DP_OK)
        drop_unused(row, n);
    rc = rc ?: dp_plan_charges(plan, laps[n - 1], &whole, err);
    rc = rc ?: dp_account_epsilon(DP_ACCOUNTANT_BEST, &whole, delta, &answer, err);
    if (rc == DP_OK && n > 1 && dp_account_covers(DP_ACCOUNTANT_GDP, &whole)) {
        rc = by_gdp(row, n, delta, epsilon, err);
    } else if (rc == DP_OK && n > 1) {
        size_t rough = n;
        if (dp_account_covers(DP_ACCOUNTANT_PLD, &whole))
            rc = by_pld(row, n, delta, epsilon, &rough, err);
        rc = rc ?: by_meter(row, rough < n ? rough : n - 1, delta, epsilon, err);
    }
    if (rc == DP_OK)
        epsilon[n - 1] = answer.upper;
    for (size_t i = n - 1; rc == DP_OK && i > 0; i--)
        epsilon[i - 1] = fmin(epsilon[i - 1], epsilon[i]);
    for (size_t i = 0; i < n; i++)
        dp_charges_free(&row[i]);
    dp_charges_free(&whole);
    free(row);
    return rc;
}
