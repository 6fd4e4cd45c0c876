/* Ports on links: one writer, one reader, one message for each frame. Each frame has a number, from 1. The reader says which
 * frame it wants next, and how many may be on their way. The writer keeps a frame until the reader has asked for the next one,
 * so that nothing is lost if the connection breaks and comes back. The first process that sends a hello frame is the writer;
 * from then on only messages of its session and run are read. ZeroMQ has no end of file: the end frame is the end, and the link
 * reports a process at the other end that is gone before it. */
#include <msgpack.h>

#include "base/clock.h"
#include "base/mem.h"
#include "port/link.h"
#include "port/port.h"
#include "wire/codec.h"

#define SLOTS 8                       /* frames that may be on their way at the same time */
#define BYTES_MOST ((size_t)16 << 20) /* another frame may follow while fewer bytes than this are on their way */
#define PATIENCE_HERE 10              /* seconds for the other end to connect, or to connect again */
#define PATIENCE_FAR 30
#define ABANDON 1     /* seconds for a connected reader to take the last frames of a run that is over */
#define CLOSE_MS 1000 /* time for the last message to be sent */

enum {
    OFFER = 1, /* writer: I am connected; which frame do you want? */
    ASK,       /* reader: send frames from `sequence` on, also those sent before */
    HERE,      /* writer, answer to ASK: these frames will come */
    DATA,      /* writer: frame `sequence`, of lap `lap` */
    TAKEN,     /* reader: I have all frames before `sequence`; `credit` may be on their way */
    BYE,       /* no more messages from this end */
};

struct slot {
    struct dp_link_body *body;
    int64_t lap;
};

struct stream {
    struct dp_link *link;
    bool writes;
    double patience;
    unsigned char run[DP_LINK_ID];
    bool runs; /* run is known */
    /* The other end: the peer with the session `other`, or the last peer that came while no session is known. */
    unsigned char other[DP_LINK_ID];
    int peer;
    bool met, came, present, left;
    double away;   /* the time at which it went away */
    uint64_t next; /* number of the frame that is read or written next */
    /* writer: frames [first, next) are kept, number n in slot[n % SLOTS] */
    uint64_t first, limit; /* limit: the reader accepts frames before this number */
    struct slot slot[SLOTS];
    size_t bytes;
};

/* --- what both ends do --------------------------------------------------------------------------------------------- */

static int say(struct stream *s, int type, uint64_t sequence, struct dp_err *err)
{
    struct dp_link_header header = {.type = (uint8_t)type, .sequence = sequence, .credit = s->writes ? 0 : SLOTS};
    memcpy(header.run, s->run, DP_LINK_ID);
    return dp_link_send(s->link, s->peer, &header, NULL, 0, err);
}

/* Notes the run of a hello frame; 0 if the frame states none. */
static void learn_run(struct stream *s, const struct dp_frame *hello)
{
    dp_link_run(s->run, hello);
    s->runs = true;
}

static void arrive(struct stream *s, int peer)
{
    s->peer = peer;
    s->came = s->present = true;
}

static void depart(struct stream *s)
{
    s->present = false;
    s->away = dp_clock_now();
}

static void meet(struct stream *s, const struct dp_link_event *e)
{
    memcpy(s->other, e->header.session, DP_LINK_ID);
    s->met = true;
}

/* Whether a peer that came and left without a message of the stream counts as the other end. It does if connecting needs a key
 * or the user's own directory, or if this end connects. */
static bool counts(const struct stream *s)
{
    return s->met || (s->came && (!dp_link_binds(s->link) || dp_link_exclusive(s->link)));
}

/* Whether the other end was there and is gone for good. On this machine a connection ends only when its process has ended. */
static bool alone(const struct stream *s)
{
    if (s->left)
        return true;
    return counts(s) && !s->present && (dp_link_here(s->link) || dp_clock_now() - s->away >= s->patience);
}

/* Sets the time at which the other end has been away for too long. */
static void set_wake(struct stream *s, double at)
{
    bool away = counts(s) && !s->present && !s->left;
    double back = s->away + s->patience;
    if (away && (at == 0 || back < at))
        at = back;
    dp_link_wake(s->link, at);
}

/* --- writer -------------------------------------------------------------------------------------------------------- */

static int send_frame(struct stream *s, uint64_t number, struct dp_err *err)
{
    struct slot *slot = &s->slot[number % SLOTS];
    struct dp_link_header header = {.type = DATA, .sequence = number, .lap = slot->lap};
    memcpy(header.run, s->run, DP_LINK_ID);
    return dp_link_send_shared(s->link, s->peer, &header, slot->body, err);
}

/* Frees the frames that the reader has. */
static void let_go(struct stream *s, uint64_t sequence)
{
    for (; s->first < sequence; s->first++)
        s->bytes -= dp_link_body_buffer(s->slot[s->first % SLOTS].body)->size;
}

/* Why the message is not from our reader; NULL if it is. */
static const char *wrong_reader(const struct stream *s, const struct dp_link_header *h)
{
    bool other = s->met && !dp_link_same(h->session, s->other);
    if (other && (s->present || s->first > 1))
        return "of another reader";
    if (s->runs && !dp_link_same(h->run, s->run) && dp_link_is_run(h->run))
        return "of another run";
    return h->sequence < s->first || h->sequence > s->next ? "that asks for a frame that is not there" : NULL;
}

static int hear_reader(struct stream *s, const struct dp_link_event *e, struct dp_err *err)
{
    const struct dp_link_header *h = &e->header;
    if (h->type == BYE && s->met && dp_link_same(h->session, s->other)) {
        s->left = true;
        return DP_OK;
    }
    const char *why = h->type == ASK || h->type == TAKEN ? wrong_reader(s, h) : "that is not for a writer";
    if (why == NULL && h->type == TAKEN && !s->met)
        why = "of a reader that has not asked";
    if (why != NULL) {
        dp_link_refuse(s->link, e, why);
        return DP_OK;
    }
    meet(s, e);
    arrive(s, e->peer);
    let_go(s, h->sequence);
    s->limit = h->sequence + (h->credit < SLOTS ? (uint64_t)h->credit : SLOTS);
    int rc = h->type == ASK ? say(s, HERE, s->next, err) : DP_OK;
    for (uint64_t n = s->first; rc == DP_OK && h->type == ASK && n < s->next; n++)
        rc = send_frame(s, n, err);
    return rc;
}

/* --- reader -------------------------------------------------------------------------------------------------------- */

/* Why the message is not the next frame of our writer; NULL if it may be. */
static const char *wrong_data(const struct stream *s, const struct dp_link_header *h)
{
    if (s->met && !dp_link_same(h->session, s->other))
        return "of another writer";
    if (s->runs && !dp_link_same(h->run, s->run))
        return "of another run";
    if (h->sequence != s->next)
        return h->sequence < s->next ? "that has come before" : "out of turn";
    return NULL;
}

/* Handles a message of a writer: 1 when it may be the next frame. */
static int hear_writer(struct stream *s, const struct dp_link_event *e, struct dp_err *err)
{
    const struct dp_link_header *h = &e->header;
    bool ours = s->met && dp_link_same(h->session, s->other);
    const char *why = NULL;
    if (h->type == DATA && (why = wrong_data(s, h)) == NULL)
        return 1;
    if (h->type == BYE && ours) {
        s->left = true;
        return DP_OK;
    }
    if (h->type != DATA && h->type != OFFER && h->type != HERE)
        why = "that is not for a reader";
    else if (h->type != DATA && s->met && !ours)
        why = "of another writer";
    if (why != NULL) {
        dp_link_refuse(s->link, e, why);
        return DP_OK;
    }
    arrive(s, e->peer);
    return h->type == OFFER ? say(s, ASK, s->next, err) : DP_OK;
}

/* Takes the first frame: a hello frame; or, if only a stage can connect, the error frame of a stage that failed before it.
 * Anything else is dropped. */
static int meet_writer(struct stream *s, const struct dp_link_event *e, struct dp_frame *frame, bool *good, struct dp_err *err)
{
    struct dp_err unused;
    unsigned char run[DP_LINK_ID];
    bool knew = s->runs;
    *good = dp_wire_read(frame, e->body, e->size, &unused) == DP_OK;
    if (*good && frame->kind == DP_KIND_HELLO) {
        memcpy(run, s->run, DP_LINK_ID);
        learn_run(s, frame);
        *good = dp_link_same(s->run, e->header.run); /* it must be the expected run, if a run is expected */
        if (!*good) {
            memcpy(s->run, run, DP_LINK_ID);
            s->runs = knew;
        }
    } else {
        *good = *good && frame->kind == DP_KIND_ERROR;
    }
    if (!*good) {
        dp_link_refuse(s->link, e, "that does not begin a stream");
        return DP_OK;
    }
    meet(s, e);
    arrive(s, e->peer);
    return say(s, TAKEN, ++s->next, err);
}

static int take_frame(struct stream *s, const struct dp_link_event *e, struct dp_frame *frame, bool *good, struct dp_err *err)
{
    if (!s->met)
        return meet_writer(s, e, frame, good, err);
    int rc = dp_wire_read(frame, e->body, e->size, err);
    if (rc != DP_OK)
        return rc;
    *good = true;
    arrive(s, e->peer);
    return say(s, TAKEN, ++s->next, err);
}

/* --- both ---------------------------------------------------------------------------------------------------------- */

/* A peer has come, or the connection is back: the end that connects sends first. */
static int greet(struct stream *s, struct dp_err *err)
{
    if (!s->met)
        arrive(s, 0);
    return say(s, s->writes ? OFFER : ASK, s->next, err);
}

/* Handles all events that have arrived: 1 when *event may be the next frame. */
static int take_news(struct stream *s, struct dp_link_event *event, struct dp_err *err)
{
    for (;;) {
        int rc = dp_link_next(s->link, event, 0, NULL, err);
        if (rc != DP_OK || event->kind == DP_LINK_TIME)
            return rc;
        if (event->kind == DP_LINK_CAME)
            rc = greet(s, err);
        else if (event->kind == DP_LINK_GONE && event->peer == s->peer)
            depart(s);
        else if (event->kind == DP_LINK_MESSAGE)
            rc = s->writes ? hear_reader(s, event, err) : hear_writer(s, event, err);
        if (rc != DP_OK)
            return rc;
    }
}

static bool stream_alone(void *self)
{
    struct stream *s = self;
    struct dp_link_event event;
    struct dp_err unused;
    return (s->writes && take_news(s, &event, &unused) != DP_OK) || alone(s);
}

static struct pollfd stream_item(void *self)
{
    struct stream *s = self;
    set_wake(s, stream_alone(self) ? dp_clock_now() : 0);
    return (struct pollfd){dp_link_fd(s->link), POLLIN, 0};
}

/* Waits for an event until `at`, by dp_clock_now; 0: without limit. 1, DP_PORT_UNREAD or an error. */
static int wait_news(struct dp_port *port, double at, struct dp_err *err)
{
    struct stream *s = port->self;
    struct pollfd items[2] = {{dp_link_fd(s->link), POLLIN, 0}};
    set_wake(s, at);
    int rc = dp_port_wait(port, dp_link_name(s->link), items, 1, err);
    dp_link_wake(s->link, 0);
    return rc;
}

static int stream_read(struct dp_port *port, struct dp_frame *frame, struct dp_err *err)
{
    struct stream *s = port->self;
    double end = port->limit > 0 ? dp_clock_now() + port->limit : 0;
    for (bool good = false;;) {
        struct dp_link_event event;
        int rc = take_news(s, &event, err);
        if (rc == 1) {
            rc = take_frame(s, &event, frame, &good, err);
            if (rc != DP_OK || good)
                return rc != DP_OK ? rc : 1;
            continue;
        }
        if (rc != DP_OK)
            return rc;
        if (alone(s))
            return 0;
        if (end > 0 && dp_clock_now() >= end)
            return dp_fail(err, DP_E_RUN, "%s gave no answer within %g s", dp_link_name(s->link), port->limit);
        rc = wait_news(port, end, err);
        if (rc != 1)
            return rc;
    }
}

/* Whether one more frame may be kept: only one, before the reader has connected. */
static bool has_room(const struct stream *s)
{
    if (s->next == s->first)
        return true;
    return s->met && s->next < s->limit && s->bytes < BYTES_MOST;
}

static bool is_met(const struct stream *s)
{
    return s->met;
}

/* Waits until the condition holds, or the reader is gone. */
static int wait_until(struct dp_port *port, bool (*holds)(const struct stream *s), struct dp_err *err)
{
    struct stream *s = port->self;
    double now = dp_clock_now(), end = now + s->patience, limit = port->limit > 0 ? now + port->limit : 0;
    for (;;) {
        struct dp_link_event event;
        int rc = take_news(s, &event, err);
        if (rc != DP_OK || holds(s) || alone(s))
            return rc;
        now = dp_clock_now();
        if (!s->met && now >= end) {
            s->left = true; /* do not wait for a reader at the end, either */
            return dp_fail(err, DP_E_RUN, "nobody has come to read %s", dp_link_name(s->link));
        }
        if (limit > 0 && now >= limit)
            return dp_fail(err, DP_E_RUN, "%s took nothing within %g s", dp_link_name(s->link), port->limit);
        double at = s->met ? limit : limit > 0 && limit < end ? limit : end;
        rc = wait_news(port, at, err);
        if (rc != 1)
            return rc;
    }
}

/* Empties the slot of a frame that the reader has; takes a new buffer if libzmq still uses the old one. */
static void empty_slot(struct slot *slot)
{
    if (dp_link_body_idle(slot->body)) {
        msgpack_sbuffer_clear(dp_link_body_buffer(slot->body));
        return;
    }
    struct dp_link_body *other;
    other = dp_link_body_new();
    dp_link_body_free(slot->body);
    slot->body = other;
}

/* A frame written to a reader that is gone is lost; the next read reports that. */
static int stream_write(struct dp_port *port, const struct dp_frame *frame, struct dp_err *err)
{
    struct stream *s = port->self;
    int rc = wait_until(port, has_room, err);
    if (rc != DP_OK || alone(s))
        return rc;
    struct slot *slot = &s->slot[s->next % SLOTS];
    empty_slot(slot);
    if (rc != DP_OK)
        return rc;
    msgpack_sbuffer *buffer = dp_link_body_buffer(slot->body);
    if (frame->kind == DP_KIND_HELLO)
        learn_run(s, frame);
    slot->lap = frame->kind == DP_KIND_LAP ? frame->lap : 0;
    rc = dp_wire_encode(buffer, frame, err);
    if (rc != DP_OK)
        return rc;
    s->bytes += buffer->size;
    s->next++;
    return s->present && s->met ? send_frame(s, s->next - 1, err) : DP_OK;
}

static int stream_flush(struct dp_port *port, struct dp_err *err)
{
    return wait_until(port, is_met, err);
}

static int stream_commit(struct dp_port *port, struct dp_err *err)
{
    (void)port;
    (void)err;
    return DP_OK;
}

/* Waits until the reader has all frames, as long as it may still come. */
static void linger(struct dp_port *port, bool abandon)
{
    struct stream *s = port->self;
    struct dp_err unused;
    struct dp_link_event event;
    double end = dp_clock_now() + (abandon ? ABANDON : s->patience);
    port->watched = NULL;
    port->limit = 0;
    while (s->writes && take_news(s, &event, &unused) == DP_OK && s->first < s->next && !alone(s) && (!abandon || s->present) &&
           dp_clock_now() < end)
        if (wait_news(port, end, &unused) != 1)
            break;
}

static void stream_close(struct dp_port *port, bool abandon)
{
    struct stream *s = port->self;
    struct dp_err unused;
    if (s->link != NULL) {
        linger(port, abandon);
        if (s->met && !s->left)
            say(s, BYE, s->next, &unused);
        dp_link_close(s->link, s->met && s->present ? CLOSE_MS : 0);
    }
    for (int i = 0; i < SLOTS; i++)
        dp_link_body_free(s->slot[i].body);
    free(s);
}

static void stream_expect(struct dp_port *port, const struct dp_frame *hello)
{
    learn_run(port->self, hello);
}

static const struct dp_port_ops stream_ops = {stream_read,  stream_write, stream_commit, stream_close,
                                              stream_alone, stream_item,  stream_flush,  stream_expect};

int dp_port_open_stream(struct dp_port **port, const char *spec, enum dp_direction direction,
                        const struct dp_port_setting *setting, struct dp_err *err)
{
    static const struct dp_port_setting usual;
    setting = setting != NULL ? setting : &usual;
    struct stream *s;
    if (!dp_link_is(spec))
        return dp_fail(err, DP_E_USAGE, "%s: a port is -, a file, ipc://PATH or tcp://HOST:PORT", spec);
    s = dp_new(1, sizeof *s);
    s->writes = direction == DP_OUT;
    s->first = s->next = s->limit = 1;
    for (int i = 0; s->writes && i < SLOTS; i++)
        s->slot[i].body = dp_link_body_new();
    int rc = dp_link_open(&s->link, spec, direction == DP_IN, &setting->security, setting->log, setting->log_self, err);
    if (rc != DP_OK) {
        stream_close(&(struct dp_port){.self = s}, true);
        return rc;
    }
    s->patience = setting->patience > 0 ? setting->patience : dp_link_here(s->link) ? PATIENCE_HERE : PATIENCE_FAR;
    dp_port_wrap(port, &stream_ops, s, dp_link_private(s->link) ? DP_EXPOSED_NO : DP_EXPOSED_SOCKET);
    return DP_OK;
}
