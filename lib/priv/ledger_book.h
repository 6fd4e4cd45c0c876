/* What a ledger says: its lines checked and added up. For the ledger's writer (priv/ledger.h), reports and
 * certificates. */
#ifndef DP_PRIV_LEDGER_BOOK_H
#define DP_PRIV_LEDGER_BOOK_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "priv/event.h"
#include "priv/ledger.h"

/* Laps of one event in one run. Spent: reserved − refunded. */
struct dp_ledger_laps {
    struct dp_event event;
    int64_t reserved, used, refunded; /* used: 0 until the run ends properly */
};

/* A run. Strings belong to the JSON of its lines. */
struct dp_ledger_entry {
    json_t *open, *close; /* close: NULL while there is none */
    const char *run, *data, *adjacency, *preprocessing, *software;
    const char *init; /* a mark, or NULL */
    int64_t rows, time;
    double epsilon, delta, prior_epsilon, prior_delta, order;
    int seeded, as_published; /* JSON booleans */
    size_t first, last;       /* seq of its first and last line */
    struct dp_ledger_laps *event;
    size_t events, capacity;
    /* of its close line */
    const char *accountant, *status;
    int64_t laps;
    double closed_epsilon, closed_delta;
};

struct dp_ledger_limit {
    json_t *line;
    const char *data, *adjacency;
    double epsilon, delta, order;
};

/* The caller starts it zeroed and frees it. */
struct dp_ledger_book {
    const char *path; /* for messages; the caller's */
    size_t most;      /* only that many lines count, the others are checked but not added up; 0 for all */
    size_t lines, lines_capacity;
    char (*hash)[DP_LEDGER_HASH + 1]; /* of line seq at seq − 1 */
    size_t end, last_length;          /* bytes of the lines, and of the last one of them */
    bool torn;                        /* an unfinished line follows */
    struct dp_ledger_entry *entry;
    size_t entries, entries_capacity;
    struct dp_ledger_limit *limit;
    size_t limits, limits_capacity;
};

/* Takes the lines that stand at byte book->end of the file. DP_E_UNSAFE: a line is not what was written, or does not
   follow the lines before it. Sets torn. */
int dp_ledger_book_take(struct dp_ledger_book *book, const char *bytes, size_t length, struct dp_err *err);

/* Reads the whole file under a shared lock. Errors as dp_ledger_check_mark. */
int dp_ledger_book_read(struct dp_ledger_book *book, const char *path, struct dp_err *err);
void dp_ledger_book_free(struct dp_ledger_book *book);

/* What the next line has as `prev`: the hash of the last one, 64 zeros where there is none. */
const char *dp_ledger_book_hash(const struct dp_ledger_book *book);

/* NULL when there is none. */
struct dp_ledger_entry *dp_ledger_book_find(const struct dp_ledger_book *book, const char *run);
struct dp_ledger_limit *dp_ledger_book_limit(const struct dp_ledger_book *book, const char *data);

/* The run that a mark names, at its state or a later one. DP_E_RUN: not a mark. DP_E_UNSAFE: not in this book. */
int dp_ledger_book_mark(const struct dp_ledger_book *book, const char *mark, struct dp_ledger_entry **entry,
                        struct dp_err *err);

/* laps reserved and not given back */
int64_t dp_ledger_laps_spent(const struct dp_ledger_laps *laps);

/* What runs have cost together. A run under a filter at order a was (a, rho)-RDP with rho = its epsilon less the
 * penalty(a, its delta), whatever of that it used: what was left when it ended depends on what it had seen. Such runs
 * make the total
 *   Σ fixed times(laps) r(order) + Σ rho + penalty(order, delta),  order the smallest of their orders. */
struct dp_ledger_sum {
    struct dp_charges all;   /* to be shown */
    struct dp_charges fixed; /* those of runs without a filter */
    double order, rho;       /* order: 0 while there is no filter */
};

/* Adds what the run has spent: of a run with one event and no filter at most `most` laps. */
int dp_ledger_sum_add(struct dp_ledger_sum *sum, const struct dp_ledger_entry *entry, int64_t most, struct dp_err *err);
void dp_ledger_sum_free(struct dp_ledger_sum *sum);

/* The epsilon at delta: by hooks->epsilon; by accountant "filter" where there was one (lower: 0); 0 by "none" for
   nothing. */
int dp_ledger_sum_epsilon(const struct dp_ledger_sum *sum, const struct dp_ledger_hooks *hooks, double delta,
                          double *upper, double *lower, const char **accountant, struct dp_err *err);

/* Σ times(laps) r(order) of the charges, rounded up. */
int dp_ledger_rdp(const struct dp_ledger_hooks *hooks, const struct dp_charges *charges, double order, double *rho,
                  struct dp_err *err);

/* Adds what the run has spent to a list. */
int dp_ledger_add_spent(const struct dp_ledger_entry *entry, struct dp_charges *charges, struct dp_err *err);

/* An array of charges, and a number that may be infinite ("Infinity"); NULL when memory is short. */
json_t *dp_ledger_charges_json(const struct dp_charges *charges);
json_t *dp_ledger_real_json(double value);

/* Opens a ledger that must be a regular file and not a link; flags as of open(2). Returns the descriptor or a negative
   status. */
int dp_ledger_open_file(const char *path, int flags, struct dp_err *err);

/* Takes what the file holds beyond book->end. The caller has the lock. */
int dp_ledger_book_fill(struct dp_ledger_book *book, int fd, struct dp_err *err);

/* flock(2) that goes on after signals. */
int dp_ledger_lock(int fd, int operation, const char *path, struct dp_err *err);

/* The text of a line with line feed: `members` (stolen) with seq and prev before and the hash behind them. *text is the
   caller's to free; hash: DP_LEDGER_HASH + 1 bytes. */
int dp_ledger_line(json_t *members, size_t seq, const char *prev, char **text, size_t *length, char *hash,
                   struct dp_err *err);

#endif
