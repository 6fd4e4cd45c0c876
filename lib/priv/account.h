/* What a list of charges costs, by whichever accountant: the calculator, the gate and the ledger's report ask here, so
 * that they agree to the last bit. Epsilon is in nats. */
#ifndef DP_PRIV_ACCOUNT_H
#define DP_PRIV_ACCOUNT_H

#include "priv/event.h"
#include "priv/pld.h"

enum dp_accountant {
    DP_ACCOUNTANT_BEST,      /* the smallest bound of the sound ones that cover the charges */
    DP_ACCOUNTANT_PLD,       /* privacy loss distributions (priv/pld.h): sampled or plain Gaussian, Laplace, pure, and on one
                                Poisson sample several of them; a sparse vector with Laplace noise counts as pure */
    DP_ACCOUNTANT_RDP,       /* Rényi DP (priv/meter.h): everything */
    DP_ACCOUNTANT_ZCDP,      /* zero-concentrated DP: nothing sampled */
    DP_ACCOUNTANT_GDP,       /* Gaussian DP, exact: Gaussians, nothing sampled */
    DP_ACCOUNTANT_ADVANCED,  /* advanced composition of (ε, δ) bounds lap by lap */
    DP_ACCOUNTANT_PUBLISHED, /* as the DP-SCD paper, which is not sound */
};
#define DP_ACCOUNTANT_CHOICES "best|pld|rdp|zcdp|gdp|advanced|published"
extern const char *const dp_accountant_names[7];

struct dp_answer {
    double upper;          /* what may be claimed; infinite where the accountant has no bound */
    double lower;          /* the truth is not below it; 0 where nothing better is known */
    bool tight;            /* upper − lower <= 1 % of upper */
    enum dp_accountant by; /* which one answered */
};

/* The smallest ε >= 0 the accountant can show at delta. 0 for no charges. DP_E_RUN: 0 < delta < 1 does not hold, a bad
   event, or charges that this accountant does not cover. */
int dp_account_epsilon(enum dp_accountant accountant, const struct dp_charges *charges, double delta, struct dp_answer *answer,
                       struct dp_err *err);

/* Whether that accountant says anything about these charges. */
bool dp_account_covers(enum dp_accountant accountant, const struct dp_charges *charges);

/* The charges as parts of a privacy loss distribution: *count of them, freed by the caller. NULL where there is none that
   holds (*rc = DP_OK), or without memory. */
struct dp_pld_part *dp_account_pld_parts(const struct dp_charges *charges, size_t *count, int *rc, struct dp_err *err);

/* The δ of the charges at epsilon by privacy loss distributions; for other accountants see priv/solve.h. */
int dp_account_pld_delta(const struct dp_charges *charges, double epsilon, struct dp_answer *answer, struct dp_err *err);

#endif
