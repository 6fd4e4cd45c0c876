/* A payer: holds a run to what it announced, charges each lap against a budget before anything of the lap leaves, writes the
 * charge into a ledger, and continues from a checkpoint. dp-account is a payer for all rows, at the gate. dp-site-account is a
 * payer for the rows of one site, before their sum leaves the site. */
#ifndef DP_GATE_PAYER_H
#define DP_GATE_PAYER_H

#include "base/registry_place.h"
#include "gate/announce.h"
#include "gate/hold.h"
#include "gate/reserve.h"
#include "gate/spend.h"
#include "wire/state.h"

struct dp_payer_options {
    double epsilon, delta; /* the budget */
    const char *ledger;    /* NULL: that of the data set */
    bool no_ledger, partial;
    struct dp_registry_choice registry;
    bool allow_seeded, adaptive;
};

struct dp_payer {
    /* Set by the caller. */
    const struct dp_payer_options *options;
    bool seeded; /* the keys of the run are those of a seed */
    bool site; /* it pays for the rows that were announced beside it, not for all that a record counts; and laps may pass it by
                */
    const struct dp_registry_place *registry; /* unless the options name one; NULL: none */
    int64_t time;                             /* seconds since 1970, for the ledger */
    int64_t every; /* laps from one checkpoint, which gives back what is reserved ahead, to the next; 0: there are none */
    /* Its own. */
    bool begun;
    struct dp_announcement announcement;
    struct dp_hold hold;
    int64_t turn[DP_LAPS_MOST_KINDS]; /* laps of each kind */
    int kind;                         /* of the lap at hand */
    struct dp_spend spend;
    char *directory;                        /* of the data set, as dp-sample says it */
    char unregistered[DP_ERR_MESSAGE_SIZE]; /* why there is no registry, or "" */
    struct dp_reserve reserve;              /* unless there is no ledger */
    int64_t last_lap, laps;                 /* and how many there will be, 0 where that is not known */
    double prior_epsilon, prior_delta;      /* of the model that the run started from */
    char resumes[DP_LEDGER_MARK];           /* of a run that is resumed: the line of its checkpoint, or "" */
    double spent, order, allowance;         /* and what its filter had, at which order, and of how much */
    unsigned char planned[DP_PLAN_DIGEST];  /* and the plan that it was charged by */
};

/* What --epsilon, --delta and the ledger's options are together. DP_E_USAGE: nothing. */
int dp_payer_check_options(const struct dp_payer_options *options, struct dp_err *err);

/* Reads the hello frame. The caller starts *payer zeroed, and closes it. DP_E_UNSAFE: the run is seeded, or announces what
   cannot be. */
int dp_payer_hello(struct dp_payer *payer, const struct dp_frame *hello, struct dp_err *err);

/* Whether what the frame of a lap records can be paid for: complete, consistent, of the next lap, of the announced kind, as it
   was in the laps before. Of noise that is yet to come the records say what it will be. DP_E_UNSAFE: not. */
int dp_payer_check(struct dp_payer *payer, const struct dp_frame *lap, struct dp_err *err);

/* What is known when the first lap has been checked: how the run will be charged, and where. payer->begun is true then. Errors
   as dp_announcement_plan, dp_least_check and dp_ledger_open. */
int dp_payer_begin(struct dp_payer *payer, const struct dp_frame *lap, struct dp_err *err);

/* Pays for a lap that has been checked, against the budget and in the ledger; then it may go out. DP_SPENT: the budget of the
   run does not afford it, DP_E_BUDGET: it pays for no lap, or that of the data set has no room. Then dp_payer_stop is next. */
int dp_payer_pay(struct dp_payer *payer, const struct dp_frame *lap, struct dp_err *err);

/* The lap has gone out. */
void dp_payer_passed(struct dp_payer *payer, const struct dp_frame *lap);

/* What a budget leaves open, to be said once, before the first lap goes out: calls say for each sentence. */
void dp_payer_warn(const struct dp_payer *payer, const struct dp_frame *lap, void (*say)(void *self, const char *sentence),
                   void *self);

/* Ends the run for want of budget: closes the ledger and makes of the frame the end frame that says why. spent: what
   dp_payer_pay gave, and *err as it left it. 0, or what went wrong then. */
int dp_payer_stop(struct dp_payer *payer, int spent, struct dp_frame *frame, struct dp_err *err);

/* The clean end. digest: of the last model that the run has released, as wire/model.h makes it; NULL where nobody says. */
int dp_payer_end(struct dp_payer *payer, bool interrupted, const char *digest, struct dp_err *err);

/* What was charged follows from the events and the number of laps. The first frame is held to; the ledger has a line that says
   from where the run may go on. */
int dp_payer_save(struct dp_payer *payer, struct dp_state *state, struct dp_err *err);
int dp_payer_restore(struct dp_payer *payer, const struct dp_state *state, struct dp_err *err);

void dp_payer_close(struct dp_payer *payer);

#endif
