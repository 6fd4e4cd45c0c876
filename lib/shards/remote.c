/* Workers that join over a link. The roster decides about each message; the code here acts on the decision. */
#include <sodium.h>

#include "base/clock.h"
#include "base/mem.h"
#include "port/link.h"
#include "shards/roster.h"
#include "shards/strip.h"
#include "shards/workers.h"
#include "wire/codec.h"

#define END_SECONDS 10 /* time for a worker to answer the end frame: all its laps have been counted by then */
#define LINGER_MS 2000
#define LOOK_SECONDS 0.5
#define OFF_SECONDS 1 /* time for workers to receive that the run has failed */

/* Encoded frames of one shard. */
struct desk {
    msgpack_sbuffer hello;   /* the hello frame for it */
    msgpack_sbuffer asked;   /* the current question */
    unsigned char *greeting; /* answer of the shard to the hello frame, which must stay the same for the whole run */
    size_t size;
    int64_t fresh; /* the number of its masks, 0 without masks */
    bool told;     /* it has the numbers of all shards */
};

struct remote {
    struct dp_workers base;
    struct dp_workers_options options;
    struct dp_link *link;
    struct dp_roster roster;
    struct desk *desk; /* of each shard */
    struct dp_frame *came;
    int64_t *masks;    /* numbers of the shards that take part in the masks, else 0 */
    char *names;       /* names of all shards, in the form in which they are saved */
    int64_t resumable; /* the last lap that dp-loop can resume from */
    bool ended;
};

static void hear(void *self, const char *sentence)
{
    const struct dp_workers *workers = self;
    if (workers->stage->out != NULL)
        dp_stage_warn(workers->stage, workers->stage->out, "%s", sentence);
}

static int tell(struct remote *r, int shard, enum dp_kind kind, const msgpack_sbuffer *body, struct dp_err *err)
{
    const struct dp_roster *roster = &r->roster;
    struct dp_link_header header = {.type = DP_SHARD_FRAME, .shard = shard, .shards = roster->shards, .lap = roster->lap};
    memcpy(header.run, roster->run, sizeof header.run);
    header.sequence = kind == DP_KIND_HELLO ? roster->hello : roster->sequence;
    header.credit = r->resumable;
    if (kind == DP_KIND_HELLO && roster->asked == DP_KIND_LAP)
        header.lap--; /* this lap is the next one */
    return dp_link_send(r->link, roster->seat[shard - 1].peer, &header, body->data, body->size, err);
}

static int send_note(struct remote *r, int peer, enum dp_shard_message type, const char *text, struct dp_err *err)
{
    struct dp_link_header header = {.type = (uint8_t)type};
    memcpy(header.run, r->roster.run, sizeof header.run);
    return dp_link_send(r->link, peer, &header, text, strlen(text), err);
}

/* Sends a shard the numbers of all masks, if it does not have them. */
static int tell_masks(struct remote *r, int shard, struct dp_err *err)
{
    struct dp_link_header header = {.type = DP_SHARD_ROSTER};
    struct desk *desk = &r->desk[shard - 1];
    if (!r->base.masked || desk->told)
        return DP_OK;
    memcpy(header.run, r->roster.run, sizeof header.run);
    desk->told = true;
    return dp_link_send(r->link, r->roster.seat[shard - 1].peer, &header, r->masks, (size_t)r->roster.shards * sizeof *r->masks,
                        err);
}

/* Sends a shard the current question, if it has answered the hello frame that it got when it joined. */
static int ask_one(struct remote *r, int shard, struct dp_err *err)
{
    const struct dp_seat *seat = &r->roster.seat[shard - 1];
    if (seat->peer == 0 || seat->answered || seat->absent || !seat->greeted || r->roster.asked == DP_KIND_HELLO)
        return DP_OK;
    int rc = r->roster.asked == DP_KIND_LAP ? tell_masks(r, shard, err) : DP_OK;
    return rc ?: tell(r, shard, r->roster.asked, &r->desk[shard - 1].asked, err);
}

static int turn_away(struct remote *r, const struct dp_link_event *event, enum dp_verdict verdict, const char *why,
                     struct dp_err *err)
{
    char sentence[DP_ERR_MESSAGE_SIZE];
    int peer = event->peer;
    bool join = event->header.type == DP_SHARD_JOIN;
    snprintf(sentence, sizeof sentence, "%s%.300s", join ? "of a worker that is turned away: " : "", why);
    dp_link_refuse(r->link, event, sentence);
    if (verdict == DP_VERDICT_AGAIN)
        return send_note(r, peer, DP_SHARD_AGAIN, "", err);
    if (verdict == DP_VERDICT_REFUSED)
        return send_note(r, peer, DP_SHARD_REFUSED, why, err);
    return DP_OK;
}

static int take_join(struct remote *r, const struct dp_link_event *event, struct dp_err *err)
{
    char why[DP_ERR_MESSAGE_SIZE];
    enum dp_verdict verdict = dp_roster_join(&r->roster, event->peer, event->name, &event->header, dp_clock_now(), why);
    if (verdict != DP_VERDICT_TAKEN)
        return turn_away(r, event, verdict, why, err);
    /* A worker whose answer has arrived already gets the hello frame, too, so that it is ready for the next lap. */
    int shard = event->header.shard;
    return tell(r, shard, DP_KIND_HELLO, &r->desk[shard - 1].hello, err);
}

/* Whether a worker that joins again announces the same as before. */
static bool same_greeting(struct desk *desk, const struct dp_link_event *event)
{
    if (desk->greeting != NULL)
        return desk->size == event->size && memcmp(desk->greeting, event->body, event->size) == 0;
    desk->greeting = dp_new(event->size + 1, 1);
    memcpy(desk->greeting, event->body, event->size);
    desk->size = event->size;
    return true;
}

/* The error for a worker that has failed. status: what it sent, which may be any number. */
static int failed(const struct remote *r, int shard, int64_t status, struct dp_err *err)
{
    char how[40] = "ended early";
    if (status >= 1 && status <= -DP_E_UNSAFE)
        snprintf(how, sizeof how, "failed with status %d", (int)status);
    return dp_fail(err, status == -DP_E_UNSAFE ? DP_E_UNSAFE : DP_E_RUN,
                   "the worker of shard %d of %d has %s; the reason is printed on its own machine", shard, r->roster.shards,
                   how);
}

/* A worker has ended early: its budget is spent, or it has failed. */
static int take_end(struct remote *r, int shard, struct dp_err *err)
{
    int64_t status = dp_frame_int(r->came, DP_F_STATUS, r->came->kind == DP_KIND_END ? 0 : 1);
    bool spent = status == 3;
    r->roster.seat[shard - 1].answered = false;
    r->roster.seat[shard - 1].over = spent;
    dp_roster_lose(&r->roster, shard, dp_clock_now());
    if (r->options.on_lost == DP_ON_LOST_CONTINUE && r->roster.asked == DP_KIND_LAP && status != 5) {
        dp_stage_warn(r->base.stage, r->base.stage->out, "shard %d of %d has ended at lap %lld: %s", shard, r->roster.shards,
                      (long long)r->roster.lap, spent ? "its budget is spent" : "it has failed");
        return DP_OK;
    }
    if (spent)
        return dp_fail(err, DP_E_BUDGET, "the budget of shard %d of %d is spent", shard, r->roster.shards);
    return failed(r, shard, status, err);
}

/* A worker has answered the hello frame. If it has new masks in the middle of a lap, the masks of the lap do not cancel. */
static void take_fresh(struct remote *r, int shard, int64_t fresh)
{
    struct desk *desk = &r->desk[shard - 1];
    struct dp_seat *seat = &r->roster.seat[shard - 1];
    bool asked = r->base.masked && r->roster.asked == DP_KIND_LAP && !seat->answered && !seat->absent;
    desk->told = false;
    desk->fresh = fresh;
    if (!asked || r->masks[shard - 1] == fresh)
        return;
    seat->absent = true;
    dp_stage_warn(r->base.stage, r->base.stage->out,
                  "lap %lld: the worker of shard %d of %d has begun again with other masks: the lap is lost to all",
                  (long long)r->roster.lap, shard, r->roster.shards);
}

static int take_frame(struct remote *r, const struct dp_link_event *event, struct dp_err *err)
{
    char why[DP_ERR_MESSAGE_SIZE];
    struct dp_err wrong = {0};
    int shard = event->header.shard;
    /* Frames of peers that may not answer are not decoded. */
    if (shard < 1 || shard > r->roster.shards || r->roster.seat[shard - 1].peer != event->peer)
        return turn_away(r, event, DP_VERDICT_AGAIN, "of nobody who has a shard", err);
    if (dp_wire_read(r->came, event->body, event->size, &wrong) != DP_OK)
        return turn_away(r, event, DP_VERDICT_DROPPED, "that is not a frame", err);
    enum dp_kind kind = r->came->kind;
    if (kind == DP_KIND_LAP && r->came->lap != event->header.lap)
        return turn_away(r, event, DP_VERDICT_DROPPED, "with the frame of another lap", err);
    enum dp_verdict verdict = dp_roster_answer(&r->roster, event->peer, &event->header, kind, why);
    if (verdict != DP_VERDICT_TAKEN && verdict != DP_VERDICT_GREETED)
        return turn_away(r, event, verdict, why, err);
    if (kind == DP_KIND_ERROR ||
        (kind == DP_KIND_END && (r->roster.asked != DP_KIND_END || dp_frame_int(r->came, DP_F_STATUS, 0) != 0)))
        return take_end(r, shard, err);
    if (kind == DP_KIND_HELLO && !same_greeting(&r->desk[shard - 1], event))
        return dp_fail(err, DP_E_UNSAFE, "shard %d of %d announces something else than when the run began", shard,
                       r->roster.shards);
    if (kind == DP_KIND_HELLO)
        take_fresh(r, shard, event->header.credit);
    if (verdict == DP_VERDICT_GREETED)
        return ask_one(r, shard, err);
    struct dp_frame *swap = r->base.frame[shard - 1];
    r->base.frame[shard - 1] = r->came;
    r->came = swap;
    r->base.answered[shard - 1] = true;
    return DP_OK;
}

static int take_event(struct remote *r, const struct dp_link_event *event, struct dp_err *err)
{
    if (event->kind == DP_LINK_GONE)
        dp_roster_gone(&r->roster, event->peer);
    if (event->kind != DP_LINK_MESSAGE)
        return DP_OK;
    if (event->header.type == DP_SHARD_JOIN)
        return take_join(r, event, err);
    if (event->header.type == DP_SHARD_FRAME)
        return take_frame(r, event, err);
    return turn_away(r, event, DP_VERDICT_DROPPED, "of a kind that no worker sends", err);
}

/* The wait for a shard has timed out. */
static int give_up(struct remote *r, int shard, struct dp_err *err)
{
    const struct dp_seat *seat = &r->roster.seat[shard - 1];
    const char *what = seat->peer != 0 ? "silent" : "gone";
    char when[64] = "the run begins";
    if (r->roster.asked == DP_KIND_LAP)
        snprintf(when, sizeof when, "lap %lld", (long long)r->roster.lap);
    if (r->roster.asked == DP_KIND_END) {
        dp_roster_lose(&r->roster, shard, dp_clock_now());
        return DP_OK;
    }
    bool goes_on = r->options.on_lost == DP_ON_LOST_CONTINUE && r->roster.asked == DP_KIND_LAP;
    if (!goes_on && r->options.on_lost != DP_ON_LOST_WAIT)
        return dp_fail(err, DP_E_RUN, "%s: the worker of shard %d of %d has been %s for %g s (--timeout, --on-lost)", when,
                       shard, r->roster.shards, seat->named ? what : "missing", r->options.timeout);
    dp_stage_warn(r->base.stage, r->base.stage->out, "%s: the worker of shard %d of %d has been %s for %g s: %s", when, shard,
                  r->roster.shards, seat->named ? what : "missing", r->options.timeout,
                  goes_on ? "the run continues without it" : "waiting");
    if (goes_on)
        dp_roster_lose(&r->roster, shard, dp_clock_now());
    else
        dp_roster_unseat(&r->roster, shard, dp_clock_now());
    return DP_OK;
}

/* Waits for the next message, and checks at intervals whether the reader of our output still exists. */
static int next_event(struct remote *r, double seconds, struct dp_err *err)
{
    struct dp_out *out = r->base.stage->out;
    struct dp_link_event event;
    int rc = dp_link_next(r->link, &event, fmin(seconds, LOOK_SECONDS), r->base.stage->runtime.cancel, err);
    if (rc == DP_OK && event.kind == DP_LINK_TIME && out != NULL && out->unread != NULL && out->unread(out)) {
        err->message[0] = '\0'; /* the reader has ended, and has printed why if it could */
        return err->status = DP_E_UPSTREAM;
    }
    return rc ?: take_event(r, &event, err);
}

static int wait_for_all(struct remote *r, struct dp_err *err)
{
    double timeout = r->roster.asked == DP_KIND_END ? fmin(r->options.timeout, END_SECONDS) : r->options.timeout;
    int shard;
    while (dp_roster_waits(&r->roster, 1) != 0) {
        double left = dp_roster_due(&r->roster, timeout, dp_clock_now(), &shard);
        int rc = left > 0 ? next_event(r, left, err) : give_up(r, shard, err);
        if (rc != DP_OK)
            return rc;
    }
    return DP_OK;
}

static int encode(struct remote *r, int k, struct dp_err *err)
{
    const struct dp_frame *frame = r->base.frame[k];
    msgpack_sbuffer *to = frame->kind == DP_KIND_HELLO ? &r->desk[k].hello : &r->desk[k].asked;
    msgpack_sbuffer_clear(to);
    return dp_wire_encode(to, frame, err);
}

/* Refuses one worker with several shares: it knows all of these shares, so fewer parties than --colluding allows for could
 * remove noise. */
static int check_shares(const struct remote *r, struct dp_err *err)
{
    bool shares = dp_shard_shares(r->base.frame[0]);
    for (int k = 1; shares && k < r->roster.shards; k++)
        for (int other = 0; other < k; other++)
            if (r->roster.seat[k].name[0] != '\0' && strcmp(r->roster.seat[k].name, r->roster.seat[other].name) == 0)
                return dp_fail(err, DP_E_UNSAFE, "shards %d and %d both belong to %s, who would know two shares of the noise",
                               other + 1, k + 1, r->roster.seat[k].name);
    return DP_OK;
}

/* All workers have masks by one roster, or none has. */
static int check_masks(struct remote *r, struct dp_err *err)
{
    const struct dp_seat *seat = r->roster.seat;
    for (int k = 1; k < r->roster.shards; k++)
        if ((seat[k].tag != 0) != (seat[0].tag != 0))
            return dp_fail(err, DP_E_UNSAFE, "shard %d has masks, and shard %d does not (dp-worker --mask)",
                           seat[0].tag != 0 ? 1 : k + 1, seat[0].tag != 0 ? k + 1 : 1);
        else if (seat[k].tag != seat[0].tag)
            return dp_fail(err, DP_E_UNSAFE, "shards 1 and %d have different rosters of masks (dp-worker --mask)", k + 1);
    r->base.masked = seat[0].tag != 0;
    return DP_OK;
}

/* Chooses who takes part in the masks of a lap: everybody but the shards that are lost. A shard that has returned takes part
 * once it has answered the hello frame. */
static void choose_masks(struct remote *r)
{
    bool changed = false;
    for (int k = 0; k < r->roster.shards; k++) {
        struct dp_seat *seat = &r->roster.seat[k];
        bool in = !seat->lost && (seat->greeted || r->masks[k] != 0);
        int64_t fresh = in ? r->desk[k].fresh : 0;
        changed |= fresh != r->masks[k];
        r->masks[k] = fresh;
        seat->absent = fresh == 0;
    }
    for (int k = 0; k < r->roster.shards; k++)
        r->desk[k].told &= !changed;
}

static int remote_ask(struct dp_workers *workers, struct dp_err *err)
{
    struct remote *r = (struct remote *)workers;
    const struct dp_frame *first = workers->frame[0];
    enum dp_kind kind = first->kind;
    int rc = DP_OK;
    if (kind == DP_KIND_HELLO && !dp_link_run(r->roster.run, first))
        rc = dp_fail(err, DP_E_RUN, "the hello frame does not say which run it is of");
    int64_t lap = kind == DP_KIND_LAP ? first->lap : r->roster.lap;
    for (int k = 0; rc == DP_OK && k < workers->shards; k++) {
        workers->answered[k] = false;
        rc = encode(r, k, err);
    }
    r->resumable = workers->stage->saved;
    dp_roster_ask(&r->roster, kind, lap, dp_clock_now());
    if (workers->masked && kind == DP_KIND_LAP)
        choose_masks(r);
    for (int k = 0; rc == DP_OK && k < workers->shards; k++)
        rc = ask_one(r, k + 1, err);
    rc = rc ?: wait_for_all(r, err);
    if (rc == DP_OK && kind == DP_KIND_HELLO)
        rc = check_shares(r, err) ?: check_masks(r, err);
    workers->torn = false;
    for (int k = 0; workers->masked && k < workers->shards; k++)
        workers->torn |= r->masks[k] != 0 && !workers->answered[k];
    r->ended = rc == DP_OK && kind == DP_KIND_END;
    return rc;
}

/* Saves the name of each shard's worker and the last lap that was counted. */
static int remote_save(struct dp_workers *workers, struct dp_state *state, struct dp_err *err)
{
    struct remote *r = (struct remote *)workers;
    (void)err;
    dp_state_put_bytes(state, "run", r->roster.run, sizeof r->roster.run);
    for (int k = 0; k < workers->shards; k++)
        memcpy(r->names + k * DP_SEAT_NAME, r->roster.seat[k].name, DP_SEAT_NAME);
    dp_state_put_bytes(state, "names", r->names, (size_t)workers->shards * DP_SEAT_NAME);
    return DP_OK;
}

/* Runs after the hello frame: the workers that have joined must be those that had the shards before. */
static int remote_restore(struct dp_workers *workers, const struct dp_state *state, struct dp_err *err)
{
    struct remote *r = (struct remote *)workers;
    const void *names, *run;
    size_t size = 0, id = 0;
    int rc = dp_state_get_bytes(state, "names", &names, &size, err);
    rc = rc ?: dp_state_get_bytes(state, "run", &run, &id, err);
    if (rc == DP_OK && size != (size_t)workers->shards * DP_SEAT_NAME)
        rc = dp_fail(err, DP_E_RUN, "the checkpoint is of a run with another number of workers");
    if (rc == DP_OK && (id != sizeof r->roster.run || memcmp(run, r->roster.run, id) != 0))
        rc = dp_fail(err, DP_E_RUN, "the checkpoint is of another run");
    for (int k = 0; rc == DP_OK && k < workers->shards; k++)
        if (memcmp((const char *)names + k * DP_SEAT_NAME, r->roster.seat[k].name, DP_SEAT_NAME) != 0)
            rc = dp_fail(err, DP_E_UNSAFE, "shard %d of %d belongs to another worker than the one that has joined", k + 1,
                         workers->shards);
    return rc;
}

/* Waits a while for all peers to disconnect: otherwise the last message could be lost with the connection. */
static void see_off(struct remote *r)
{
    struct dp_link_event event;
    struct dp_err unused;
    double end = dp_clock_now() + OFF_SECONDS;
    for (int k = 0; k < r->roster.shards;) {
        double left = end - dp_clock_now();
        if (r->roster.seat[k].peer == 0) {
            k++;
            continue;
        }
        if (left <= 0 || dp_link_next(r->link, &event, left, NULL, &unused) != DP_OK)
            return;
        if (event.kind == DP_LINK_GONE)
            dp_roster_gone(&r->roster, event.peer);
    }
}

/* Tells the workers that the run has failed. */
static void send_off(struct remote *r)
{
    struct dp_err unused;
    struct msgpack_sbuffer body;
    msgpack_sbuffer_init(&body);
    dp_frame_reset(r->came, DP_KIND_ERROR);
    dp_frame_set_int(r->came, DP_F_STATUS, -DP_E_UPSTREAM);
    int rc = dp_wire_encode(&body, r->came, &unused);
    r->roster.sequence++;
    for (int k = 1; rc == DP_OK && k <= r->roster.shards; k++)
        if (r->roster.seat[k - 1].peer != 0)
            tell(r, k, DP_KIND_ERROR, &body, &unused);
    msgpack_sbuffer_destroy(&body);
    see_off(r);
}

static void remote_free(struct dp_workers *workers)
{
    struct remote *r = (struct remote *)workers;
    if (r->link != NULL && !r->ended && r->roster.seat != NULL && r->came != NULL)
        send_off(r);
    dp_link_close(r->link, LINGER_MS);
    for (int k = 0; r->desk != NULL && k < workers->shards; k++) {
        msgpack_sbuffer_destroy(&r->desk[k].hello);
        msgpack_sbuffer_destroy(&r->desk[k].asked);
        free(r->desk[k].greeting);
    }
    free(r->desk);
    free(r->masks);
    free(r->names);
    dp_roster_close(&r->roster);
    dp_frame_free(r->came);
    dp_workers_end(workers);
    free(r);
}

static const struct dp_workers_ops remote_ops = {
    .ask = remote_ask, .save = remote_save, .restore = remote_restore, .free = remote_free};

static int open_all(struct remote *r, const char *at, const struct dp_security *security, struct dp_err *err)
{
    struct dp_stage *stage = r->base.stage;
    uint64_t first;
    int shards = r->base.shards;
    randombytes_buf(&first, sizeof first);
    r->desk = dp_new((size_t)shards, sizeof *r->desk);
    r->masks = dp_new((size_t)shards, sizeof *r->masks);
    r->names = dp_new((size_t)shards, DP_SEAT_NAME);
    for (int k = 0; k < shards; k++) {
        msgpack_sbuffer_init(&r->desk[k].hello);
        msgpack_sbuffer_init(&r->desk[k].asked);
    }
    r->came = dp_frame_new();
    dp_roster_open(&r->roster, shards, first, stage->checkpoint.resumed);
    int rc = dp_link_open(&r->link, at, true, security, hear, &r->base, err);
    return rc ?: dp_shard_link(r->link, err);
}

int dp_workers_remote(struct dp_workers **workers, struct dp_stage *stage, const char *at, const struct dp_security *security,
                      int shards, const struct dp_workers_options *options, struct dp_err *err)
{
    struct remote *r = dp_new(1, sizeof *r);
    r->options = *options;
    dp_workers_start(&r->base, &remote_ops, stage, shards);
    int rc = open_all(r, at, security, err);
    if (rc != DP_OK) {
        remote_free(&r->base);
        return rc;
    }
    *workers = &r->base;
    return DP_OK;
}
