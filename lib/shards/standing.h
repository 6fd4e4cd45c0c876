/* A worker's standing in a run, and its decision about each message of its gather. Pure: headers in, decisions out. */
#pragma once

#include "base/err.h"
#include "shards/protocol.h"

struct dp_standing {
    unsigned char run[DP_LINK_ID];     /* zeros: no run yet */
    unsigned char session[DP_LINK_ID]; /* session of the gather that sent the last lap */
    int64_t lap;                       /* the last lap whose answer was computed, 0 for none */
    int64_t kept;                      /* another lap whose state is saved, because dp-loop's checkpoint may need it; 0: none */
    bool answer;                       /* the answer to `lap` is stored and may be sent again */
    bool alive;                        /* a child runs, and its state is the one after `lap` */
    bool any;                          /* the stages have no state between laps and there is no checkpoint, so any lap may
                                        * follow */
};

/* The lap to put into the JOIN message. */
int64_t dp_standing_joins(const struct dp_standing *standing);

enum dp_welcome {
    DP_WELCOME_STAYS,   /* the child continues */
    DP_WELCOME_STARTS,  /* start a child, from the checkpoint of lap standing->lap if that is not 0 */
    DP_WELCOME_REFUSES, /* the worker cannot take part; err says why */
};

/* A hello frame has arrived; updates standing. A gather with another session continues from a lap of which it has the
 * checkpoint. Stored answers to later laps must not be sent again: a person's part in such a sum would be released a second
 * time, with new noise, as if the batch were a new one. A worker that has answered a lap does not begin again at lap 0, unless
 * the run is seeded: its pipeline would start as if nothing had been spent. An honest gather that begins again without a
 * seed has a new run. DP_E_RUN, DP_E_UNSAFE: refused. */
enum dp_welcome dp_standing_hello(struct dp_standing *standing, const struct dp_link_header *header, bool seeded,
                                  struct dp_err *err);

enum dp_task {
    DP_TASK_WORK,   /* compute the lap */
    DP_TASK_REPEAT, /* send the stored answer again */
    DP_TASK_DROP,   /* ignore it: an old lap, or a lap of another run or gather */
};

enum dp_task dp_standing_lap(const struct dp_standing *standing, const struct dp_link_header *header);
