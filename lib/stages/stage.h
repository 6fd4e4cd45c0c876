/* A stage: one step of a lap. It takes one frame at a time, in order, and what it makes of a frame follows from that frame,
 * its options, its key and what it has kept from the frames before. So the same class runs as a process of its own or
 * fused with others, and the bytes are the same.
 *
 * A class reads no clock and no environment, and does not open the ports of its frames: the runtime does, and says in struct
 * dp_stage what a class may have to know. dp-gather and dp-window have further ports of their own, a ledger has the time at
 * which a run began, and text for a terminal is rounded. */
#ifndef DP_STAGES_STAGE_H
#define DP_STAGES_STAGE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/option.h"
#include "base/registry_place.h"
#include "base/security.h"
#include "math/rng.h"
#include "checkpoint/checkpoint.h"
#include "wire/model.h"

struct dp_stage;
struct dp_port;

/* Where a stage puts what it makes. Filters emit frames; sinks (dp-eval, dp-cat) emit text. warn, which may be NULL, takes a
   sentence for whoever started the run; a stage says each at most once. A stage that waits asks unread now and then. */
struct dp_out {
    int (*frame)(struct dp_out *out, struct dp_frame *frame, struct dp_err *err);
    int (*text)(struct dp_out *out, const char *text, size_t length, struct dp_err *err);
    void *self;
    void (*warn)(struct dp_out *out, const char *stage, const char *sentence);
    bool (*unread)(struct dp_out *out); /* nobody takes frames any more; NULL: somebody always does */
};

/* fire's way to end the run without a failure: the frame was not let through; the end frame says why. */
enum { DP_STAGE_STOP = 1 };

struct dp_stage_class {
    const char *name;    /* "dp-noise" */
    const char *summary; /* one line */
    const struct dp_option *options;
    size_t options_size; /* of the struct that the table describes */
    size_t state_size;
    unsigned takes, gives; /* sets of dp_label */
    bool sink;
    bool gate;  /* what passes is public: hello, end and error frames are made anew (dp_stage_bare) */
    bool waits; /* for somebody outside of this process, and gives up once *cancel is set */
    /* Each may be NULL, except fire. open checks options against one another and loads what they name. hello sees the
       opening frame (the key is set by then). fire may change the frame and emits it, or others, or none. drain runs
       before the end frame is passed on. close frees what state holds, after any failure too. */
    int (*open)(struct dp_stage *stage, struct dp_err *err);
    int (*hello)(struct dp_stage *stage, struct dp_frame *frame, struct dp_err *err);
    int (*fire)(struct dp_stage *stage, struct dp_frame *frame, struct dp_out *out, struct dp_err *err);
    int (*drain)(struct dp_stage *stage, struct dp_out *out, struct dp_err *err);
    /* After drain, when dp-loop has written its own end (dp_checkpoint_there is false then), or is gone. Called at once after
       drain in a process that has no checkpoint. */
    int (*after)(struct dp_stage *stage, struct dp_err *err);
    void (*close)(struct dp_stage *stage);
    /* What a checkpoint holds of the state, between laps; and from that the state, after hello and before the first lap. The
       state must be final when fire emits. NULL, and `ephemeral`, where every lap finds what it needs in its frame and the
       options. */
    int (*save)(struct dp_stage *stage, struct dp_state *state, struct dp_err *err);
    int (*restore)(struct dp_stage *stage, const struct dp_state *state, struct dp_err *err);
    bool ephemeral;
    /* It may stand in a shard, a pipeline that has a part of the rows and whose sums are added to those of others: what it
       gives of all rows is the sum of what it gives of their parts, draws for a row are addressed by the row's number among
       all. hello refuses the options that are not so. */
    bool additive;
    bool persons; /* it takes raw frames, and bounds what all rows of a person add together; others refuse such rows in hello */
    bool compares; /* what it saves is only compared: in a shard any process may go on with any lap */
};

struct dp_stage {
    const struct dp_stage_class *class;
    void *options;     /* parsed; options_size bytes */
    void *state;       /* state_size zeroed bytes */
    struct dp_key key; /* fresh from the kernel, or derived from the run's seed */
    bool seeded;
    bool interrupted;            /* drain: a signal has ended the run early */
    char model[DP_MODEL_DIGEST]; /* drain: the digest of the last model of the run (wire/model.h), "" where nobody says */
    struct dp_checkpoint checkpoint;
    int64_t ordinal;       /* in the pipeline, from 1 */
    int64_t stands_for;    /* set by hello: so many ordinals from its own on are of stages that save elsewhere; 0 is 1 */
    int64_t lap, saved;    /* the last one that was passed on, and the last that a checkpoint has */
    bool may_save;         /* it may serve as a checkpoint, and is not the run's last */
    const char *on;        /* the kind of laps that it is for; NULL: all of them. Other laps pass it as they are */
    int64_t turn, turns;   /* fire: which lap of those that it is for, from 1, and how many there will be (0: not known) */
    int64_t shard, shards; /* which part of the rows it has, from 1 on, and of how many; 0: there are no parts */
    int64_t started;       /* seconds since 1970, set by the runtime; 0 for unknown */
    const struct dp_registry_place *registry; /* set by the runtime: where it is unless options say otherwise; NULL: none */
    bool terminal;                            /* standard output is one: text is for a person */
    struct dp_security security;              /* of sockets that it has itself: as of its ports */
    const char *in;                           /* where its frames come from; NULL where it is one of several in this process */
    struct dp_port *output; /* where they go to, set by the runtime; NULL there: who waits looks whether it has a reader */
    volatile sig_atomic_t *cancel; /* of a class that waits, set by the runtime, or NULL: see dp_port_cancel */
    struct dp_out *out;            /* while a frame is taken: hello has warnings as well */
    bool behind;                   /* set by the runtime: a stage of this process has the frame first, and looks at the data */
};

/* The options that every stage has with its own: where frames come from and go to, and which laps it is for. */
struct dp_stage_ports {
    const char *in, *out, *on;
    bool allow_private_output;
    struct dp_security security;
    double patience; /* NAN: the default */
};

/* What the command line of a stage may be: the options of the class, and those above. */
struct dp_command dp_stage_command(const struct dp_stage_class *class);

/* Makes a stage from its arguments (argv[0] is its name). ports may be NULL when the stage must not name any: then
   giving --in or --out is an error. Returns DP_PARSE_HELP or DP_PARSE_VERSION when those were asked for (no stage is
   made), 0, or a negative status. */
int dp_stage_new(struct dp_stage **stage, const struct dp_stage_class *class, int argc, char **argv,
                 struct dp_stage_ports *ports, struct dp_err *err);
void dp_stage_free(struct dp_stage *stage);

/* Takes in one frame of any kind but error, in order: checks labels, derives keys, fires, drains. Emits to out what
   follows from it, hello and end frames too. Errors are attributed to the stage. */
int dp_stage_take(struct dp_stage *stage, struct dp_frame *frame, struct dp_out *out, struct dp_err *err);

/* Has the stage do what it does after the end of the run, if its class has such a thing. */
int dp_stage_after(struct dp_stage *stage, struct dp_out *out, struct dp_err *err);

/* Makes a hello, end or error frame anew of what its kind needs: format, number of stages and laps; an exit status. Nothing
   that a stage left of a gate wrote in words passes it. */
int dp_stage_bare(struct dp_frame *frame, struct dp_err *err);

/* The two numbers of an option --shard K/N: 1 ≤ K ≤ N ≤ DP_MAX_SHARDS. DP_E_USAGE: they are none. */
int dp_stage_read_shard(const char *text, int64_t *shard, int64_t *shards, struct dp_err *err);

/* DP_E_USAGE when the stage stands in a shard: `what`, an option, needs all rows at once. */
int dp_stage_whole(const struct dp_stage *stage, const char *what, struct dp_err *err);

/* Has a warning said by whoever runs the stage. */
void dp_stage_warn(const struct dp_stage *stage, struct dp_out *out, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The class with that name ("dp-noise"), or NULL. The table itself is in lib/stages/registry.c. */
const struct dp_stage_class *dp_stage_find(const char *name);
extern const struct dp_stage_class *const dp_stage_classes[]; /* NULL at the end */

#endif
