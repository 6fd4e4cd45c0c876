#include "ledger/charge_json.h"

#include <math.h>
#include <string.h>

/* The members of its kind, of either type. */
static json_t *member_to_json(const struct dp_query *query, enum dp_query_member m)
{
    const void *value = dp_query_at(query, m);
    return dp_query_members[m].whole ? json_integer((json_int_t) * (const int64_t *)value) : json_real(*(const double *)value);
}

static json_t *query_to_json(const struct dp_query *query)
{
    json_t *json = json_pack("{s:s}", "noise", dp_query_kinds[query->kind].name);
    int bad = json == NULL;
    for (int m = 0; m < DP_QUERY_MEMBER_COUNT; m++)
        if (dp_query_has(query->kind, (enum dp_query_member)m))
            bad |= json_object_set_new(json, dp_query_members[m].key, member_to_json(query, (enum dp_query_member)m));
    if (bad == 0)
        return json;
    json_decref(json);
    return NULL;
}

json_t *dp_charge_to_json(const struct dp_charge *charge)
{
    const struct dp_event *event = &charge->event;
    json_t *json = json_pack("{s:I, s:s}", "laps", (json_int_t)charge->laps, "sampling", dp_sampling_names[event->sampling]);
    json_t *queries = json_array();
    int bad = json == NULL;
    for (int i = 0; i < event->queries; i++)
        bad |= json_array_append_new(queries, query_to_json(&event->query[i]));
    if (event->sampling == DP_SAMPLING_SHUFFLED)
        bad |= json_object_set_new(json, "epoch_laps", json_integer((json_int_t)event->epoch_laps));
    if (event->sampling == DP_SAMPLING_DRAWN) {
        bad |= json_object_set_new(json, "draws", json_integer((json_int_t)event->draws));
        bad |= json_object_set_new(json, "contraction", json_real(event->contraction));
    }
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
    const char *known[DP_QUERY_MEMBER_COUNT + 2] = {"noise"};
    const char *name = json_string_value(json_object_get(json, "noise"));
    enum dp_query_kind kind = name != NULL ? dp_query_find(name, strlen(name)) : DP_QUERY_KIND_COUNT;
    if (kind == DP_QUERY_KIND_COUNT || kind == DP_QUERY_NONE)
        return dp_fail(err, DP_E_RUN, "a charge needs a known 'noise', got '%.40s'", name != NULL ? name : "");
    *query = (struct dp_query){.kind = kind};
    for (int i = 0, count = 1; i < DP_QUERY_MEMBER_COUNT; i++) {
        enum dp_query_member m = (enum dp_query_member)i;
        if (!dp_query_has(kind, m))
            continue;
        const json_t *value = json_object_get(json, dp_query_members[m].key);
        known[count++] = dp_query_members[m].key;
        if (dp_query_members[m].whole)
            *(int64_t *)dp_query_edit(query, m) = json_integer_value(value);
        else
            *(double *)dp_query_edit(query, m) = json_is_number(value) ? json_number_value(value) : NAN;
    }
    return refuse_others(json, known, NULL, err);
}

int dp_charge_from_json(const json_t *json, const char *const *also, struct dp_charge *charge, struct dp_err *err)
{
    static const char *const known[] = {"laps", "sampling", "rate", "epoch_laps", "draws", "contraction", "queries", NULL};
    const json_t *queries = json_object_get(json, "queries"), *laps = json_object_get(json, "laps");
    int sampling;
    if (!json_is_object(json))
        return dp_fail(err, DP_E_RUN, "a charge must be a JSON object");
    int rc = name_of(json, "sampling", dp_sampling_names, DP_SAMPLING_COUNT, &sampling, err);
    if (rc == DP_OK)
        rc = refuse_others(json, known, also, err);
    if (rc != DP_OK)
        return rc;
    if (!json_is_integer(laps) || json_integer_value(laps) < 1 || json_integer_value(laps) > DP_EVENT_MOST_LAPS)
        return dp_fail(err, DP_E_RUN, "a charge needs laps between 1 and %lld", (long long)DP_EVENT_MOST_LAPS);
    *charge =
        (struct dp_charge){.event = {.sampling = (enum dp_sampling)sampling, .rate = 1}, .laps = json_integer_value(laps)};
    struct dp_event *event = &charge->event;
    const json_t *rate = json_object_get(json, "rate");
    if (rate != NULL || sampling != DP_SAMPLING_NONE)
        event->rate = json_is_number(rate) ? json_number_value(rate) : NAN;
    event->epoch_laps = json_integer_value(json_object_get(json, "epoch_laps"));
    event->draws = json_integer_value(json_object_get(json, "draws"));
    event->contraction = json_number_value(json_object_get(json, "contraction"));
    if (json_array_size(queries) < 1 || json_array_size(queries) > DP_EVENT_MOST_QUERIES)
        return dp_fail(err, DP_E_RUN, "a charge needs 1 to %d queries", DP_EVENT_MOST_QUERIES);
    event->queries = (int)json_array_size(queries);
    for (int i = 0; rc == DP_OK && i < event->queries; i++)
        rc = query_from_json(json_array_get(queries, (size_t)i), &event->query[i], err);
    return rc == DP_OK ? dp_event_check(event, err) : rc;
}
