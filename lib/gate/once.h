/* Pays for one release outside a run of laps: its whole charge is in the ledger of the rows before anything is drawn. */
#pragma once

#include "account/account.h"
#include "gate/where.h"

/* Finds the ledger, opens it for the run, and reserves all charges; *ledger is then the caller's. warning: why there is no
 * registry, or "". DP_E_BUDGET: the budget of the rows does not pay for the release; nothing is charged. Other errors as
 * dp_where_open and dp_ledger_open. */
int dp_once_open(struct dp_ledger **ledger, const struct dp_where_query *query, const struct dp_ledger_run *run,
                 const struct dp_charges *charges, char warning[DP_ERR_MESSAGE_SIZE], struct dp_err *err);

/* Finds the ledger and writes there what another tool has released, by its own statement. warning as above; over: as
 * dp_ledger_state. Errors as dp_where_open and dp_ledger_state. */
int dp_once_state(const struct dp_where_query *query, const struct dp_ledger_run *run,
                  const struct dp_ledger_statement *statement, char warning[DP_ERR_MESSAGE_SIZE],
                  char over[DP_ERR_MESSAGE_SIZE], struct dp_err *err);

/* Closes and frees the ledger after the release, which has cost `cost` at that delta. model: the digest and lap of a released
 * model, or NULL. Does nothing if *ledger is NULL. */
int dp_once_close(struct dp_ledger **ledger, const struct dp_charges *charges, const struct dp_answer *cost, double delta,
                  const char *status, const char *model, int64_t lap, struct dp_err *err);
