#include "ledger/charge_json.h"

#include "base/alias.h"

/* The members of its kind, of either type. */
static json_t *member_to_json(const struct dp_query *query, enum dp_query_member m)
{
    const void *value = dp_query_at(query, m);
    return dp_query_members[m].whole ? json_integer((json_int_t) * (const int64_t *)value) : json_real(*(const double *)value);
}

static json_t *query_to_json(const struct dp_query *query)
{
    json_t *json = json_pack("{s:s}", "noise", dp_query_kinds[query->kind].name);
    for (int m = 0; m < DP_QUERY_MEMBER_COUNT; m++)
        if (dp_query_has(query->kind, (enum dp_query_member)m))
            json_object_set_new(json, dp_query_members[m].key, member_to_json(query, (enum dp_query_member)m));
    return json;
}

static const char *const laws[DP_TRIALS_LAWS] = {
    [DP_TRIALS_POISSON] = "poisson", [DP_TRIALS_NEGATIVE_BINOMIAL] = "negative-binomial"};

static json_t *tuning_to_json(const struct dp_charge *charge)
{
    const struct dp_tuning *tuning = charge->event.tuning;
    const struct dp_trials *trials = &tuning->trials;
    bool poisson = trials->law == DP_TRIALS_POISSON;
    json_t *settings = json_array();
    for (size_t i = 0; i < tuning->settings; i++) {
        const struct dp_setting *setting = &tuning->setting[i];
        json_t *charges = json_array();
        for (size_t k = 0; k < setting->charges.count; k++)
            json_array_append_new(charges, dp_charge_to_json(&setting->charges.charge[k]));
        json_array_append_new(settings, json_pack("{s:I, s:o}", "times", (json_int_t)setting->times, "charges", charges));
    }
    return json_pack("{s:I, s:s, s:s, s:o*, s:o*, s:o*, s:f, s:o}", "laps", (json_int_t)charge->laps, "sampling",
                     dp_sampling_names[DP_SAMPLING_TUNED], "trials", laws[trials->law], "mean",
                     poisson ? json_real(trials->mean) : NULL, "eta", poisson ? NULL : json_real(trials->eta), "gamma",
                     poisson ? NULL : json_real(trials->gamma), "score_multiplier", tuning->score_multiplier, "settings",
                     settings);
}

json_t *dp_charge_to_json(const struct dp_charge *charge)
{
    const struct dp_event *event = &charge->event;
    if (event->sampling == DP_SAMPLING_TUNED)
        return tuning_to_json(charge);
    json_t *json = json_pack("{s:I, s:s}", "laps", (json_int_t)charge->laps, "sampling", dp_sampling_names[event->sampling]);
    json_t *queries = json_array();
    for (int i = 0; i < event->queries; i++)
        json_array_append_new(queries, query_to_json(&event->query[i]));
    if (event->sampling == DP_SAMPLING_SHUFFLED)
        json_object_set_new(json, "epoch_laps", json_integer((json_int_t)event->epoch_laps));
    if (event->sampling == DP_SAMPLING_REPEATED) {
        json_object_set_new(json, "draws", json_integer((json_int_t)event->draws));
        json_object_set_new(json, "contraction", json_real(event->contraction));
    }
    if (event->sampling != DP_SAMPLING_NONE && event->sampling != DP_SAMPLING_STREAM)
        json_object_set_new(json, "rate", json_real(event->rate));
    json_object_set_new(json, "queries", queries);
    return json;
}

static int name_of(const json_t *json, const char *key, const char *const *names, int count, int *index, struct dp_err *err)
{
    const char *name = json_string_value(json_object_get(json, key));
    const char *today = name != NULL && names == dp_sampling_names ? dp_alias_of(DP_ALIAS_SAMPLING, name, strlen(name)) : NULL;
    name = today != NULL ? today : name;
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

static double number_of(const json_t *json, const char *key)
{
    const json_t *value = json_object_get(json, key);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static int setting_from_json(const json_t *json, struct dp_tuning *tuning, struct dp_err *err)
{
    static const char *const known[] = {"times", "charges", NULL};
    const json_t *charges = json_object_get(json, "charges");
    struct dp_charges list = {0};
    int rc = json_is_object(json) && json_is_array(charges) && json_is_integer(json_object_get(json, "times"))
                 ? refuse_others(json, known, NULL, err)
                 : dp_fail(err, DP_E_RUN, "a setting of a selection needs 'times' and 'charges'");
    for (size_t i = 0; rc == DP_OK && i < json_array_size(charges); i++) {
        const json_t *one = json_array_get(charges, i);
        const char *sampling = json_string_value(json_object_get(one, "sampling"));
        struct dp_charge charge;
        if (sampling != NULL && strcmp(sampling, dp_sampling_names[DP_SAMPLING_TUNED]) == 0)
            rc = dp_fail(err, DP_E_RUN, "a selection has another selection among its runs");
        else
            rc = dp_charge_from_json(one, NULL, &charge, err);
        rc = rc ?: dp_charges_add(&list, &charge.event, charge.laps, err);
    }
    rc = rc ?: dp_tuning_add(tuning, &list, json_integer_value(json_object_get(json, "times")), err);
    dp_charges_free(&list);
    return rc;
}

static int tuning_from_json(const json_t *json, const char *const *also, struct dp_charge *charge, struct dp_err *err)
{
    static const char *const known[] = {"laps",  "sampling",         "trials",   "mean", "eta",
                                        "gamma", "score_multiplier", "settings", NULL};
    const json_t *settings = json_object_get(json, "settings");
    struct dp_tuning *tuning = NULL;
    struct dp_trials trials = {0};
    int law;
    int rc = refuse_others(json, known, also, err);
    rc = rc ?: name_of(json, "trials", laws, DP_TRIALS_LAWS, &law, err);
    if (rc != DP_OK)
        return rc;
    trials.law = (enum dp_trials_law)law;
    bool poisson = trials.law == DP_TRIALS_POISSON;
    if (poisson ? json_object_get(json, "eta") != NULL || json_object_get(json, "gamma") != NULL
                : json_object_get(json, "mean") != NULL)
        return dp_fail(err, DP_E_RUN, "a charge has a number that its law of trials does not have");
    trials.mean = poisson ? number_of(json, "mean") : 0;
    trials.eta = poisson ? 0 : number_of(json, "eta");
    trials.gamma = poisson ? 0 : number_of(json, "gamma");
    dp_tuning_new(&tuning, &trials, number_of(json, "score_multiplier"));
    rc = DP_OK;
    for (size_t i = 0; rc == DP_OK && i < json_array_size(settings); i++)
        rc = setting_from_json(json_array_get(settings, i), tuning, err);
    charge->event = dp_event_tuned(tuning);
    rc = rc ?: dp_event_check(&charge->event, err);
    if (rc != DP_OK)
        dp_event_free(&charge->event);
    return rc;
}

int dp_charge_from_json(const json_t *json, const char *const *also, struct dp_charge *charge, struct dp_err *err)
{
    static const char *const known[] = {"laps", "sampling", "rate", "epoch_laps", "draws", "contraction", "queries", NULL};
    const json_t *queries = json_object_get(json, "queries"), *laps = json_object_get(json, "laps");
    int sampling;
    if (!json_is_object(json))
        return dp_fail(err, DP_E_RUN, "a charge must be a JSON object");
    int rc = name_of(json, "sampling", dp_sampling_names, DP_SAMPLING_COUNT, &sampling, err);
    if (rc == DP_OK && sampling != DP_SAMPLING_TUNED)
        rc = refuse_others(json, known, also, err);
    if (rc != DP_OK)
        return rc;
    if (!json_is_integer(laps) || json_integer_value(laps) < 1 || json_integer_value(laps) > DP_EVENT_MOST_LAPS)
        return dp_fail(err, DP_E_RUN, "a charge needs laps between 1 and %lld", (long long)DP_EVENT_MOST_LAPS);
    *charge =
        (struct dp_charge){.event = {.sampling = (enum dp_sampling)sampling, .rate = 1}, .laps = json_integer_value(laps)};
    struct dp_event *event = &charge->event;
    if (sampling == DP_SAMPLING_TUNED)
        return tuning_from_json(json, also, charge, err);
    const json_t *rate = json_object_get(json, "rate");
    if (rate != NULL || (sampling != DP_SAMPLING_NONE && sampling != DP_SAMPLING_STREAM))
        event->rate = json_is_number(rate) ? json_number_value(rate) : NAN;
    event->epoch_laps = json_integer_value(json_object_get(json, "epoch_laps"));
    event->draws = json_integer_value(json_object_get(json, "draws"));
    event->contraction = json_number_value(json_object_get(json, "contraction"));
    if (json_array_size(queries) < 1 || json_array_size(queries) > DP_EVENT_MOST_QUERIES)
        return dp_fail(err, DP_E_RUN, "a charge needs 1 to %d queries", DP_EVENT_MOST_QUERIES);
    event->queries = (int)json_array_size(queries);
    for (int i = 0; rc == DP_OK && i < event->queries; i++)
        rc = query_from_json(json_array_get(queries, (size_t)i), &event->query[i], err);
    return rc ?: dp_event_check(event, err);
}
