/* A privacy query: the mechanism that was applied to a batch of rows, and its parameters. Frames, the ledger and certificates
 * carry it. One table lists the kinds and the members of each kind; code that encodes, prints, compares or reads queries
 * iterates over that table. The cost of a kind is in the accountants' table (account/kinds.h).
 *
 * A new kind is a row here, a row in account/kinds.c, and its formula. */
#pragma once

#include "base/err.h"

/* The members, all in struct dp_query: X(name, type, change). The name is also the key in frames and in JSON;
   change says how it may change from lap to lap (enum dp_record_change of wire/record.h). */
#define DP_QUERY_MEMBERS(X)                                                                                                    \
    X(multiplier, REAL, UP) /* scale of the noise / sensitivity */                                                             \
    X(epsilon, REAL,                                                                                                           \
      PLANNED) /* pure, exponential, counts: epsilon; sparse vector with Laplace noise: the threshold's epsilon */             \
    X(query_epsilon, REAL, PLANNED) /* sparse vector with Laplace noise: epsilon of each query */                              \
    X(rho, REAL, PLANNED)           /* sparse vector with Gaussian noise: split 1:2 between threshold and queries */           \
    X(most, INT, PLANNED)           /* sparse vector: the most queries, m */                                                   \
    X(objective, REAL, PLANNED)     /* objective perturbation: deviation of the noise / a person's change of the gradient */   \
    X(curvature, REAL,                                                                                                         \
      PLANNED)                /* objective perturbation: largest second derivative of one row's loss / the strong convexity */ \
    X(vertices, INT, PLANNED) /* objective perturbation: nonzero ends of the interval of one person's slope */                 \
    X(correlated, INT, PLANNED)   /* correlated: B, over how many laps (priv/bands.h) */                                       \
    X(named_delta, REAL, PLANNED) /* threshold: the probability that a text of one person only is named */                     \
    X(delta, REAL, PLANNED)       /* stated: the probability that its epsilon may fail to bound */

#define DP_QUERY_ENUMERATOR(name, type, change) DP_QUERY_##name,
enum dp_query_member { DP_QUERY_MEMBERS(DP_QUERY_ENUMERATOR) DP_QUERY_MEMBER_COUNT };
#undef DP_QUERY_ENUMERATOR

/* The kinds: X(enumerator, name in frames and in JSON, its members as a set of bits). A kind with a multiplier adds noise of
   scale = multiplier × sensitivity, and costs less if the multiplier is larger. */
/* clang-format off */
#define DP_QUERY_KINDS(X)                                                                                                      \
    X(DP_QUERY_NONE, "none", 0)                                                /* no noise yet */                              \
    X(DP_QUERY_GAUSSIAN, "gaussian", 1u << DP_QUERY_multiplier)                /* multiplier: standard deviation / L2 sensitivity */ \
    X(DP_QUERY_CORRELATED, "gaussian-correlated", 1u << DP_QUERY_multiplier | 1u << DP_QUERY_correlated) /* all laps are one Gaussian mechanism (priv/bands.h) */ \
    X(DP_QUERY_LAPLACE, "laplace", 1u << DP_QUERY_multiplier)                  /* on the reals, on one number */               \
    X(DP_QUERY_DISCRETE_LAPLACE, "discrete-laplace", 1u << DP_QUERY_multiplier) /* on a grid, on one number */                 \
    X(DP_QUERY_LAPLACE_COUNTS, "laplace-counts", 1u << DP_QUERY_multiplier)    /* discrete Laplace noise on several numbers of a grid, whose sensitivity is in L1 */ \
    X(DP_QUERY_GAMMA, "gamma", 1u << DP_QUERY_multiplier)                      /* vectors, density ∝ exp(−‖z‖₂ / scale) */     \
    X(DP_QUERY_PURE, "pure", 1u << DP_QUERY_epsilon)                           /* anything that is epsilon-DP by itself */     \
    X(DP_QUERY_EXPONENTIAL, "exponential", 1u << DP_QUERY_epsilon)             /* the exponential mechanism, of bounded range epsilon */ \
    X(DP_QUERY_COUNTS, "counts", 1u << DP_QUERY_epsilon)                       /* discrete Laplace noise on several numbers, of L1 sensitivity */ \
    X(DP_QUERY_SPARSE_LAPLACE, "sparse-vector-laplace", 1u << DP_QUERY_epsilon | 1u << DP_QUERY_query_epsilon | 1u << DP_QUERY_most) \
    X(DP_QUERY_SPARSE_GAUSSIAN, "sparse-vector-gaussian", 1u << DP_QUERY_rho | 1u << DP_QUERY_most)                            \
    /* multiplier: of the Gaussian noise on the result; 0 without noise, which no accountant accepts */                   \
    X(DP_QUERY_OBJECTIVE, "objective", 1u << DP_QUERY_multiplier | 1u << DP_QUERY_objective | 1u << DP_QUERY_curvature | 1u << DP_QUERY_vertices) \
    /* counts with Gaussian noise, of which only those above a threshold are released, with the texts that they count */     \
    X(DP_QUERY_GAUSSIAN_THRESHOLD, "gaussian-threshold", 1u << DP_QUERY_multiplier | 1u << DP_QUERY_named_delta)               \
    /* releases of other tools, of which only their statement is known (epsilon without delta: pure). No frame has them */    \
    X(DP_QUERY_STATED, "stated", 1u << DP_QUERY_epsilon | 1u << DP_QUERY_delta)                                                \
    X(DP_QUERY_ZCDP, "zcdp", 1u << DP_QUERY_rho)
/* clang-format on */

#define DP_QUERY_ENUMERATOR(id, name, members) id,
enum dp_query_kind { DP_QUERY_KINDS(DP_QUERY_ENUMERATOR) DP_QUERY_KIND_COUNT };
#undef DP_QUERY_ENUMERATOR

#define DP_QUERY_REAL_MEMBER double
#define DP_QUERY_INT_MEMBER int64_t
#define DP_QUERY_DECLARE(name, type, change) DP_QUERY_##type##_MEMBER name;
struct dp_query {
    enum dp_query_kind kind;
    DP_QUERY_MEMBERS(DP_QUERY_DECLARE) /* 0 if the kind does not have the member */
};
#undef DP_QUERY_DECLARE

struct dp_query_member_info {
    const char *key;
    bool whole;    /* an int64_t, else a double */
    size_t offset; /* in struct dp_query */
};
extern const struct dp_query_member_info dp_query_members[DP_QUERY_MEMBER_COUNT];

struct dp_query_kind_info {
    const char *name;
    unsigned members; /* bit m is dp_query_members[m] */
};
extern const struct dp_query_kind_info dp_query_kinds[DP_QUERY_KIND_COUNT];

static inline bool dp_query_has(enum dp_query_kind kind, enum dp_query_member member)
{
    return (dp_query_kinds[kind].members >> member & 1) != 0;
}

/* The member that is the noise multiplier which calibration chooses. Only for kinds that have a multiplier. The result of
 * objective perturbation has noise of its own as well, because its minimiser is approximate. */
static inline enum dp_query_member dp_query_noise(enum dp_query_kind kind)
{
    return dp_query_has(kind, DP_QUERY_objective) ? DP_QUERY_objective : DP_QUERY_multiplier;
}

/* Whether only the statement of another tool is known of a query of this kind. */
static inline bool dp_query_is_statement(enum dp_query_kind kind)
{
    return kind == DP_QUERY_STATED || kind == DP_QUERY_ZCDP;
}

/* The address of a member: to read, and to set. */
static inline const void *dp_query_at(const struct dp_query *query, enum dp_query_member member)
{
    return (const char *)query + dp_query_members[member].offset;
}
static inline void *dp_query_edit(struct dp_query *query, enum dp_query_member member)
{
    return (char *)query + dp_query_members[member].offset;
}

/* The kind of that name, or DP_QUERY_KIND_COUNT. */
enum dp_query_kind dp_query_find(const char *name, size_t length);

/* DP_E_RUN: the kind is unknown, or one of its members is not positive and finite. DP_QUERY_NONE passes. */
int dp_query_check(const struct dp_query *query, struct dp_err *err);

/* Whether both have the same kind with the same values of its members. */
bool dp_query_same(const struct dp_query *a, const struct dp_query *b);
