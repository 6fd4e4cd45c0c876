/* What one lap does to private rows, as accountants see it: how rows were chosen, and the queries that were put to the
 * batch. A run is a list of charges: so many laps of one event, and so many of another. */
#ifndef DP_ACCOUNT_EVENT_H
#define DP_ACCOUNT_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "query/query.h"

enum dp_sampling {
    DP_SAMPLING_NONE,     /* every row, each lap */
    DP_SAMPLING_POISSON,  /* own coin for each row, null-record adjacency */
    DP_SAMPLING_REPLACED, /* a batch of fixed size without replacement, or coins, under replace-one adjacency */
    DP_SAMPLING_SHUFFLED, /* parts of one permutation per epoch: one release of every row per epoch begun, nothing
                             amplified */
    DP_SAMPLING_VISIBLE,  /* coins, but the release shows who took part (noised alpha): a person pays for each lap they
                             are in */
    DP_SAMPLING_DRAWN,    /* coins anew for each of many draws within the lap, of which one result is released: how far a
                             person moves it is random (priv/drawn.h) */
    DP_SAMPLING_SELECTED, /* whole runs, a random number of them, of which the best is released (account/selection.h) */
    DP_SAMPLING_STREAM,   /* rows that arrive, each of which is in one lap and in no other: one release of every row, however
                             many laps there are, nothing amplified */
};
#define DP_SAMPLING_COUNT 8
_Static_assert(DP_SAMPLING_STREAM + 1 == DP_SAMPLING_COUNT, "a name for each sampling");
extern const char *const dp_sampling_names[DP_SAMPLING_COUNT]; /* as in ledgers: "none", "poisson", … */

#define DP_EVENT_MOST_QUERIES 4
#define DP_EVENT_MOST_LAPS 1000000000000

struct dp_selection;

struct dp_event {
    enum dp_sampling sampling;
    double rate;        /* q in (0, 1]: the part of the rows in a lap, or in a draw */
    int64_t epoch_laps; /* shuffled: laps per epoch; else 0 */
    int64_t draws;      /* drawn: how many there are in a lap; else 0 */
    double contraction; /* drawn: of what a draw has moved, by each draw after it, in (0, 1]; else 0 */
    int queries;        /* all on the same batch; selected: none, since its runs have their own */
    struct dp_query query[DP_EVENT_MOST_QUERIES];
    struct dp_selection *selection; /* selected: what is tried; else NULL. It belongs to the list or the book that the event is
                                       in, and is only read */
};

struct dp_charge {
    struct dp_event event;
    int64_t laps;
};

/* A list of charges that grows; the caller starts it zeroed and frees it. */
struct dp_charges {
    size_t count, capacity;
    struct dp_charge *charge;
};

/* One Gaussian query. */
struct dp_event dp_event_gaussian(enum dp_sampling sampling, double rate, double multiplier, int64_t epoch_laps);

/* DP_E_RUN and a sentence when the event makes no sense: a number that must be positive and finite and is not, a rate
   outside (0, 1], epochs of no laps, no draws, no query or too many. */
int dp_event_check(const struct dp_event *event, struct dp_err *err);

/* Makes *to the same event, with a selection of its own, which dp_event_free frees. *to is an event without one after a
   failure. */
int dp_event_copy(struct dp_event *to, const struct dp_event *from, struct dp_err *err);
void dp_event_free(struct dp_event *event);

bool dp_event_same(const struct dp_event *a, const struct dp_event *b);

/* Whether a person is in one lap of an epoch, and of all its laps in no other: shuffled, and a stream, which is an epoch that
   does not end. */
bool dp_event_in_epochs(const struct dp_event *event);

/* Laps of such an epoch; 1 where there are none. */
int64_t dp_event_epoch(const struct dp_event *event);

/* How often the event's unsampled mechanism runs in that many laps: epochs begun, as dp_event_epoch has them. */
int64_t dp_event_times(const struct dp_event *event, int64_t laps);

/* Whether a run may go on with `event` after so many laps of `before`. False in the middle of an epoch of `before`, and so
   always after a stream: only whole epochs may come before another event, so that the laps of an epoch are charged as one. */
bool dp_event_may_follow(const struct dp_event *event, const struct dp_event *before, int64_t laps);

/* What such an epoch is called: "a shuffled epoch" or "a stream". */
const char *dp_event_epoch_name(const struct dp_event *event);

/* Adds laps (0 or more, else DP_E_RUN) of an event, which is copied, to the charge of the same event if there is one (except
   where there are epochs or streams: the laps of two runs must not share one). */
int dp_charges_add(struct dp_charges *charges, const struct dp_event *event, int64_t laps, struct dp_err *err);
void dp_charges_free(struct dp_charges *charges);

/* Adds the laps of a run that stands for itself, to the charge of the same event if there is one: shuffled epochs that the run
   has begun count as whole ones. Epochs of several runs may then be counted together, because no two runs share one. */
int dp_charges_add_run(struct dp_charges *charges, const struct dp_event *event, int64_t laps, struct dp_err *err);

/* Adds further laps of the run that all of the list is of, to the charge of the same event if there is one: they go on in its
   shuffled epochs. */
int dp_charges_continue(struct dp_charges *charges, const struct dp_event *event, int64_t laps, struct dp_err *err);

/* The charge of the event becomes one of at least so many laps: it is raised to them, or added where there is none. */
int dp_charges_at_least(struct dp_charges *charges, const struct dp_event *event, int64_t laps, struct dp_err *err);

/* Whether the same events come in the same order, as often. */
bool dp_charges_same(const struct dp_charges *a, const struct dp_charges *b);

/* Takes all charges out; the room for them stays. */
void dp_charges_clear(struct dp_charges *charges);

#endif
