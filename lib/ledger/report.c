#include "ledger/report.h"

#include <time.h>

#include "base/text.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/unit.h"
#include "ledger/limit.h"
#include "ledger/sum.h"

/* In this file a function that returns an int returns non-zero if runs cannot be added up. */

/* Sets epsilon, epsilon_lower, delta and accountant; or `why`, if no accountant gives a number. */
static void set_epsilon(json_t *json, const struct dp_ledger_sum *sum, double delta)
{
    struct dp_answer answer;
    struct dp_err why = {0};
    json_object_set_new(json, "delta", json_real(delta));
    if (dp_ledger_sum_epsilon(sum, delta, &answer, &why) != DP_OK) {
        json_object_set_new(json, "epsilon", json_null());
        json_object_set_new(json, "why", json_string(why.message));
        return;
    }
    json_object_set_new(json, "epsilon", dp_ledger_real_json(answer.upper));
    json_object_set_new(json, "epsilon_lower", dp_ledger_real_json(answer.lower));
    json_object_set_new(json, "accountant", json_string(dp_accountant_names[answer.by]));
}

/* Sets what the run has spent, and its stated cost. */
static int set_cost(json_t *json, const struct dp_ledger_entry *entry, double delta)
{
    struct dp_ledger_sum sum = {0};
    struct dp_charges spent = {0};
    enum dp_ledger_basis basis = dp_ledger_basis(entry);
    int bad = dp_ledger_sum_add(&sum, entry, NULL) != DP_OK || dp_ledger_add_spent(entry, &spent, NULL) != DP_OK;
    json_object_set_new(json, "charges", dp_ledger_charges_json(&spent));
    json_object_set_new(json, "stated_at", json_string(dp_ledger_basis_names[basis]));
    if (basis == DP_LEDGER_BY_PLAN)
        json_object_set_new(json, "plan_laps", json_integer((json_int_t)dp_charges_all(&sum.all)));
    if (sum.order > 0)
        json_object_set_new(json, "order", json_real(sum.order));
    if (!bad)
        set_epsilon(json, &sum, delta);
    dp_ledger_sum_free(&sum);
    dp_charges_free(&spent);
    return bad;
}

static int add_run(json_t *runs, const struct dp_ledger_entry *entry, double delta)
{
    json_t *json = json_pack(
        "{s:s, s:s, s:s, s:I, s:s, s:s, s:b, s:s, s:I, s:b, s:s, s:s, s:o*, s:o*, s:s*, s:s*}", "run", entry->run, "population",
        entry->of.population, "data", entry->of.data, "rows", entry->of.rows, "unit", dp_unit_name(entry->of.unit), "adjacency",
        entry->of.adjacency, "closed", entry->close != NULL, "status", dp_ledger_status(entry), "laps",
        (json_int_t)dp_ledger_entry_laps(entry), "seeded", entry->seeded, "private_preprocessing", entry->of.preprocessing,
        "software", entry->software, "opened", entry->time != 0 ? json_integer(entry->time) : NULL, "init",
        entry->start.init != NULL ? json_stringn(entry->start.init, DP_LEDGER_RUN) : NULL, "public_start",
        entry->start.public_start, "what", entry->stated);
    json_array_append_new(runs, json);
    return set_cost(json, entry, isnan(delta) ? entry->delta : delta);
}

static json_t *orders_json(const struct dp_ledger_limit *limit)
{
    json_t *list = json_array();
    for (size_t i = 0; i < limit->orders; i++)
        json_array_append_new(list, json_pack("{s:f, s:f}", "order", limit->order[i].order, "delta", limit->order[i].delta));
    return list;
}

/* Runs whose costs can be added: of one population, under one adjacency, and with the same unit, rows or persons. */
struct group {
    size_t who; /* the root */
    const char *adjacency;
    bool persons;
};

/* Their sum. */
struct total {
    struct group of;
    const char *population;
    const char *unit; /* unit of the runs: for persons, the unit with the most rows; NULL: a row */
    const struct dp_ledger_limit *limit;
    const struct dp_people *people;    /* set if other ledgers may have runs on them, too */
    struct dp_ledger_before outside;   /* cost outside the ledger with the budget that the budget does not include */
    struct dp_ledger_before untracked; /* of it: cost of runs without a ledger */
    struct dp_ledger_sum sum;
    double delta, added_epsilon, added_delta, prior_epsilon, prior_delta;
    json_int_t runs, open, laps, rows;
    json_int_t releases; /* of the runs: releases of other tools */
    double released;     /* the sum of the deltas that these have of their own */
    json_int_t apart;    /* runs on them in other ledgers whose costs cannot be added to these */
    int seeded;
    bool unbounded; /* no accountant covers one of the runs */
    json_t *data, *preprocessing;
};

static void total_free(struct total *t)
{
    dp_ledger_sum_free(&t->sum);
    json_decref(t->data);
    json_decref(t->preprocessing);
}

static int total_add(struct total *t, const struct dp_ledger_entry *entry)
{
    struct dp_answer own;
    const double of_its_own = dp_ledger_own_delta(entry);
    t->delta = t->runs == 0 ? entry->delta - of_its_own : fmax(t->delta, entry->delta - of_its_own);
    t->released += of_its_own;
    t->rows = entry->of.rows > t->rows ? entry->of.rows : t->rows;
    t->unit = dp_unit_larger(t->unit, entry->of.unit);
    if (t->limit == NULL || strcmp(entry->of.population, entry->of.data) != 0)
        t->population = entry->of.population;
    t->runs++;
    dp_ledger_add_text(t->data, entry->of.data);
    if (entry->of.preprocessing[0] != '\0')
        dp_ledger_add_text(t->preprocessing, entry->of.preprocessing);
    if (entry->within) /* counted with the run that has its charges */
        return 0;
    t->open += entry->close == NULL;
    t->releases += entry->stated != NULL;
    t->laps += entry->stated != NULL ? 0 : dp_ledger_entry_laps(entry);
    t->seeded |= entry->seeded;
    t->prior_epsilon += entry->start.epsilon;
    t->prior_delta += entry->start.delta;
    int bad = dp_ledger_sum_add(&t->sum, entry, NULL) != DP_OK;
    if (dp_ledger_run_epsilon(entry, &own, NULL) != DP_OK) {
        t->unbounded = true;
        return bad;
    }
    t->added_epsilon += own.upper;
    t->added_delta += entry->delta;
    return bad;
}

/* Makes another number the total, and the composition `composed`: it holds only if all runs were planned before the first. */
static void set_total(json_t *json, double epsilon, double delta, const char *by)
{
    static const char *const names[] = {"epsilon", "epsilon_lower", "delta", "accountant", "why"};
    json_t *composed = json_object();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (json_object_get(json, names[i]) != NULL)
            json_object_set(composed, names[i], json_object_get(json, names[i]));
    json_object_del(json, "why");
    json_object_set_new(json, "composed", composed);
    json_object_set_new(json, "epsilon", dp_ledger_real_json(epsilon));
    json_object_set_new(json, "epsilon_lower", json_real(0));
    json_object_set_new(json, "delta", json_real(delta));
    json_object_set_new(json, "accountant", json_string(by));
}

/* Shows the budget's count as the total. */
static void set_budget(json_t *json, const struct total *t, const struct dp_ledger_book *book)
{
    struct dp_ledger_costs costs = {0};
    struct dp_ledger_counted counted = {.epsilon = (double)INFINITY};
    struct dp_ledger_added added = dp_ledger_limit_added(book, t->limit, NULL);
    if (dp_ledger_limit_epsilon(book, t->limit, &costs, &counted, NULL) != DP_OK)
        counted.epsilon = (double)INFINITY;
    const char *by = counted.order > 0 ? "filter" : "addition";
    dp_ledger_costs_free(&costs);
    set_total(json, counted.epsilon, t->limit->delta, by);
    json_t *budget = json_pack("{s:f, s:f, s:o, s:b, s:o, s:s, s:f, s:f, s:{s:o, s:f}}", "epsilon", t->limit->epsilon, "delta",
                               t->limit->delta, "orders", orders_json(t->limit), "addition", t->limit->addition, "spent",
                               dp_ledger_real_json(counted.epsilon), "by", by, "order", counted.order, "of_delta",
                               counted.delta, "stated", "epsilon", dp_ledger_real_json(added.epsilon), "delta", added.delta);
    if (t->limit->before_epsilon > 0 || t->limit->before_delta > 0)
        json_object_set_new(budget, "before",
                            json_pack("{s:f, s:f}", "epsilon", t->limit->before_epsilon, "delta", t->limit->before_delta));
    json_object_set_new(json, "budget", budget);
}

/* Adds the costs stated by models without a mark, and by runs outside. */
static void add_prior(json_t *json, const struct total *t)
{
    const json_t *epsilon = json_object_get(json, "epsilon");
    double delta = json_number_value(json_object_get(json, "delta"));
    if (json_is_real(epsilon))
        json_object_set_new(json, "epsilon",
                            dp_ledger_real_json(json_real_value(epsilon) + t->prior_epsilon + t->outside.epsilon));
    json_object_set_new(json, "delta", json_real(delta + t->prior_delta + t->outside.delta));
    if (t->prior_epsilon > 0 || t->prior_delta > 0)
        json_object_set_new(json, "not_in_ledger",
                            json_pack("{s:f, s:f}", "epsilon", t->prior_epsilon, "delta", t->prior_delta));
}

static enum dp_people_unit unit_of(const struct total *t)
{
    return t->of.persons ? DP_PEOPLE_PERSONS : DP_PEOPLE_ROWS;
}

/* Sets the ledgers with their runs, and the most that runs of lost ledgers could cost. */
static void set_ledgers(json_t *json, const struct total *t)
{
    struct dp_ledger_before lost;
    json_t *list = json_array();
    json_object_set_new(json, "ledgers", list);
    for (size_t i = 0; i < t->people->ledgers; i++)
        if (t->people->ledger[i].there && dp_people_who(t->people, &t->people->ledger[i].book) != SIZE_MAX)
            json_array_append_new(list, dp_json_string(t->people->ledger[i].path));
    const char *gone = dp_people_lost(t->people, t->of.adjacency, unit_of(t), &lost);
    if (t->apart > 0)
        json_object_set_new(json, "apart", json_integer(t->apart));
    if (t->untracked.runs > 0)
        json_object_set_new(json, "untracked",
                            json_pack("{s:I, s:o, s:f}", "runs", (json_int_t)t->untracked.runs, "epsilon",
                                      dp_ledger_real_json(t->untracked.epsilon), "delta", t->untracked.delta));
    if (dp_people_unbounded(t->people) > 0)
        json_object_set_new(json, "unbounded", json_integer((json_int_t)dp_people_unbounded(t->people)));
    if (gone != NULL)
        json_object_set_new(json, "lost",
                            json_pack("{s:I, s:o, s:f, s:o}", "runs", (json_int_t)lost.runs, "epsilon",
                                      dp_ledger_real_json(lost.epsilon), "delta", lost.delta, "ledger", dp_json_string(gone)));
}

static void add_members(json_t *list, const struct total *t, const struct dp_ledger_book *book, double delta)
{
    json_t *json =
        json_pack("{s:s, s:I, s:O, s:s, s:I, s:I, s:I, s:b, s:O}", "population", t->population, "people", (json_int_t)t->of.who,
                  "data", t->data, "adjacency", t->of.adjacency, "runs", t->runs, "not_closed", t->open, "laps", t->laps,
                  "seeded", t->seeded, "private_preprocessing", t->preprocessing);
    json_array_append_new(list, json);
    if (t->rows > 0) {
        json_object_set_new(json, "rows", json_integer(t->rows));
        json_object_set_new(json, "unit", json_string(dp_unit_name(t->unit)));
    }
    if (t->releases > 0)
        json_object_set_new(json, "releases", json_integer(t->releases));
    set_epsilon(json, &t->sum, isnan(delta) ? t->delta + t->released : delta);
    if (t->limit != NULL)
        set_budget(json, t, book);
    if (t->prior_epsilon > 0 || t->prior_delta > 0 || t->outside.runs > 0)
        add_prior(json, t);
    if (t->limit == NULL && t->runs > 1 && !t->unbounded)
        set_total(json, t->added_epsilon + t->prior_epsilon + t->outside.epsilon,
                  t->added_delta + t->prior_delta + t->outside.delta, dp_accountant_names[DP_ACCOUNTANT_ADDED]);
    if (t->people != NULL)
        set_ledgers(json, t);
}

static bool is_same(const struct group *a, const struct group *b)
{
    return a->who == b->who && strcmp(a->adjacency, b->adjacency) == 0 && a->persons == b->persons;
}

static struct group group_of(const struct dp_ledger_book *book, const struct dp_ledger_entry *entry)
{
    return (struct group){dp_ledger_book_root(book, entry->of.who), entry->of.adjacency, entry->of.unit != NULL};
}

/* The number of runs of lost ledgers, and without a ledger, whose costs cannot be added to these. */
static json_int_t lost_apart(const struct total *t)
{
    static const char *const adjacency[] = {"null-record", "replace-one"};
    struct dp_ledger_before lost;
    json_int_t runs = 0;
    for (int a = 0; a < 2; a++) {
        dp_people_lost(t->people, adjacency[a], DP_PEOPLE_ANY, &lost);
        runs += (json_int_t)lost.runs;
        dp_people_untracked(t->people, adjacency[a], DP_PEOPLE_ANY, &lost);
        runs += (json_int_t)lost.runs;
    }
    dp_people_lost(t->people, t->of.adjacency, unit_of(t), &lost);
    return runs - (json_int_t)(lost.runs + t->untracked.runs);
}

/* Adds what the people have spent according to the other ledgers. */
static int add_elsewhere(struct total *t, const struct dp_ledger_book *book, struct dp_err *err)
{
    const struct dp_people_ledger *own = NULL;
    int bad = 0;
    for (size_t i = 0; !bad && i < t->people->ledgers; i++) {
        const struct dp_people_ledger *l = &t->people->ledger[i];
        size_t who = l->there ? dp_people_who(t->people, &l->book) : SIZE_MAX;
        if (strcmp(l->name, book->path) == 0)
            own = l;
        for (size_t k = 0; !bad && l != own && who != SIZE_MAX && k < l->book.entries; k++) {
            struct group group = group_of(&l->book, &l->book.entry[k]);
            if (group.who != dp_ledger_book_root(&l->book, who))
                continue;
            group.who = t->of.who;
            if (is_same(&group, &t->of))
                bad = total_add(t, &l->book.entry[k]);
            else
                t->apart++;
        }
    }
    dp_people_untracked(t->people, t->of.adjacency, unit_of(t), &t->untracked);
    t->apart += lost_apart(t);
    if (t->limit == NULL)
        dp_people_lost(t->people, t->of.adjacency, unit_of(t), &t->outside);
    else if (!bad && dp_people_elsewhere(t->people, own, t->of.adjacency, true, &t->outside, err) != DP_OK)
        bad = 1;
    if (t->untracked.runs > 0)
        dp_ledger_before_add(&t->outside, t->untracked.epsilon, t->untracked.delta);
    return bad;
}

/* The group of the runs that the budget binds: they have the same unit. */
static struct group group_of_limit(const struct dp_ledger_book *book, const struct dp_ledger_limit *limit)
{
    return (struct group){dp_ledger_book_root(book, limit->who), limit->adjacency, dp_ledger_limit_persons(book, limit) == 1};
}

struct totals {
    const struct dp_people *people;
    json_t *list;
    struct group *of;
    size_t count, capacity;
};

static int add_sum(struct totals *totals, const struct dp_ledger_book *book, const struct group *of, const char *name,
                   double delta)
{
    struct total t = {.of = *of, .population = name, .data = json_array(), .preprocessing = json_array()};
    const struct dp_people *people = totals->people;
    size_t theirs = people != NULL && people->registry != NULL ? dp_people_who(people, book) : SIZE_MAX;
    int bad = 0;
    if (theirs != SIZE_MAX && dp_ledger_book_root(book, theirs) == of->who)
        t.people = people;
    for (size_t i = 0; i < book->limits && t.limit == NULL; i++) {
        struct group group = group_of_limit(book, &book->limit[i]);
        t.limit = is_same(&group, of) ? &book->limit[i] : NULL;
    }
    if (t.limit != NULL) {
        t.delta = t.limit->delta;
        t.population = t.limit->population;
    }
    for (size_t i = 0; !bad && i < book->entries; i++) {
        struct group group = group_of(book, &book->entry[i]);
        bad = is_same(&group, of) ? total_add(&t, &book->entry[i]) : 0;
    }
    if (!bad && t.people != NULL)
        bad = add_elsewhere(&t, book, NULL);
    if (!bad)
        add_members(totals->list, &t, book, delta);
    total_free(&t);
    return bad;
}

static int add_total(struct totals *totals, const struct dp_ledger_book *book, struct group of, const char *name, double delta)
{
    for (size_t i = 0; i < totals->count; i++)
        if (is_same(&totals->of[i], &of))
            return 0;
    dp_extend(&totals->of, &totals->capacity, totals->count + 1, sizeof *totals->of);
    totals->of[totals->count++] = of;
    return add_sum(totals, book, &of, name, delta);
}

/* All runs and totals, or only the ones of one population. */
static int report_book(const struct dp_ledger_book *book, size_t only, double delta, json_t *runs, struct totals *totals)
{
    int bad = 0;
    for (size_t i = 0; !bad && i < book->limits; i++) {
        size_t who = dp_ledger_book_root(book, book->limit[i].who);
        if (only == SIZE_MAX || who == only)
            bad = add_total(totals, book, group_of_limit(book, &book->limit[i]), book->limit[i].population, delta);
    }
    for (size_t i = 0; !bad && i < book->entries; i++) {
        const struct dp_ledger_entry *entry = &book->entry[i];
        size_t who = dp_ledger_book_root(book, entry->of.who);
        if (only != SIZE_MAX && who != only)
            continue;
        bad = add_run(runs, entry, delta);
        if (!bad)
            bad = add_total(totals, book, group_of(book, entry), entry->of.population, delta);
    }
    return bad;
}

int dp_ledger_report(const char *path, const char *population, double delta, json_t **report, struct dp_err *err)
{
    return dp_ledger_report_people(path, NULL, population, delta, report, err);
}

int dp_ledger_report_people(const char *path, const struct dp_people *people, const char *population, double delta,
                            json_t **report, struct dp_err *err)
{
    struct dp_ledger_book book = {0};
    struct totals totals = {.people = people};
    *report = NULL;
    if (!isnan(delta) && !(delta > 0 && delta < 1))
        return dp_fail(err, DP_E_RUN, "delta must be in (0, 1), got %g", delta);
    int rc = dp_ledger_book_read(&book, path, err);
    size_t only = rc == DP_OK && population != NULL ? dp_ledger_book_who(&book, population) : SIZE_MAX;
    if (rc == DP_OK && population != NULL && only == SIZE_MAX)
        rc = dp_fail(err, DP_E_RUN, "the ledger %s has nothing on %.80s", path, population);
    if (rc != DP_OK) {
        dp_ledger_book_free(&book);
        return rc;
    }
    json_t *runs = json_array();
    totals.list = json_array();
    if (report_book(&book, only, delta, runs, &totals) == 0)
        *report = json_pack("{s:o, s:I, s:b, s:O, s:O}", "ledger", dp_json_string(path), "lines", (json_int_t)book.lines,
                            "torn", book.torn, "runs", runs, "populations", totals.list);
    if (*report == NULL)
        rc = dp_fail(err, DP_E_RUN, "the runs in the ledger %s cannot be added up", path);
    json_decref(runs);
    json_decref(totals.list);
    free(totals.of);
    dp_ledger_book_free(&book);
    return rc;
}

/* Whether one run of a ledger is all that the total counts. */
static bool is_one_run(const json_t *total)
{
    static const char *const more[] = {"not_in_ledger", "untracked", "lost"};
    bool one = json_integer_value(json_object_get(total, "runs")) == 1 &&
               json_object_get(json_object_get(total, "budget"), "before") == NULL;
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        one = one && json_object_get(total, more[i]) == NULL;
    return one;
}

/* The one run of the population; NULL: another ledger has it. */
static const struct dp_ledger_entry *only_run(const struct dp_ledger_book *book, const json_t *total)
{
    const struct dp_ledger_entry *found = NULL;
    const char *adjacency = json_string_value(json_object_get(total, "adjacency"));
    size_t i, k;
    json_t *data;
    for (i = 0; i < book->entries; i++)
        json_array_foreach (json_object_get(total, "data"), k, data)
            if (strcmp(book->entry[i].of.data, json_string_value(data)) == 0 &&
                strcmp(book->entry[i].of.adjacency, adjacency) == 0)
                found = &book->entry[i];
    return found;
}

int dp_ledger_report_curves(const char *path, json_t *report, struct dp_err *err)
{
    struct dp_ledger_book book = {0};
    size_t i;
    json_t *total;
    int rc = dp_ledger_book_read(&book, path, err);
    json_array_foreach (json_object_get(report, "populations"), i, total) {
        struct dp_ledger_sum sum = {0};
        const struct dp_ledger_entry *run = rc == DP_OK && is_one_run(total) ? only_run(&book, total) : NULL;
        if (run != NULL)
            rc = dp_ledger_sum_add(&sum, run, err);
        if (rc == DP_OK && run != NULL)
            rc = dp_ledger_sum_curve(&sum, run->delta, total, err);
        dp_ledger_sum_free(&sum);
    }
    dp_ledger_book_free(&book);
    return rc;
}

/* --- verification ------------------------------------------------------------------------------------------------- */

static void find(json_t *findings, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void find(json_t *findings, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    json_array_append_new(findings, json_vsprintf(format, args));
    va_end(args);
}

static void verify_run(const struct dp_ledger_entry *entry, json_t *runs, json_t *findings)
{
    struct dp_err why = {0};
    struct dp_ledger_recorded recorded;
    json_t *json = json_pack("{s:s, s:b}", "run", entry->run, "closed", entry->close != NULL);
    json_array_append_new(runs, json);
    if (entry->close == NULL)
        return;
    json_object_set_new(json, "recorded", json_real(entry->closed.epsilon));
    json_object_set_new(json, "delta", json_real(entry->closed.delta));
    json_object_set_new(json, "accountant", json_string(entry->closed.accountant));
    if (dp_ledger_run_check(entry, &recorded, &why) != DP_OK) {
        json_object_set_new(json, "agrees", json_false());
        find(findings, "run %s: %s", entry->run, why.message);
        return;
    }
    json_object_set_new(json, "recomputed", dp_ledger_real_json(recorded.recomputed));
    json_object_set_new(json, "agrees", recorded.compared ? json_boolean(recorded.agrees) : json_null());
    if (recorded.compared && !recorded.agrees)
        find(findings, "run %s: epsilon is recorded as %.9g, recomputed it is %.9g", entry->run, entry->closed.epsilon,
             recorded.recomputed);
}

static void verify_budget(const struct dp_ledger_book *book, const struct dp_ledger_limit *limit, json_t *findings)
{
    struct dp_ledger_costs costs = {0};
    struct dp_err why = {0};
    struct dp_ledger_counted counted;
    int rc = dp_ledger_limit_epsilon(book, limit, &costs, &counted, &why);
    dp_ledger_costs_free(&costs);
    if (rc != DP_OK)
        find(findings, "%s: %s", limit->population, why.message);
    else if (counted.epsilon > limit->epsilon * (1 + 0x1p-40))
        find(findings, "%s: its budget is epsilon = %.9g, %.9g are spent", limit->population, limit->epsilon, counted.epsilon);
}

int dp_ledger_verify(const char *path, json_t **result, struct dp_err *err)
{
    struct dp_ledger_book book = {0};
    struct dp_err why = {0};
    json_t *runs = json_array(), *findings = json_array();
    int rc = dp_ledger_book_read(&book, path, &why);
    *result = NULL;
    if (rc == DP_E_UNSAFE)
        find(findings, "%s", why.message);
    for (size_t i = 0; rc == DP_OK && i < book.entries; i++)
        verify_run(&book.entry[i], runs, findings);
    for (size_t i = 0; rc == DP_OK && i < book.limits; i++)
        verify_budget(&book, &book.limit[i], findings);
    if (rc != DP_OK && rc != DP_E_UNSAFE) {
        rc = dp_fail(err, (enum dp_status)rc, "%s", why.message);
    } else {
        *result = json_pack("{s:o, s:b, s:b, s:I, s:b, s:O, s:O}", "ledger", dp_json_string(path), "intact",
                            json_array_size(findings) == 0, "edited", rc == DP_E_UNSAFE, "lines", (json_int_t)book.lines,
                            "torn", book.torn, "findings", findings, "runs", runs);
        rc = DP_OK;
    }
    json_decref(runs);
    json_decref(findings);
    dp_ledger_book_free(&book);
    return rc;
}

/* --- for a person -------------------------------------------------------------------------------------------------- */

static const char *text_of(const json_t *json, const char *key)
{
    const char *text = json_string_value(json_object_get(json, key));
    return text != NULL ? text : "";
}

/* Six digits, rounded up: a reader must not see less than the true number. */
static const char *number_of(const json_t *json, const char *key, char buffer[32])
{
    const json_t *value = json_object_get(json, key);
    double number = json_number_value(value);
    if (json_is_string(value))
        snprintf(buffer, 32, "%s", strcmp(json_string_value(value), "Infinity") == 0 ? "unbounded" : "unknown");
    else if (!json_is_number(value))
        snprintf(buffer, 32, "unknown");
    else
        snprintf(buffer, 32, "%.6g", number);
    if (json_is_number(value) && strtod(buffer, NULL) < number)
        snprintf(buffer, 32, "%.6g", number + pow(10, floor(log10(number)) - 5));
    return buffer;
}

static void print_marks(const json_t *json, FILE *stream)
{
    const json_t *preprocessing = json_object_get(json, "private_preprocessing");
    if (json_is_true(json_object_get(json, "seeded")))
        fputs("  SEEDED: not private", stream);
    char unpaid[200] = "";
    bool paid = false;
    if (json_is_string(preprocessing))
        dp_text_unpaid(json_string_value(preprocessing), &paid, unpaid, sizeof unpaid);
    if (paid)
        fputs("  schema paid for", stream);
    if (unpaid[0] != '\0')
        fprintf(stream, "  preprocessing not private: %s", unpaid);
    if (json_object_get(json, "public_start") != NULL)
        fprintf(stream, "  from public model %.12s", text_of(json, "public_start"));
}

static void print_run(const json_t *run, FILE *stream)
{
    char opened[32] = "unknown", epsilon[32], laps[32];
    time_t seconds = (time_t)json_integer_value(json_object_get(run, "opened"));
    struct tm tm;
    if (seconds != 0 && gmtime_r(&seconds, &tm) != NULL)
        strftime(opened, sizeof opened, "%Y-%m-%dT%H:%MZ", &tm);
    bool release = json_object_get(run, "what") != NULL;
    snprintf(laps, sizeof laps, "%lld", (long long)json_integer_value(json_object_get(run, "laps")));
    fprintf(stream, "%s  %-17s %9s  %9s  %s", text_of(run, "run"), opened, release ? "-" : laps,
            number_of(run, "epsilon", epsilon), text_of(run, "status"));
    if (release)
        fprintf(stream, " by \"%s\"", text_of(run, "what"));
    if (strcmp(text_of(run, "stated_at"), "plan") == 0)
        fprintf(stream, ", counted as all %lld laps of its plan",
                (long long)json_integer_value(json_object_get(run, "plan_laps")));
    if (strcmp(text_of(run, "stated_at"), "order") == 0)
        fprintf(stream, ", counted at order %g", json_number_value(json_object_get(run, "order")));
    print_marks(run, stream);
    fputc('\n', stream);
}

static const char *count_of(long long count, const char *what, char buffer[48])
{
    snprintf(buffer, 48, "%lld %s%s", count, what, count == 1 ? "" : "s");
    return buffer;
}

/* Prints how many runs and laps there are, and releases of other tools. */
static void print_counts(const json_t *total, FILE *stream)
{
    char runs[48], laps[48], others[48];
    json_int_t releases = json_integer_value(json_object_get(total, "releases"));
    count_of(json_integer_value(json_object_get(total, "runs")) - releases, "run", runs);
    count_of(json_integer_value(json_object_get(total, "laps")), "lap", laps);
    count_of(releases, "release", others);
    if (releases == 0)
        fprintf(stream, "%s and %s", runs, laps);
    else if (json_integer_value(json_object_get(total, "runs")) == releases)
        fprintf(stream, "%s of other tools", others);
    else
        fprintf(stream, "%s, %s and %s of other tools", runs, laps, others);
}

/* Prints the cost and the counts of a total. */
static void print_cost(const json_t *total, FILE *stream)
{
    char epsilon[32];
    const json_t *budget = json_object_get(total, "budget");
    fprintf(stream, ": epsilon %s at delta %g", number_of(total, "epsilon", epsilon),
            json_number_value(json_object_get(total, "delta")));
    if (budget != NULL)
        fprintf(stream, " of a budget of %g", json_number_value(json_object_get(budget, "epsilon")));
    fputs(", by ", stream);
    print_counts(total, stream);
}

/* Prints how the budget counts, and the sum of what the runs state by themselves. */
static void print_counted(const json_t *budget, FILE *stream)
{
    const json_t *stated = json_object_get(budget, "stated");
    double order = json_number_value(json_object_get(budget, "order")),
           delta = json_number_value(json_object_get(stated, "delta"));
    char epsilon[32];
    number_of(stated, "epsilon", epsilon);
    if (order > 0)
        fprintf(stream, "counted by a filter at order %g, with delta %g; added up, the runs state epsilon %s at delta %g\n",
                order, json_number_value(json_object_get(budget, "of_delta")), epsilon, delta);
    else
        fprintf(stream, "counted by adding up what the runs state: epsilon %s at delta %g\n", epsilon, delta);
}

/* Prints the total, and a sentence about the composition. */
static void print_spent(const json_t *total, FILE *stream)
{
    char epsilon[32];
    const json_t *budget = json_object_get(total, "budget"), *other;
    const char *why = text_of(total, json_object_get(total, "why") != NULL ? "why" : "accountant");
    fputs("spent", stream);
    print_cost(total, stream);
    fprintf(stream, " (%s", why);
    if (budget != NULL && json_number_value(json_object_get(budget, "order")) > 0)
        fprintf(stream, " at order %g", json_number_value(json_object_get(budget, "order")));
    fputc(')', stream);
    print_marks(total, stream);
    fputc('\n', stream);
    if (budget != NULL && json_integer_value(json_object_get(total, "runs")) > 0)
        print_counted(budget, stream);
    if ((other = json_object_get(total, "composed")) != NULL && json_integer_value(json_object_get(total, "runs")) > 0)
        fprintf(stream, "if all runs had been planned together: epsilon %s at delta %g\n", number_of(other, "epsilon", epsilon),
                json_number_value(json_object_get(other, "delta")));
    if ((other = json_object_get(total, "not_in_ledger")) != NULL)
        fprintf(stream, "of it epsilon %s and delta %g as models without a ledger stated it\n",
                number_of(other, "epsilon", epsilon), json_number_value(json_object_get(other, "delta")));
}

/* Prints, in one sentence, the cost that is sound even if somebody looked at one run before the next. */
static void print_closing(const json_t *total, const char *ledger, FILE *stream)
{
    char epsilon[32], runs[48];
    const json_t *budget = json_object_get(total, "budget"), *composed = json_object_get(total, "composed");
    const json_t *ledgers = json_object_get(total, "ledgers"), *lost = json_object_get(total, "lost");
    const json_t *untracked = json_object_get(total, "untracked"), *stated = json_object_get(budget, "stated");
    json_int_t apart = json_integer_value(json_object_get(total, "apart")),
               unbounded = json_integer_value(json_object_get(total, "unbounded"));
    if (ledgers != NULL)
        fputs("by all runs on these people", stream);
    else
        fprintf(stream, "by all runs in %s", ledger);
    print_cost(total, stream);
    if (json_array_size(ledgers) > 1)
        fprintf(stream, " in %zu ledgers", json_array_size(ledgers));
    if (stated != NULL && json_object_get(budget, "before") == NULL &&
        json_number_value(json_object_get(stated, "epsilon")) < json_number_value(json_object_get(total, "epsilon")))
        fprintf(stream, "; epsilon %s at delta %g is what they state by themselves, added up",
                number_of(stated, "epsilon", epsilon), json_number_value(json_object_get(stated, "delta")));
    if (composed != NULL && budget == NULL)
        fprintf(stream, "; epsilon %s at delta %g if all of them were planned before the first",
                number_of(composed, "epsilon", epsilon), json_number_value(json_object_get(composed, "delta")));
    if (lost != NULL)
        fprintf(stream, "; of it at most epsilon %s by %s of %s, which is gone", number_of(lost, "epsilon", epsilon),
                count_of(json_integer_value(json_object_get(lost, "runs")), "run", runs), text_of(lost, "ledger"));
    if (untracked != NULL)
        fprintf(stream, "; of it at most epsilon %s by %s in no ledger", number_of(untracked, "epsilon", epsilon),
                count_of(json_integer_value(json_object_get(untracked, "runs")), "run", runs));
    if (unbounded > 0)
        fprintf(stream, "; and without any bound, %s without privacy", count_of(unbounded, "run", runs));
    if (apart > 0)
        fprintf(stream, "; without %s in other ledgers, under another adjacency or with another unit of privacy",
                count_of(apart, "run", runs));
    fputc('\n', stream);
}

static bool is_about_persons(const json_t *json)
{
    const char *unit = json_string_value(json_object_get(json, "unit"));
    return unit != NULL && strcmp(unit, dp_unit_name(NULL)) != 0;
}

bool dp_ledger_report_covers(const json_t *total, const json_t *run)
{
    const json_t *data = json_object_get(total, "data");
    bool own = false;
    for (size_t k = 0; k < json_array_size(data); k++)
        own |= strcmp(text_of(run, "data"), json_string_value(json_array_get(data, k))) == 0;
    return own && strcmp(text_of(run, "adjacency"), text_of(total, "adjacency")) == 0 &&
           is_about_persons(run) == is_about_persons(total);
}

static void print_unit(const json_t *total, FILE *stream)
{
    const json_t *unit = json_object_get(total, "unit");
    size_t rows;
    if (unit == NULL)
        return;
    if (!is_about_persons(total) || !dp_unit_read(json_string_value(unit), &rows))
        fputs("one row is taken for one person\n", stream);
    else
        fprintf(stream, "all rows of a person count together: at most %zu of them\n", rows);
}

static void print_total(const json_t *total, const json_t *runs, const char *ledger, FILE *stream)
{
    const json_t *data = json_object_get(total, "data"), *rows = json_object_get(total, "rows");
    const json_t *ledgers = json_object_get(total, "ledgers");
    const char *population = text_of(total, "population");
    bool named = false, some = json_array_size(data) > 0;
    for (size_t i = 0; i < json_array_size(data); i++)
        named |= strcmp(json_string_value(json_array_get(data, i)), population) != 0;
    fprintf(stream, some && !named ? "data set %s" : "population %s", population);
    if (rows != NULL)
        fprintf(stream, ", %lld %s", (long long)json_integer_value(rows), is_about_persons(total) ? "persons" : "rows");
    fprintf(stream, ", %s adjacency\n", text_of(total, "adjacency"));
    print_unit(total, stream);
    for (size_t i = 0; named && i < json_array_size(data); i++)
        fprintf(stream, "data set %s\n", json_string_value(json_array_get(data, i)));
    if (some)
        fprintf(stream, "%-32s  %-17s %9s  %9s  %s\n", "run", "opened", "laps", "epsilon", "ended");
    for (size_t i = 0; i < json_array_size(runs); i++)
        if (dp_ledger_report_covers(total, json_array_get(runs, i)))
            print_run(json_array_get(runs, i), stream);
    print_spent(total, stream);
    if (json_object_get(total, "releases") != NULL)
        fputs("what other tools have released counts as they state it: this program does not show it\n", stream);
    for (size_t i = 0; i < json_array_size(ledgers) && json_array_size(ledgers) > 1; i++)
        fprintf(stream, "ledger %s\n", json_string_value(json_array_get(ledgers, i)));
    print_closing(total, ledger, stream);
}

static void print_torn(const json_t *json, FILE *stream)
{
    if (json_is_true(json_object_get(json, "torn")))
        fputs("the last line is unfinished and does not count\n", stream);
}

void dp_ledger_report_print(const json_t *report, FILE *stream)
{
    size_t i;
    json_t *total;
    if (json_array_size(json_object_get(report, "populations")) == 0)
        fprintf(stream, "%s is empty: it records no spending\n", text_of(report, "ledger"));
    json_array_foreach (json_object_get(report, "populations"), i, total) {
        if (i > 0)
            fputc('\n', stream);
        print_total(total, json_object_get(report, "runs"), text_of(report, "ledger"), stream);
    }
    print_torn(report, stream);
}

void dp_ledger_verify_print(const json_t *result, FILE *stream)
{
    char lines[48], runs[48];
    size_t i, ended = 0;
    json_t *entry;
    json_array_foreach (json_object_get(result, "findings"), i, entry)
        fprintf(stream, "%s\n", json_string_value(entry));
    json_array_foreach (json_object_get(result, "runs"), i, entry)
        ended += json_is_true(json_object_get(entry, "agrees"));
    print_torn(result, stream);
    if (json_is_true(json_object_get(result, "intact")))
        fprintf(stream, "%s is intact: %s, %s, epsilon recomputed for %zu\n", text_of(result, "ledger"),
                count_of(json_integer_value(json_object_get(result, "lines")), "line", lines),
                count_of((long long)json_array_size(json_object_get(result, "runs")), "run", runs), ended);
}
