#include "priv/certificate.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/version.h"
#include "priv/ledger_sum.h"

/* What the runs on one data set have cost the model. */
struct cost {
    struct dp_ledger_sum sum;
    double delta, prior_epsilon, prior_delta;
    int seeded, published;
    json_t *runs, *preprocessing;
};

static void cost_free(struct cost *cost)
{
    dp_ledger_sum_free(&cost->sum);
    json_decref(cost->runs);
    json_decref(cost->preprocessing);
}

/* The run that a run started from, or NULL. */
static const struct dp_ledger_entry *parent_of(const struct dp_ledger_book *book, const struct dp_ledger_entry *entry)
{
    struct dp_ledger_entry *parent = NULL;
    if (entry->init != NULL && dp_ledger_book_mark(book, entry->init, &parent, NULL) != DP_OK)
        return NULL;
    return parent;
}

static int add_text(json_t *list, const char *text)
{
    size_t i;
    json_t *known;
    json_array_foreach(list, i, known) if (strcmp(json_string_value(known), text) == 0) return 0;
    return json_array_append_new(list, json_string(text));
}

static int add_run(struct cost *cost, const struct dp_ledger_entry *entry, int64_t lap, struct dp_err *err)
{
    int64_t paid = 0;
    for (size_t i = 0; i < entry->events; i++)
        paid += dp_ledger_laps_spent(&entry->event[i]);
    if (lap > paid)
        return dp_fail(err, DP_E_UNSAFE, "the model is of lap %lld and its run has paid for %lld", (long long)lap,
                       (long long)paid);
    int rc = dp_ledger_sum_add(&cost->sum, entry, lap > 0 ? lap : INT64_MAX, err);
    if (rc != DP_OK)
        return rc;
    cost->delta = fmax(cost->delta, entry->delta);
    cost->prior_epsilon += entry->prior_epsilon;
    cost->prior_delta += entry->prior_delta;
    cost->seeded |= entry->seeded;
    cost->published |= entry->as_published;
    int bad = json_array_append_new(cost->runs, json_pack("{s:s, s:b, s:s}", "run", entry->run, "closed",
                                                          entry->close != NULL, "software", entry->software));
    if (entry->preprocessing[0] != '\0')
        bad |= add_text(cost->preprocessing, entry->preprocessing);
    return bad ? dp_fail(err, DP_E_RUN, "out of memory") : DP_OK;
}

/* The members about one data set, from `newest` back; lap as in struct dp_certified, or 0 for all. */
static int state(const struct dp_ledger_book *book, const struct dp_ledger_entry *newest, const char *data, int64_t lap,
                 const struct dp_ledger_hooks *hooks, json_t *into, struct dp_err *err)
{
    struct cost cost = {.runs = json_array(), .preprocessing = json_array()};
    const struct dp_ledger_entry *first = NULL;
    double upper, lower;
    const char *accountant;
    int rc = DP_OK;
    for (const struct dp_ledger_entry *e = newest; rc == DP_OK && e != NULL; e = parent_of(book, e)) {
        if (strcmp(e->data, data) != 0)
            continue;
        if (first == NULL)
            first = e;
        if (strcmp(e->adjacency, first->adjacency) != 0)
            rc = dp_fail(err, DP_E_UNSAFE, "the runs %s and %s have different adjacencies: their costs do not compose",
                         first->run, e->run);
        else
            rc = add_run(&cost, e, e == newest ? lap : 0, err);
    }
    if (rc == DP_OK)
        rc = dp_ledger_sum_epsilon(&cost.sum, hooks, cost.delta, &upper, &lower, &accountant, err);
    if (rc == DP_OK) {
        bool prior = cost.prior_epsilon > 0 || cost.prior_delta > 0;
        json_t *members =
            json_pack("{s:s, s:I, s:s, s:O, s:o, s:o, s:o, s:f, s:s, s:O, s:b, s:b}", "data", data, "rows",
                      (json_int_t)first->rows, "adjacency", first->adjacency, "runs", cost.runs, "mechanisms",
                      dp_ledger_charges_json(&cost.sum.all), "epsilon", dp_ledger_real_json(cost.prior_epsilon + upper),
                      "epsilon_lower", dp_ledger_real_json(lower), "delta", cost.delta + cost.prior_delta, "accountant",
                      accountant, "private_preprocessing", cost.preprocessing, "seeded", cost.seeded, "as_published",
                      cost.published);
        int bad = members == NULL;
        if (!bad && prior)
            bad =
                json_object_set_new(members, "not_in_ledger",
                                    json_pack("{s:f, s:f}", "epsilon", cost.prior_epsilon, "delta", cost.prior_delta));
        if (bad || json_object_update(into, members) != 0)
            rc = dp_fail(err, DP_E_RUN, "out of memory");
        json_decref(members);
    }
    cost_free(&cost);
    return rc;
}

static bool has_data(const json_t *list, const char *data)
{
    size_t i;
    json_t *entry;
    json_array_foreach(list, i,
                       entry) if (strcmp(json_string_value(json_object_get(entry, "data")), data) == 0) return true;
    return false;
}

static int add_others(const struct dp_ledger_book *book, const struct dp_ledger_entry *own,
                      const struct dp_ledger_hooks *hooks, json_t *others, struct dp_err *err)
{
    int rc = DP_OK;
    for (const struct dp_ledger_entry *e = parent_of(book, own); rc == DP_OK && e != NULL; e = parent_of(book, e)) {
        if (strcmp(e->data, own->data) == 0 || has_data(others, e->data))
            continue;
        json_t *other = json_object();
        rc = state(book, own, e->data, 0, hooks, other, err);
        if (rc == DP_OK && json_array_append(others, other) != 0)
            rc = dp_fail(err, DP_E_RUN, "out of memory");
        json_decref(other);
    }
    return rc;
}

/* By the first `lines` lines of the ledger. */
static int make(const struct dp_ledger_book *book, size_t lines, const struct dp_certified *what,
                const struct dp_ledger_hooks *hooks, json_t **certificate, struct dp_err *err)
{
    struct dp_ledger_entry *entry;
    *certificate = NULL;
    if (what->lap < 1)
        return dp_fail(err, DP_E_RUN, "there is nothing to certify in a model of lap %lld", (long long)what->lap);
    int rc = dp_ledger_book_mark(book, what->mark, &entry, err);
    if (rc != DP_OK)
        return rc;
    json_t *others = json_array();
    json_t *made = json_pack("{s:i, s:s, s:s, s:I, s:s, s:{s:I, s:s}}", "certificate", 1, "software",
                             "dpline " DP_VERSION, "model", what->model, "lap", (json_int_t)what->lap, "mark",
                             what->mark, "ledger", "lines", (json_int_t)lines, "hash", book->hash[lines - 1]);
    rc = made != NULL ? state(book, entry, entry->data, what->lap, hooks, made, err)
                      : dp_fail(err, DP_E_RUN, "cannot write the certificate as JSON");
    if (rc == DP_OK)
        rc = add_others(book, entry, hooks, others, err);
    if (rc == DP_OK && json_array_size(others) > 0 && json_object_set(made, "other_data", others) != 0)
        rc = dp_fail(err, DP_E_RUN, "out of memory");
    json_decref(others);
    if (rc != DP_OK) {
        json_decref(made);
        return rc;
    }
    *certificate = made;
    return DP_OK;
}

int dp_certificate_make(const char *path, const struct dp_certified *what, const struct dp_ledger_hooks *hooks,
                        json_t **certificate, struct dp_err *err)
{
    struct dp_ledger_book book = {0};
    *certificate = NULL;
    int rc = dp_ledger_book_read(&book, path, err);
    if (rc == DP_OK)
        rc = make(&book, book.lines, what, hooks, certificate, err);
    dp_ledger_book_free(&book);
    return rc;
}

static bool same(const json_t *a, const json_t *b)
{
    const char *key;
    json_t *value;
    size_t i;
    if (json_is_number(a) && json_is_number(b)) {
        double x = json_number_value(a), y = json_number_value(b);
        return json_is_integer(a) ? json_equal(a, b) : fabs(x - y) <= 1e-6 * fabs(y);
    }
    if (json_is_array(a) && json_is_array(b)) {
        if (json_array_size(a) != json_array_size(b))
            return false;
        json_array_foreach(a, i, value) if (!same(value, json_array_get(b, i))) return false;
        return true;
    }
    if (json_is_object(a) && json_is_object(b)) {
        if (json_object_size(a) != json_object_size(b))
            return false;
        json_object_foreach((json_t *)a, key, value) if (!same(value, json_object_get(b, key))) return false;
        return true;
    }
    return json_equal(a, b);
}

static int compare(const json_t *certificate, const json_t *made, const char *path, struct dp_err *err)
{
    const char *key;
    json_t *value;
    json_object_foreach(
        (json_t *)made, key,
        value) if (strcmp(key, "software") != 0 &&
                   !same(value,
                         json_object_get(
                             certificate,
                             key))) return dp_fail(err, DP_E_UNSAFE,
                                                   "the certificate is not what the ledger %s says: '%s' differs", path,
                                                   key);
    json_object_foreach((json_t *)certificate, key, value) if (json_object_get(made, key) == NULL) return dp_fail(
        err, DP_E_UNSAFE, "the certificate is not what the ledger %s says: it has '%.40s' as well", path, key);
    return DP_OK;
}

int dp_certificate_verify(const json_t *certificate, const char *path, const char *model,
                          const struct dp_ledger_hooks *hooks, struct dp_err *err)
{
    struct dp_ledger_book book = {0};
    struct dp_certified what;
    const char *software, *hash;
    int version;
    json_int_t lines, lap;
    json_t *made;
    if (json_unpack((json_t *)certificate, "{s:i, s:s, s:s, s:I, s:s, s:{s:I, s:s}}", "certificate", &version,
                    "software", &software, "model", &what.model, "lap", &lap, "mark", &what.mark, "ledger", "lines",
                    &lines, "hash", &hash) != 0 ||
        version != 1 || lines < 1)
        return dp_fail(err, DP_E_RUN, "not a certificate");
    if (model != NULL && strcmp(model, what.model) != 0)
        return dp_fail(err, DP_E_UNSAFE, "the certificate is for another model");
    what.lap = lap;
    book.most = (size_t)lines;
    int rc = dp_ledger_book_read(&book, path, err);
    if (rc == DP_OK && ((size_t)lines > book.lines || strcmp(book.hash[lines - 1], hash) != 0))
        rc = dp_fail(
            err, DP_E_UNSAFE,
            "the ledger %s does not hold line %lld as the certificate has it: rolled back to an older state, or "
            "another ledger",
            path, (long long)lines);
    if (rc == DP_OK)
        rc = make(&book, (size_t)lines, &what, hooks, &made, err);
    dp_ledger_book_free(&book);
    if (rc != DP_OK)
        return rc;
    rc = compare(certificate, made, path, err);
    json_decref(made);
    return rc;
}
