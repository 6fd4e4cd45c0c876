/* All ledgers of one population: those that the registry knows and those that the caller knows, read and compared. What is
 * said of "these people" is said of all of them. */
#ifndef DP_LEDGER_PEOPLE_H
#define DP_LEDGER_PEOPLE_H

#include "ledger/book.h"
#include "ledger/registry.h"

#define DP_PEOPLE_OWN 3

/* Whose ledgers are looked for, and where besides the registry. */
struct dp_people_query {
    const char *population, *data;  /* data: the digest of their data set, or NULL */
    const char *own[DP_PEOPLE_OWN]; /* ledgers that may or may not exist; the first is the one to begin with. NULL ends */
};

struct dp_people_ledger {
    char *path;       /* absolute */
    const char *name; /* as the caller calls it, or the path */
    bool there;
    struct dp_ledger_book book; /* where it is there */
};

/* Starts zeroed; close it, whatever dp_people_open returned. */
struct dp_people {
    struct dp_people_query query;
    const struct dp_registry *registry; /* NULL: there is none, or none concerns this population */
    struct dp_people_ledger *ledger;    /* the first is own[0] */
    size_t ledgers, capacity;
};

/* Reads all ledgers. registry may be NULL, and stays the caller's; so do the strings. DP_E_RUN, DP_E_UNSAFE: one of them cannot
   be read or was edited; the sentence says how to go without the registry. */
int dp_people_open(struct dp_people *people, const struct dp_registry *registry, const struct dp_people_query *query,
                   struct dp_err *err);
void dp_people_close(struct dp_people *people);

/* The ledger that runs on them are charged in unless somebody names another: the one with their budget, else the first of
   `own` if it is there, else the first that is there, else the first of `own`. */
const struct dp_people_ledger *dp_people_default(const struct dp_people *people);

/* Whether a run may be charged in that one of the ledgers. DP_E_UNSAFE: another one has a budget of the population, the one
   that had it is gone, or runs since the budget that the registry has noted are in no ledger. */
int dp_people_admit(const struct dp_people *people, const struct dp_people_ledger *ledger, struct dp_err *err);

/* The same for a budget to be set there: only a budget in another ledger is in its way. */
int dp_people_admit_budget(const struct dp_people *people, const struct dp_people_ledger *ledger, struct dp_err *err);

/* What runs have cost that are not in that ledger: of ledgers that are gone what the runs could cost at most. `since`: only runs
   under that adjacency that began after the newest budget of that ledger. DP_E_UNSAFE, without `since`: as
   dp_ledger_cost_before, and where runs in several ledgers have different units of privacy. */
int dp_people_elsewhere(const struct dp_people *people, const struct dp_people_ledger *ledger, const char *adjacency,
                        bool since, struct dp_ledger_before *cost, struct dp_err *err);

/* What runs of ledgers that are gone could cost at most, those of one unit of privacy or of any, and the newest of these ledgers
   (NULL: none). */
enum dp_people_unit { DP_PEOPLE_ROWS, DP_PEOPLE_PERSONS, DP_PEOPLE_ANY };
const char *dp_people_lost(const struct dp_people *people, const char *adjacency, enum dp_people_unit unit,
                           struct dp_ledger_before *cost);

/* Which name of a book is that of the population, for dp_ledger_book_root; SIZE_MAX: none. */
size_t dp_people_who(const struct dp_people *people, const struct dp_ledger_book *book);

#endif
