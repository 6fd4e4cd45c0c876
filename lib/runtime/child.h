/* A child pipeline, dp-loop's or a worker's: given a frame, it gives one back. Run as processes, fused, or reached over ports.
 */
#ifndef DP_RUNTIME_CHILD_H
#define DP_RUNTIME_CHILD_H

#include <signal.h>
#include <stdbool.h>

#include "base/err.h"
#include "port/port.h"
#include "wire/frame.h"

struct dp_child;

/* Who hears the warnings of stages. say may be NULL. */
struct dp_warn {
    void (*say)(void *self, const char *stage, const char *sentence);
    void *self;
};

/* `sh -c text` with pipes at both ends. */
int dp_child_processes(struct dp_child **child, const char *text, struct dp_err *err);

/* All stages in this process, frames handed over as pointers. Returns 1, with *err saying why, when the text can only
   run as processes. warn, which may be NULL, hears what stages that are processes say for themselves. */
int dp_child_fused(struct dp_child **child, const char *text, const struct dp_warn *warn, struct dp_err *err);

/* A pipeline that somebody else started, between two ports. What comes back is of the run that went out, or dropped. */
int dp_child_ports(struct dp_child **child, const char *out, const char *in, const struct dp_port_setting *setting,
                   struct dp_err *err);

/* No more rows arrive: a lap was answered by an end frame that says so, and the stages have ended. */
enum { DP_CHILD_EXHAUSTED = 1 };

/* Sends a frame (hello, lap or end) and takes the answer of the same kind into *answer, which may be the same frame.
   Returns 0; DP_CHILD_EXHAUSTED, or DP_E_BUDGET (err holds its sentence), when an end frame came back for a lap; or an error,
   which err attributes to the stage at fault; err->message is empty when that stage is a process that has spoken for itself. */
int dp_child_exchange(struct dp_child *child, struct dp_frame *frame, struct dp_frame *answer, struct dp_err *err);

/* The same for a part of a pipeline: an answer of the same kind and lap will do, whatever its label and fields. */
int dp_child_pass(struct dp_child *child, struct dp_frame *frame, struct dp_frame *answer, struct dp_err *err);

/* The two halves of dp_child_pass, so that the processes of several children work side by side: what is sent is taken up at
   once, unless the child is in this process, which works when its answer is asked for: the frame stays as it is until then.
   What goes wrong with sending the answer says. */
void dp_child_send(struct dp_child *child, struct dp_frame *frame);
int dp_child_receive(struct dp_child *child, struct dp_frame *answer, struct dp_err *err);

/* Ends the child after the end frame (checks its exit status), or stops it early. Frees it. */
int dp_child_finish(struct dp_child *child, struct dp_err *err);
void dp_child_kill(struct dp_child *child);

/* From now on an exchange fails once *flag is set, see dp_port_cancel. False for a child in this process, whose stages
   cannot be left in the middle of a lap; unless one of them is of a class that waits. */
bool dp_child_cancel(struct dp_child *child, volatile sig_atomic_t *flag);

/* An exchange fails when the child lets it wait longer than this. For a child in this process it means nothing. */
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
    enum dp_kind asked; /* of the frame that was sent last */
    int64_t lap;
};

/* Judges a frame that came back for one of kind `asked`. */
int dp_child_judge(enum dp_kind asked, int64_t lap, const struct dp_frame *answer, struct dp_err *err);

#endif
