/* Messages to and from peers over ZeroMQ; the base of ports and of shards. A link either binds, and can have any number of
 * peers, or connects, and has one. A message is a header, and optionally the bytes of a frame. Nothing that a peer sends or
 * fails to send ends a link: a message that cannot be decoded is dropped and counted. Use a link from one thread only. */
#pragma once

#include <signal.h>

#include "base/err.h"
#include "base/security.h"
#include "wire/frame.h"

#define DP_LINK_ID 16 /* bytes of the id of a run, and of a session */

struct dp_link;

/* Types of messages. lib/port uses the numbers below DP_LINK_TYPES: 0 asks whether a peer is there, 1 to 15 belong to streams.
 * Other users of links have the numbers from DP_LINK_TYPES to 255. */
enum { DP_LINK_TYPES = 16 };

/* On the wire: 72 bytes, little endian. Members that a type does not use are 0. */
struct dp_link_header {
    uint8_t type;
    unsigned char run[DP_LINK_ID];     /* run of the hello frame; zeros if it is not known */
    unsigned char session[DP_LINK_ID]; /* random number of the sender, drawn when it opens its link; dp_link_send sets it */
    uint64_t sequence;
    int64_t lap; /* -1: any, or none */
    int32_t shard, shards;
    int64_t credit;
};

enum dp_link_event_kind {
    DP_LINK_MESSAGE,
    DP_LINK_CAME, /* a link that connects: it is connected, or connected again, perhaps with another process; peer is 0 */
    DP_LINK_GONE, /* the connection of that peer has ended; if the same peer comes back, it has the same number */
    DP_LINK_TIME, /* the time is over */
};

struct dp_link_event {
    enum dp_link_event_kind kind;
    int peer;         /* number of the peer, from 1, if the link binds; 0 if it connects */
    const char *name; /* name of its trusted key; "" without keys */
    struct dp_link_header header;
    const void *body; /* NULL: none. body and name are valid until the next call with this link */
    size_t size;
};

static inline bool dp_link_same(const unsigned char *a, const unsigned char *b)
{
    return memcmp(a, b, DP_LINK_ID) == 0;
}

/* False for zeros: the run is not known. */
static inline bool dp_link_is_run(const unsigned char *run)
{
    static const unsigned char none[DP_LINK_ID];
    return !dp_link_same(run, none);
}

/* Sets run to the number in a hello frame's field `run`. Without that field, returns false and sets zeros. */
bool dp_link_run(unsigned char run[DP_LINK_ID], const struct dp_frame *hello);

/* Receiver of sentences about dropped messages and peers: at most one a second, with the number of drops. */
typedef void dp_link_log(void *self, const char *sentence);

/* Whether spec names a link: tcp://HOST:PORT or ipc://PATH, with @ (bind) or > (connect) before it. */
bool dp_link_is(const char *spec);

/* spec: see dpline(7). Without a prefix it binds if binds_by_default. log may be NULL. DP_E_USAGE: not such a name;
   DP_E_UNSAFE: no keys, or others may read them, or other users can write to the directory of ipc://; DP_E_RUN: the address is
   in use, or cannot be bound. */
int dp_link_open(struct dp_link **link, const char *spec, bool binds_by_default, const struct dp_security *security,
                 dp_link_log *log, void *log_self, struct dp_err *err);

/* Waits for the next event, at most `seconds` (< 0: without limit, 0: not at all). Fails once *cancel is set (DP_E_RUN,
 * "interrupted"); cancel may be NULL. Drops messages with several bodies, headers that cannot be decoded, and messages of a
 * peer for which there is no room. */
int dp_link_next(struct dp_link *link, struct dp_link_event *event, double seconds, volatile sig_atomic_t *cancel,
                 struct dp_err *err);

/* Sends a message to that peer (0 if the link connects) and never waits. If the peer's queue is full, the message is kept, and
 * dp_link_next sends it when there is room. The message is lost if the peer is gone, or does not read and has many messages
 * waiting. This is not an error and returns 0: let the peer answer if you have to know. body may be NULL. It is copied;
 * dp_link_send_shared does not copy. */
int dp_link_send(struct dp_link *link, int peer, const struct dp_link_header *header, const void *body, size_t size,
                 struct dp_err *err);

/* A body, made of an encoded frame, that is sent several times without a copy. */
struct dp_link_body;
struct msgpack_sbuffer;

/* A new body with an empty buffer. Fill the buffer; do not change it from the first send until dp_link_body_free. */
struct dp_link_body *dp_link_body_new(void);
struct msgpack_sbuffer *dp_link_body_buffer(struct dp_link_body *body);

/* Whether no message uses the buffer any more, so that it may be filled again. */
bool dp_link_body_idle(const struct dp_link_body *body);

/* Releases the body; its memory is freed when no message uses it any more. body may be NULL. */
void dp_link_body_free(struct dp_link_body *body);

int dp_link_send_shared(struct dp_link *link, int peer, const struct dp_link_header *header, struct dp_link_body *body,
                        struct dp_err *err);

/* Counts and logs the message of that event as wrong. Does not disconnect the peer. why: for instance "of another run". */
void dp_link_refuse(struct dp_link *link, const struct dp_link_event *event, const char *why);

uint64_t dp_link_dropped(const struct dp_link *link);

/* A descriptor for poll(2), readable when dp_link_next may have an event. Only valid directly after a dp_link_next that gave
 * DP_LINK_TIME. */
int dp_link_fd(struct dp_link *link);

/* Makes that descriptor readable at time `at` of dp_clock_now, too, until the next call of this function. 0: no such time. */
void dp_link_wake(struct dp_link *link, double at);

/* Facts of the address. */
bool dp_link_binds(const struct dp_link *link);
bool dp_link_here(const struct dp_link *link);      /* ipc, or a loopback address: no network in between */
bool dp_link_exclusive(const struct dp_link *link); /* sending through it needs a trusted key, or a directory of the user's
                                                     * own */
bool dp_link_private(const struct dp_link *link);   /* frames that are not released may go through it */
const unsigned char *dp_link_session(const struct dp_link *link);
const char *dp_link_name(const struct dp_link *link); /* the address, for messages */

/* Closes the link when all messages have gone to the kernel, at the latest after linger_ms milliseconds. link may be NULL. */
void dp_link_close(struct dp_link *link, int linger_ms);
