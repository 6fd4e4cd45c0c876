#include "shards/worker.h"

#include <unistd.h>

#include "base/clock.h"
#include "checkpoint/checkpoint.h"
#include "port/link.h"
#include "runtime/child.h"
#include "runtime/loop.h"
#include "runtime/pipeline.h"
#include "shards/kept.h"
#include "shards/masks.h"
#include "shards/standing.h"
#include "shards/strip.h"
#include "stages/stage.h"
#include "wire/codec.h"

#define LINGER_MS 10000
#define AGAIN_SECONDS 0.3 /* seconds until it joins again */
#define WORDS 300         /* bytes of the gather's sentence */
#define DP_OPTIONS struct dp_worker_options

const struct dp_option dp_worker_option_table[] = {
    DP_OPTION_TEXT(0, at, "ENDPOINT", "address of dp-gather: tcp://HOST:PORT or ipc://PATH", .required = true),
    DP_OPTION_TEXT(0, shard, "K/N", "number of its shard, from 1 to N", .required = true),
    DP_OPTION_TEXT(0, checkpoint, "DIR", "keep in this directory the state that it needs to continue after a restart"),
    DP_OPTION_INT(0, every, "LAPS", DP_FROM_TO(1, 1099511627775), "laps from one checkpoint to the next",
                  .name = "checkpoint-every", .fallback = "1"),
    DP_OPTION_CHOICE('x', exec, "HOW", "auto|processes|fused", "run the pipeline as processes or in this process",
                     .fallback = "auto"),
    DP_OPTION_REAL(0, timeout, "SECONDS", DP_ABOVE_TO(0, 1e9), "end after this time without a gather", .fallback = "600"),
    DP_OPTION_FLAG(0, allow_seeded, "take part in a seeded run: the user who started it knows all noise"),
    DP_OPTION_TEXT(0, mask, "ROSTER", "add masks, so that the gather sees only the total of the sites in this file",
                   .excludes = "insecure-plaintext"),
    DP_OPTION_INT(0, lost, "L", DP_FROM_TO(0, DP_MAX_SHARDS - 1), "continue if up to L of these sites are lost",
                  .fallback = "0", .needs = "mask"),
    DP_SECURITY_OPTIONS(security),
    {.name = NULL},
};

struct run {
    struct dp_worker *worker;
    struct dp_link *link;
    struct dp_child *child;
    struct dp_standing standing;
    struct dp_kept kept;
    struct dp_checkpoint checkpoint; /* directory NULL: no checkpoints */
    struct dp_masks *masks;          /* or NULL */
    struct dp_frame *frame;
    msgpack_sbuffer greeting, answer; /* answers to the hello frame and to the last lap */
    struct dp_link_header asked;      /* header of the frame that is being answered */
    bool there;                       /* connected */
    double since;                     /* not connected since this time */
    double again;                     /* when to join again; 0: not at all */
    bool shared;                      /* sums of this run must leave with a share of the noise */
    bool ended;
    int lock; /* lock of the checkpoint's directory, or -1 */
};

static void hear(void *self, const char *sentence)
{
    const struct run *r = self;
    const struct dp_warn *to = &r->worker->warn;
    if (to->say != NULL)
        to->say(to->self, "dp-worker", sentence);
}

static int join(struct run *r, struct dp_err *err)
{
    struct dp_link_header header = {.type = DP_SHARD_JOIN, .shard = r->kept.shard, .shards = r->kept.shards};
    memcpy(header.run, r->standing.run, sizeof header.run);
    header.lap = dp_standing_joins(&r->standing);
    header.credit = r->masks != NULL ? dp_masks_tag(r->masks) : 0;
    r->again = 0;
    return dp_link_send(r->link, 0, &header, NULL, 0, err);
}

static int answer(struct run *r, const msgpack_sbuffer *body, struct dp_err *err)
{
    struct dp_link_header header = {.type = DP_SHARD_FRAME, .shard = r->kept.shard, .shards = r->kept.shards};
    memcpy(header.run, r->standing.run, sizeof header.run);
    header.sequence = r->asked.sequence;
    header.lap = r->asked.lap;
    header.credit = r->kept.fresh;
    return dp_link_send(r->link, 0, &header, body->data, body->size, err);
}

/* Answers with a frame that has only a status: the gather does not learn more. */
static int answer_status(struct run *r, enum dp_kind kind, int rc, struct dp_err *err)
{
    msgpack_sbuffer body;
    msgpack_sbuffer_init(&body);
    dp_frame_reset(r->frame, kind);
    if (rc != DP_OK)
        dp_frame_set_int(r->frame, DP_F_STATUS, dp_exit_status(rc));
    int sent = dp_wire_encode(&body, r->frame, err);
    sent = sent ?: answer(r, &body, err);
    msgpack_sbuffer_destroy(&body);
    return sent;
}

/* Passes the frame through the pipeline, and encodes into *to what may leave the site. */
static int work(struct run *r, msgpack_sbuffer *to, struct dp_err *err)
{
    dp_child_cancel(r->child, &r->worker->interrupt);
    int rc = dp_child_pass(r->child, r->frame, r->frame, err);
    if (rc == DP_CHILD_EXHAUSTED) /* the gather decides whether the run continues without this shard */
        return dp_fail(err, DP_E_RUN, "no more rows arrive");
    if (rc != DP_OK)
        return rc;
    dp_shard_strip(r->frame);
    if (r->masks != NULL && r->frame->kind == DP_KIND_HELLO)
        rc = dp_masks_announced(r->masks, r->frame, err);
    if (r->masks != NULL && r->frame->kind == DP_KIND_LAP)
        rc = dp_masks_add(r->masks, r->frame, err);
    msgpack_sbuffer_clear(to);
    return rc ?: dp_wire_encode(to, r->frame, err);
}

static int start_child(struct run *r, struct dp_err *err)
{
    const struct dp_worker *w = r->worker;
    dp_child_kill(r->child);
    r->child = NULL;
    r->standing.alive = false;
    r->checkpoint.resumed = r->checkpoint.directory != NULL ? r->standing.lap : 0;
    int rc = dp_checkpoint_tell(r->checkpoint.directory != NULL ? &r->checkpoint : NULL, err);
    if (rc == DP_OK && w->options.exec != DP_EXEC_PROCESSES)
        rc = dp_child_fused(&r->child, w->pipeline, &w->warn, err);
    if (rc == 1 && w->options.exec == DP_EXEC_FUSED) {
        char why[DP_ERR_MESSAGE_SIZE];
        memcpy(why, err->message, sizeof why);
        return dp_fail(err, DP_E_USAGE, "--exec=fused: %.400s", why);
    }
    if (rc == 1 || (rc == DP_OK && r->child == NULL)) {
        err->message[0] = '\0';
        rc = dp_child_processes(&r->child, w->pipeline, err);
    }
    r->standing.alive = rc == DP_OK;
    return rc;
}

/* Laps may be answered again: their masks must be others. */
static void renew_masks(struct run *r, int64_t kept)
{
    if (r->masks == NULL)
        return;
    dp_masks_renew(r->masks, kept);
    r->kept.fresh = dp_masks_fresh(r->masks);
}

/* Warns that laps which were answered already are asked again. */
static void warn_back(struct run *r, int64_t before)
{
    char sentence[DP_ERR_MESSAGE_SIZE];
    snprintf(sentence, sizeof sentence,
             "the gather goes back from lap %lld to lap %lld: laps that were answered are answered again, with fresh keys",
             (long long)before, (long long)r->standing.lap);
    hear(r, sentence);
}

static int take_hello(struct run *r, struct dp_err *err)
{
    int64_t before = r->standing.lap;
    unsigned char session[DP_LINK_ID];
    memcpy(session, r->standing.session, sizeof session);
    enum dp_welcome welcome = dp_standing_hello(&r->standing, &r->asked, dp_frame_has(r->frame, DP_F_SEED), err);
    if (welcome == DP_WELCOME_REFUSES)
        return err->status;
    if (r->standing.lap < before)
        warn_back(r, before);
    if (!dp_link_same(session, r->standing.session))
        renew_masks(r, 0);
    if (welcome == DP_WELCOME_STARTS) {
        r->kept.first = dp_frame_int(r->frame, DP_F_STAGE, 0) + 1;
        int rc = start_child(r, err);
        rc = rc ?: work(r, &r->greeting, err);
        r->kept.last = dp_frame_int(r->frame, DP_F_STAGE, 0);
        if (rc != DP_OK)
            return rc;
        r->shared = dp_shard_shares(r->frame);
    }
    return answer(r, &r->greeting, err);
}

/* The stages have saved their states. These states, together with our own file, which has the answer, are the checkpoint. The
 * state of the lap that dp-loop can resume from is kept, if there is one. */
static int keep(struct run *r, int64_t resumable, struct dp_err *err)
{
    const char *directory = r->checkpoint.directory;
    struct dp_err unused;
    int rc = dp_checkpoint_complete(directory, r->kept.first, r->kept.last, r->standing.lap, err);
    if (rc != DP_OK)
        return rc;
    if (resumable != r->standing.kept &&
        dp_checkpoint_complete(directory, r->kept.first, r->kept.last, resumable, &unused) == DP_OK)
        r->standing.kept = resumable;
    rc = dp_kept_write(directory, &r->kept, &r->standing, &r->answer, err);
    if (rc == DP_OK)
        dp_checkpoint_clean(directory, r->standing.lap, r->standing.kept);
    return rc;
}

/* Answers a lap. The answer is on disk before it is sent, so that the same answer can be sent again. */
static int take_lap(struct run *r, struct dp_err *err)
{
    enum dp_task task = dp_standing_lap(&r->standing, &r->asked);
    if (task == DP_TASK_DROP)
        return DP_OK;
    if (task == DP_TASK_REPEAT)
        return answer(r, &r->answer, err);
    r->standing.answer = false;
    int rc = r->masks != NULL ? dp_masks_ready(r->masks, err) : DP_OK;
    rc = rc ?: work(r, &r->answer, err);
    if (rc == DP_OK && r->shared && r->frame->label != DP_LABEL_NOISED)
        rc = dp_fail(err, DP_E_UNSAFE, "lap %lld is without noise, and other laps have shares of it: it is not sent",
                     (long long)r->frame->lap);
    if (rc != DP_OK)
        return rc;
    r->standing.lap = r->frame->lap;
    r->standing.answer = true;
    if (dp_checkpoint_due(&r->checkpoint, r->frame))
        rc = keep(r, r->asked.credit, err);
    return rc ?: answer(r, &r->answer, err);
}

static int take_end(struct run *r, struct dp_err *err)
{
    bool interrupted = dp_frame_bool(r->frame, DP_F_INTERRUPTED);
    msgpack_sbuffer body;
    msgpack_sbuffer_init(&body);
    r->ended = true;
    int rc = r->child != NULL ? work(r, &body, err) : DP_OK;
    if (rc == DP_OK && r->child != NULL) {
        rc = dp_child_finish(r->child, err);
        r->child = NULL;
    }
    if (rc == DP_OK && interrupted && r->checkpoint.directory != NULL && r->standing.lap > 0)
        rc = keep(r, r->standing.kept, err);
    if (rc == DP_OK && !interrupted && r->checkpoint.directory != NULL)
        dp_checkpoint_clean(r->checkpoint.directory, 0, 0); /* the run has ended: nothing can be resumed */
    msgpack_sbuffer_destroy(&body);
    return rc ?: answer_status(r, DP_KIND_END, DP_OK, err);
}

/* The frame is from our gather, but from a newer version, or damaged. Tell the gather, so that it does not wait. */
static int refuse_frame(struct run *r, const struct dp_err *wrong, struct dp_err *err)
{
    struct dp_err unused;
    answer_status(r, DP_KIND_ERROR, DP_E_RUN, &unused);
    return dp_fail(err, DP_E_RUN, "the gather sends a frame that cannot be read here (is it of a newer version?): %s",
                   wrong->message);
}

static int take_frame(struct run *r, const struct dp_link_event *event, struct dp_err *err)
{
    struct dp_err wrong = {0};
    r->asked = event->header;
    if (dp_wire_read(r->frame, event->body, event->size, &wrong) != DP_OK)
        return refuse_frame(r, &wrong, err);
    const struct dp_site site = {r->kept.shard, r->kept.shards, r->worker->options.allow_seeded};
    int rc = dp_shard_check(r->frame, &r->asked, &site, err);
    switch (r->frame->kind) {
    case DP_KIND_HELLO:
        rc = rc ?: take_hello(r, err);
        break;
    case DP_KIND_LAP:
        rc = rc ?: take_lap(r, err);
        break;
    case DP_KIND_END:
        rc = take_end(r, err);
        break;
    case DP_KIND_ERROR:
        return dp_fail(err, DP_E_UPSTREAM, "the run has failed; dp-gather prints why on its own machine");
    }
    if (rc != DP_OK && !r->worker->interrupt) { /* otherwise the gather treats it like a killed worker, which may come back */
        struct dp_err unused;
        answer_status(r, rc == DP_E_BUDGET ? DP_KIND_END : DP_KIND_ERROR, rc, &unused);
    }
    return rc;
}

/* A message from another gather means that the connection to our gather is lost. */
static int take_message(struct run *r, const struct dp_link_event *event, struct dp_err *err)
{
    switch (event->header.type) {
    case DP_SHARD_FRAME:
        return take_frame(r, event, err);
    case DP_SHARD_ROSTER:
        if (r->masks != NULL && dp_link_same(event->header.run, r->standing.run) &&
            dp_link_same(event->header.session, r->standing.session))
            dp_masks_complete(r->masks, r->standing.run, event->body, event->size);
        return DP_OK;
    case DP_SHARD_AGAIN:
        r->again = dp_clock_now() + AGAIN_SECONDS;
        return DP_OK;
    case DP_SHARD_REFUSED:
        return dp_fail(err, DP_E_RUN, "the gather has refused this worker: %.*s",
                       event->size < WORDS ? (int)event->size : WORDS, event->size > 0 ? (const char *)event->body : "");
    default:
        dp_link_refuse(r->link, event, "of a kind that no gather sends");
        return DP_OK;
    }
}

static int take_event(struct run *r, const struct dp_link_event *event, struct dp_err *err)
{
    switch (event->kind) {
    case DP_LINK_CAME:
        r->there = true;
        return join(r, err);
    case DP_LINK_GONE:
        r->there = false;
        r->since = dp_clock_now();
        return DP_OK;
    case DP_LINK_MESSAGE:
        return take_message(r, event, err);
    case DP_LINK_TIME:
        return r->again > 0 && dp_clock_now() >= r->again ? join(r, err) : DP_OK;
    }
    return DP_OK;
}

static int take_all(struct run *r, struct dp_err *err)
{
    struct dp_link_event event;
    r->since = dp_clock_now();
    while (!r->ended) {
        double left = r->there ? -1 : r->since + r->worker->options.timeout - dp_clock_now();
        if (!r->there && left <= 0)
            return dp_fail(err, DP_E_UPSTREAM, "%s: no gather has been there for %g s (--timeout)", r->worker->options.at,
                           r->worker->options.timeout);
        if (r->again > 0)
            left = r->again > dp_clock_now() ? r->again - dp_clock_now() : 0;
        int rc = dp_link_next(r->link, &event, left, &r->worker->interrupt, err);
        rc = rc ?: take_event(r, &event, err);
        if (rc != DP_OK)
            return rc;
    }
    return DP_OK;
}

/* Reads --shard: the shard and the number of shards; notes the pipeline. */
static int read_shard(struct run *r, struct dp_err *err)
{
    int64_t shard, shards;
    int rc = dp_option_part("shard", r->worker->options.shard, DP_MAX_SHARDS, &shard, &shards, err);
    if (rc != DP_OK)
        return rc;
    r->kept.shard = (int)shard;
    r->kept.shards = (int)shards;
    r->kept.pipeline = r->worker->pipeline;
    return DP_OK;
}

/* A checkpoint of each lap has every answer that this worker has given, so its masks stay; other masks are new. */
static int open_masks(struct run *r, struct dp_err *err)
{
    const struct dp_worker_options *o = &r->worker->options;
    const struct dp_masks_options masks = {o->mask, r->kept.shard, r->kept.shards, (int)o->lost};
    if (o->mask == NULL && r->kept.fresh != 0)
        return dp_fail(err, DP_E_UNSAFE, "--mask: the checkpoint %s is of a worker with masks", o->checkpoint);
    int rc = o->mask != NULL ? dp_masks_open(&r->masks, &masks, &o->security, err) : DP_OK;
    renew_masks(r, o->every == 1 ? r->kept.fresh : 0);
    return rc;
}

/* Whether a new process may continue with any lap: the stages keep no state, or only values that they use for checks. */
static bool keeps_nothing(const char *text)
{
    struct dp_pipeline pipeline;
    struct dp_err unused;
    bool nothing = dp_pipeline_parse(&pipeline, text, &unused) == 0;
    for (int i = 0; nothing && i < pipeline.stages; i++) {
        const struct dp_stage_class *class = dp_stage_find(pipeline.stage[i].argv[0]);
        nothing = class->ephemeral || class->compares;
    }
    dp_pipeline_free(&pipeline);
    return nothing;
}

static int open_checkpoint(struct run *r, struct dp_err *err)
{
    const struct dp_worker_options *o = &r->worker->options;
    if (o->checkpoint == NULL) {
        r->standing.any = keeps_nothing(r->worker->pipeline);
        return DP_OK;
    }
    int rc = dp_checkpoint_own(o->checkpoint, err);
    if (rc == DP_OK && (r->checkpoint.directory = realpath(o->checkpoint, NULL)) == NULL)
        rc = dp_fail(err, DP_E_RUN, "cannot use %s", o->checkpoint);
    rc = rc ?: dp_checkpoint_lock(r->checkpoint.directory, &r->lock, err);
    r->checkpoint.every = o->every;
    r->checkpoint.last = true;
    if (rc == DP_OK && dp_checkpoint_there(r->checkpoint.directory))
        rc = dp_kept_read(r->checkpoint.directory, &r->kept, &r->standing, &r->answer, err);
    return rc;
}

int dp_worker_run(struct dp_worker *worker, struct dp_err *err)
{
    const struct dp_worker_options *o = &worker->options;
    struct run r = {.worker = worker, .lock = -1};
    msgpack_sbuffer_init(&r.greeting);
    msgpack_sbuffer_init(&r.answer);
    int rc = read_shard(&r, err);
    if (rc == DP_OK && o->at[0] == '@')
        rc = dp_fail(err, DP_E_USAGE, "--at: a worker connects, and dp-gather binds");
    rc = rc ?: open_checkpoint(&r, err);
    rc = rc ?: open_masks(&r, err);
    if (rc == DP_OK)
        r.frame = dp_frame_new();
    rc = rc ?: dp_link_open(&r.link, o->at, false, &o->security, hear, &r, err);
    rc = rc ?: dp_shard_link(r.link, err);
    rc = rc ?: take_all(&r, err);
    dp_child_kill(r.child);
    dp_link_close(r.link, worker->interrupt ? 0 : LINGER_MS);
    if (r.lock >= 0)
        close(r.lock);
    free(r.checkpoint.directory);
    dp_masks_close(r.masks);
    dp_frame_free(r.frame);
    msgpack_sbuffer_destroy(&r.greeting);
    msgpack_sbuffer_destroy(&r.answer);
    return rc;
}
