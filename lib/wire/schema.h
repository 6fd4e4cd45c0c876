/* Every field a frame may carry: its key on the wire, its type, and what the gate does with it. A field that is not
   in this table does not exist: decoding refuses it. */
#ifndef DP_WIRE_SCHEMA_H
#define DP_WIRE_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

enum dp_type { DP_T_INT, DP_T_REAL, DP_T_BOOL, DP_T_TEXT, DP_T_ARRAY };

/* What the gate does with a field of a frame that comes from its private side. */
enum dp_visibility {
    DP_STREAM,  /* of hello, end and error frames, which the gate makes anew; no lap frame keeps one */
    DP_FIXED,   /* public, and in every lap what it was in the first */
    DP_MOVING,  /* public, and follows what was released: passes as it is */
    DP_STATED,  /* the gate's own statement: what comes in is thrown away */
    DP_PRIVATE, /* thrown away */
    DP_PAID,    /* the noised sum: passes because it has been charged for */
};

/* clang-format off */
/*     enumerator       key on the wire          type        visibility   meaning */
#define DP_FIELDS(X)                                                                                                \
    X(DP_F_FORMAT, "format", DP_T_INT, DP_STREAM)             /* hello: version of the frame format */              \
    X(DP_F_SOFTWARE, "software", DP_T_TEXT, DP_STREAM)        /* hello: what wrote the stream */                    \
    X(DP_F_SEED, "seed", DP_T_INT, DP_PRIVATE)                /* hello: keys are derived from it */                 \
    X(DP_F_DIRECTORY, "directory", DP_T_TEXT, DP_PRIVATE)     /* hello: of the data set, where its ledger is */      \
    X(DP_F_STAGE, "stage", DP_T_INT, DP_STREAM)               /* hello: how many stages it has passed */            \
    X(DP_F_STATUS, "status", DP_T_INT, DP_STREAM)             /* end, error: exit status */                         \
    X(DP_F_WHERE, "where", DP_T_TEXT, DP_STREAM)              /* error: the stage at fault */                       \
    X(DP_F_MESSAGE, "message", DP_T_TEXT, DP_STREAM)          /* error: one sentence */                             \
    X(DP_F_LAPS, "laps", DP_T_INT, DP_FIXED)                  /* laps the run will have */                          \
    X(DP_F_METHOD, "method", DP_T_TEXT, DP_FIXED)             /* "scd-dual", "scd-primal", "gradient" */            \
    X(DP_F_FAMILY, "family", DP_T_TEXT, DP_FIXED)             /* of models: what model and sum mean; absent: linear */ \
    X(DP_F_LOSS, "loss", DP_T_TEXT, DP_FIXED)                                                                       \
    X(DP_F_LOSS_WIDTH, "loss_width", DP_T_REAL, DP_FIXED)     /* smoothing of smooth-hinge, delta of huber */       \
    X(DP_F_LAMBDA, "lambda", DP_T_REAL, DP_FIXED)             /* L2 regularisation */                               \
    X(DP_F_N, "n", DP_T_INT, DP_FIXED)                        /* public number of rows */                           \
    X(DP_F_INTERCEPT, "intercept", DP_T_REAL, DP_FIXED)       /* value of a constant last column, absent if none */ \
    X(DP_F_SCALE, "scale", DP_T_REAL, DP_FIXED)               /* weights = scale × model */                         \
    X(DP_F_CLASSES, "classes", DP_T_INT, DP_FIXED)            /* number of classes, 0 for a regression */           \
    X(DP_F_LABELS, "labels", DP_T_TEXT, DP_FIXED)             /* class names, a JSON array */                       \
    X(DP_F_LABEL_SCALE, "label_scale", DP_T_REAL, DP_FIXED)   /* label in its own units = scale × y + offset */     \
    X(DP_F_LABEL_OFFSET, "label_offset", DP_T_REAL, DP_FIXED)                                                       \
    X(DP_F_DATA, "data", DP_T_TEXT, DP_FIXED)                 /* digest of the training data set */                 \
    X(DP_F_POPULATION, "population", DP_T_TEXT, DP_FIXED)     /* whose rows they are: a name that the user publishes */ \
    X(DP_F_PREPROCESSING, "private_preprocessing", DP_T_TEXT, DP_FIXED)                                             \
    X(DP_F_ROW_NORM, "row_norm", DP_T_TEXT, DP_FIXED)                                                               \
    X(DP_F_MODEL, "model", DP_T_ARRAY, DP_MOVING)             /* matrix of f8; linear: K × d */                     \
    X(DP_F_AVERAGE, "average", DP_T_ARRAY, DP_MOVING)         /* of its shape, mean of released iterates */          \
    X(DP_F_AVERAGED, "averaged", DP_T_INT, DP_MOVING)         /* how many iterates that mean holds */               \
    X(DP_F_SUM, "sum", DP_T_ARRAY, DP_PAID)                   /* of its shape, i8 × grid, or f8 (non-private) */     \
    X(DP_F_WITHIN, "count", DP_T_ARRAY, DP_PAID)               /* 1 × 1 i8: twice the sum over the batch of + 1/2 for an     \
                                                                 example within the bound, − 1/2 for one beyond */  \
    X(DP_F_GRID, "grid", DP_T_REAL, DP_MOVING)                                                                      \
    X(DP_F_BOUND, "bound", DP_T_REAL, DP_MOVING)              /* L2 bound on one person's part of sum */            \
    X(DP_F_ROWS, "rows", DP_T_ARRAY, DP_PRIVATE)              /* b i8, the sampled row numbers */                   \
    X(DP_F_X, "X", DP_T_ARRAY, DP_PRIVATE)                    /* b × d f4, the rows themselves (inline) */          \
    X(DP_F_Y, "y", DP_T_ARRAY, DP_PRIVATE)                    /* b f8 */                                            \
    X(DP_F_UPDATES, "updates", DP_T_ARRAY, DP_PRIVATE)        /* b × K f4, coefficient of each row per class */     \
    X(DP_F_COLUMNS, "columns", DP_T_ARRAY, DP_MOVING)         /* i8, the coordinates of this lap (primal) */        \
    X(DP_F_NOISE_SCALE, "noise_scale", DP_T_REAL, DP_STATED)  /* standard deviation of the noise last released */   \
    X(DP_F_PLAN, "plan", DP_T_ARRAY, DP_PRIVATE)               /* laps f8, the noise multiplier of every lap */      \
    X(DP_F_ELSEWHERE, "elsewhere", DP_T_BOOL, DP_PRIVATE)     /* the model it starts from is of another population */ \
    X(DP_F_UNTRACKED, "untracked", DP_T_BOOL, DP_STATED)      /* no ledger has the run: --no-ledger */              \
    X(DP_F_LEDGER, "ledger", DP_T_TEXT, DP_STATED)            /* mark of the line that paid: run:seq:hash */        \
    X(DP_F_EPSILON, "epsilon", DP_T_REAL, DP_STATED)          /* spent so far */                                    \
    X(DP_F_DELTA, "delta", DP_T_REAL, DP_STATED)                                                                    \
    X(DP_F_PRIOR_EPSILON, "prior_epsilon", DP_T_REAL, DP_STATED) /* of epsilon, the model it started from */        \
    X(DP_F_PRIOR_DELTA, "prior_delta", DP_T_REAL, DP_STATED)                                                        \
    X(DP_F_ADJACENCY, "adjacency", DP_T_TEXT, DP_STATED)      /* what epsilon and delta are about */                \
    X(DP_F_EPSILON_SOUND, "epsilon_sound", DP_T_REAL, DP_STATED) /* beside a published, unsound epsilon */          \
    X(DP_F_SEEDED, "seeded", DP_T_BOOL, DP_FIXED)             /* keys came from a seed: not private */              \
    X(DP_F_AS_PUBLISHED, "as_published", DP_T_BOOL, DP_STATED)                                                      \
    X(DP_F_NON_PRIVATE, "non_private", DP_T_BOOL, DP_FIXED)                                                         \
    X(DP_F_INTERRUPTED, "interrupted", DP_T_BOOL, DP_STREAM)  /* end, model: the run did not get to its end */      \
    X(DP_F_GAP, "gap", DP_T_REAL, DP_PRIVATE)                 /* duality gap on the training rows */                \
    X(DP_F_OBJECTIVE, "objective", DP_T_REAL, DP_PRIVATE)     /* primal objective on the training rows */

/* clang-format on */

#define DP_FIELD_ENUMERATOR(id, key, type, visibility) id,
enum dp_field { DP_FIELDS(DP_FIELD_ENUMERATOR) DP_F_COUNT };
#undef DP_FIELD_ENUMERATOR
#define DP_F_NONE DP_F_COUNT

struct dp_field_info {
    const char *key;
    enum dp_type type;
    enum dp_visibility visibility;
};

extern const struct dp_field_info dp_fields[DP_F_COUNT];

/* The field with this key, or DP_F_COUNT. */
enum dp_field dp_field_find(const char *key, size_t length);

#endif
