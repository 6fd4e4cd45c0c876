#include "stages/reserve.h"

#include "priv/account.h"
#include "priv/curve.h"

static int rdp(const struct dp_event *event, double order, double *r, struct dp_err *err)
{
    return dp_event_curve(event, &order, 1, r, err);
}

static int epsilon(const struct dp_charges *charges, double delta, double *upper, double *lower, const char **accountant,
                   struct dp_err *err)
{
    struct dp_answer answer;
    int rc = dp_account_epsilon(DP_ACCOUNTANT_BEST, charges, delta, &answer, err);
    if (rc != DP_OK)
        return rc;
    *upper = answer.upper;
    *lower = answer.lower;
    *accountant = dp_accountant_names[answer.by];
    return DP_OK;
}

const struct dp_ledger_hooks dp_reserve_hooks = {rdp, epsilon};

static int64_t laps_of(const struct dp_charges *charges, const struct dp_event *event)
{
    int64_t laps = 0;
    for (size_t i = 0; i < charges->count; i++)
        if (dp_event_same(&charges->charge[i].event, event))
            laps += charges->charge[i].laps;
    return laps;
}

/* One charge per event, shuffled epochs too: they are all of one run. */
static int add(struct dp_charges *charges, const struct dp_event *event, int64_t laps, struct dp_err *err)
{
    for (size_t i = 0; i < charges->count; i++) {
        if (dp_event_same(&charges->charge[i].event, event)) {
            charges->charge[i].laps += laps;
            return DP_OK;
        }
    }
    return dp_charges_add(charges, event, laps, err);
}

int dp_reserve_open(struct dp_reserve *r, const char *path, const struct dp_ledger_run *run, struct dp_err *err)
{
    int rc = dp_ledger_open(&r->ledger, path, run, &dp_reserve_hooks, err);
    if (rc == DP_OK)
        rc = dp_ledger_resumed(r->ledger, &r->used, &r->paid, err);
    for (size_t i = 0; rc == DP_OK && i < r->paid.count; i++)
        rc = add(&r->reserved, &r->paid.charge[i].event, r->paid.charge[i].laps, err);
    for (size_t i = 0; rc == DP_OK && i < r->used.count; i++)
        r->laps += r->used.charge[i].laps;
    return rc;
}

int dp_reserve_checkpoint(struct dp_reserve *r, struct dp_err *err)
{
    int rc = dp_ledger_checkpoint(r->ledger, &r->used, err);
    /* What a resumed run had paid for stays reserved. */
    for (size_t i = 0; rc == DP_OK && i < r->reserved.count; i++) {
        struct dp_charge *charge = &r->reserved.charge[i];
        int64_t used = laps_of(&r->used, &charge->event), paid = laps_of(&r->paid, &charge->event);
        charge->laps = used > paid ? used : paid;
    }
    return rc;
}

int dp_reserve_lap(struct dp_reserve *r, const struct dp_event *event, int64_t left, struct dp_err *err)
{
    int rc = DP_OK;
    if (laps_of(&r->reserved, event) == laps_of(&r->used, event)) {
        int64_t chunk = 1 + r->laps / 8, granted;
        rc = dp_ledger_reserve(r->ledger, event, chunk < left ? chunk : left, &granted, err);
        if (rc == DP_OK)
            rc = add(&r->reserved, event, granted, err);
    }
    if (rc == DP_OK)
        rc = add(&r->used, event, 1, err);
    r->laps += rc == DP_OK;
    return rc;
}

int dp_reserve_end(struct dp_reserve *r, const struct dp_spend *spend, const char *status, struct dp_err *err)
{
    struct dp_ledger_end end = {.used = &r->used, .epsilon = spend->epsilon, .delta = spend->delta, .status = status};
    double upper, lower;
    int rc = DP_OK;
    if (r->ledger == NULL)
        return DP_OK;
    bool repaid = false; /* what a resumed run had paid for is charged even if it did not come to it again */
    for (size_t i = 0; rc == DP_OK && i < r->paid.count; i++) {
        int64_t missing = r->paid.charge[i].laps - laps_of(&r->used, &r->paid.charge[i].event);
        repaid |= missing > 0;
        if (missing > 0)
            rc = add(&r->used, &r->paid.charge[i].event, missing, err);
    }
    end.accountant = spend->adaptive ? "filter" : spend->published ? "published" : "rdp";
    if (rc == DP_OK && !spend->adaptive && !spend->published) {
        const char *accountant;
        rc = epsilon(&r->used, spend->delta, &upper, &lower, &accountant, err);
        if (rc == DP_OK && (upper <= spend->epsilon || repaid)) {
            end.epsilon = upper;
            end.accountant = accountant;
        }
    }
    if (rc == DP_OK)
        rc = dp_ledger_close(r->ledger, &end, err);
    dp_ledger_free(r->ledger);
    r->ledger = NULL;
    return rc;
}

void dp_reserve_close(struct dp_reserve *r)
{
    dp_ledger_free(r->ledger);
    dp_charges_free(&r->reserved);
    dp_charges_free(&r->used);
    dp_charges_free(&r->paid);
}
