#include "ledger/limit.h"

#include "base/mem.h"
#include "account/calibrate.h"
#include "account/curve.h"
#include "base/round.h"
#include "ledger/sum.h"
#include "priv/rdp.h"

void dp_ledger_costs_free(struct dp_ledger_costs *costs)
{
    for (size_t i = 0; i < costs->count; i++)
        dp_event_free(&costs->cost[i].event);
    free(costs->cost);
    costs->cost = NULL;
    costs->count = costs->capacity = 0;
}

/* r of one time of the event */
static int cost_of(struct dp_ledger_costs *costs, const struct dp_event *event, double order, double *r, struct dp_err *err)
{
    for (size_t i = 0; i < costs->count; i++)
        if (costs->cost[i].order == order && dp_event_same(&costs->cost[i].event, event)) {
            *r = costs->cost[i].r;
            return DP_OK;
        }
    int rc = dp_grow(&costs->cost, &costs->capacity, costs->count + 1, sizeof *costs->cost, err);
    rc = rc ?: dp_event_curve(event, &order, 1, r, err);
    if (rc == DP_OK && !(*r >= 0))
        rc = dp_fail(err, DP_E_RUN, "an accountant gave no bound");
    rc = rc ?: dp_event_copy(&costs->cost[costs->count].event, event, err);
    if (rc != DP_OK)
        return rc;
    costs->cost[costs->count].order = order;
    costs->cost[costs->count++].r = *r;
    return DP_OK;
}

/* Whether the run may continue and reserve the rest of its plan; a run that was killed may be resumed. */
static bool may_continue(const struct dp_ledger_entry *entry)
{
    return entry->close == NULL && entry->plan.count > 0;
}

bool dp_ledger_limit_binds(const struct dp_ledger_book *book, const struct dp_ledger_limit *limit,
                           const struct dp_ledger_entry *entry)
{
    return dp_ledger_book_root(book, entry->who) == dp_ledger_book_root(book, limit->who) &&
           entry->covered != 1 + (size_t)(limit - book->limit);
}

/* The first run that opened under the limit, or NULL. Its plan was fixed when nothing had been released; a run that was resumed
 * has another plan. */
static const struct dp_ledger_entry *first_run(const struct dp_ledger_book *book, const struct dp_ledger_limit *limit)
{
    for (size_t i = 0; i < book->entries; i++)
        if (dp_ledger_limit_binds(book, limit, &book->entry[i]))
            return book->entry[i].openings == 1 ? &book->entry[i] : NULL;
    return NULL;
}

/* The sum of the deltas of the plan's thresholds; 0 without a plan. */
static double named(const struct dp_charges *plan)
{
    double sum = 0;
    for (size_t i = 0; plan != NULL && i < plan->count; i++) {
        struct dp_event event = plan->charge[i].event;
        sum += (double)dp_event_times(&event, plan->charge[i].laps) * dp_event_without_thresholds(&event);
    }
    return sum * (1 + 0x1p-48);
}

/* The event as the filter counts it if the run, the first or not, has these laps of it, and its plan has `planned`. */
static struct dp_event counted(const struct dp_event *event, bool first, int64_t laps, int64_t planned)
{
    struct dp_event as = *event;
    if (first && laps <= planned)
        dp_event_without_thresholds(&as);
    return as;
}

/* Adds what the run has spent; of a run that may continue, what it was admitted with. */
static int add_entry(const struct dp_ledger_limit *limit, struct dp_ledger_costs *costs, const struct dp_ledger_entry *entry,
                     bool first, const struct dp_event *without, bool reserved, double spent[DP_LEDGER_ORDERS], size_t *terms,
                     struct dp_err *err)
{
    struct dp_charges own = {0};
    int rc = dp_ledger_add_spent(entry, &own, err);
    if (rc == DP_OK && reserved && may_continue(entry))
        rc = dp_ledger_add_plan(entry, &own, err);
    for (size_t c = 0; rc == DP_OK && c < own.count; c++) {
        const struct dp_event *event = &own.charge[c].event;
        struct dp_event as = counted(event, first, own.charge[c].laps, dp_charges_laps(&entry->plan, event));
        int64_t times = dp_event_times(event, own.charge[c].laps);
        if (times <= 0 || (without != NULL && dp_event_same(event, without)))
            continue;
        ++*terms;
        for (size_t i = 0; rc == DP_OK && i < limit->orders; i++) {
            double r = 0;
            rc = cost_of(costs, &as, limit->order[i].order, &r, err);
            spent[i] += (double)times * r;
        }
    }
    dp_charges_free(&own);
    return rc;
}

/* spent[i]: what all runs that the limit binds have spent at its order i, rounded up; the event of the run `except` is left
   out, or all its events if event is NULL. except may be NULL. */
static int add_spent(const struct dp_ledger_book *book, const struct dp_ledger_limit *limit, struct dp_ledger_costs *costs,
                     const struct dp_ledger_entry *except, const struct dp_event *event, bool reserved,
                     double spent[DP_LEDGER_ORDERS], struct dp_err *err)
{
    const struct dp_ledger_entry *first = first_run(book, limit);
    size_t terms = 0;
    int rc = DP_OK;
    for (size_t i = 0; i < DP_LEDGER_ORDERS; i++)
        spent[i] = 0;
    for (size_t i = 0; rc == DP_OK && i < book->entries; i++) {
        const struct dp_ledger_entry *entry = &book->entry[i];
        if (dp_ledger_limit_binds(book, limit, entry) && (entry != except || event != NULL))
            rc = add_entry(limit, costs, entry, entry == first, entry == except ? event : NULL, reserved, spent, &terms, err);
    }
    for (size_t i = 0; i < limit->orders; i++)
        spent[i] *= 1 + (double)(terms + 4) * 0x1p-52;
    return rc;
}

/* The cost of the conversion at order i. `fixed` has the charges of the first run, whose thresholds have a part of the delta.
 * Infinity if nothing is left. */
static double penalty_at(const struct dp_ledger_limit *limit, size_t i, const struct dp_charges *fixed)
{
    double delta = limit->order[i].delta - named(fixed);
    return delta > 0 ? dp_rdp_penalty(limit->order[i].order, delta) : (double)INFINITY;
}

static double room_at(const struct dp_ledger_limit *limit, size_t i, const struct dp_charges *fixed)
{
    return limit->epsilon - limit->before_epsilon - penalty_at(limit, i, fixed);
}

/* Whether the run has paid for a lap that it has not given back. */
static bool has_spent(const struct dp_ledger_entry *entry)
{
    for (size_t e = 0; e < entry->events; e++)
        if (dp_ledger_laps_spent(&entry->event[e]) > 0)
            return true;
    return false;
}

int dp_ledger_limit_persons(const struct dp_ledger_book *book, const struct dp_ledger_limit *limit)
{
    for (size_t i = 0; i < book->entries; i++)
        if (dp_ledger_book_root(book, book->entry[i].who) == dp_ledger_book_root(book, limit->who))
            return book->entry[i].unit != NULL;
    return -1;
}

bool dp_ledger_limit_unused(const struct dp_ledger_book *book, const struct dp_ledger_limit *limit)
{
    for (size_t i = 0; i < book->entries; i++)
        if (dp_ledger_limit_binds(book, limit, &book->entry[i]) && has_spent(&book->entry[i]))
            return false;
    return true;
}

struct dp_ledger_added dp_ledger_limit_added(const struct dp_ledger_book *book, const struct dp_ledger_limit *limit,
                                             const struct dp_ledger_entry *self, bool reserved)
{
    struct dp_ledger_added sum = {0};
    for (size_t i = 0; i < book->entries; i++) {
        const struct dp_ledger_entry *entry = &book->entry[i];
        if (!dp_ledger_limit_binds(book, limit, entry) ||
            (entry != self && !has_spent(entry) && !(reserved && may_continue(entry))))
            continue;
        sum.runs++;
        sum.epsilon += entry->as_published ? (double)INFINITY : entry->epsilon;
        sum.delta += entry->delta;
    }
    return sum;
}

/* The limit of the sums that addition counts. */
static struct dp_ledger_added to_add(const struct dp_ledger_limit *limit)
{
    struct dp_ledger_added all = {.epsilon = limit->epsilon - limit->before_epsilon,
                                  .delta = limit->delta - limit->before_delta};
    for (size_t i = 0; i < limit->orders && !limit->addition; i++)
        all.delta -= limit->order[i].delta;
    return all;
}

/* Tolerance for decimals: users expect 0.1 + 0.2 to be 0.3. One part in 10^12 covers the rounding of binary fractions. */
#define DECIMAL (1 + 1e-12)

static bool within(double sum, double all)
{
    return all > 0 && sum <= all * DECIMAL;
}

bool dp_ledger_limit_adds(const struct dp_ledger_book *book, const struct dp_ledger_limit *limit,
                          const struct dp_ledger_entry *self)
{
    struct dp_ledger_added sum = dp_ledger_limit_added(book, limit, self, true), all = to_add(limit);
    return within(sum.epsilon, all.epsilon) && within(sum.delta, all.delta);
}

int dp_ledger_limit_epsilon(const struct dp_ledger_book *book, const struct dp_ledger_limit *limit, bool reserved,
                            struct dp_ledger_costs *costs, struct dp_ledger_counted *counted, struct dp_err *err)
{
    struct dp_ledger_added sum = dp_ledger_limit_added(book, limit, NULL, reserved), all = to_add(limit);
    const struct dp_ledger_entry *first = first_run(book, limit);
    double spent[DP_LEDGER_ORDERS];
    int rc = add_spent(book, limit, costs, NULL, NULL, reserved, spent, err);
    *counted = (struct dp_ledger_counted){.epsilon = (double)INFINITY};
    if (sum.runs == 0 || within(sum.delta, all.delta))
        *counted = (struct dp_ledger_counted){limit->before_epsilon + sum.epsilon, 0, sum.delta};
    for (size_t i = 0; rc == DP_OK && i < limit->orders && !limit->addition; i++) {
        double penalty = penalty_at(limit, i, first != NULL ? &first->plan : NULL);
        double here = limit->before_epsilon + (spent[i] > 0 ? fmax(0, spent[i] + penalty) : 0);
        if (here < counted->epsilon)
            *counted = (struct dp_ledger_counted){here, limit->order[i].order, limit->order[i].delta};
    }
    return rc;
}

int dp_ledger_limit_laps(const struct dp_ledger_book *book, const struct dp_ledger_limit *limit, struct dp_ledger_costs *costs,
                         const struct dp_ledger_entry *self, const struct dp_event *event, int64_t laps, int64_t *affords,
                         struct dp_err *err)
{
    const struct dp_ledger_entry *first = first_run(book, limit);
    double others[DP_LEDGER_ORDERS], r;
    int64_t own = 0, planned = may_continue(self) ? dp_charges_laps(&self->plan, event) : 0;
    *affords = laps;
    if (!dp_ledger_limit_binds(book, limit, self)) /* the budget began with the whole cost of this run */
        return DP_OK;
    if (dp_ledger_limit_adds(book, limit, self))
        return DP_OK;
    int rc = add_spent(book, limit, costs, self, event, true, others, err);
    *affords = 0;
    for (size_t e = 0; e < self->events; e++)
        if (dp_event_same(&self->event[e].event, event))
            own = dp_ledger_laps_spent(&self->event[e]);
    for (size_t i = 0; rc == DP_OK && i < limit->orders && !limit->addition && *affords < laps; i++) {
        int64_t none = *affords, all = laps + 1; /* `none` laps fit; `all` laps do not fit at this order */
        while (rc == DP_OK && all - none > 1) {
            int64_t middle = none + (all - none) / 2;
            int64_t then = own + middle > planned ? own + middle : planned;
            struct dp_event as = counted(event, self == first, then, planned);
            rc = cost_of(costs, &as, limit->order[i].order, &r, err);
            double cost = (others[i] + (double)dp_event_times(event, then) * r) * (1 + 0x1p-50);
            if (rc == DP_OK && cost <= room_at(limit, i, first != NULL ? &first->plan : NULL))
                none = middle;
            else
                all = middle;
        }
        *affords = none;
    }
    return rc;
}

/* Whether the first `laps` laps of the run fit in addition to the other runs. A run that was resumed has laps after its
 * checkpoint that it pays for again. */
static int fits(const struct dp_ledger_book *book, const struct dp_ledger_limit *limit, struct dp_ledger_costs *costs,
                const double others[DP_LEDGER_ORDERS], const struct dp_ledger_entry *self, const struct dp_ledger_run *run,
                int64_t laps, bool *yes, struct dp_err *err)
{
    const struct dp_ledger_entry *first = first_run(book, limit);
    struct dp_charges charges = {0};
    int rc = dp_plan_charges(run->plan, laps, &charges, err);
    for (size_t e = 0; rc == DP_OK && e < self->events; e++)
        if (self->event[e].least > self->event[e].at_checkpoint)
            rc = dp_charges_continue(&charges, &self->event[e].event, self->event[e].least - self->event[e].at_checkpoint, err);
    *yes = false;
    for (size_t i = 0; rc == DP_OK && i < limit->orders && !limit->addition && !*yes; i++) {
        double sum = others[i], r;
        for (size_t c = 0; rc == DP_OK && c < charges.count; c++) {
            int64_t times = dp_event_times(&charges.charge[c].event, charges.charge[c].laps);
            struct dp_event as = counted(&charges.charge[c].event, self == first, times, times);
            rc = cost_of(costs, &as, limit->order[i].order, &r, err);
            sum += times > 0 ? (double)times * r : 0;
        }
        const struct dp_charges *fixed = self == first ? &charges : first != NULL ? &first->plan : NULL;
        *yes = sum * (1 + (double)(charges.count + 8) * 0x1p-52) <= room_at(limit, i, fixed);
    }
    dp_charges_free(&charges);
    return rc;
}

int dp_ledger_limit_run(const struct dp_ledger_book *book, const struct dp_ledger_limit *limit, struct dp_ledger_costs *costs,
                        const struct dp_ledger_entry *self, const struct dp_ledger_run *run, int64_t *affords,
                        struct dp_err *err)
{
    double others[DP_LEDGER_ORDERS];
    bool yes;
    int64_t none = 0, all = run->laps + 1;
    *affords = run->laps;
    if (!dp_ledger_limit_binds(book, limit, self))
        return DP_OK;
    int rc = add_spent(book, limit, costs, self, NULL, true, others, err);
    rc = rc ?: fits(book, limit, costs, others, self, run, run->laps, &yes, err);
    if (rc == DP_OK && yes)
        none = run->laps;
    while (rc == DP_OK && all - none > 1) {
        int64_t middle = none + (all - none) / 2;
        rc = fits(book, limit, costs, others, self, run, middle, &yes, err);
        if (yes)
            none = middle;
        else
            all = middle;
    }
    *affords = none;
    return rc;
}

/* Whether the filter admits these charges in addition to what has been spent. */
static int filter_fits(const struct dp_ledger_limit *limit, const struct dp_charges *fixed,
                       const double spent[DP_LEDGER_ORDERS], const struct dp_charges *charges, bool *yes, struct dp_err *err)
{
    int rc = DP_OK;
    *yes = false;
    for (size_t i = 0; rc == DP_OK && i < limit->orders && !*yes; i++) {
        double rho;
        rc = dp_ledger_rdp(charges, limit->order[i].order, &rho, err);
        *yes = (spent[i] + rho) * (1 + 0x1p-48) <= room_at(limit, i, fixed);
    }
    return rc;
}

/* The epsilon, at the run's delta, of its laps after their noise is raised until the filter admits them; 0 if no noise is
 * enough. */
static int filter_fitting(const struct dp_ledger_book *book, const struct dp_ledger_limit *limit,
                          const struct dp_ledger_entry *self, const struct dp_ledger_run *run, double *epsilon,
                          struct dp_err *err)
{
    const struct dp_ledger_entry *first = first_run(book, limit);
    const double most = 0x1p20;
    struct dp_ledger_costs costs = {0};
    struct dp_charges charges = {0}, more = {0};
    struct dp_answer answer = {0};
    double spent[DP_LEDGER_ORDERS], low = 1, high = most;
    bool yes = false;
    int rc = add_spent(book, limit, &costs, self, NULL, true, spent, err);
    rc = rc ?: dp_plan_charges(run->plan, run->laps, &charges, err);
    /* high fits, low does not. */
    for (double factor = high; rc == DP_OK && high / low > 1 + 1e-4; factor = sqrt(low * high)) {
        rc = dp_charges_stretch(&charges, factor, &more, err);
        rc = rc ?: filter_fits(limit, first != NULL ? &first->plan : NULL, spent, &more, &yes, err);
        if (!yes && factor == most)
            break;
        *(yes ? &high : &low) = factor;
    }
    if (rc == DP_OK && high < most)
        rc = dp_charges_stretch(&charges, high, &more, err);
    if (rc == DP_OK && high < most)
        rc = dp_account_epsilon(DP_ACCOUNTANT_BEST, &more, run->delta, &answer, err);
    *epsilon = answer.upper;
    dp_charges_free(&charges);
    dp_charges_free(&more);
    dp_ledger_costs_free(&costs);
    return rc;
}

int dp_ledger_limit_fitting(const struct dp_ledger_book *book, const struct dp_ledger_limit *limit,
                            const struct dp_ledger_entry *self, const struct dp_ledger_run *run, double *epsilon,
                            struct dp_err *err)
{
    struct dp_ledger_added sum = dp_ledger_limit_added(book, limit, NULL, true), all = to_add(limit);
    bool unused = dp_ledger_limit_unused(book, limit);
    double filtered = 0;
    *epsilon = 0;
    if (unused)
        all.delta = limit->delta - limit->before_delta;
    if (!run->as_published && within(sum.delta + run->delta, all.delta))
        *epsilon = dp_round_down(fmax(0, all.epsilon * DECIMAL - sum.epsilon), 3);
    int rc = limit->addition ? DP_OK : filter_fitting(book, limit, self, run, &filtered, err);
    *epsilon = fmax(*epsilon, dp_round_down(filtered, 3));
    return rc;
}
