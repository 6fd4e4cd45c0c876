/* A child pipeline of dp-loop or of a worker: it takes a frame and gives one back. It runs as processes, in this process
 * (fused), or is reached over ports. */
#pragma once

#include <signal.h>

#include "base/err.h"
#include "port/port.h"
#include "wire/frame.h"

struct dp_child;

/* Receiver of the warnings of stages. say may be NULL. */
struct dp_warn {
    void (*say)(void *self, const char *stage, const char *sentence);
    void *self;
};

/* `sh -c text` with pipes at both ends. */
int dp_child_processes(struct dp_child **child, const char *text, struct dp_err *err);

/* All stages in this process; frames are passed as pointers. Returns 1, and *err says why, when the text can only run as
 * processes. warn, which may be NULL, gets the warnings that stages print when they are processes. */
int dp_child_fused(struct dp_child **child, const char *text, const struct dp_warn *warn, struct dp_err *err);

/* A pipeline that somebody else started, between two ports. Frames of other runs that come back are dropped. */
int dp_child_ports(struct dp_child **child, const char *out, const char *in, const struct dp_port_setting *setting,
                   struct dp_err *err);

/* No more rows arrive: the answer to a lap was an end frame that says so, and the stages have ended. */
enum { DP_CHILD_EXHAUSTED = 1 };

/* Sends a frame (hello, lap or end) and takes the answer of the same kind into *answer, which may be the same frame.
   Returns 0; DP_CHILD_EXHAUSTED, or DP_E_BUDGET (err holds its sentence), when an end frame came back for a lap; or an error,
   and err names the stage that failed; err->message is empty when that stage is a process that has printed its own message. */
int dp_child_exchange(struct dp_child *child, struct dp_frame *frame, struct dp_frame *answer, struct dp_err *err);

/* The same for a part of a pipeline: checks only the kind and the lap of the answer, not its label and fields. */
int dp_child_pass(struct dp_child *child, struct dp_frame *frame, struct dp_frame *answer, struct dp_err *err);

/* The two halves of dp_child_pass, so that several children can work in parallel. A child that runs as processes begins at
 * once. A child in this process works when its answer is taken; do not change the frame before that. Errors of sending are
 * reported by the second half. */
void dp_child_send(struct dp_child *child, struct dp_frame *frame);
int dp_child_receive(struct dp_child *child, struct dp_frame *answer, struct dp_err *err);

/* Ends the child after the end frame (checks its exit status), or stops it early. Frees it. */
int dp_child_finish(struct dp_child *child, struct dp_err *err);
void dp_child_kill(struct dp_child *child);

/* From now on an exchange fails once *flag is set, see dp_port_cancel. Returns false for a child in this process, whose stages
 * cannot be interrupted in the middle of a lap, unless the class of one of them waits for other processes. */
bool dp_child_cancel(struct dp_child *child, volatile sig_atomic_t *flag);

/* Sets a time limit: an exchange fails when the child takes longer. Has no effect on a child in this process. */
void dp_child_limit(struct dp_child *child, double seconds);

/* Private to lib/runtime. */
struct dp_child_ops {
    void (*send)(struct dp_child *child, struct dp_frame *frame);
    int (*receive)(struct dp_child *child, struct dp_frame *answer, struct dp_err *err);
    int (*finish)(struct dp_child *child, struct dp_err *err);
    void (*free)(struct dp_child *child);
    bool (*cancel)(struct dp_child *child, volatile sig_atomic_t *flag);
    void (*limit)(struct dp_child *child, double seconds); /* or NULL */
};
struct dp_child {
    const struct dp_child_ops *ops;
    enum dp_kind asked; /* kind of the frame that was sent last */
    int64_t lap;
};

/* Checks the answer to a frame of kind `asked`. */
int dp_child_judge(enum dp_kind asked, int64_t lap, const struct dp_frame *answer, struct dp_err *err);
