/* Messages to and from peers over ZeroMQ: what ports of frames, and shards, stand on. A link binds, and then has any number of
   peers, or connects, and has one. Each message is a header and the bytes of a frame, or none. Nothing that a peer sends or
   fails to send ends a link: what does not decode is dropped and counted. A link is for one thread. */
#ifndef DP_PORT_LINK_H
#define DP_PORT_LINK_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"
#include "base/security.h"
#include "wire/frame.h"

#define DP_LINK_ID 16 /* bytes of the id of a run, and of a session */

struct dp_link;

/* What a message is about. The numbers below DP_LINK_TYPES are those of lib/port: 0 asks whether somebody is there, 1 to 15 are
   of streams. Whoever stands on a link has the numbers from there to 255. */
enum { DP_LINK_TYPES = 16 };

/* On the wire: 72 bytes, little endian. Members that mean nothing to a type are 0. */
struct dp_link_header {
    uint8_t type;
    unsigned char run[DP_LINK_ID];     /* of the hello frame's `run`; zeros while it is not known */
    unsigned char session[DP_LINK_ID]; /* of the sender, drawn when it opens its link; dp_link_send fills it in */
    uint64_t sequence;
    int64_t lap; /* -1: any, or none */
    int32_t shard, shards;
    int64_t credit;
};

enum dp_link_event_kind {
    DP_LINK_MESSAGE,
    DP_LINK_CAME, /* connecting: the connection stands, perhaps anew and with another process; peer is 0 */
    DP_LINK_GONE, /* the connection of that peer has ended; the same peer may come back and has the same number then */
    DP_LINK_TIME, /* nothing in that time */
};

struct dp_link_event {
    enum dp_link_event_kind kind;
    int peer;         /* from 1 where the link binds; 0 where it connects */
    const char *name; /* by which its key is trusted; "" without keys */
    struct dp_link_header header;
    const void *body; /* NULL without one; borrowed until the next call with this link, as is name */
    size_t size;
};

static inline bool dp_link_same(const unsigned char *a, const unsigned char *b)
{
    return memcmp(a, b, DP_LINK_ID) == 0;
}

/* The id that the digits of a hello frame's `run` are; false, and zeros, when it does not say one. */
bool dp_link_run(unsigned char run[DP_LINK_ID], const struct dp_frame *hello);

/* What is done with a sentence about a message or peer that was dropped. At most one in a second, with how many there were. */
typedef void dp_link_log(void *self, const char *sentence);

/* Whether that is the name of a link: tcp://HOST:PORT or ipc://PATH, with @ (bind) or > (connect) before it. */
bool dp_link_is(const char *spec);

/* spec: see dpline(7). Without a prefix it binds if binds_by_default. log may be NULL. DP_E_USAGE: not such a name;
   DP_E_UNSAFE: no keys, or others may read them, or a directory of ipc:// that is not the user's alone; DP_E_RUN: the address
   is in use, or cannot be bound. */
int dp_link_open(struct dp_link **link, const char *spec, bool binds_by_default, const struct dp_security *security,
                 dp_link_log *log, void *log_self, struct dp_err *err);

/* Waits for what comes next, at most `seconds` (< 0: for ever, 0: not at all). Fails once *cancel is set (DP_E_RUN,
   "interrupted"); cancel may be NULL. A message with several bodies, a header that does not decode and a message of a peer
   that there is no room for are dropped here. */
int dp_link_next(struct dp_link *link, struct dp_link_event *event, double seconds, volatile sig_atomic_t *cancel,
                 struct dp_err *err);

/* Sends a message to that peer (0 where the link connects) and never waits. Where the peer's queue is full, the message is
   kept, and dp_link_next sends it when there is room. A peer that is gone, and one that has let many messages wait since it
   does not read, do not get it, which is no error: 0 all the same, and whoever wants to know has answers sent. body may be
   NULL. It is copied: see dp_link_send_shared. */
int dp_link_send(struct dp_link *link, int peer, const struct dp_link_header *header, const void *body, size_t size,
                 struct dp_err *err);

/* A body that is sent more than once, to one peer or many, without being copied: made of an encoded frame. */
struct dp_link_body;
struct msgpack_sbuffer;

/* Empty, with a buffer to be filled, whose bytes must stay as they are from the first send until dp_link_body_free. */
int dp_link_body_new(struct dp_link_body **body, struct dp_err *err);
struct msgpack_sbuffer *dp_link_body_buffer(struct dp_link_body *body);

/* Whether no message refers to the buffer any more, so that it may be filled anew. */
bool dp_link_body_idle(const struct dp_link_body *body);

/* The caller is done with it; it goes when the messages that refer to it have gone. body may be NULL. */
void dp_link_body_free(struct dp_link_body *body);

int dp_link_send_shared(struct dp_link *link, int peer, const struct dp_link_header *header, struct dp_link_body *body,
                        struct dp_err *err);

/* The message of that event was not what it should be: counts and logs it. Disconnects nobody. why: "of another run". */
void dp_link_refuse(struct dp_link *link, const struct dp_link_event *event, const char *why);

/* How many messages and peers were dropped. */
uint64_t dp_link_dropped(const struct dp_link *link);

/* Readable when dp_link_next may have something: for poll(2), after a dp_link_next that gave DP_LINK_TIME with no other call
   since. */
int dp_link_fd(struct dp_link *link);

/* That descriptor becomes readable at that time of dp_clock_now, too, and stays so until the next call; 0: no more. */
void dp_link_wake(struct dp_link *link, double at);

/* Facts of the address. */
bool dp_link_binds(const struct dp_link *link);
bool dp_link_here(const struct dp_link *link);      /* ipc, or a loopback address: nobody else's network in between */
bool dp_link_exclusive(const struct dp_link *link); /* it takes a key, or a directory of one's own, to send through it */
bool dp_link_private(const struct dp_link *link);   /* frames that are not released may go through it */
const unsigned char *dp_link_session(const struct dp_link *link);
const char *dp_link_name(const struct dp_link *link); /* the address, for messages */

/* Closes after what was sent has gone to the kernel, at most linger_ms milliseconds later. link may be NULL. */
void dp_link_close(struct dp_link *link, int linger_ms);

#endif
