/* dp-sample: which rows take part in this lap. Poisson coins are exact (math/coins.h), and any shard tosses the same ones. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "data/dataset.h"
#include "math/coins.h"
#include "stages/announced.h"
#include "stages/stages.h"
#include "wire/codec.h"

enum mode { MODE_POISSON, MODE_FIXED, MODE_SHUFFLE, MODE_FULL };

struct options {
    const char *data;
    double rate;
    int mode;
    int64_t columns;
    bool inline_rows;
};

struct state {
    struct dp_dataset *dataset;
    int64_t rows;
    int64_t batch;        /* fixed, shuffle: rows per lap */
    int64_t epoch_laps;   /* shuffle */
    int64_t epoch;        /* of the permutation, -1 if none yet */
    int64_t *permutation; /* shuffle: rows entries */
    uint64_t *chosen;     /* fixed: a bit per row */
    struct dp_coins coins;
    int64_t *picked;
    size_t picked_capacity, count;
    int64_t *column_order; /* primal: cols entries */
    char *labels;          /* class names, a JSON array, or NULL */
    char *directory;       /* of the data set, from the root on; NULL where that cannot be told */
};

static const struct dp_option options[] = {
    {.name = "data",
     .letter = 'd',
     .kind = DP_OPT_TEXT,
     .offset = offsetof(struct options, data),
     .metavar = "DIR",
     .help = "data set to sample from",
     .flags = DP_OPT_REQUIRED},
    {.name = "rate",
     .letter = 'r',
     .kind = DP_OPT_REAL,
     .offset = offsetof(struct options, rate),
     .metavar = "Q",
     .help = "probability of a row, or part of the rows, per lap; 100/24420 will do",
     .fallback = "1",
     .min = 0,
     .max = 1,
     .flags = DP_OPT_OPEN_MIN},
    {.name = "mode",
     .letter = 'm',
     .kind = DP_OPT_CHOICE,
     .offset = offsetof(struct options, mode),
     .metavar = "MODE",
     .help = "how rows are chosen",
     .fallback = "poisson",
     .choices = "poisson|fixed|shuffle|full"},
    {.name = "columns",
     .kind = DP_OPT_INT,
     .offset = offsetof(struct options, columns),
     .metavar = "L",
     .help = "also choose L columns, for primal coordinate descent (with --mode full)",
     .min = 1,
     .max = 1e9},
    {.name = "inline",
     .kind = DP_OPT_FLAG,
     .offset = offsetof(struct options, inline_rows),
     .help = "put the rows themselves into the frame, not their numbers only"},
    {.name = NULL},
};

static void sample_close(struct dp_stage *stage)
{
    struct state *s = stage->state;
    dp_dataset_close(s->dataset);
    free(s->permutation);
    free(s->chosen);
    free(s->picked);
    free(s->column_order);
    free(s->labels);
    free(s->directory);
}

/* ["<=50K",">50K"] */
static int name_classes(struct state *s, struct dp_err *err)
{
    json_t *names = json_array();
    for (size_t k = 0; names != NULL && k < s->dataset->classes; k++)
        if (json_array_append_new(names, json_string(s->dataset->class_names[k])) != 0)
            break;
    s->labels = names != NULL ? dp_json_text(names, JSON_COMPACT) : NULL;
    json_decref(names);
    return s->labels != NULL ? DP_OK : dp_fail(err, DP_E_RUN, "no memory for the class names");
}

static int sample_open(struct dp_stage *stage, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    int rc = dp_dataset_open(&s->dataset, o->data, err);
    if (rc != DP_OK)
        return rc;
    s->directory = realpath(o->data, NULL);
    s->rows = (int64_t)s->dataset->rows;
    s->epoch = -1;
    if (s->rows == 0)
        return dp_fail(err, DP_E_RUN, "%s has no rows", o->data);
    /* Whether a batch fits a frame must not depend on the batch. */
    if (s->dataset->rows > DP_LIMIT_FRAME / 2 / 8 ||
        (o->inline_rows && s->dataset->rows > DP_LIMIT_FRAME / 2 / (4 * s->dataset->cols + 8)))
        return dp_fail(err, DP_E_RUN, "a batch of %s may not fit a frame", o->data);
    if (o->mode == MODE_FULL && o->rate != 1)
        return dp_fail(err, DP_E_USAGE, "--mode full takes every row: --rate must be 1");
    if (o->columns != DP_OPT_ABSENT_INT) {
        if (o->mode != MODE_FULL)
            return dp_fail(err, DP_E_USAGE, "--columns goes with --mode full");
        if (o->columns > (int64_t)s->dataset->cols)
            return dp_fail(err, DP_E_USAGE, "--columns: %lld, but %s has %zu columns", (long long)o->columns, o->data,
                           s->dataset->cols);
        rc = dp_alloc(&s->column_order, s->dataset->cols, sizeof(int64_t), err);
    }
    if (rc == DP_OK && s->dataset->class_names != NULL)
        rc = name_classes(s, err);
    s->batch = (int64_t)llround(o->rate * (double)s->rows);
    if (s->batch < 1)
        s->batch = 1;
    s->coins = dp_coins(o->rate, DP_DRAW_COINS, DP_DRAW_COIN_TAIL);
    s->epoch_laps = o->mode == MODE_SHUFFLE ? dp_record_epoch_laps(s->rows, o->rate) : 0;
    if (rc == DP_OK && o->mode == MODE_SHUFFLE)
        rc = dp_alloc(&s->permutation, s->dataset->rows, sizeof(int64_t), err);
    if (rc == DP_OK && o->mode == MODE_FIXED)
        rc = dp_alloc(&s->chosen, s->dataset->rows / 64 + 1, sizeof(uint64_t), err);
    if (rc == DP_OK)
        rc = dp_grow(&s->picked, &s->picked_capacity, (size_t)s->batch + 64, sizeof(int64_t), err);
    return rc;
}

static int pick(struct state *s, int64_t row, struct dp_err *err)
{
    if (s->count == s->picked_capacity) {
        int rc = dp_grow(&s->picked, &s->picked_capacity, s->count + 1, sizeof(int64_t), err);
        if (rc != DP_OK)
            return rc;
    }
    s->picked[s->count++] = row;
    return DP_OK;
}

static int pick_all(struct state *s, struct dp_err *err)
{
    int rc = DP_OK;
    for (int64_t i = 0; rc == DP_OK && i < s->rows; i++)
        rc = pick(s, i, err);
    return rc;
}

static int toss(struct dp_stage *stage, int64_t lap, struct dp_err *err)
{
    struct state *s = stage->state;
    int64_t in[DP_COINS_CHUNK];
    int rc = DP_OK;
    for (int64_t base = 0; rc == DP_OK && base < s->rows; base += DP_COINS_CHUNK) {
        size_t size = s->rows - base < DP_COINS_CHUNK ? (size_t)(s->rows - base) : DP_COINS_CHUNK;
        size_t count = dp_coins_toss(&s->coins, &stage->key, (uint64_t)lap, base, size, in);
        for (size_t i = 0; rc == DP_OK && i < count; i++)
            rc = pick(s, in[i], err);
    }
    return rc;
}

/* Floyd's algorithm: batch rows without replacement, then in ascending order. */
static int choose_fixed(struct dp_stage *stage, int64_t lap, struct dp_err *err)
{
    struct state *s = stage->state;
    struct dp_stream stream;
    dp_stream_start(&stream, &stage->key, DP_DRAW_BATCH, (uint64_t)lap);
    memset(s->chosen, 0, ((size_t)s->rows / 64 + 1) * sizeof(uint64_t));
    for (int64_t j = s->rows - s->batch; j < s->rows; j++) {
        uint64_t t = dp_stream_below(&stream, (uint64_t)j + 1);
        if (s->chosen[t / 64] >> (t % 64) & 1)
            t = (uint64_t)j;
        s->chosen[t / 64] |= (uint64_t)1 << (t % 64);
    }
    for (int64_t word = 0; word <= s->rows / 64; word++) {
        for (uint64_t bits = s->chosen[word]; bits != 0; bits &= bits - 1) {
            int rc = pick(s, word * 64 + __builtin_ctzll(bits), err);
            if (rc != DP_OK)
                return rc;
        }
    }
    return DP_OK;
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

static int next_part(struct dp_stage *stage, int64_t turn, struct dp_err *err)
{
    struct state *s = stage->state;
    int64_t epoch = (turn - 1) / s->epoch_laps, part = (turn - 1) % s->epoch_laps;
    if (epoch != s->epoch) {
        permute(&stage->key, DP_DRAW_PERMUTATION, (uint64_t)epoch, s->permutation, s->rows);
        s->epoch = epoch;
    }
    int64_t end = (part + 1) * s->batch < s->rows ? (part + 1) * s->batch : s->rows;
    for (int64_t i = part * s->batch; i < end; i++) {
        int rc = pick(s, s->permutation[i], err);
        if (rc != DP_OK)
            return rc;
    }
    return DP_OK;
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

static int put_inline(struct state *s, struct dp_frame *frame, struct dp_err *err)
{
    float *x;
    double *y;
    size_t cols = s->dataset->cols;
    int rc = dp_frame_make_array(frame, DP_F_X, DP_F32, s->count, cols, &x, err);
    if (rc == DP_OK)
        rc = dp_frame_make_array(frame, DP_F_Y, DP_F64, s->count, 0, &y, err);
    if (rc != DP_OK)
        return rc;
    memset(x, 0, s->count * cols * sizeof *x);
    for (size_t i = 0; i < s->count; i++) {
        struct dp_row row = dp_dataset_row(s->dataset, (size_t)s->picked[i]);
        for (size_t j = 0; j < row.count; j++)
            x[i * cols + (row.columns != NULL ? (size_t)row.columns[j] : j)] = row.values[j];
        y[i] = s->dataset->y[s->picked[i]];
    }
    return DP_OK;
}

/* How rows are sampled, in the record that this stage opens. */
static struct dp_record record_of(const struct dp_stage *stage)
{
    static const enum dp_sampler sampler[] = {DP_SAMPLER_POISSON, DP_SAMPLER_FIXED, DP_SAMPLER_SHUFFLE, DP_SAMPLER_FULL};
    const struct options *o = stage->options;
    const struct state *s = stage->state;
    bool parts = o->mode == MODE_FIXED || o->mode == MODE_SHUFFLE;
    return (struct dp_record){
        .of = DP_F_NONE,
        .sampler = sampler[o->mode],
        .rate = parts ? (double)s->batch / (double)s->rows : o->rate,
        .rows = s->rows,
        .epoch_laps = s->epoch_laps,
    };
}

/* Tells the gate where the ledger of the data set is, which the gate throws away, and how rows will be sampled. */
static int sample_hello(struct dp_stage *stage, struct dp_frame *frame, struct dp_err *err)
{
    const struct state *s = stage->state;
    struct dp_record record = record_of(stage);
    int rc = dp_announce(stage, frame, &record, err);
    if (rc != DP_OK || s->directory == NULL)
        return rc;
    return dp_frame_set_text(frame, DP_F_DIRECTORY, s->directory, strlen(s->directory), err);
}

static bool is_described(const struct state *s, const struct dp_frame *frame)
{
    return strcmp(dp_frame_text(frame, DP_F_DATA, ""), s->dataset->digest) == 0 &&
           strcmp(dp_frame_text(frame, DP_F_POPULATION, ""), s->dataset->population) == 0;
}

/* What the model has to know of its data: the schema, nothing of the rows. */
static int describe(const struct state *s, struct dp_frame *frame, struct dp_err *err)
{
    const struct dp_dataset *d = s->dataset;
    const char *preprocessing = d->private_preprocessing != NULL ? d->private_preprocessing : "";
    const char *before = dp_frame_text(frame, DP_F_POPULATION, dp_frame_text(frame, DP_F_DATA, NULL));
    if (before != NULL && strcmp(before, d->population) != 0 && strcmp(dp_frame_text(frame, DP_F_DATA, ""), d->digest) != 0)
        dp_frame_set_bool(frame, DP_F_ELSEWHERE, true);
    int rc = dp_frame_set_text(frame, DP_F_DATA, d->digest, strlen(d->digest), err);
    if (rc == DP_OK)
        rc = dp_frame_set_text(frame, DP_F_POPULATION, d->population, strlen(d->population), err);
    if (rc == DP_OK)
        rc = dp_frame_set_text(frame, DP_F_PREPROCESSING, preprocessing, strlen(preprocessing), err);
    if (rc == DP_OK)
        rc = dp_frame_set_text(frame, DP_F_ROW_NORM, d->row_norm, strlen(d->row_norm), err);
    if (rc == DP_OK && s->labels != NULL)
        rc = dp_frame_set_text(frame, DP_F_LABELS, s->labels, strlen(s->labels), err);
    dp_frame_set_int(frame, DP_F_N, s->rows);
    dp_frame_set_int(frame, DP_F_CLASSES, (int64_t)d->classes);
    dp_frame_set_real(frame, DP_F_LABEL_SCALE, d->label_scale);
    dp_frame_set_real(frame, DP_F_LABEL_OFFSET, d->label_offset);
    return rc;
}

static int sample_fire(struct dp_stage *stage, struct dp_frame *frame, struct dp_out *out, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    struct dp_record record = record_of(stage);
    int64_t *rows;
    int rc = DP_OK;
    s->count = 0;
    if (o->mode == MODE_POISSON)
        rc = toss(stage, frame->lap, err);
    else if (o->mode == MODE_FIXED)
        rc = choose_fixed(stage, frame->lap, err);
    else if (o->mode == MODE_SHUFFLE)
        rc = next_part(stage, stage->turn, err);
    else
        rc = pick_all(s, err);
    if (rc == DP_OK)
        rc = dp_frame_make_array(frame, DP_F_ROWS, DP_I64, s->count, 0, &rows, err);
    if (rc == DP_OK && s->count > 0)
        memcpy(rows, s->picked, s->count * sizeof *rows);
    if (rc == DP_OK && s->column_order != NULL)
        rc = choose_columns(stage, frame, err);
    if (rc == DP_OK && o->inline_rows)
        rc = put_inline(s, frame, err);
    if (rc == DP_OK && !is_described(s, frame))
        rc = describe(s, frame, err);
    if (rc != DP_OK)
        return rc;
    frame->label = DP_LABEL_RAW;
    rc = dp_frame_add_record(frame, &record, err);
    return rc != DP_OK ? rc : out->frame(out, frame, err);
}

/* The permutation of an epoch is drawn again from a seeded key; without a seed there is no checkpoint within an epoch. */
static int sample_save(struct dp_stage *stage, struct dp_state *state, struct dp_err *err)
{
    const struct state *s = stage->state;
    (void)err;
    dp_state_put_text(state, "data", s->dataset->digest);
    return DP_OK;
}

static int sample_restore(struct dp_stage *stage, const struct dp_state *state, struct dp_err *err)
{
    const struct options *o = stage->options;
    const struct state *s = stage->state;
    char digest[80];
    int rc = dp_state_get_text(state, "data", digest, sizeof digest, err);
    if (rc == DP_OK && strcmp(digest, s->dataset->digest) != 0)
        rc = dp_fail(err, DP_E_RUN, "%s is another data set than that of the checkpoint", o->data);
    return rc;
}

const struct dp_stage_class dp_sample_class = {
    .name = "dp-sample",
    .summary = "Choose the rows that take part in each lap",
    .options = options,
    .options_size = sizeof(struct options),
    .state_size = sizeof(struct state),
    .takes = DP_LABEL_RELEASED,
    .gives = DP_LABEL_RAW,
    .open = sample_open,
    .hello = sample_hello,
    .fire = sample_fire,
    .close = sample_close,
    .save = sample_save,
    .restore = sample_restore,
};
