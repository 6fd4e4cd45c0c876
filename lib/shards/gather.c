/* dp-gather: takes the place of a pipeline that reads rows. It sends its frame to K workers, each of which has such a pipeline
 * and its own rows, and adds their answers. It is the only stage that waits for processes other than its neighbours.
 *
 * A worker removes its checkpoint when it hears of the end of the run. If dp-loop can be resumed, its workers hear of the end
 * only after dp-loop has written its own end (loop.h). Until then the run may be resumed, and a resumed run needs the workers:
 * it repeats laps with fresh keys. */

#include "base/mem.h"
#include "runtime/child.h"
#include "shards/merge.h"
#include "shards/workers.h"

struct options {
    const char *at, *local;
    int64_t workers;
    int on_lost, exec;
    double timeout;
};

struct state {
    struct dp_workers *workers;
    struct dp_merge merge;
    const struct dp_frame **answer; /* answer of each shard, or NULL */
    bool told;                      /* the end frame has gone to the workers */
};

#define DP_OPTIONS struct options
static const struct dp_option options[] = {
    DP_OPTION_TEXT(0, at, "ENDPOINT", "address for dp-worker: tcp://HOST:PORT or ipc://PATH", .required = true,
                   .unless = "local"),
    DP_OPTION_TEXT(0, local, "PIPELINE", "no sockets: run each worker here; %k is the shard, %K their number",
                   .excludes = "at"),
    DP_OPTION_INT('k', workers, "K", DP_FROM_TO(1, DP_MAX_SHARDS), "number of shards, each with one worker", .required = true),
    DP_OPTION_CHOICE(0, exec, "HOW", "processes|fused", "run workers as processes, or one after the other in this process",
                     .fallback = "processes", .needs = "local"),
    DP_OPTION_CHOICE(0, on_lost, "POLICY", "wait|stop|continue", "policy for a shard whose worker is gone or silent",
                     .fallback = "stop", .needs = "at"),
    DP_OPTION_REAL(0, timeout, "SECONDS", DP_ABOVE_TO(0, 1e9), "how long to wait for it", .fallback = "60", .needs = "at"),
    {.name = NULL},
};

static void gather_close(struct dp_stage *stage)
{
    struct state *s = stage->state;
    dp_workers_free(s->workers);
    dp_merge_close(&s->merge);
    free(s->answer);
}

static int gather_open(struct dp_stage *stage, struct dp_err *err)
{
    const struct options *o = stage->options;
    const struct dp_workers_options remote = {.on_lost = (enum dp_on_lost)o->on_lost, .timeout = o->timeout};
    struct state *s = stage->state;
    if (o->at != NULL && o->at[0] == '>')
        return dp_fail(err, DP_E_USAGE, "--at: dp-gather binds, and workers connect");
    s->answer = dp_new((size_t)o->workers, sizeof(struct dp_frame *));
    if (o->local != NULL)
        return dp_workers_local(&s->workers, stage, o->local, (int)o->workers, o->exec == 1, err);
    return dp_workers_remote(&s->workers, stage, o->at, &stage->runtime.security, (int)o->workers, &remote, err);
}

/* Sends the workers' frames; puts their answers into s->answer. */
static int ask(struct state *s, struct dp_err *err)
{
    int rc = dp_workers_ask(s->workers, err);
    for (int k = 0; k < s->workers->shards; k++)
        s->answer[k] = s->workers->answered[k] ? s->workers->frame[k] : NULL;
    return rc;
}

/* Each site bounds a person's part by itself: a person with rows at two sites can add twice as much. */
static void warn_of_people(const struct dp_stage *stage)
{
    const struct state *s = stage->state;
    int other, shard;
    if (!s->merge.parts && dp_merge_same_people(&s->merge, &other, &shard))
        dp_stage_warn(
            stage, stage->out,
            "shards %d and %d have rows of one population ('%.60s'): a person with rows in both counts twice, and epsilon "
            "holds for one row",
            other + 1, shard + 1, s->merge.shard[shard].population);
}

/* The workers' stages have the same ordinals as on one machine, and the gather has no ordinal. */
static int gather_hello(struct dp_stage *stage, struct dp_frame *frame, struct dp_err *err)
{
    struct state *s = stage->state;
    int shards = s->workers->shards;
    dp_frame_set_int(frame, DP_F_STAGE, stage->ordinal - 1);
    for (int k = 0; k < shards; k++) {
        struct dp_frame *one = s->workers->frame[k];
        dp_frame_copy(one, frame);
        dp_frame_set_int(one, DP_F_SHARD, k + 1);
        dp_frame_set_int(one, DP_F_SHARDS, shards);
    }
    int rc = ask(s, err);
    s->merge.masked = s->workers->masked;
    rc = rc ?: dp_merge_hello(&s->merge, shards, s->answer, frame, frame, err);
    stage->stands_for = dp_frame_int(frame, DP_F_STAGE, 0) - (stage->ordinal - 1);
    if (rc == DP_OK)
        warn_of_people(stage);
    return rc;
}

/* Sends the end frame to all workers and ignores errors. */
static int tell_end(struct state *s, const struct dp_frame *end, struct dp_err *err)
{
    s->told = true;
    for (int k = 0; k < s->workers->shards; k++)
        dp_frame_copy(s->workers->frame[k], end);
    return ask(s, err);
}

/* Does the same, unless gather_after will tell the workers later. */
static int end_all(const struct dp_stage *stage, const struct dp_frame *end, struct dp_err *err)
{
    const struct options *o = stage->options;
    bool later = o->at != NULL && stage->checkpoint.directory != NULL && !stage->interrupted;
    return later ? DP_OK : tell_end(stage->state, end, err);
}

/* Turns the frame into the end frame of a run that ends because a worker's budget is spent. The message does not pass a gate,
 * so it is printed here. */
static int stop(const struct dp_stage *stage, struct dp_frame *frame, struct dp_out *out, struct dp_err *err)
{
    struct dp_err unused;
    char text[DP_ERR_MESSAGE_SIZE];
    memcpy(text, err->message, sizeof text);
    dp_stage_warn(stage, out, "%s", text);
    dp_model_end(frame);
    dp_frame_set_int(frame, DP_F_STATUS, -DP_E_BUDGET);
    end_all(stage, frame, &unused);
    dp_frame_set_string(frame, DP_F_MESSAGE, text);
    return DP_STAGE_STOP;
}

/* Does the same if no more rows arrive at a worker: the run ends with the lap before. */
static int exhaust(const struct dp_stage *stage, struct dp_frame *frame)
{
    struct dp_err unused;
    dp_model_end(frame);
    end_all(stage, frame, &unused);
    dp_frame_set_bool(frame, DP_F_EXHAUSTED, true);
    return DP_STAGE_STOP;
}

static int gather_fire(struct dp_stage *stage, struct dp_frame *frame, struct dp_out *out, struct dp_err *err)
{
    struct state *s = stage->state;
    for (int k = 0; k < s->workers->shards; k++)
        dp_merge_token(&s->merge, k, frame, s->workers->frame[k]);
    int rc = ask(s, err);
    if (rc == DP_E_BUDGET)
        return stop(stage, frame, out, err);
    if (rc == DP_CHILD_EXHAUSTED)
        return exhaust(stage, frame);
    s->merge.torn = s->workers->torn;
    rc = rc ?: dp_merge_lap(&s->merge, s->answer, frame, frame, err);
    return rc ?: out->frame(out, frame, err);
}

static int gather_drain(struct dp_stage *stage, struct dp_out *out, struct dp_err *err)
{
    (void)out;
    struct dp_frame *end = dp_frame_new();
    dp_frame_reset(end, DP_KIND_END);
    if (stage->interrupted)
        dp_frame_set_bool(end, DP_F_INTERRUPTED, true);
    int rc = end_all(stage, end, err);
    dp_frame_free(end);
    return rc;
}

/* If dp-loop's own file is still there, dp-loop was killed before it had written its end. gather_close then tells the workers
   that the run has failed, and they keep their checkpoints. */
static int gather_after(struct dp_stage *stage, struct dp_err *err)
{
    struct state *s = stage->state;
    const char *directory = stage->checkpoint.directory;
    if (s->told || (directory != NULL && dp_checkpoint_there(directory)))
        return DP_OK;
    struct dp_frame *end = dp_frame_new();
    dp_frame_reset(end, DP_KIND_END);
    int rc = tell_end(s, end, err);
    dp_frame_free(end);
    return rc;
}

static int gather_save(struct dp_stage *stage, struct dp_state *state, struct dp_err *err)
{
    return dp_workers_save(((struct state *)stage->state)->workers, state, err);
}

static int gather_restore(struct dp_stage *stage, const struct dp_state *state, struct dp_err *err)
{
    return dp_workers_restore(((struct state *)stage->state)->workers, state, err);
}

const struct dp_stage_class dp_gather_class = {
    .name = "dp-gather",
    .summary = "Train one model on the rows of several sites",
    DP_STAGE_STRUCTS,
    .takes = DP_LABEL_RELEASED,
    .gives = DP_LABEL_BOUNDED | DP_LABEL_NOISED,
    .waits = true,
    .open = gather_open,
    .hello = gather_hello,
    .fire = gather_fire,
    .drain = gather_drain,
    .after = gather_after,
    .close = gather_close,
    .save = gather_save,
    .restore = gather_restore,
};
