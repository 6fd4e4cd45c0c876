#include "ledger/old.h"

#include "base/mem.h"

struct dp_ledger_old {
    struct dp_charges used;  /* at its end */
    struct dp_charges given; /* refunded since the last checkpoint */
};

static const char many[] = "its run has too many laps";
static const char unreserved[] = "its run did not reserve these laps";
static const char untold[] = "its run did not say what became of all its laps";
static const char other[] = "its laps are not those that its run used";

void dp_ledger_old_free(struct dp_ledger_old *old)
{
    if (old == NULL)
        return;
    dp_charges_free(&old->used);
    dp_charges_free(&old->given);
    free(old);
}

const char *dp_ledger_old_reserve(struct dp_ledger_entry *entry, const struct dp_charge *charge)
{
    const struct dp_ledger_old *old = entry->old;
    for (size_t i = 0; i < entry->paid.count; i++)
        if (!dp_event_may_follow(&charge->event, &entry->paid.charge[i].event, entry->paid.charge[i].laps))
            return "its run has two events in one shuffled epoch";
    if (entry->planned || entry->holds)
        return "its run has reserved its whole plan or budget";
    if (charge->laps > DP_EVENT_MOST_LAPS - dp_charges_laps(&entry->paid, &charge->event) ||
        (old != NULL && (dp_charges_laps(&old->used, &charge->event) > 0 || dp_charges_laps(&old->given, &charge->event) > 0)))
        return "its run cannot reserve more laps";
    return dp_charges_continue(&entry->paid, &charge->event, charge->laps, NULL) == DP_OK ? NULL : many;
}

const char *dp_ledger_old_give_back(struct dp_ledger_entry *entry, const struct dp_charge *charge, bool used)
{
    int64_t paid = dp_charges_laps(&entry->paid, &charge->event), least = dp_charges_laps(&entry->stops.out, &charge->event);
    if (entry->old == NULL)
        entry->old = dp_new(1, sizeof *entry->old);
    struct dp_charges *list = used ? &entry->old->used : &entry->old->given;
    int64_t left = paid - dp_charges_laps(&entry->old->used, &charge->event);
    if (dp_charges_laps(list, &charge->event) > 0 || charge->laps > left || (!used && paid - charge->laps < least))
        return unreserved;
    for (size_t i = 0; i < entry->paid.count && !used; i++)
        if (dp_event_same(&entry->paid.charge[i].event, &charge->event))
            entry->paid.charge[i].laps -= charge->laps;
    return dp_charges_continue(list, &charge->event, charge->laps, NULL) == DP_OK ? NULL : many;
}

/* At a checkpoint the run has used what it has paid for, except for laps that it had paid for when it was resumed. */
const char *dp_ledger_old_checkpoint(struct dp_ledger_entry *entry, const struct dp_charges *used)
{
    for (size_t i = 0; i < entry->paid.count; i++) {
        const struct dp_charge *paid = &entry->paid.charge[i];
        int64_t at = dp_charges_laps(used, &paid->event), least = dp_charges_laps(&entry->stops.out, &paid->event);
        if (paid->laps != (at > least ? at : least))
            return untold;
    }
    if (entry->old != NULL && entry->old->used.count > 0)
        return untold;
    if (entry->old != NULL)
        dp_charges_clear(&entry->old->given);
    return NULL;
}

const char *dp_ledger_old_close(struct dp_ledger_entry *entry, int64_t laps)
{
    for (size_t i = 0; i < entry->paid.count; i++) {
        const struct dp_charge *paid = &entry->paid.charge[i];
        if (paid->laps != (entry->old != NULL ? dp_charges_laps(&entry->old->used, &paid->event) : 0))
            return untold;
    }
    return dp_charges_all(&entry->paid) == laps ? NULL : other;
}
