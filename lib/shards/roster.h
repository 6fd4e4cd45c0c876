/* Assigns shards to workers, and decides about each message of a worker. Pure: messages in, verdicts out; the time is an
 * argument. Shards count from 1. */
#pragma once

#include "base/err.h"
#include "shards/protocol.h"
#include "wire/frame.h"

#define DP_SEAT_NAME 72

struct dp_seat {
    char name[DP_SEAT_NAME]; /* name of its trusted key: the first worker that takes the shard keeps it for the run */
    bool named;
    int peer;        /* peer of the link; 0: the seat is empty */
    bool greeted;    /* has answered the hello frame since it took the seat */
    bool answered;   /* has answered the current question */
    bool lost;       /* timed out: the gather ignores it until it joins again */
    bool over;       /* its budget is spent: it will not join again */
    bool absent;     /* takes no part in the masks of this lap: the gather does not ask it */
    int64_t tag;     /* of its roster of masks, 0 without masks */
    int64_t counted; /* the last lap for which its sum was counted */
    double since;    /* time in seconds when it was asked or took the seat */
};

struct dp_roster {
    int shards;
    struct dp_seat *seat;
    unsigned char run[DP_LINK_ID];
    uint64_t sequence; /* sequence of the current question; for the hello frame, the first sequence of this gather */
    uint64_t hello;
    enum dp_kind asked; /* hello, lap or end; for a lap, the next member is its number */
    int64_t lap;
};

/* *roster starts zeroed. first: a random number of each gather, so that answers to another gather are recognised. resumed: the
 * lap that the run continues from; it is counted for all shards. */
void dp_roster_open(struct dp_roster *roster, int shards, uint64_t first, int64_t resumed);
void dp_roster_close(struct dp_roster *roster);

/* Begins a new question to all seats. */
void dp_roster_ask(struct dp_roster *roster, enum dp_kind kind, int64_t lap, double now);

enum dp_verdict {
    DP_VERDICT_TAKEN,   /* a join: the worker has the seat now; an answer: it is the answer that was expected */
    DP_VERDICT_GREETED, /* an answer to the hello frame, from a worker that joined in the middle of a lap */
    DP_VERDICT_AGAIN,   /* the worker has to join again, after a while */
    DP_VERDICT_DROPPED, /* the message is wrong, and is dropped */
    DP_VERDICT_REFUSED, /* the worker is refused for good */
};

/* Judges a message of that type from a peer whose trusted key has that name. why, if the message is not taken: the text after
 * "a message", or what is wrong with the worker that joins. */
enum dp_verdict dp_roster_join(struct dp_roster *roster, int peer, const char *name, const struct dp_link_header *header,
                               double now, char why[DP_ERR_MESSAGE_SIZE]);
enum dp_verdict dp_roster_answer(struct dp_roster *roster, int peer, const struct dp_link_header *header, enum dp_kind kind,
                                 char why[DP_ERR_MESSAGE_SIZE]);

void dp_roster_gone(struct dp_roster *roster, int peer);

/* Frees a seat: its worker has to join again, and another worker may take the seat first. */
void dp_roster_unseat(struct dp_roster *roster, int shard, double now);

/* Frees a seat, too, but the gather does not wait for the shard until a worker joins. */
void dp_roster_lose(struct dp_roster *roster, int shard, double now);

/* The first shard from `from` on that has neither answered nor been lost, and is not absent; 0 if there is no such shard. */
int dp_roster_waits(const struct dp_roster *roster, int from);

/* Seconds, at least 0, until the wait for a shard reaches `timeout` seconds, and *shard, that shard; INFINITY and 0 if the
 * gather waits for no shard. */
double dp_roster_due(const struct dp_roster *roster, double timeout, double now, int *shard);
