/* Rows of option tables for several stages, so that options of the same name have the same meaning and help text. at: offset of
 * the member in the stage's struct options. */
#ifndef DP_STAGES_SHARED_OPTIONS_H
#define DP_STAGES_SHARED_OPTIONS_H

#include <math.h>

#include "base/option.h"
#include "base/registry_place.h"

#define DP_DATA_OPTION(at)                                                                                                     \
    {                                                                                                                          \
        .name = "data", .letter = 'd', .kind = DP_OPT_TEXT, .offset = (at), .metavar = "DIR",                                  \
        .help = "the data set that the rows are numbers of; not needed when they are inline"                                   \
    }

/* names: losses that the stage takes; text: what it does with them. */
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

#define DP_COUNT_MULTIPLIER_OPTION(at)                                                                                         \
    {                                                                                                                          \
        .name = "count-multiplier", .kind = DP_OPT_REAL, .offset = (at), .metavar = "ZB",                                      \
        .help = "the same for the count of dp-clip --adaptive", .min = 0, .max = INFINITY, .flags = DP_OPT_OPEN_MIN            \
    }

/* For the adjacency of a choice see dp_adjacency_chosen (stages/bounded.h). */
#define DP_ADJACENCY_OPTION(at)                                                                                                \
    {                                                                                                                          \
        .name = "adjacency", .kind = DP_OPT_CHOICE, .offset = (at), .metavar = "HOW", .help = "what one person can change",    \
        .fallback = "null-record", .choices = "null-record|replace-one"                                                        \
    }

/* Options of stages that pay for a run (gate/payer.h): rows for struct dp_payer_options, which is that member of the type. */
/* clang-format off */
#define DP_PAYER_OPTIONS(type, member) \
    {.name = "epsilon", .letter = 'e', .kind = DP_OPT_REAL, .offset = offsetof(type, member.epsilon), .metavar = "E", .help = "the budget", .min = 0, .max = INFINITY, .flags = DP_OPT_OPEN_MIN}, \
    {.name = "delta", .letter = 'd', .kind = DP_OPT_REAL, .offset = offsetof(type, member.delta), .metavar = "D", .help = "probability that the budget may fail to bound", .min = 0, .max = 1, .flags = DP_OPT_OPEN_MIN | DP_OPT_OPEN_MAX}, \
    {.name = "ledger", .letter = 'l', .kind = DP_OPT_TEXT, .offset = offsetof(type, member.ledger), .metavar = "FILE", .help = "write down what is spent before it is in this file, not in the data set's own ledger"}, \
    {.name = "no-ledger", .kind = DP_OPT_FLAG, .offset = offsetof(type, member.no_ledger), .help = "write nothing down"}, \
    DP_REGISTRY_OPTIONS(offsetof(type, member.registry)), \
    {.name = "partial", .kind = DP_OPT_FLAG, .offset = offsetof(type, member.partial), .help = "begin although the budget of the data set does not afford all laps"}, \
    {.name = "adaptive", .kind = DP_OPT_FLAG, .offset = offsetof(type, member.adaptive), .help = "noise may change with what was released: charge by a filter at one order"}, \
    {.name = "allow-seeded", .kind = DP_OPT_FLAG, .offset = offsetof(type, member.allow_seeded), .help = "let a seeded run pass: reproducible, not private"}
/* clang-format on */

#define DP_THREADS_OPTION(at)                                                                                                  \
    {                                                                                                                          \
        .name = "threads", .letter = 't', .kind = DP_OPT_INT, .offset = (at), .metavar = "N", .help = "threads",               \
        .fallback = "1", .min = 1, .max = 256                                                                                  \
    }

/* For stages with a dp_gather: if absent, dp_gather_allow chooses. */
#define DP_THREADS_AUTO_OPTION(at)                                                                                             \
    {                                                                                                                          \
        .name = "threads", .letter = 't', .kind = DP_OPT_INT, .offset = (at), .metavar = "N",                                  \
        .help = "threads, or as many as pay", .fallback = "auto", .choices = "auto", .min = 1, .max = 256                      \
    }

#endif
