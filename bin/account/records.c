#include "records.h"

#include <jansson.h>
#include <string.h>

#include "data/lines.h"
#include "stages/charge.h"

static int name_of(const json_t *json, const char *key, const char *const *names, int count)
{
    const char *name = json_string_value(json_object_get(json, key));
    for (int i = 0; name != NULL && i < count; i++)
        if (strcmp(name, names[i]) == 0)
            return i;
    return 0; /* "none": refused by the check of the record */
}

static double real_of(const json_t *json, const char *key)
{
    return json_number_value(json_object_get(json, key));
}

static struct dp_mechanism mechanism_of(const json_t *json)
{
    return (struct dp_mechanism){
        .sampler = (enum dp_sampler)name_of(json, "sampler", dp_sampler_names, 5),
        .rate = real_of(json, "rate"),
        .rows = json_integer_value(json_object_get(json, "rows")),
        .epoch_laps = json_integer_value(json_object_get(json, "epoch_laps")),
        .adjacency = (enum dp_adjacency)name_of(json, "adjacency", dp_adjacency_names, 3),
        .release = (enum dp_release)name_of(json, "release", dp_release_names, 4),
        .bound = real_of(json, "bound"),
        .sensitivity = real_of(json, "sensitivity"),
        .noise = (enum dp_noise)name_of(json, "noise", dp_noise_names, 4),
        .multiplier = real_of(json, "multiplier"),
        .scale = real_of(json, "scale"),
    };
}

/* One lap of a run, as dp-cat prints its frame. */
static int add_frame(const json_t *json, struct dp_charges *charges, struct dp_err *err)
{
    const json_t *mechanisms = json_object_get(json, "mechanisms");
    struct dp_mechanism records[DP_EVENT_MOST_QUERIES];
    struct dp_event event;
    int count = (int)json_array_size(mechanisms);
    for (int i = 0; i < count && i < DP_EVENT_MOST_QUERIES; i++)
        records[i] = mechanism_of(json_array_get(mechanisms, (size_t)i));
    int rc = dp_charge_check_records(records, count, json_integer_value(json_object_get(json, "lap")), err);
    if (rc == DP_OK)
        rc = dp_charge_event(records, count, &event, err);
    if (rc != DP_OK)
        return rc;
    /* The laps of one run share their shuffled epochs. */
    struct dp_charge *last = charges->count > 0 ? &charges->charge[charges->count - 1] : NULL;
    if (last != NULL && dp_event_same(&last->event, &event)) {
        last->laps++;
        return DP_OK;
    }
    return dp_charges_add(charges, &event, 1, err);
}

static int add_line(const char *text, size_t length, struct dp_charges *charges, struct dp_err *err)
{
    json_error_t error;
    struct dp_charge charge;
    json_t *json = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    if (json == NULL)
        return dp_fail(err, DP_E_RUN, "not JSON: %.80s", error.text);
    const char *kind = json_string_value(json_object_get(json, "kind"));
    int rc = DP_OK;
    if (kind == NULL) {
        rc = dp_charge_from_json(json, NULL, &charge, err);
        if (rc == DP_OK)
            rc = dp_charges_add(charges, &charge.event, charge.laps, err);
    } else if (strcmp(kind, "lap") == 0) {
        rc = add_frame(json, charges, err);
    }
    json_decref(json);
    return rc;
}

int records_read(const char *path, struct dp_charges *charges, struct dp_err *err)
{
    struct dp_lines lines = {0};
    int rc = dp_lines_open(&lines, path, err);
    while (rc == DP_OK && (rc = dp_lines_next(&lines, err)) == 1) {
        struct dp_err inner = {0};
        rc = lines.length == 0 ? DP_OK : add_line(lines.line, lines.length, charges, &inner);
        if (rc != DP_OK)
            dp_fail(err, rc, "%s: line %zu: %s", lines.name, lines.number, inner.message);
    }
    if (rc == DP_OK && charges->count == 0)
        rc = dp_fail(err, DP_E_RUN, "%s: no mechanism records", lines.name);
    dp_lines_close(&lines);
    return rc;
}
