#include "gate/once.h"

int dp_once_close(struct dp_ledger **ledger, const struct dp_charges *charges, const struct dp_answer *cost, double delta,
                  const char *status, const char *model, int64_t lap, struct dp_err *err)
{
    struct dp_ledger_end end = {.used = charges,
                                .epsilon = cost->upper,
                                .delta = delta,
                                .accountant = dp_accountant_names[cost->by],
                                .status = status,
                                .model = model,
                                .model_lap = lap};
    if (*ledger == NULL)
        return DP_OK;
    int rc = dp_ledger_close(*ledger, &end, err);
    dp_ledger_free(*ledger);
    *ledger = NULL;
    return rc;
}

int dp_once_open(struct dp_ledger **ledger, const struct dp_where_query *query, const struct dp_ledger_run *run,
                 const struct dp_charges *charges, char warning[DP_ERR_MESSAGE_SIZE], struct dp_err *err)
{
    struct dp_ledger_run whole = *run;
    struct dp_where where = {0};
    whole.charges = charges;
    int rc = dp_where_open(&where, query, run, warning, err);
    rc = rc ?: dp_ledger_open(ledger, where.ledger->name, &whole, err);
    rc = rc ?: dp_where_note(&where, run, dp_ledger_run_id(*ledger), err);
    dp_where_close(&where);
    return rc;
}

int dp_once_state(const struct dp_where_query *query, const struct dp_ledger_run *run,
                  const struct dp_ledger_statement *statement, char warning[DP_ERR_MESSAGE_SIZE],
                  char over[DP_ERR_MESSAGE_SIZE], struct dp_err *err)
{
    struct dp_ledger *ledger = NULL;
    struct dp_where where = {0};
    int rc = dp_where_open(&where, query, run, warning, err);
    rc = rc ?: dp_ledger_state(&ledger, where.ledger->name, run, statement, over, err);
    rc = rc ?: dp_where_note(&where, run, dp_ledger_run_id(ledger), err);
    dp_ledger_free(ledger);
    dp_where_close(&where);
    return rc;
}
