/* A pipeline cut at its bars, so that an audit can act between its stages. Each part is a separate child: fused if all of it is
   dp stages, `sh -c` otherwise. Keys are the keys of the whole pipeline, because the numbering of stages continues. */
#pragma once

#include <signal.h>

#include "base/err.h"
#include "runtime/child.h"
#include "runtime/pipeline.h"
#include "wire/frame.h"

/* Resources of a command that an audit uses. */
struct dp_audit_watch {
    volatile sig_atomic_t *stop; /* set by a signal handler: end as soon as possible (see dp_port_cancel) */
    int timeout;                 /* seconds that a child run as processes may take for an answer */
    const struct dp_warn *warn;  /* gets the warnings of stages in this process; may be NULL */
};

/* Cuts a pipeline that names a data set with {}. DP_E_USAGE: the text cannot be split. Free with dp_pipeline_free, whatever it
 * returned. */
int dp_audit_cut(struct dp_pipeline *pipeline, const char *text, struct dp_err *err);

/* Sets *gate to the number of dp-account, after at least `least` stages; then as dp_audit_without_ledger. DP_E_USAGE: the
 * pipeline has no gate. */
int dp_audit_find_gate(struct dp_pipeline *pipeline, int least, int *gate, struct dp_err *err);

/* The gate of an audit charges nobody, because its rows are made up: if it names no ledger and no registry, it gets none.
   gate: its number in the pipeline, which is cut again. */
int dp_audit_without_ledger(struct dp_pipeline *pipeline, int gate, struct dp_err *err);

/* Makes a directory for changed rows in `parent`, of mode 0700, and names it. */
#define DP_AUDIT_PATH 256
int dp_audit_directory(char path[DP_AUDIT_PATH], const char *parent, struct dp_err *err);

/* Starts stages [from, to) with {} replaced by the path of a data set, in quotes. */
int dp_audit_part_start(struct dp_child **part, const struct dp_audit_watch *watch, const struct dp_pipeline *pipeline,
                        int from, int to, const char *data, struct dp_err *err);

/* Passes the frame through the part, in place. DP_E_BUDGET if the gate has ended the run. */
int dp_audit_part_take(struct dp_child *part, const struct dp_audit_watch *watch, struct dp_frame *frame, struct dp_err *err);

/* The same for the first stage; DP_E_USAGE if it does not sample rows. */
int dp_audit_sampler_take(struct dp_child *part, const struct dp_audit_watch *watch, struct dp_frame *frame,
                          struct dp_err *err);

/* Drops the fields that are charged. The others are released, too, and nothing pays for them. */
void dp_audit_keep_uncharged(struct dp_frame *frame);

/* Ends parts with an end frame, or (dp_audit_parts_kill) at once. Both free the children and set them to NULL; a NULL part was
   not started. */
int dp_audit_parts_end(struct dp_child **part, int count, const struct dp_audit_watch *watch, struct dp_frame *frame,
                       struct dp_err *err);
int dp_audit_parts_finish(struct dp_child **part, int count, struct dp_err *err); /* they have had their end frame */
void dp_audit_parts_kill(struct dp_child **part, int count);

/* Makes the hello frame of a run; seed < 0: none. */
void dp_audit_hello(struct dp_frame *frame, int64_t laps, int64_t seed);

/* Takes person `id` out of the batch of a raw frame (and their rows out of X and y); *was: whether the person was in the
 * batch. */
int dp_audit_remove_person(struct dp_frame *frame, int64_t id, bool *was, struct dp_err *err);

/* Puts the person in, in ascending order, unless they are there (*was). own: their rows, for a frame with inline rows. */
struct dp_variant_rows;
int dp_audit_insert_person(struct dp_frame *frame, int64_t id, const struct dp_variant_rows *own, size_t cols, bool *was,
                           struct dp_err *err);
