#include "query/query.h"

#define IS_REAL false
#define IS_INT true
#define MEMBER(name, type, change) {#name, IS_##type, offsetof(struct dp_query, name)},
const struct dp_query_member_info dp_query_members[DP_QUERY_MEMBER_COUNT] = {DP_QUERY_MEMBERS(MEMBER)};

#define KIND(id, name, members) {name, members},
const struct dp_query_kind_info dp_query_kinds[DP_QUERY_KIND_COUNT] = {DP_QUERY_KINDS(KIND)};

enum dp_query_kind dp_query_find(const char *name, size_t length)
{
    int kind = 0;
    while (kind < DP_QUERY_KIND_COUNT &&
           (strlen(dp_query_kinds[kind].name) != length || memcmp(dp_query_kinds[kind].name, name, length) != 0))
        kind++;
    return (enum dp_query_kind)kind;
}

static int check_member(const struct dp_query *query, enum dp_query_member m, struct dp_err *err)
{
    const struct dp_query_member_info *member = &dp_query_members[m];
    const char *name = dp_query_kinds[query->kind].name;
    if (member->whole) {
        int64_t value = *(const int64_t *)dp_query_at(query, m);
        return value >= 1 ? DP_OK
                          : dp_fail(err, DP_E_RUN, "the %s of a query of kind %s must be at least 1, got %lld", member->key,
                                    name, (long long)value);
    }
    double value = *(const double *)dp_query_at(query, m);
    return value > 0 && isfinite(value)
               ? DP_OK
               : dp_fail(err, DP_E_RUN, "the %s of a query of kind %s must be positive and finite, got %g", member->key, name,
                         value);
}

int dp_query_check(const struct dp_query *query, struct dp_err *err)
{
    int rc = DP_OK;
    if ((int)query->kind < 0 || query->kind >= DP_QUERY_KIND_COUNT)
        return dp_fail(err, DP_E_RUN, "an event has an unknown query");
    for (int m = 0; rc == DP_OK && m < DP_QUERY_MEMBER_COUNT; m++)
        if (dp_query_has(query->kind, (enum dp_query_member)m))
            rc = check_member(query, (enum dp_query_member)m, err);
    return rc;
}

bool dp_query_same(const struct dp_query *a, const struct dp_query *b)
{
    if (a->kind != b->kind)
        return false;
    for (int i = 0; i < DP_QUERY_MEMBER_COUNT; i++) {
        enum dp_query_member m = (enum dp_query_member)i;
        const void *p = dp_query_at(a, m), *q = dp_query_at(b, m);
        if (!dp_query_has(a->kind, m))
            continue;
        if (dp_query_members[m].whole ? *(const int64_t *)p != *(const int64_t *)q : *(const double *)p != *(const double *)q)
            return false;
    }
    return true;
}
