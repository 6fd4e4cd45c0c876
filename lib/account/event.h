/* An event: what one lap does to private rows, for accountants. It is the sampling of rows and the queries on the batch. A run
 * is a list of charges, each a number of laps of one event. */
#pragma once

#include "base/err.h"
#include "priv/trials.h"
#include "query/query.h"

enum dp_sampling {
    DP_SAMPLING_NONE,        /* every row, each lap */
    DP_SAMPLING_POISSON,     /* each row independently, null-record adjacency */
    DP_SAMPLING_SUBSTITUTED, /* a batch of fixed size without replacement, replace-one adjacency; in earlier files also coins */
    DP_SAMPLING_SHUFFLED,    /* parts of a permutation, of each epoch or (cyclic) of the run: one release of every row per epoch
                             begun, nothing amplified */
    DP_SAMPLING_VISIBLE,  /* Poisson sampling, but the release shows the batch (noised alpha): each lap that has a person's row
                           * costs this person */
    DP_SAMPLING_REPEATED, /* Poisson sampling for each of many draws within the lap, of which one result is released: how far a
                           * person moves it is random (priv/repeated.h) */
    DP_SAMPLING_TUNED,    /* a random number of whole runs, of which the best is released (struct dp_tuning) */
    DP_SAMPLING_STREAM,   /* rows that arrive, each in exactly one lap: one release of every row for any number of laps, nothing
                           * amplified */
    DP_SAMPLING_COINS,    /* each row independently, replace-one adjacency */
};
#define DP_SAMPLING_COUNT 9
_Static_assert(DP_SAMPLING_COINS + 1 == DP_SAMPLING_COUNT, "a name for each sampling");
extern const char *const dp_sampling_names[DP_SAMPLING_COUNT]; /* names in ledgers: "none", "poisson", … */

#define DP_EVENT_MOST_QUERIES 4
#define DP_EVENT_MOST_LAPS 1000000000000

struct dp_tuning;

struct dp_event {
    enum dp_sampling sampling;
    double rate;        /* q in (0, 1]: the fraction of the rows in a lap, or in a draw */
    int64_t epoch_laps; /* shuffled: laps per epoch; else 0 */
    int64_t draws;      /* repeated: number of draws in a lap; else 0 */
    double contraction; /* repeated: the factor by which each draw shrinks the effect of earlier draws, in (0, 1]; else 0 */
    int queries;        /* all on the same batch; tuned: 0, because the runs have the queries */
    struct dp_query query[DP_EVENT_MOST_QUERIES];
    struct dp_tuning *tuning; /* selected: the tuning; else NULL. It belongs to the list or book with the event, and is
                                     * only read */
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

/* Settings whose runs cost the same. */
struct dp_setting {
    int64_t times;             /* number of settings of the grid, 1 or more */
    struct dp_charges charges; /* charges of one run, without selections */
};

/* Private selection: a random number of runs, each with a setting chosen uniformly at random and independently of all rows;
 * the run with the best noised score is released (priv/trials.h). A run and its score are one trial. */
struct dp_tuning {
    struct dp_trials trials;
    double score_multiplier; /* noise multiplier of each score; 0: the scores cost nothing */
    size_t settings, capacity;
    struct dp_setting *setting;
};

#define DP_TUNING_MOST_SETTINGS 1000000

struct dp_event dp_event_gaussian(enum dp_sampling sampling, double rate, double multiplier, int64_t epoch_laps);

/* The event of a selection, which it borrows. */
struct dp_event dp_event_tuned(struct dp_tuning *tuning);

/* DP_E_RUN: the event is invalid: a number is not positive and finite, a rate is outside (0, 1], epochs have no laps, there are
 * no draws, or no queries or too many. */
int dp_event_check(const struct dp_event *event, struct dp_err *err);

/* Copies the event, with its own copy of the selection, which dp_event_free frees. After a failure, *to has no selection. */
int dp_event_copy(struct dp_event *to, const struct dp_event *from, struct dp_err *err);
void dp_event_free(struct dp_event *event);

bool dp_event_same(const struct dp_event *a, const struct dp_event *b);

/* Whether the event is of a sample, and a row is exchanged for another: substituted, or coins. */
bool dp_event_exchanges(const struct dp_event *event);

/* Makes the event one without a delta of its own: thresholds become Gaussian noise, a stated release pure. Returns the
 * probability with which the event is not that. */
double dp_event_without_delta(struct dp_event *event);

/* Whether a person is in exactly one lap of each epoch. This is true of shuffled sampling, and of a stream: it is one epoch
 * that does not end. */
bool dp_event_in_epochs(const struct dp_event *event);

/* Laps of such an epoch; 1 without epochs. */
int64_t dp_event_epoch(const struct dp_event *event);

/* How often the event's unsampled mechanism runs in that many laps: the number of epochs begun (dp_event_epoch). */
int64_t dp_event_times(const struct dp_event *event, int64_t laps);

/* Whether a run may continue with `event` after that many laps of `before`. Only whole epochs may precede another event,
 * because the laps of an epoch are charged together. The answer is therefore false in the middle of an epoch, and always false
 * after a stream. */
bool dp_event_may_follow(const struct dp_event *event, const struct dp_event *before, int64_t laps);

/* Whether a lap that is lost and repeated after a resumption costs as if it were there once: a lap of a stream, if the
 * repetition has other rows, which the owner of the rows must see to (Runs that are resumed, in dp-privacy(7)). */
bool dp_event_repeats_free(const struct dp_event *event);

/* The name of such an epoch: "a shuffled epoch" or "a stream". */
const char *dp_event_epoch_name(const struct dp_event *event);

/* Adds laps (0 or more, else DP_E_RUN) of an event, which is copied, to the charge of the same event if there is one. Events
 * with epochs or streams always get a charge of their own: the laps of two runs must not share an epoch. */
int dp_charges_add(struct dp_charges *charges, const struct dp_event *event, int64_t laps, struct dp_err *err);
void dp_charges_free(struct dp_charges *charges);

/* Adds the laps of a separate run, to the charge of the same event if there is one. Shuffled epochs that the run has begun
 * count as whole epochs, so that epochs of several runs can be counted together: no two runs share one. */
int dp_charges_add_run(struct dp_charges *charges, const struct dp_event *event, int64_t laps, struct dp_err *err);

/* Adds further laps of the run of this list, to the charge of the same event if there is one: the laps continue its shuffled
 * epochs. */
int dp_charges_continue(struct dp_charges *charges, const struct dp_event *event, int64_t laps, struct dp_err *err);

/* Adds the charges without their own deltas (dp_event_without_delta) to *plain. *delta: the sum of these, rounded up; exact if
 * only one lap has one. */
int dp_charges_without_delta(const struct dp_charges *charges, struct dp_charges *plain, double *delta, struct dp_err *err);

/* Raises the charge of the event to at least that many laps; adds a charge if the event does not have one yet. */
int dp_charges_at_least(struct dp_charges *charges, const struct dp_event *event, int64_t laps, struct dp_err *err);

/* Adds each charge of the other list, by one of these functions. */
typedef int dp_charges_adder(struct dp_charges *charges, const struct dp_event *event, int64_t laps, struct dp_err *err);
int dp_charges_add_all(struct dp_charges *charges, dp_charges_adder *add_one, const struct dp_charges *more,
                       struct dp_err *err);

/* The laps of the event, in all its charges. */
int64_t dp_charges_laps(const struct dp_charges *charges, const struct dp_event *event);
int64_t dp_charges_all(const struct dp_charges *charges); /* of all events */

/* Whether both lists have the same events in the same order with the same laps. */
bool dp_charges_same(const struct dp_charges *a, const struct dp_charges *b);

/* Removes all charges; keeps the memory. */
void dp_charges_clear(struct dp_charges *charges);

void dp_tuning_new(struct dp_tuning **tuning, const struct dp_trials *trials, double score_multiplier);

/* Adds `times` settings whose runs have these charges, which are copied. */
int dp_tuning_add(struct dp_tuning *tuning, const struct dp_charges *charges, int64_t times, struct dp_err *err);
