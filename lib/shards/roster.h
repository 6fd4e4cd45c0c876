/* Who has which shard: what a gather knows of its workers, and what it makes of what they say. Pure: messages in, verdicts out;
 * the time is an argument. Shards count from 1. */
#ifndef DP_SHARDS_ROSTER_H
#define DP_SHARDS_ROSTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "shards/protocol.h"
#include "wire/frame.h"

#define DP_SEAT_NAME 72

struct dp_seat {
    char name[DP_SEAT_NAME]; /* by which its key is trusted: the first to take the shard keeps it for the run */
    bool named;
    int peer;        /* of the link; 0: nobody is there */
    bool greeted;    /* has answered the hello frame since it sat down */
    bool answered;   /* what is asked now */
    bool lost;       /* did not in time: nobody waits for it until it comes again */
    bool over;       /* never comes again: its budget is spent */
    int64_t counted; /* the last lap of it that was counted */
    double since;    /* seconds: it was asked or sat down then */
};

struct dp_roster {
    int shards;
    struct dp_seat *seat;
    unsigned char run[DP_LINK_ID];
    uint64_t sequence; /* of what is asked now; of the hello frame: the first one of this gather */
    uint64_t hello;
    enum dp_kind asked; /* hello, lap or end; of a lap: */
    int64_t lap;
};

/* *roster starts zeroed. first: any number, drawn anew by each gather, so that answers to another one are known for what they
   are. resumed: the lap that the run goes on from, which all shards have counted. */
int dp_roster_open(struct dp_roster *roster, int shards, uint64_t first, int64_t resumed, struct dp_err *err);
void dp_roster_close(struct dp_roster *roster);

/* Asks all seats anew. */
void dp_roster_ask(struct dp_roster *roster, enum dp_kind kind, int64_t lap, double now);

enum dp_verdict {
    DP_VERDICT_TAKEN,   /* joins: it sits there now. Answers: it is the one that was waited for */
    DP_VERDICT_GREETED, /* answers: to the hello frame, of one that has come in the middle of a lap */
    DP_VERDICT_AGAIN,   /* it has to join (again), after a while */
    DP_VERDICT_DROPPED, /* not what it should be */
    DP_VERDICT_REFUSED, /* and never will be */
};

/* A message of that type, from a peer whose key is trusted by that name. why, where it is not taken: what stands behind "a
   message", or what is wrong with the worker that joins. */
enum dp_verdict dp_roster_join(struct dp_roster *roster, int peer, const char *name, const struct dp_link_header *header,
                               double now, char why[DP_ERR_MESSAGE_SIZE]);
enum dp_verdict dp_roster_answer(struct dp_roster *roster, int peer, const struct dp_link_header *header, enum dp_kind kind,
                                 char why[DP_ERR_MESSAGE_SIZE]);

/* The peer's connection has ended. */
void dp_roster_gone(struct dp_roster *roster, int peer);

/* A peer that sits there has to join again: somebody else may have the seat before it does. */
void dp_roster_unseat(struct dp_roster *roster, int shard, double now);

/* The same, and nobody waits for the shard any more until somebody joins. */
void dp_roster_lose(struct dp_roster *roster, int shard, double now);

/* The first shard from `from` on that has neither answered nor been lost; 0 when there is none. */
int dp_roster_waits(const struct dp_roster *roster, int from);

/* How many seconds until one of them has been waited for `timeout` seconds, at least 0, and which; INFINITY and 0: none. */
double dp_roster_due(const struct dp_roster *roster, double timeout, double now, int *shard);

#endif
