#include "payment.h"

#include <sodium.h>
#include <time.h>

#include "base/cli.h"
#include "base/mem.h"
#include "base/option.h"
#include "base/unit.h"
#include "gate/payer.h"
#include "gate/weak.h"
#include "ledger/schema_cost.h"
#include "math/bracket.h"
#include "math/grid.h"
#include "priv/bands.h"
#include "priv/gdp.h"

struct target {
    double epsilon, delta;
};

static double excess(double multiplier, void *target)
{
    const struct target *t = target;
    return multiplier > 0 ? dp_gaussian_epsilon(1 / multiplier, t->delta) - t->epsilon : (double)INFINITY;
}

struct payment payment_choose(const struct payment_options *o, size_t units, size_t rows_per_person, double bound, double part)
{
    struct payment p = {
        .epsilon = o->epsilon, .delta = o->delta, .units = (int64_t)units, .rows_per_person = rows_per_person, .bound = bound};
    for (int k = 1; isnan(p.delta); k++) /* the default delta: the largest power of ten below 1 / rows^1.1, divided by 10 */
        if (pow(10, -k) * pow((double)units, 1.1) < 1)
            p.delta = pow(10, -k - 1);
    p.named = part * p.delta;
    struct target target = {p.epsilon * (1 - 1e-9), (p.delta - p.named) * (1 - 1e-9)};
    p.multiplier = dp_bracket_smallest(excess, &target, 1e9) * (1 + 1e-9);
    p.sensitivity = p.bound;
    p.scale = p.multiplier * p.bound;
    p.grid = dp_grid_for(p.bound);
    return p;
}

void payment_correlate(struct payment *p, size_t cells)
{
    p->along = cells;
    p->sensitivity = p->bound * dp_bands_norm((int64_t)cells);
    p->scale = p->multiplier * p->sensitivity;
}

static struct dp_record record_of(const struct payment *p)
{
    return (struct dp_record){.of = DP_F_SUM,
                              .sampler = DP_SAMPLER_FULL,
                              .rate = 1,
                              .rows = p->units,
                              .adjacency = DP_ADJACENCY_NULL_RECORD,
                              .release = DP_RELEASE_SUM,
                              .bound = p->bound,
                              .sensitivity = p->sensitivity,
                              .scale = p->scale,
                              .query = {.kind = p->named > 0 ? DP_QUERY_GAUSSIAN_THRESHOLD : DP_QUERY_GAUSSIAN,
                                        .multiplier = p->multiplier,
                                        .named_delta = p->named}};
}

static void set_text(struct dp_frame *f, enum dp_field field, const char *text)
{
    if (text != NULL)
        dp_frame_set_string(f, field, text);
}

/* The frame of the only lap, with its record. */
static int make_lap(const struct payment *p, const char *population, const int64_t *noised, size_t n, struct dp_frame *lap,
                    struct dp_err *err)
{
    const struct dp_record record = record_of(p);
    unsigned char drawn[16];
    char data[2 * sizeof drawn + 1], unit[DP_UNIT_TEXT];
    int64_t *sum;
    randombytes_buf(drawn, sizeof drawn); /* anyone could compare the table's digest with the digest of a guess */
    sodium_bin2hex(data, sizeof data, drawn, sizeof drawn);
    dp_frame_reset(lap, DP_KIND_LAP);
    lap->lap = 1;
    lap->label = DP_LABEL_NOISED;
    dp_frame_set_int(lap, DP_F_LAPS, 1);
    dp_frame_set_int(lap, DP_F_N, p->units);
    dp_frame_set_real(lap, DP_F_BOUND, p->bound);
    dp_frame_set_real(lap, DP_F_GRID, p->grid);
    set_text(lap, DP_F_DATA, data);
    set_text(lap, DP_F_POPULATION, population);
    set_text(lap, DP_F_UNIT, dp_unit_text(p->rows_per_person, unit));
    int rc = dp_frame_make_array(lap, DP_F_SUM, DP_I64, 1, n, &sum, err);
    if (rc == DP_OK)
        memcpy(sum, noised, n * sizeof *sum);
    return rc ?: dp_frame_add_record(lap, &record, err);
}

static double member(const json_t *paid, const char *key)
{
    return json_number_value(json_object_get(paid, key));
}

/* The announcement of the run: its record, and what was paid for the schema. */
static int make_hello(const struct dp_frame *lap, const struct identity *identity, const json_t *prior, struct dp_frame *hello,
                      struct dp_err *err)
{
    const char *by = json_string_value(json_object_get(prior, "population")),
               *mark = json_string_value(json_object_get(prior, "ledger"));
    dp_frame_reset(hello, DP_KIND_HELLO);
    dp_frame_set_int(hello, DP_F_LAPS, 1);
    if (prior != NULL) {
        dp_frame_set_real(hello, DP_F_EPSILON, member(prior, "epsilon"));
        dp_frame_set_real(hello, DP_F_DELTA, member(prior, "delta"));
    }
    bool own = by != NULL && strcmp(by, identity->name) == 0 && mark != NULL && mark[0] != '\0';
    if (own)
        set_text(hello, DP_F_LEDGER, mark);
    return dp_frame_add_record(hello, &lap->record[0], err);
}

/* The delta of which a schema has a tenth. */
static double budget_delta(double delta)
{
    char text[40];
    snprintf(text, sizeof text, "%.15g", 10 * delta);
    return strtod(text, NULL);
}

/* mark: of the ledger's line, or "". */
static int pay(const struct payment *p, const struct payment_options *o, const struct identity *identity, const json_t *prior,
               const struct dp_frame *lap, char mark[DP_LEDGER_MARK], struct dp_err *err)
{
    const struct dp_registry_place place = dp_registry_chosen(&identity->choice, dp_registry_default());
    struct dp_payer_options pays = {.epsilon = p->epsilon,
                                    .delta = p->delta,
                                    .ledger = o->ledger,
                                    .new_ledger = o->new_ledger,
                                    .no_ledger = o->no_ledger,
                                    .registry = identity->choice,
                                    .allow_seeded = true,
                                    .allow_weak = o->allow_weak};
    struct dp_payer payer = {
        .options = &pays, .seeded = o->seed != DP_OPT_ABSENT_INT, .registry = &place, .time = (int64_t)time(NULL)};
    struct dp_frame *hello = dp_frame_new();
    if (o->of > 0) {
        struct target target = {o->of, budget_delta(p->delta)};
        pays.later = (struct dp_ledger_later){o->of, target.delta, dp_bracket_smallest(excess, &target, 1e9)};
    }
    int rc = make_hello(lap, identity, prior, hello, err);
    rc = rc ?: dp_payer_hello(&payer, hello, err);
    rc = rc ?: dp_payer_check(&payer, lap, err);
    rc = rc ?: dp_payer_begin(&payer, lap, err);
    if (rc == DP_OK && !o->quiet)
        dp_payer_warn(&payer, lap, dp_cli_hear, "dp-import");
    rc = rc ?: dp_payer_pay(&payer, lap, err);
    if (rc == DP_SPENT)
        rc = dp_fail(err, DP_E_BUDGET, "--%s: epsilon = %g does not pay for it", o->option, p->epsilon);
    mark[0] = '\0';
    if (rc == DP_OK && payer.ledger != NULL)
        snprintf(mark, DP_LEDGER_MARK, "%s", dp_ledger_mark(payer.ledger));
    rc = rc ?: dp_payer_end(&payer, false, NULL, err);
    dp_payer_close(&payer);
    dp_frame_free(hello);
    return rc;
}

/* Nonzero: the noise does not fit the grid. */
static int add_noise(const struct dp_key *key, const struct payment *p, int64_t *counts, size_t n)
{
    if (p->along == 0)
        return dp_grid_add_gaussian(key, DP_DRAW_NOISE, 1, 0, p->scale / p->grid, counts, n);
    const size_t columns = n / p->along;
    struct dp_bands b;
    dp_bands_open(&b, (int64_t)p->along, columns); /* a slot for each cell */
    int rc = dp_grid_add_gaussian(key, DP_DRAW_NOISE, 1, 0, p->scale / p->grid * DP_BANDS_UNIT, b.ring, n);
    for (size_t i = 0; rc == 0 && i < p->along; i++) {
        const int64_t *noise = dp_bands_step(&b);
        for (size_t j = 0; j < columns; j++)
            counts[j * p->along + i] += noise[j];
    }
    dp_bands_close(&b);
    return rc;
}

int payment_make(const struct payment *p, const struct payment_options *o, const struct identity *identity, const json_t *prior,
                 int64_t *counts, size_t n, json_t **paid, struct dp_err *err)
{
    struct dp_key key;
    char mark[DP_LEDGER_MARK];
    *paid = NULL;
    if (o->seed != DP_OPT_ABSENT_INT)
        dp_key_derive(&key, o->seed, "dp-import", 0);
    else
        dp_key_fresh(&key);
    struct dp_frame *lap = dp_frame_new();
    int rc = DP_OK;
    if (o->of > 0) /* what the run after it would refuse */
        rc = dp_weak_check(o->epsilon, budget_delta(p->delta), p->units, o->allow_weak || o->seed != DP_OPT_ABSENT_INT, NULL,
                           NULL, err);
    if (rc == DP_OK && add_noise(&key, p, counts, n) != 0)
        rc = dp_fail(err, DP_E_RUN, "--%s: noise of scale %g does not fit the grid", o->option, p->scale);
    rc = rc ?: make_lap(p, identity->name, counts, n, lap, err);
    rc = rc ?: pay(p, o, identity, prior, lap, mark, err);
    if (rc == DP_OK && o->seed == DP_OPT_ABSENT_INT)
        *paid = json_pack("{s:f, s:f, s:s, s:s}", "epsilon", member(prior, "epsilon") + p->epsilon, "delta",
                          member(prior, "delta") + p->delta, "ledger", mark, "population", identity->name);
    if (*paid != NULL) {
        const struct dp_record record = record_of(p);
        struct dp_event event = {.sampling = DP_SAMPLING_NONE, .rate = 1, .queries = 1, .query = {record.query}};
        dp_schema_cost_add(*paid, prior, &event, o->of, budget_delta(p->delta));
        json_object_update_missing(*paid, (json_t *)prior); /* its column of persons */
    }
    sodium_memzero(&key, sizeof key);
    dp_frame_free(lap);
    return rc;
}
