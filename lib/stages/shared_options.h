/* Rows of option tables for several stages, so that options of the same name have the same meaning and help text. member_: the
 * member of the stage's struct options that its value goes to. */
#pragma once

#include "base/option.h"
#include "base/registry_place.h"

#define DP_DATA_OPTION(member_)                                                                                                \
    DP_OPTION_TEXT('d', member_, "DIR", "data set of the row numbers; not needed if rows are inline")

/* names: losses that the stage supports; text: how it uses them. */
#define DP_LOSS_OPTION(member_, names, text) DP_OPTION_CHOICE('l', member_, "LOSS", names, text, .required = true)

#define DP_LAMBDA_OPTION(member_, ...) DP_OPTION_REAL('L', member_, "LAMBDA", DP_FROM(0), __VA_ARGS__, .fallback = "0")

#define DP_LOSS_WIDTH_OPTION(member_)                                                                                          \
    DP_OPTION_REAL(0, member_, "W", DP_ABOVE(0),                                                                               \
                   "smoothing of smooth-hinge and huberised-hinge, delta of huber (default 1; huberised-hinge 0.5)",           \
                   .name = "loss-width")

#define DP_INTERCEPT_OPTION(member_)                                                                                           \
    DP_OPTION_REAL(0, member_, "V", DP_FROM_TO(0, 1e6), "append a constant column of value V to each row; 0: no column",       \
                   .fallback = "0", .single = true)

#define DP_COUNT_MULTIPLIER_OPTION(member_, ...)                                                                               \
    DP_OPTION_REAL(0, member_, "ZB", DP_ABOVE(0), "the same for the count of dp-clip --adaptive", __VA_ARGS__)

/* For the adjacency of a choice see dp_adjacency_chosen (wire/record.h). */
#define DP_ADJACENCY_OPTION(member_, ...)                                                                                      \
    DP_OPTION_CHOICE(0, member_, "HOW", "null-record|replace-one", "what one person can change", .fallback = "null-record",    \
                     __VA_ARGS__)

#define DP_CLASS_WEIGHTS_OPTION(member_, ...)                                                                                  \
    DP_OPTION_TEXT(0, member_, "W,W,...", "weight of the loss of each class, above 0 and at most 1, in their order",           \
                   __VA_ARGS__)

/* Options of stages that pay for a run (gate/payer.h): rows for struct dp_payer_options, which is that member.
   The last argument: what will do instead of a budget. */
#define DP_PAYER_OPTIONS(member_, ...)                                                                                         \
    DP_OPTION_REAL('e', member_.epsilon, "E", DP_ABOVE(0), "the budget", .required = true, __VA_ARGS__),                       \
        DP_OPTION_REAL('d', member_.delta, "D", DP_ABOVE_BELOW(0, 1), "probability that the budget may fail to bound",         \
                       .required = true, __VA_ARGS__),                                                                         \
        DP_OPTION_TEXT('l', member_.ledger, "FILE", "record the spending in this file, not in the data set's own ledger"),     \
        DP_OPTION_FLAG(0, member_.no_ledger, "write nothing down", .excludes = "ledger"),                                      \
        DP_REGISTRY_OPTIONS(member_.registry),                                                                                 \
        DP_OPTION_FLAG(0, member_.partial, "begin even if the budget of the data set does not afford all laps"),               \
        DP_OPTION_FLAG(0, member_.adaptive, "noise may depend on released values: charge by a filter at one order"),           \
        DP_OPTION_FLAG(0, member_.allow_seeded, "let a seeded run pass: reproducible, not private"),                           \
        DP_OPTION_FLAG(0, member_.allow_weak, "let a run pass whose epsilon is above 10 or whose delta is not below 1/N")

#define DP_THREADS_OPTION(member_) DP_OPTION_INT('t', member_, "N", DP_FROM_TO(1, 256), "threads", .fallback = "1")

/* For stages with a struct dp_batch_sum: if absent, dp_batch_sum_allow chooses. */
#define DP_THREADS_AUTO_OPTION(member_)                                                                                        \
    DP_OPTION_INT('t', member_, "N", DP_FROM_TO(1, 256), "threads, or as many as are useful", .fallback = "auto",              \
                  .choices = "auto")
