/* Rows of option tables that several stages have, so that an option of the same name means the same and says so in the same
   words. at: the offset of its member in the stage's struct options. */
#ifndef DP_STAGES_SHARED_OPTIONS_H
#define DP_STAGES_SHARED_OPTIONS_H

#include <math.h>

#include "base/option.h"

#define DP_DATA_OPTION(at)                                                                                                     \
    {                                                                                                                          \
        .name = "data", .letter = 'd', .kind = DP_OPT_TEXT, .offset = (at), .metavar = "DIR",                                  \
        .help = "the data set that the rows are numbers of; not needed when they are inline"                                   \
    }

/* names: of the losses that the stage takes; text: what it does with them. */
#define DP_LOSS_OPTION(at, names, text)                                                                                        \
    {                                                                                                                          \
        .name = "loss", .letter = 'l', .kind = DP_OPT_CHOICE, .offset = (at), .metavar = "LOSS", .help = text,                 \
        .choices = names, .flags = DP_OPT_REQUIRED                                                                             \
    }

#define DP_LAMBDA_OPTION(at, text)                                                                                             \
    {                                                                                                                          \
        .name = "lambda", .letter = 'L', .kind = DP_OPT_REAL, .offset = (at), .metavar = "LAMBDA", .help = text,               \
        .fallback = "0", .min = 0, .max = INFINITY                                                                             \
    }

#define DP_LOSS_WIDTH_OPTION(at)                                                                                               \
    {                                                                                                                          \
        .name = "loss-width", .kind = DP_OPT_REAL, .offset = (at), .metavar = "W",                                             \
        .help = "smoothing of smooth-hinge and huberised-hinge, delta of huber (default 1; huberised-hinge 0.5)", .min = 0,    \
        .max = INFINITY, .flags = DP_OPT_OPEN_MIN                                                                              \
    }

#define DP_INTERCEPT_OPTION(at)                                                                                                \
    {                                                                                                                          \
        .name = "intercept", .kind = DP_OPT_REAL, .offset = (at), .metavar = "V",                                              \
        .help = "append a constant column of value V to each row; 0 is none", .fallback = "0", .min = 0, .max = 1e6            \
    }

/* What a choice means: dp_adjacency_chosen (stages/bounded.h). */
#define DP_ADJACENCY_OPTION(at)                                                                                                \
    {                                                                                                                          \
        .name = "adjacency", .kind = DP_OPT_CHOICE, .offset = (at), .metavar = "HOW", .help = "what one person can change",    \
        .fallback = "null-record", .choices = "null-record|replace-one"                                                        \
    }

#define DP_THREADS_OPTION(at)                                                                                                  \
    {                                                                                                                          \
        .name = "threads", .letter = 't', .kind = DP_OPT_INT, .offset = (at), .metavar = "N", .help = "threads",               \
        .fallback = "1", .min = 1, .max = 256                                                                                  \
    }

#endif
