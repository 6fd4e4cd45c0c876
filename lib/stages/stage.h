/* A stage: one step of a lap. It takes one frame at a time, in order. Its output depends only on that frame, its options, its
 * key and its state from earlier frames. So the same class runs as a process of its own or fused with others, and gives the
 * same bytes.
 *
 * A class reads no clock and no environment, and does not open the ports of its frames: the runtime does, and passes the
 * results in struct dp_stage_runtime. Exceptions: dp-gather and dp-window have further ports of their own, a ledger has the
 * time at which a run began, and text for a terminal is rounded.
 */
#pragma once

#include <signal.h>

#include "base/err.h"
#include "base/option.h"
#include "base/registry_place.h"
#include "base/security.h"
#include "math/rng.h"
#include "checkpoint/checkpoint.h"
#include "wire/model.h"

struct dp_stage;
struct dp_row_stage;
struct dp_port;

/* Receiver of a stage's output. Filters emit frames; sinks (dp-eval, dp-cat) emit text. warn, which may be NULL, takes a
 * warning for the user; a stage gives each warning at most once. A stage that waits calls unread at intervals. */
struct dp_out {
    int (*frame)(struct dp_out *out, struct dp_frame *frame, struct dp_err *err);
    int (*text)(struct dp_out *out, const char *text, size_t length, struct dp_err *err);
    void *self;
    void (*warn)(struct dp_out *out, const char *stage, const char *sentence);
    bool (*unread)(struct dp_out *out); /* the reader of the frames is gone; NULL: it never is */
};

/* Returned by fire to end the run without a failure: the lap's frame does not pass; the end frame says why. */
enum { DP_STAGE_STOP = 1 };

struct dp_stage_class {
    const char *name;    /* "dp-noise" */
    const char *summary; /* one line */
    const struct dp_option *options;
    size_t options_size; /* size of the struct that the table describes */
    size_t state_size;
    unsigned takes, gives; /* sets of dp_label */
    bool sink;
    bool gate;  /* its output is public: hello, end and error frames are written again (dp_stage_bare) */
    bool waits; /* it waits for other processes, and gives up once *cancel is set */
    /* Each may be NULL; without fire the class has rows, whose fire is dp_row_stage_fire. open checks the options together and
       loads what they name. hello sees the opening frame (the key is set by then). fire may change the frame and emits it, or
       others, or none. drain runs before the end frame is passed on. close frees the state, also after a failure. */
    const struct dp_row_stage *rows; /* what it does with the rows of a lap (stages/row_stage.h) */
    int (*open)(struct dp_stage *stage, struct dp_err *err);
    int (*hello)(struct dp_stage *stage, struct dp_frame *frame, struct dp_err *err);
    int (*fire)(struct dp_stage *stage, struct dp_frame *frame, struct dp_out *out, struct dp_err *err);
    int (*drain)(struct dp_stage *stage, struct dp_out *out, struct dp_err *err);
    /* After drain, when dp-loop has written its own end (dp_checkpoint_there is false then), or is gone. Called at once after
       drain in a process that has no checkpoint. */
    int (*after)(struct dp_stage *stage, struct dp_err *err);
    void (*close)(struct dp_stage *stage);
    /* Saves the state in a checkpoint, between laps, and restores it, after hello and before the first lap. The state must be
       final when fire emits. If a lap needs only its frame and the options, both are NULL and `ephemeral` is true. */
    int (*save)(struct dp_stage *stage, struct dp_state *state, struct dp_err *err);
    int (*restore)(struct dp_stage *stage, const struct dp_state *state, struct dp_err *err);
    bool ephemeral;
    /* The stage may be in a shard: its output for all rows is the sum of its outputs for parts of the rows, and draws for a row
       are addressed by the number of the row among all rows. hello refuses options for which this does not hold. */
    bool additive;
    bool persons;  /* it takes raw frames, and bounds the joint part of all rows of a person; other classes refuse such rows in
                   * hello */
    bool compares; /* its saved state is only compared: in a shard any process may continue with any lap */
};

/* Members of a class whose table is called options, and describes struct options; its state is a struct state. */
#define DP_STAGE_STRUCTS .options = options, .options_size = sizeof(struct options), .state_size = sizeof(struct state)

/* Facts about the process of a stage: only the runtime and dp_stage_new set them, and no class changes them. The released
 * values of a lap do not depend on it. */
struct dp_stage_runtime {
    int64_t started;                          /* seconds since 1970; 0 for unknown */
    const struct dp_registry_place *registry; /* the registry, unless options name another; NULL: none */
    bool terminal;                            /* standard output is a terminal */
    struct dp_security security;              /* security of its own sockets: the same as for its ports */
    const char *in;                           /* source of its frames; NULL if several stages are in this process */
    struct dp_port *output;        /* destination of its frames, or NULL: a stage that waits checks whether it has a reader */
    volatile sig_atomic_t *cancel; /* for a class that waits, or NULL: see dp_port_cancel */
    bool second;                   /* an earlier stage in this process checks the data */
};

struct dp_stage {
    const struct dp_stage_class *class;
    void *options;     /* parsed; options_size bytes */
    void *state;       /* state_size zeroed bytes */
    struct dp_key key; /* random from the kernel, or derived from the run's seed */
    bool seeded;
    bool interrupted;            /* drain: a signal has ended the run early */
    char model[DP_MODEL_DIGEST]; /* drain: the digest of the last model of the run (wire/model.h), "" if unknown */
    struct dp_checkpoint checkpoint;
    int64_t ordinal;    /* number in the pipeline, from 1 */
    int64_t stands_for; /* set by hello: the number of ordinals, its own first, of stages that save elsewhere; 0 means 1 */
    char run[DP_RUN_DIGITS + 1]; /* name of the run, for its checkpoint */
    int64_t lap, saved;          /* the last lap that was passed on, and the last lap in a checkpoint */
    bool may_save;               /* the lap may be saved, and is not the run's last one */
    const char *on;              /* the kind of laps that the stage works on; NULL: all. Other laps pass unchanged */
    int64_t turn, turns;         /* fire: number of this lap among the laps that the stage works on, from 1, and their total (0:
                            * unknown) */
    int64_t shard, shards;       /* its part of the rows, from 1, and the number of parts; 0: no parts */
    struct dp_out *out;          /* set while a frame is processed, so that hello can warn, too */
    struct dp_stage_runtime runtime;
};

/* Options of every stage, in addition to its own: source and destination of frames, and the laps that it works on. */
struct dp_stage_ports {
    const char *in, *out, *on;
    bool allow_private_output;
    struct dp_security security;
    double patience; /* NAN: the default */
};

/* The command of a stage: the options of the class, and the options above. */
struct dp_command dp_stage_command(const struct dp_stage_class *class);

/* Makes a stage from its arguments (argv[0] is its name). If ports is NULL, --in and --out are errors. Returns DP_PARSE_HELP or
   DP_PARSE_VERSION if the arguments ask for these (no stage is made), 0, or a negative status. */
int dp_stage_new(struct dp_stage **stage, const struct dp_stage_class *class, int argc, char **argv,
                 struct dp_stage_ports *ports, struct dp_err *err);
void dp_stage_free(struct dp_stage *stage);

/* Processes one frame of any kind but error, in order: checks labels, derives keys, fires, drains. Emits the results to out,
 * hello and end frames, too. Errors name the stage. */
int dp_stage_take(struct dp_stage *stage, struct dp_frame *frame, struct dp_out *out, struct dp_err *err);

/* Calls the function `after` of the class, if there is one. */
int dp_stage_after(struct dp_stage *stage, struct dp_out *out, struct dp_err *err);

/* Writes a hello, end or error frame again with only what its kind needs: format, number of stages and laps; or an exit status.
 * So no text of a private stage passes the gate. */
int dp_stage_bare(struct dp_frame *frame, struct dp_err *err);

/* DP_E_USAGE if the stage runs in a shard: the option `what` needs all rows at once. */
int dp_stage_whole(const struct dp_stage *stage, const char *what, struct dp_err *err);

/* Gives a warning to the user. */
void dp_stage_warn(const struct dp_stage *stage, struct dp_out *out, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The class with that name ("dp-noise"), or NULL. The table itself is in lib/stages/registry.c. */
const struct dp_stage_class *dp_stage_find(const char *name);
extern const struct dp_stage_class *const dp_stage_classes[]; /* NULL at the end */
