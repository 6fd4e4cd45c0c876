/* The content of a ledger: its lines, checked and added up. The ledger's writer (ledger/ledger.h), reports and certificates use
 * it. */
#pragma once

#include <jansson.h>

#include "base/err.h"
#include "account/event.h"
#include "ledger/ledger.h"

/* The hash before the first line. */
#define DP_LEDGER_ORIGIN "0000000000000000000000000000000000000000000000000000000000000000"

/* A line from which a run can be resumed, and the laps that it had used there. */
struct dp_ledger_point {
    size_t seq; /* 0: none */
    struct dp_charges used;
};

/* A name of a run: its first name, and one for each time it was resumed. */
struct dp_ledger_opening {
    json_t *line;
    const char *run;
    size_t first, last; /* seq of its first and last line */
};

struct dp_ledger_opened {
    struct dp_ledger_opening *list;
    size_t count, capacity;
};

/* The people of a run. Strings belong to the JSON of its lines, here and below. */
struct dp_ledger_people {
    const char *data, *population, *adjacency;
    const char *unit;          /* base/unit.h; NULL: a row */
    const char *preprocessing; /* private parts of it, in words */
    json_int_t rows;
    size_t who; /* number of its population, see dp_ledger_book_root */
};

/* The model that a run starts from. */
struct dp_ledger_start {
    const char *init; /* a mark, or NULL */
    const char *public_start;
    double epsilon, delta; /* its cost, if no line of a ledger has it */
};

/* The place from which a run can be resumed. */
struct dp_ledger_stops {
    struct dp_ledger_point newest, before; /* its newest checkpoint; the one before, in case the newest files are incomplete */
    bool bounded;                          /* at most `until` is released before there is another checkpoint */
    struct dp_charges until;
    struct dp_charges out; /* a resumed run: what may have been released before; stays paid */
};

/* The close line of a run. */
struct dp_ledger_closing {
    const char *accountant, *status;
    json_int_t laps;
    double epsilon, delta;
    const char *model;    /* the digest of the last model that it released, or NULL */
    json_int_t model_lap; /* lap of that model */
};

/* A run, from its first lap to its last, with all its resumptions. */
struct dp_ledger_entry {
    struct dp_ledger_opened opened;
    json_t *close;   /* the close line; NULL if the run is open, also after it was resumed */
    const char *run; /* its newest name */
    const char *software;
    const char *stated; /* the release of another tool, in words, where the line only has its statement; else NULL */
    struct dp_ledger_people of;
    struct dp_ledger_start start;
    struct dp_ledger_stops stops;
    struct dp_ledger_closing closed;
    json_int_t time;
    double epsilon; /* its budget; infinite for a run of version 0.1 within what a paper claims, which bounds nothing */
    double delta, order;
    int seeded;                /* a JSON boolean */
    int addition;              /* also one: the run chose that unused budgets count only by addition */
    int with_schema;           /* also one: its plan has what the schema of its data set has cost, see dp_ledger_book_join */
    struct dp_charges plan;    /* the planned cost of the whole run, known before its laps; empty if unknown. After it
                                              was resumed, the most of its plans */
    struct dp_charges paid;    /* what it has reserved; after its end, what it has used */
    bool planned;              /* since it was opened or resumed, it has reserved its plan */
    bool holds;                /* it has a filter and no close line: it has reserved its whole budget */
    struct dp_ledger_old *old; /* lines of format 2 (ledger/old.h), or NULL */
    bool whole;                /* with_schema, and its plan was found to have that cost */
    size_t within;             /* 1 + number of the run with `whole` that has its charges, where sums count them; 0: none */
    size_t covered;            /* 1 + number of the limit that was set after this run, and began with its cost; 0: none */
};

/* The present state of a budget, see ledger/limit.h. */
struct dp_ledger_limit {
    json_t *lines; /* an array: its first line, and the lines that replaced or lowered it */
    const char *population, *adjacency;
    double epsilon, delta, before_epsilon, before_delta;
    struct dp_ledger_order order[DP_LEDGER_ORDERS];
    size_t orders, who;
    bool addition; /* it counts only by addition */
};

/* A name of a population or a digest of a data set. Names that one run has belong to the same people. */
struct dp_ledger_name {
    const char *name;
    size_t same; /* another name of the same people, nearer to the root; the root has its own number */
};

/* The caller starts it zeroed and frees it. */
struct dp_ledger_book {
    const char *path; /* for messages; the caller's */
    size_t most;      /* number of lines that count; the others are checked but not added up; 0 for all lines */
    int64_t format;   /* format that the lines state; 0: none, as in version 0.1 */
    size_t lines, lines_capacity;
    char (*hash)[DP_LEDGER_HASH + 1]; /* hash of line seq at index seq − 1 */
    size_t end, last_length;          /* bytes of all lines, and of the last line */
    bool torn;                        /* an unfinished line follows */
    struct dp_ledger_entry *entry;
    size_t entries, entries_capacity;
    struct dp_ledger_limit *limit;
    size_t limits, limits_capacity;
    struct dp_ledger_name *name;
    size_t names, names_capacity;
};

/* Takes the lines that begin at byte book->end of the file. DP_E_UNSAFE: a line was changed, or does not follow the lines
 * before it. Sets torn. */
int dp_ledger_book_take(struct dp_ledger_book *book, const char *bytes, size_t length, struct dp_err *err);

/* Reads the whole file under a shared lock, and checks that it has the line of FILE.mark. Errors as dp_ledger_check_mark. */
int dp_ledger_book_read(struct dp_ledger_book *book, const char *path, struct dp_err *err);
void dp_ledger_book_free(struct dp_ledger_book *book);

/* The value of `prev` for the next line: the hash of the last line; 64 zeros if there is no line. */
const char *dp_ledger_book_hash(const struct dp_ledger_book *book);

/* The run whose newest name this is, or NULL. */
struct dp_ledger_entry *dp_ledger_book_find(const struct dp_ledger_book *book, const char *run);

/* dp_ledger_book_join(book, entry, charges): the epsilon and delta of this run are for one composition of its own laps and of
 * the runs before it, a schema and knots. Its charges must have all of theirs. All must be Gaussians without sampling, or
 * thresholds: then later multipliers may depend on released values, because the sum of mu^2 was fixed before the first
 * (dp-privacy(7)). Sets entry->whole, and `within` of the runs before it, which the first such run keeps. Returns NULL, or a
 * sentence that says why not. */
const char *dp_ledger_book_join(struct dp_ledger_book *book, struct dp_ledger_entry *entry, const struct dp_charges *charges);

/* Whether the event has a delta of its own for names, as a schema has, and no lap of a run. */
bool dp_ledger_names(const struct dp_event *event);

/* Whether it has ended by itself, after all laps of its plan: nothing that it released had decided when. */
bool dp_ledger_entry_ended(const struct dp_ledger_entry *entry);

bool dp_ledger_book_opened(const struct dp_ledger_book *book, const char *run);

/* Adds to *before the most that a run has cost or will cost: a run that may continue counts with its own budget. DP_E_UNSAFE:
 * the run has another adjacency, or no bound and may continue. */
int dp_ledger_entry_cost(const struct dp_ledger_book *book, const struct dp_ledger_entry *entry, const char *adjacency,
                         struct dp_ledger_before *before, struct dp_err *err);
void dp_ledger_before_add(struct dp_ledger_before *before, double epsilon, double delta); /* adds one run, rounded up */

/* The same number for all names of the same people; SIZE_MAX for a name that is not in the book. */
size_t dp_ledger_book_who(const struct dp_ledger_book *book, const char *name);
size_t dp_ledger_book_root(const struct dp_ledger_book *book, size_t who);

/* The first limit from *from on that binds runs on the population or on the data set of that digest, or NULL; *from is set to
 * the next one. */
const struct dp_ledger_limit *dp_ledger_book_limit(const struct dp_ledger_book *book, const char *population, const char *data,
                                                   size_t *from);

/* Splits a mark into its parts. DP_E_RUN: the text is not a mark. */
struct dp_ledger_place {
    char run[DP_LEDGER_RUN + 1], hash[DP_LEDGER_HASH + 1];
    unsigned long long seq;
};
int dp_ledger_place_read(const char *text, struct dp_ledger_place *mark, struct dp_err *err);

/* Whether the book has the line of a mark, of any run. */
bool dp_ledger_book_has(const struct dp_ledger_book *book, const struct dp_ledger_place *mark);

/* The run that a mark names, at that state or a later one. DP_E_RUN: not a mark. DP_E_UNSAFE: not in this book. */
int dp_ledger_book_mark(const struct dp_ledger_book *book, const char *mark, struct dp_ledger_entry **entry,
                        struct dp_err *err);

/* The run that released the initial model of this run, or NULL. */
const struct dp_ledger_entry *dp_ledger_book_parent(const struct dp_ledger_book *book, const struct dp_ledger_entry *entry);

/* Compares the digest of a model's weights with the model that its run released at that lap. *bound (may be NULL): the ledger
 * has a digest for this lap; it has one only for the last model of a run. DP_E_UNSAFE: the ledger has another digest. Other
 * errors as dp_ledger_book_mark. */
int dp_ledger_book_model(const struct dp_ledger_book *book, const char *mark, int64_t lap, const char *digest, bool *bound,
                         struct dp_err *err);

/* The run that can be resumed from the checkpoint of that mark: its newest checkpoint, or the checkpoint before it. With `any`,
 * any line of the run; a line without a checkpoint then counts as a checkpoint at which nothing was used. DP_E_UNSAFE: no run
 * can be resumed; the message says why. */
int dp_ledger_book_checkpoint(const struct dp_ledger_book *book, const char *mark, bool any, struct dp_ledger_entry **entry,
                              struct dp_err *err);

/* Sets entry->out to all that may have been released so far, and the newest checkpoint to the one at line seq, from which the
 * run continues. False: too many laps. */
bool dp_ledger_entry_resume(struct dp_ledger_entry *entry, size_t seq);

/* Adds the laps that a resumed run has used when it continues: all that may have been released. If laps after its checkpoint may
 * have been, the shuffled epochs of such laps are whole: laps of another permutation cannot fill them. */
int dp_ledger_entry_base(const struct dp_ledger_entry *entry, struct dp_charges *base, struct dp_err *err);

/* Whether two open lines agree in everything but name, software, time and initial model. */
bool dp_ledger_same_run(const struct dp_ledger_entry *a, const struct dp_ledger_entry *b);

/* All laps that the run has paid for. */
int64_t dp_ledger_entry_laps(const struct dp_ledger_entry *entry);

/* Whether the run counts in budgets: it has paid for a lap, or holds its budget. */
bool dp_ledger_entry_spent(const struct dp_ledger_entry *entry);

/* Opens a ledger, which must be a regular file and not a link; flags as for open(2). Returns the descriptor or a negative
 * status. */
int dp_ledger_open_file(const char *path, int flags, struct dp_err *err);

/* Takes the bytes of the file beyond book->end. The caller holds the lock. */
int dp_ledger_book_fill(struct dp_ledger_book *book, int fd, struct dp_err *err);

/* PATH.mark has the mark of the last line that opened or closed a run. Call under the lock. DP_E_UNSAFE: the book does not have
 * that line: the file is an older copy, or another ledger; or the mark is gone, and the book has lines of a format that has
 * one. */
int dp_ledger_beside_check(const struct dp_ledger_book *book, const char *path, struct dp_err *err);
int dp_ledger_beside_write(const char *path, const char *mark, struct dp_err *err);

/* Before the first line of a ledger that has no mark yet, so that no death leaves lines without one: writes the mark of the
 * book's last line, or of the beginning. */
int dp_ledger_beside_begin(const struct dp_ledger_book *book, const char *path, struct dp_err *err);

/* flock(2), repeated after signals. */
int dp_ledger_lock(int fd, int operation, const char *path, struct dp_err *err);

/* The text of a line with its line feed: seq and prev, then `members` (stolen), then the hash. The caller frees *text. hash:
 * DP_LEDGER_HASH + 1 bytes. */
int dp_ledger_line(json_t *members, size_t seq, const char *prev, char **text, size_t *length, char *hash, struct dp_err *err);

/* True if spending of the run counts against the limit: it is on the same population, and its cost is not already part of
 * `before`. */
bool dp_ledger_limit_binds(const struct dp_ledger_book *book, const struct dp_ledger_limit *limit,
                           const struct dp_ledger_entry *entry);

/* Whether the runs on the limit's population, with the runs that it began with, protect persons with several rows (1) or rows
 * (0): the two kinds of costs cannot be added. −1: there are no runs yet. */
int dp_ledger_limit_persons(const struct dp_ledger_book *book, const struct dp_ledger_limit *limit);

/* Whether no run that the limit binds has spent anything. */
bool dp_ledger_limit_unused(const struct dp_ledger_book *book, const struct dp_ledger_limit *limit);
