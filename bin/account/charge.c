/* dp-account charge: writes into a ledger what another tool has released about its people, by that tool's statement. */
#include <time.h>

#include "base/cli.h"
#include "base/number.h"
#include "base/round.h"
#include "base/terminal.h"
#include "base/text.h"
#include "base/unit.h"
#include "data/dataset.h"
#include "gate/once.h"
#include "wire/record.h"
#include "words.h"

struct options {
    const char *ledger, *stated, *what;
    double rho, delta;
    int adjacency;
    struct dp_registry_choice choice;
};

#define DP_OPTIONS struct options
static const struct dp_option options[] = {
    DP_OPTION_TEXT(0, what, "TEXT", "the release in words, for reports", .required = true),
    DP_OPTION_TEXT(0, stated, "E[,D]", "it states this epsilon, and a delta of D (0)", .excludes = "zcdp, delta"),
    DP_OPTION_REAL(0, rho, "RHO", DP_ABOVE(0), "it states this rho of zero-concentrated DP", .name = "zcdp", .required = true,
                   .unless = "stated"),
    DP_OPTION_REAL('d', delta, "D", DP_ABOVE_BELOW(0, 1), "the delta at which its epsilon is added to others",
                   .needed_by = "zcdp"),
    DP_OPTION_CHOICE(0, adjacency, "HOW", "null-record|replace-one", "what one person can change in the statement",
                     .required = true),
    DP_OPTION_TEXT('l', ledger, "FILE", "a ledger other than the default one of the data set"),
    DP_REGISTRY_OPTIONS(choice),
    {.name = NULL},
};

/* "0.5" or "0.5,1e-6" */
static int read_stated(const char *text, double *epsilon, double *delta, struct dp_err *err)
{
    char first[64];
    const char *comma = strchr(text, ',');
    size_t length = comma != NULL ? (size_t)(comma - text) : strlen(text);
    snprintf(first, sizeof first, "%.*s", (int)(length < sizeof first ? length : 0), text);
    *delta = 0;
    bool good = length < sizeof first && dp_number_real(first, epsilon) && *epsilon > 0 &&
                (comma == NULL || dp_number_real(comma + 1, delta));
    return good && *delta >= 0 && *delta < 1
               ? DP_OK
               : dp_fail(err, DP_E_USAGE,
                         "--stated: needs an epsilon above 0, and a delta from 0 to below 1 after a comma, got "
                         "'%.60s'",
                         text);
}

/* The release, and what it costs at *delta. */
static int read_release(const struct options *o, struct dp_ledger_statement *s, double *epsilon, double *delta,
                        struct dp_err *err)
{
    char shown[201];
    s->what = o->what;
    if (o->what[0] == '\0' || strlen(o->what) > 200)
        return dp_fail(err, DP_E_USAGE, "--what: needs 1 to 200 bytes");
    dp_text_escape(o->what, strlen(o->what), shown, sizeof shown);
    if (strcmp(shown, o->what) != 0)
        return dp_fail(err, DP_E_USAGE, "--what: needs a text in UTF-8 without control characters");
    if (o->stated != NULL) {
        int rc = read_stated(o->stated, epsilon, delta, err);
        s->release =
            (struct dp_query){.kind = *delta > 0 ? DP_QUERY_STATED : DP_QUERY_PURE, .epsilon = *epsilon, .delta = *delta};
        s->by = DP_ACCOUNTANT_PURE;
        return rc;
    }
    s->release = (struct dp_query){.kind = DP_QUERY_ZCDP, .rho = o->rho};
    struct dp_charge charge = {{.sampling = DP_SAMPLING_NONE, .rate = 1, .queries = 1, .query = {s->release}}, 1};
    const struct dp_charges charges = {.count = 1, .charge = &charge};
    struct dp_answer answer;
    int rc = dp_account_epsilon(DP_ACCOUNTANT_BEST, &charges, o->delta, &answer, err);
    if (rc == DP_OK && !(isfinite(answer.upper) && answer.upper > 0))
        return dp_fail(err, DP_E_RUN, "--zcdp: rho = %g has no finite epsilon above 0 at delta = %g", o->rho, o->delta);
    *epsilon = answer.upper;
    *delta = o->delta;
    s->by = answer.by;
    return rc;
}

static void print(const struct dp_dataset *d, const struct options *o, double epsilon, double delta)
{
    char unit[DP_UNIT_TEXT];
    printf("%s: epsilon %s at delta %s under %s adjacency, about %s: as stated by \"%s\", not shown by this program\n",
           d->population, DP_NUMBER(dp_round_up(epsilon, 6)), DP_NUMBER(delta),
           dp_adjacency_names[dp_adjacency_chosen(o->adjacency)],
           dp_unit_text(d->rows_per_person, unit) != NULL ? "all rows of a person" : "one row", o->what);
}

static int charge_to(const struct options *o, const char *directory, struct dp_err *err)
{
    char unit[DP_UNIT_TEXT], warning[DP_ERR_MESSAGE_SIZE] = "", over[DP_ERR_MESSAGE_SIZE] = "";
    struct dp_dataset *d = NULL;
    struct dp_ledger_statement statement = {0};
    double epsilon = 0, delta = 0;
    int rc = read_release(o, &statement, &epsilon, &delta, err);
    rc = rc ?: dp_dataset_open(&d, directory, err);
    if (rc != DP_OK)
        return rc;
    const struct dp_ledger_run run = {.data = d->digest,
                                      .population = d->population,
                                      .unit = dp_unit_text(d->rows_per_person, unit),
                                      .rows = (int64_t)d->persons,
                                      .adjacency = dp_adjacency_names[dp_adjacency_chosen(o->adjacency)],
                                      .epsilon = epsilon,
                                      .delta = delta,
                                      .time = (int64_t)time(NULL)};
    const struct dp_where_query query = {
        .ledger = o->ledger, .directory = directory, .registry = dp_registry_chosen(&o->choice, dp_registry_default())};
    rc = dp_once_state(&query, &run, &statement, warning, over, err);
    if (rc == DP_OK)
        print(d, o, epsilon, delta);
    if (rc == DP_OK && warning[0] != '\0')
        dp_cli_warn("dp-account charge", warning);
    if (rc == DP_OK && over[0] != '\0')
        dp_cli_warn("dp-account charge", over);
    dp_dataset_close(d);
    return rc;
}

static int run_charge(const struct word *word, int argc, char **argv)
{
    struct options o;
    struct dp_err err = {0};
    int first, status;
    if (!dp_cli_start(&word->command, &o, NULL, argc, argv, &first, &status))
        return status;
    dp_terminal_people();
    int rc = first + 1 == argc ? charge_to(&o, argv[first], &err)
             : first == argc   ? dp_fail(&err, DP_E_USAGE, "which data set?")
                               : dp_fail(&err, DP_E_USAGE, "unexpected argument '%.80s'", argv[first + 1]);
    return dp_cli_finish(word->command.name, rc, &err);
}

const struct word word_charge = {
    .command = {"dp-account charge", "DIR", "Count a release of another tool, by its statement", options, NULL},
    .run = run_charge};
