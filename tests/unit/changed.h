/* Records for tests that go over the table of members (wire/record.h), so that a new member is tested as well. */
#pragma once

#include <stdio.h>
#include <string.h>

#include "unit.h"
#include "wire/record.h"

/* The record of a sum over a Poisson batch, with Gaussian noise */
static inline struct dp_record noised_sum(double rate, int64_t rows, double bound, double multiplier)
{
    return (struct dp_record){.of = DP_F_SUM,
                              .sampler = DP_SAMPLER_POISSON,
                              .rate = rate,
                              .rows = rows,
                              .adjacency = DP_ADJACENCY_NULL_RECORD,
                              .release = DP_RELEASE_SUM,
                              .bound = bound,
                              .sensitivity = bound,
                              .scale = bound * multiplier,
                              .on = "",
                              .query = {.kind = DP_QUERY_GAUSSIAN, .multiplier = multiplier}};
}

/* A record that has the member. */
static inline struct dp_record record_with(int member)
{
    struct dp_record r = noised_sum(0.25, 600, 1, 2);
    r.sampler = DP_SAMPLER_REPEATED;
    r.epoch_laps = 4;
    r.draws = 8;
    r.contraction = 0.5;
    r.shares = 3;
    r.colluding = 1;
    r.promised = 1;
    r.query.epsilon = r.query.query_epsilon = r.query.rho = 2;
    r.query.most = r.query.correlated = 2;
    r.query.vertices = 2;
    r.query.objective = r.query.curvature = 2;
    r.query.named_delta = r.query.delta = 0.5;
    if (member >= (int)DP_RECORD_OWN_COUNT)
        while (!dp_query_has(r.query.kind, (enum dp_query_member)(member - (int)DP_RECORD_OWN_COUNT)))
            r.query.kind++;
    dp_record_tidy(&r);
    return r;
}

/* Gives the member another valid value: half of a number, one more than a whole number, or another name. */
static inline void change_member(struct dp_record *r, int member)
{
    static const char *const names[] = {"shuffle", "replace-one", "sum-and-state", "count", "later", "move", "gamma"};
    const struct dp_record before = *r;
    struct dp_record_value v = {.length = 0};
    if (dp_record_has(r, member))
        v = dp_record_get(r, member);
    v.real /= 2;
    v.whole++;
    bool named = dp_record_type(member) == DP_T_TEXT, set = false;
    for (size_t i = 0; named && !set && i < sizeof names / sizeof *names; i++) {
        v.text = names[i];
        v.length = strlen(names[i]);
        set = dp_record_set(r, member, &v);
    }
    if (!named)
        set = dp_record_set(r, member, &v);
    if (!set || dp_record_same_member(&before, r, member))
        fail_msg("'%s' of a record has not changed", dp_record_key(member));
}

static inline bool is_in(unsigned set, int member)
{
    return set >> member & 1;
}
