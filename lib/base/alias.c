#include "base/alias.h"

const struct dp_alias dp_aliases[] = {
    {DP_ALIAS_FIELD, "count", "within"},
    {DP_ALIAS_SAMPLER, "drawn", "repeated"},
    {DP_ALIAS_SAMPLING, "drawn", "repeated"},
    {DP_ALIAS_SAMPLING, "replaced", "substituted"},
    {DP_ALIAS_SAMPLING, "selected", "tuned"},
    {DP_ALIAS_FIELD, "plan", "multipliers"},
    {DP_ALIAS_FIELD, NULL, NULL},
};

const char *dp_alias_of(enum dp_alias_place place, const char *name, size_t length)
{
    for (const struct dp_alias *a = dp_aliases; a->old != NULL; a++)
        if (a->place == place && strlen(a->old) == length && memcmp(a->old, name, length) == 0)
            return a->today;
    return NULL;
}
