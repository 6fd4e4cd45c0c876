/* A payer: holds a run to what it announced, reserves all that its budget affords in a ledger before anything leaves, lets no
 * lap pass beyond that, says at the end what was used, and continues from a checkpoint. dp-account is a payer for all rows, at
 * the gate. dp-site-account is a payer for the rows of one site, before their sum leaves the site. */
#pragma once

#include "base/registry_place.h"
#include "gate/contract.h"
#include "gate/spend.h"
#include "ledger/ledger.h"
#include "ledger/schema_cost.h"
#include "wire/state.h"

struct dp_payer_options {
    double epsilon, delta;  /* the budget */
    const char *ledger;     /* NULL: the ledger of the data set */
    const char *new_ledger; /* without a data set: the path of the first ledger, if the population has no ledger */
    bool no_ledger, partial;
    struct dp_registry_choice registry;
    bool allow_seeded, allow_weak, adaptive;
    struct dp_ledger_later later; /* of the run after a schema */
    bool with_schema;             /* the budget is also for the schema of the data set, in one composition with the run */
};

/* A run that is resumed. */
struct dp_payer_resumed {
    char mark[DP_LEDGER_MARK];      /* of its checkpoint, or "" */
    double spent, order, allowance; /* what its filter has spent, the filter's order and allowance */
};

struct dp_payer {
    /* Set by the caller. */
    const struct dp_payer_options *options;
    bool seeded; /* the keys of the run follow from a seed */
    bool site;   /* pays for the rows of one site, not for all rows that a record counts; laps may be missing */
    const struct dp_registry_place *registry; /* unless the options name one; NULL: none */
    int64_t time;                             /* seconds since 1970, for the ledger */
    int64_t every;                            /* laps between checkpoints; 0: no checkpoints, or unknown */
    /* Private to the payer. */
    bool begun;
    struct dp_contract contract;
    struct dp_spend spend;
    char *directory;                        /* directory of the data set, from dp-sample */
    char unregistered[DP_ERR_MESSAGE_SIZE]; /* why there is no registry, or "" */
    struct dp_ledger *ledger;               /* NULL: none */
    struct dp_charges base;                 /* used: a resumed run's laps before; with the ones since, if it is adaptive */
    int64_t done;                           /* laps of the run that base has */
    int64_t until;                          /* the lap up to which the newest checkpoint counts the run; 0: no checkpoint yet */
    int64_t laps;                           /* of the whole run, 0 if unknown */
    double schema_epsilon, schema_delta;    /* what the schema of the data set has cost, or 0 */
    struct dp_schema_cost with;             /* with_schema: what the schema has cost, and the budget that was fixed before */
    char *schema;                           /* the mark of that charge; NULL: other people paid it, or it is in no ledger */
    double prior_epsilon, prior_delta;      /* cost of the model that the run started from, and of the schema */
    struct dp_payer_resumed resumed;
};

/* Reads the hello frame. The caller starts *payer zeroed, and closes it. DP_E_UNSAFE: the run is seeded, or its announcement is
   impossible. */
int dp_payer_hello(struct dp_payer *payer, const struct dp_frame *hello, struct dp_err *err);

/* The populations that have the rows of a frame, a name in each line; NULL: it does not say. */
const char *dp_payer_people(const struct dp_frame *frame);

/* Holds a lap to the contract (dp_contract_lap): then its records can be paid for. Noise that will be added later is promised in
   the records. DP_E_UNSAFE: they cannot. */
int dp_payer_check(struct dp_payer *payer, const struct dp_frame *lap, struct dp_err *err);

/* Decides, after the first lap was checked, how and in which ledger the run is charged, reserves its plan or budget there, and
   sets payer->begun. Errors as dp_least_check and dp_ledger_open. */
int dp_payer_begin(struct dp_payer *payer, const struct dp_frame *lap, struct dp_err *err);

/* Counts a lap that has been checked as one that the ledger has reserved. The lap may then be released. DP_SPENT: the budget of
   the run does not afford it. DP_E_BUDGET: the budget pays for no lap, or the budget of the data set has no room. After both,
   call dp_payer_stop. */
int dp_payer_pay(struct dp_payer *payer, const struct dp_frame *lap, struct dp_err *err);

/* Calls say for each warning about the budget; once, before the first lap goes out. */
void dp_payer_warn(const struct dp_payer *payer, const struct dp_frame *lap, void (*say)(void *self, const char *sentence),
                   void *self);

/* Ends the run because the budget is spent: closes the ledger and turns the frame into the end frame. spent: the result of
   dp_payer_pay, with *err as it left it. Returns 0, or an error of the ledger. */
int dp_payer_stop(struct dp_payer *payer, int spent, struct dp_frame *frame, struct dp_err *err);

/* The clean end. digest: of the last model that the run has released (wire/model.h), or NULL if unknown. */
int dp_payer_end(struct dp_payer *payer, bool interrupted, const char *digest, struct dp_err *err);

/* A checkpoint has the number of laps and the first frames; the charges follow from these. The ledger has a line from which the
   run may be resumed. */
int dp_payer_save(struct dp_payer *payer, struct dp_state *state, struct dp_err *err);
int dp_payer_restore(struct dp_payer *payer, const struct dp_state *state, struct dp_err *err);

/* A run that has not ended is closed in the ledger as interrupted: nothing may leave afterwards. */
void dp_payer_close(struct dp_payer *payer);
