/* Every field a frame may carry: its key on the wire, its type, and its treatment by the gate. A field that is not in this
   table does not exist: decoding refuses it. */
#pragma once

#include "base/c.h"

/* The `split` of a model without held-out rows: it was trained on several parts of one population, or on the test part. */
#define DP_SPLIT_SEVERAL "several"
#define DP_SPLIT_HELD_OUT "held-out"

enum dp_type { DP_T_INT, DP_T_REAL, DP_T_BOOL, DP_T_TEXT, DP_T_ARRAY };

/* How the gate treats a field of a frame from its private side. */
enum dp_visibility {
    DP_STREAM,  /* in hello, end and error frames, which the gate writes again; removed from lap frames */
    DP_FIXED,   /* public, and the same in every lap */
    DP_MOVING,  /* public, computed from released values: passes unchanged */
    DP_STATED,  /* stated by the gate: an incoming value is removed */
    DP_PRIVATE, /* removed by the gate */
    DP_TOLD,    /* removed; a gather tells its workers the place of their rows with it */
    DP_PAID,    /* noised, or chosen with noise: passes because it was charged */
};

/* How long a field of a lap frame lives. */
enum dp_lifetime {
    DP_LIFETIME_HELLO, /* in hello, end and error frames */
    DP_LIFETIME_LAP,   /* the next lap begins without it */
    DP_LIFETIME_RUN,   /* kept from lap to lap; a run that starts from the model begins without it */
    DP_LIFETIME_MODEL, /* belongs to the model */
};

/* clang-format off */
/*     enumerator       key on the wire          type        visibility   lifetime   meaning */
#define DP_FIELDS(X)                                                                                                           \
    X(DP_F_FORMAT, "format", DP_T_INT, DP_STREAM, HELLO)                 /* hello: version of the frame format */              \
    X(DP_F_SOFTWARE, "software", DP_T_TEXT, DP_STREAM, HELLO)            /* hello: what wrote the stream */                    \
    X(DP_F_RUN, "run", DP_T_TEXT, DP_STREAM, HELLO)                      /* hello: name of the run, 32 hex digits */               \
    X(DP_F_SEED, "seed", DP_T_INT, DP_PRIVATE, HELLO)                    /* hello: keys are derived from it */                 \
    X(DP_F_DIRECTORY, "directory", DP_T_TEXT, DP_PRIVATE, HELLO)         /* hello: of the data set and its ledger */           \
    X(DP_F_SHARD, "shard", DP_T_INT, DP_TOLD, HELLO)                     /* hello, to a worker: which part of the rows it has, from 1 */ \
    X(DP_F_SHARDS, "shards", DP_T_INT, DP_TOLD, HELLO)                   /* number of parts */                                 \
    X(DP_F_STAGE, "stage", DP_T_INT, DP_STREAM, HELLO)                   /* hello: number of stages passed */                  \
    X(DP_F_STATUS, "status", DP_T_INT, DP_STREAM, HELLO)                 /* end, error: exit status */                         \
    X(DP_F_WHERE, "where", DP_T_TEXT, DP_STREAM, HELLO)                  /* error: the stage at fault */                       \
    X(DP_F_MESSAGE, "message", DP_T_TEXT, DP_STREAM, HELLO)              /* error: one sentence */                             \
    X(DP_F_EXHAUSTED, "exhausted", DP_T_BOOL, DP_STREAM, HELLO)          /* end: no more rows arrive for the laps that were to come */ \
    X(DP_F_MODEL_DIGEST, "model_digest", DP_T_TEXT, DP_STREAM, HELLO)    /* hello: of the initial model; end: of the last one */                  \
    X(DP_F_MODEL_LAP, "model_lap", DP_T_INT, DP_STREAM, HELLO)           /* hello: the lap of that model in its own run */      \
    X(DP_F_LAPS, "laps", DP_T_INT, DP_FIXED, RUN)                        /* laps the run will have */                          \
    X(DP_F_KINDS, "kinds", DP_T_TEXT, DP_STREAM, HELLO)                  /* hello: the plan of laps (wire/laps.h); absent if there is one kind */ \
    X(DP_F_LAP_KIND, "lap_kind", DP_T_TEXT, DP_MOVING, LAP)              /* kind of this lap, if laps have kinds */            \
    X(DP_F_TURN, "turn", DP_T_INT, DP_MOVING, LAP)                       /* number of this lap within its kind, from 1 */      \
    X(DP_F_METHOD, "method", DP_T_TEXT, DP_FIXED, MODEL)                 /* "scd-dual", "scd-primal", "gradient", "erm", "selection" */     \
    X(DP_F_FAMILY, "family", DP_T_TEXT, DP_FIXED, MODEL)                 /* family of the model: meaning of model and sum; absent: linear */ \
    X(DP_F_NETWORK, "network", DP_T_TEXT, DP_FIXED, MODEL)               /* family network: its layers (nets/net.h) */        \
    X(DP_F_LOSS, "loss", DP_T_TEXT, DP_FIXED, MODEL)                                                                           \
    X(DP_F_LOSS_WIDTH, "loss_width", DP_T_REAL, DP_FIXED, MODEL)         /* smoothing of smooth-hinge, delta of huber */       \
    X(DP_F_CLASS_WEIGHTS, "class_weights", DP_T_TEXT, DP_FIXED, MODEL)   /* of the loss of each class, "1,0.25"; absent: 1 */   \
    X(DP_F_LAMBDA, "lambda", DP_T_REAL, DP_FIXED, MODEL)                 /* L2 regularisation */                               \
    X(DP_F_N, "n", DP_T_INT, DP_FIXED, MODEL)                            /* public number of rows */                           \
    X(DP_F_INTERCEPT, "intercept", DP_T_REAL, DP_FIXED, MODEL)           /* value of a constant last column, absent if none */ \
    X(DP_F_SCALE, "scale", DP_T_REAL, DP_FIXED, MODEL)                   /* weights = scale × model */                         \
    X(DP_F_CLASSES, "classes", DP_T_INT, DP_FIXED, MODEL)                /* number of classes, 0 for a regression */           \
    X(DP_F_LABELS, "labels", DP_T_TEXT, DP_FIXED, MODEL)                 /* class names, a JSON array */                       \
    X(DP_F_LABEL_SCALE, "label_scale", DP_T_REAL, DP_FIXED, MODEL)       /* label in its own units = scale × y + offset */     \
    X(DP_F_LABEL_OFFSET, "label_offset", DP_T_REAL, DP_FIXED, MODEL)                                                           \
    X(DP_F_DATA, "data", DP_T_TEXT, DP_FIXED, MODEL)                     /* digest of the training data set */                 \
    X(DP_F_POPULATION, "population", DP_T_TEXT, DP_FIXED, MODEL)         /* public name of the people who have rows */            \
    X(DP_F_UNIT, "unit", DP_T_TEXT, DP_FIXED, MODEL)                     /* "person:3": at most 3 rows are one person's; absent: a row is */ \
    X(DP_F_SPLIT, "split", DP_T_TEXT, DP_FIXED, MODEL)                   /* the split that they are part of; absent: none */   \
    X(DP_F_PREPROCESSING, "private_preprocessing", DP_T_TEXT, DP_FIXED, MODEL)                                                 \
    X(DP_F_ROW_NORM, "row_norm", DP_T_TEXT, DP_FIXED, MODEL)                                                                   \
    X(DP_F_SCHEMA, "schema", DP_T_TEXT, DP_FIXED, MODEL)                 /* of the table that rows were made from, JSON (data/carried.h) */ \
    X(DP_F_MODEL, "model", DP_T_ARRAY, DP_MOVING, MODEL)                 /* matrix of f8; linear: K × d */                     \
    X(DP_F_AVERAGE, "average", DP_T_ARRAY, DP_MOVING, RUN)               /* of its shape, mean of released iterates */         \
    X(DP_F_AVERAGED, "averaged", DP_T_INT, DP_MOVING, RUN)               /* number of iterates in that mean */                 \
    X(DP_F_GRADIENT, "gradient", DP_T_ARRAY, DP_MOVING, RUN)             /* of its shape, released mean gradient of the loss */\
    X(DP_F_PRECISION, "precision", DP_T_REAL, DP_MOVING, RUN)            /* of it: 1 / noise_scale^2 of its noise */          \
    X(DP_F_DIRECTION, "direction", DP_T_ARRAY, DP_MOVING, RUN)           /* of its shape, the model moves against it */        \
    X(DP_F_SUM, "sum", DP_T_ARRAY, DP_PAID, LAP)                         /* of its shape, i8 × grid, or f8 (non-private) */    \
    X(DP_F_LABEL_COLUMNS, "label_columns", DP_T_INT, DP_FIXED, RUN)      /* moments: the number of last columns that are labels */ \
    X(DP_F_TABLES, "tables", DP_T_TEXT, DP_MOVING, MODEL)                /* the tables that are counted in sum, JSON (tables/tables.h) */ \
    X(DP_F_WITHIN, "within", DP_T_ARRAY, DP_PAID, RUN)                   /* 1 × 1 i8: twice the sum of ±1/2, + within the bound */ \
    X(DP_F_CHOICE, "choice", DP_T_ARRAY, DP_PAID, LAP)                   /* 1 × 1 i8: which of the steps or candidates was chosen, from 0 */ \
    X(DP_F_GRID, "grid", DP_T_REAL, DP_MOVING, LAP)                                                                            \
    X(DP_F_STEPS, "steps", DP_T_ARRAY, DP_MOVING, LAP)                   /* f8, the step sizes to choose from */               \
    X(DP_F_CANDIDATES, "candidates", DP_T_ARRAY, DP_MOVING, LAP)         /* f8, the models to choose from, one in each row */  \
    X(DP_F_STEP_SIZE, "step_size", DP_T_REAL, DP_MOVING, LAP)            /* the step that was taken, 0 for none */             \
    X(DP_F_FIRST_STEP, "first_step", DP_T_REAL, DP_MOVING, RUN)          /* the largest step of the next search */             \
    X(DP_F_SEARCH_FACTOR, "search_factor", DP_T_REAL, DP_MOVING, RUN)    /* of the budget of the next search */                \
    X(DP_F_LOSS_FACTOR, "loss_factor", DP_T_REAL, DP_MOVING, RUN)        /* of its bound on one person's loss */               \
    X(DP_F_TRANSFORM, "transform", DP_T_ARRAY, DP_MOVING, RUN)           /* m × d f8: gradients are of s T x of a row x, cut to
                                                                          * norm 1 */ \
    X(DP_F_CURVATURE, "curvature", DP_T_REAL, DP_MOVING, RUN)            /* largest eigenvalue of the mean z zᵀ of such rows, estimated */ \
    X(DP_F_UNIT_ROWS, "unit_rows", DP_T_BOOL, DP_MOVING, RUN)            /* a row is divided by its norm before the transform */ \
    X(DP_F_UNCUT, "uncut", DP_T_BOOL, DP_MOVING, RUN)                    /* z may be longer than 1: gradients are clipped by it */ \
    X(DP_F_MULTIPLIER, "multiplier", DP_T_REAL, DP_MOVING, RUN)          /* of the noise on the next sum */                    \
    X(DP_F_BOUND, "bound", DP_T_REAL, DP_MOVING, RUN)                    /* L2 bound on one person's part of sum */            \
    X(DP_F_FIRST_ROW, "first_row", DP_T_INT, DP_TOLD, LAP)               /* to a worker: rows of the shards before its own */  \
    X(DP_F_LOST, "lost", DP_T_INT, DP_MOVING, LAP)                       /* shards that have added nothing to this lap */      \
    X(DP_F_ROWS, "rows", DP_T_ARRAY, DP_PRIVATE, LAP)                    /* b i8, the sampled row numbers, or person numbers */ \
    X(DP_F_X, "X", DP_T_ARRAY, DP_PRIVATE, LAP)                          /* b × d f4, the rows themselves (inline) */          \
    X(DP_F_Y, "y", DP_T_ARRAY, DP_PRIVATE, LAP)                          /* b f8 */                                            \
    X(DP_F_PERSON_ROWS, "person_rows", DP_T_ARRAY, DP_PRIVATE, LAP)      /* b i8, of X, how many rows each person has (inline); absent: one */ \
    X(DP_F_UPDATES, "updates", DP_T_ARRAY, DP_PRIVATE, LAP)              /* b × K f4, coefficient of each row per class */     \
    X(DP_F_COLUMNS, "columns", DP_T_ARRAY, DP_MOVING, LAP)               /* i8, the coordinates of this lap (primal) */        \
    X(DP_F_NOISE_SCALE, "noise_scale", DP_T_REAL, DP_STATED, RUN)        /* of the noise of the last release */                \
    X(DP_F_MULTIPLIERS, "multipliers", DP_T_ARRAY, DP_PRIVATE, HELLO)    /* hello: laps f8, multipliers that follow a schedule, else 0 */ \
    X(DP_F_SCHEMA_COST, "schema_cost", DP_T_TEXT, DP_PRIVATE, HELLO)     /* hello: what the schema of the data set has cost, JSON */ \
    X(DP_F_ELSEWHERE, "elsewhere", DP_T_BOOL, DP_PRIVATE, LAP)           /* the model it starts from is of another population */ \
    X(DP_F_UNTRACKED, "untracked", DP_T_BOOL, DP_STATED, MODEL)          /* no ledger has the run: --no-ledger */              \
    X(DP_F_LEDGER, "ledger", DP_T_TEXT, DP_STATED, MODEL)                /* mark of the charge's line: run:seq:hash */         \
    X(DP_F_EPSILON, "epsilon", DP_T_REAL, DP_STATED, MODEL)              /* spent so far */                                    \
    X(DP_F_DELTA, "delta", DP_T_REAL, DP_STATED, MODEL)                                                                        \
    X(DP_F_PRIOR_EPSILON, "prior_epsilon", DP_T_REAL, DP_STATED, MODEL)  /* epsilon of the initial model */                    \
    X(DP_F_PRIOR_DELTA, "prior_delta", DP_T_REAL, DP_STATED, MODEL)                                                            \
    X(DP_F_ADJACENCY, "adjacency", DP_T_TEXT, DP_STATED, MODEL)          /* adjacency of epsilon and delta */                  \
    X(DP_F_TRIAL, "trial", DP_T_TEXT, DP_STATED, MODEL)                  /* name of a selection that is not paid for */        \
    X(DP_F_TRIALS, "trials", DP_T_TEXT, DP_STATED, MODEL)                /* by dp-tune: law of the number of its runs */       \
    X(DP_F_SELECTED_ON, "selected_on", DP_T_TEXT, DP_STATED, MODEL)      /* and digest of the rows that scored them */         \
    X(DP_F_SEEDED, "seeded", DP_T_BOOL, DP_FIXED, MODEL)                 /* keys came from a seed: not private */              \
    X(DP_F_NON_PRIVATE, "non_private", DP_T_BOOL, DP_FIXED, MODEL)                                                             \
    X(DP_F_PUBLIC, "public", DP_T_BOOL, DP_FIXED, MODEL)                 /* trained on public rows: dp-account --public */     \
    X(DP_F_PUBLIC_START, "public_start", DP_T_TEXT, DP_FIXED, RUN)       /* digest of the public model the run started from */ \
    X(DP_F_EXACT_OF, "exact_of", DP_T_TEXT, DP_FIXED, MODEL)             /* populations that have rows which it shows without noise, in lines */ \
    X(DP_F_MEMBERS, "members", DP_T_TEXT, DP_PRIVATE, LAP)               /* of a gather: the populations of its shards, in lines, if they differ */ \
    X(DP_F_INTERRUPTED, "interrupted", DP_T_BOOL, DP_STREAM, RUN)        /* end, model: the run ended early */                 \
    X(DP_F_GAP, "gap", DP_T_REAL, DP_PRIVATE, LAP)                       /* upper bound of objective − minimum */              \
    X(DP_F_OBJECTIVE, "objective", DP_T_REAL, DP_PRIVATE, LAP)           /* primal objective on the training rows */


/* The range of each whole number: a frame with another value is refused where it is read. */
#define DP_LIMIT_LAP ((int64_t)1 << 40)   /* laps address randomness in 40 bits */
#define DP_LIMIT_WHOLE ((int64_t)1 << 53) /* rows, and whole numbers of records: a double holds each of them */
#define DP_LIMIT_STAGES 4096
#define DP_RANGES(X)                                                                                                           \
    X(DP_F_FORMAT, 0, INT32_MAX)                                                                                               \
    X(DP_F_SEED, INT64_MIN, INT64_MAX)                                                                                         \
    X(DP_F_SHARD, 0, INT32_MAX)                                                                                                \
    X(DP_F_SHARDS, 0, INT32_MAX)                                                                                               \
    X(DP_F_STAGE, 0, DP_LIMIT_STAGES)                                                                                          \
    X(DP_F_STATUS, INT32_MIN, INT32_MAX)                                                                                       \
    X(DP_F_MODEL_LAP, 0, DP_LIMIT_LAP)                                                                                         \
    X(DP_F_LAPS, 0, DP_LIMIT_LAP)                                                                                              \
    X(DP_F_TURN, 0, DP_LIMIT_LAP)                                                                                              \
    X(DP_F_N, 0, DP_LIMIT_WHOLE)                                                                                               \
    X(DP_F_CLASSES, 0, INT32_MAX)                                                                                              \
    X(DP_F_AVERAGED, 0, DP_LIMIT_LAP)                                                                                          \
    X(DP_F_LABEL_COLUMNS, 0, INT32_MAX)                                                                                        \
    X(DP_F_FIRST_ROW, 0, DP_LIMIT_WHOLE)                                                                                       \
    X(DP_F_LOST, 0, INT32_MAX)
/* clang-format on */

#define DP_FIELD_ENUMERATOR(id, key, type, visibility, lifetime) id,
enum dp_field { DP_FIELDS(DP_FIELD_ENUMERATOR) DP_F_COUNT };
#undef DP_FIELD_ENUMERATOR
#define DP_F_NONE DP_F_COUNT

struct dp_field_info {
    const char *key;
    size_t length; /* of the key */
    enum dp_type type;
    enum dp_visibility visibility;
    enum dp_lifetime lifetime;
};

extern const struct dp_field_info dp_fields[DP_F_COUNT];

/* Whether a whole number is in the range of its field. */
bool dp_field_admits(enum dp_field field, int64_t value);

/* The field with this key, or DP_F_COUNT. The search begins at `first` and wraps around, because frames have their fields in
 * this order. */
enum dp_field dp_field_find_from(enum dp_field first, const char *key, size_t length);
enum dp_field dp_field_find(const char *key, size_t length);
