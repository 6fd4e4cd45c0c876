/* dp-window: the next rows of a stream are the rows of the lap. Each row is in only one window; nothing of it is kept for the
 * next. */

#include "arrivals/row_reader.h"
#include "base/hash.h"
#include "model/described.h"
#include "stages/announced.h"
#include "wire/codec.h"

enum { DIGEST = 32 };

struct options {
    const char *rows;
    int64_t size;
};

struct state {
    struct dp_port *port;
    struct dp_row_reader *reader;
    struct dp_rows rows;         /* rows of the last frame */
    size_t used;                 /* number of its rows that are in windows already */
    bool any;                    /* a window has been filled */
    bool begun;                  /* a window has been filled since the run began or was resumed */
    bool resumed;                /* the run continues from a checkpoint */
    unsigned char first[DIGEST]; /* of the first window of the run, if it has checkpoints */
};

#define DP_OPTIONS struct options
static const struct dp_option options[] = {
    DP_OPTION_TEXT('r', rows, "PORT", "port for the rows", .required = true),
    DP_OPTION_INT('w', size, "W", DP_FROM_TO(1, 1e9), "rows of a lap", .required = true),
    {.name = NULL},
};

static void window_close(struct dp_stage *stage)
{
    struct state *s = stage->state;
    dp_row_reader_close(s->reader);
    dp_port_close(s->port);
}

/* The number of frames that the port dropped. */
static void say_dropped(void *self, const char *sentence)
{
    const struct dp_stage *stage = self;
    if (stage->out != NULL)
        dp_stage_warn(stage, stage->out, "%s", sentence);
}

static int window_open(struct dp_stage *stage, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    if (strcmp(o->rows, "-") == 0 && stage->runtime.in != NULL && strcmp(stage->runtime.in, "-") == 0)
        return dp_fail(err, DP_E_USAGE, "--rows: standard input has the frames of the run already");
    const struct dp_port_setting setting = {.security = stage->runtime.security, .log = say_dropped, .log_self = stage};
    int rc = dp_port_open_with(&s->port, o->rows, DP_IN, &setting, err);
    if (rc == DP_OK)
        dp_row_reader_open(&s->reader, s->port, o->rows);
    return rc;
}

/* Reads the next rows: 1, 0 when no more arrive, or an error. */
static int next_rows(struct dp_stage *stage, struct dp_err *err)
{
    struct state *s = stage->state;
    dp_port_cancel(s->port, stage->runtime.cancel);
    dp_port_watch(s->port, stage->runtime.output);
    while (s->used == s->rows.count) {
        s->used = 0;
        int rc = dp_row_reader_next(s->reader, &s->rows, err);
        if (rc == DP_PORT_UNREAD) { /* the stage downstream has printed why, if it could */
            err->message[0] = '\0';
            return err->status = DP_E_UPSTREAM;
        }
        if (rc == DP_E_UPSTREAM) /* this stage reports the failure, because the sender of rows is not a stage of the run */
            rc = err->status = DP_E_RUN;
        if (rc != 1)
            return rc;
    }
    return 1;
}

static int too_few(const struct dp_stage *stage, struct dp_err *err)
{
    const struct options *o = stage->options;
    return dp_fail(err, DP_E_RUN, "%s: its rows do not fill one window of %lld", o->rows, (long long)o->size);
}

/* Every row of the window. rows: their number in all shards together. */
static struct dp_record record_of(int64_t rows)
{
    return (struct dp_record){.of = DP_F_NONE, .sampler = DP_SAMPLER_STREAM, .rate = 1, .rows = rows};
}

/* A run that is resumed gets the rows that come next. A table that is read again from its beginning would be in two windows. */
static int check_new(struct dp_stage *stage, const float *x, const double *y, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    size_t size = (size_t)o->size;
    unsigned char digest[DIGEST];
    struct dp_hash hash;
    if (s->begun || stage->checkpoint.directory == NULL)
        return DP_OK;
    s->begun = true;
    dp_hash_start(&hash, NULL, 0, DIGEST);
    dp_hash_add(&hash, x, size * s->rows.cols * sizeof *x);
    dp_hash_add(&hash, y, size * sizeof *y);
    dp_hash_end(&hash, digest, DIGEST);
    if (s->resumed && memcmp(digest, s->first, DIGEST) == 0)
        return dp_fail(err, DP_E_UNSAFE,
                       "%s: the run began with these rows, and each row is in one window: give the rows that come next",
                       o->rows);
    if (!s->resumed)
        memcpy(s->first, digest, DIGEST);
    return DP_OK;
}

/* The facts about the data that a model needs. n: rows of a lap. */
static void describe(const struct state *s, struct dp_frame *frame, int64_t n)
{
    dp_frame_set_int(frame, DP_F_N, n);
    dp_describe(frame, dp_row_reader_facts(s->reader));
}

/* In a shard the hello frame has the facts of the rows, which must match the other shards; so it waits for the first rows. */
static int window_hello(struct dp_stage *stage, struct dp_frame *frame, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    struct dp_record record = record_of(o->size);
    int rc = DP_OK;
    if (stage->shards > 0 && stage->checkpoint.directory != NULL)
        return dp_fail(err, DP_E_USAGE, "--rows: a run with streams at several sites has no checkpoint");
    if (stage->shards > 0) {
        rc = next_rows(stage, err);
        rc = rc == 0 ? too_few(stage, err) : rc < 0 ? rc : DP_OK;
        if (rc == DP_OK)
            describe(s, frame, o->size);
        dp_frame_drop(frame, DP_F_N);
    }
    return rc ?: dp_announce(stage, frame, &record, err);
}

/* No more rows for this lap: the frame becomes the end frame that says so. */
static int end_run(const struct dp_stage *stage, struct dp_frame *frame, struct dp_err *err)
{
    const struct state *s = stage->state;
    if (!s->any)
        return too_few(stage, err);
    dp_model_end(frame);
    dp_frame_set_bool(frame, DP_F_EXHAUSTED, true);
    return DP_STAGE_STOP;
}

static int make_arrays(struct dp_stage *stage, struct dp_frame *frame, float **x, double **y, struct dp_err *err)
{
    const struct options *o = stage->options;
    const struct state *s = stage->state;
    uint64_t size = (uint64_t)o->size;
    int64_t *place;
    if (size > DP_LIMIT_FRAME / 2 / (4 * s->rows.cols + 16))
        return dp_fail(err, DP_E_RUN, "--size: %lld rows of %zu columns do not fit a frame", (long long)o->size, s->rows.cols);
    int rc = dp_frame_make_array(frame, DP_F_ROWS, DP_I64, size, 0, &place, err);
    rc = rc ?: dp_frame_make_array(frame, DP_F_X, DP_F32, size, s->rows.cols, x, err);
    rc = rc ?: dp_frame_make_array(frame, DP_F_Y, DP_F64, size, 0, y, err);
    for (int64_t i = 0; rc == DP_OK && i < o->size; i++)
        place[i] = i;
    return rc;
}

/* Moves the next rows into the frame. Returns 1, or 0 if too few rows are left to fill it; these rows are in no lap. */
static int fill(struct dp_stage *stage, struct dp_frame *frame, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    float *x = NULL;
    double *y = NULL;
    int rc = next_rows(stage, err);
    if (rc == 1)
        rc = make_arrays(stage, frame, &x, &y, err) == DP_OK ? 1 : err->status;
    for (size_t done = 0, size = (size_t)o->size; rc == 1 && done < size;) {
        size_t left = s->rows.count - s->used, count = left < size - done ? left : size - done, cols = s->rows.cols;
        memcpy(x + done * cols, s->rows.x + s->used * cols, count * cols * sizeof *x);
        memcpy(y + done, s->rows.y + s->used, count * sizeof *y);
        s->used += count;
        done += count;
        if (done < size)
            rc = next_rows(stage, err);
    }
    return rc == 1 && check_new(stage, x, y, err) != DP_OK ? err->status : rc;
}

/* How many rows the sums of this lap cover: one window of each shard. */
static int64_t rows_of_lap(const struct dp_stage *stage, const struct dp_frame *frame)
{
    const struct options *o = stage->options;
    return stage->shards > 0 ? dp_frame_int(frame, DP_F_N, 0) : o->size;
}

static int window_fire(struct dp_stage *stage, struct dp_frame *frame, struct dp_out *out, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    int64_t n = rows_of_lap(stage, frame);
    struct dp_record record = record_of(n);
    if (n < o->size)
        return dp_fail(err, DP_E_RUN, "the frame of lap %lld does not say how many rows all shards have",
                       (long long)frame->lap);
    int rc = fill(stage, frame, err);
    if (rc == 0)
        return end_run(stage, frame, err);
    if (rc != 1)
        return rc;
    s->any = true;
    describe(s, frame, n);
    frame->label = DP_LABEL_RAW;
    rc = dp_frame_add_record(frame, &record, err);
    return rc != DP_OK ? rc : out->frame(out, frame, err);
}

/* No row is kept. Rows that were read and are in no window are lost. */
static int window_save(struct dp_stage *stage, struct dp_state *state, struct dp_err *err)
{
    const struct state *s = stage->state;
    (void)err;
    dp_state_put_bytes(state, "first", s->first, sizeof s->first);
    return DP_OK;
}

static int window_restore(struct dp_stage *stage, const struct dp_state *state, struct dp_err *err)
{
    struct state *s = stage->state;
    const void *first;
    size_t size;
    int rc = dp_state_get_bytes(state, "first", &first, &size, err);
    if (rc == DP_OK && size != sizeof s->first)
        rc = dp_fail(err, DP_E_RUN, "--rows: the checkpoint has no digest of the first window");
    if (rc == DP_OK)
        memcpy(s->first, first, sizeof s->first);
    s->any = s->resumed = rc == DP_OK;
    return rc;
}

const struct dp_stage_class dp_window_class = {
    .name = "dp-window",
    .summary = "Take the rows that arrive next as the rows of each lap",
    DP_STAGE_STRUCTS,
    .takes = DP_LABEL_RELEASED,
    .gives = DP_LABEL_RAW,
    .waits = true,
    .additive = true,
    .open = window_open,
    .hello = window_hello,
    .fire = window_fire,
    .close = window_close,
    .save = window_save,
    .restore = window_restore,
};
