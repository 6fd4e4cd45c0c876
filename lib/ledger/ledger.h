/* The ledger: the privacy cost of all runs on private data, in an append-only file (dp-ledger(5)). * One JSON object per line,
 * each with the hash of the line before it. * A run is charged once. Before its first lap one append, written and fsynced, opens
 * it and reserves its whole plan, or under a filter its order and whole budget. The line that closes it says what it has used.
 * No lap writes to the ledger, so a run that was killed has spent its plan, or its budget. Several processes
 * may write to one ledger at the same time; each append is under an exclusive lock (flock). * The next reader of the ledger
 * detects a line that was changed, removed or inserted (DP_E_UNSAFE). Whole lines missing at the end are detected by a run that
 * is writing, and with any mark (dp_ledger_mark) of a later state. A last line without its line feed was never finished:
 * nothing that it would have paid for was released, so readers ignore it and the next writer removes it. * FILE.mark, next to
 * the file, has the mark of the last line that opened or closed a run or set a budget. A ledger without that line is an older
 * copy, and is refused. * A population is the name of the people whose rows a data set has. Costs are summed over all runs on a
 * population, whatever the digest of the data set. A budget of a population holds for all its runs together, even if a run was
 * planned after the results of another (ledger/limit.h). * [FZ] Feldman, Zrnic, Individual Privacy Accounting via a Rényi
 * Filter (2021). [CKS] Canonne, Kamath, Steinke, The Discrete Gaussian for Differential Privacy (2020). */
#pragma once

#include "base/err.h"
#include "account/account.h"
#include "account/plan.h"

struct dp_ledger;

#define DP_LEDGER_FORMAT 3 /* the format that this version writes, and the newest that it reads */
#define DP_LEDGER_HASH 64  /* hexadecimal digits of a line's hash */
#define DP_LEDGER_RUN 32   /* hexadecimal digits of a run's name */
#define DP_LEDGER_MARK 128 /* bytes that hold any mark and its NUL */
#define DP_LEDGER_ORDERS 8 /* the most orders of a budget */

/* The budget that a schema and a later run have as one composition; epsilon 0: there is no such run. */
struct dp_ledger_later {
    double epsilon, delta;
    double multiplier; /* of one Gaussian that costs this budget */
};

/* The released model that a run starts from. */
struct dp_ledger_init {
    const char *mark;      /* or NULL */
    const char *model;     /* a digest of its weights, or NULL if unknown */
    int64_t lap;           /* lap of that model */
    double epsilon, delta; /* the cost that a model without a mark states; else 0 */
    bool elsewhere;        /* that cost is of another population */
};

/* Facts about a run that are known when it starts. Strings are UTF-8 and are copied. */
struct dp_ledger_run {
    const char *data;       /* the digest that names the data set */
    const char *population; /* the people whose rows they are; NULL or "": the digest is used instead */
    const char *unit;       /* unit of privacy (base/unit.h); NULL: one row is taken for one person */
    int64_t rows;           /* its public number of rows, or of persons */
    const char *adjacency;  /* "null-record" or "replace-one" */
    double epsilon, delta;  /* the run's own budget */
    bool seeded;
    const char *preprocessing; /* the measurements on private rows that scaled them; NULL or "": none */
    const char *public_start;  /* the digest of the public model the run starts from, or NULL */
    const char *exact_of;      /* the populations whose rows the model shows without noise (lines), or NULL */
    struct dp_ledger_init init;
    double order;        /* 0: every lap was fixed before the run. Otherwise later laps depend on released values, under a
                          * filter at this Rényi order, and the run costs its whole budget */
    int64_t time;        /* seconds since 1970, 0 for unknown; nothing in the library reads the clock */
    const char *resumes; /* the mark of the checkpoint that the run is resumed from, or NULL */
    const struct dp_charges *base; /* what dp_ledger_resumed said then: the ledger must still say so. NULL: not compared */
    bool earlier;               /* it may be any of its checkpoints, and repeatedly: a gather decides where the run continues */
    int64_t laps;               /* planned laps, 0 if unknown */
    int64_t done;               /* laps up to the checkpoint that it is resumed from */
    const struct dp_plan *plan; /* what these laps are; may be NULL where laps is 0 */
    const struct dp_charges *with; /* NULL, or what the schema of the data set has cost, from `init` on: with the plan it is one
                                    * composition, which epsilon and delta are for (dp_ledger_book_join) */
    const struct dp_charges *charges; /* or the whole plan, which is admitted as one piece */
    struct dp_ledger_later later;     /* if only addition has room for that run, too, this one chooses addition */
    bool partial;                     /* the run may begin even if the population's budget does not cover all its laps */
};

/* Opens the ledger (and creates it, mode 0600), checks every line, and appends and fsyncs the lines that open a new run and
 * reserve its plan: as many laps as the budgets of the population afford (dp_ledger_affords). The caller closes or frees it.
 * DP_E_RUN: it is not a regular file, or cannot be read, written or fsynced. DP_E_UNSAFE: it was edited; or it does not have
 * the line of the mark `init` or of FILE.mark, so it was rolled back or is another ledger; or the run cannot be resumed; or the
 * population has a budget under another adjacency, or one that does not cover the run's laps (unless partial) or its filter.
 * DP_E_BUDGET: the budget does not cover run->charges. Then no line was written. */
int dp_ledger_open(struct dp_ledger **ledger, const char *path, const struct dp_ledger_run *run, struct dp_err *err);

/* A release of another tool, as that tool states it: nothing here shows it. */
struct dp_ledger_statement {
    const char *what;        /* in words; not empty */
    struct dp_query release; /* pure, stated or zcdp */
    enum dp_accountant by;   /* the accountant of the run's epsilon at its delta */
};

/* Writes a statement, fsynced: a run that has ended, of which data, population, unit, rows, adjacency, epsilon, delta (here 0 if
 * the release is pure) and time count. It is written even if a budget does not cover it, because it has been released: `over`
 * then says so, else it is "". The caller frees the ledger. DP_E_RUN: these people have a release by this name already. Other
 * errors as dp_ledger_open. */
int dp_ledger_state(struct dp_ledger **ledger, const char *path, const struct dp_ledger_run *run,
                    const struct dp_ledger_statement *statement, char over[DP_ERR_MESSAGE_SIZE], struct dp_err *err);

/* For a program whose run has neither a plan nor a filter: pays for laps of the event, all or, with DP_E_BUDGET, none. They are
 * in the file and fsynced when this returns DP_OK, and may be released. DP_E_UNSAFE: the file was edited, cut or replaced since
 * it was opened; or the event would share a shuffled epoch with another one of the run (dp_event_may_follow). DP_E_RUN: writing
 * failed. After any failure but DP_E_BUDGET the run can reserve nothing more. */
int dp_ledger_reserve(struct dp_ledger *ledger, const struct dp_event *event, int64_t laps, struct dp_err *err);

/* The number of laps of a partial run that the budget covered when the run was opened: its plan has no more. INT64_MAX if the
 * budget covers all, if there is no budget, or if the laps are unknown. */
int64_t dp_ledger_affords(const struct dp_ledger *ledger);

/* Fails with DP_E_BUDGET, and names the budget that affords no further lap. */
int dp_ledger_spent(const struct dp_ledger *ledger, struct dp_err *err);

/* The cost that readers would state if the run ended now, with these laps used and that status. */
int dp_ledger_cost(const struct dp_ledger *ledger, const struct dp_charges *used, const char *status, struct dp_answer *cost,
                   struct dp_err *err);

/* The cost of the initial model: the epsilons and deltas of the run that released it and of the runs before it, added up, with
 * the costs that models without a mark stated. 0 if the run starts from no mark. */
int dp_ledger_prior(const struct dp_ledger *ledger, double *epsilon, double *delta, struct dp_err *err);

/* Writes a checkpoint of a run that has used these laps. until: at most this will have been released before there is another
 * line of the run. NULL: perhaps all of the plan will be; the line of a run with a plan is then not a checkpoint. The
 * mark of the checkpoint is dp_ledger_mark. Errors as dp_ledger_close. */
int dp_ledger_checkpoint(struct dp_ledger *ledger, const struct dp_charges *used, const struct dp_charges *until,
                         struct dp_err *err);

/* Before a run is resumed from the checkpoint of that mark: adds the laps used there to *used, and all that may have been
 * released, with their whole epochs, to *base. The laps in the difference had other noise than the coming laps, which are
 * reserved in addition. earlier: as in dp_ledger_run. Errors as dp_ledger_open. */
int dp_ledger_resumed(const char *path, const char *mark, bool earlier, struct dp_charges *used, struct dp_charges *base,
                      struct dp_err *err);

/* "run:seq:hash" of the run's last line: public; released models carry it. Valid until the next call. */
const char *dp_ledger_mark(const struct dp_ledger *ledger);

/* The run's name, 32 hexadecimal digits. */
const char *dp_ledger_run_id(const struct dp_ledger *ledger);

struct dp_ledger_end {
    const struct dp_charges *used; /* the released laps by event; without a filter not more than were reserved */
    double epsilon, delta;         /* the cost that the run states */
    const char *accountant;        /* the accountant of that cost */
    const char *status;            /* "done"; "budget" if the budget ended it; "interrupted" if a signal did */
    const char *model;             /* a digest of the last released model, or NULL: the ledger is bound to no model */
    int64_t model_lap;             /* lap of that model */
};

/* Ends a run properly: writes what it has used, fsynced. No lap may be released afterwards.
 * DP_E_RUN and DP_E_UNSAFE as above; DP_E_UNSAFE, too, if epsilon differs from what every reader of the ledger computes for the
 * run (dp_ledger_run_check in ledger/sum.h). Then all that was reserved stays spent. */
int dp_ledger_close(struct dp_ledger *ledger, const struct dp_ledger_end *end, struct dp_err *err);

/* Without dp_ledger_close before, all that was reserved stays spent. */
void dp_ledger_free(struct dp_ledger *ledger);

struct dp_ledger_order {
    double order, delta;
};

/* The cost of runs: epsilons and deltas added up. */
struct dp_ledger_before {
    size_t runs;
    double epsilon, delta;
    bool again, used; /* there is a budget already; runs have spent some of it */
};

/* A limit for all runs on a population together (ledger/limit.h). It is set before the first run; or later, if after_runs is
 * set and every run has ended: then it begins with the cost of these runs, their epsilons and deltas added up, in this ledger
 * and elsewhere. An unused budget may be replaced. A used one may only get a lower epsilon, and `order` is set to its orders.
 * The part of delta that the orders leave is for adding up runs; without orders, this is all of delta. DP_E_UNSAFE: such a
 * change is not allowed. DP_E_RUN: no order has any room. */
struct dp_ledger_budget {
    const char *population, *data; /* data: the digest of a data set of that population, or NULL */
    const char *adjacency;
    double epsilon, delta;
    struct dp_ledger_order order[DP_LEDGER_ORDERS]; /* each order > 1; delta: its share; shares add up to at most 1 */
    size_t orders;
    bool after_runs;
    struct dp_ledger_before elsewhere; /* cost of the population's runs that are not in this ledger */
};

/* The cost of all runs on a population so far, sound even if a run was chosen after the results of another: epsilons and deltas
 * are added, and a run that may continue counts with its whole budget. A budget that is set after these runs begins with this
 * cost. Without runs, or without a file, the cost is 0; a budget that is set again begins with the same cost as before. Errors
 * as dp_ledger_check_mark; DP_E_UNSAFE: a run has another adjacency, or was kept within what a paper claims and may continue. */
int dp_ledger_cost_before(const char *path, const struct dp_ledger_budget *budget, struct dp_ledger_before *before,
                          struct dp_err *err);

int dp_ledger_set_budget(const char *path, struct dp_ledger_budget *budget, struct dp_err *err);

/* Checks that the ledger is intact and has the line of that mark and of FILE.mark. DP_E_UNSAFE: it was edited,
 * or lacks a line, because it is an old copy or another ledger. DP_E_RUN: not a mark, or the file cannot be
 * read. */
int dp_ledger_check_mark(const char *path, const char *mark, struct dp_err *err);
