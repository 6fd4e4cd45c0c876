/* dp-sample: chooses the rows of a lap. Every shard draws the same Poisson batches (math/coins.h). */
#include <jansson.h>

#include "base/json.h"
#include "base/mem.h"
#include "data/dataset.h"
#include "math/coins.h"
#include "math/bitset.h"
#include "model/described.h"
#include "stages/announced.h"
#include "wire/codec.h"

enum mode { MODE_POISSON, MODE_FIXED, MODE_SHUFFLE, MODE_CYCLIC, MODE_FULL };

struct options {
    const char *data;
    double rate;
    int mode;
    int64_t columns;
    const char *shard;
    bool inline_rows;
};

struct state {
    struct dp_dataset *dataset;
    /* Persons are sampled. In this struct "row" means all rows of a person, except where a comment names the data set. */
    int64_t from, to;        /* rows of the data set that may be in a batch: all rows, except if the shard is a part of it */
    int64_t first_row;       /* number of their first row among the rows of all shards */
    int64_t rows;            /* public number of rows: of the data set, or of all shards together */
    int64_t batch;           /* fixed, shuffle: rows per lap; cyclic: the most */
    int64_t epoch_laps;      /* shuffle, cyclic */
    int64_t epoch;           /* epoch of the permutation, -1 if none yet */
    int64_t *permutation;    /* shuffle, cyclic: rows entries */
    struct dp_bitset chosen; /* fixed */
    struct dp_coins coins;
    int64_t *picked;
    size_t picked_capacity, count;
    int64_t *column_order; /* primal: cols entries */
    char unit[DP_UNIT_TEXT];
    char *labels;    /* class names, a JSON array, or NULL */
    char *directory; /* absolute path of the data set; NULL if unknown */
};

#define DP_OPTIONS struct options
static const struct dp_option options[] = {
    DP_OPTION_TEXT('d', data, "DIR", "data set to sample from", .required = true),
    DP_OPTION_REAL('r', rate, "Q", DP_ABOVE_TO(0, 1), "probability of a row, or part of the rows, per lap; 100/24420 will do",
                   .fallback = "1", .excludes = "mode=full: it takes every row"),
    DP_OPTION_CHOICE('m', mode, "MODE", "poisson|fixed|shuffle|cyclic|full", "method of choosing rows", .fallback = "poisson"),
    DP_OPTION_INT(0, columns, "L", DP_FROM_TO(1, 1e9), "also choose L columns, for primal coordinate descent",
                  .needs = "mode=full"),
    DP_OPTION_TEXT(0, shard, "K/N", "sample from the Kth of N parts of the rows; other pipelines have the other parts",
                   .excludes = "mode=fixed|shuffle|cyclic, columns: that needs all rows at once"),
    DP_OPTION_FLAG(0, inline_rows, "put the rows into the frame, not only their numbers", .name = "inline"),
    {.name = NULL},
};

static void sample_close(struct dp_stage *stage)
{
    struct state *s = stage->state;
    dp_dataset_close(s->dataset);
    free(s->permutation);
    dp_bitset_close(&s->chosen);
    free(s->picked);
    free(s->column_order);
    free(s->labels);
    free(s->directory);
}

/* ["<=50K",">50K"] */
static void name_classes(struct state *s)
{
    json_t *names = json_array();
    for (size_t k = 0; k < s->dataset->label.classes; k++)
        json_array_append_new(names, json_string(s->dataset->label.class_names[k]));
    s->labels = dp_json_text(names, JSON_COMPACT);
    json_decref(names);
}

/* Samplers that need all rows at once. */
static const char *whole_option(const struct options *o)
{
    if (o->mode == MODE_FIXED || o->mode == MODE_SHUFFLE || o->mode == MODE_CYCLIC)
        return "--mode fixed, shuffle or cyclic";
    return o->columns != DP_OPT_ABSENT_INT ? "--columns" : NULL;
}

/* Which rows of the data set may be in a batch. */
static int take_part(const struct options *o, struct state *s, struct dp_err *err)
{
    int64_t shard = 1, shards = 1;
    int rc = o->shard != NULL ? dp_option_part("shard", o->shard, DP_MAX_SHARDS, &shard, &shards, err) : DP_OK;
    if (rc != DP_OK)
        return rc;
    s->rows = (int64_t)s->dataset->persons;
    s->from = s->rows * (shard - 1) / shards;
    s->to = s->rows * shard / shards;
    return DP_OK;
}

/* Makes room for the largest batch, except with a probability below 2^-64: whether a batch fits a frame must not depend on the
 * batch. */
static int make_room(const struct options *o, struct state *s, struct dp_err *err)
{
    size_t part = (size_t)(s->to - s->from), each = s->dataset->rows_per_person > 1 ? s->dataset->rows_per_person : 1;
    size_t row = o->inline_rows ? each * (4 * s->dataset->cols + 16) : 8;
    size_t largest = o->mode == MODE_POISSON ? dp_coins_largest(o->rate, part) : o->mode == MODE_FULL ? part : (size_t)s->batch;
    if (s->rows > DP_COINS_ROWS)
        return dp_fail(err, DP_E_RUN, "%s has more than 2^48 rows", o->data);
    if (largest > DP_LIMIT_FRAME / 2 / row)
        return dp_fail(err, DP_E_RUN,
                       "a batch of %s may not fit a frame, which holds %zu rows: divide the rows among workers (dp-gather)",
                       o->data, DP_LIMIT_FRAME / 2 / row);
    dp_coins_prepare(&s->coins, o->rate, DP_DRAW_COINS);
    dp_extend(&s->picked, &s->picked_capacity, largest + DP_COINS_TOSSED, sizeof(int64_t));
    return DP_OK;
}

static int sample_open(struct dp_stage *stage, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    int rc = dp_dataset_open(&s->dataset, o->data, err);
    rc = rc ?: take_part(o, s, err);
    if (rc != DP_OK)
        return rc;
    s->directory = realpath(o->data, NULL);
    dp_unit_text(s->dataset->rows_per_person, s->unit);
    s->epoch = -1;
    if (s->rows == 0)
        return dp_fail(err, DP_E_RUN, "%s has no rows", o->data);
    if (o->columns != DP_OPT_ABSENT_INT) {
        if (o->columns > (int64_t)s->dataset->cols)
            return dp_fail(err, DP_E_USAGE, "--columns: %lld, but %s has %zu columns", (long long)o->columns, o->data,
                           s->dataset->cols);
        s->column_order = dp_new(s->dataset->cols, sizeof(int64_t));
    }
    if (s->dataset->label.class_names != NULL)
        name_classes(s);
    s->batch = (int64_t)llround(o->rate * (double)s->rows);
    if (s->batch < 1)
        s->batch = 1;
    s->epoch_laps = o->mode == MODE_SHUFFLE ? dp_record_epoch_laps(s->rows, o->rate) : 0;
    if (o->mode == MODE_CYCLIC) {
        s->epoch_laps = (int64_t)fmin(round(1 / o->rate), (double)s->rows);
        s->batch = (s->rows - 1) / s->epoch_laps + 1;
    }
    rc = make_room(o, s, err);
    if (rc == DP_OK && s->epoch_laps > 0)
        s->permutation = dp_new(s->dataset->persons, sizeof(int64_t));
    if (rc == DP_OK && o->mode == MODE_FIXED)
        dp_bitset_open(&s->chosen, s->dataset->persons);
    return rc;
}

static void pick(struct state *s, int64_t row)
{
    if (s->count == s->picked_capacity) {
        dp_extend(&s->picked, &s->picked_capacity, s->count + 1, sizeof(int64_t));
    }
    s->picked[s->count++] = row;
}

static void pick_all(struct state *s)
{
    for (int64_t i = s->from; i < s->to; i++)
        pick(s, i);
}

/* Coins are addressed by a row's number among all rows. */
static void toss(struct dp_stage *stage, int64_t lap)
{
    struct state *s = stage->state;
    int64_t from = s->first_row + s->from, to = s->first_row + s->to;
    while (from < to) {
        dp_extend(&s->picked, &s->picked_capacity, s->count + DP_COINS_TOSSED, sizeof(int64_t));
        s->count += dp_coins_toss(&s->coins, &stage->key, (uint64_t)lap, &from, to, s->picked + s->count);
    }
    for (size_t i = 0; i < s->count; i++)
        s->picked[i] -= s->first_row;
}

/* Draws `batch` rows without replacement by Floyd's algorithm, and sorts them. There is room for them. */
static void choose_fixed(struct dp_stage *stage, int64_t lap)
{
    struct state *s = stage->state;
    struct dp_stream stream;
    dp_stream_start(&stream, &stage->key, DP_DRAW_BATCH, (uint64_t)lap);
    for (int64_t j = s->rows - s->batch; j < s->rows; j++)
        if (!dp_bitset_put(&s->chosen, dp_stream_below(&stream, (uint64_t)j + 1)))
            dp_bitset_put(&s->chosen, (uint64_t)j);
    s->count = dp_bitset_take(&s->chosen, s->picked);
}

static void permute(const struct dp_key *key, enum dp_purpose purpose, uint64_t lap, int64_t *order, int64_t count)
{
    struct dp_stream stream;
    dp_stream_start(&stream, key, purpose, lap);
    for (int64_t i = 0; i < count; i++)
        order[i] = i;
    for (int64_t i = count - 1; i > 0; i--) {
        int64_t j = (int64_t)dp_stream_below(&stream, (uint64_t)i + 1);
        int64_t swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
}

/* A cycle has one order for all epochs, so that the laps of a row are equally far apart. */
static void next_part(struct dp_stage *stage, bool cyclic, int64_t turn)
{
    struct state *s = stage->state;
    int64_t epoch = cyclic ? 0 : (turn - 1) / s->epoch_laps, part = (turn - 1) % s->epoch_laps;
    if (epoch != s->epoch) {
        permute(&stage->key, DP_DRAW_PERMUTATION, (uint64_t)epoch, s->permutation, s->rows);
        s->epoch = epoch;
    }
    int64_t end = cyclic || (part + 1) * s->batch > s->rows ? s->rows : (part + 1) * s->batch;
    for (int64_t i = cyclic ? part : part * s->batch; i < end; i += cyclic ? s->epoch_laps : 1)
        pick(s, s->permutation[i]);
}

static int choose_columns(struct dp_stage *stage, struct dp_frame *frame, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    int64_t *columns;
    int rc = dp_frame_make_array(frame, DP_F_COLUMNS, DP_I64, (uint64_t)o->columns, 0, &columns, err);
    if (rc != DP_OK)
        return rc;
    permute(&stage->key, DP_DRAW_COLUMNS, (uint64_t)frame->lap, s->column_order, (int64_t)s->dataset->cols);
    memcpy(columns, s->column_order, (size_t)o->columns * sizeof *columns);
    return DP_OK;
}

/* Puts the number of rows of each sampled person into the frame, unless each person has one row; *rows: their sum. */
static int put_person_rows(const struct state *s, struct dp_frame *frame, size_t *rows, struct dp_err *err)
{
    int64_t *sizes;
    size_t first;
    *rows = s->count;
    if (s->dataset->person == NULL)
        return DP_OK;
    int rc = dp_frame_make_array(frame, DP_F_PERSON_ROWS, DP_I64, s->count, 0, &sizes, err);
    *rows = 0;
    for (size_t p = 0; rc == DP_OK && p < s->count; p++)
        *rows += (size_t)(sizes[p] = (int64_t)dp_dataset_person(s->dataset, (size_t)s->picked[p], &first));
    return rc;
}

static int put_inline(struct state *s, struct dp_frame *frame, struct dp_err *err)
{
    float *x;
    double *y;
    size_t cols = s->dataset->cols, rows, first;
    int rc = put_person_rows(s, frame, &rows, err);
    rc = rc ?: dp_frame_make_array(frame, DP_F_X, DP_F32, rows, cols, &x, err);
    rc = rc ?: dp_frame_make_array(frame, DP_F_Y, DP_F64, rows, 0, &y, err);
    if (rc != DP_OK)
        return rc;
    if (rows > 0)
        memset(x, 0, rows * cols * sizeof *x);
    for (size_t p = 0; p < s->count; p++) {
        size_t count = dp_dataset_person(s->dataset, (size_t)s->picked[p], &first);
        for (size_t i = first; i < first + count; i++, x += cols) {
            struct dp_row row = dp_dataset_row(s->dataset, i);
            for (size_t j = 0; j < row.count; j++)
                x[row.columns != NULL ? (size_t)row.columns[j] : j] = dp_row_value(&row, j);
            *y++ = dp_dataset_is_null(s->dataset, i) ? (double)NAN : s->dataset->y[i];
        }
    }
    return DP_OK;
}

/* How rows are sampled, in the record that this stage opens. */
static struct dp_record record_of(const struct dp_stage *stage)
{
    static const enum dp_sampler sampler[] = {DP_SAMPLER_POISSON, DP_SAMPLER_FIXED, DP_SAMPLER_SHUFFLE, DP_SAMPLER_CYCLIC,
                                              DP_SAMPLER_FULL};
    const struct options *o = stage->options;
    const struct state *s = stage->state;
    bool parts = o->mode == MODE_FIXED || o->mode == MODE_SHUFFLE;
    return (struct dp_record){
        .of = DP_F_NONE,
        .sampler = sampler[o->mode],
        .rate = parts                    ? (double)s->batch / (double)s->rows
                : o->mode == MODE_CYCLIC ? 1 / (double)s->epoch_laps
                                         : o->rate,
        .rows = s->rows,
        .epoch_laps = s->epoch_laps,
    };
}

/* Whether the frame has this description from an earlier lap. A gather's frame says nothing about the rows here; a public model
 * has brought only the names of its people. */
static bool is_described(const struct dp_stage *stage, const struct dp_frame *frame)
{
    const struct state *s = stage->state;
    return stage->shards == 0 && dp_frame_has(frame, DP_F_ROW_NORM) &&
           strcmp(dp_frame_text(frame, DP_F_DATA, ""), s->dataset->digest) == 0 &&
           strcmp(dp_frame_text(frame, DP_F_POPULATION, ""), s->dataset->population) == 0 &&
           strcmp(dp_frame_text(frame, DP_F_UNIT, ""), s->unit) == 0;
}

/* The unit of privacy; NULL if one row is taken for one person. */
static const char *unit_of(const struct state *s)
{
    return s->unit[0] != '\0' ? s->unit : NULL;
}

/* The facts about the data that a model needs: the schema, nothing about the rows. */
static void describe(const struct state *s, struct dp_frame *frame)
{
    const struct dp_dataset *d = s->dataset;
    const struct dp_row_facts facts = {.cols = d->cols,
                                       .data = d->digest,
                                       .population = d->population,
                                       .unit = unit_of(s),
                                       .split = d->split != NULL && d->held_out ? DP_SPLIT_HELD_OUT : d->split,
                                       .preprocessing = d->private_preprocessing != NULL ? d->private_preprocessing : "",
                                       .row_norm = d->row_norm,
                                       .schema = d->schema,
                                       .labels = s->labels,
                                       .classes = d->label.classes,
                                       .label_scale = d->label.scale,
                                       .label_offset = d->label.offset};
    dp_frame_set_int(frame, DP_F_N, s->rows);
    dp_describe(frame, &facts);
}

/* Whether the data set belongs only to this shard: then all shards have more rows than it has. */
static bool is_site(const struct dp_stage *stage)
{
    const struct options *o = stage->options;
    return stage->shards > 0 && o->shard == NULL;
}

/* In a shard: the data and their schema, which must match the other shards. n is set if they are a part of one data set of n
 * rows. */
static int join(struct dp_stage *stage, struct dp_frame *hello, struct dp_err *err)
{
    const struct options *o = stage->options;
    int64_t shard = stage->shard, shards = stage->shards;
    int rc = whole_option(o) != NULL ? dp_stage_whole(stage, whole_option(o), err) : DP_OK;
    if (rc == DP_OK && o->shard != NULL)
        rc = dp_option_part("shard", o->shard, DP_MAX_SHARDS, &shard, &shards, err);
    if (rc == DP_OK && (shard != stage->shard || shards != stage->shards))
        rc = dp_fail(err, DP_E_USAGE, "--shard: %s, but the pipeline has shard %lld of %lld", o->shard, (long long)stage->shard,
                     (long long)stage->shards);
    if (rc == DP_OK)
        describe(stage->state, hello);
    if (is_site(stage))
        dp_frame_drop(hello, DP_F_N);
    return rc;
}

/* Tells the gate what the schema of the data set has cost. Without a mark the charge is of other people's rows, or in no
 * ledger. */
static int announce_paid(const struct dp_stage *stage, struct dp_frame *hello, struct dp_err *err)
{
    const struct dp_dataset *d = ((const struct state *)stage->state)->dataset;
    if (d->paid.by == NULL)
        return DP_OK;
    if (stage->shards > 0)
        return dp_fail(err, DP_E_UNSAFE,
                       "the schema of the data set was paid for, and a run of shards does not inherit that charge");
    dp_frame_set_real(hello, DP_F_EPSILON, d->paid.epsilon);
    dp_frame_set_real(hello, DP_F_DELTA, d->paid.delta);
    dp_frame_set_string(hello, DP_F_SCHEMA_COST, d->paid.cost);
    if (dp_dataset_paid_mark(d) != NULL)
        dp_frame_set_string(hello, DP_F_LEDGER, dp_dataset_paid_mark(d));
    return DP_OK;
}

/* A model that a run starts from has paid for the schema if it is a model of the same data set. */
static int check_start(const struct dp_stage *stage, const struct dp_frame *frame, struct dp_err *err)
{
    const struct state *s = stage->state;
    bool starts = frame->lap == 1 && dp_frame_has(frame, DP_F_EPSILON);
    return s->dataset->paid.by == NULL || !starts || is_described(stage, frame)
               ? DP_OK
               : dp_fail(err, DP_E_UNSAFE,
                         "the model to start from is of another data set: it has not paid for the schema of this one");
}

/* Tells the gate where the data set's ledger is, which the gate removes from the frame, and how rows will be sampled. */
static int sample_hello(struct dp_stage *stage, struct dp_frame *frame, struct dp_err *err)
{
    const struct state *s = stage->state;
    struct dp_record record = record_of(stage);
    int rc = stage->shards > 0 ? join(stage, frame, err) : DP_OK;
    if (rc == DP_OK && unit_of(s) != NULL)
        dp_frame_set_string(frame, DP_F_UNIT, s->unit);
    rc = rc ?: announce_paid(stage, frame, err);
    rc = rc ?: dp_announce(stage, frame, &record, err);
    if (rc != DP_OK || s->directory == NULL)
        return rc;
    dp_frame_set_string(frame, DP_F_DIRECTORY, s->directory);
    return DP_OK;
}

/* Notes the number of rows of all shards, and the place of this shard's rows. */
static int place_site(struct state *s, const struct dp_frame *frame, struct dp_err *err)
{
    int64_t own = (int64_t)s->dataset->persons;
    s->rows = dp_frame_int(frame, DP_F_N, 0);
    s->first_row = dp_frame_int(frame, DP_F_FIRST_ROW, -1);
    return s->first_row >= 0 && s->rows >= own && s->rows <= DP_COINS_ROWS && s->first_row <= s->rows - own
               ? DP_OK
               : dp_fail(err, DP_E_RUN, "the frame of lap %lld does not say which of the rows of all shards these are",
                         (long long)frame->lap);
}

static void choose(struct dp_stage *stage, int64_t lap)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    s->count = 0;
    if (o->mode == MODE_POISSON)
        toss(stage, lap);
    else if (o->mode == MODE_FIXED)
        choose_fixed(stage, lap);
    else if (o->mode == MODE_SHUFFLE || o->mode == MODE_CYCLIC)
        next_part(stage, o->mode == MODE_CYCLIC, stage->turn);
    else
        pick_all(s);
}

static int sample_fire(struct dp_stage *stage, struct dp_frame *frame, struct dp_out *out, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    int64_t *rows;
    int rc = is_site(stage) ? place_site(s, frame, err) : check_start(stage, frame, err);
    struct dp_record record = record_of(stage);
    if (rc == DP_OK)
        choose(stage, frame->lap);
    rc = rc ?: dp_frame_make_array(frame, DP_F_ROWS, DP_I64, s->count, 0, &rows, err);
    if (rc == DP_OK && s->count > 0)
        memcpy(rows, s->picked, s->count * sizeof *rows);
    if (rc == DP_OK && s->column_order != NULL)
        rc = choose_columns(stage, frame, err);
    if (rc == DP_OK && o->inline_rows)
        rc = put_inline(s, frame, err);
    if (rc == DP_OK && !is_described(stage, frame))
        describe(s, frame);
    if (rc != DP_OK)
        return rc;
    frame->label = DP_LABEL_RAW;
    rc = dp_frame_add_record(frame, &record, err);
    return rc != DP_OK ? rc : out->frame(out, frame, err);
}

/* The permutation of an epoch is drawn again from a seeded key; without a seed there is no checkpoint within an epoch. A cycle
 * keeps its order. */
static int sample_save(struct dp_stage *stage, struct dp_state *state, struct dp_err *err)
{
    const struct options *o = stage->options;
    const struct state *s = stage->state;
    (void)err;
    if (o->mode == MODE_CYCLIC)
        dp_state_put_ints(state, "order", s->permutation, s->epoch == 0 ? (size_t)s->rows : 0);
    dp_state_put_text(state, "data", s->dataset->digest);
    dp_state_put_int(state, "from", s->from);
    dp_state_put_int(state, "to", s->to);
    return DP_OK;
}

/* An order that was not drawn yet has no entries. */
static int restore_order(struct state *s, const struct dp_state *state, struct dp_err *err)
{
    int64_t *order = NULL;
    size_t count = 0;
    struct dp_bitset once = {0};
    int rc = dp_state_get_ints(state, "order", &order, &count, err);
    if (rc != DP_OK || count == 0) {
        free(order);
        return rc;
    }
    dp_bitset_open(&once, (uint64_t)s->rows);
    bool whole = count == (size_t)s->rows;
    for (size_t i = 0; whole && i < count; i++)
        whole = order[i] >= 0 && order[i] < s->rows && dp_bitset_put(&once, (uint64_t)order[i]);
    dp_bitset_close(&once);
    if (whole) {
        memcpy(s->permutation, order, count * sizeof *order);
        s->epoch = 0;
    }
    free(order);
    return whole ? DP_OK
                 : dp_fail(err, DP_E_UNSAFE, "the order of the checkpoint does not have each of the %lld rows once",
                           (long long)s->rows);
}

static int sample_restore(struct dp_stage *stage, const struct dp_state *state, struct dp_err *err)
{
    const struct options *o = stage->options;
    const struct state *s = stage->state;
    char digest[80];
    int64_t from, to;
    int rc = dp_state_get_text(state, "data", digest, sizeof digest, err);
    if (rc == DP_OK && strcmp(digest, s->dataset->digest) != 0)
        rc = dp_fail(err, DP_E_RUN, "%s is another data set than in the checkpoint", o->data);
    rc = rc ?: dp_state_get_int(state, "from", 0, INT64_MAX, &from, err);
    rc = rc ?: dp_state_get_int(state, "to", 0, INT64_MAX, &to, err);
    if (rc == DP_OK && (from != s->from || to != s->to))
        rc = dp_fail(err, DP_E_RUN, "--shard: the checkpoint is of another part of %s", o->data);
    return rc == DP_OK && o->mode == MODE_CYCLIC ? restore_order(stage->state, state, err) : rc;
}

const struct dp_stage_class dp_sample_class = {
    .name = "dp-sample",
    .summary = "Choose the rows that take part in each lap",
    DP_STAGE_STRUCTS,
    .takes = DP_LABEL_RELEASED,
    .gives = DP_LABEL_RAW,
    .open = sample_open,
    .hello = sample_hello,
    .fire = sample_fire,
    .close = sample_close,
    .save = sample_save,
    .restore = sample_restore,
    .additive = true,
    .compares = true,
};
