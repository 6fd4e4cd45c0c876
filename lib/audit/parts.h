/* A pipeline taken apart at its bars, so that an audit can stand between its stages. Each part is a child of
   its own: fused where all of it is dp stages, `sh -c` otherwise. Keys are those of the whole pipeline, since
   stages are counted on. */
#ifndef DP_AUDIT_PARTS_H
#define DP_AUDIT_PARTS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "stage/child.h"
#include "wire/frame.h"

#define DP_AUDIT_PARTS 4
#define DP_AUDIT_MAX_STAGES 32

/* What a command lends to an audit. */
struct dp_audit_watch {
    volatile sig_atomic_t *stop;  /* set by a signal handler: end as soon as possible; SIGALRM: time is up */
    volatile sig_atomic_t *group; /* DP_AUDIT_PARTS process groups for that handler to end; 0: none */
    unsigned timeout;             /* seconds that a child run as processes may take for an answer */
};

/* The text of each stage. */
struct dp_audit_stages {
    int count;
    char *text[DP_AUDIT_MAX_STAGES];
};

/* Splits at bars outside quotes. DP_E_USAGE for lists, groups and redirections around the whole (`;`, `&`,
   `||`, parentheses) and for empty stages. Free with dp_audit_stages_free, whatever it returned. */
int dp_audit_split(struct dp_audit_stages *stages, const char *text, struct dp_err *err);
void dp_audit_stages_free(struct dp_audit_stages *stages);

/* Whether the first word of stage `at` is `name`. */
bool dp_audit_stage_is(const struct dp_audit_stages *stages, int at, const char *name);

/* Whether the data set is named anywhere: "{}" stands for it. */
bool dp_audit_names_data(const struct dp_audit_stages *stages);

struct dp_audit_part {
    struct dp_child *child;
    int slot; /* of watch->group */
};

/* Starts stages [from, to) with {} replaced by the path of a data set, in quotes. */
int dp_audit_part_start(struct dp_audit_part *part, const struct dp_audit_watch *watch, int slot,
                        const struct dp_audit_stages *stages, int from, int to, const char *data, struct dp_err *err);

/* Passes the frame through the part, in place. DP_E_BUDGET when the gate ended the run. */
int dp_audit_part_take(struct dp_audit_part *part, const struct dp_audit_watch *watch, struct dp_frame *frame,
                       struct dp_err *err);

/* Ends parts with an end frame, or (dp_audit_parts_kill) at once. Both free the children. */
int dp_audit_parts_end(struct dp_audit_part *part, int count, const struct dp_audit_watch *watch, struct dp_frame *frame,
                       struct dp_err *err);
void dp_audit_parts_kill(struct dp_audit_part *part, int count, const struct dp_audit_watch *watch);

/* Makes the hello frame of a run; seed < 0: none. */
int dp_audit_hello(struct dp_frame *frame, int64_t laps, int64_t seed, struct dp_err *err);

/* Takes row `id` out of the batch of a raw frame (and its X and y); *was says whether it stood there. */
int dp_audit_remove_row(struct dp_frame *frame, int64_t id, bool *was, struct dp_err *err);

/* Puts it in, in ascending order, unless it is there or rows are inline. */
int dp_audit_insert_row(struct dp_frame *frame, int64_t id, struct dp_err *err);

#endif
