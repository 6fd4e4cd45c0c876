/* Records: how an array was made from private data. A frame has a record for each array that has to be paid for. dp-sample
 * opens a record, the stage that bounds a sum names the field, the stage that adds noise completes the record, and the gate
 * charges it. Code that encodes, prints, compares or reads records iterates over the table of members below. */
#pragma once

#include "query/query.h"
#include "wire/paid.h"
#include "wire/schema.h"

/* clang-format off */
/* How rows are chosen: X(enumerator, name on the wire and on command lines). */
#define DP_SAMPLERS(X)                                                                                                         \
    X(DP_SAMPLER_NONE, "none")         /* not recorded yet */                                                                  \
    X(DP_SAMPLER_POISSON, "poisson")   /* each row independently with probability rate, in each lap */                         \
    X(DP_SAMPLER_FIXED, "fixed")       /* a fixed number of rows without replacement, drawn again in each lap */               \
    X(DP_SAMPLER_SHUFFLE, "shuffle")   /* consecutive parts of one permutation per epoch */                                    \
    X(DP_SAMPLER_CYCLIC, "cyclic")     /* the same order in each epoch: a row is in every epoch_laps-th lap */                 \
    X(DP_SAMPLER_FULL, "full")         /* every row, each lap */                                                               \
    X(DP_SAMPLER_REPEATED, "repeated") /* Poisson sampling for each of many draws within the lap */                            \
    X(DP_SAMPLER_STREAM, "stream")     /* the rows that arrive next; each is in one lap only; `rows`: the rows of a lap */
/* clang-format on */

#define DP_SAMPLER_ENUMERATOR(id, name) id,
enum dp_sampler { DP_SAMPLERS(DP_SAMPLER_ENUMERATOR) DP_SAMPLER_COUNT };
#define DP_SAMPLER_CHOICE(id, name) "|" name
#define DP_SAMPLER_CHOICES (&(DP_SAMPLERS(DP_SAMPLER_CHOICE))[1]) /* "none|poisson|…" */

enum dp_adjacency {
    DP_ADJACENCY_NONE,
    DP_ADJACENCY_NULL_RECORD, /* one person's row is present or contributes nothing */
    DP_ADJACENCY_REPLACE_ONE, /* one person's row is exchanged for another's */
    DP_ADJACENCY_COUNT
};

enum dp_release {
    DP_RELEASE_NONE,
    DP_RELEASE_SUM,           /* only the sum is released; it depends only on the rows of this lap */
    DP_RELEASE_SECRET_STATE,  /* only the sum is released; each row has a secret state of its own (alpha) */
    DP_RELEASE_SUM_AND_STATE, /* the noised state of the batch's rows also counts as released */
    DP_RELEASE_COUNT
};

/* The adjacency of a choice of --adjacency, null-record|replace-one. */
static inline enum dp_adjacency dp_adjacency_chosen(int choice)
{
    return choice == 0 ? DP_ADJACENCY_NULL_RECORD : DP_ADJACENCY_REPLACE_ONE;
}

/* Values that follow what was released, because a stage has --follow. */
enum { DP_FOLLOWS_BOUND = 1, DP_FOLLOWS_MULTIPLIER = 2, DP_FOLLOWS_SEARCH = 4, DP_FOLLOWS_ALL = 7 };

/* Names on the wire, for instance "poisson", indexed by the enumerators above. */
extern const char *const dp_sampler_names[DP_SAMPLER_COUNT];
extern const char *const dp_adjacency_names[DP_ADJACENCY_COUNT];
extern const char *const dp_release_names[DP_RELEASE_COUNT];

/* Where a member must be the same: in all records of the run, in all records of a lap, or only in the record of its field. */
enum dp_record_alike { DP_ALIKE_RUN, DP_ALIKE_LAP, DP_ALIKE_FIELD };

/* How a member of a field's record may change from one lap of a kind to the next, as the gate checks (dp_record_breaks). */
enum dp_record_change {
    DP_CHANGE_NEVER,
    DP_CHANGE_PLANNED,    /* it is as announced; in an adaptive run, charged lap by lap, it may follow released values */
    DP_CHANGE_UP,         /* the same; and it may exceed an announced schedule */
    DP_CHANGE_FOLLOWS,    /* the bound: known from the first lap on; if the run is adaptive it may follow released values */
    DP_CHANGE_WITH_BOUND, /* its ratio to the bound is the same as in the first lap */
    DP_CHANGE_EACH_LAP,   /* each lap has its own, which follows from the other members */
    DP_CHANGE_HELLO,      /* only the records of a hello frame have it */
};

/* The members, in their order on the wire: X(member of struct dp_record, key, type, its names, how many, alike, change). Then
   the record has the members of its query that the kind of the query has (query/query.h), each under its own key. */
/* clang-format off */
#define DP_RECORD_MEMBERS(X)                                                                                                   \
    X(of, "of", FIELD, NULL, 0, FIELD, NEVER)             /* the field of the record; DP_F_NONE until it is bounded */         \
    X(sampler, "sampler", NAME, dp_sampler_names, DP_SAMPLER_COUNT, LAP, PLANNED) \
    X(rate, "rate", REAL, NULL, 0, LAP, PLANNED)          /* probability that a row is in the batch, or in a draw */ \
    X(rows, "rows", INT, NULL, 0, RUN, NEVER)             /* public number of rows */ \
    X(epoch_laps, "epoch_laps", INT, NULL, 0, LAP, PLANNED) /* shuffle: laps per epoch; else 0 */ \
    X(draws, "draws", INT, NULL, 0, LAP, PLANNED)         /* repeated: number of draws in the lap; else absent */             \
    X(contraction, "contraction", REAL, NULL, 0, LAP, PLANNED) /* repeated: the factor by which each draw shrinks the effect of earlier draws; else absent */ \
    X(adjacency, "adjacency", NAME, dp_adjacency_names, DP_ADJACENCY_COUNT, RUN, NEVER) \
    X(release, "release", NAME, dp_release_names, DP_RELEASE_COUNT, LAP, NEVER) \
    X(bound, "bound", REAL, NULL, 0, FIELD, FOLLOWS)      /* C: L2 norm of one person's part of the field; 0 until bounded. repeated: of one draw */ \
    X(sensitivity, "sensitivity", REAL, NULL, 0, FIELD, WITH_BOUND) /* L2 sensitivity of the noised array, the unit of the multiplier */ \
    X(scale, "scale", REAL, NULL, 0, FIELD, EACH_LAP)     /* of the noise, in units of the field; Gaussian: its standard deviation */ \
    X(shares, "shares", INT, NULL, 0, FIELD, NEVER)       /* number of shares of the noise, each drawn by another shard; else absent */      \
    X(colluding, "colluding", INT, NULL, 0, FIELD, NEVER) /* shares: this many may be known to others; the remaining shares have the scale */ \
    X(gathered, "gathered", INT, NULL, 0, FIELD, EACH_LAP) /* shares: number of shares that have been added up */ \
    X(promised, "promised", REAL, NULL, 0, FIELD, NEVER)  /* the least multiplier that a site was promised; else absent */                               \
    X(on, "on", TEXT, NULL, 0, FIELD, HELLO)              /* hello: the kind of laps that the record is for; "" if laps have no kinds */         \
    X(means, "means", NAME, dp_meaning_names, DP_MEANS_COUNT, FIELD, HELLO) /* hello: meaning of the field for the stage that uses it; else absent */ \
    X(follows, "follows", INT, NULL, 0, FIELD, HELLO)     /* hello: the values that stages take from dp-adapt, a sum of DP_FOLLOWS_; else absent */ \
    X(query, "noise", KIND, NULL, 0, FIELD, PLANNED)
/* clang-format on */
#define DP_RECORD_ON 32 /* with its NUL */

struct dp_record {
    enum dp_field of;
    enum dp_sampler sampler;
    double rate;
    int64_t rows, epoch_laps, draws;
    double contraction;
    enum dp_adjacency adjacency;
    enum dp_release release;
    double bound, sensitivity, scale;
    int64_t shares, colluding, gathered;
    double promised;
    char on[DP_RECORD_ON];
    enum dp_meaning means;
    int64_t follows;
    struct dp_query query;
};

#define DP_RECORD_ENUMERATOR(member, key, type, names, count, alike, change) DP_RECORD_##member,
enum dp_record_member { DP_RECORD_MEMBERS(DP_RECORD_ENUMERATOR) DP_RECORD_OWN_COUNT };
#undef DP_RECORD_ENUMERATOR
#define DP_RECORD_MEMBER_COUNT ((int)DP_RECORD_OWN_COUNT + (int)DP_QUERY_MEMBER_COUNT) /* members are 0 … this − 1 */

_Static_assert(DP_RECORD_MEMBER_COUNT <= 32, "a set of members is an unsigned");

/* A member of a record in its written form: names, keys of fields and kinds of queries are texts. */
struct dp_record_value {
    enum dp_type type; /* DP_T_INT, DP_T_REAL or DP_T_TEXT */
    int64_t whole;
    double real;
    const char *text; /* a text of `length` bytes; when got, NUL-terminated as well */
    size_t length;
};

const char *dp_record_key(int member);
enum dp_type dp_record_type(int member);
/* The member with this key, or DP_RECORD_MEMBER_COUNT. The search begins at `first` and wraps around, because records have
 * their members in this order. */
int dp_record_find_from(int first, const char *key, size_t length);
int dp_record_find(const char *key, size_t length);

/* Whether the record has the member. `of`: if it has a field. `on`: if it names a kind of laps. draws and contraction: if the
 * sampler is repeated. shares, colluding and gathered: if the noise is in shares. promised: if a multiplier was promised.
 * Members of the query: if its kind has them. All others: always. */
bool dp_record_has(const struct dp_record *record, int member);

/* The members that the record has: bit m is set for member m. */
unsigned dp_record_members(const struct dp_record *record);

struct dp_record_value dp_record_get(const struct dp_record *record, int member);

/* Whether both have the member with the same value, bit by bit, or neither has it. */
bool dp_record_same_member(const struct dp_record *a, const struct dp_record *b, int member);

/* The set of members that both have with the same value: bit m is member m. */
unsigned dp_record_alike(enum dp_record_alike alike);
unsigned dp_record_changes(enum dp_record_change change);

/* dp_record_differs(a, b, set): find the first member of a set that is not the same in both, by dp_record_same_member;
   DP_RECORD_MEMBER_COUNT if all are the same. All comparisons of two records use this and the sets above. */
int dp_record_differs(const struct dp_record *a, const struct dp_record *b, unsigned set);

/* dp_record_breaks(terms, record, loose): find the first member of a record that breaks the terms of a contract;
   DP_RECORD_MEMBER_COUNT if the record keeps to all of them. loose: a set of columns, 1u << DP_CHANGE_…. By its column, a member
     EACH_LAP, HELLO   may differ;
     UP                must be the same, or, if its column is loose, at least as large;
     WITH_BOUND        must have the same ratio to the bound, or, if its column is loose, may differ;
     all others        must be the same, or, if their column is loose, may differ. */
int dp_record_breaks(const struct dp_record *terms, const struct dp_record *record, unsigned loose);

/* Sets a member to a value of its type; false when the text is not one of the member's names, or too long. */
bool dp_record_set(struct dp_record *record, int member, const struct dp_record_value *value);

/* Zeroes the members that the record does not have. */
void dp_record_tidy(struct dp_record *record);

/* Converts record i of a frame of format 1, counted from 0, to the present format. In format 1 the position of a record said
 * which field it was of, and "laplace" was discrete. */
void dp_record_of_format_1(struct dp_record *record, int i);

/* The number of laps of an epoch with batches of rate × rows, in whole rows and at least one row. All batches but the last have
 * the same size. */
int64_t dp_record_epoch_laps(int64_t rows, double rate);

/* The L2 sensitivity that bound, adjacency and release imply. */
double dp_record_implied(const struct dp_record *record);

/* Completes the record for a field that one person changes by at most `bound` (L2 norm). The release must be recorded
 * already. */
void dp_record_bound(struct dp_record *record, enum dp_field of, enum dp_adjacency adjacency, double bound);
