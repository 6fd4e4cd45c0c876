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
    dp_extend(&costs->cost, &costs->capacity, costs->count + 1, sizeof *costs->cost);
    int rc = dp_event_curve(event, &order, 1, r, err);
    if (rc == DP_OK && !(*r >= 0))
        rc = dp_fail(err, DP_E_RUN, "an accountant gave no bound");
    rc = rc ?: dp_event_copy(&costs->cost[costs->count].event, event, err);
    if (rc != DP_OK)
        return rc;
    costs->cost[costs->count].order = order;
    costs->cost[costs->count++].r = *r;
    return DP_OK;
}

/* The first run that opened under the limit, or NULL. Its plan was fixed when nothing had been released; a run that was resumed
 * has another plan, and a release of another tool may have been known to every run, whenever it was written down. */
static const struct dp_ledger_entry *first_run(const struct dp_ledger_book *book, const struct dp_ledger_limit *limit)
{
    const struct dp_ledger_entry *first = NULL;
    for (size_t i = 0; i < book->entries; i++) {
        if (!dp_ledger_limit_binds(book, limit, &book->entry[i]))
            continue;
        if (book->entry[i].stated != NULL)
            return NULL;
        first = first != NULL ? first : &book->entry[i];
    }
    return first != NULL && first->opened.count == 1 ? first : NULL;
}

/* The sum of the deltas of the plan's thresholds; 0 without a plan. */
static double named(const struct dp_charges *plan)
{
    double sum = 0;
    for (size_t i = 0; plan != NULL && i < plan->count; i++) {
        struct dp_event event = plan->charge[i].event;
        sum += (double)dp_event_times(&event, plan->charge[i].laps) * dp_event_without_delta(&event);
    }
    return sum * (1 + 0x1p-48);
}

/* The event as the filter counts it if the run, the first or not, has these laps of it, and its plan has `planned`. */
static struct dp_event counted(const struct dp_event *event, bool first, int64_t laps, int64_t planned)
{
    struct dp_event as = *event;
    if (first && laps <= planned)
        dp_event_without_delta(&as);
    return as;
}

/* spent[i] += the cost of the charges of a run, the first or not, with that plan. whole: the run also has the charges of a
 * schema, whose thresholds the filter counts with the run of the schema. */
static int add_charges(const struct dp_ledger_limit *limit, struct dp_ledger_costs *costs, const struct dp_charges *charges,
                       bool first, bool whole, const struct dp_charges *plan, double spent[DP_LEDGER_ORDERS],
                       struct dp_err *err)
{
    int rc = DP_OK;
    for (size_t c = 0; rc == DP_OK && c < charges->count; c++) {
        const struct dp_charge *charge = &charges->charge[c];
        struct dp_event as = counted(&charge->event, first, charge->laps, dp_charges_laps(plan, &charge->event));
        int64_t times = dp_event_times(&charge->event, charge->laps);
        if (whole && dp_ledger_names(&charge->event))
            continue;
        for (size_t i = 0; rc == DP_OK && times > 0 && i < limit->orders; i++) {
            double r = 0;
            rc = cost_of(costs, &as, limit->order[i].order, &r, err);
            spent[i] += (double)times * r;
        }
    }
    return rc;
}

/* The whole budget of a run under a filter is a bound at the order of the filter, and at no other one. */
static void add_filter(const struct dp_ledger_limit *limit, const struct dp_ledger_entry *entry, double spent[DP_LEDGER_ORDERS])
{
    for (size_t i = 0; i < limit->orders; i++)
        spent[i] += limit->order[i].order == entry->order ? entry->epsilon - dp_rdp_penalty(entry->order, entry->delta)
                                                          : (double)INFINITY;
}

/* Adds what the run has spent; a run without an end has spent all that it was admitted with. */
static int add_entry(const struct dp_ledger_limit *limit, struct dp_ledger_costs *costs, const struct dp_ledger_entry *entry,
                     bool first, double spent[DP_LEDGER_ORDERS], size_t *terms, struct dp_err *err)
{
    struct dp_charges own = {0};
    int rc = dp_ledger_add_spent(entry, &own, err);
    if (rc == DP_OK && entry->close == NULL)
        rc = dp_charges_add_all(&own, dp_charges_at_least, &entry->plan, err);
    if (entry->holds)
        add_filter(limit, entry, spent);
    else
        rc = rc ?: add_charges(limit, costs, &own, first, entry->whole, &entry->plan, spent, err);
    *terms += own.count + 1;
    dp_charges_free(&own);
    return rc;
}

/* spent[i]: the spending at order i of all runs that the limit binds, without `except`, rounded up. */
static int add_spent(const struct dp_ledger_book *book, const struct dp_ledger_limit *limit, struct dp_ledger_costs *costs,
                     const struct dp_ledger_entry *except, double spent[DP_LEDGER_ORDERS], struct dp_err *err)
{
    const struct dp_ledger_entry *first = first_run(book, limit);
    size_t terms = 0;
    int rc = DP_OK;
    for (size_t i = 0; i < DP_LEDGER_ORDERS; i++)
        spent[i] = 0;
    for (size_t i = 0; rc == DP_OK && i < book->entries; i++) {
        const struct dp_ledger_entry *entry = &book->entry[i];
        if (dp_ledger_limit_binds(book, limit, entry) && entry != except)
            rc = add_entry(limit, costs, entry, entry == first, spent, &terms, err);
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

struct dp_ledger_added dp_ledger_limit_added(const struct dp_ledger_book *book, const struct dp_ledger_limit *limit,
                                             const struct dp_ledger_entry *self)
{
    struct dp_ledger_added sum = {0};
    for (size_t i = 0; i < book->entries; i++) {
        const struct dp_ledger_entry *entry = &book->entry[i];
        if (entry->within && entry != self)
            continue;
        bool spent = dp_ledger_entry_spent(entry) || (entry->close == NULL && entry->plan.count > 0);
        if (!dp_ledger_limit_binds(book, limit, entry) || (entry != self && !spent))
            continue;
        sum.runs++;
        sum.epsilon += entry->epsilon;
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

/* Whether the sum of dp_ledger_limit_added is within the limit: then addition admits the whole run `self`. */
static bool adds(const struct dp_ledger_book *book, const struct dp_ledger_limit *limit, const struct dp_ledger_entry *self)
{
    struct dp_ledger_added sum = dp_ledger_limit_added(book, limit, self), all = to_add(limit);
    return within(sum.epsilon, all.epsilon) && within(sum.delta, all.delta);
}

int dp_ledger_limit_epsilon(const struct dp_ledger_book *book, const struct dp_ledger_limit *limit,
                            struct dp_ledger_costs *costs, struct dp_ledger_counted *counted, struct dp_err *err)
{
    struct dp_ledger_added sum = dp_ledger_limit_added(book, limit, NULL), all = to_add(limit);
    const struct dp_ledger_entry *first = first_run(book, limit);
    double spent[DP_LEDGER_ORDERS];
    int rc = add_spent(book, limit, costs, NULL, spent, err);
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

/* Whether an order has room for the run `self` with these charges in all, in addition to the other runs. planned: they are its
 * plan. */
static int fits(const struct dp_ledger_book *book, const struct dp_ledger_limit *limit, struct dp_ledger_costs *costs,
                const double others[DP_LEDGER_ORDERS], const struct dp_ledger_entry *self, const struct dp_charges *charges,
                bool planned, bool *yes, struct dp_err *err)
{
    const struct dp_ledger_entry *first = first_run(book, limit);
    const struct dp_charges *plan = planned ? charges : &self->plan;
    double spent[DP_LEDGER_ORDERS] = {0};
    int rc = DP_OK;
    if (self->holds)
        add_filter(limit, self, spent);
    else
        rc = add_charges(limit, costs, charges, self == first, self->whole, plan, spent, err);
    *yes = false;
    for (size_t i = 0; rc == DP_OK && i < limit->orders && !limit->addition && !*yes; i++) {
        double sum = (others[i] + spent[i]) * (1 + (double)(charges->count + 8) * 0x1p-52);
        *yes = sum <= room_at(limit, i, self == first ? plan : first != NULL ? &first->plan : NULL);
    }
    return rc;
}

int dp_ledger_limit_admits(const struct dp_ledger_book *book, const struct dp_ledger_limit *limit,
                           struct dp_ledger_costs *costs, const struct dp_ledger_entry *self, const struct dp_charges *charges,
                           bool planned, bool *yes, struct dp_err *err)
{
    double others[DP_LEDGER_ORDERS];
    *yes = true;
    /* The other case: the budget began with the whole cost of this run. */
    if (!dp_ledger_limit_binds(book, limit, self) || adds(book, limit, self))
        return DP_OK;
    int rc = add_spent(book, limit, costs, self, others, err);
    return rc ?: fits(book, limit, costs, others, self, charges, planned, yes, err);
}

int dp_ledger_limit_whole(const struct dp_ledger_entry *self, const struct dp_ledger_run *run, int64_t laps,
                          struct dp_charges *charges, struct dp_err *err)
{
    int rc = dp_ledger_entry_base(self, charges, err);
    if (rc == DP_OK && run->with != NULL)
        rc = dp_charges_add_all(charges, dp_charges_add_run, run->with, err);
    return rc ?: laps > run->done ? dp_plan_continue(run->plan, run->done, laps, charges, err) : DP_OK;
}

int dp_ledger_limit_run(const struct dp_ledger_book *book, const struct dp_ledger_limit *limit, struct dp_ledger_costs *costs,
                        const struct dp_ledger_entry *self, const struct dp_ledger_run *run, int64_t *affords,
                        struct dp_err *err)
{
    int64_t none = 0, all = run->laps + 1, laps = run->laps; /* `none` laps fit, `all` laps do not */
    double others[DP_LEDGER_ORDERS];
    *affords = laps;
    if (!dp_ledger_limit_binds(book, limit, self) || adds(book, limit, self))
        return DP_OK;
    int rc = add_spent(book, limit, costs, self, others, err);
    while (rc == DP_OK && all - none > 1) {
        struct dp_charges charges = {0};
        bool yes = false;
        rc = dp_ledger_limit_whole(self, run, laps, &charges, err);
        rc = rc ?: fits(book, limit, costs, others, self, &charges, true, &yes, err);
        *(yes ? &none : &all) = laps;
        laps = none + (all - none) / 2;
        dp_charges_free(&charges);
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
    int rc = add_spent(book, limit, &costs, self, spent, err);
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
    struct dp_ledger_added sum = dp_ledger_limit_added(book, limit, NULL), all = to_add(limit);
    bool unused = dp_ledger_limit_unused(book, limit);
    double filtered = 0;
    *epsilon = 0;
    if (unused)
        all.delta = limit->delta - limit->before_delta;
    if (within(sum.delta + run->delta, all.delta))
        *epsilon = dp_round_down(fmax(0, all.epsilon * DECIMAL - sum.epsilon), 3);
    int rc = limit->addition || run->plan == NULL ? DP_OK : filter_fitting(book, limit, self, run, &filtered, err);
    *epsilon = fmax(*epsilon, dp_round_down(filtered, 3));
    return rc;
}
