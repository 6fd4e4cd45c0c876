#include "records.h"

#include <jansson.h>

#include "base/json.h"
#include "base/mem.h"
#include "data/lines.h"
#include "account/account.h"
#include "ledger/charge_json.h"
#include "account/plan.h"
#include "gate/charge.h"

#define MOST_DIFFERENT 384 /* mechanisms: an accountant takes some milliseconds for each */
#define WHOLE "record the whole stream (dp-loop ... > FILE, or a pipeline without -o)"

/* The run that is being read. */
struct reader {
    struct recorded *all;
    struct recorded_run *run; /* NULL before the first lap */
    bool has_charges;         /* the input has lines that are charges */
    struct dp_record people;  /* population of its first lap */
    struct dp_event first;    /* event of lap 1 */
    bool planned;             /* the laps differ in the multiplier of the first query only */
    double *multiplier;       /* of each lap */
    size_t capacity;
    struct dp_plan laps; /* charged lap by lap, because the laps differ in more than that */
};

static double real_or(const json_t *json, const char *key, double fallback)
{
    const json_t *value = json_object_get(json, key);
    return json_is_number(value) ? json_number_value(value) : fallback;
}

static const char *text_of(const json_t *json, const char *key)
{
    const char *text = json_string_value(json_object_get(json, key));
    return text != NULL ? text : "";
}

static bool released(const json_t *json)
{
    return strcmp(text_of(json, "label"), "released") == 0;
}

/* A member that is missing, or has another type or name, stays as in an empty record, which the record's check refuses. */
static struct dp_record record_of(const json_t *json)
{
    struct dp_record record = {.of = DP_F_NONE};
    const char *key;
    json_t *entry;
    json_object_foreach ((json_t *)json, key, entry) {
        const char *text = json_string_value(entry);
        int member = dp_record_find(key, strlen(key));
        struct dp_record_value value = {.whole = json_integer_value(entry),
                                        .real = json_number_value(entry),
                                        .text = text != NULL ? text : "",
                                        .length = text != NULL ? strlen(text) : 0};
        if (member < DP_RECORD_MEMBER_COUNT)
            dp_record_set(&record, member, &value);
    }
    dp_record_tidy(&record);
    return record;
}

static int event_of(const json_t *json, int64_t lap, struct dp_record *first, struct dp_event *event, struct dp_err *err)
{
    const json_t *list = json_object_get(json, "records"), *old = json_object_get(json, "mechanisms"); /* of format 1 */
    struct dp_record records[DP_EVENT_MOST_QUERIES];
    int count = (int)json_array_size(list != NULL ? list : old);
    for (int i = 0; i < count && i < DP_EVENT_MOST_QUERIES; i++) {
        records[i] = record_of(json_array_get(list != NULL ? list : old, (size_t)i));
        if (list == NULL)
            dp_record_of_format_1(&records[i], i);
    }
    int rc = dp_charge_check_records(records, count, lap, err);
    rc = rc ?: dp_charge_event(records, count, event, err);
    if (rc == DP_OK)
        *first = *records;
    return rc;
}

/* The run is complete: its laps become charges, as the gate charges them. */
static int end_run(struct reader *r, struct dp_err *err)
{
    struct dp_plan plan = {0};
    int rc = DP_OK;
    if (r->run == NULL)
        return DP_OK;
    if (r->planned && r->first.query[0].kind != DP_QUERY_GAUSSIAN) {
        rc = dp_charges_add(&r->run->charges, &r->first, r->run->laps, err);
    } else if (r->planned) {
        rc = dp_plan_add_scheduled(&plan, &r->first, r->multiplier, r->run->laps, err);
        rc = rc ?: dp_plan_charges(&plan, r->run->laps, &r->run->charges, err);
        dp_plan_free(&plan);
    } else {
        rc = dp_plan_charges(&r->laps, r->run->laps, &r->run->charges, err);
        dp_plan_free(&r->laps);
    }
    struct recorded *all = r->all;
    all->moves |= r->run->charges.count > 1;
    all->prior_epsilon += r->run->prior_epsilon;
    all->prior_delta += r->run->prior_delta;
    return rc ?: dp_charges_add_all(&all->charges, dp_charges_add, &r->run->charges, err);
}

/* The epsilon that a frame states. In texts of earlier versions it may be what a paper claims (as_published), which bounds
   nothing. */
static double stated(const json_t *json, double none)
{
    const json_t *epsilon = json_object_get(json, "epsilon");
    if (epsilon == NULL)
        return none;
    bool bounds = json_is_number(epsilon) && !json_is_true(json_object_get(json, "as_published"));
    return bounds ? json_number_value(epsilon) : (double)INFINITY;
}

static int begin_run(struct reader *r, const json_t *json, size_t line, struct dp_err *err)
{
    struct recorded *all = r->all;
    int rc = end_run(r, err);
    if (rc != DP_OK)
        return rc;
    dp_extend(&all->run, &all->capacity, all->runs + 1, sizeof *all->run);
    r->run = &all->run[all->runs++];
    /* In front of the gate the frame of lap 1 has the initial model, with its cost. */
    bool out = released(json);
    *r->run = (struct recorded_run){.line = line,
                                    .epsilon = (double)NAN,
                                    .delta = (double)NAN,
                                    .planned = json_integer_value(json_object_get(json, "laps")),
                                    .prior_epsilon = out ? real_or(json, "prior_epsilon", 0) : stated(json, 0),
                                    .prior_delta = real_or(json, out ? "prior_delta" : "delta", 0)};
    r->planned = true;
    return isfinite(r->run->prior_epsilon) ? DP_OK
                                           : dp_fail(err, DP_E_UNSAFE, "the run starts from a model whose cost has no bound");
}

/* Lap numbers show whether this is a whole run or a part of one. */
static int check_lap(const struct reader *r, int64_t lap, struct dp_err *err)
{
    int64_t last = r->run != NULL ? r->run->laps : 0;
    if (lap == last + 1 || lap == 1)
        return DP_OK;
    if (last == 0)
        return dp_fail(err, DP_E_UNSAFE,
                       "the stream begins with lap %lld, and what the laps before it cost is not in it: a model "
                       "file (-o) holds only the last lap; " WHOLE ", or ask dp-info what the model says of itself",
                       (long long)lap);
    return dp_fail(err, DP_E_UNSAFE, "lap %lld came after lap %lld: a run has each lap once, and all of them; " WHOLE,
                   (long long)lap, (long long)last);
}

/* Checks the members that do not change within a stream. */
static int check_same(struct reader *r, const json_t *json, const struct dp_record *record, struct dp_err *err)
{
    struct recorded *all = r->all;
    const char *data = text_of(json, "data");
    if (all->adjacency == DP_ADJACENCY_NONE) {
        all->adjacency = record->adjacency;
        snprintf(all->data, sizeof all->data, "%s", data);
    }
    if (record->adjacency != all->adjacency)
        return dp_fail(err, DP_E_UNSAFE, "the frame is under %s adjacency, those before it are under %s: they do not compose",
                       dp_adjacency_names[record->adjacency], dp_adjacency_names[all->adjacency]);
    if (strncmp(data, all->data, sizeof all->data - 1) != 0)
        return dp_fail(err, DP_E_UNSAFE,
                       "the frame is about the data set %.40s, those before it are about %.40s: one data set at a time",
                       data[0] != '\0' ? data : "(unnamed)", all->data[0] != '\0' ? all->data : "(unnamed)");
    if (r->run->laps == 0)
        r->people = *record;
    int member = dp_record_differs(record, &r->people, dp_record_alike(DP_ALIKE_RUN));
    if (member != DP_RECORD_MEMBER_COUNT)
        return dp_fail(err, DP_E_UNSAFE, "lap %lld records another '%s' than the first lap", (long long)r->run->laps + 1,
                       dp_record_key(member));
    return DP_OK;
}

/* Laps that differ in more than the multiplier of their first query are charged one by one. */
static int unplan(struct reader *r, struct dp_err *err)
{
    int rc = DP_OK;
    r->planned = false;
    for (int64_t t = 0; rc == DP_OK && t < r->run->laps; t++) {
        struct dp_event event = r->first;
        if (event.query[0].kind == DP_QUERY_GAUSSIAN)
            event.query[0].multiplier = r->multiplier[t];
        rc = dp_plan_add(&r->laps, &event, 1, err);
    }
    return rc;
}

static int add_event(struct reader *r, const struct dp_event *event, struct dp_err *err)
{
    int64_t lap = r->run->laps + 1;
    if (lap == 1)
        r->first = *event;
    struct dp_event same = *event;
    same.query[0].multiplier = r->first.query[0].multiplier;
    bool gaussian = event->query[0].kind == DP_QUERY_GAUSSIAN;
    bool like = gaussian ? dp_event_same(&same, &r->first) : dp_event_same(event, &r->first);
    dp_extend(&r->multiplier, &r->capacity, (size_t)lap, sizeof *r->multiplier);
    int rc = r->planned && !like ? unplan(r, err) : DP_OK;
    if (rc == DP_OK && !r->planned)
        rc = dp_plan_add(&r->laps, event, 1, err);
    if (rc != DP_OK)
        return rc;
    r->multiplier[lap - 1] = gaussian ? event->query[0].multiplier : 0;
    r->run->laps = lap;
    return DP_OK;
}

static void note(struct reader *r, const json_t *json)
{
    struct recorded_run *run = r->run;
    run->seeded |= json_is_true(json_object_get(json, "seeded"));
    if (released(json)) {
        run->delta = real_or(json, "delta", (double)NAN);
        run->epsilon = stated(json, (double)NAN);
        if (isinf(run->epsilon))
            run->epsilon = (double)NAN;
    }
    r->all->seeded |= run->seeded;
}

/* One lap of a run, as dp-cat prints its frame. */
static int add_frame(struct reader *r, const json_t *json, size_t line, struct dp_err *err)
{
    int64_t lap = json_integer_value(json_object_get(json, "lap"));
    struct dp_record record;
    struct dp_event event;
    if (json_is_true(json_object_get(json, "non_private")))
        return dp_fail(err, DP_E_UNSAFE, "the frame comes from a run without privacy: no epsilon bounds what it released");
    int rc = check_lap(r, lap, err);
    if (rc == DP_OK && lap == 1)
        rc = begin_run(r, json, line, err);
    rc = rc ?: event_of(json, lap, &record, &event, err);
    rc = rc ?: check_same(r, json, &record, err);
    rc = rc ?: add_event(r, &event, err);
    if (rc == DP_OK)
        note(r, json);
    return rc;
}

static int add_line(struct reader *r, const char *text, size_t length, size_t line, struct dp_err *err)
{
    struct dp_charge charge = {0};
    json_t *json;
    int rc = dp_json_parse(&json, text, length, NULL, err);
    if (rc != DP_OK)
        return rc;
    const char *kind = json_string_value(json_object_get(json, "kind"));
    if (kind == NULL) {
        r->has_charges = true;
        rc = dp_charge_from_json(json, NULL, &charge, err);
        rc = rc ?: dp_charges_add(&r->all->charges, &charge.event, charge.laps, err);
        dp_event_free(&charge.event);
    } else if (strcmp(kind, "lap") == 0) {
        rc = add_frame(r, json, line, err);
    } else if (strcmp(kind, "end") == 0 && r->run != NULL) {
        r->run->ended = true;
        r->run->spent = json_integer_value(json_object_get(json, "status")) == -DP_E_BUDGET;
    } else if (strcmp(kind, "hello") != 0 && strcmp(kind, "end") != 0 && strcmp(kind, "error") != 0) {
        rc = dp_fail(err, DP_E_RUN, "neither a frame nor a charge: a '%.40s' line (dp-account report reads ledgers)", kind);
    }
    if (rc == DP_OK && r->has_charges && r->run != NULL)
        rc = dp_fail(err, DP_E_RUN, "frames and charges in one input: a charge does not say whom it protects");
    json_decref(json);
    return rc;
}

/* Whether the first line begins with msgpack's map, as every frame does. */
static bool is_stream(const struct dp_lines *lines)
{
    bool refused = lines->number == 0; /* it is not text: the bytes read are still in the chunk */
    const char *from = refused ? lines->chunk.bytes + lines->chunk.at : lines->line;
    bool some = refused ? lines->chunk.at < lines->chunk.end : lines->capacity > 0;
    return lines->number <= 1 && some && ((unsigned char)from[0] & 0xf0) == 0x80;
}

int records_read(const char *path, struct recorded *recorded, struct dp_err *err)
{
    struct dp_lines lines = {0};
    struct reader r = {.all = recorded};
    int rc = dp_lines_open(&lines, path, err);
    while (rc == DP_OK && (rc = dp_lines_next(&lines, err)) == 1) {
        struct dp_err inner = {0};
        rc = lines.length == 0 ? DP_OK : add_line(&r, lines.line, lines.length, lines.number, &inner);
        if (rc == DP_OK && (recorded->charges.count > MOST_DIFFERENT || r.laps.events > MOST_DIFFERENT))
            rc = dp_fail(&inner, DP_E_RUN, "more than %d mechanisms that differ: they cannot be accounted for in time",
                         MOST_DIFFERENT);
        if (rc != DP_OK)
            dp_fail(err, rc, "%s: line %zu: %s", lines.name, lines.number, inner.message);
    }
    if (rc < 0 && is_stream(&lines))
        rc =
            dp_fail(err, DP_E_RUN,
                    "%s: this is a stream of frames: give what dp-cat prints of it (dp-cat FILE | dp-account ...)", lines.name);
    rc = rc ?: end_run(&r, err);
    if (rc == DP_OK && recorded->charges.count == 0)
        rc = dp_fail(err, DP_E_RUN, "%s: no records", lines.name);
    dp_lines_close(&lines);
    free(r.multiplier);
    dp_plan_free(&r.laps);
    return rc;
}

void records_free(struct recorded *recorded)
{
    for (size_t i = 0; i < recorded->runs; i++)
        dp_charges_free(&recorded->run[i].charges);
    free(recorded->run);
    dp_charges_free(&recorded->charges);
    *recorded = (struct recorded){0};
}

static int check_run(struct recorded_run *run, struct dp_err *err)
{
    struct dp_answer best, rdp;
    double delta = run->delta - run->prior_delta;
    if (isnan(run->epsilon) || isnan(run->delta))
        return DP_OK;
    if (!(delta > 0))
        return dp_fail(err, DP_E_UNSAFE,
                       "the run from line %zu on states a delta of %g, and %g of it for the model it started from", run->line,
                       run->delta, run->prior_delta);
    int rc = dp_account_epsilon(DP_ACCOUNTANT_BEST, &run->charges, delta, &best, err);
    if (rc != DP_OK)
        return rc;
    run->lower = run->prior_epsilon + best.lower;
    run->upper = run->prior_epsilon + best.upper;
    if (!recorded_agrees(run)) {
        /* In the middle of a run the gate may have stated the epsilon of Rényi accounting. */
        rc = dp_account_epsilon(DP_ACCOUNTANT_RDP, &run->charges, delta, &rdp, err);
        run->upper = run->prior_epsilon + fmax(best.upper, rdp.upper);
    }
    if (rc != DP_OK)
        return rc;
    if (run->epsilon < run->lower * (1 - 1e-9))
        return dp_fail(err, DP_E_UNSAFE,
                       "the run from line %zu on states an epsilon of %.9g at delta %g, and its records cost at least "
                       "%.9g",
                       run->line, run->epsilon, run->delta, run->lower);
    return DP_OK;
}

/* Whether the run ended early although its budget was not spent: released values may then have decided the end. A stream costs
 * as much as its first lap, so its length does not matter. */
static bool was_stopped(const struct recorded_run *run)
{
    bool stream = true;
    for (size_t i = 0; i < run->charges.count; i++)
        stream = stream && run->charges.charge[i].event.sampling == DP_SAMPLING_STREAM;
    return run->planned > run->laps && !run->spent && !stream;
}

int records_check(struct recorded *recorded, struct dp_err *err)
{
    int rc = DP_OK;
    for (size_t i = 0; rc == DP_OK && i < recorded->runs; i++) {
        rc = check_run(&recorded->run[i], err);
        recorded->more |= !recorded_agrees(&recorded->run[i]);
        recorded->stopped |= was_stopped(&recorded->run[i]);
    }
    return rc;
}

bool recorded_agrees(const struct recorded_run *run)
{
    return isnan(run->epsilon) || isnan(run->delta) || run->epsilon <= run->upper * (1 + 1e-6);
}
