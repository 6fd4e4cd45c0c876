/* dp-account budget|report|verify|certify: ledgers and what can be shown with them. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/json.h"
#include "data/dataset.h"
#include "port/model.h"
#include "priv/certificate.h"
#include "priv/filter.h"
#include "priv/report.h"
#include "stages/reserve.h"
#include "wire/model.h"
#include "words.h"

struct books {
    const char *data, *ledger, *model, *certificate;
    double epsilon, delta, order;
    int adjacency;
    bool json;
};

#define OFFSET(member) offsetof(struct books, member)
#define JSON                                                                                                       \
    {                                                                                                              \
        .name = "json", .letter = 'j', .kind = DP_OPT_FLAG, .offset = OFFSET(json), .help = "the answer as JSON"   \
    }
#define DATA(help_, more)                                                                                          \
    {                                                                                                              \
        .name = "data", .letter = 'D', .kind = DP_OPT_TEXT, .offset = OFFSET(data), .metavar = "DIR", .help = help_, \
        .flags = more                                                                                              \
    }

static const struct dp_option budget_options[] = {
    DATA("the data set, or its digest", DP_OPT_REQUIRED),
    {.name = "epsilon", .letter = 'e', .kind = DP_OPT_REAL, .offset = OFFSET(epsilon), .metavar = "E",
     .help = "for all runs on the data set together", .min = 0, .max = INFINITY, .flags = DP_OPT_OPEN_MIN | DP_OPT_REQUIRED},
    {.name = "delta", .letter = 'd', .kind = DP_OPT_REAL, .offset = OFFSET(delta), .metavar = "D",
     .help = "probability that epsilon may fail to bound", .min = 0, .max = 1,
     .flags = DP_OPT_OPEN_MIN | DP_OPT_OPEN_MAX | DP_OPT_REQUIRED},
    {.name = "order", .kind = DP_OPT_REAL, .offset = OFFSET(order), .metavar = "A",
     .help = "the Renyi order of the filter; without it the one that has most room for Gaussian noise", .min = 1, .max = 8192,
     .flags = DP_OPT_OPEN_MIN},
    {.name = "adjacency", .kind = DP_OPT_CHOICE, .offset = OFFSET(adjacency), .metavar = "HOW",
     .help = "what one person can change", .fallback = "null-record", .choices = "null-record|replace-one"},
    {.name = NULL},
};
static const struct dp_option report_options[] = {
    DATA("only this data set, or its digest", 0),
    {.name = "delta", .letter = 'd', .kind = DP_OPT_REAL, .offset = OFFSET(delta), .metavar = "D",
     .help = "the delta of the totals; without it the largest of the runs", .min = 0, .max = 1,
     .flags = DP_OPT_OPEN_MIN | DP_OPT_OPEN_MAX},
    JSON,
    {.name = NULL},
};
static const struct dp_option verify_options[] = {
    {.name = "certificate", .letter = 'c', .kind = DP_OPT_TEXT, .offset = OFFSET(certificate), .metavar = "FILE",
     .help = "check this certificate against the ledger, too"},
    {.name = "model", .letter = 'm', .kind = DP_OPT_TEXT, .offset = OFFSET(model), .metavar = "FILE",
     .help = "and that it is this model's"},
    JSON,
    {.name = NULL},
};
static const struct dp_option certify_options[] = {
    {.name = "ledger", .letter = 'l', .kind = DP_OPT_TEXT, .offset = OFFSET(ledger), .metavar = "FILE",
     .help = "the ledger of the run", .flags = DP_OPT_REQUIRED},
    {.name = "model", .letter = 'm', .kind = DP_OPT_TEXT, .offset = OFFSET(model), .metavar = "FILE",
     .help = "the model that the run released", .flags = DP_OPT_REQUIRED},
    {.name = NULL},
};

/* A data set by its directory, or a digest as it stands. */
static int digest_of(const char *data, char digest[64], struct dp_err *err)
{
    struct dp_dataset *set;
    if (strlen(data) == 32 && strspn(data, "0123456789abcdef") == 32) {
        snprintf(digest, 64, "%s", data);
        return DP_OK;
    }
    int rc = dp_dataset_open(&set, data, err);
    if (rc == DP_OK)
        snprintf(digest, 64, "%s", set->digest);
    if (rc == DP_OK)
        dp_dataset_close(set);
    return rc;
}

static int budget(struct books *b, struct dp_err *err)
{
    char digest[64];
    int rc = digest_of(b->data, digest, err);
    if (rc != DP_OK)
        return rc;
    double order = isnan(b->order) ? dp_filter_order(b->epsilon, b->delta) : b->order;
    if (isnan(order))
        return dp_fail(err, DP_E_RUN, "no Renyi order has any room for epsilon %g at delta %g", b->epsilon, b->delta);
    struct dp_ledger_budget line = {.population = digest, .data = digest, .adjacency = b->adjacency == 0 ? "null-record" : "replace-one",
                                    .epsilon = b->epsilon, .delta = b->delta, .order = {{order, 1}}, .orders = 1};
    return dp_ledger_set_budget(b->ledger, &line, &dp_reserve_hooks, err);
}

static int report(struct books *b, struct dp_err *err)
{
    char digest[64];
    json_t *json;
    int rc = b->data != NULL ? digest_of(b->data, digest, err) : DP_OK;
    if (rc == DP_OK)
        rc = dp_ledger_report(b->ledger, b->data != NULL ? digest : NULL, b->delta, &dp_reserve_hooks, &json, err);
    if (rc != DP_OK)
        return rc;
    if (b->json)
        rc = dp_json_print(json, 2, stdout, err);
    else
        dp_ledger_report_print(json, stdout);
    json_decref(json);
    return rc;
}

/* The released model in a file, its digest and the ledger's mark. */
static int read_model(const char *path, struct dp_frame **frame, char digest[DP_MODEL_DIGEST], struct dp_err *err)
{
    int rc = dp_frame_new(frame, err);
    if (rc == DP_OK)
        rc = dp_model_read(*frame, path, err);
    return rc == DP_OK ? dp_model_digest(*frame, digest, err) : rc;
}

static int verify_certificate(const struct books *b, struct dp_err *err)
{
    char digest[DP_MODEL_DIGEST];
    struct dp_frame *frame = NULL;
    json_error_t error;
    json_t *json = json_load_file(b->certificate, JSON_REJECT_DUPLICATES, &error);
    if (json == NULL)
        return dp_fail(err, DP_E_RUN, "%s: %.200s", b->certificate, error.text);
    int rc = b->model != NULL ? read_model(b->model, &frame, digest, err) : DP_OK;
    if (rc == DP_OK)
        rc = dp_certificate_verify(json, b->ledger, b->model != NULL ? digest : NULL, &dp_reserve_hooks, err);
    dp_frame_free(frame);
    json_decref(json);
    return rc;
}

static int verify(struct books *b, struct dp_err *err)
{
    json_t *result;
    if (b->model != NULL && b->certificate == NULL)
        return dp_fail(err, DP_E_USAGE, "--model goes with --certificate");
    int rc = dp_ledger_verify(b->ledger, &dp_reserve_hooks, &result, err);
    if (rc != DP_OK)
        return rc;
    if (b->json)
        rc = dp_json_print(result, 2, stdout, err);
    else
        dp_ledger_verify_print(result, stdout);
    size_t findings = json_array_size(json_object_get(result, "findings"));
    bool edited = json_is_true(json_object_get(result, "edited"));
    if (rc == DP_OK && findings > 0)
        rc = dp_fail(err, edited ? DP_E_UNSAFE : DP_E_RUN, "%s does not hold: %zu finding%s", b->ledger, findings, findings == 1 ? "" : "s");
    if (rc == DP_OK && b->certificate != NULL)
        rc = verify_certificate(b, err);
    if (rc == DP_OK && b->certificate != NULL && !b->json)
        puts("the certificate holds");
    json_decref(result);
    return rc;
}

static int certify(struct books *b, struct dp_err *err)
{
    char digest[DP_MODEL_DIGEST];
    struct dp_frame *frame = NULL;
    json_t *json;
    int rc = read_model(b->model, &frame, digest, err);
    if (rc == DP_OK && dp_frame_bool(frame, DP_F_NON_PRIVATE))
        rc = dp_fail(err, DP_E_UNSAFE, "%s: the model comes from a run without privacy", b->model);
    if (rc == DP_OK && !dp_frame_has(frame, DP_F_LEDGER))
        rc = dp_fail(err, DP_E_RUN, "%s: no ledger has paid for this model", b->model);
    if (rc == DP_OK) {
        struct dp_certified what = {dp_frame_text(frame, DP_F_LEDGER, ""), frame->lap, digest};
        rc = dp_certificate_make(b->ledger, &what, &dp_reserve_hooks, &json, err);
    }
    if (rc == DP_OK) {
        rc = dp_json_print(json, 2, stdout, err);
        json_decref(json);
    }
    dp_frame_free(frame);
    return rc;
}

static int run(const struct dp_command *command, int (*word)(struct books *b, struct dp_err *err), bool operand, int argc,
               char **argv)
{
    struct books b = {.epsilon = NAN, .delta = NAN, .order = NAN};
    struct dp_err err = {0};
    int first, status;
    if (!dp_cli_start(command, &b, NULL, argc, argv, &first, &status))
        return status;
    int rc = DP_OK;
    if (operand && first < argc)
        b.ledger = argv[first++];
    else if (operand)
        rc = dp_fail(&err, DP_E_USAGE, "which ledger? (try --help)");
    if (rc == DP_OK && first < argc)
        rc = dp_fail(&err, DP_E_USAGE, "unexpected argument '%.80s'", argv[first]);
    if (rc == DP_OK)
        rc = word(&b, &err);
    return dp_cli_finish(command->name, rc, &err);
}

const struct dp_command command_budget = {"dp-account budget", "LEDGER", "Limit what all runs on a data set may spend together",
    budget_options, NULL};

int word_budget(int argc, char **argv)
{
    return run(&command_budget, budget, true, argc, argv);
}

const struct dp_command command_report = {"dp-account report", "LEDGER", "Say what has been spent on data sets", report_options,
    NULL};

int word_report(int argc, char **argv)
{
    return run(&command_report, report, true, argc, argv);
}

const struct dp_command command_verify = {"dp-account verify", "LEDGER", "Check a ledger, and a certificate against it",
    verify_options, NULL};

int word_verify(int argc, char **argv)
{
    return run(&command_verify, verify, true, argc, argv);
}

const struct dp_command command_certify = {"dp-account certify", "", "State what a released model has cost, as JSON",
    certify_options, NULL};

int word_certify(int argc, char **argv)
{
    return run(&command_certify, certify, false, argc, argv);
}
