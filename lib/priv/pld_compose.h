/* All laps of one direction as one loss distribution; the error terms are in priv/pld.h. */
#pragma once

#include "priv/pld_cells.h"

enum { DP_PLD_POINTS_MAX = 1 << 21 };

/* The mass that wraps around and the mass that truncation and window leave out, relative to δ. */
#define DP_PLD_WRAP_SHARE 1e-6
#define DP_PLD_SPILL_SHARE 1e-7

/* Where the distribution is kept, and the s of the two Chernoff bounds that justify this. */
struct dp_pld_window {
    double s, above, below; /* above > s > below; s >= 0 */
    double bottom, top;
    double split; /* split of one part: laps that lose more are rare; infinite for no split. See dp_pld_compose. */
    double small; /* the s of the Chernoff bound on runs without a rare lap */
};

struct dp_pld_composed {
    double *mass; /* weighted, at loss j h, index j mod n */
    size_t n;
    int64_t bottom, top;       /* j in [bottom, top) */
    bool open;                 /* S may be below bottom */
    double h, s, log_scale;    /* Σ T K(s) */
    double error;              /* of each mass */
    double above, infinite;    /* δ of the mass beyond the window, and of infinite losses */
    double wrapped;            /* weighted mass that wrapped around */
    double factor, shift;      /* e^{Σ T κ}; of ε */
    double small, small_scale; /* δ of runs without a rare lap < peak e^{small_scale − small ε}; if small is 0, these runs are
                                * in `mass` */
    double deviation, drift;   /* σ and m of the error Ξ that discretisation adds to S */
    double radius, covered;    /* r and 1 − p */
};

/* Composes on a grid of step h, Gaussian tails cut at `deviations`.
 *
 * Rounding of the FFT counts relative to the whole weighted mass. If few laps lose much (a small rate) and δ is small, this
 * rounding is more than δ. Then the cells of one part are cut at window->split into g, the small losses, and r, the rest, of
 * weighted mass ρ. mass has f^T − g^T = g^T ((1 + r/g)^T − 1) for f = g + r, and each frequency of it is good to about T ρ · T
 * e in place of T e. g^T, the runs without a single rare lap, is bounded by Chernoff. */
void dp_pld_compose(struct dp_pld_composed *c, const struct dp_pld_part *parts, size_t count, bool add, double deviations,
                    double h, const struct dp_pld_window *window);
void dp_pld_composed_free(struct dp_pld_composed *c);

/* The same lap by lap, for the prefixes of one run: it can be read after any lap. The window has to suit the whole run, which
   is `parts`; it then suits a shorter run, too. */
struct dp_pld_running;
struct dp_pld_running *dp_pld_running_new(const struct dp_pld_part *parts, size_t count, bool add, double deviations, double h,
                                          const struct dp_pld_window *window);
void dp_pld_running_free(struct dp_pld_running *running);

/* Adds laps of a part, which must have the same address each time; part->laps is not read. */
void dp_pld_running_take(struct dp_pld_running *running, const struct dp_pld_part *part, int64_t laps);

/* All laps so far, at least one; freed by the caller. */
void dp_pld_running_read(struct dp_pld_running *running, struct dp_pld_composed *c);

/* The ε at which δ falls to delta: upper is at least this ε, infinite if the window is too low to tell; lower (may be NULL) is
   at most this ε. Both are -infinity if δ is always below delta. */
void dp_pld_composed_epsilon(const struct dp_pld_composed *c, double delta, double *upper, double *lower);

/* δ(epsilon) is at most upper and at least lower. */
void dp_pld_composed_delta(const struct dp_pld_composed *c, double epsilon, double *upper, double *lower);
