/* The plan of a run with several kinds of laps: the kinds, their order and how often each comes. The plan is a public text,
 * fixed before the run. dp-loop --plan takes it and the hello frame carries it:
 *
 *   plan  = part { "," part }
 *   part  = ( kind | "(" plan ")" ) [ count ]
 *   kind  = a lower-case letter, then lower-case letters, digits and "-"
 *   count = number of times; 1 if absent
 *
 * "moments 1, gradient 200" is one lap of moments and then 200 of gradients; "(gradient, search) 100" alternates them 100
 * times. */
#pragma once

#include "base/err.h"

#define DP_LAPS_MOST 1099511627775 /* laps of a run */
#define DP_LAPS_MOST_KINDS 16
#define DP_LAPS_MOST_PIECES 1000000
#define DP_LAPS_MOST_DEPTH 8 /* nested parentheses */
#define DP_LAPS_NAME 32      /* with its NUL */

struct dp_laps_piece {
    int64_t end; /* the last lap of the piece */
    int kind;
};

struct dp_laps {
    int64_t laps;
    int kinds;
    char name[DP_LAPS_MOST_KINDS][DP_LAPS_NAME];
    int64_t turns[DP_LAPS_MOST_KINDS]; /* laps of each kind */
    size_t pieces, capacity;
    struct dp_laps_piece *piece; /* no two neighbours are of the same kind */
};

/* Reads a plan into *laps, which starts zeroed; the caller frees it, after a failure, too. DP_E_USAGE: not a plan; the message
 * says at which character. */
int dp_laps_parse(struct dp_laps *laps, const char *text, struct dp_err *err);

/* The plan of a run of `count` laps, all of one kind without a name. */
int dp_laps_plain(struct dp_laps *laps, int64_t count, struct dp_err *err);

void dp_laps_free(struct dp_laps *laps);

/* The kind of a lap, 1 ≤ lap ≤ laps->laps. */
int dp_laps_kind(const struct dp_laps *laps, int64_t lap);

/* The number of bytes at the start of the text that are a kind's name; 0: not a name. */
size_t dp_laps_name(const char *text, size_t length);

/* The kind of that name, or -1. */
int dp_laps_find(const struct dp_laps *laps, const char *name);
