#include "priv/event.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define MOST_LAPS 1000000000000

static const char *const sampling_names[] = {"none", "poisson", "replaced", "shuffled", "visible"};
static const char *const query_names[] = {"gaussian", "laplace", "pure", "sparse-vector-laplace", "sparse-vector-gaussian"};
enum { SAMPLINGS = sizeof sampling_names / sizeof *sampling_names, KINDS = sizeof query_names / sizeof *query_names };

/* Which members a kind of query has, besides the name. */
struct member {
    const char *key;
    size_t offset;
    bool of[KINDS];
};
static const struct member members[] = {
    {"multiplier", offsetof(struct dp_query, multiplier), {true, true, false, false, false}},
    {"epsilon", offsetof(struct dp_query, epsilon), {false, false, true, true, false}},
    {"query_epsilon", offsetof(struct dp_query, query_epsilon), {false, false, false, true, false}},
    {"rho", offsetof(struct dp_query, rho), {false, false, false, false, true}},
};
enum { MEMBERS = sizeof members / sizeof *members };

static bool has_most(enum dp_query_kind kind)
{
    return kind == DP_QUERY_SPARSE_LAPLACE || kind == DP_QUERY_SPARSE_GAUSSIAN;
}

static double member_of(const struct dp_query *query, const struct member *member)
{
    return *(const double *)((const char *)query + member->offset);
}

struct dp_event dp_event_gaussian(enum dp_sampling sampling, double rate, double multiplier, int64_t epoch_laps)
{
    struct dp_event event = {.sampling = sampling, .rate = rate, .epoch_laps = epoch_laps, .queries = 1};
    event.query[0] = (struct dp_query){.kind = DP_QUERY_GAUSSIAN, .multiplier = multiplier};
    return event;
}

int dp_event_check(const struct dp_event *event, struct dp_err *err)
{
    if ((int)event->sampling < 0 || (int)event->sampling >= SAMPLINGS)
        return dp_fail(err, DP_E_RUN, "an event has an unknown sampling");
    if (!(event->rate > 0 && event->rate <= 1))
        return dp_fail(err, DP_E_RUN, "an event needs a sampling rate in (0, 1], got %g", event->rate);
    if (event->sampling == DP_SAMPLING_NONE && event->rate != 1)
        return dp_fail(err, DP_E_RUN, "an event of every row has a sampling rate of %g", event->rate);
    if (event->sampling == DP_SAMPLING_SHUFFLED ? event->epoch_laps < 1 : event->epoch_laps != 0)
        return dp_fail(err, DP_E_RUN, "an event has epochs of %lld laps", (long long)event->epoch_laps);
    if (event->queries < 1 || event->queries > DP_EVENT_MOST_QUERIES)
        return dp_fail(err, DP_E_RUN, "an event has %d queries, expected 1 to %d", event->queries, DP_EVENT_MOST_QUERIES);
    for (int i = 0; i < event->queries; i++) {
        const struct dp_query *q = &event->query[i];
        if ((int)q->kind < 0 || (int)q->kind >= KINDS)
            return dp_fail(err, DP_E_RUN, "an event has an unknown query");
        for (int m = 0; m < MEMBERS; m++) {
            double value = member_of(q, &members[m]);
            if (members[m].of[q->kind] && !(value > 0 && isfinite(value)))
                return dp_fail(err, DP_E_RUN, "the %s of a %s query must be positive and finite, got %g", members[m].key,
                               query_names[q->kind], value);
        }
        if (has_most(q->kind) && q->most < 1)
            return dp_fail(err, DP_E_RUN, "a sparse vector needs at least 1 query, got %lld", (long long)q->most);
    }
    return DP_OK;
}

bool dp_event_same(const struct dp_event *a, const struct dp_event *b)
{
    if (a->sampling != b->sampling || a->rate != b->rate || a->epoch_laps != b->epoch_laps || a->queries != b->queries)
        return false;
    for (int i = 0; i < a->queries; i++) {
        const struct dp_query *p = &a->query[i], *q = &b->query[i];
        if (p->kind != q->kind || (has_most(p->kind) && p->most != q->most))
            return false;
        for (int m = 0; m < MEMBERS; m++)
            if (members[m].of[p->kind] && member_of(p, &members[m]) != member_of(q, &members[m]))
                return false;
    }
    return true;
}

int64_t dp_event_times(const struct dp_event *event, int64_t laps)
{
    if (event->sampling != DP_SAMPLING_SHUFFLED || laps <= 0)
        return laps;
    return (laps - 1) / event->epoch_laps + 1;
}

bool dp_event_may_follow(const struct dp_event *event, const struct dp_event *before, int64_t laps)
{
    if (dp_event_same(event, before) || (event->sampling != DP_SAMPLING_SHUFFLED && before->sampling != DP_SAMPLING_SHUFFLED))
        return true;
    return event->sampling == before->sampling && event->epoch_laps == before->epoch_laps && laps % before->epoch_laps == 0;
}

int dp_charges_add(struct dp_charges *charges, const struct dp_event *event, int64_t laps, struct dp_err *err)
{
    if (laps < 0)
        return dp_fail(err, DP_E_RUN, "cannot account for %lld laps", (long long)laps);
    for (size_t i = 0; i < charges->count && event->sampling != DP_SAMPLING_SHUFFLED; i++) {
        if (dp_event_same(&charges->charge[i].event, event)) {
            if (laps > MOST_LAPS - charges->charge[i].laps)
                return dp_fail(err, DP_E_RUN, "too many laps to account for");
            charges->charge[i].laps += laps;
            return DP_OK;
        }
    }
    int rc = dp_grow(&charges->charge, &charges->capacity, charges->count + 1, sizeof *charges->charge, err);
    if (rc != DP_OK)
        return rc;
    charges->charge[charges->count++] = (struct dp_charge){*event, laps};
    return DP_OK;
}

void dp_charges_free(struct dp_charges *charges)
{
    free(charges->charge);
    *charges = (struct dp_charges){0};
}

static json_t *query_to_json(const struct dp_query *query)
{
    json_t *json = json_pack("{s:s}", "noise", query_names[query->kind]);
    int bad = json == NULL;
    for (int m = 0; m < MEMBERS; m++)
        if (members[m].of[query->kind])
            bad |= json_object_set_new(json, members[m].key, json_real(member_of(query, &members[m])));
    if (has_most(query->kind))
        bad |= json_object_set_new(json, "most", json_integer((json_int_t)query->most));
    if (bad == 0)
        return json;
    json_decref(json);
    return NULL;
}

json_t *dp_charge_to_json(const struct dp_charge *charge)
{
    const struct dp_event *event = &charge->event;
    json_t *json = json_pack("{s:I, s:s}", "laps", (json_int_t)charge->laps, "sampling", sampling_names[event->sampling]);
    json_t *queries = json_array();
    int bad = json == NULL;
    for (int i = 0; i < event->queries; i++)
        bad |= json_array_append_new(queries, query_to_json(&event->query[i]));
    if (event->sampling == DP_SAMPLING_SHUFFLED)
        bad |= json_object_set_new(json, "epoch_laps", json_integer((json_int_t)event->epoch_laps));
    if (event->sampling != DP_SAMPLING_NONE)
        bad |= json_object_set_new(json, "rate", json_real(event->rate));
    bad |= json_object_set_new(json, "queries", queries);
    if (bad == 0)
        return json;
    json_decref(json);
    return NULL;
}

static int name_of(const json_t *json, const char *key, const char *const *names, int count, int *index, struct dp_err *err)
{
    const char *name = json_string_value(json_object_get(json, key));
    for (*index = 0; name != NULL && *index < count; ++*index)
        if (strcmp(name, names[*index]) == 0)
            return DP_OK;
    return dp_fail(err, DP_E_RUN, "a charge needs a known '%s', got '%.40s'", key, name != NULL ? name : "");
}

static bool is_one_of(const char *key, const char *const *keys)
{
    for (; keys != NULL && *keys != NULL; keys++)
        if (strcmp(key, *keys) == 0)
            return true;
    return false;
}

static int refuse_others(const json_t *json, const char *const *known, const char *const *also, struct dp_err *err)
{
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *)json, key, value)
        if (!is_one_of(key, known) && !is_one_of(key, also))
            return dp_fail(err, DP_E_RUN, "a charge has an unknown key '%.40s'", key);
    return DP_OK;
}

static int query_from_json(const json_t *json, struct dp_query *query, struct dp_err *err)
{
    const char *known[MEMBERS + 3] = {"noise"};
    int kind, count = 1;
    int rc = name_of(json, "noise", query_names, KINDS, &kind, err);
    if (rc != DP_OK)
        return rc;
    *query = (struct dp_query){.kind = (enum dp_query_kind)kind};
    for (int m = 0; m < MEMBERS; m++) {
        if (!members[m].of[kind])
            continue;
        const json_t *value = json_object_get(json, members[m].key);
        known[count++] = members[m].key;
        *(double *)((char *)query + members[m].offset) = json_is_number(value) ? json_number_value(value) : NAN;
    }
    if (has_most(query->kind)) {
        query->most = json_integer_value(json_object_get(json, "most"));
        known[count++] = "most";
    }
    return refuse_others(json, known, NULL, err);
}

int dp_charge_from_json(const json_t *json, const char *const *also, struct dp_charge *charge, struct dp_err *err)
{
    static const char *const known[] = {"laps", "sampling", "rate", "epoch_laps", "queries", NULL};
    const json_t *queries = json_object_get(json, "queries"), *laps = json_object_get(json, "laps");
    int sampling;
    if (!json_is_object(json))
        return dp_fail(err, DP_E_RUN, "a charge must be a JSON object");
    int rc = name_of(json, "sampling", sampling_names, SAMPLINGS, &sampling, err);
    if (rc == DP_OK)
        rc = refuse_others(json, known, also, err);
    if (rc != DP_OK)
        return rc;
    if (!json_is_integer(laps) || json_integer_value(laps) < 1 || json_integer_value(laps) > MOST_LAPS)
        return dp_fail(err, DP_E_RUN, "a charge needs laps between 1 and %lld", (long long)MOST_LAPS);
    *charge =
        (struct dp_charge){.event = {.sampling = (enum dp_sampling)sampling, .rate = 1}, .laps = json_integer_value(laps)};
    struct dp_event *event = &charge->event;
    const json_t *rate = json_object_get(json, "rate");
    if (rate != NULL || sampling != DP_SAMPLING_NONE)
        event->rate = json_is_number(rate) ? json_number_value(rate) : NAN;
    event->epoch_laps = json_integer_value(json_object_get(json, "epoch_laps"));
    if (json_array_size(queries) < 1 || json_array_size(queries) > DP_EVENT_MOST_QUERIES)
        return dp_fail(err, DP_E_RUN, "a charge needs 1 to %d queries", DP_EVENT_MOST_QUERIES);
    event->queries = (int)json_array_size(queries);
    for (int i = 0; rc == DP_OK && i < event->queries; i++)
        rc = query_from_json(json_array_get(queries, (size_t)i), &event->query[i], err);
    return rc == DP_OK ? dp_event_check(event, err) : rc;
}
