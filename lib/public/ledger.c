#include <dpline/ledger.h>

#include "base/init.h"
#include "base/json.h"
#include "base/mem.h"
#include "convert.h"
#include "account/account.h"
#include "ledger/ledger.h"
#include "ledger/report.h"

struct dpline_ledger {
    struct dp_ledger *ledger;
    double epsilon, delta;
    struct dp_charges paid;
};

static int check_run(const struct dpline_run *run, struct dp_err *err)
{
    for (size_t i = 0; i < sizeof run->unused / sizeof run->unused[0]; i++)
        if (run->unused[i] != NULL)
            return dp_fail(err, DP_E_USAGE, "a run with a member that this version does not know");
    if (run->data == NULL || run->data[0] == '\0' || run->rows < 1)
        return dp_fail(err, DP_E_USAGE, "a run needs the name of its data and their number of rows");
    if (!(run->epsilon > 0) || !(run->delta > 0 && run->delta < 1))
        return dp_fail(err, DP_E_USAGE, "a run needs an epsilon above 0 and a delta between 0 and 1");
    return DP_OK;
}

int dpline_ledger_open(struct dpline_ledger **ledger, const char *path, const struct dpline_run *run,
                       struct dpline_error *error)
{
    struct dp_err err = {0};
    struct dpline_ledger *l = NULL;
    dp_init();
    int rc = check_run(run, &err);
    if (rc == DP_OK)
        l = dp_new(1, sizeof *l);
    if (rc != DP_OK)
        return dp_public_result(error, rc, &err);
    const struct dp_ledger_run inside = {.data = run->data,
                                         .population = run->population,
                                         .rows = run->rows,
                                         .adjacency = run->replace_one ? "replace-one" : "null-record",
                                         .epsilon = run->epsilon,
                                         .delta = run->delta,
                                         .preprocessing = run->preprocessing,
                                         .time = run->time};
    l->epsilon = run->epsilon;
    l->delta = run->delta;
    rc = dp_ledger_open(&l->ledger, path, &inside, &err);
    if (rc != DP_OK)
        free(l);
    else
        *ledger = l;
    return dp_public_result(error, rc, &err);
}

/* The charges paid for and this one must not cost more than the run's own budget. */
static int check_budget(const struct dpline_ledger *l, const struct dp_event *event, int64_t laps, struct dp_err *err)
{
    struct dp_charges all = {0};
    struct dp_answer answer = {0};
    int rc = dp_charges_add_all(&all, dp_charges_continue, &l->paid, err);
    rc = rc ?: dp_charges_continue(&all, event, laps, err);
    rc = rc ?: dp_account_epsilon(DP_ACCOUNTANT_BEST, &all, l->delta, &answer, err);
    if (rc == DP_OK && !(answer.upper <= l->epsilon))
        rc = dp_fail(err, DP_E_BUDGET, "with these laps the run costs epsilon %g, and its budget is %g", answer.upper,
                     l->epsilon);
    dp_charges_free(&all);
    return rc;
}

int dpline_ledger_reserve(struct dpline_ledger *ledger, const struct dpline_charge *charge, struct dpline_error *error)
{
    struct dp_err err = {0};
    struct dp_event event;
    int64_t laps;
    int rc = dp_public_event(&event, &laps, charge, &err);
    rc = rc ?: check_budget(ledger, &event, laps, &err);
    if (rc == DP_OK && laps > 0)
        rc = dp_ledger_reserve(ledger->ledger, &event, laps, &err);
    if (rc == DP_OK && laps > 0)
        rc = dp_charges_continue(&ledger->paid, &event, laps, &err);
    return dp_public_result(error, rc, &err);
}

const char *dpline_ledger_mark(const struct dpline_ledger *ledger)
{
    return dp_ledger_mark(ledger->ledger);
}

int dpline_ledger_close(struct dpline_ledger *ledger, const struct dpline_account *used, struct dpline_error *error)
{
    struct dp_err err = {0};
    struct dp_answer answer = {0};
    struct dp_charges laps = {0}; /* of one run, for any account */
    const struct dp_charges *said = used != NULL ? &used->charges : &ledger->paid;
    int rc = dp_charges_add_all(&laps, dp_charges_continue, said, &err);
    rc = rc ?: dp_account_epsilon(DP_ACCOUNTANT_BEST, &laps, ledger->delta, &answer, &err);
    rc = rc
             ?: dp_ledger_close(ledger->ledger,
                                &(struct dp_ledger_end){.used = &laps,
                                                        .epsilon = answer.upper,
                                                        .delta = ledger->delta,
                                                        .accountant = dp_accountant_names[answer.by],
                                                        .status = "done"},
                                &err);
    dp_charges_free(&laps);
    dpline_ledger_free(ledger);
    return dp_public_result(error, rc, &err);
}

void dpline_ledger_free(struct dpline_ledger *ledger)
{
    if (ledger == NULL)
        return;
    dp_ledger_free(ledger->ledger);
    dp_charges_free(&ledger->paid);
    free(ledger);
}

int dpline_ledger_report(const char *path, const char *population, double delta, char **json, struct dpline_error *error)
{
    struct dp_err err = {0};
    json_t *report = NULL;
    dp_init();
    int rc = dp_ledger_report(path, population, delta != 0 ? delta : (double)NAN, &report, &err);
    if (rc == DP_OK)
        *json = dp_json_text(report, JSON_INDENT(2));
    json_decref(report);
    return dp_public_result(error, rc, &err);
}

int dpline_ledger_check(const char *path, const char *mark, struct dpline_error *error)
{
    struct dp_err err = {0};
    dp_init();
    return dp_public_result(error, dp_ledger_check_mark(path, mark, &err), &err);
}
