/* The ledger: what has been spent on private data, in a file that is only ever appended to (dp-ledger(5)).
 *
 * One JSON object per line, each with the hash of the line before it. Laps are reserved, written and fsynced before
 * the frames they pay for leave; what a run has spent is what it reserved, less what it gave back when it ended
 * properly. Several processes may write to one ledger at the same time, each under an exclusive lock (flock) that is
 * held for one append.
 *
 * Who changes a line, takes one out or puts one in is noticed by whoever reads the ledger next (DP_E_UNSAFE). Whole
 * lines missing at the end are noticed by a run that is writing, and by whoever holds a mark (dp_ledger_mark) of a
 * later state. A last line without its line feed was never finished: what it would have paid for has not left, so it
 * is left out by readers and cut off by the next writer.
 *
 * Beside the file stands FILE.mark with the mark of the last line that opened or closed a run or set a budget. A ledger
 * that does not hold that line is an older copy, and is refused.
 *
 * Whose rows they are is a name, the population; what was spent is summed over all runs on it, whatever the digest of the
 * data set. A budget of a population holds for all its runs together, whatever one run was told by the results of another
 * (ledger/limit.h).
 *
 * [FZ] Feldman, Zrnic, Individual Privacy Accounting via a Rényi Filter (2021).
 * [CKS] Canonne, Kamath, Steinke, The Discrete Gaussian for Differential Privacy (2020). */
#ifndef DP_LEDGER_LEDGER_H
#define DP_LEDGER_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "account/plan.h"

struct dp_ledger;

#define DP_LEDGER_FORMAT 2 /* what this version writes, and the newest that it reads */
#define DP_LEDGER_HASH 64  /* hexadecimal digits of a line's hash */
#define DP_LEDGER_RUN 32   /* hexadecimal digits of a run's name */
#define DP_LEDGER_MARK 128 /* bytes that hold any mark and its NUL */
#define DP_LEDGER_ORDERS 8 /* of a budget, at most */

/* What is known of a run when it starts. Strings are UTF-8 and are copied. */
struct dp_ledger_run {
    const char *data;       /* the digest that names the data set */
    const char *population; /* whose rows they are; NULL or "": the digest stands for it */
    const char *unit;       /* whose rows together are protected (base/unit.h); NULL: one row is taken for one person */
    int64_t rows;           /* its public number of rows, or of persons */
    const char *adjacency;  /* "null-record" or "replace-one" */
    double epsilon, delta;  /* the run's own budget */
    bool seeded, as_published;
    const char *preprocessing;         /* what was measured on private rows to scale them; NULL or "" for nothing */
    const char *init;                  /* the mark of the released model the run starts from, or NULL */
    const char *init_model;            /* a digest of that model's weights, or NULL where that is not known */
    int64_t init_lap;                  /* and its lap */
    double prior_epsilon, prior_delta; /* what such a model without a mark has cost; else 0 */
    bool elsewhere;                    /* and other people's rows, not the population's */
    double order;        /* 0: what each lap does was fixed before the run. Else later laps were chosen by what earlier ones
                            released, under a filter at this Rényi order, and what the run has cost is its whole budget */
    int64_t time;        /* seconds since 1970, 0 for unknown; nothing in the library reads the clock */
    const char *resumes; /* the mark of the checkpoint that the run goes on from, or NULL */
    bool earlier;        /* which may be any of its checkpoints, and more than once: others decide where the run goes on */
    int64_t laps;        /* that the run will have, 0 where that is not known */
    const struct dp_plan *plan; /* what these laps are; may be NULL where laps is 0 */
    bool partial;               /* it may begin although the budget of the population does not afford all of them */
};

/* Opens the ledger (and creates it, mode 0600), checks every line, and appends and fsyncs the line that opens a new
 * run. The caller closes or frees it.
 * DP_E_RUN: it is not a regular file, or cannot be read, written or fsynced. DP_E_UNSAFE: it was edited; or it does not
 * hold the mark `init` or the one beside it, and so was rolled back or is another one; or the run cannot be resumed; or the
 * population has a budget under another adjacency, or one that does not afford the run's laps (unless partial). Then no
 * line was written. */
int dp_ledger_open(struct dp_ledger **ledger, const char *path, const struct dp_ledger_run *run, struct dp_err *err);

/* Pays for up to `laps` more laps of the event, and for at least one: *granted of them are in the file and fsynced when
 * this returns DP_OK, and may be released. Fewer than asked for only where the budget of the data set ends.
 * DP_E_BUDGET: it has no room for a single lap. DP_E_UNSAFE: the file was edited, cut or replaced since it was opened;
 * or the event would share a shuffled epoch with another one of the run (dp_event_may_follow). DP_E_RUN: writing
 * failed. After any failure but DP_E_BUDGET the run can reserve nothing more. */
int dp_ledger_reserve(struct dp_ledger *ledger, const struct dp_event *event, int64_t laps, int64_t *granted,
                      struct dp_err *err);

/* The same for all of the laps or, with DP_E_BUDGET, for none. */
int dp_ledger_reserve_all(struct dp_ledger *ledger, const struct dp_event *event, int64_t laps, struct dp_err *err);

/* How many laps of a partial run the budget affords, as it was opened, and the run gets no more than these; INT64_MAX where it
   affords all, there is no budget, or the laps are not known. */
int64_t dp_ledger_affords(const struct dp_ledger *ledger);

/* Whether the run was admitted by adding up runs, where the filter of a budget has no room for all of it: its laps are best
   reserved at once, so that no run beside it takes what it was admitted with. */
bool dp_ledger_at_once(const struct dp_ledger *ledger);

/* What the run will have spent in the end, as it is known before it begins: written down and fsynced before the first lap is
   reserved, or the first since it was resumed. A run that ends with less is stated at this, since what it released may have
   decided when it ends. Errors as dp_ledger_close. */
int dp_ledger_plan(struct dp_ledger *ledger, const struct dp_charges *charges, struct dp_err *err);

/* *charges, what the run has used: of each event at least what readers state if it ends now. */
int dp_ledger_stated(const struct dp_ledger *ledger, struct dp_charges *charges, struct dp_err *err);

/* What the model that the run starts from has cost, by the run that released it and those before it: epsilons and deltas
   added up, and what models without a mark had stated. 0 where the run starts from no mark. */
int dp_ledger_prior(const struct dp_ledger *ledger, double *epsilon, double *delta, struct dp_err *err);

/* The run has used these laps and can be resumed from here: gives the others back and writes a checkpoint, whose mark is
   dp_ledger_mark. It may go on reserving laps. Errors as dp_ledger_close. */
int dp_ledger_checkpoint(struct dp_ledger *ledger, const struct dp_charges *used, struct dp_err *err);

/* Of a resumed run: adds what it had used at its checkpoint, and what is paid for in all and not given back. What lies between
   may be out already, with other noise than the laps to come, which are reserved beside it. */
int dp_ledger_resumed(const struct dp_ledger *ledger, struct dp_charges *used, struct dp_charges *paid, struct dp_err *err);

/* "run:seq:hash" of the run's last line: public, and to be carried by what it pays for. Valid until the next call. */
const char *dp_ledger_mark(const struct dp_ledger *ledger);

/* The run's name, 32 hexadecimal digits. */
const char *dp_ledger_run_id(const struct dp_ledger *ledger);

/* How a run ended. */
struct dp_ledger_end {
    const struct dp_charges *used; /* the laps that were released, by event; not more than were reserved */
    double epsilon, delta;         /* what the run says it has cost */
    const char *accountant;        /* by which accountant */
    const char *status;            /* "done", "budget" where that ended it, "interrupted" where somebody did */
    const char *model;             /* a digest of the last model that was released, or NULL: the ledger binds none */
    int64_t model_lap;             /* and its lap */
};

/* The clean end: says what was used, gives back the rest and closes the run, fsynced. No lap may be released
 * afterwards. DP_E_RUN and DP_E_UNSAFE as above; DP_E_UNSAFE also where the epsilon is not the one that every reader of the
 * ledger computes for the run (dp_ledger_run_check in ledger/sum.h). The reservation then stays spent. */
int dp_ledger_close(struct dp_ledger *ledger, const struct dp_ledger_end *end, struct dp_err *err);

/* Without dp_ledger_close all that was reserved stays spent. */
void dp_ledger_free(struct dp_ledger *ledger);

struct dp_ledger_order {
    double order, delta;
};

/* What runs have cost: epsilons and deltas added up. */
struct dp_ledger_before {
    size_t runs;
    double epsilon, delta;
    bool again, used; /* there is a budget already, and runs have spent of it */
};

/* A limit for all runs on a population together (ledger/limit.h). It comes before the first of them; or after, when after_runs
 * is set and every one has ended: then it begins with what they have cost, their epsilons and deltas added up, in this ledger
 * and elsewhere. One that nothing was spent of may be set again, whatever it was; of one that runs have spent of epsilon may be
 * lowered, and orders is set to what it has. What the orders leave of delta is for adding up runs; without orders that is all of
 * it. DP_E_UNSAFE: it cannot be changed so. DP_E_RUN: no order has any room. */
struct dp_ledger_budget {
    const char *population, *data; /* data: the digest of a data set of that population, or NULL */
    const char *adjacency;
    double epsilon, delta;
    struct dp_ledger_order order[DP_LEDGER_ORDERS]; /* each > 1; delta: its share, they add up to at most 1 */
    size_t orders;
    bool after_runs;
    struct dp_ledger_before elsewhere; /* what the population's runs have cost that are not in this ledger */
};

/* What the runs on a population have cost by now, however one was chosen by the results of another: epsilons and deltas add up,
 * and one that may go on counts with all of its own budget. A budget that is set after them begins with it. No runs and no file
 * cost nothing, and a budget that is set again begins with what it began with. Errors as dp_ledger_check_mark; DP_E_UNSAFE: one
 * is under another adjacency, or is charged as published and may go on. */
int dp_ledger_cost_before(const char *path, const struct dp_ledger_budget *budget, struct dp_ledger_before *before,
                          struct dp_err *err);

int dp_ledger_set_budget(const char *path, struct dp_ledger_budget *budget, struct dp_err *err);

/* Whether the ledger is intact and holds that mark and the one beside it. DP_E_UNSAFE: it does not (or was edited): it is older
 * than the model that carries the mark, rolled back, or another ledger. DP_E_RUN: not a mark, or the file cannot be read. */
int dp_ledger_check_mark(const char *path, const char *mark, struct dp_err *err);

#endif
