/* All ledgers of one population: those that the registry knows and those that the caller names, read and compared. Statements
 * about "these people" count all of them. */
#pragma once

#include "ledger/aliases.h"
#include "ledger/book.h"
#include "ledger/registry.h"

#define DP_PEOPLE_OWN 3

/* The population to look for, and places to look in addition to the registry. */
struct dp_people_query {
    const char *population, *data;  /* data: the digest of their data set, or NULL */
    const char *own[DP_PEOPLE_OWN]; /* ledgers that may not exist; the first one is preferred for a new ledger. NULL ends the
                                     * list */
};

struct dp_people_ledger {
    char *path;       /* absolute */
    const char *name; /* the caller's name for it, or the path */
    bool there;
    struct dp_ledger_book book; /* set if the ledger exists */
};

/* Starts zeroed; close it after a failure of dp_people_open, too. */
struct dp_people {
    struct dp_people_query query;
    const struct dp_registry *registry; /* NULL: there is no registry, or it does not concern this population */
    struct dp_aliases aliases;          /* the names of these people in it */
    struct dp_people_ledger *ledger;    /* the first is own[0] */
    size_t ledgers, capacity;
};

/* Reads all ledgers. registry (may be NULL) and strings are borrowed. DP_E_RUN, DP_E_UNSAFE: a ledger cannot be read, or was
 * edited; the message says how to run without the registry. */
int dp_people_open(struct dp_people *people, const struct dp_registry *registry, const struct dp_people_query *query,
                   struct dp_err *err);
void dp_people_close(struct dp_people *people);

/* The default ledger for runs on these people: the ledger with their budget, else the first of `own` if it exists, else the
 * first that exists, else the first of `own`. */
const struct dp_people_ledger *dp_people_default(const struct dp_people *people);

/* Whether a run may be charged in that ledger. DP_E_UNSAFE: another ledger has the population's budget, the ledger that had the
 * budget is gone, or no ledger has the runs that the registry has noted since that budget. */
int dp_people_admit(const struct dp_people *people, const struct dp_people_ledger *ledger, struct dp_err *err);

/* The same for setting a budget in that ledger: DP_E_UNSAFE only if another ledger has a budget. */
int dp_people_admit_budget(const struct dp_people *people, const struct dp_people_ledger *ledger, struct dp_err *err);

/* Whether the registry has noted no budget of these people, although that ledger has one: the registry was lost, and would not
 * miss the ledger. *line: what it should have noted. */
bool dp_people_unnoted(const struct dp_people *people, const struct dp_people_ledger *ledger, struct dp_registry_line *line);

/* The cost of runs that are not in that ledger; a run whose ledger is gone counts with the most that it could cost. `since`:
 * only runs under that adjacency that began after the newest budget of that ledger. DP_E_UNSAFE, without `since`: as
 * dp_ledger_cost_before, and if runs in several ledgers have different units of privacy. */
int dp_people_elsewhere(const struct dp_people *people, const struct dp_people_ledger *ledger, const char *adjacency,
                        bool since, struct dp_ledger_before *cost, struct dp_err *err);

/* The most that runs of lost ledgers could cost, with one unit of privacy or with any, and the newest of these ledgers (NULL:
 * none). */
enum dp_people_unit { DP_PEOPLE_ROWS, DP_PEOPLE_PERSONS, DP_PEOPLE_ANY };
const char *dp_people_lost(const struct dp_people *people, const char *adjacency, enum dp_people_unit unit,
                           struct dp_ledger_before *cost);

/* The most that runs without a ledger could cost (--no-ledger). Budgets do not count them, reports do. */
void dp_people_untracked(const struct dp_people *people, const char *adjacency, enum dp_people_unit unit,
                         struct dp_ledger_before *cost);

/* The number of runs without privacy (--non-private, --public), under any of their names: nothing bounds their cost. */
size_t dp_people_unbounded(const struct dp_people *people);

/* The number of the population's name in a book, for dp_ledger_book_root; SIZE_MAX: none. */
size_t dp_people_who(const struct dp_people *people, const struct dp_ledger_book *book);
