#include "priv/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "priv/ledger_book.h"
#include "priv/rdp.h"

static int64_t spent_laps(const struct dp_ledger_entry *entry)
{
    int64_t laps = 0;
    for (size_t i = 0; i < entry->events; i++)
        laps += dp_ledger_laps_spent(&entry->event[i]);
    return laps;
}

/* Sets epsilon, epsilon_lower, delta and accountant, or why there are none. Non-zero when memory is short. */
static int set_epsilon(json_t *json, const struct dp_ledger_sum *sum, double delta,
                       const struct dp_ledger_hooks *hooks)
{
    double upper, lower;
    const char *accountant;
    struct dp_err why = {0};
    int bad = json_object_set_new(json, "delta", json_real(delta));
    if (dp_ledger_sum_epsilon(sum, hooks, delta, &upper, &lower, &accountant, &why) != DP_OK) {
        bad |= json_object_set_new(json, "epsilon", json_null());
        return bad | json_object_set_new(json, "why", json_string(why.message));
    }
    bad |= json_object_set_new(json, "epsilon", dp_ledger_real_json(upper));
    bad |= json_object_set_new(json, "epsilon_lower", dp_ledger_real_json(lower));
    return bad | json_object_set_new(json, "accountant", json_string(accountant));
}

static json_t *run_json(const struct dp_ledger_entry *entry, double delta, const struct dp_ledger_hooks *hooks)
{
    struct dp_ledger_sum sum = {0};
    json_t *json =
        json_pack("{s:s, s:s, s:I, s:s, s:b, s:s, s:I, s:b, s:b, s:s, s:s}", "run", entry->run, "data", entry->data,
                  "rows", (json_int_t)entry->rows, "adjacency", entry->adjacency, "closed", entry->close != NULL,
                  "status", entry->close != NULL ? entry->status : "not closed", "laps", (json_int_t)spent_laps(entry),
                  "seeded", entry->seeded, "as_published", entry->as_published, "private_preprocessing",
                  entry->preprocessing, "software", entry->software);
    int bad = json == NULL || dp_ledger_sum_add(&sum, entry, INT64_MAX, NULL) != DP_OK;
    if (!bad && entry->time != 0)
        bad |= json_object_set_new(json, "opened", json_integer((json_int_t)entry->time));
    if (!bad && entry->init != NULL)
        bad |= json_object_set_new(json, "init", json_stringn(entry->init, DP_LEDGER_RUN));
    if (!bad && entry->order > 0)
        bad |= json_object_set_new(json, "order", json_real(entry->order));
    if (!bad)
        bad |= json_object_set_new(json, "charges", dp_ledger_charges_json(&sum.all));
    if (!bad)
        bad |= set_epsilon(json, &sum, isnan(delta) ? entry->delta : delta, hooks);
    dp_ledger_sum_free(&sum);
    if (bad) {
        json_decref(json);
        return NULL;
    }
    return json;
}

/* The epsilon of the charges at one order. */
static int filter(const struct dp_charges *charges, double order, double delta, const struct dp_ledger_hooks *hooks,
                  double *epsilon, struct dp_err *err)
{
    int rc = dp_ledger_rdp(hooks, charges, order, epsilon, err);
    if (rc == DP_OK && charges->count > 0)
        *epsilon = fmax(0, *epsilon + dp_rdp_penalty(order, delta));
    return rc;
}

static json_t *budget_json(const struct dp_charges *charges, const struct dp_ledger_limit *limit,
                           const struct dp_ledger_hooks *hooks)
{
    double spent;
    if (filter(charges, limit->order, limit->delta, hooks, &spent, NULL) != DP_OK)
        spent = INFINITY;
    return json_pack("{s:f, s:f, s:f, s:o}", "epsilon", limit->epsilon, "delta", limit->delta, "order", limit->order,
                     "spent", dp_ledger_real_json(spent));
}

static bool belongs(const struct dp_ledger_entry *entry, const char *data, const char *adjacency)
{
    return strcmp(entry->data, data) == 0 && strcmp(entry->adjacency, adjacency) == 0;
}

static json_t *total_json(const struct dp_ledger_book *book, const char *data, const char *adjacency, double delta,
                          const struct dp_ledger_hooks *hooks)
{
    struct dp_ledger_sum sum = {0};
    const struct dp_ledger_limit *limit = dp_ledger_book_limit(book, data);
    json_int_t runs = 0, open = 0, laps = 0, rows = 0;
    double largest = limit != NULL ? limit->delta : 0;
    int seeded = 0, published = 0, bad = 0;
    json_t *preprocessing = json_object();
    for (size_t i = 0; i < book->entries; i++) {
        const struct dp_ledger_entry *entry = &book->entry[i];
        if (!belongs(entry, data, adjacency))
            continue;
        largest = runs == 0 ? entry->delta : fmax(largest, entry->delta);
        rows = entry->rows;
        runs++;
        open += entry->close == NULL;
        laps += spent_laps(entry);
        seeded |= entry->seeded;
        published |= entry->as_published;
        if (entry->preprocessing[0] != '\0')
            bad |= json_object_set_new(preprocessing, entry->preprocessing, json_true());
        bad |= dp_ledger_sum_add(&sum, entry, INT64_MAX, NULL) != DP_OK;
    }
    json_t *json = json_pack("{s:s, s:s, s:I, s:I, s:I, s:b, s:b, s:[]}", "data", data, "adjacency", adjacency, "runs",
                             runs, "not_closed", open, "laps", laps, "seeded", seeded, "as_published", published,
                             "private_preprocessing");
    bad |= json == NULL;
    const char *text;
    json_t *unused;
    if (!bad)
        json_object_foreach(preprocessing, text, unused) bad |=
            json_array_append_new(json_object_get(json, "private_preprocessing"), json_string(text));
    if (!bad && rows > 0)
        bad |= json_object_set_new(json, "rows", json_integer(rows));
    if (!bad)
        bad |= set_epsilon(json, &sum, isnan(delta) ? largest : delta, hooks);
    if (!bad && limit != NULL && strcmp(limit->adjacency, adjacency) == 0)
        bad |= json_object_set_new(json, "budget", budget_json(&sum.all, limit, hooks));
    json_decref(preprocessing);
    dp_ledger_sum_free(&sum);
    if (bad) {
        json_decref(json);
        return NULL;
    }
    return json;
}

static int add_total(json_t *totals, const struct dp_ledger_book *book, const char *data, const char *adjacency,
                     double delta, const struct dp_ledger_hooks *hooks)
{
    size_t i;
    json_t *total;
    json_array_foreach(
        totals, i, total) if (strcmp(json_string_value(json_object_get(total, "data")), data) == 0 &&
                              strcmp(json_string_value(json_object_get(total, "adjacency")), adjacency) == 0) return 0;
    return json_array_append_new(totals, total_json(book, data, adjacency, delta, hooks));
}

int dp_ledger_report(const char *path, const char *data, double delta, const struct dp_ledger_hooks *hooks,
                     json_t **report, struct dp_err *err)
{
    struct dp_ledger_book book = {0};
    int bad = 0;
    *report = NULL;
    if (!isnan(delta) && !(delta > 0 && delta < 1))
        return dp_fail(err, DP_E_RUN, "delta must be in (0, 1), got %g", delta);
    int rc = dp_ledger_book_read(&book, path, err);
    if (rc != DP_OK) {
        dp_ledger_book_free(&book);
        return rc;
    }
    json_t *runs = json_array(), *totals = json_array();
    for (size_t i = 0; !bad && i < book.limits; i++)
        if (data == NULL || strcmp(book.limit[i].data, data) == 0)
            bad = add_total(totals, &book, book.limit[i].data, book.limit[i].adjacency, delta, hooks);
    for (size_t i = 0; !bad && i < book.entries; i++) {
        const struct dp_ledger_entry *entry = &book.entry[i];
        if (data != NULL && strcmp(entry->data, data) != 0)
            continue;
        bad = json_array_append_new(runs, run_json(entry, delta, hooks));
        if (!bad)
            bad = add_total(totals, &book, entry->data, entry->adjacency, delta, hooks);
    }
    if (!bad && data != NULL && json_array_size(totals) == 0)
        rc = dp_fail(err, DP_E_RUN, "the ledger %s has nothing on the data set %.80s", path, data);
    if (!bad && rc == DP_OK)
        *report = json_pack("{s:s, s:I, s:b, s:O, s:O}", "ledger", path, "lines", (json_int_t)book.lines, "torn",
                            book.torn, "runs", runs, "data_sets", totals);
    if (rc == DP_OK && *report == NULL)
        rc = dp_fail(err, DP_E_RUN, "out of memory");
    json_decref(runs);
    json_decref(totals);
    dp_ledger_book_free(&book);
    return rc;
}

/* --- verification ------------------------------------------------------------------------------------------------- */

static int find(json_t *findings, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int find(json_t *findings, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int bad = json_array_append_new(findings, json_vsprintf(format, args));
    va_end(args);
    return bad;
}

static int verify_run(const struct dp_ledger_entry *entry, const struct dp_ledger_hooks *hooks, json_t *runs,
                      json_t *findings)
{
    struct dp_charges charges = {0};
    struct dp_err why = {0};
    double upper, lower, recorded = entry->closed_epsilon;
    const char *accountant;
    json_t *json = json_pack("{s:s, s:b}", "run", entry->run, "closed", entry->close != NULL);
    int bad = json == NULL || json_array_append_new(runs, json) != 0;
    if (bad || entry->close == NULL)
        return bad;
    bad |= json_object_set_new(json, "recorded", json_real(recorded));
    bad |= json_object_set_new(json, "delta", json_real(entry->closed_delta));
    bad |= json_object_set_new(json, "accountant", json_string(entry->accountant));
    bad |= dp_ledger_add_spent(entry, &charges, NULL) != DP_OK;
    int rc;
    if (entry->order > 0) {
        rc = filter(&charges, entry->order, entry->closed_delta, hooks, &upper, &why);
        lower = upper;
        accountant = "";
    } else {
        rc = dp_ledger_sum_epsilon(&(struct dp_ledger_sum){.all = charges, .fixed = charges}, hooks, entry->closed_delta,
                                   &upper, &lower, &accountant, &why);
    }
    dp_charges_free(&charges);
    if (bad || rc != DP_OK) {
        bad |= json_object_set_new(json, "agrees", entry->as_published ? json_null() : json_false());
        return bad || entry->as_published ? bad : find(findings, "run %s: %s", entry->run, why.message);
    }
    bool same = strcmp(accountant, entry->accountant) == 0;
    bool agrees =
        same ? recorded >= upper * (1 - 1e-9) && recorded <= upper * (1 + 1e-6) : recorded >= lower * (1 - 1e-9);
    bool compared = same || !entry->as_published;
    bad |= json_object_set_new(json, "recomputed", dp_ledger_real_json(upper));
    bad |= json_object_set_new(json, "agrees", compared ? json_boolean(agrees) : json_null());
    if (compared && !agrees)
        bad |=
            find(findings, "run %s: epsilon is recorded as %.9g, recomputed it is %.9g", entry->run, recorded, upper);
    return bad;
}

static int verify_budget(const struct dp_ledger_book *book, const struct dp_ledger_limit *limit,
                         const struct dp_ledger_hooks *hooks, json_t *findings)
{
    struct dp_charges charges = {0};
    struct dp_err why = {0};
    double spent;
    int bad = 0, rc;
    for (size_t i = 0; i < book->entries; i++)
        if (strcmp(book->entry[i].data, limit->data) == 0)
            bad |= dp_ledger_add_spent(&book->entry[i], &charges, NULL) != DP_OK;
    rc = filter(&charges, limit->order, limit->delta, hooks, &spent, &why);
    dp_charges_free(&charges);
    if (bad || rc != DP_OK)
        return bad || find(findings, "data set %s: %s", limit->data, why.message);
    return spent <= limit->epsilon ? 0
                                   : find(findings, "data set %s: its budget is epsilon = %.9g, %.9g are spent",
                                          limit->data, limit->epsilon, spent);
}

int dp_ledger_verify(const char *path, const struct dp_ledger_hooks *hooks, json_t **result, struct dp_err *err)
{
    struct dp_ledger_book book = {0};
    struct dp_err why = {0};
    json_t *runs = json_array(), *findings = json_array();
    int bad = 0, rc = dp_ledger_book_read(&book, path, &why);
    *result = NULL;
    if (rc == DP_E_UNSAFE)
        bad = find(findings, "%s", why.message);
    for (size_t i = 0; rc == DP_OK && !bad && i < book.entries; i++)
        bad = verify_run(&book.entry[i], hooks, runs, findings);
    for (size_t i = 0; rc == DP_OK && !bad && i < book.limits; i++)
        bad = verify_budget(&book, &book.limit[i], hooks, findings);
    if (rc != DP_OK && rc != DP_E_UNSAFE)
        rc = dp_fail(err, (enum dp_status)rc, "%s", why.message);
    else if (bad || (*result = json_pack("{s:s, s:b, s:I, s:b, s:O, s:O}", "ledger", path, "intact",
                                         json_array_size(findings) == 0, "lines", (json_int_t)book.lines, "torn",
                                         book.torn, "findings", findings, "runs", runs)) == NULL)
        rc = dp_fail(err, DP_E_RUN, "out of memory");
    else
        rc = DP_OK;
    json_decref(runs);
    json_decref(findings);
    dp_ledger_book_free(&book);
    return rc;
}

/* --- for a person -------------------------------------------------------------------------------------------------- */

static const char *text_of(const json_t *json, const char *key)
{
    const char *text = json_string_value(json_object_get(json, key));
    return text != NULL ? text : "";
}

/* Six digits, rounded up: a person must not read less than there is. */
static const char *number_of(const json_t *json, const char *key, char buffer[32])
{
    const json_t *value = json_object_get(json, key);
    double number = json_number_value(value);
    if (json_is_string(value))
        snprintf(buffer, 32, "%s", strcmp(json_string_value(value), "Infinity") == 0 ? "unbounded" : "unknown");
    else if (!json_is_number(value))
        snprintf(buffer, 32, "unknown");
    else
        snprintf(buffer, 32, "%.6g", number);
    if (json_is_number(value) && strtod(buffer, NULL) < number)
        snprintf(buffer, 32, "%.6g", number + pow(10, floor(log10(number)) - 5));
    return buffer;
}

static void print_marks(const json_t *json, FILE *stream)
{
    const json_t *preprocessing = json_object_get(json, "private_preprocessing");
    if (json_is_true(json_object_get(json, "seeded")))
        fputs("  SEEDED: not private", stream);
    if (json_is_true(json_object_get(json, "as_published")))
        fputs("  AS PUBLISHED", stream);
    if (json_is_string(preprocessing) && json_string_length(preprocessing) > 0)
        fprintf(stream, "  preprocessing not private: %s", json_string_value(preprocessing));
}

static void print_run(const json_t *run, FILE *stream)
{
    char opened[32] = "unknown", epsilon[32];
    time_t seconds = (time_t)json_integer_value(json_object_get(run, "opened"));
    struct tm tm;
    if (seconds != 0 && gmtime_r(&seconds, &tm) != NULL)
        strftime(opened, sizeof opened, "%Y-%m-%dT%H:%MZ", &tm);
    fprintf(stream, "%s  %-17s %9lld  %9s  %-10s", text_of(run, "run"), opened,
            (long long)json_integer_value(json_object_get(run, "laps")), number_of(run, "epsilon", epsilon),
            text_of(run, "status"));
    print_marks(run, stream);
    fputc('\n', stream);
}

static void print_total(const json_t *total, const json_t *runs, FILE *stream)
{
    char epsilon[32];
    size_t i;
    json_t *run;
    long long count = json_integer_value(json_object_get(total, "runs"));
    fprintf(stream, "data set %s, %lld rows, %s adjacency\n", text_of(total, "data"),
            (long long)json_integer_value(json_object_get(total, "rows")), text_of(total, "adjacency"));
    fprintf(stream, "%-32s  %-17s %9s  %9s  %s\n", "run", "opened", "laps", "epsilon", "ended");
    json_array_foreach(runs, i, run) if (strcmp(text_of(run, "data"), text_of(total, "data")) == 0 &&
                                         strcmp(text_of(run, "adjacency"), text_of(total, "adjacency")) == 0)
        print_run(run, stream);
    fprintf(stream, "in all, %lld run%s, %lld laps: epsilon %s at delta %g", count, count == 1 ? "" : "s",
            (long long)json_integer_value(json_object_get(total, "laps")), number_of(total, "epsilon", epsilon),
            json_number_value(json_object_get(total, "delta")));
    if (json_object_get(total, "why") != NULL)
        fprintf(stream, " (%s)", text_of(total, "why"));
    else
        fprintf(stream, " (%s)", text_of(total, "accountant"));
    print_marks(total, stream);
    const json_t *budget = json_object_get(total, "budget");
    if (budget != NULL)
        fprintf(stream, "\nbudget: epsilon %g at delta %g, of which %s is spent at order %g",
                json_number_value(json_object_get(budget, "epsilon")),
                json_number_value(json_object_get(budget, "delta")), number_of(budget, "spent", epsilon),
                json_number_value(json_object_get(budget, "order")));
    fputc('\n', stream);
}

static void print_torn(const json_t *json, FILE *stream)
{
    if (json_is_true(json_object_get(json, "torn")))
        fputs("the last line is unfinished and does not count\n", stream);
}

void dp_ledger_report_print(const json_t *report, FILE *stream)
{
    size_t i;
    json_t *total;
    json_array_foreach(json_object_get(report, "data_sets"), i, total)
    {
        if (i > 0)
            fputc('\n', stream);
        print_total(total, json_object_get(report, "runs"), stream);
    }
    print_torn(report, stream);
}

void dp_ledger_verify_print(const json_t *result, FILE *stream)
{
    size_t i, ended = 0;
    json_t *entry;
    json_array_foreach(json_object_get(result, "findings"), i, entry) fprintf(stream, "%s\n", json_string_value(entry));
    json_array_foreach(json_object_get(result, "runs"), i, entry) ended +=
        json_is_true(json_object_get(entry, "agrees"));
    print_torn(result, stream);
    if (json_is_true(json_object_get(result, "intact")))
        fprintf(stream, "%s is intact: %lld lines, %zu runs, epsilon recomputed for %zu\n", text_of(result, "ledger"),
                (long long)json_integer_value(json_object_get(result, "lines")),
                json_array_size(json_object_get(result, "runs")), ended);
}
