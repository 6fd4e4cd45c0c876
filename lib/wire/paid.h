/* The paid fields: a row for each field that passes the gate because a record pays for it, and a row for each meaning of such a
 * field, which names the stage that takes it. dp-noise, the gate, a gather, the runtime and the stages after the gate
 * read these tables, so that a stage which releases something new needs only its rows: here, in wire/schema.h and in
 * stages/stages.h. */
#pragma once

#include "wire/schema.h"

struct dp_frame;
struct dp_record;

/* How a field gets its noise. */
enum dp_noised {
    DP_NOISED_NOT,       /* the field is not paid for */
    DP_NOISED_MAIN,      /* --multiplier of dp-noise, with its schedule: at most one field of a lap */
    DP_NOISED_COUNT,     /* --count-multiplier of dp-noise; the field is one number next to a field of the former kind */
    DP_NOISED_BY_CHOICE, /* chosen with noise: no noise is added */
};

/* How the wait of a released field for its stage ends. If it still waits at the end of its lap, the run is refused. */
enum dp_waits {
    DP_WAITS_NEVER,     /* it is used by a private stage of the next lap, or not at all */
    DP_WAITS_REMOVED,   /* the stage removes it */
    DP_WAITS_CANDIDATE, /* the stage sets the step size or removes the candidates that the choice is from */
};

/* clang-format off */
/* The paid fields: X(field, how it is noised, bound, grid, whether shards add theirs up, until when it waits). The bound is on
 * the L2 norm of one person's part, the grid is the distance of its numbers; 0: both are fields of the frame. */
#define DP_PAID_FIELDS(X)                                                         \
    X(DP_F_SUM,    DP_NOISED_MAIN,      0,   0,   true,  DP_WAITS_REMOVED)        \
    X(DP_F_WITHIN, DP_NOISED_COUNT,     0.5, 0.5, true,  DP_WAITS_NEVER)          \
    X(DP_F_CHOICE, DP_NOISED_BY_CHOICE, 0,   0,   false, DP_WAITS_CANDIDATE)

/* In a hello frame: the meaning of a record's field: X(enumerator, name on the wire, field, the stage that takes it, whether
 * that stage has said so). A meaning that has not been taken stops the run. */
#define DP_MEANINGS(X)                                                                                                         \
    X(DP_MEANS_NONE,        "none",        DP_F_NONE,   NULL,           true)  /* not stated */                                \
    X(DP_MEANS_GRADIENT,    "gradient",    DP_F_SUM,    "dp-step",      false) /* a sum of negative gradients, for a step */   \
    X(DP_MEANS_MOVE,        "move",        DP_F_SUM,    "dp-step",      false) /* a sum that the model moves by */             \
    X(DP_MEANS_MOMENTS,     "moments",     DP_F_SUM,    "dp-transform", false) /* a sum of second moments */                   \
    X(DP_MEANS_TABLES,      "tables",      DP_F_SUM,    "dp-table",     false) /* counts and sums of tables */               \
    X(DP_MEANS_TEMPERATURE, "temperature", DP_F_SUM,    "dp-step",      false) /* derivatives for one factor on all scores */  \
    X(DP_MEANS_CHOICE,      "choice",      DP_F_CHOICE, "dp-step",      false) /* the choice of a step or a model */           \
    X(DP_MEANS_TRANSFORM,   "transform",   DP_F_SUM,    "dp-transform", true)  /* moments that dp-transform takes */           \
    X(DP_MEANS_TAKEN,       "taken",       DP_F_NONE,   NULL,           true)  /* one of the others, used by another stage */  \
    X(DP_MEANS_DONE,        "done",        DP_F_NONE,   NULL,           true)  /* used by dp-step: nothing is left for another stage */
/* clang-format on */

#define DP_MEANING_ENUMERATOR(id, name, field, taker, taken) id,
enum dp_meaning { DP_MEANINGS(DP_MEANING_ENUMERATOR) DP_MEANS_COUNT };
#undef DP_MEANING_ENUMERATOR

struct dp_paid {
    enum dp_noised noised;
    double bound, grid;
    bool adds;
    enum dp_waits waits;
};

struct dp_meaning_info {
    enum dp_field field;
    const char *taker;
    bool taken;
};

extern const struct dp_paid dp_paid[DP_F_COUNT + 1]; /* by field; DP_NOISED_NOT for all other fields and DP_F_NONE */
extern const struct dp_meaning_info dp_meanings[DP_MEANS_COUNT];
extern const char *const dp_meaning_names[DP_MEANS_COUNT];

/* The meaning of that field with this name that a stage must take; else DP_MEANS_NONE. */
enum dp_meaning dp_meaning_find(const char *name, enum dp_field field);

/* The stage that takes the field of the record: by its meaning, or by the first meaning of the field if it has another one.
   NULL: no stage after the gate takes the field. */
const char *dp_paid_taker(const struct dp_record *record);

/* The bound and the grid of a paid field in this frame; 0 if the frame does not state them. */
double dp_paid_bound(const struct dp_frame *frame, enum dp_field field);
double dp_paid_grid(const struct dp_frame *frame, enum dp_field field);

/* The record of the field with the main noise, or NULL. */
const struct dp_record *dp_paid_main(const struct dp_frame *frame);

/* Sets noise_scale: the scale of the main noise, if there is any. For noise in shares, the scale of all shares that arrived,
 * which may be more than are needed. */
void dp_paid_set_scale(struct dp_frame *frame);

/* The first released field of the frame that still waits for its stage, or DP_F_NONE. */
enum dp_field dp_paid_waiting(const struct dp_frame *frame);
