#include "gate/where.h"

#include "base/mem.h"
#include "base/text.h"

static char *name_own(const char *directory, const char *file)
{
    return dp_format("%s%s%s", directory != NULL ? directory : "", directory != NULL ? "/" : "", file);
}

/* Names the ledgers that are known without a registry. */
static void name_all(struct dp_where *w, const struct dp_where_query *q)
{
    size_t n = 0;
    if (q->ledger != NULL)
        w->own[n++] = name_own(NULL, q->ledger);
    if (q->directory != NULL && (q->ledger == NULL || !q->registry.none))
        w->own[n++] = name_own(q->directory, "ledger");
    if (q->directory == NULL && q->new_ledger != NULL && (q->ledger == NULL || !q->registry.none))
        w->own[n++] = name_own(NULL, q->new_ledger);
    if (q->also != NULL && !q->registry.none)
        w->own[n++] = name_own(q->also, "ledger");
}

/* Opens the registry, unless the run has nothing to do with it. */
static int open_registry(struct dp_where *w, const struct dp_where_query *q, const struct dp_ledger_run *run, char *warning,
                         struct dp_err *err)
{
    struct dp_err why = {0};
    if (!dp_registry_concerns(run->population, run->data))
        return DP_OK;
    int rc = dp_registry_open(&w->registry, &q->registry, true, &why);
    if (rc != DP_REGISTRY_NONE)
        return rc == DP_OK ? rc : dp_fail(err, (enum dp_status)rc, "%s", why.message);
    if (why.message[0] != '\0')
        snprintf(warning, DP_ERR_MESSAGE_SIZE, "%.400s; spending on these people in other ledgers is not noticed", why.message);
    return DP_OK;
}

/* Whether the line is of a run without noise on these people, as if their rows were public. */
static bool is_public(const struct dp_registry_line *l, const struct dp_aliases *people)
{
    return l->kind == DP_REGISTRY_RUN && l->gate == DP_REGISTRY_PUBLIC && dp_aliases_have(people, l->population);
}

static int owes(const char *population, struct dp_err *err)
{
    return dp_fail(err, DP_E_UNSAFE,
                   "models were made from the rows of %.60s as if they were public, and nothing shows that the model to start "
                   "from owes nothing to them (--no-registry goes without this check)",
                   population);
}

/* A model that no charge of these people covers may be made from public models of theirs. The model says from whose, unless an
 * earlier version made it, or only private runs. */
static int check_start(const struct dp_registry *registry, const struct dp_aliases *people, const struct dp_ledger_run *run,
                       struct dp_err *err)
{
    if (registry == NULL || run->init.model == NULL || run->resumes != NULL)
        return DP_OK;
    for (size_t i = 0; i < people->names; i++)
        if (dp_text_has_line(run->exact_of, people->name[i], strlen(people->name[i])))
            return owes(people->name[i], err);
    for (size_t i = 0; run->exact_of == NULL && run->init.mark == NULL && i < registry->lines; i++)
        if (is_public(&registry->line[i], people))
            return owes(registry->line[i].population, err);
    return DP_OK;
}

int dp_where_open(struct dp_where *w, const struct dp_where_query *q, const struct dp_ledger_run *run,
                  char warning[DP_ERR_MESSAGE_SIZE], struct dp_err *err)
{
    struct dp_people_query query = {.population = run->population != NULL ? run->population : run->data, .data = run->data};
    warning[0] = '\0';
    name_all(w, q);
    int rc = open_registry(w, q, run, warning, err);
    for (size_t i = 0; i < DP_PEOPLE_OWN; i++)
        query.own[i] = w->own[i];
    rc = rc ?: dp_people_open(&w->people, w->registry, &query, err);
    rc = rc ?: check_start(w->registry, &w->people.aliases, run, err);
    if (rc != DP_OK)
        return rc;
    w->ledger = q->ledger != NULL ? &w->people.ledger[0] : dp_people_default(&w->people);
    return q->registry.none ? DP_OK : dp_people_admit(&w->people, w->ledger, err);
}

int dp_where_note(struct dp_where *w, const struct dp_ledger_run *run, const char *name, struct dp_err *err)
{
    struct dp_registry_line budget;
    const struct dp_registry_line line = {
        .kind = DP_REGISTRY_RUN,
        .population = run->population,
        .ledger = w->ledger->path,
        .run = name,
        .unit = run->unit,
        .adjacency = run->adjacency,
        .epsilon = run->epsilon + run->init.epsilon,
        .delta = run->delta + run->init.delta,
    };
    if (w->registry == NULL)
        return DP_OK;
    if (!dp_people_unnoted(&w->people, w->ledger, &budget))
        return dp_registry_add(w->registry, &line, 1, err);
    return dp_registry_add(w->registry, (const struct dp_registry_line[]){budget, line}, 2, err);
}

static int check_public(const struct dp_registry *registry, const struct dp_aliases *people, struct dp_err *err)
{
    for (size_t i = 0; i < registry->lines; i++) {
        const struct dp_registry_line *l = &registry->line[i];
        if (l->kind == DP_REGISTRY_IMPORT || !dp_aliases_have(people, l->population) || dp_registry_unbounded(l))
            continue;
        return dp_fail(err, DP_E_UNSAFE, "--public: %.60s has runs or a budget in %s%.200s, so its rows are not public",
                       l->population, l->ledger[0] != '\0' ? "the ledger " : "no ledger", l->ledger);
    }
    return DP_OK;
}

int dp_where_note_outside(const struct dp_registry_place *place, const struct dp_ledger_run *run, enum dp_registry_gate gate,
                          struct dp_err *err)
{
    struct dp_registry *registry = NULL;
    struct dp_aliases people = {0};
    struct dp_registry_line line = {.kind = DP_REGISTRY_RUN,
                                    .population = run->population,
                                    .ledger = "",
                                    .run = "",
                                    .unit = run->unit,
                                    .adjacency = run->adjacency,
                                    .epsilon = (double)INFINITY,
                                    .gate = gate};
    if (!dp_registry_concerns(run->population, run->data))
        return DP_OK;
    int rc = dp_registry_open(&registry, place, true, err);
    if (rc == DP_REGISTRY_NONE)
        return DP_OK;
    if (gate == DP_REGISTRY_NO_LEDGER) {
        line.epsilon = run->epsilon + run->init.epsilon;
        line.delta = run->delta + run->init.delta;
    }
    if (rc == DP_OK)
        dp_aliases_find(&people, registry, run->population);
    rc = rc ?: gate == DP_REGISTRY_PUBLIC ? check_public(registry, &people, err) : check_start(registry, &people, run, err);
    rc = rc ?: dp_registry_add(registry, &line, 1, err);
    dp_aliases_free(&people);
    dp_registry_close(registry);
    return rc;
}

int dp_where_check_start(const struct dp_registry_place *place, const struct dp_ledger_run *run, struct dp_err *err)
{
    struct dp_registry *registry = NULL;
    struct dp_aliases people = {0};
    if (!dp_registry_concerns(run->population, run->data))
        return DP_OK;
    int rc = dp_registry_open(&registry, place, false, err);
    if (rc == DP_REGISTRY_NONE)
        return DP_OK;
    if (rc == DP_OK)
        dp_aliases_find(&people, registry, run->population);
    rc = rc ?: check_start(registry, &people, run, err);
    dp_aliases_free(&people);
    dp_registry_close(registry);
    return rc;
}

void dp_where_close(struct dp_where *w)
{
    dp_people_close(&w->people);
    dp_registry_close(w->registry);
    for (size_t i = 0; i < DP_PEOPLE_OWN; i++)
        free(w->own[i]);
    *w = (struct dp_where){0};
}
