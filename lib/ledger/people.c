#include "ledger/people.h"

#include <sys/stat.h>

#include "base/mem.h"

size_t dp_people_who(const struct dp_people *p, const struct dp_ledger_book *book)
{
    size_t who = dp_ledger_book_who(book, p->query.population);
    return who != SIZE_MAX || p->query.data == NULL ? who : dp_ledger_book_who(book, p->query.data);
}

/* The population's budget in a ledger, or NULL. */
static const struct dp_ledger_limit *limit_of(const struct dp_people *p, const struct dp_people_ledger *l)
{
    size_t at = 0;
    const char *data = p->query.data != NULL ? p->query.data : p->query.population;
    return l->there ? dp_ledger_book_limit(&l->book, p->query.population, data, &at) : NULL;
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

static int read_ledger(const struct dp_people *p, struct dp_people_ledger *l, struct dp_err *err)
{
    struct stat st;
    char why[DP_ERR_MESSAGE_SIZE];
    if (lstat(l->path, &st) != 0 && (errno == ENOENT || errno == ENOTDIR))
        return DP_OK;
    int rc = dp_ledger_book_read(&l->book, l->name, err);
    l->there = rc == DP_OK;
    if (rc == DP_OK || err == NULL || p->registry == NULL || strcmp(l->path, p->ledger[0].path) == 0)
        return rc;
    memcpy(why, err->message, sizeof why);
    return dp_fail(err, (enum dp_status)rc, "%.400s; it has runs on %.60s (--no-registry goes without it)", why,
                   p->query.population);
}

/* path: absolute; *p takes ownership. name: NULL means the path. */
static int add_ledger(struct dp_people *p, char *path, const char *name, struct dp_err *err)
{
    for (size_t i = 0; i < p->ledgers; i++)
        if (strcmp(p->ledger[i].path, path) == 0) {
            free(path);
            return DP_OK;
        }
    dp_extend(&p->ledger, &p->capacity, p->ledgers + 1, sizeof *p->ledger);
    p->ledger[p->ledgers++] = (struct dp_people_ledger){.path = path, .name = name != NULL ? name : path};
    return read_ledger(p, &p->ledger[p->ledgers - 1], err);
}

static bool is_theirs(const struct dp_people *p, const struct dp_registry_line *line)
{
    return line->kind != DP_REGISTRY_IMPORT && strcmp(line->population, p->query.population) == 0;
}

int dp_people_open(struct dp_people *p, const struct dp_registry *registry, const struct dp_people_query *query,
                   struct dp_err *err)
{
    int rc = DP_OK;
    *p = (struct dp_people){.query = *query};
    if (dp_registry_concerns(query->population, query->data))
        p->registry = registry;
    if (p->registry != NULL)
        dp_aliases_find(&p->aliases, registry, query->population);
    for (size_t i = 0; rc == DP_OK && i < DP_PEOPLE_OWN && query->own[i] != NULL; i++) {
        char *path;
        /* Without its directory, the ledger does not exist. */
        if (dp_registry_path(query->own[i], &path, NULL) != DP_OK)
            path = dp_got(strdup(query->own[i]));
        rc = add_ledger(p, path, query->own[i], err);
    }
    for (size_t i = 0; rc == DP_OK && p->registry != NULL && i < p->registry->lines; i++) {
        const struct dp_registry_line *line = &p->registry->line[i];
        if (!is_theirs(p, line) || line->gate != DP_REGISTRY_CHARGED)
            continue;
        rc = add_ledger(p, dp_got(strdup(line->ledger)), NULL, err);
    }
    return rc;
}

void dp_people_close(struct dp_people *p)
{
    for (size_t i = 0; i < p->ledgers; i++) {
        dp_ledger_book_free(&p->ledger[i].book);
        free(p->ledger[i].path);
    }
    free(p->ledger);
    dp_aliases_free(&p->aliases);
    *p = (struct dp_people){0};
}

/* --- where runs are charged --------------------------------------------------------------------------------------- */

const struct dp_people_ledger *dp_people_default(const struct dp_people *p)
{
    for (size_t i = 0; p->registry != NULL && i < p->ledgers; i++)
        if (limit_of(p, &p->ledger[i]) != NULL)
            return &p->ledger[i];
    for (size_t i = 1; p->registry != NULL && !p->ledger[0].there && i < p->ledgers; i++)
        if (p->ledger[i].there && dp_people_who(p, &p->ledger[i].book) != SIZE_MAX)
            return &p->ledger[i];
    return &p->ledger[0];
}

int dp_people_admit_budget(const struct dp_people *p, const struct dp_people_ledger *ledger, struct dp_err *err)
{
    for (size_t i = 0; i < p->ledgers; i++) {
        const struct dp_ledger_limit *limit = limit_of(p, &p->ledger[i]);
        if (limit != NULL && &p->ledger[i] != ledger)
            return dp_fail(err, DP_E_UNSAFE,
                           "%.60s has a budget of epsilon = %g in the ledger %.150s, and what is spent in %.150s would not "
                           "count there (--no-registry charges it nevertheless)",
                           p->query.population, limit->epsilon, p->ledger[i].name, ledger->name);
    }
    return DP_OK;
}

/* The newest budget that the registry has noted, in that ledger or, for NULL, in any. */
static const struct dp_registry_line *newest_budget(const struct dp_people *p, const char *path)
{
    for (size_t i = p->registry != NULL ? p->registry->lines : 0; i-- > 0;) {
        const struct dp_registry_line *line = &p->registry->line[i];
        if (line->kind == DP_REGISTRY_BUDGET && is_theirs(p, line) && (path == NULL || strcmp(line->ledger, path) == 0))
            return line;
    }
    return NULL;
}

bool dp_people_unnoted(const struct dp_people *p, const struct dp_people_ledger *ledger, struct dp_registry_line *line)
{
    const struct dp_ledger_limit *limit = limit_of(p, ledger);
    if (limit == NULL || newest_budget(p, NULL) != NULL)
        return false;
    *line = (struct dp_registry_line){.kind = DP_REGISTRY_BUDGET,
                                      .population = p->query.population,
                                      .ledger = ledger->path,
                                      .adjacency = limit->adjacency,
                                      .epsilon = limit->epsilon,
                                      .delta = limit->delta};
    return true;
}

static bool is_kept(const struct dp_people *p, const char *run)
{
    for (size_t i = 0; i < p->ledgers; i++)
        if (p->ledger[i].there && dp_ledger_book_opened(&p->ledger[i].book, run))
            return true;
    return false;
}

static bool is_of(const char *unit, enum dp_people_unit which)
{
    return which == DP_PEOPLE_ANY || (unit != NULL) == (which == DP_PEOPLE_PERSONS);
}

/* Adds runs whose ledger is lost, or runs without a ledger, from the lines after `after`, or from all lines if it is NULL. */
static const char *add_lost(const struct dp_people *p, enum dp_registry_gate gate, const char *adjacency,
                            enum dp_people_unit unit, const struct dp_registry_line *after, struct dp_ledger_before *cost)
{
    const char *ledger = NULL;
    for (size_t i = 0; p->registry != NULL && i < p->registry->lines; i++) {
        const struct dp_registry_line *line = &p->registry->line[i];
        if (line->kind != DP_REGISTRY_RUN || !is_theirs(p, line) || strcmp(line->adjacency, adjacency) != 0 ||
            (after != NULL && line < after) || !is_of(line->unit, unit) || line->gate != gate || is_kept(p, line->run))
            continue;
        dp_ledger_before_add(cost, line->epsilon, line->delta);
        ledger = line->ledger;
    }
    return ledger;
}

/* Checks that every run that the registry has noted since the budget is in the ledger with the budget, or in another ledger. */
static int admit_whole(const struct dp_people *p, const struct dp_people_ledger *ledger, const struct dp_registry_line *noted,
                       struct dp_err *err)
{
    struct dp_ledger_before lost = {0};
    if (noted == NULL || add_lost(p, DP_REGISTRY_CHARGED, noted->adjacency, DP_PEOPLE_ANY, noted, &lost) == NULL)
        return DP_OK;
    return dp_fail(
        err, DP_E_UNSAFE,
        "the ledger %.200s does not have all runs on %.60s since their budget, and no other one has them (was an older "
        "copy put in its place? without it, dp-account budget --after-runs sets a budget that begins with what was "
        "spent; --no-registry goes without)",
        ledger->name, p->query.population);
}

int dp_people_admit(const struct dp_people *p, const struct dp_people_ledger *ledger, struct dp_err *err)
{
    const struct dp_registry_line *noted = newest_budget(p, NULL);
    int rc = dp_people_admit_budget(p, ledger, err);
    for (size_t i = 0; rc == DP_OK && i < p->ledgers; i++)
        if (limit_of(p, &p->ledger[i]) != NULL)
            return admit_whole(p, &p->ledger[i], noted, err);
    if (rc == DP_OK && noted != NULL)
        return dp_fail(err, DP_E_UNSAFE,
                       "%.60s had a budget in the ledger %.200s, which is gone (dp-account budget --after-runs "
                       "sets one that begins with what was spent; --no-registry goes without)",
                       p->query.population, noted->ledger);
    return rc;
}

/* --- what was spent elsewhere ------------------------------------------------------------------------------------- */

const char *dp_people_lost(const struct dp_people *p, const char *adjacency, enum dp_people_unit unit,
                           struct dp_ledger_before *cost)
{
    *cost = (struct dp_ledger_before){0};
    return add_lost(p, DP_REGISTRY_CHARGED, adjacency, unit, NULL, cost);
}

void dp_people_untracked(const struct dp_people *p, const char *adjacency, enum dp_people_unit unit,
                         struct dp_ledger_before *cost)
{
    *cost = (struct dp_ledger_before){0};
    add_lost(p, DP_REGISTRY_NO_LEDGER, adjacency, unit, NULL, cost);
}

size_t dp_people_unbounded(const struct dp_people *p)
{
    size_t runs = 0;
    for (size_t i = 0; p->registry != NULL && i < p->registry->lines; i++)
        runs += dp_aliases_have(&p->aliases, p->registry->line[i].population) && dp_registry_unbounded(&p->registry->line[i]);
    return runs;
}

/* Whether an earlier line of the registry is about the same run. */
static bool came_before(const struct dp_people *p, const struct dp_ledger_entry *entry, const struct dp_registry_line *line)
{
    for (const struct dp_registry_line *l = p->registry->line; l < line; l++)
        for (size_t k = 0; l->kind == DP_REGISTRY_RUN && k < entry->opened.count; k++)
            if (strcmp(l->run, entry->opened.list[k].run) == 0)
                return true;
    return false;
}

/* Refuses mixed units: the cost of runs that protect rows does not bound their cost for persons with several rows. */
static int check_units(const struct dp_people *p, const char *adjacency, struct dp_err *err)
{
    const struct dp_ledger_entry *first = NULL;
    for (size_t i = 0; i < p->ledgers; i++) {
        const struct dp_ledger_book *book = &p->ledger[i].book;
        size_t who = p->ledger[i].there ? dp_people_who(p, book) : SIZE_MAX;
        for (size_t k = 0; who != SIZE_MAX && k < book->entries; k++) {
            const struct dp_ledger_entry *entry = &book->entry[k];
            if (dp_ledger_book_root(book, entry->of.who) != dp_ledger_book_root(book, who))
                continue;
            first = first != NULL ? first : entry;
            if ((entry->of.unit != NULL) != (first->of.unit != NULL))
                return dp_fail(err, DP_E_UNSAFE,
                               "of the runs %s and %s on %.60s one is about rows and one about persons with several rows: what "
                               "they cost does not add up to a budget",
                               first->run, entry->run, p->query.population);
        }
    }
    struct dp_ledger_before rows, persons;
    const char *of_rows = dp_people_lost(p, adjacency, DP_PEOPLE_ROWS, &rows);
    const char *of_persons = dp_people_lost(p, adjacency, DP_PEOPLE_PERSONS, &persons);
    bool mixed =
        first == NULL ? of_rows != NULL && of_persons != NULL : (first->of.unit != NULL ? of_rows : of_persons) != NULL;
    if (mixed)
        return dp_fail(
            err, DP_E_UNSAFE,
            "of the runs on %.60s some are about rows and some about persons with several rows, in the ledger %.200s, "
            "which is gone: what they cost does not add up to a budget",
            p->query.population, first == NULL || first->of.unit != NULL ? of_rows : of_persons);
    return DP_OK;
}

int dp_people_elsewhere(const struct dp_people *p, const struct dp_people_ledger *ledger, const char *adjacency, bool since,
                        struct dp_ledger_before *cost, struct dp_err *err)
{
    const struct dp_registry_line *after = since ? newest_budget(p, ledger->path) : NULL;
    struct dp_ledger_before other = {0};
    int rc = DP_OK;
    *cost = (struct dp_ledger_before){0};
    add_lost(p, DP_REGISTRY_CHARGED, adjacency, DP_PEOPLE_ANY, after, cost);
    if (!since)
        add_lost(p, DP_REGISTRY_CHARGED, strcmp(adjacency, "replace-one") == 0 ? "null-record" : "replace-one", DP_PEOPLE_ANY,
                 NULL, &other);
    if (other.runs > 0)
        return dp_fail(err, DP_E_UNSAFE,
                       "%.60s had runs under another adjacency than the budget, in a ledger that is gone: they do not add up",
                       p->query.population);
    if (!since)
        rc = check_units(p, adjacency, err);
    for (size_t i = 0; i < p->ledgers; i++) {
        const struct dp_people_ledger *l = &p->ledger[i];
        size_t who = l->there && l != ledger ? dp_people_who(p, &l->book) : SIZE_MAX;
        for (size_t k = 0; rc == DP_OK && who != SIZE_MAX && k < l->book.entries; k++) {
            const struct dp_ledger_entry *entry = &l->book.entry[k];
            bool theirs = dp_ledger_book_root(&l->book, entry->of.who) == dp_ledger_book_root(&l->book, who);
            bool counts =
                !since || (strcmp(entry->of.adjacency, adjacency) == 0 && !(after != NULL && came_before(p, entry, after)));
            if (theirs && counts)
                rc = dp_ledger_entry_cost(&l->book, entry, adjacency, cost, err);
        }
    }
    return rc;
}
