/* What a ledger says: its lines checked and added up. For the ledger's writer (ledger/ledger.h), reports and
 * certificates. */
#ifndef DP_LEDGER_BOOK_H
#define DP_LEDGER_BOOK_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "account/event.h"
#include "ledger/ledger.h"

/* Laps of one event in one run. Spent: reserved − refunded. */
struct dp_ledger_laps {
    struct dp_event event;
    int64_t reserved, used, refunded; /* used: 0 until the run ends properly */
    bool given;                       /* refunded since the last checkpoint */
    int64_t at_checkpoint, at_before; /* laps used at the newest checkpoint, and at the one before it */
    int64_t least;                    /* laps that a resumed run had paid for by then: they may be out, and stay spent */
};

/* A name that a run has had: its own, and one for each time it was resumed. */
struct dp_ledger_opening {
    json_t *line;
    const char *run;
    size_t first, last; /* seq of its first and last line */
};

/* A run, from its first lap to its last, resumed or not. Strings belong to the JSON of its lines. */
struct dp_ledger_entry {
    struct dp_ledger_opening *opening;
    size_t openings, openings_capacity;
    json_t *close;   /* the close line; NULL before it, and after the run was resumed */
    const char *run; /* the newest of its names */
    const char *data, *population, *adjacency, *preprocessing, *software;
    const char *init; /* a mark, or NULL */
    const char *unit; /* base/unit.h; NULL: a row */
    int64_t rows, time;
    double epsilon, delta, prior_epsilon, prior_delta, order;
    int seeded, as_published; /* JSON booleans */
    int addition;             /* the same: it chose that budgets of which nothing had been spent go by addition alone */
    struct dp_ledger_laps *event;
    size_t events, capacity;
    struct dp_charges plan; /* what it will have spent in the end, as it was known before its laps; empty where it was not */
    size_t checkpoint;      /* seq of the newest line that it can be resumed from, 0 for none */
    size_t before;  /* the one before, while nothing was reserved since the newest: its files may never have been finished */
    size_t who;     /* of its population, for dp_ledger_book_root */
    size_t covered; /* 1 + the limit that its cost was taken from when that was set; 0: none */
    /* of its close line */
    const char *accountant, *status;
    int64_t laps;
    double closed_epsilon, closed_delta;
    const char *model; /* the digest of the last model that it released, or NULL */
    int64_t model_lap; /* whose lap that is */
};

/* A budget as it stands now, by the law of ledger/limit.h. */
struct dp_ledger_limit {
    json_t *lines; /* an array: the first one, and those that replaced or lowered it */
    const char *population, *adjacency;
    double epsilon, delta, before_epsilon, before_delta;
    struct dp_ledger_order order[DP_LEDGER_ORDERS];
    size_t orders, who;
    bool addition; /* it goes by addition alone */
};

/* A name of a population or digest of a data set. Those that one run has are the same people's. */
struct dp_ledger_name {
    const char *name;
    size_t same; /* another name of theirs, nearer to the root; itself at the root */
};

/* The caller starts it zeroed and frees it. */
struct dp_ledger_book {
    const char *path; /* for messages; the caller's */
    size_t most;      /* only that many lines count, the others are checked but not added up; 0 for all */
    int64_t format;   /* that the lines state; 0 for none, as 0.1 wrote them */
    size_t lines, lines_capacity;
    char (*hash)[DP_LEDGER_HASH + 1]; /* of line seq at seq − 1 */
    size_t end, last_length;          /* bytes of the lines, and of the last one of them */
    bool torn;                        /* an unfinished line follows */
    struct dp_ledger_entry *entry;
    size_t entries, entries_capacity;
    struct dp_ledger_limit *limit;
    size_t limits, limits_capacity;
    struct dp_ledger_name *name;
    size_t names, names_capacity;
};

/* Takes the lines that stand at byte book->end of the file. DP_E_UNSAFE: a line is not what was written, or does not
   follow the lines before it. Sets torn. */
int dp_ledger_book_take(struct dp_ledger_book *book, const char *bytes, size_t length, struct dp_err *err);

/* Reads the whole file under a shared lock, and checks that it holds the mark beside it. Errors as dp_ledger_check_mark. */
int dp_ledger_book_read(struct dp_ledger_book *book, const char *path, struct dp_err *err);
void dp_ledger_book_free(struct dp_ledger_book *book);

/* What the next line has as `prev`: the hash of the last one, 64 zeros where there is none. */
const char *dp_ledger_book_hash(const struct dp_ledger_book *book);

/* The run that has that name now; NULL when there is none. */
struct dp_ledger_entry *dp_ledger_book_find(const struct dp_ledger_book *book, const char *run);

/* Whether a run has had that name. */
bool dp_ledger_book_opened(const struct dp_ledger_book *book, const char *run);

/* Adds to *before what a run has cost at most, whatever follows: one that may go on counts with its own budget. DP_E_UNSAFE: it
   is under another adjacency, or is charged as published and may go on. */
int dp_ledger_entry_cost(const struct dp_ledger_book *book, const struct dp_ledger_entry *entry, const char *adjacency,
                         struct dp_ledger_before *before, struct dp_err *err);
void dp_ledger_before_add(struct dp_ledger_before *before, double epsilon, double delta); /* one run more, rounded up */

/* The same number for all names of the same people; SIZE_MAX for a name that is not in the book. */
size_t dp_ledger_book_who(const struct dp_ledger_book *book, const char *name);
size_t dp_ledger_book_root(const struct dp_ledger_book *book, size_t who);

/* The first limit from *from on that binds runs on the population or on the data set of that digest, or NULL; *from is set
   behind it. */
const struct dp_ledger_limit *dp_ledger_book_limit(const struct dp_ledger_book *book, const char *population, const char *data,
                                                   size_t *from);

/* The parts of a mark. DP_E_RUN: it is none. */
struct dp_ledger_place {
    char run[DP_LEDGER_RUN + 1], hash[DP_LEDGER_HASH + 1];
    unsigned long long seq;
};
int dp_ledger_place_read(const char *text, struct dp_ledger_place *mark, struct dp_err *err);

/* Whether the book has the line of a mark, whosever it is. */
bool dp_ledger_book_has(const struct dp_ledger_book *book, const struct dp_ledger_place *mark);

/* The run that a mark names, at its state or a later one. DP_E_RUN: not a mark. DP_E_UNSAFE: not in this book. */
int dp_ledger_book_mark(const struct dp_ledger_book *book, const char *mark, struct dp_ledger_entry **entry,
                        struct dp_err *err);

/* The run that the model came from that this run started from, NULL where there is none. */
const struct dp_ledger_entry *dp_ledger_book_parent(const struct dp_ledger_book *book, const struct dp_ledger_entry *entry);

/* Whether a model with that mark and lap is the one that its run released, by a digest of its weights. *bound (may be NULL): the
   ledger has the digest of this lap; it has that of a run's last model alone. DP_E_UNSAFE: it has another one. Other errors as
   dp_ledger_book_mark. */
int dp_ledger_book_model(const struct dp_ledger_book *book, const char *mark, int64_t lap, const char *digest, bool *bound,
                         struct dp_err *err);

/* The run that can be resumed from the checkpoint of that mark: its newest, or the one before while nothing was reserved since;
   or with `any` whatever line of the run, which then counts as a checkpoint at which nothing was used. DP_E_UNSAFE: none can,
   and why. */
int dp_ledger_book_checkpoint(const struct dp_ledger_book *book, const char *mark, bool any, struct dp_ledger_entry **entry,
                              struct dp_err *err);

/* Whether two open lines say the same of their runs, but for name, software, time and what they start from. */
bool dp_ledger_same_run(const struct dp_ledger_entry *a, const struct dp_ledger_entry *b);

/* laps reserved and not given back */
int64_t dp_ledger_laps_spent(const struct dp_ledger_laps *laps);

/* Opens a ledger that must be a regular file and not a link; flags as of open(2). Returns the descriptor or a negative
   status. */
int dp_ledger_open_file(const char *path, int flags, struct dp_err *err);

/* Takes what the file holds beyond book->end. The caller has the lock. */
int dp_ledger_book_fill(struct dp_ledger_book *book, int fd, struct dp_err *err);

/* PATH.mark holds the mark of the last line that opened or closed a run. Under the lock. DP_E_UNSAFE: the book does not
   hold that mark: the file is an older copy, or another ledger. */
int dp_ledger_beside_check(const struct dp_ledger_book *book, const char *path, struct dp_err *err);
int dp_ledger_beside_write(const char *path, const char *mark, struct dp_err *err);
int dp_ledger_sync_directory(const char *path, struct dp_err *err);

/* flock(2) that goes on after signals. */
int dp_ledger_lock(int fd, int operation, const char *path, struct dp_err *err);

/* The text of a line with line feed: `members` (stolen) with seq and prev before and the hash behind them. *text is the
   caller's to free; hash: DP_LEDGER_HASH + 1 bytes. */
int dp_ledger_line(json_t *members, size_t seq, const char *prev, char **text, size_t *length, char *hash, struct dp_err *err);

#endif
