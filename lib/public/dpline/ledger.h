/* The ledger of what has been spent on people's data, dp-ledger(5): a file that is only ever appended to, by any number of
 * processes. A run is opened, pays for laps before they are released, and is closed; from then on it counts with those that it
 * released. */
#ifndef DPLINE_LEDGER_H
#define DPLINE_LEDGER_H

#include <stdint.h>

#include "account.h"

#ifdef __cplusplus
extern "C" {
#endif

struct dpline_ledger; /* one run in a ledger */

/* Facts about a run that are known when it starts. Strings are UTF-8 and are copied; a string may be NULL only if its comment
 * says so. Zero the rest. */
struct dpline_run {
    const char *data;          /* a name of the data set that changes with its content, such as a digest */
    const char *population;    /* the people of these rows; NULL: `data` is used instead */
    int64_t rows;              /* their public number */
    int replace_one;           /* 0: one person's row is there or contributes nothing; 1: it is exchanged for another's */
    double epsilon, delta;     /* the run's own budget */
    int64_t time;              /* seconds since 1970, 0 for unknown: the library does not read the clock */
    const char *preprocessing; /* measurements on the rows without privacy, to scale them; NULL: none */
    const void *unused[6];
};

/* Opens the ledger, creates it with mode 0600 if necessary, checks every line, and appends the line that opens a run; the line
 * is on disk when this returns. The caller closes or frees the run. DPLINE_E_RUN: the path is not a file that can be read and
 * written. DPLINE_E_UNSAFE: it was edited or is an older copy, or the population has a budget under the other adjacency. */
DPLINE_PUBLIC int dpline_ledger_open(struct dpline_ledger **ledger, const char *path, const struct dpline_run *run,
                                     struct dpline_error *error);

/* All charges of a run must be fixed before the run: epsilon is not valid for charges that were chosen after earlier results.
 * Pays for a charge: when this returns 0, its laps are in the file and on disk, and may be released. DPLINE_E_BUDGET: the run's
 * budget, or the population's, does not cover them in addition to earlier charges; nothing is paid then. DPLINE_E_UNSAFE:
 * somebody changed the file. After any other failure the run cannot pay any more. All charges belong to one run: laps of
 * shuffled epochs continue where the earlier charge of the same kind ended. If each charge draws its own
 * permutation, each must be a whole number of epochs. */
DPLINE_PUBLIC int dpline_ledger_reserve(struct dpline_ledger *ledger, const struct dpline_charge *charge,
                                        struct dpline_error *error);

/* "run:line:hash" of the run's last line, public: with it, dpline_ledger_check detects a ledger that is older. Valid until the
 * next call for this run. */
DPLINE_PUBLIC const char *dpline_ledger_mark(const struct dpline_ledger *ledger);

/* Ends the run: writes the released charges (NULL: all paid ones) with their epsilon; the rest counts no more. Frees the run,
   also after a failure; then everything that it paid for stays spent. */
DPLINE_PUBLIC int dpline_ledger_close(struct dpline_ledger *ledger, const struct dpline_account *used,
                                      struct dpline_error *error);

/* Frees the run without closing it: what it paid for stays spent. NULL is fine. */
DPLINE_PUBLIC void dpline_ledger_free(struct dpline_ledger *ledger);

/* A report on a population (NULL: on all), as JSON with the members that dp-account(1) describes for `report --json`; free(3)
 * it. delta 0: the largest delta of the runs. DPLINE_E_RUN: there is no file, or nothing on that population. DPLINE_E_UNSAFE:
 * the ledger was edited. */
DPLINE_PUBLIC int dpline_ledger_report(const char *path, const char *population, double delta, char **json,
                                       struct dpline_error *error);

/* Whether the ledger is whole and holds that mark. DPLINE_E_UNSAFE: it does not. */
DPLINE_PUBLIC int dpline_ledger_check(const char *path, const char *mark, struct dpline_error *error);

#ifdef __cplusplus
}
#endif

#endif
