#include "port/link.h"

#include <msgpack.h>
#include <poll.h>
#include <pthread.h>
#include <sodium.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "port/endpoint.h"
#include "port/header.h"
#include "port/keys.h"
#include "port/zap.h"
#include "port/zmq.h"
#include "wire/codec.h"

#define MONITOR "inproc://monitor"
#define FAILURES (ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH)
#define EVENTS (ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_CONNECT_RETRIED | FAILURES)

#define PEERS_MOST 4096    /* beyond this, a new peer replaces the peer that has been gone longest */
#define QUEUE 64           /* messages to or from one peer that libzmq keeps; streams and shards need fewer */
#define HANDSHAKE_MS 10000 /* a silent connection is closed after this time; */
#define HANDSHAKE_SHORT_MS 2000
#define DESCRIPTORS_FEW 1024   /* if there are fewer descriptors, after this time */
#define DESCRIPTORS_MOST 16384 /* a process that binds takes at most this many: a silent connection costs some kB */
#define HEARTBEAT_MS 2000      /* over a network: interval between heartbeats, */
#define SILENCE_MS 15000       /* and the longest time without an answer to them */
#define RETRY_MS 100           /* between attempts to connect */
#define RETRY_MOST_MS 2000
#define LOOK_SECONDS 1.0  /* for so long after a connection has ended, the link checks which peer has lost it, */
#define LOOK_EVERY 0.05   /* and checks at most so often */
#define LEAVE_SECONDS 1.0 /* the end of a connection is reported at most so long after it */
#define TERM_SECONDS 2    /* time for libzmq to end, in addition to linger_ms */
#define WAITING_MOST 16   /* messages to one peer that are kept while its queue is full: more than streams and shards need */
#define WAITING_AGAIN 0.01
#define ANSWERS_MOST 4096 /* so many messages of others may arrive before an unreachable peer counts as gone */
#define DROP_SECONDS 0.01 /* dp_link_next drops messages for at most so long after its time is over */
#define SETTLE_MS 50      /* between the last message and the end of the socket */
#define LOG_FIRST 1.0     /* seconds between log sentences, doubled each time up to */
#define LOG_LAST 60.0

/* A message that waits until the queue of its peer has room. */
struct waiting {
    struct dp_link_header header;
    struct dp_link_body *body; /* or NULL */
};

struct queue {
    struct waiting item[WAITING_MOST];
    size_t count;
};

/* A peer, identified by its routing id, which is also its session. */
struct peer {
    unsigned char id[DP_LINK_ID];
    int number;
    char *name;
    bool gone;
    uint64_t dying;      /* count of the link's messages when the peer became unreachable; 0: it is reachable */
    struct queue *queue; /* NULL if no message waits */
};

/* Peers of a link that binds. */
struct peers {
    struct peer *peer;
    size_t count, capacity, last; /* last: the peer of the last message */
    int numbers;
    double look_until, look_next;
};

/* The other end of a link that connects. */
struct end {
    char *server; /* name of its trusted key */
    struct queue *queue;
    bool connected, came, left; /* connected now; and events that dp_link_next has not returned yet */
    bool failed, retry;         /* the handshake failed, after which libzmq does not connect again */
    double leaves_at;           /* disconnected, and the last messages may come until then; 0: it is not */
    double retry_at;
};

/* Descriptors to wait for. all: an epoll(7) of the other three. */
struct wait {
    int all, timer, socket, monitor;
    double wake, timer_at; /* timer_at: what the timer is set to */
};

struct log {
    dp_link_log *write;
    void *self;
    double next, pause;
    uint64_t dropped, logged;
};

struct dp_link {
    struct dp_endpoint endpoint;
    bool keys, bound;
    unsigned char session[DP_LINK_ID];
    void *context, *socket, *monitor;
    struct dp_zap *zap;
    struct peers known;
    struct end end;
    struct wait wait;
    struct log log;
    zmq_msg_t body;      /* body of the last event */
    size_t waiting;      /* number of queues */
    double waiting_next; /* next time to try the queues */
    uint64_t received;
    bool more; /* the last dp_link_next returned before it had dropped everything */
};

struct dp_link_body {
    msgpack_sbuffer buffer;
    atomic_int holders;
};

bool dp_link_run(unsigned char run[DP_LINK_ID], const struct dp_frame *hello)
{
    const char *digits = dp_frame_text(hello, DP_F_RUN, "");
    size_t size = 0;
    memset(run, 0, DP_LINK_ID);
    if (sodium_hex2bin(run, DP_LINK_ID, digits, strlen(digits), NULL, &size, NULL) == 0 && size == DP_LINK_ID)
        return true;
    memset(run, 0, DP_LINK_ID);
    return false;
}

/* --- bodies -------------------------------------------------------------------------------------------------------- */

struct dp_link_body *dp_link_body_new(void)
{
    struct dp_link_body *body = dp_new(1, sizeof *body);
    msgpack_sbuffer_init(&body->buffer);
    atomic_init(&body->holders, 1);
    return body;
}

struct msgpack_sbuffer *dp_link_body_buffer(struct dp_link_body *body)
{
    return &body->buffer;
}

bool dp_link_body_idle(const struct dp_link_body *body)
{
    return atomic_load(&body->holders) == 1;
}

void dp_link_body_free(struct dp_link_body *body)
{
    if (body == NULL || atomic_fetch_sub(&body->holders, 1) > 1)
        return;
    msgpack_sbuffer_destroy(&body->buffer);
    free(body);
}

/* libzmq calls this, in its own thread, when it has sent the bytes. */
static void release(void *data, void *body)
{
    (void)data;
    dp_link_body_free(body);
}

/* --- counting ------------------------------------------------------------------------------------------------------ */

static void drop(struct dp_link *l, const char *what, const char *name, uint64_t how_many)
{
    char sentence[512];
    double now = dp_clock_now();
    l->log.dropped += how_many;
    if (l->log.write == NULL || now < l->log.next)
        return;
    l->log.pause = l->log.pause == 0 ? LOG_FIRST : l->log.pause * 2 < LOG_LAST ? l->log.pause * 2 : LOG_LAST;
    l->log.next = now + l->log.pause;
    uint64_t others = l->log.dropped - l->log.logged - how_many;
    l->log.logged = l->log.dropped;
    int used = snprintf(sentence, sizeof sentence, "%.150s: %.220s%s%.64s", l->endpoint.address, what,
                        name[0] != '\0' ? ", from " : "", name);
    if (others > 0 && used > 0 && (size_t)used < sizeof sentence)
        snprintf(sentence + used, sizeof sentence - (size_t)used, " (%llu such things since the last such line)",
                 (unsigned long long)others);
    l->log.write(l->log.self, sentence);
}

void dp_link_refuse(struct dp_link *link, const struct dp_link_event *event, const char *why)
{
    char what[256];
    snprintf(what, sizeof what, "dropped a message %.200s", why);
    drop(link, what, event->name != NULL ? event->name : "", 1);
}

uint64_t dp_link_dropped(const struct dp_link *link)
{
    return link->log.dropped;
}

/* --- peers of a link that binds ------------------------------------------------------------------------------------ */

static struct peer *find_id(struct dp_link *l, const void *id)
{
    if (l->known.last < l->known.count && memcmp(l->known.peer[l->known.last].id, id, DP_LINK_ID) == 0)
        return &l->known.peer[l->known.last];
    for (size_t i = 0; i < l->known.count; i++)
        if (memcmp(l->known.peer[i].id, id, DP_LINK_ID) == 0) {
            l->known.last = i;
            return &l->known.peer[i];
        }
    return NULL;
}

static struct peer *find_number(struct dp_link *l, int number)
{
    for (size_t i = 0; i < l->known.count; i++)
        if (l->known.peer[i].number == number)
            return &l->known.peer[i];
    return NULL;
}

/* Schedules a check of all peers, because a connection has ended. Not every ended connection of a stranger causes a check,
 * because checks would fill the queues of working peers. */
static void look_soon(struct dp_link *l)
{
    l->known.look_until = dp_clock_now() + LOOK_SECONDS;
}

/* A place for a new peer: at the end, or the place of the peer that has been gone longest. */
static struct peer *make_place(struct dp_link *l)
{
    struct peer *place = NULL;
    if (l->known.count < PEERS_MOST) {
        dp_extend(&l->known.peer, &l->known.capacity, l->known.count + 1, sizeof *l->known.peer);
        return &l->known.peer[l->known.count++];
    }
    for (size_t i = 0; i < l->known.count; i++)
        if (l->known.peer[i].gone && (place == NULL || l->known.peer[i].number < place->number))
            place = &l->known.peer[i];
    if (place != NULL)
        free(place->name);
    return place;
}

static struct peer *new_peer(struct dp_link *l, const void *id, const char *name)
{
    struct peer *p = make_place(l);
    if (p == NULL)
        return NULL;
    *p = (struct peer){.number = ++l->known.numbers, .name = dp_got(strdup(name))};
    memcpy(p->id, id, DP_LINK_ID);
    look_soon(l);
    return p;
}

/* --- sending ------------------------------------------------------------------------------------------------------- */

enum sent { SENT, FULL, UNREACHED };

/* 0, or -1 with errno. */
static int send_part(struct dp_link *l, const void *bytes, size_t size, bool more)
{
    return dp_zmq.send(l->socket, bytes, size, ZMQ_DONTWAIT | (more ? ZMQ_SNDMORE : 0)) < 0 ? -1 : 0;
}

static int send_body(struct dp_link *l, const void *bytes, size_t size, struct dp_link_body *shared)
{
    zmq_msg_t message;
    if (shared == NULL)
        return send_part(l, bytes, size, false);
    atomic_fetch_add(&shared->holders, 1);
    if (dp_zmq.msg_init_data(&message, shared->buffer.data, shared->buffer.size, release, shared) != 0) {
        atomic_fetch_sub(&shared->holders, 1);
        return -1;
    }
    int rc = dp_zmq.msg_send(&message, l->socket, ZMQ_DONTWAIT) < 0 ? -1 : 0;
    if (rc != 0)
        dp_zmq.msg_close(&message);
    return rc;
}

/* If libzmq takes the first part of a message, it takes the other parts, too. */
static enum sent send_parts(struct dp_link *l, const struct peer *p, const struct dp_link_header *header, const void *bytes,
                            size_t size, struct dp_link_body *shared)
{
    unsigned char head[DP_HEADER_SIZE];
    struct dp_link_header filled = *header;
    bool body = bytes != NULL || shared != NULL;
    memcpy(filled.session, l->session, DP_LINK_ID);
    dp_header_encode(head, &filled);
    if (p != NULL && send_part(l, p->id, DP_LINK_ID, true) != 0)
        return errno == EHOSTUNREACH ? UNREACHED : FULL;
    if (send_part(l, head, sizeof head, body) != 0)
        return FULL;
    if (body)
        send_body(l, bytes, size, shared);
    return SENT;
}

static struct queue **queue_of(struct dp_link *l, struct peer *p)
{
    return p != NULL ? &p->queue : &l->end.queue;
}

static void end_queue(struct dp_link *l, struct queue **queue)
{
    for (size_t i = 0; *queue != NULL && i < (*queue)->count; i++)
        dp_link_body_free((*queue)->item[i].body);
    l->waiting -= *queue != NULL;
    free(*queue);
    *queue = NULL;
}

/* Keeps the message; `bytes` are copied. A peer with too many waiting messages does not read: the message is dropped. */
static void keep_waiting(struct dp_link *l, struct queue **queue, const struct dp_link_header *header, const void *bytes,
                         size_t size, struct dp_link_body *shared)
{
    struct waiting w = {*header, shared};
    if (*queue == NULL) {
        *queue = dp_new(1, sizeof **queue);
        l->waiting++;
        l->waiting_next = dp_clock_now() + WAITING_AGAIN;
    }
    if ((*queue)->count == WAITING_MOST)
        return;
    if (shared != NULL) {
        atomic_fetch_add(&shared->holders, 1);
    } else if (bytes != NULL) {
        w.body = dp_link_body_new();
        dp_wire_put(&w.body->buffer, bytes, size);
    }
    (*queue)->item[(*queue)->count++] = w;
}

/* Sends the messages that wait for that peer, in order. If the peer is unreachable, they are dropped. */
static void send_queue(struct dp_link *l, struct peer *p)
{
    struct queue **queue = queue_of(l, p);
    enum sent sent = SENT;
    size_t done = 0;
    while (*queue != NULL && done < (*queue)->count && sent == SENT) {
        const struct waiting *w = &(*queue)->item[done];
        sent = send_parts(l, p, &w->header, NULL, 0, w->body);
        done += sent == SENT;
    }
    if (*queue == NULL || sent == UNREACHED || done == (*queue)->count) {
        end_queue(l, queue);
        return;
    }
    for (size_t i = 0; i < done; i++)
        dp_link_body_free((*queue)->item[i].body);
    (*queue)->count -= done;
    memmove((*queue)->item, (*queue)->item + done, (*queue)->count * sizeof *(*queue)->item);
}

static void send_waiting(struct dp_link *l)
{
    if (l->waiting == 0 || dp_clock_now() < l->waiting_next)
        return;
    l->waiting_next = dp_clock_now() + WAITING_AGAIN;
    send_queue(l, NULL);
    for (size_t i = 0; i < l->known.count; i++)
        send_queue(l, &l->known.peer[i]);
}

static int send_any(struct dp_link *l, int number, const struct dp_link_header *header, const void *bytes, size_t size,
                    struct dp_link_body *shared, struct dp_err *err)
{
    struct peer *p = l->endpoint.bind ? find_number(l, number) : NULL;
    struct queue **queue = queue_of(l, p);
    if (size > DP_LIMIT_FRAME)
        return dp_fail(err, DP_E_RUN, "%s: a message of %zu bytes, the limit is %zu", l->endpoint.address, size,
                       DP_LIMIT_FRAME);
    if (l->endpoint.bind && (p == NULL || p->gone))
        return DP_OK;
    enum sent sent = *queue != NULL ? FULL : send_parts(l, p, header, bytes, size, shared);
    if (sent == UNREACHED)
        look_soon(l);
    bool there = p != NULL || l->end.connected; /* without a connection there is no queue: treat it like a full one */
    if (sent == FULL && there)
        keep_waiting(l, queue, header, bytes, size, shared);
    return DP_OK;
}

int dp_link_send(struct dp_link *link, int peer, const struct dp_link_header *header, const void *body, size_t size,
                 struct dp_err *err)
{
    return send_any(link, peer, header, body, size, NULL, err);
}

int dp_link_send_shared(struct dp_link *link, int peer, const struct dp_link_header *header, struct dp_link_body *body,
                        struct dp_err *err)
{
    return send_any(link, peer, header, NULL, body->buffer.size, body, err);
}

/* --- receiving ----------------------------------------------------------------------------------------------------- */

enum { NOTHING, DROPPED, EVENT };

/* Reads the next part of a message. 1; 0 without a further part. */
static int take_part(struct dp_link *l, zmq_msg_t *part)
{
    dp_zmq.msg_close(part);
    dp_zmq.msg_init(part);
    return dp_zmq.msg_recv(part, l->socket, ZMQ_DONTWAIT) >= 0;
}

static void skip_rest(struct dp_link *l, zmq_msg_t *part)
{
    while (dp_zmq.msg_more(part) && take_part(l, part))
        ;
}

/* The peer that sent the message, a known or a new one; NULL if it can be neither. */
static struct peer *sender(struct dp_link *l, const unsigned char id[DP_LINK_ID], const struct dp_link_header *header,
                           const char *name)
{
    if (memcmp(id, header->session, DP_LINK_ID) != 0) {
        drop(l, "dropped a message of a sender that is not who it says", name, 1);
        return NULL;
    }
    /* libzmq admits everybody if no ZAP handler answers, so a message without a key's name is refused. */
    if (l->keys && name[0] == '\0') {
        drop(l, "dropped a message of a sender without a name", name, 1);
        return NULL;
    }
    struct peer *p = find_id(l, id);
    if (p == NULL) {
        p = new_peer(l, id, name);
        if (p == NULL)
            drop(l, "dropped a message: too many peers", name, 1);
        return p;
    }
    if (strcmp(p->name, name) != 0) {
        drop(l, "dropped a message of a sender with another's session", name, 1);
        return NULL;
    }
    if (p->gone || p->dying > 0)
        look_soon(l);
    p->gone = false;
    p->dying = 0;
    return p;
}

/* Fills in the event from the parts of a message; the last part is in l->body. */
static int judge(struct dp_link *l, struct dp_link_event *event, const unsigned char *id, zmq_msg_t *head, bool body)
{
    const char *name = l->endpoint.bind ? dp_zmq.msg_gets(head, "User-Id") : l->end.server;
    name = name != NULL ? name : "";
    if (dp_zmq.msg_more(body ? &l->body : head) ||
        !dp_header_decode(&event->header, dp_zmq.msg_data(head), dp_zmq.msg_size(head))) {
        skip_rest(l, &l->body);
        drop(l, "dropped something that is not a message of dpline", name, 1);
        return DROPPED;
    }
    struct peer *p = l->endpoint.bind ? sender(l, id, &event->header, name) : NULL;
    if (l->endpoint.bind && p == NULL)
        return DROPPED;
    if (event->header.type == 0)
        return DROPPED;
    event->kind = DP_LINK_MESSAGE;
    event->peer = p != NULL ? p->number : 0;
    event->name = p != NULL ? p->name : l->end.server != NULL ? l->end.server : "";
    event->body = body ? dp_zmq.msg_data(&l->body) : NULL;
    event->size = body ? dp_zmq.msg_size(&l->body) : 0;
    return EVENT;
}

/* The next message, if there is one. */
static int take_message(struct dp_link *l, struct dp_link_event *event)
{
    unsigned char id[DP_LINK_ID] = {0};
    zmq_msg_t head;
    dp_zmq.msg_init(&head);
    if (!take_part(l, &head)) {
        dp_zmq.msg_close(&head);
        return NOTHING;
    }
    l->received++;
    int rc = EVENT;
    if (l->endpoint.bind) {
        bool whole = dp_zmq.msg_size(&head) == DP_LINK_ID && dp_zmq.msg_more(&head);
        if (whole)
            memcpy(id, dp_zmq.msg_data(&head), DP_LINK_ID);
        if (!whole || !take_part(l, &head)) {
            skip_rest(l, &head);
            drop(l, "dropped something that is not a message of dpline", "", 1);
            rc = DROPPED;
        }
    }
    if (rc == EVENT) {
        bool body = dp_zmq.msg_more(&head) && take_part(l, &l->body);
        rc = judge(l, event, id, &head, body);
    }
    dp_zmq.msg_close(&head);
    return rc;
}

/* --- who comes and goes -------------------------------------------------------------------------------------------- */

/* Reads one event of the socket's monitor. False if there is no event. */
static bool next_news(struct dp_link *l, uint16_t *event, uint32_t *value)
{
    zmq_msg_t message;
    dp_zmq.msg_init(&message);
    int size = dp_zmq.msg_recv(&message, l->monitor, ZMQ_DONTWAIT);
    *event = 0;
    *value = 0;
    if (size >= (int)(sizeof *event + sizeof *value)) {
        memcpy(event, dp_zmq.msg_data(&message), sizeof *event);
        memcpy(value, (const char *)dp_zmq.msg_data(&message) + sizeof *event, sizeof *value);
    }
    while (size >= 0 && dp_zmq.msg_more(&message)) { /* the second part names the endpoint */
        dp_zmq.msg_close(&message);
        dp_zmq.msg_init(&message);
        if (dp_zmq.msg_recv(&message, l->monitor, ZMQ_DONTWAIT) < 0)
            break;
    }
    dp_zmq.msg_close(&message);
    return size >= 0;
}

static void note_failure(struct dp_link *l, uint16_t event)
{
    const char *who = l->end.server != NULL ? l->end.server : "";
    l->end.failed = l->end.retry = true;
    l->end.retry_at = dp_clock_now() + RETRY_MS * 1e-3;
    if (event == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH)
        drop(l, "could not connect: the other end does not trust our key", who, 1);
    else
        drop(l,
             l->keys ? "could not connect: the other end does not have the key that we trust"
                     : "could not connect: the other end uses another protocol",
             who, 1);
}

/* Reports that the other end has left, if its connection has ended. libzmq says that a connection has ended before it hands over
 * the last messages. After them it begins to connect again, unless the other end has sent nonsense. */
static void leave(struct dp_link *l)
{
    l->end.left = l->end.left || l->end.leaves_at > 0;
    l->end.leaves_at = 0;
}

static void read_news(struct dp_link *l)
{
    uint16_t event;
    uint32_t value;
    while (next_news(l, &event, &value)) {
        if (l->endpoint.bind) {
            if (event == ZMQ_EVENT_DISCONNECTED)
                look_soon(l);
        } else if (event == ZMQ_EVENT_HANDSHAKE_SUCCEEDED) {
            leave(l);
            l->end.connected = l->end.came = true;
            l->end.failed = l->end.retry = false;
        } else if ((event & FAILURES) != 0) {
            note_failure(l, event);
        } else if (event == ZMQ_EVENT_DISCONNECTED) {
            if (l->end.connected && !l->end.came) /* else nobody has heard that it came */
                l->end.leaves_at = dp_clock_now() + LEAVE_SECONDS;
            l->end.connected = l->end.came = false;
            end_queue(l, &l->end.queue);
        } else if (event == ZMQ_EVENT_CONNECT_RETRIED) {
            leave(l);
        }
    }
    if (l->end.leaves_at > 0 && dp_clock_now() >= l->end.leaves_at) {
        leave(l);
        l->end.retry = true;
        l->end.retry_at = dp_clock_now();
    }
    unsigned long denied = l->zap != NULL ? dp_zap_denied(l->zap) : 0;
    if (denied > 0)
        drop(l, "turned away whose key is not trusted", "", denied);
}

/* Checks whether each peer can be reached. */
static void look(struct dp_link *l)
{
    struct dp_link_header nothing = {0};
    double now = dp_clock_now();
    if (now >= l->known.look_until || now < l->known.look_next)
        return;
    l->known.look_next = now + LOOK_EVERY;
    for (size_t i = 0; i < l->known.count; i++) {
        struct peer *p = &l->known.peer[i];
        if (p->gone)
            continue;
        bool reached = send_parts(l, p, &nothing, NULL, 0, NULL) != UNREACHED;
        p->dying = reached ? 0 : p->dying > 0 ? p->dying : l->received + 1;
    }
}

/* Reports a peer that is unreachable after its last messages have been read: if the queue is `empty`, or too many messages of
 * others have arrived since. */
static bool take_leave(struct dp_link *l, bool empty, struct dp_link_event *event)
{
    for (size_t i = 0; i < l->known.count; i++) {
        struct peer *p = &l->known.peer[i];
        if (p->dying == 0 || (!empty && l->received < p->dying + ANSWERS_MOST))
            continue;
        p->dying = 0;
        p->gone = true;
        end_queue(l, &p->queue);
        *event = (struct dp_link_event){.kind = DP_LINK_GONE, .peer = p->number, .name = p->name};
        return true;
    }
    return false;
}

static bool take_change(struct dp_link *l, struct dp_link_event *event)
{
    if (!l->end.left && !l->end.came)
        return false;
    *event = (struct dp_link_event){.kind = l->end.left ? DP_LINK_GONE : DP_LINK_CAME,
                                    .name = l->end.server != NULL ? l->end.server : ""};
    *(l->end.left ? &l->end.left : &l->end.came) = false;
    return true;
}

static void connect_again(struct dp_link *l)
{
    if (!l->end.retry || dp_clock_now() < l->end.retry_at)
        return;
    l->end.retry = false;
    dp_zmq.disconnect(l->socket, l->endpoint.address);
    dp_zmq.connect(l->socket, l->endpoint.address);
}

/* --- waiting ------------------------------------------------------------------------------------------------------- */

/* The time, by dp_clock_now, at which the link has to act even without a message; 0: never. */
static double due(const struct dp_link *l)
{
    double at = l->more ? 1 : l->wait.wake;
    if (l->known.look_until > 0 && dp_clock_now() < l->known.look_until && (at == 0 || l->known.look_next < at))
        at = l->known.look_next;
    if (l->end.retry && (at == 0 || l->end.retry_at < at))
        at = l->end.retry_at;
    if (l->end.leaves_at > 0 && (at == 0 || l->end.leaves_at < at))
        at = l->end.leaves_at;
    if (l->waiting > 0 && (at == 0 || l->waiting_next < at))
        at = l->waiting_next;
    return at;
}

static void set_timer(struct dp_link *l)
{
    double at = due(l), left = at - dp_clock_now();
    struct itimerspec when = {0};
    if (at == l->wait.timer_at)
        return;
    l->wait.timer_at = at;
    left = left < 1e-6 ? 1e-6 : left;
    if (at > 0) {
        when.it_value.tv_sec = (time_t)left;
        when.it_value.tv_nsec = (long)(1e9 * (left - (double)(time_t)left));
    }
    timerfd_settime(l->wait.timer, 0, &when, NULL);
}

/* The next event that is there now: a message, or, after all messages, news of a connection. DROPPED: a message was dropped,
 * and there may be others. */
static int take_event(struct dp_link *l, struct dp_link_event *event)
{
    int rc = take_message(l, event);
    if (rc == EVENT)
        return EVENT;
    if (rc == DROPPED && l->received % 64 != 0)
        return DROPPED;
    bool before = rc == NOTHING;
    read_news(l);
    connect_again(l);
    if (take_leave(l, before, event))
        return EVENT;
    send_waiting(l);
    look(l);
    if (rc == DROPPED)
        return rc;
    /* Messages sent before a connection ended must come before its end is reported; they may have arrived after the first look.
     */
    rc = take_message(l, event);
    if (rc != NOTHING)
        return rc;
    return take_leave(l, false, event) || take_change(l, event) ? EVENT : NOTHING;
}

int dp_link_next(struct dp_link *link, struct dp_link_event *event, double seconds, volatile sig_atomic_t *cancel,
                 struct dp_err *err)
{
    double now = dp_clock_now(), end = seconds < 0 ? INFINITY : now + seconds, last = fmax(end, now + DROP_SECONDS);
    for (;;) {
        if (cancel != NULL && *cancel)
            return dp_fail(err, DP_E_RUN, "interrupted");
        int rc = take_event(link, event);
        if (rc == EVENT)
            return DP_OK;
        now = dp_clock_now();
        if (rc == DROPPED && now < last)
            continue;
        *event = (struct dp_link_event){.kind = DP_LINK_TIME, .name = ""};
        link->more = rc == DROPPED;
        set_timer(link);
        if (now >= end)
            return DP_OK;
        struct pollfd item = {link->wait.all, POLLIN, 0};
        if (poll(&item, 1, end - now > 1e6 ? -1 : (int)(1000 * (end - now)) + 1) < 0 && errno != EINTR)
            return dp_fail_errno(err, errno, "cannot wait for %s", link->endpoint.address);
    }
}

void dp_link_wake(struct dp_link *link, double at)
{
    link->wait.wake = at;
    set_timer(link);
}

int dp_link_fd(struct dp_link *link)
{
    return link->wait.all;
}

/* --- opening and closing ------------------------------------------------------------------------------------------- */

static int set_int(struct dp_link *l, int option, int value)
{
    return dp_zmq.setsockopt(l->socket, option, &value, sizeof value);
}

static int set_text(struct dp_link *l, int option, const char *text)
{
    return dp_zmq.setsockopt(l->socket, option, text, strlen(text));
}

/* Chooses the key that the other end must have: the key of that name, or the only trusted key. */
static int choose_server(struct dp_link *l, const char *directory, const char *name, char key[DP_KEY_TEXT], struct dp_err *err)
{
    struct dp_key_trusted *list;
    size_t count, i = 0;
    int rc = dp_keys_trusted(directory, &list, &count, err);
    if (rc != DP_OK)
        return rc;
    while (name != NULL && i < count && strcmp(list[i].name, name) != 0)
        i++;
    if (count == 0)
        rc = dp_fail(err, DP_E_USAGE, "%s: %s trusts nobody (dp-key trust NAME KEY)", l->endpoint.address, directory);
    else if (name == NULL && !l->endpoint.bind && count > 1)
        rc = dp_fail(err, DP_E_USAGE, "%s: %s trusts %zu keys: say with --server whose the other end has", l->endpoint.address,
                     directory, count);
    else if (!l->endpoint.bind && i == count)
        rc = dp_fail(err, DP_E_USAGE, "%s: %s trusts nobody as '%.80s'", l->endpoint.address, directory, name);
    else if (!l->endpoint.bind) {
        strcpy(key, list[i].key);
        l->end.server = dp_got(strdup(list[i].name));
    }
    free(list);
    return rc;
}

static int set_keys(struct dp_link *l, const char *directory, const char *server, struct dp_err *err)
{
    struct dp_key_pair pair = {{0}, {0}};
    char key[DP_KEY_TEXT];
    if (!dp_zmq.has("curve"))
        return dp_fail(err, DP_E_UNSAFE, "%s: this libzmq was built without CURVE", l->endpoint.address);
    int rc = dp_keys_own(directory, &pair, err);
    rc = rc ?: choose_server(l, directory, server, key, err);
    if (rc == DP_OK) {
        bool set = set_text(l, ZMQ_CURVE_SECRETKEY, pair.secret) == 0 && set_text(l, ZMQ_CURVE_PUBLICKEY, pair.public) == 0;
        set = set && (l->endpoint.bind ? set_int(l, ZMQ_CURVE_SERVER, 1) : set_text(l, ZMQ_CURVE_SERVERKEY, key)) == 0;
        if (!set)
            rc = dp_fail(err, DP_E_RUN, "%s: cannot use the keys of %s", l->endpoint.address, directory);
    }
    sodium_memzero(&pair, sizeof pair);
    return rc;
}

static int secure(struct dp_link *l, const struct dp_security *security, struct dp_err *err)
{
    char *directory = NULL;
    int rc = DP_OK;
    if (l->endpoint.path != NULL)
        rc = dp_endpoint_check(&l->endpoint, err);
    l->keys = l->endpoint.path == NULL && !security->plaintext;
    if (rc == DP_OK && l->keys)
        rc = dp_security_directory(&directory, security, err);
    if (rc == DP_OK && l->keys)
        rc = set_keys(l, directory, security->server, err);
    if (rc == DP_OK && l->endpoint.bind) {
        rc = dp_zap_start(&l->zap, l->context, directory, err);
        /* With a domain set, libzmq asks the ZAP handler about every connection, and refuses peers whose protocol is too old
         * for that. */
        if (rc == DP_OK && set_text(l, ZMQ_ZAP_DOMAIN, DP_ZAP_DOMAIN) != 0)
            rc = dp_fail(err, DP_E_RUN, "%s: cannot guard the port", l->endpoint.address);
    }
    free(directory);
    return rc;
}

/* Raises the limit of descriptors, because connections of strangers use some for a while. Returns the new limit. */
static rlim_t raise_descriptors(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return DESCRIPTORS_FEW;
    rlim_t most = limit.rlim_max < DESCRIPTORS_MOST ? limit.rlim_max : DESCRIPTORS_MOST, before = limit.rlim_cur;
    limit.rlim_cur = most;
    return most > before && setrlimit(RLIMIT_NOFILE, &limit) == 0 ? most : before;
}

static bool set_options(struct dp_link *l)
{
    bool few = l->endpoint.bind && raise_descriptors() < DESCRIPTORS_FEW;
    int64_t largest = (int64_t)DP_LIMIT_FRAME;
    bool set = dp_zmq.setsockopt(l->socket, ZMQ_MAXMSGSIZE, &largest, sizeof largest) == 0 &&
               set_int(l, ZMQ_SNDHWM, QUEUE) == 0 && set_int(l, ZMQ_RCVHWM, QUEUE) == 0 &&
               set_int(l, ZMQ_IPV6, l->endpoint.ipv6) == 0 &&
               set_int(l, ZMQ_HANDSHAKE_IVL, few ? HANDSHAKE_SHORT_MS : HANDSHAKE_MS) == 0;
    if (l->endpoint.bind)
        set = set && set_int(l, ZMQ_ROUTER_MANDATORY, 1) == 0 && set_int(l, ZMQ_ROUTER_HANDOVER, 1) == 0;
    else
        set = set && dp_zmq.setsockopt(l->socket, ZMQ_ROUTING_ID, l->session, DP_LINK_ID) == 0 &&
              set_int(l, ZMQ_IMMEDIATE, 1) == 0 && set_int(l, ZMQ_RECONNECT_IVL, RETRY_MS) == 0 &&
              set_int(l, ZMQ_RECONNECT_IVL_MAX, RETRY_MOST_MS) == 0;
    if (!l->endpoint.here)
        set = set && set_int(l, ZMQ_HEARTBEAT_IVL, HEARTBEAT_MS) == 0 && set_int(l, ZMQ_HEARTBEAT_TIMEOUT, SILENCE_MS) == 0;
    return set;
}

static bool open_sockets(struct dp_link *l)
{
    const int all = 0; /* events wait, however many there are: libzmq would wait for their reader */
    l->context = dp_zmq.ctx_new();
    if (l->context == NULL)
        return false;
    l->socket = dp_zmq.socket(l->context, l->endpoint.bind ? ZMQ_ROUTER : ZMQ_DEALER);
    return l->socket != NULL && dp_zmq.socket_monitor(l->socket, MONITOR, EVENTS) == 0 &&
           (l->monitor = dp_zmq.socket(l->context, ZMQ_PAIR)) != NULL &&
           dp_zmq.setsockopt(l->monitor, ZMQ_RCVHWM, &all, sizeof all) == 0 && dp_zmq.connect(l->monitor, MONITOR) == 0 &&
           set_options(l);
}

/* Opens one descriptor for everything that may end a wait. */
static bool open_wait(struct dp_link *l)
{
    size_t size = sizeof(int);
    struct epoll_event event = {.events = EPOLLIN};
    l->wait.all = epoll_create1(EPOLL_CLOEXEC);
    l->wait.timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    return l->wait.all >= 0 && l->wait.timer >= 0 && dp_zmq.getsockopt(l->socket, ZMQ_FD, &l->wait.socket, &size) == 0 &&
           dp_zmq.getsockopt(l->monitor, ZMQ_FD, &l->wait.monitor, &size) == 0 &&
           epoll_ctl(l->wait.all, EPOLL_CTL_ADD, l->wait.timer, &event) == 0 &&
           epoll_ctl(l->wait.all, EPOLL_CTL_ADD, l->wait.socket, &event) == 0 &&
           epoll_ctl(l->wait.all, EPOLL_CTL_ADD, l->wait.monitor, &event) == 0;
}

static int attach(struct dp_link *l, struct dp_err *err)
{
    const char *address = l->endpoint.address;
    int hold = -1, rc = DP_OK;
    if (!l->endpoint.bind)
        return dp_zmq.connect(l->socket, address) == 0
                   ? DP_OK
                   : dp_fail(err, DP_E_RUN, "cannot connect to %s: %s", address, dp_zmq.strerror(errno));
    if (l->endpoint.path != NULL)
        rc = dp_endpoint_claim(&l->endpoint, &hold, err);
    if (rc == DP_OK && dp_zmq.bind(l->socket, address) != 0)
        rc = errno == EADDRINUSE ? dp_fail(err, DP_E_RUN, "%s: the address is in use", address)
                                 : dp_fail(err, DP_E_RUN, "cannot bind %s: %s", address, dp_zmq.strerror(errno));
    l->bound = rc == DP_OK;
    if (hold >= 0)
        close(hold);
    return rc;
}

int dp_link_open(struct dp_link **link, const char *spec, bool binds_by_default, const struct dp_security *security,
                 dp_link_log *log, void *log_self, struct dp_err *err)
{
    int rc = dp_zmq_load(err);
    if (rc != DP_OK)
        return rc;
    struct dp_link *l = dp_new(1, sizeof *l);
    l->wait.all = l->wait.timer = -1;
    l->log.write = log;
    l->log.self = log_self;
    dp_zmq.msg_init(&l->body);
    randombytes_buf(l->session, sizeof l->session);
    l->session[0] |= 1; /* ids with a first byte of 0 are reserved for libzmq */
    rc = dp_endpoint_parse(&l->endpoint, spec, binds_by_default, err);
    if (rc == DP_OK && (!open_sockets(l) || !open_wait(l)))
        rc = dp_fail(err, DP_E_RUN, "cannot open %s: %s", spec, dp_zmq.strerror(errno));
    rc = rc ?: secure(l, security, err);
    rc = rc ?: attach(l, err);
    if (rc != DP_OK) {
        dp_link_close(l, 0);
        return rc;
    }
    *link = l;
    return DP_OK;
}

/* Gives peers a moment to disconnect, see close_context. */
static void let_leave(struct dp_link *l)
{
    const struct timespec pause = {0, SETTLE_MS * 1000000L};
    if (l->endpoint.bind && l->known.count > 0)
        nanosleep(&pause, NULL);
}

static void *end_context(void *context)
{
    while (dp_zmq.ctx_term(context) != 0 && errno == EINTR)
        ;
    return NULL;
}

/* libzmq 4.3.4 may hang when all peers leave at the moment when its sockets are closed: then its context is left until the
 * process ends. */
static void close_context(void *context, int linger_ms)
{
    double end = dp_clock_now() + 1e-3 * linger_ms + TERM_SECONDS;
    struct timespec until = {.tv_sec = (time_t)end};
    sigset_t all, before;
    pthread_t thread;
    until.tv_nsec = (long)(1e9 * (end - (double)until.tv_sec));
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&thread, NULL, end_context, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc != 0)
        end_context(context);
    else if (pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &until) != 0)
        pthread_detach(thread);
}

/* Sends messages that still wait for room in a queue, within linger_ms. */
static void end_queues(struct dp_link *l, int linger_ms)
{
    const struct timespec pause = {0, (long)(1e9 * WAITING_AGAIN)};
    double end = dp_clock_now() + 1e-3 * linger_ms;
    while (l->waiting > 0 && dp_clock_now() < end) {
        nanosleep(&pause, NULL);
        send_waiting(l);
    }
    end_queue(l, &l->end.queue);
    for (size_t i = 0; i < l->known.count; i++)
        end_queue(l, &l->known.peer[i].queue);
}

static void close_sockets(struct dp_link *l, int linger_ms)
{
    end_queues(l, linger_ms);
    let_leave(l);
    if (l->monitor != NULL) {
        dp_zmq.socket_monitor(l->socket, NULL, 0);
        dp_zmq.close(l->monitor);
    }
    if (l->socket != NULL) {
        set_int(l, ZMQ_LINGER, linger_ms);
        dp_zmq.close(l->socket);
    }
    dp_zmq.ctx_shutdown(l->context);
    dp_zap_end(l->zap);
    close_context(l->context, linger_ms);
}

void dp_link_close(struct dp_link *link, int linger_ms)
{
    if (link == NULL)
        return;
    dp_zmq.msg_close(&link->body);
    if (link->context != NULL)
        close_sockets(link, linger_ms);
    if (link->bound && link->endpoint.path != NULL)
        dp_endpoint_release(&link->endpoint);
    if (link->wait.timer >= 0)
        close(link->wait.timer);
    if (link->wait.all >= 0)
        close(link->wait.all);
    for (size_t i = 0; i < link->known.count; i++)
        free(link->known.peer[i].name);
    free(link->known.peer);
    free(link->end.server);
    dp_endpoint_free(&link->endpoint);
    free(link);
}

/* --- facts --------------------------------------------------------------------------------------------------------- */

bool dp_link_binds(const struct dp_link *link)
{
    return link->endpoint.bind;
}

bool dp_link_here(const struct dp_link *link)
{
    return link->endpoint.here;
}

bool dp_link_exclusive(const struct dp_link *link)
{
    return link->keys || link->endpoint.path != NULL;
}

bool dp_link_private(const struct dp_link *link)
{
    return link->keys || link->endpoint.here;
}

const unsigned char *dp_link_session(const struct dp_link *link)
{
    return link->session;
}

const char *dp_link_name(const struct dp_link *link)
{
    return link->endpoint.address;
}
