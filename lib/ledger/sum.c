#include "ledger/sum.h"

#include "ledger/charge_json.h"
#include "account/curve.h"
#include "account/tradeoff.h"
#include "priv/filter.h"
#include "priv/rdp.h"

int dp_ledger_add_spent(const struct dp_ledger_entry *entry, struct dp_charges *charges, struct dp_err *err)
{
    int rc = DP_OK;
    for (size_t i = 0; rc == DP_OK && i < entry->paid.count; i++)
        if (entry->paid.charge[i].laps > 0)
            rc = dp_charges_add(charges, &entry->paid.charge[i].event, entry->paid.charge[i].laps, err);
    return rc;
}

const char *const dp_ledger_basis_names[] = {"laps", "plan", "budget", "order"};

const char *dp_ledger_status(const struct dp_ledger_entry *entry)
{
    return entry->close != NULL ? entry->closed.status : "going or killed";
}

double dp_ledger_own_delta(const struct dp_ledger_entry *entry)
{
    return entry->stated != NULL && entry->plan.charge[0].event.query[0].kind == DP_QUERY_STATED ? entry->delta : 0;
}

enum dp_ledger_basis dp_ledger_basis(const struct dp_ledger_entry *entry)
{
    if (entry->order > 0)
        return DP_LEDGER_BY_BUDGET;
    int64_t paid = dp_ledger_entry_laps(entry);
    if (dp_ledger_entry_ended(entry) || (paid == 0 && entry->plan.count > 0))
        return DP_LEDGER_BY_LAPS;
    if (entry->plan.count == 0)
        return DP_LEDGER_BY_ORDER;
    return entry->close != NULL && paid >= dp_charges_all(&entry->plan) ? DP_LEDGER_BY_LAPS : DP_LEDGER_BY_PLAN;
}

/* The order for a run without a plan: a function of its own budget, so it was known before the run. */
static double own_order(double epsilon, double delta)
{
    double order = dp_filter_order(epsilon, delta);
    return isnan(order) ? dp_rdp_orders[DP_RDP_ORDER_COUNT - 1] : order;
}

/* Adds a run at one order, which has spent `own`. */
static void add_at_order(struct dp_ledger_sum *sum, const struct dp_ledger_entry *entry, const struct dp_charges *own)
{
    double order = entry->order > 0 ? entry->order : own_order(entry->epsilon, entry->delta), rho = 0;
    if (entry->holds || (entry->order > 0 && isfinite(entry->epsilon)))
        rho = entry->epsilon - dp_rdp_penalty(order, entry->delta);
    else /* without a filter, rho is the amount that it spent */
        dp_ledger_rdp(own, order, &rho, &sum->why);
    sum->order = sum->order > 0 ? fmin(sum->order, order) : order;
    sum->rho += rho;
}

int dp_ledger_sum_add(struct dp_ledger_sum *sum, const struct dp_ledger_entry *entry, struct dp_err *err)
{
    enum dp_ledger_basis basis = dp_ledger_basis(entry);
    bool fixed = basis == DP_LEDGER_BY_LAPS || basis == DP_LEDGER_BY_PLAN;
    struct dp_charges own = {0};
    int rc = dp_ledger_add_spent(entry, &own, err);
    if (rc == DP_OK && basis == DP_LEDGER_BY_PLAN)
        rc = dp_charges_add_all(&own, dp_charges_at_least, &entry->plan, err);
    rc = rc ?: dp_charges_add_all(&sum->all, dp_charges_add, &own, err);
    if (rc == DP_OK && fixed)
        rc = dp_charges_add_all(&sum->fixed, dp_charges_add, &own, err);
    if (rc == DP_OK && !fixed && dp_ledger_entry_spent(entry))
        add_at_order(sum, entry, &own);
    dp_charges_free(&own);
    return rc;
}

void dp_ledger_sum_free(struct dp_ledger_sum *sum)
{
    dp_charges_free(&sum->all);
    dp_charges_free(&sum->fixed);
}

int dp_ledger_sum_curve(const struct dp_ledger_sum *sum, double delta, json_t *members, struct dp_err *err)
{
    struct dp_tradeoff t = {0};
    int rc = sum->order == 0 && sum->fixed.count > 0 ? dp_tradeoff_make(&sum->fixed, delta, &t, err) : DP_OK;
    if (rc != DP_OK || t.count == 0)
        return rc;
    json_t *curve = json_array();
    for (size_t i = 0; i < t.count; i++)
        json_array_append_new(curve, json_pack("[f, f]", t.epsilon[i], t.delta[i]));
    json_object_set_new(members, "curve", curve);
    if (isfinite(t.mu)) {
        json_object_set_new(members, "mu", json_real(t.mu));
        json_object_set_new(members, "mu_delta", json_real(t.but));
    }
    return DP_OK;
}

int dp_ledger_run_epsilon(const struct dp_ledger_entry *entry, struct dp_answer *answer, struct dp_err *err)
{
    struct dp_ledger_sum sum = {0};
    *answer = (struct dp_answer){0};
    int rc = dp_ledger_sum_add(&sum, entry, err);
    rc = rc ?: dp_ledger_sum_epsilon(&sum, entry->delta, answer, err);
    dp_ledger_sum_free(&sum);
    return rc;
}

/* The spending of a run with a filter, at the filter's order. */
static int filter_spent(const struct dp_ledger_entry *entry, double *epsilon, struct dp_err *err)
{
    struct dp_charges charges = {0};
    int rc = dp_ledger_add_spent(entry, &charges, err);
    rc = rc ?: dp_ledger_rdp(&charges, entry->order, epsilon, err);
    if (rc == DP_OK && charges.count > 0)
        *epsilon = fmax(0, *epsilon + dp_rdp_penalty(entry->order, entry->delta));
    dp_charges_free(&charges);
    return rc;
}

int dp_ledger_run_check(const struct dp_ledger_entry *entry, struct dp_ledger_recorded *r, struct dp_err *err)
{
    struct dp_answer answer;
    double recorded = entry->closed.epsilon, spent = 0;
    int rc = dp_ledger_run_epsilon(entry, &answer, err);
    if (rc == DP_OK && entry->order > 0)
        rc = filter_spent(entry, &spent, err);
    bool same = strcmp(dp_accountant_names[answer.by], entry->closed.accountant) == 0;
    bool agrees = same ? fabs(recorded - answer.upper) <= 1e-6 * answer.upper : recorded >= answer.lower * (1 - 1e-9);
    *r = (struct dp_ledger_recorded){.recomputed = answer.upper,
                                     .compared = same || isfinite(entry->epsilon),
                                     .agrees = agrees && recorded >= spent * (1 - 1e-9) && entry->closed.delta == entry->delta};
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
    struct dp_charges plain = {0};
    double fixed, own;
    *answer = (struct dp_answer){.tight = true, .by = DP_ACCOUNTANT_NONE};
    if (sum->all.count == 0 && sum->order == 0)
        return DP_OK;
    if (sum->why.message[0] != '\0')
        return dp_fail(err, DP_E_RUN, "%s", sum->why.message);
    if (sum->order == 0)
        return dp_account_epsilon(DP_ACCOUNTANT_BEST, &sum->fixed, delta, answer, err);
    int rc = dp_charges_without_delta(&sum->fixed, &plain, &own, err);
    rc = rc ?: dp_ledger_rdp(&plain, sum->order, &fixed, err);
    dp_charges_free(&plain);
    *answer = (struct dp_answer){.upper = (double)INFINITY, .by = DP_ACCOUNTANT_FILTER};
    if (rc == DP_OK && own < delta)
        answer->upper = fmax(0, (sum->rho + fixed + dp_rdp_penalty(sum->order, delta - own)) * (1 + 0x1p-50));
    return rc;
}

json_t *dp_ledger_charges_json(const struct dp_charges *charges)
{
    json_t *list = json_array();
    for (size_t i = 0; i < charges->count; i++)
        json_array_append_new(list, dp_charge_to_json(&charges->charge[i]));
    return list;
}

json_t *dp_ledger_real_json(double value)
{
    return isfinite(value) ? json_real(value) : json_string(isnan(value) ? "NaN" : "Infinity");
}

void dp_ledger_add_text(json_t *list, const char *text)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (strcmp(json_string_value(json_array_get(list, i)), text) == 0)
            return;
    json_array_append_new(list, json_string(text));
}
