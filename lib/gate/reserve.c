#include "gate/reserve.h"

#include "account/account.h"

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

/* Laps of a shuffled epoch that were lost: no other laps may fill it, since they are of another permutation. */
static int fill_epoch(struct dp_reserve *r, const struct dp_charge *lost, struct dp_err *err)
{
    int64_t laps = laps_of(&r->used, &lost->event), epoch = dp_event_epoch(&lost->event), granted = 0;
    if (laps % epoch == 0)
        return DP_OK;
    for (int64_t missing = epoch - laps % epoch; missing > 0; missing -= granted) {
        int rc = dp_ledger_reserve(r->ledger, &lost->event, missing, &granted, err);
        if (rc == DP_OK)
            rc = add(&r->used, &lost->event, granted, err);
        if (rc == DP_OK)
            rc = add(&r->lost, &lost->event, granted, err);
        if (rc != DP_OK)
            return rc;
    }
    return DP_OK;
}

int dp_reserve_open(struct dp_reserve *r, const char *path, const struct dp_ledger_run *run, struct dp_err *err)
{
    struct dp_charges paid = {0};
    int rc = dp_ledger_open(&r->ledger, path, run, err);
    if (rc == DP_OK)
        rc = dp_ledger_resumed(r->ledger, &r->used, &paid, err);
    for (size_t i = 0; rc == DP_OK && i < paid.count; i++) {
        const struct dp_charge *charge = &paid.charge[i];
        int64_t lost = charge->laps - laps_of(&r->used, &charge->event);
        if (lost <= 0)
            continue;
        rc = add(&r->lost, &charge->event, lost, err);
        if (rc == DP_OK)
            rc = add(&r->used, &charge->event, lost, err);
    }
    for (size_t i = 0; rc == DP_OK && i < r->lost.count; i++) {
        struct dp_charge lost = r->lost.charge[i];
        rc = fill_epoch(r, &lost, err);
    }
    for (size_t i = 0; rc == DP_OK && i < r->used.count; i++) {
        r->laps += r->used.charge[i].laps;
        rc = add(&r->reserved, &r->used.charge[i].event, r->used.charge[i].laps, err);
    }
    dp_charges_free(&paid);
    return rc;
}

int dp_reserve_checkpoint(struct dp_reserve *r, struct dp_err *err)
{
    int rc = dp_ledger_checkpoint(r->ledger, &r->used, err);
    for (size_t i = 0; rc == DP_OK && i < r->reserved.count; i++) {
        struct dp_charge *charge = &r->reserved.charge[i];
        charge->laps = laps_of(&r->used, &charge->event);
    }
    return rc;
}

/* How many laps to reserve. Where nobody knows what comes next, another lap of this event may never come. */
static int64_t chunk(const struct dp_reserve *r, const struct dp_event *event, int64_t together, int64_t left)
{
    int64_t all = 1 + r->laps / 8, own = 1 + laps_of(&r->used, event) / 8;
    int64_t piece = all < together ? all : together;
    if (dp_event_in_epochs(event) && left != DP_PLAN_OPEN)
        return piece;
    int64_t most = piece > own ? piece : own;
    if (dp_ledger_at_once(r->ledger) && left != DP_PLAN_OPEN)
        return left;
    return most < left ? most : left;
}

int dp_reserve_lap(struct dp_reserve *r, const struct dp_event *event, int64_t together, int64_t left, struct dp_err *err)
{
    int rc = DP_OK;
    if (laps_of(&r->reserved, event) == laps_of(&r->used, event)) {
        int64_t granted;
        rc = dp_ledger_reserve(r->ledger, event, chunk(r, event, together, left), &granted, err);
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
    struct dp_answer answer;
    int rc = DP_OK;
    if (r->ledger == NULL)
        return DP_OK;
    end.accountant = dp_spend_accountant(spend);
    if (!spend->adaptive && spend->by == DP_METER_RDP) {
        rc = dp_account_epsilon(DP_ACCOUNTANT_BEST, &r->used, spend->delta, &answer, err);
        end.epsilon = answer.upper;
        end.accountant = dp_accountant_names[answer.by];
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
    dp_charges_free(&r->lost);
}
