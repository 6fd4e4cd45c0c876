#include "paid.h"

#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cli.h"
#include "base/number.h"
#include "base/option.h"
#include "base/round.h"
#include "data/census.h"
#include "gate/payer.h"
#include "math/bracket.h"
#include "math/grid.h"
#include "priv/gdp.h"

/* The mechanism, which is public. */
struct mechanism {
    double epsilon, delta; /* its cost */
    double named;          /* the part of delta that pays for texts of one person only */
    double multiplier, bound, scale, grid, threshold;
};

struct target {
    double epsilon, delta;
};

static double excess(double multiplier, void *target)
{
    const struct target *t = target;
    return multiplier > 0 ? dp_gaussian_epsilon(1 / multiplier, t->delta) - t->epsilon : (double)INFINITY;
}

/* Half of delta names texts, half is for the Gaussian. */
static struct mechanism choose(const struct dp_census *census, const struct paid_options *o)
{
    struct mechanism m = {.epsilon = o->epsilon, .delta = o->delta};
    for (int k = 1; isnan(m.delta); k++) /* the largest power of ten below 1 / rows^1.1, and a tenth of it */
        if (pow(10, -k) * pow((double)census->rows, 1.1) < 1)
            m.delta = pow(10, -k - 1);
    m.named = 0.5 * m.delta;
    struct target target = {m.epsilon * (1 - 1e-9), m.named * (1 - 1e-9)};
    m.multiplier = dp_bracket_smallest(excess, &target, 1e9) * (1 + 1e-9);
    m.bound = dp_census_sensitivity(census->columns);
    m.scale = m.multiplier * m.bound;
    m.grid = dp_grid_for(m.bound);
    m.threshold = dp_census_threshold(census->columns, m.scale, m.named);
    return m;
}

static struct dp_record record_of(const struct mechanism *m, int64_t rows)
{
    return (struct dp_record){
        .of = DP_F_SUM,
        .sampler = DP_SAMPLER_FULL,
        .rate = 1,
        .rows = rows,
        .adjacency = DP_ADJACENCY_NULL_RECORD,
        .release = DP_RELEASE_SUM,
        .bound = m->bound,
        .sensitivity = m->bound,
        .scale = m->scale,
        .query = {.kind = DP_QUERY_GAUSSIAN_THRESHOLD, .multiplier = m->multiplier, .named_delta = m->named}};
}

static int set_text(struct dp_frame *f, enum dp_field field, const char *text, struct dp_err *err)
{
    return dp_frame_set_text(f, field, text, strlen(text), err);
}

/* The frame of the only lap: the noised counts with their record. */
static int make_lap(const struct dp_census *census, const struct mechanism *m, const char *population, const struct dp_key *key,
                    struct dp_frame *lap, struct dp_err *err)
{
    const struct dp_record record = record_of(m, (int64_t)census->rows);
    unsigned char drawn[16];
    char data[2 * sizeof drawn + 1];
    int64_t *sum;
    randombytes_buf(drawn, sizeof drawn); /* a digest of the table could be compared with one of a guess */
    sodium_bin2hex(data, sizeof data, drawn, sizeof drawn);
    dp_frame_reset(lap, DP_KIND_LAP);
    lap->lap = 1;
    lap->label = DP_LABEL_NOISED;
    dp_frame_set_int(lap, DP_F_LAPS, 1);
    dp_frame_set_int(lap, DP_F_N, (int64_t)census->rows);
    dp_frame_set_real(lap, DP_F_BOUND, m->bound);
    dp_frame_set_real(lap, DP_F_GRID, m->grid);
    int rc = set_text(lap, DP_F_DATA, data, err);
    if (rc == DP_OK)
        rc = set_text(lap, DP_F_POPULATION, population, err);
    if (rc == DP_OK)
        rc = dp_frame_make_array(lap, DP_F_SUM, DP_I64, 1, census->counts, &sum, err);
    if (rc == DP_OK)
        rc = dp_frame_add_record(lap, &record, err);
    if (rc != DP_OK)
        return rc;
    dp_census_counts(census, (int64_t)(1 / m->grid), sum);
    if (dp_grid_add_gaussian(key, DP_DRAW_NOISE, 1, 0, m->scale / m->grid, sum, census->counts) != 0)
        rc = dp_fail(err, DP_E_RUN, "--private-schema: noise of scale %g does not fit the grid", m->scale);
    return rc;
}

/* Pays for the lap at a gate, before anything of it is looked at. mark: of the ledger's line, or "". */
static int pay(const struct paid_options *o, const struct identity *identity, const struct mechanism *m,
               const struct dp_frame *lap, char mark[DP_LEDGER_MARK], struct dp_err *err)
{
    const struct dp_registry_place place = dp_registry_chosen(&identity->choice, dp_registry_default());
    const struct dp_payer_options pays = {.epsilon = m->epsilon,
                                          .delta = m->delta,
                                          .ledger = o->ledger,
                                          .beside = o->beside,
                                          .no_ledger = o->no_ledger,
                                          .registry = identity->choice,
                                          .allow_seeded = true};
    struct dp_payer payer = {
        .options = &pays, .seeded = o->seed != DP_OPT_ABSENT_INT, .registry = &place, .time = (int64_t)time(NULL)};
    struct dp_frame *hello = NULL;
    int rc = dp_payer_check_options(&pays, err);
    if (rc == DP_OK)
        rc = dp_frame_new(&hello, err);
    if (rc == DP_OK) {
        dp_frame_reset(hello, DP_KIND_HELLO);
        dp_frame_set_int(hello, DP_F_LAPS, 1);
        rc = dp_frame_add_record(hello, &lap->record[0], err);
    }
    if (rc == DP_OK)
        rc = dp_payer_hello(&payer, hello, err);
    if (rc == DP_OK)
        rc = dp_payer_check(&payer, lap, err);
    if (rc == DP_OK)
        rc = dp_payer_begin(&payer, lap, err);
    if (rc == DP_OK && !o->quiet)
        dp_payer_warn(&payer, lap, dp_cli_hear, "dp-import");
    if (rc == DP_OK)
        rc = dp_payer_pay(&payer, lap, err);
    if (rc == DP_SPENT)
        rc = dp_fail(err, DP_E_BUDGET, "--private-schema: epsilon = %g does not pay for the schema", m->epsilon);
    mark[0] = '\0';
    if (rc == DP_OK && payer.reserve.ledger != NULL)
        snprintf(mark, DP_LEDGER_MARK, "%s", dp_ledger_mark(payer.reserve.ledger));
    if (rc == DP_OK)
        rc = dp_payer_end(&payer, false, NULL, err);
    dp_payer_close(&payer);
    dp_frame_free(hello);
    return rc;
}

/* Notes in the schema what it has cost. Noise that follows from a seed pays for nothing. */
static int note(json_t *schema, const struct paid_options *o, const struct identity *identity, const struct mechanism *m,
                const char *mark, struct dp_err *err)
{
    int bad;
    if (o->seed != DP_OPT_ABSENT_INT)
        bad = json_object_set_new(schema, "private_preprocessing", json_pack("[s]", "inferred-schema"));
    else
        bad = json_object_set_new(schema, "paid",
                                  json_pack("{s:f, s:f, s:s, s:s}", "epsilon", m->epsilon, "delta", m->delta, "ledger", mark,
                                            "population", identity->name));
    return bad == 0 ? DP_OK : dp_fail(err, DP_E_RUN, "out of memory");
}

int paid_schema(struct dp_import *import, struct identity *identity, const struct paid_options *o, json_t **schema, bool *small,
                struct dp_err *err)
{
    struct dp_census census = {0};
    struct mechanism m = {0};
    struct dp_frame *lap = NULL;
    struct dp_key key;
    char mark[DP_LEDGER_MARK], number[32];
    *schema = NULL;
    *small = false;
    int rc = dp_census_read(&census, import, err);
    if (rc == DP_OK) {
        m = choose(&census, o);
        /* A text of a quarter of the rows should be named. */
        *small = !(4 * m.threshold <= (double)census.rows);
    }
    if (rc == DP_OK && !*small)
        rc = identity_find(identity, import, err);
    if (rc == DP_OK && !*small)
        rc = dp_frame_new(&lap, err);
    if (o->seed != DP_OPT_ABSENT_INT)
        dp_key_derive(&key, o->seed, "dp-import", 0);
    else
        dp_key_fresh(&key);
    if (rc == DP_OK && !*small)
        rc = make_lap(&census, &m, identity->name, &key, lap, err);
    if (rc == DP_OK && !*small)
        rc = pay(o, identity, &m, lap, mark, err);
    if (rc == DP_OK && !*small) {
        const struct dp_array *sum = &lap->value[DP_F_SUM].array;
        rc = dp_census_schema(&census, sum->data, (int64_t)(1 / m.grid), m.scale, m.threshold, schema, err);
    }
    if (*schema != NULL)
        rc = note(*schema, o, identity, &m, mark, err);
    if (*schema != NULL && !o->quiet)
        fprintf(stderr, "dp-import: the schema cost epsilon %g, delta %s: a text is named if about %.0f rows of %zu have it\n",
                m.epsilon, dp_number_print(m.delta, number, sizeof number), m.threshold, census.rows);
    sodium_memzero(&key, sizeof key);
    dp_frame_free(lap);
    dp_census_free(&census);
    return rc;
}
