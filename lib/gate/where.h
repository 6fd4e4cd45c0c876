/* Finds the ledger in which a run is charged: the ledger with the other runs on the same people, as the registry knows. */
#pragma once

#include "ledger/ledger.h"
#include "ledger/people.h"
#include "ledger/registry.h"

struct dp_where_query {
    const char *ledger;     /* --ledger; NULL: the ledger of the data set */
    const char *directory;  /* directory of the data set; NULL: unknown, and --ledger is given */
    const char *new_ledger; /* without a directory: the path of the first ledger, if the population has no ledger; or NULL */
    const char *also;       /* the directory of another data set of the same population, or NULL */
    struct dp_registry_place registry;
};

/* Starts zeroed; close it, whatever dp_where_open returned. Until then the registry is locked, and no other process of this
   user can begin a run or set a budget. */
struct dp_where {
    struct dp_registry *registry; /* NULL: no registry for this run */
    struct dp_people people;
    const struct dp_people_ledger *ledger;
    char *own[DP_PEOPLE_OWN];
};

/* Finds the ledger. warning: why there is no registry, or "". DP_E_UNSAFE: another ledger has the budget of the population, the
   ledger with its budget is gone, or the registry is open to others or was edited. DP_E_RUN: the registry cannot be read or
   written. */
int dp_where_open(struct dp_where *where, const struct dp_where_query *query, const struct dp_ledger_run *run,
                  char warning[DP_ERR_MESSAGE_SIZE], struct dp_err *err);

/* Writes into the registry that the run has begun in the ledger; call it before the run pays for anything. */
int dp_where_note(struct dp_where *where, const struct dp_ledger_run *run, const char *name, struct dp_err *err);

/* Whether a run that another command has paid for may start from its model. Run: population, data, init_model, exact_of. Errors
 * as dp_where_open. */
int dp_where_check_start(const struct dp_registry_place *place, const struct dp_ledger_run *run, struct dp_err *err);

/* Writes a run that no ledger has into the registry, if there is one: statements about all runs on these people name it. Only
 * with DP_REGISTRY_NO_LEDGER the run has a bound, epsilon and delta. DP_E_UNSAFE: as dp_where_open; and of a public run, if the
 * registry knows private runs or a budget of the population, because its rows are not public then. Other errors as
 * dp_registry_open. */
int dp_where_note_outside(const struct dp_registry_place *place, const struct dp_ledger_run *run, enum dp_registry_gate gate,
                          struct dp_err *err);

void dp_where_close(struct dp_where *where);
