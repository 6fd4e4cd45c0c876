/* dp-account budget|verify|certify: ledgers, and statements from them. */
#include "books.h"

#include "account/calibrate.h"
#include "base/cli.h"
#include "base/json.h"
#include "base/round.h"
#include "base/sync.h"
#include "base/terminal.h"
#include "base/text.h"
#include "data/dataset.h"
#include "deployment.h"

#include "ledger/certificate.h"
#include "ledger/orders.h"
#include "ledger/report.h"
#include "port/model.h"
#include "words.h"

static const struct dp_option budget_options[] = {
    DATA("the data set, or its digest"),
    Q_EPSILON(.required = true),
    DP_OPTION_REAL('d', q.delta, "D", DP_ABOVE_BELOW(0, 1), "probability that epsilon may fail to bound", .required = true),
    DP_OPTION_REAL(0, order, "A", DP_ABOVE_TO(1, 8192),
                   "one Renyi order for the filter; without it several, picked for the planned runs"),
    DP_OPTION_FLAG(0, addition, "no filter: the epsilons and deltas of the runs may add up to at most the budget",
                   .excludes = "order"),
    DP_OPTION_FLAG(0, after_runs, "begin with the cost of the existing runs"),
    DP_OPTION_REAL(0, run_epsilon, "E", DP_ABOVE(0), "planned: runs calibrated to this epsilon", .excludes = "multiplier"),
    Q_MULTIPLIER,
    Q_RATE,
    Q_LAPS,
    Q_SAMPLER,
    Q_SCHEDULE,
    Q_COUNT,
    Q_REST,
    JSON,
    DP_REGISTRY_OPTIONS(choice),
    {.name = NULL},
};
static const struct dp_option verify_options[] = {
    DP_OPTION_TEXT('c', certificate, "FILE", "check this certificate against the ledger, too"),
    DP_OPTION_TEXT('m', model, "FILE", "check that it is for this model", .needs = "certificate"),
    JSON,
    DP_REGISTRY_OPTIONS(choice),
    {.name = NULL},
};
static const struct dp_option certify_options[] = {
    DP_OPTION_TEXT('l', ledger, "FILE", "the ledger of the run, or the directory of a data set with the ledger"),
    DATA("the data set of the run, whose own ledger it is in"),
    DP_OPTION_TEXT('m', model, "FILE", "the model that the run released", .required = true),
    DP_OPTION_FLAG(0, deployment, "an entry for a public registry of deployments instead"),
    DP_REGISTRY_OPTIONS(choice),
    {.name = NULL},
};

static int name_own(struct books *b, const char *directory, struct dp_err *err)
{
    if ((size_t)snprintf(b->own, sizeof b->own, "%s/ledger", directory) >= sizeof b->own)
        return dp_fail(err, DP_E_USAGE, "the name of the directory %.80s is too long", directory);
    b->ledger = b->own;
    return DP_OK;
}

int books_find_ledger(struct books *b, const char *what, struct dp_err *err)
{
    const char *directory = b->ledger != NULL ? b->ledger : b->data;
    if (directory != NULL && dp_is_directory(directory))
        return name_own(b, directory, err);
    return b->ledger != NULL ? DP_OK : dp_fail(err, DP_E_USAGE, "which ledger? (%s)", what);
}

/* The people of a data set. */
static int look_into(struct books *b, const char *directory, struct dp_err *err)
{
    struct dp_dataset *set;
    int rc = dp_dataset_open(&set, directory, err);
    if (rc != DP_OK)
        return rc;
    snprintf(b->digest, sizeof b->digest, "%s", set->digest);
    snprintf(b->population, sizeof b->population, "%s", set->population);
    dp_dataset_close(set);
    return DP_OK;
}

int books_find_population(struct books *b, bool name, struct dp_err *err)
{
    bool digest = dp_text_is_hex(b->data, 32);
    if (digest || (name && !dp_is_directory(b->data))) {
        snprintf(b->digest, sizeof b->digest, "%s", digest ? b->data : "");
        snprintf(b->population, sizeof b->population, "%s", b->data);
        return DP_OK;
    }
    return look_into(b, b->data, err);
}

/* Opens the registry, if there is one. write: it will be written. */
static int open_registry(struct books *b, bool write, struct dp_err *err)
{
    const struct dp_registry_place place = dp_registry_chosen(&b->choice, dp_registry_default());
    struct dp_err why = {0};
    int rc = dp_registry_open(&b->registry, &place, write, &why);
    if (rc == DP_REGISTRY_NONE && write && why.message[0] != '\0')
        dp_cli_warn("dp-account budget", why.message);
    return rc == DP_OK || rc == DP_REGISTRY_NONE ? DP_OK : dp_fail(err, (enum dp_status)rc, "%s", why.message);
}

int books_find_people(struct books *b, const char *operand, bool write, struct dp_err *err)
{
    struct dp_people_query query = {.population = b->population, .data = b->digest[0] != '\0' ? b->digest : NULL};
    if (b->data == NULL && operand != NULL && dp_is_directory(operand))
        look_into(b, operand, NULL); /* which may have only a ledger */
    query.own[0] = b->ledger;
    if (!b->choice.none && b->ledger != b->own && b->data != NULL && dp_is_directory(b->data)) {
        snprintf(b->own, sizeof b->own, "%.4000s/ledger", b->data);
        query.own[1] = b->own;
    }
    if (!dp_registry_concerns(b->population, query.data))
        return write ? dp_people_open(&b->people, NULL, &query, err) : DP_OK;
    int rc = open_registry(b, write, err);
    rc = rc ?: dp_people_open(&b->people, b->registry, &query, err);
    if (rc == DP_OK && b->ledger == b->own)
        b->ledger = dp_people_default(&b->people)->name;
    return rc;
}

int books_find_run(struct books *b, const struct dp_frame *model, struct dp_err *err)
{
    struct dp_ledger_place mark;
    const char *digest = dp_frame_text(model, DP_F_DATA, "");
    snprintf(b->digest, sizeof b->digest, "%s", digest);
    snprintf(b->population, sizeof b->population, "%s", dp_frame_text(model, DP_F_POPULATION, digest));
    int rc = b->data != NULL ? name_own(b, b->data, err) : DP_OK;
    struct dp_people_query query = {.population = b->population, .data = b->digest, .own = {b->ledger}};
    b->ledger = NULL;
    if (!dp_frame_has(model, DP_F_LEDGER))
        return rc;
    rc = rc ?: dp_ledger_place_read(dp_frame_text(model, DP_F_LEDGER, ""), &mark, err);
    if (rc == DP_OK && dp_registry_concerns(b->population, b->digest))
        rc = open_registry(b, false, err);
    rc = rc ?: dp_people_open(&b->people, b->registry, &query, err);
    for (size_t i = 0; rc == DP_OK && b->ledger == NULL && i < b->people.ledgers; i++)
        if (b->people.ledger[i].there && dp_ledger_book_opened(&b->people.ledger[i].book, mark.run))
            b->ledger = b->people.ledger[i].name;
    return rc;
}

static const struct dp_people_ledger *found(const struct books *b)
{
    size_t i = 0;
    while (strcmp(b->people.ledger[i].name, b->ledger) != 0)
        i++;
    return &b->people.ledger[i];
}

/* Sets the budget, under the registry's lock. again: the line replaces a budget that began with the same cost, which the
 * registry has noted already. */
static int set_budget(struct books *b, struct dp_ledger_budget *line, bool again, struct dp_err *err)
{
    const struct dp_registry_line note = {.kind = DP_REGISTRY_BUDGET,
                                          .population = line->population,
                                          .ledger = found(b)->path,
                                          .adjacency = line->adjacency,
                                          .epsilon = line->epsilon,
                                          .delta = line->delta};
    int rc = dp_ledger_set_budget(b->ledger, line, err);
    return rc == DP_OK && b->registry != NULL && !again ? dp_registry_add(b->registry, &note, 1, err) : rc;
}

static bool is_planned(const struct books *b)
{
    return !isnan(b->run_epsilon) || !isnan(b->q.multiplier) || b->q.laps != DP_OPT_ABSENT_INT;
}

static int plan_run(struct books *b, struct dp_charges *run, struct dp_err *err)
{
    struct question *q = &b->q;
    bool calibrated = !isnan(b->run_epsilon);
    double factor;
    if (calibrated && q->laps == DP_OPT_ABSENT_INT)
        q->laps = 1;
    int rc = question_charges(q, calibrated ? UNKNOWN_SIGMA : UNKNOWN_CURVE, NULL, err);
    if (rc != DP_OK)
        return rc;
    if (!calibrated) {
        *run = q->charges;
        q->charges = (struct dp_charges){0};
        return DP_OK;
    }
    rc = dp_calibrate_noise((enum dp_accountant)q->accountant, &q->charges, b->run_epsilon, q->delta, &factor, err);
    return rc ?: dp_charges_stretch(&q->charges, factor, run, err);
}

/* How a budget is counted, in words. */
static void print_ways(const struct dp_ledger_budget *line)
{
    printf("what runs spend is counted by ");
    if (line->orders > 0)
        printf("a filter at the order%s", line->orders == 1 ? "" : "s");
    for (size_t i = 0; i < line->orders; i++)
        printf("%s %g", i == 0 ? "" : i + 1 == line->orders ? " or" : ",", line->order[i].order);
    puts(line->orders > 0 ? ", or by adding up the runs, whichever is less" : "adding up the runs");
}

/* How many planned runs fit into a budget. adds: only one fits, the first, which chooses addition. */
struct fit {
    bool planned, adds;
    int64_t runs;
};

static void print_budget(const struct books *b, const struct dp_ledger_budget *line, const struct dp_ledger_before *before,
                         const struct fit *fit)
{
    if (!b->q.json) {
        printf("%s: epsilon %g at delta %g for all runs together\n", line->population, line->epsilon, line->delta);
        print_ways(line);
        if (before->runs > 0)
            printf("%zu run%s had cost epsilon %.6g and delta %g of it\n", before->runs, before->runs == 1 ? "" : "s",
                   dp_round_up(before->epsilon, 6), before->delta);
        if (fit->planned)
            printf("%lld such run%s fit%s%s\n", (long long)fit->runs, fit->runs == 1 ? "" : "s", fit->runs == 1 ? "s" : "",
                   fit->adds ? ", as the first: no budget is left for another run" : "");
        return;
    }
    json_t *orders = json_array();
    for (size_t i = 0; i < line->orders; i++)
        json_array_append_new(orders, json_pack("{s:f, s:f}", "order", line->order[i].order, "delta",
                                                line->order[i].delta * (line->delta - before->delta)));
    json_t *json = json_pack("{s:s, s:f, s:f, s:o, s:o*}", "population", line->population, "epsilon", line->epsilon, "delta",
                             line->delta, "orders", orders, "runs_fit", fit->planned ? json_integer(fit->runs) : NULL);
    dp_json_print(json, 2, stdout);
    json_decref(json);
}

/* Chooses the orders of the filter: none if they would have no room, or if the user wants none. */
static int pick(struct books *b, struct dp_ledger_budget *line, const struct dp_ledger_before *before,
                const struct dp_charges *runs, struct fit *fit, struct dp_err *err)
{
    struct dp_err none = {0};
    line->orders = 0;
    if (b->addition)
        return DP_OK;
    if (!isnan(b->order)) {
        line->order[0] = (struct dp_ledger_order){b->order, 1};
        line->orders = 1;
        return dp_ledger_orders_fit(line, before, runs, &fit->runs, err);
    }
    if (dp_ledger_orders_pick(line, before, runs, &fit->runs, &none) != DP_OK)
        line->orders = 0;
    return DP_OK;
}

/* By addition, if each run has all of delta, only one such run fits: the first. */
static int fit_added(const struct books *b, const struct dp_ledger_budget *line, const struct dp_ledger_before *before,
                     const struct dp_charges *run, struct fit *fit, struct dp_err *err)
{
    struct dp_answer answer = {.upper = b->run_epsilon};
    int rc = isnan(b->run_epsilon) ? dp_account_epsilon(DP_ACCOUNTANT_BEST, run, line->delta, &answer, err) : DP_OK;
    fit->adds = rc == DP_OK && before->runs == 0 && answer.upper <= line->epsilon;
    fit->runs = fit->adds ? 1 : 0;
    if (rc == DP_OK && !fit->adds)
        rc = dp_fail(err, DP_E_RUN, "not one such run fits into epsilon = %g at delta = %g: no budget was set", line->epsilon,
                     line->delta);
    return rc;
}

static int choose_orders(struct books *b, struct dp_ledger_budget *line, const struct dp_ledger_before *before, struct fit *fit,
                         struct dp_err *err)
{
    struct dp_charges run = {0};
    int rc = fit->planned ? plan_run(b, &run, err) : DP_OK;
    rc = rc ?: pick(b, line, before, fit->planned ? &run : NULL, fit, err);
    if (rc == DP_OK && fit->planned && fit->runs < 1)
        rc = fit_added(b, line, before, &run, fit, err);
    dp_charges_free(&run);
    return rc;
}

static int budget(struct books *b, struct dp_err *err)
{
    struct dp_ledger_before before;
    struct fit fit = {.planned = is_planned(b)};
    if (b->data == NULL && b->ledger != NULL && dp_is_directory(b->ledger))
        b->data = b->ledger;
    if (b->data == NULL)
        return dp_fail(err, DP_E_USAGE, "--data is required, or a data set for an operand");
    const char *operand = b->ledger;
    int rc = books_find_population(b, false, err);
    rc = rc ?: books_find_ledger(b, "a file, or a data set that has one", err);
    rc = rc ?: books_find_people(b, operand, true, err);
    if (rc == DP_OK && !b->choice.none)
        rc = dp_people_admit_budget(&b->people, found(b), err);
    if (rc != DP_OK)
        return rc;
    struct dp_ledger_budget line = {.population = b->population,
                                    .data = b->digest,
                                    .adjacency = dp_adjacency_names[dp_adjacency_chosen(b->q.adjacency)],
                                    .epsilon = b->q.epsilon,
                                    .delta = b->q.delta,
                                    .after_runs = b->after_runs};
    rc = dp_people_elsewhere(&b->people, found(b), line.adjacency, false, &line.elsewhere, err);
    rc = rc ?: dp_ledger_cost_before(b->ledger, &line, &before, err);
    if (rc == DP_OK && !b->after_runs && !before.again)
        before = (struct dp_ledger_before){0}; /* runs are refused below in this case */
    if (rc == DP_OK && before.used)
        fit.planned = false; /* it keeps its orders */
    else if (rc == DP_OK)
        rc = choose_orders(b, &line, &before, &fit, err);
    rc = rc ?: set_budget(b, &line, before.again, err);
    question_free(&b->q);
    if (rc == DP_OK)
        print_budget(b, &line, &before, &fit);
    return rc;
}

int books_read_model(const char *path, struct dp_frame **frame, char digest[DP_MODEL_DIGEST], struct dp_err *err)
{
    *frame = dp_frame_new();
    int rc = dp_model_read(*frame, path, err);
    return rc ?: dp_model_digest(*frame, digest, err);
}

const char *books_release(const struct dp_frame *frame)
{
    const bool rows = strcmp(dp_frame_text(frame, DP_F_METHOD, ""), "rows") == 0;
    return strcmp(dp_frame_text(frame, DP_F_FAMILY, ""), "tables") != 0 ? NULL : rows ? DP_MARK_OF_ROWS : "tables of counts";
}

/* The facts about a model that its certificate has. */
static struct dp_certified certified(const struct dp_frame *frame, const char *digest)
{
    return (struct dp_certified){dp_frame_text(frame, DP_F_LEDGER, ""), frame->lap, digest, books_release(frame)};
}

/* *bound: the ledger has the digest of the model. */
static int verify_certificate(const struct books *b, bool *bound, struct dp_err *err)
{
    char digest[DP_MODEL_DIGEST];
    struct dp_frame *frame = NULL;
    json_t *json;
    int rc = dp_json_load(&json, b->certificate, err);
    if (rc == DP_OK && b->model != NULL)
        rc = books_read_model(b->model, &frame, digest, err);
    if (rc == DP_OK) {
        struct dp_certified model = {0};
        if (frame != NULL)
            model = certified(frame, digest);
        rc = dp_certificate_verify(json, b->ledger, frame != NULL ? &model : NULL, bound, err);
    }
    dp_frame_free(frame);
    json_decref(json);
    return rc;
}

/* Adds a finding if the registry has noted runs in this ledger that no ledger of these people has. */
static void find_lost(const struct books *b, json_t *result)
{
    static const char *const adjacency[] = {"null-record", "replace-one"};
    char *path = NULL;
    if (dp_registry_path(b->ledger, &path, NULL) != DP_OK)
        return;
    for (int a = 0; a < 2; a++) {
        struct dp_ledger_before lost;
        const char *ledger = dp_people_lost(&b->people, adjacency[a], DP_PEOPLE_ANY, &lost);
        if (ledger == NULL || strcmp(ledger, path) != 0)
            continue;
        json_array_append_new(
            json_object_get(result, "findings"),
            json_sprintf("the registry has noted %zu run%s on %s that no ledger has: an older copy was put here", lost.runs,
                         lost.runs == 1 ? "" : "s", b->population));
        json_object_set_new(result, "intact", json_false());
    }
    free(path);
}

static int verify(struct books *b, struct dp_err *err)
{
    bool bound = false;
    json_t *result;
    const char *operand = b->ledger;
    int rc = books_find_ledger(b, "a file, or a data set that has one", err);
    rc = rc ?: books_find_people(b, operand, false, err);
    rc = rc ?: dp_ledger_verify(b->ledger, &result, err);
    if (rc != DP_OK)
        return rc;
    find_lost(b, result);
    struct dp_err why = {0};
    int held = b->certificate == NULL ? DP_OK : verify_certificate(b, &bound, &why);
    const char *model = b->model == NULL ? "none" : bound ? "this" : "unbound";
    if (b->q.json && b->certificate != NULL)
        json_object_set_new(result, "certificate", json_pack("{sb ss}", "holds", held == DP_OK, "model", model));
    if (b->q.json)
        dp_json_print(result, 2, stdout);
    else
        dp_ledger_verify_print(result, stdout);
    size_t findings = json_array_size(json_object_get(result, "findings"));
    bool edited = json_is_true(json_object_get(result, "edited"));
    if (findings > 0)
        rc = dp_fail(err, edited ? DP_E_UNSAFE : DP_E_RUN, "%s does not hold: %zu finding%s", b->ledger, findings,
                     findings == 1 ? "" : "s");
    if (rc == DP_OK && held != DP_OK) {
        *err = why;
        rc = held;
    }
    if (rc == DP_OK && b->certificate != NULL && !b->q.json)
        printf("the certificate holds%s\n", b->model == NULL ? "; no model was looked at (--model FILE)"
                                            : bound          ? " for this model"
                                                             : " for this model, whose weights the ledger does not have");
    json_decref(result);
    return rc;
}

/* Refuses a model that no ledger has paid for. */
static int check_paid(const struct books *b, const struct dp_frame *frame, struct dp_err *err)
{
    if (dp_frame_bool(frame, DP_F_NON_PRIVATE))
        return dp_fail(err, DP_E_UNSAFE, "%s: the model comes from a run without privacy", b->model);
    if (dp_frame_bool(frame, DP_F_UNTRACKED))
        return dp_fail(err, DP_E_UNSAFE, "%s: no ledger has the run of this model: its gate had --no-ledger", b->model);
    return dp_frame_has(frame, DP_F_LEDGER) ? DP_OK : dp_fail(err, DP_E_RUN, "%s: no ledger has paid for this model", b->model);
}

int books_make_certificate(const struct books *b, const struct dp_frame *frame, const char *digest, json_t **json,
                           struct dp_err *err)
{
    int rc = check_paid(b, frame, err);
    if (rc != DP_OK)
        return rc;
    struct dp_certified what = certified(frame, digest);
    return dp_certificate_make(b->ledger, &what, json, err);
}

static int certify(struct books *b, struct dp_err *err)
{
    struct dp_frame *frame = NULL;
    char digest[DP_MODEL_DIGEST];
    json_t *json;
    const char *operand = b->ledger != NULL ? b->ledger : b->data;
    int rc = books_find_ledger(b, "--ledger FILE, or --data DIR for that data set's own", err);
    b->data = NULL;
    rc = rc ?: books_find_people(b, operand, false, err);
    rc = rc ?: books_read_model(b->model, &frame, digest, err);
    rc = rc ?: books_make_certificate(b, frame, digest, &json, err);
    if (rc == DP_OK && b->deployment) {
        json_t *entry = deployment_entry(json);
        json_decref(json);
        json = entry;
    }
    if (rc == DP_OK) {
        dp_json_print(json, 2, stdout);
        json_decref(json);
    }
    dp_frame_free(frame);
    return rc;
}

int books_run(const struct word *word, int argc, char **argv)
{
    struct books b = {.q = QUESTION_UNASKED, .order = NAN, .run_epsilon = NAN};
    struct dp_err err = {0};
    int first, status;
    if (!dp_cli_start(&word->command, &b, NULL, argc, argv, &first, &status))
        return status;
    dp_terminal_people();
    if (word->command.operands[0] != '\0' && first < argc)
        b.ledger = argv[first++];
    int rc = first < argc ? dp_fail(&err, DP_E_USAGE, "unexpected argument '%.80s'", argv[first]) : word->books(&b, &err);
    dp_people_close(&b.people);
    dp_registry_close(b.registry);
    return dp_cli_finish(word->command.name, rc, &err);
}

const struct word word_budget = {.command = {"dp-account budget", "[LEDGER|DIR]",
                                             "Limit what all runs on a data set may spend together", budget_options, NULL},
                                 .run = books_run,
                                 .books = budget};
const struct word word_verify = {
    .command = {"dp-account verify", "LEDGER|DIR", "Check a ledger, and a certificate against it", verify_options, NULL},
    .run = books_run,
    .books = verify};
const struct word word_certify = {
    .command = {"dp-account certify", "", "State what a released model has cost, as JSON", certify_options, NULL},
    .run = books_run,
    .books = certify};
