#include "gate/reserve.h"

#include "account/account.h"
#include "ledger/sum.h"

/* Completes a shuffled epoch of which laps were lost: laps of another permutation cannot fill it. */
static int fill_epoch(struct dp_reserve *r, const struct dp_charge *lost, struct dp_err *err)
{
    int64_t laps = dp_charges_laps(&r->used, &lost->event), epoch = dp_event_epoch(&lost->event), granted = 0;
    if (laps % epoch == 0)
        return DP_OK;
    for (int64_t missing = epoch - laps % epoch; missing > 0; missing -= granted) {
        int rc = dp_ledger_reserve(r->ledger, &lost->event, missing, &granted, err);
        rc = rc ?: dp_charges_continue(&r->used, &lost->event, granted, err);
        rc = rc ?: dp_charges_continue(&r->lost, &lost->event, granted, err);
        if (rc != DP_OK)
            return rc;
    }
    return DP_OK;
}

/* Adds the laps of the run after the first `done`, as many as the budgets of the population afford now; the run gets no
   more. */
static int add_rest(const struct dp_reserve *r, const struct dp_ledger_run *run, int64_t done, struct dp_charges *plan,
                    struct dp_err *err)
{
    struct dp_charges whole = {0}, before = {0};
    int64_t affords = dp_ledger_affords(r->ledger), laps = affords < run->laps ? affords : run->laps;
    int rc = laps > done ? dp_plan_charges(run->plan, laps, &whole, err) : DP_OK;
    if (rc == DP_OK && laps > done && done > 0)
        rc = dp_plan_charges(run->plan, done, &before, err);
    for (size_t i = 0; rc == DP_OK && i < whole.count; i++) {
        const struct dp_event *event = &whole.charge[i].event;
        int64_t rest = whole.charge[i].laps - dp_charges_laps(&before, event),
                room = DP_EVENT_MOST_LAPS - dp_charges_laps(plan, event);
        if (rest > 0 && room > 0)
            rc = dp_charges_continue(plan, event, rest < room ? rest : room, err);
    }
    dp_charges_free(&whole);
    dp_charges_free(&before);
    return rc;
}

/* Writes down the plan: what the run has paid for already, with completed epochs of lost laps, and the rest of its laps. */
static int write_plan(struct dp_reserve *r, const struct dp_ledger_run *run, int64_t done, struct dp_err *err)
{
    struct dp_charges plan = {0};
    int rc = DP_OK;
    for (size_t i = 0; rc == DP_OK && i < r->used.count; i++) {
        const struct dp_charge *used = &r->used.charge[i];
        rc = dp_charges_laps(&r->lost, &used->event) > 0 ? dp_charges_add_run(&plan, &used->event, used->laps, err)
                                                         : dp_charges_continue(&plan, &used->event, used->laps, err);
    }
    rc = rc ?: add_rest(r, run, done, &plan, err);
    rc = rc ?: dp_ledger_plan(r->ledger, &plan, err);
    r->planned = rc == DP_OK && plan.count > 0;
    dp_charges_free(&plan);
    return rc;
}

int dp_reserve_open(struct dp_reserve *r, const char *path, const struct dp_ledger_run *run, int64_t done, struct dp_err *err)
{
    struct dp_charges paid = {0};
    int rc = dp_ledger_open(&r->ledger, path, run, err);
    rc = rc ?: dp_ledger_resumed(r->ledger, &r->used, &paid, err);
    for (size_t i = 0; rc == DP_OK && i < paid.count; i++) {
        const struct dp_charge *charge = &paid.charge[i];
        int64_t lost = charge->laps - dp_charges_laps(&r->used, &charge->event);
        if (lost <= 0)
            continue;
        rc = dp_charges_continue(&r->lost, &charge->event, lost, err);
        rc = rc ?: dp_charges_continue(&r->used, &charge->event, lost, err);
    }
    if (rc == DP_OK && run->planned)
        rc = write_plan(r, run, done, err);
    for (size_t i = 0; rc == DP_OK && i < r->lost.count; i++) {
        struct dp_charge lost = r->lost.charge[i];
        rc = fill_epoch(r, &lost, err);
    }
    for (size_t i = 0; rc == DP_OK && i < r->used.count; i++) {
        r->laps += r->used.charge[i].laps;
        rc = dp_charges_continue(&r->reserved, &r->used.charge[i].event, r->used.charge[i].laps, err);
    }
    dp_charges_free(&paid);
    return rc;
}

int dp_reserve_checkpoint(struct dp_reserve *r, struct dp_err *err)
{
    int rc = dp_ledger_checkpoint(r->ledger, &r->used, err);
    for (size_t i = 0; rc == DP_OK && i < r->reserved.count; i++) {
        struct dp_charge *charge = &r->reserved.charge[i];
        charge->laps = dp_charges_laps(&r->used, &charge->event);
    }
    return rc;
}

/* How many laps to reserve. If later laps are unknown, there may be no other lap of this event. */
static int64_t chunk(const struct dp_reserve *r, const struct dp_event *event, int64_t together, int64_t left)
{
    int64_t all = 1 + r->laps / 8, own = 1 + dp_charges_laps(&r->used, event) / 8;
    int64_t piece = all < together ? all : together;
    if (dp_event_in_epochs(event) && left != DP_PLAN_OPEN)
        return piece;
    int64_t most = piece > own ? piece : own;
    return most < left ? most : left;
}

int dp_reserve_lap(struct dp_reserve *r, const struct dp_event *event, int64_t together, int64_t left, struct dp_err *err)
{
    int rc = DP_OK;
    if (dp_charges_laps(&r->reserved, event) == dp_charges_laps(&r->used, event)) {
        int64_t granted;
        rc = dp_ledger_reserve(r->ledger, event, chunk(r, event, together, left), &granted, err);
        rc = rc ?: dp_charges_continue(&r->reserved, event, granted, err);
    }
    rc = rc ?: dp_charges_continue(&r->used, event, 1, err);
    r->laps += rc == DP_OK;
    return rc;
}

/* The epsilon that readers of the ledger compute for a run with known laps: the cost of all laps, or, without a plan and if the
   run did not end by itself, the cost at one order. */
static int readers_epsilon(const struct dp_reserve *r, const struct dp_spend *spend, struct dp_ledger_end *end,
                           struct dp_err *err)
{
    struct dp_charges all = {0};
    struct dp_answer answer = {0};
    int rc = DP_OK;
    for (size_t i = 0; rc == DP_OK && i < r->used.count; i++)
        rc = dp_charges_at_least(&all, &r->used.charge[i].event, r->used.charge[i].laps, err);
    rc = rc ?: dp_ledger_stated(r->ledger, &all, err);
    if (rc == DP_OK && !r->planned && strcmp(end->status, "interrupted") == 0)
        rc = dp_ledger_at_order(&all, spend->budget, spend->delta, &answer, err);
    else if (rc == DP_OK)
        rc = dp_account_epsilon(DP_ACCOUNTANT_BEST, &all, spend->delta, &answer, err);
    end->epsilon = answer.upper;
    end->accountant = dp_accountant_names[answer.by];
    dp_charges_free(&all);
    return rc;
}

int dp_reserve_end(struct dp_reserve *r, const struct dp_spend *spend, const char *status, const struct dp_reserve_model *last,
                   struct dp_err *err)
{
    struct dp_ledger_end end = {.used = &r->used,
                                .epsilon = spend->epsilon,
                                .delta = spend->delta,
                                .accountant = dp_spend_accountant(spend),
                                .status = status,
                                .model = last->digest[0] != '\0' ? last->digest : NULL,
                                .model_lap = last->lap};
    int rc = DP_OK;
    if (r->ledger == NULL)
        return DP_OK;
    if (!spend->adaptive)
        rc = readers_epsilon(r, spend, &end, err);
    rc = rc ?: dp_ledger_close(r->ledger, &end, err);
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
