/* Where a worker stands in a run, and what follows from what its gather says. Pure: headers in, decisions out. */
#ifndef DP_SHARDS_STANDING_H
#define DP_SHARDS_STANDING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "shards/protocol.h"

struct dp_standing {
    unsigned char run[DP_LINK_ID];     /* zeros: none yet */
    unsigned char session[DP_LINK_ID]; /* of the gather that gave the last lap */
    int64_t lap;                       /* the last one whose answer was made, 0 for none */
    int64_t kept;                      /* another one whose state is saved, for the sake of dp-loop's checkpoint; 0: none */
    bool answer;                       /* that of `lap` is at hand, and may be given again */
    bool alive;                        /* there is a child, whose state is that after `lap` */
    bool any;                          /* its stages keep nothing between laps, and no checkpoint is kept either */
};

/* What to join with. */
int64_t dp_standing_joins(const struct dp_standing *standing);

enum dp_welcome {
    DP_WELCOME_STAYS,   /* the child goes on */
    DP_WELCOME_STARTS,  /* a child is to be started, from the checkpoint of lap standing->lap where that is not 0 */
    DP_WELCOME_REFUSES, /* the worker cannot take part, as err says */
};

/* A hello frame has come, and standing is brought up to it. A gather with another session goes on from a lap that it has the
   checkpoint of: what was answered to laps behind that must not be given again, since a person's part in the sum would be
   released a second time, by noise drawn anew, as if the batch were a fresh one. One that has answered a lap does not begin
   again at lap 0, unless the run is seeded: the pipeline would start with an account of nothing spent. An honest gather that
   begins again without a seed has a new run. DP_E_RUN, DP_E_UNSAFE: refused. */
enum dp_welcome dp_standing_hello(struct dp_standing *standing, const struct dp_link_header *header, bool seeded,
                                  struct dp_err *err);

enum dp_task {
    DP_TASK_WORK,   /* the lap is to be worked on */
    DP_TASK_REPEAT, /* its answer is to be given again */
    DP_TASK_DROP,   /* an old lap, or another run's or gather's */
};

/* A frame of a lap has come. */
enum dp_task dp_standing_lap(const struct dp_standing *standing, const struct dp_link_header *header);

#endif
