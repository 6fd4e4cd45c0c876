#include "ledger/sum.h"

#include <math.h>
#include <string.h>

#include "ledger/charge_json.h"
#include "account/curve.h"
#include "priv/rdp.h"

int dp_ledger_add_spent(const struct dp_ledger_entry *entry, struct dp_charges *charges, struct dp_err *err)
{
    int rc = DP_OK;
    for (size_t i = 0; rc == DP_OK && i < entry->events; i++)
        if (dp_ledger_laps_spent(&entry->event[i]) > 0)
            rc = dp_charges_add(charges, &entry->event[i].event, dp_ledger_laps_spent(&entry->event[i]), err);
    return rc;
}

int dp_ledger_sum_add(struct dp_ledger_sum *sum, const struct dp_ledger_entry *entry, int64_t most, struct dp_err *err)
{
    bool filtered = entry->order > 0;
    struct dp_charges own = {0};
    int rc = dp_ledger_add_spent(entry, &own, err);
    if (own.count == 1 && !filtered && own.charge[0].laps > most)
        own.charge[0].laps = most;
    for (size_t i = 0; rc == DP_OK && i < own.count; i++) {
        rc = dp_charges_add(&sum->all, &own.charge[i].event, own.charge[i].laps, err);
        if (rc == DP_OK && !filtered)
            rc = dp_charges_add(&sum->fixed, &own.charge[i].event, own.charge[i].laps, err);
    }
    if (filtered && own.count > 0) {
        double rho = entry->epsilon - dp_rdp_penalty(entry->order, entry->delta);
        if (entry->as_published) /* no filter held it to that */
            rc = rc == DP_OK ? dp_ledger_rdp(&own, entry->order, &rho, err) : rc;
        sum->order = sum->order > 0 ? fmin(sum->order, entry->order) : entry->order;
        sum->rho += rho;
    }
    dp_charges_free(&own);
    return rc;
}

void dp_ledger_sum_free(struct dp_ledger_sum *sum)
{
    dp_charges_free(&sum->all);
    dp_charges_free(&sum->fixed);
}

int dp_ledger_run_epsilon(const struct dp_ledger_entry *entry, struct dp_answer *answer, struct dp_err *err)
{
    struct dp_ledger_sum sum = {0};
    *answer = (struct dp_answer){0};
    int rc = dp_ledger_sum_add(&sum, entry, INT64_MAX, err);
    if (rc == DP_OK)
        rc = dp_ledger_sum_epsilon(&sum, entry->delta, answer, err);
    dp_ledger_sum_free(&sum);
    return rc;
}

/* What the laps of a run with a filter have spent at its order. */
static int filter_spent(const struct dp_ledger_entry *entry, double *epsilon, struct dp_err *err)
{
    struct dp_charges charges = {0};
    int rc = dp_ledger_add_spent(entry, &charges, err);
    if (rc == DP_OK)
        rc = dp_ledger_rdp(&charges, entry->order, epsilon, err);
    if (rc == DP_OK && charges.count > 0)
        *epsilon = fmax(0, *epsilon + dp_rdp_penalty(entry->order, entry->delta));
    dp_charges_free(&charges);
    return rc;
}

int dp_ledger_run_check(const struct dp_ledger_entry *entry, struct dp_ledger_recorded *r, struct dp_err *err)
{
    struct dp_answer answer;
    double recorded = entry->closed_epsilon, spent = 0;
    int rc = dp_ledger_run_epsilon(entry, &answer, err);
    if (rc == DP_OK && entry->order > 0)
        rc = filter_spent(entry, &spent, err);
    bool same = strcmp(dp_accountant_names[answer.by], entry->accountant) == 0;
    bool agrees = same ? fabs(recorded - answer.upper) <= 1e-6 * answer.upper : recorded >= answer.lower * (1 - 1e-9);
    *r = (struct dp_ledger_recorded){.recomputed = answer.upper,
                                     .compared = same || !entry->as_published,
                                     .agrees = agrees && recorded >= spent * (1 - 1e-9) && entry->closed_delta == entry->delta};
    return rc;
}

int dp_ledger_rdp(const struct dp_charges *charges, double order, double *rho, struct dp_err *err)
{
    double r;
    *rho = 0;
    for (size_t i = 0; i < charges->count; i++) {
        const struct dp_charge *charge = &charges->charge[i];
        int rc = dp_event_curve(&charge->event, &order, 1, &r, err);
        if (rc != DP_OK)
            return rc;
        *rho += (double)dp_event_times(&charge->event, charge->laps) * r;
    }
    *rho *= 1 + (double)(charges->count + 4) * 0x1p-52;
    return DP_OK;
}

int dp_ledger_sum_epsilon(const struct dp_ledger_sum *sum, double delta, struct dp_answer *answer, struct dp_err *err)
{
    double fixed;
    *answer = (struct dp_answer){.tight = true, .by = DP_ACCOUNTANT_NONE};
    if (sum->all.count == 0)
        return DP_OK;
    if (sum->order == 0)
        return dp_account_epsilon(DP_ACCOUNTANT_BEST, &sum->fixed, delta, answer, err);
    int rc = dp_ledger_rdp(&sum->fixed, sum->order, &fixed, err);
    *answer = (struct dp_answer){.by = DP_ACCOUNTANT_FILTER};
    answer->upper = fmax(0, (sum->rho + fixed + dp_rdp_penalty(sum->order, delta)) * (1 + 0x1p-50));
    return rc;
}

json_t *dp_ledger_charges_json(const struct dp_charges *charges)
{
    json_t *list = json_array();
    for (size_t i = 0; list != NULL && i < charges->count; i++)
        if (json_array_append_new(list, dp_charge_to_json(&charges->charge[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

json_t *dp_ledger_real_json(double value)
{
    return isfinite(value) ? json_real(value) : json_string(isnan(value) ? "NaN" : "Infinity");
}
