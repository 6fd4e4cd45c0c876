/* dp-noise: exact noise on the grid, on a sum whose sensitivity is bounded. */

#include "base/mem.h"
#include "data/schedule_file.h"
#include "math/gamma_norm.h"
#include "math/grid.h"
#include "math/laplace.h"
#include "priv/bands.h"
#include "priv/shares.h"
#include "stages/announced.h"
#include "stages/shared_options.h"
#include "wire/laps.h"

struct options {
    double multiplier, count_multiplier;
    int noise;
    const char *schedule;
    bool follow, share, allow_seeded;
    int64_t colluding, correlated;
};

struct state {
    struct dp_schedule schedule;
    int64_t *draw; /* gamma: one vector */
    size_t capacity;
    struct dp_bands bands; /* --correlated */
    double norm, grid;     /* of all laps; the norm is |c| of lib/priv/bands.h */
    bool once;             /* rows are in one lap only: a resumed run begins with a new ring */
};

#define DP_OPTIONS struct options
static const struct dp_option options[] = {
    DP_OPTION_REAL('z', multiplier, "Z", DP_ABOVE(0), "scale of the noise divided by the sensitivity", .required = true),
    DP_COUNT_MULTIPLIER_OPTION(count_multiplier),
    DP_OPTION_CHOICE(0, noise, "KIND", "gaussian|laplace|gamma", "distribution of the noise", .fallback = "gaussian"),
    DP_OPTION_TEXT(0, schedule, "B",
                   "the multiplier of lap t is Z sqrt(b_t/b_1): constant, inverse, sqrt:A:C, linear[:E], "
                   "linear-decay[:E], cosine[:E], first:K:B or a file",
                   .fallback = "constant"),
    DP_OPTION_FLAG(0, follow, "use the frame's multiplier, chosen from released values, instead of Z", .excludes = "schedule"),
    DP_OPTION_INT(0, correlated, "B", DP_FROM_TO(1, DP_BANDS_MOST),
                  "noise of a lap takes back part of the noise of the B - 1 laps before", .fallback = "1",
                  .needs = "noise=gaussian", .excludes = "schedule, follow, share"),
    DP_OPTION_FLAG(0, share, "add one share of the noise; all shards together add the whole",
                   .needs = "noise=gaussian: only Gaussian noise adds up"),
    DP_OPTION_INT(0, colluding, "C", DP_FROM_TO(0, DP_MAX_SHARDS - 1),
                  "C of the shares may be known to others, or be lost: the rest is enough noise", .fallback = "0",
                  .needs = "share"),
    DP_OPTION_FLAG(0, allow_seeded, "let a seeded run pass: reproducible, not private", .needs = "share"),
    {.name = NULL},
};

static enum dp_query_kind kind_of(const struct options *o)
{
    static const enum dp_query_kind kind[] = {DP_QUERY_GAUSSIAN, DP_QUERY_DISCRETE_LAPLACE, DP_QUERY_GAMMA}; /* --noise */
    return o->correlated > 1 ? DP_QUERY_CORRELATED : kind[o->noise];
}

static void noise_close(struct dp_stage *stage)
{
    struct state *s = stage->state;
    dp_schedule_free(&s->schedule);
    free(s->draw);
    dp_bands_close(&s->bands);
}

static int noise_open(struct dp_stage *stage, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    s->norm = o->correlated > 1 ? dp_bands_norm(o->correlated) : 1;
    return dp_schedule_open(&s->schedule, "--schedule", o->schedule, err);
}

/* Sets the multipliers of all laps that the stage works on; other laps keep 0, or the multiplier of another stage. */
static void put_multipliers(const struct dp_stage *stage, const struct dp_laps *laps, double *z)
{
    const struct options *o = stage->options;
    const struct state *s = stage->state;
    int64_t turn = 0, turns = stage->on != NULL ? stage->turns : laps->laps;
    int kind = stage->on != NULL ? dp_laps_find(laps, stage->on) : -1;
    for (int64_t t = 1; t <= laps->laps; t++)
        if (kind < 0 || dp_laps_kind(laps, t) == kind)
            z[t - 1] = o->multiplier * dp_schedule_noise(&s->schedule, ++turn, turns);
}

/* Announces the schedule before the first lap, so that the gate can check the run against it. */
static int announce_schedule(struct dp_stage *stage, struct dp_frame *hello, struct dp_err *err)
{
    struct state *s = stage->state;
    const char *text = dp_frame_text(hello, DP_F_KINDS, NULL);
    bool first = !dp_frame_has(hello, DP_F_MULTIPLIERS);
    int64_t count = dp_frame_int(hello, DP_F_LAPS, 0);
    struct dp_laps laps = {0};
    double *z;
    if (count <= 0) /* in this case no lap has a multiplier */
        return DP_OK;
    int rc = text != NULL ? dp_laps_parse(&laps, text, err) : dp_laps_plain(&laps, count, err);
    rc = rc ?: dp_schedule_check(&s->schedule, "--schedule", stage->on != NULL ? stage->turns : laps.laps, err);
    rc = rc ?: dp_frame_make_array(hello, DP_F_MULTIPLIERS, DP_F64, (uint64_t)laps.laps, 0, &z, err);
    if (rc == DP_OK && first)
        memset(z, 0, (size_t)laps.laps * sizeof *z);
    if (rc == DP_OK)
        put_multipliers(stage, &laps, z);
    dp_laps_free(&laps);
    return rc;
}

/* Objective perturbation has its own query already, without the noise on its result, and counts that are bounded in L1. */
static bool is_open(const struct dp_query *query)
{
    return query->kind == DP_QUERY_NONE || (query->kind == DP_QUERY_OBJECTIVE && query->multiplier == 0) ||
           (query->kind == DP_QUERY_LAPLACE_COUNTS && query->multiplier == 0);
}

static int complete(const struct dp_stage *stage, struct dp_record *record, enum dp_query_kind kind, double multiplier,
                    struct dp_err *err)
{
    const struct options *o = stage->options;
    if (record->query.kind == DP_QUERY_LAPLACE_COUNTS && kind == DP_QUERY_DISCRETE_LAPLACE)
        kind = record->query.kind;
    if (record->query.kind == DP_QUERY_LAPLACE_COUNTS && kind != record->query.kind)
        return dp_fail(err, DP_E_UNSAFE, "--noise: the sum is bounded in L1, for laplace only (dp-count --noise)");
    if (record->query.kind == DP_QUERY_NONE)
        record->query = (struct dp_query){.kind = kind};
    else if (kind != DP_QUERY_GAUSSIAN && kind != DP_QUERY_LAPLACE_COUNTS)
        return dp_fail(err, DP_E_UNSAFE,
                       "--noise: the error of a perturbed objective has an accountant only with Gaussian noise");
    /* Without shards the gate compares the multipliers. But the frames of a shard may go to a gate that is not honest. */
    if (stage->shards > 0 && record->promised > multiplier)
        return dp_fail(err, DP_E_UNSAFE, "--multiplier: dp-site-account has charged for a multiplier of %g, and this is %g",
                       record->promised, multiplier);
    record->query.multiplier = multiplier;
    if (kind == DP_QUERY_CORRELATED) {
        record->query.correlated = o->correlated;
        record->sensitivity *= ((const struct state *)stage->state)->norm;
    }
    record->scale = multiplier * record->sensitivity;
    if (!o->share)
        return DP_OK;
    if (record->promised != 0)
        return dp_fail(err, DP_E_UNSAFE, "--share: put dp-site-account after dp-noise, which records the noise, not before it");
    record->shares = stage->shards;
    record->colluding = o->colluding;
    return DP_OK;
}

static int check_share(const struct dp_stage *stage, struct dp_err *err)
{
    const struct options *o = stage->options;
    if (o->share && stage->shards == 0)
        return dp_fail(err, DP_E_USAGE, "--share: this run has no shards, so its noise has no shares");
    if (o->share && o->colluding >= stage->shards)
        return dp_fail(err, DP_E_USAGE, "--colluding: %lld of %lld shares leave no noise", (long long)o->colluding,
                       (long long)stage->shards);
    /* The gather, which receives the shares, also sends the seed. */
    if (o->share && stage->seeded && !o->allow_seeded)
        return dp_fail(err, DP_E_UNSAFE,
                       "--share: the run is seeded: anybody who knows the seed knows the noise (--allow-seeded for "
                       "experiments)");
    return DP_OK;
}

static int complete_announced(const struct dp_stage *stage, struct dp_record *record, struct dp_err *err)
{
    const struct options *o = stage->options;
    enum dp_noised noised = dp_paid[record->of].noised;
    if (!is_open(&record->query))
        return DP_OK;
    if (noised == DP_NOISED_COUNT)
        return isnan(o->count_multiplier) ? DP_OK : complete(stage, record, DP_QUERY_GAUSSIAN, o->count_multiplier, err);
    if (noised != DP_NOISED_MAIN)
        return DP_OK;
    record->follows |= o->follow ? DP_FOLLOWS_MULTIPLIER : 0;
    return complete(stage, record, kind_of(o), o->multiplier, err);
}

static int noise_hello(struct dp_stage *stage, struct dp_frame *frame, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    struct dp_record *record;
    int rc = check_share(stage, err);
    if (rc == DP_OK && o->correlated > 1 && stage->shards > 0)
        rc = dp_fail(err, DP_E_USAGE, "--correlated: only the total of all shards gets noise that is correlated");
    if (rc == DP_OK && o->correlated > 1 && stage->on == NULL && dp_frame_has(frame, DP_F_KINDS))
        rc = dp_fail(err, DP_E_USAGE, "--correlated: laps of several kinds need a noise each (--on)");
    for (int i = 0; i < DP_F_COUNT; i++)
        for (int at = 0; rc == DP_OK && (record = dp_announced(stage, frame, (enum dp_field)i, &at)) != NULL;)
            rc = complete_announced(stage, record, err);
    if (rc != DP_OK)
        return rc;
    return s->schedule.kind != DP_SCHEDULE_CONSTANT ? announce_schedule(stage, frame, err) : DP_OK;
}

/* The multiplier z_t of this lap. */
static int multiplier(struct dp_stage *stage, struct dp_frame *frame, double *z, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    int64_t turn = stage->turn, laps = stage->turns;
    *z = o->follow ? dp_frame_real(frame, DP_F_MULTIPLIER, o->multiplier) : o->multiplier;
    if (!(*z > 0 && isfinite(*z)))
        return dp_fail(err, DP_E_RUN, "--follow: the frame of lap %lld asks for a multiplier of %g", (long long)frame->lap, *z);
    if (s->schedule.kind == DP_SCHEDULE_CONSTANT)
        return DP_OK;
    if (laps <= 0)
        return dp_fail(err, DP_E_RUN, "--schedule: the stream does not say how many laps there will be");
    int rc = dp_schedule_check(&s->schedule, "--schedule", laps, err);
    if (rc == DP_OK && (turn < 1 || turn > laps))
        rc = dp_fail(err, DP_E_RUN, "--schedule: lap %lld of a run of %lld", (long long)turn, (long long)laps);
    if (rc == DP_OK)
        *z = o->multiplier * dp_schedule_noise(&s->schedule, turn, laps);
    if (rc == DP_OK && !(*z > 0 && isfinite(*z)))
        rc = dp_fail(err, DP_E_RUN, "--schedule: lap %lld has a multiplier of %g", (long long)frame->lap, *z);
    return rc;
}

static int add_laplace(struct dp_stage *stage, int64_t lap, enum dp_query_kind kind, double scale, const struct dp_array *sum,
                       struct dp_err *err)
{
    int64_t draw, *entry = sum->data;
    /* The recorded sensitivity is in L2, unless the kind says otherwise; the L1 sensitivity of a vector differs. */
    if (sum->count != 1 && kind != DP_QUERY_LAPLACE_COUNTS)
        return dp_fail(err, DP_E_RUN, "--noise laplace needs a single number, the sum has %zu", (size_t)sum->count);
    for (size_t j = 0; j < sum->count; j++)
        if (dp_laplace_draw(&stage->key, DP_DRAW_NOISE, (uint64_t)lap, j, scale, &draw, 1) != 0 ||
            __builtin_add_overflow(entry[j], draw, &entry[j]))
            return dp_fail(err, DP_E_RUN, "--multiplier: noise of %g grid steps does not fit the grid", scale);
    return DP_OK;
}

static int add_gamma(struct dp_stage *stage, int64_t lap, double scale, const struct dp_array *sum, struct dp_err *err)
{
    struct state *s = stage->state;
    int64_t *entry = sum->data;
    dp_extend(&s->draw, &s->capacity, sum->count, sizeof *s->draw);
    int rc = dp_gamma_norm_draw(&stage->key, DP_DRAW_NOISE, (uint64_t)lap, 0, scale, sum->count, s->draw, err);
    for (size_t j = 0; rc == DP_OK && j < sum->count; j++)
        if (__builtin_add_overflow(entry[j], s->draw[j], &entry[j]))
            rc = dp_fail(err, DP_E_RUN, "--multiplier: noise of %g grid steps does not fit the grid", scale);
    return rc;
}

/* Records noise on a bounded field without noise. */
static struct dp_record *record_noise(const struct dp_stage *stage, struct dp_frame *frame, enum dp_field field,
                                      enum dp_query_kind kind, double multiplier, struct dp_err *err)
{
    struct dp_record *r = dp_frame_edit_record(frame, field);
    if (r == NULL || !(r->sensitivity > 0)) {
        dp_fail(err, DP_E_UNSAFE, "the %s of lap %lld has no recorded sensitivity", dp_fields[field].key,
                (long long)frame->lap);
        return NULL;
    }
    if (!is_open(&r->query)) {
        dp_fail(err, DP_E_UNSAFE, "the %s of lap %lld is recorded as noised already", dp_fields[field].key,
                (long long)frame->lap);
        return NULL;
    }
    return complete(stage, r, kind, multiplier, err) == DP_OK ? r : NULL;
}

/* Adds Gaussian noise of the record's scale, or a share of it. Shards with one common key, from a seed, draw different parts of
   one stream. */
static int add_gaussian(struct dp_stage *stage, enum dp_purpose purpose, int64_t lap, const char *option,
                        const struct dp_record *r, double grid, const struct dp_array *to, struct dp_err *err)
{
    const struct options *o = stage->options;
    double scale = o->share ? dp_shares_scale(r->scale, r->shares, r->colluding) : r->scale;
    uint64_t first = stage->shards > 0 ? (uint64_t)(stage->shard - 1) * to->count : 0;
    if (o->share && !(scale / grid >= DP_SHARES_LEAST))
        return dp_fail(err, DP_E_UNSAFE,
                       "%s: a share has noise of %.3g steps of the grid, and below %g the shares together are not Gaussian "
                       "noise",
                       option, scale / grid, DP_SHARES_LEAST);
    if (dp_grid_add_gaussian(&stage->key, purpose, (uint64_t)lap, first, scale / grid, to->data, to->count) != 0)
        return dp_fail(err, DP_E_RUN, "%s: noise of scale %g does not fit the grid", option, scale);
    return DP_OK;
}

/* Noise that is correlated over laps. The ring keeps the noise of a lap that is lost later. */
static int add_correlated(struct dp_stage *stage, int64_t lap, const struct dp_record *r, double grid,
                          const struct dp_array *to, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    struct dp_bands *b = &s->bands;
    if (b->ring == NULL) {
        int64_t turn = b->turn;
        dp_bands_open(b, o->correlated, to->count);
        b->turn = turn;
        s->grid = grid;
        s->once = r->sampler == DP_SAMPLER_STREAM;
    }
    if (stage->turn != b->turn + 1)
        return dp_fail(err, DP_E_UNSAFE, "--correlated: lap %lld came after %lld laps", (long long)lap, (long long)b->turn);
    if (to->count != b->n || grid != s->grid)
        return dp_fail(err, DP_E_UNSAFE, "--correlated: the sum of lap %lld has another size or grid", (long long)lap);
    int64_t *z = dp_bands_slot(b), *sum = to->data;
    memset(z, 0, b->n * sizeof *z);
    if (dp_grid_add_gaussian(&stage->key, DP_DRAW_NOISE, (uint64_t)lap, 0, r->scale / grid * DP_BANDS_UNIT, z, b->n) != 0)
        return dp_fail(err, DP_E_RUN, "--multiplier: noise of scale %g does not fit the grid", r->scale);
    const int64_t *now = dp_bands_step(b);
    for (size_t j = 0; j < b->n; j++)
        if (__builtin_add_overflow(sum[j], now[j], &sum[j]))
            return dp_fail(err, DP_E_RUN, "--multiplier: noise of scale %g does not fit the grid", r->scale);
    return DP_OK;
}

/* Noise is addressed by lap and entry: a second field would get the same noise, and the difference of both would be exact. */
static int find(const struct dp_frame *frame, enum dp_noised noised, enum dp_field *field, struct dp_err *err)
{
    *field = DP_F_NONE;
    for (int i = 0; i < DP_F_COUNT; i++) {
        if (dp_paid[i].noised != noised || !dp_frame_has(frame, (enum dp_field)i))
            continue;
        if (*field != DP_F_NONE)
            return dp_fail(err, DP_E_UNSAFE, "lap %lld has a %s and a %s, and both would get the same noise",
                           (long long)frame->lap, dp_fields[*field].key, dp_fields[i].key);
        *field = (enum dp_field)i;
    }
    return DP_OK;
}

/* The count that dp-clip --adaptive has added to the frame. */
static int add_to_count(struct dp_stage *stage, struct dp_frame *frame, struct dp_err *err)
{
    const struct options *o = stage->options;
    const struct dp_array *count;
    enum dp_field field;
    int rc = find(frame, DP_NOISED_COUNT, &field, err);
    if (rc != DP_OK || field == DP_F_NONE)
        return rc;
    if (isnan(o->count_multiplier))
        return dp_fail(err, DP_E_USAGE, "--count-multiplier is required: dp-clip --adaptive counts examples");
    rc = dp_frame_need_array(frame, field, DP_I64, 2, &count, err);
    if (rc == DP_OK && count->count != 1)
        rc = dp_fail(err, DP_E_UNSAFE, "the count of lap %lld is not one number", (long long)frame->lap);
    if (rc != DP_OK)
        return rc;
    const struct dp_record *r = record_noise(stage, frame, field, DP_QUERY_GAUSSIAN, o->count_multiplier, err);
    if (r == NULL)
        return DP_E_UNSAFE;
    /* A purpose of its own, because the number of draws for the noise on the sum depends on its kind. */
    return add_gaussian(stage, DP_DRAW_COUNT_NOISE, frame->lap, "--count-multiplier", r, dp_paid_grid(frame, field), count,
                        err);
}

static int add_to_main(struct dp_stage *stage, struct dp_frame *frame, struct dp_err *err)
{
    const struct options *o = stage->options;
    enum dp_field field;
    double z, grid = 0;
    const struct dp_array *sum;
    int rc = find(frame, DP_NOISED_MAIN, &field, err);
    rc = rc ?: dp_frame_need_array(frame, field != DP_F_NONE ? field : DP_F_SUM, DP_I64, 2, &sum, err);
    if (rc == DP_OK)
        grid = dp_paid_grid(frame, field);
    if (rc == DP_OK && !(grid > 0))
        rc = dp_fail(err, DP_E_UNSAFE, "the %s of lap %lld has no grid", dp_fields[field].key, (long long)frame->lap);
    rc = rc ?: multiplier(stage, frame, &z, err);
    if (rc != DP_OK)
        return rc;
    const struct dp_record *r = record_noise(stage, frame, field, kind_of(o), z, err);
    if (r == NULL)
        return DP_E_UNSAFE;
    if (r->query.kind == DP_QUERY_DISCRETE_LAPLACE || r->query.kind == DP_QUERY_LAPLACE_COUNTS)
        return add_laplace(stage, frame->lap, r->query.kind, r->scale / grid, sum, err);
    if (r->query.kind == DP_QUERY_GAMMA)
        return add_gamma(stage, frame->lap, r->scale / grid, sum, err);
    if (r->query.kind == DP_QUERY_CORRELATED)
        return add_correlated(stage, frame->lap, r, grid, sum, err);
    return add_gaussian(stage, DP_DRAW_NOISE, frame->lap, "--multiplier", r, grid, sum, err);
}

static int noise_fire(struct dp_stage *stage, struct dp_frame *frame, struct dp_out *out, struct dp_err *err)
{
    int rc = add_to_main(stage, frame, err);
    rc = rc ?: add_to_count(stage, frame, err);
    if (rc != DP_OK)
        return rc;
    frame->label = DP_LABEL_NOISED;
    return out->frame(out, frame, err);
}

/* The noise of the last laps; no data is in it. Rows that arrive are in no lap after a resumption, so there the noise begins
 * again: with the old ring, a lap that is lost and its repetition would both have noise of earlier laps, and cost more than
 * the run. */
static int noise_save(struct dp_stage *stage, struct dp_state *state, struct dp_err *err)
{
    const struct options *o = stage->options;
    const struct state *s = stage->state;
    (void)err;
    if (o->correlated == 1)
        return DP_OK;
    dp_state_put_int(state, "turn", s->bands.turn);
    dp_state_put_real(state, "grid", s->grid);
    dp_state_put_ints(state, "ring", s->bands.ring, s->once ? 0 : s->bands.n * (size_t)o->correlated);
    return DP_OK;
}

static int noise_restore(struct dp_stage *stage, const struct dp_state *state, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    size_t count = 0;
    int64_t turn = 0, *ring = NULL;
    if (o->correlated == 1)
        return DP_OK;
    int rc = dp_state_get_int(state, "turn", 0, INT64_MAX, &turn, err);
    rc = rc ?: dp_state_get_real(state, "grid", &s->grid, err);
    rc = rc ?: dp_state_get_ints(state, "ring", &ring, &count, err);
    if (rc == DP_OK && count % (size_t)o->correlated != 0)
        rc = dp_fail(err, DP_E_RUN, "--correlated: the noise of the checkpoint is of another run");
    if (rc == DP_OK && count > 0) { /* otherwise no lap had noise yet, or the noise begins again */
        dp_bands_open(&s->bands, o->correlated, count / (size_t)o->correlated);
        memcpy(s->bands.ring, ring, count * sizeof *ring);
        s->bands.wide = o->correlated;
    }
    s->bands.turn = turn;
    free(ring);
    return rc;
}

const struct dp_stage_class dp_noise_class = {
    .name = "dp-noise",
    .summary = "Add exact noise to a bounded sum",
    DP_STAGE_STRUCTS,
    .takes = DP_LABEL_BOUNDED,
    .gives = DP_LABEL_NOISED,
    .open = noise_open,
    .hello = noise_hello,
    .fire = noise_fire,
    .close = noise_close,
    .save = noise_save,
    .restore = noise_restore,
    .additive = true,
    .compares = true, /* a shard has no ring */
};
