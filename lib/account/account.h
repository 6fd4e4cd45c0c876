/* The cost of a list of charges, by any accountant. The calculator, the gate and the ledger's report all use these functions,
 * so that they agree to the last bit. Epsilon is in nats. */
#pragma once

#include "account/event.h"
#include "account/meter.h"
#include "priv/pld.h"

/* The accountants: X(enumerator, name, name for readers, what it covers, its answer). The last two are functions of account.c.
 *   best       the smallest bound of the sound accountants that cover the charges
 *   pld        privacy loss distributions (priv/pld.h): every kind that is Gaussian or pure, also several on one Poisson
 *              sample; a sparse vector with Laplace noise counts as pure
 *   rdp        Rényi DP (account/meter.h): everything
 *   zcdp       zero-concentrated DP: no sampling
 *   gdp        Gaussian DP, exact: Gaussians, no sampling
 *   profile    one lap whose δ(ε) is a formula (account/profile.h)
 *   pure       Σ ε of pure mechanisms, the only one with delta = 0
 *   advanced   advanced composition of (ε, δ) bounds lap by lap
 *   published, blsgd, adp-sgd   what papers claim (account/claimed.h), which is not sound: only the calculator asks them */
#define DP_ACCOUNTANTS(X)                                                                                                      \
    X(BEST, "best", "the best of several", any, best)                                                                          \
    X(PLD, "pld", "privacy loss distributions", have_parts, by_pld)                                                            \
    X(RDP, "rdp", "Renyi differential privacy", any, by_rdp)                                                                   \
    X(ZCDP, "zcdp", "zero-concentrated differential privacy", unsampled_rho, by_zcdp)                                          \
    X(GDP, "gdp", "Gaussian differential privacy", unsampled_gaussians, by_gdp)                                                \
    X(PROFILE, "profile", "the profile of one release", has_profile, by_profile)                                               \
    X(PURE, "pure", "pure differential privacy", all_pure, by_pure)                                                            \
    X(ADVANCED, "advanced", "advanced composition", have_guarantees, by_advanced)                                              \
    X(PUBLISHED, "published", "the published accountant, WHICH IS NOT SOUND", any, dp_claimed_scd)                             \
    X(BLSGD, "blsgd", "the accountant of the DP-BLSGD paper, WHICH IS NOT SOUND", batches, dp_claimed_blsgd)                   \
    X(ADP_SGD, "adp-sgd", "the accountant of the ADP-SGD paper, WHICH IS NOT SOUND", sampled_gaussians, dp_claimed_adp_sgd)

/* Other names in ledgers and certificates, which cannot be chosen as an accountant. */
#define DP_ACCOUNTANTS_NAMED(X)                                                                                                \
    X(FILTER, "filter") /* a filter at one order, under which the run chose its noise */                                       \
    X(ADDED, "added")   /* epsilons and deltas of several runs */                                                              \
    X(NONE, "none")     /* nothing was charged */

#define DP_ACCOUNTANT_ENUMERATOR(id, ...) DP_ACCOUNTANT_##id,
enum dp_accountant {
    DP_ACCOUNTANTS(DP_ACCOUNTANT_ENUMERATOR) DP_ACCOUNTANTS_NAMED(DP_ACCOUNTANT_ENUMERATOR) DP_ACCOUNTANT_COUNT
};
#undef DP_ACCOUNTANT_ENUMERATOR

#define DP_ACCOUNTANT_CHOICE(id, name, ...) "|" name
#define DP_ACCOUNTANT_CHOICES (&(DP_ACCOUNTANTS(DP_ACCOUNTANT_CHOICE))[1]) /* "best|pld|…" */
extern const char *const dp_accountant_names[DP_ACCOUNTANT_COUNT];
extern const char *const dp_accountant_titles[DP_ACCOUNTANT_FILTER]; /* for readers */

struct dp_answer {
    double upper;          /* the epsilon that may be claimed; infinite if the accountant has no bound */
    double lower;          /* lower bound on the true epsilon; 0 if none is known */
    bool tight;            /* upper − lower <= 1 % of upper */
    enum dp_accountant by; /* the accountant that answered */
};

/* The smallest ε >= 0 that the accountant can show at delta. 0 for no charges. DP_E_RUN: 0 <= delta < 1 does not hold, delta is
   0 and not every charge is pure, an invalid event, or charges that this accountant does not cover. */
int dp_account_epsilon(enum dp_accountant accountant, const struct dp_charges *charges, double delta, struct dp_answer *answer,
                       struct dp_err *err);

bool dp_account_covers(enum dp_accountant accountant, const struct dp_charges *charges);

/* The charges as *count parts of a privacy loss distribution, which the caller frees. NULL if no such distribution bounds
 * them. */
struct dp_pld_part *dp_account_pld_parts(const struct dp_charges *charges, size_t *count);

/* Whether the charges are Gaussians without sampling, together one Gaussian of multiplier 1/ *mu (rounded up). */
bool dp_account_gaussian_mu(const struct dp_charges *charges, double *mu);

/* *meter: what Rényi DP answers from, to ask it at many δ (dp_meter_at); the caller frees it, also after a failure. NULL where a
 * release has a δ of its own: then dp_account_epsilon has to be asked. */
int dp_account_meter(const struct dp_charges *charges, double delta, struct dp_meter **meter, struct dp_err *err);

/* The δ of the charges at epsilon by privacy loss distributions, or by the profile if the charges are one lap; one of the two
 * must cover them. For other accountants see account/solve.h. */
int dp_account_pld_delta(const struct dp_charges *charges, double epsilon, struct dp_answer *answer, struct dp_err *err);
int dp_account_profile_delta(const struct dp_charges *charges, double epsilon, struct dp_answer *answer, struct dp_err *err);
