/* A stage of your own: one step of a lap, as a program in a pipeline with the stages of dpline(7). It sees one frame at a time,
 * in order. In a pipeline with such a program, stages run as processes. */
#ifndef DPLINE_STAGE_H
#define DPLINE_STAGE_H

#include <stddef.h>
#include <stdint.h>

#include "frame.h"

#ifdef __cplusplus
extern "C" {
#endif

enum dpline_option_kind {
    DPLINE_OPTION_FLAG = 0,  /* bool */
    DPLINE_OPTION_TEXT = 1,  /* const char *; NULL when absent and without default */
    DPLINE_OPTION_REAL = 2,  /* double; NAN when absent and without default */
    DPLINE_OPTION_INT = 3,   /* int64_t; INT64_MIN when absent and without default */
    DPLINE_OPTION_CHOICE = 4 /* int, the index in `choices`; -1 when absent and without default */
};

enum { DPLINE_OPTION_REQUIRED = 1, DPLINE_OPTION_OPEN_MIN = 2, DPLINE_OPTION_OPEN_MAX = 4 };

/* A row of a table of options; a row without a name ends it. --help, --version, --in, --out, --on and the other options for
   ports are added to every table. */
struct dpline_option {
    const char *name; /* the long form, without dashes */
    char letter;      /* the short form, or 0 */
    enum dpline_option_kind kind;
    size_t offset;        /* offset of the member in the struct of options */
    const char *metavar;  /* "C"; NULL for a flag */
    const char *help;     /* one line */
    const char *fallback; /* the default as text, or NULL */
    const char *choices;  /* "one|another" */
    double min, max;      /* limits of a number; if both are 0, any finite number is allowed */
    unsigned flags;       /* required; min or max itself is out of range */
};

struct dpline_stage;

struct dpline_stage_class {
    const char *name;    /* of the program, "own-grad" */
    const char *summary; /* one line */
    const struct dpline_option *options;
    size_t options_size; /* of the struct that the table is about */
    size_t state_size;   /* of the state, which begins as zeros */
    unsigned takes;      /* labels of laps that it takes, any others are refused: DPLINE_RAW | … */
    unsigned gives;      /* labels of laps that it may give; 0: none, the stage prints text */

    /* Each may be NULL, except fire. open checks options and loads what they name; hello sees the opening frame; fire sees a
       lap, may change it, and emits it, or others, or none; drain runs before the end frame is passed on; close frees the
       state, also after a failure. */
    int (*open)(struct dpline_stage *stage, struct dpline_error *error);
    int (*hello)(struct dpline_stage *stage, struct dpline_frame *frame, struct dpline_error *error);
    int (*fire)(struct dpline_stage *stage, struct dpline_frame *frame, struct dpline_error *error);
    int (*drain)(struct dpline_stage *stage, struct dpline_error *error);
    void (*close)(struct dpline_stage *stage);

    int ephemeral; /* 1: no lap depends on state from an earlier one; otherwise a run cannot have checkpoints */
    const void *unused[6];
};

/* main() of the program: it parses arguments, reads frames from one port, writes frames to another, and on a failure prints its
   sentence on standard error and passes it on. Returns the exit status. */
DPLINE_PUBLIC int dpline_stage_main(const struct dpline_stage_class *stage_class, int argc, char **argv);

DPLINE_PUBLIC const void *dpline_stage_options(const struct dpline_stage *stage);
DPLINE_PUBLIC void *dpline_stage_state(struct dpline_stage *stage);

/* In hello: the stage will bound laps as dpline_frame_bound does with the same bound and replace_one. means is the use of
 * the sum: "gradient" (dp-step takes a step of --step along it), "move" (the model moves by it) or "moments" (for
 * dp-transform). Then stages on the right, and the gate, can refuse the run before anything is paid for.
 * DPLINE_E_USAGE: another frame than the hello frame, another word, or a bound that is not positive and finite. */
DPLINE_PUBLIC int dpline_stage_announce(struct dpline_stage *stage, struct dpline_frame *hello, const char *means, double bound,
                                        int replace_one, struct dpline_error *error);

/* For fire and drain: pass a frame on; print text, if the stage emits no frames; give a warning. */
DPLINE_PUBLIC int dpline_stage_emit(struct dpline_stage *stage, struct dpline_frame *frame, struct dpline_error *error);
DPLINE_PUBLIC int dpline_stage_print(struct dpline_stage *stage, const char *text, size_t size, struct dpline_error *error);
DPLINE_PUBLIC void dpline_stage_warn(struct dpline_stage *stage, const char *sentence);

#ifdef __cplusplus
}
#endif

#endif
