#include "wire/schema.h"

#define DP_FIELD_INFO(id, key, type, visibility, lifetime)                                                                     \
    [id] = {key, sizeof(key) - 1, type, visibility, DP_LIFETIME_##lifetime},
const struct dp_field_info dp_fields[DP_F_COUNT] = {DP_FIELDS(DP_FIELD_INFO)};

#define DP_FIELD_RANGE(id, least, most) [id] = {least, most},
static const struct {
    int64_t least, most;
} ranges[DP_F_COUNT] = {DP_RANGES(DP_FIELD_RANGE)};

bool dp_field_admits(enum dp_field field, int64_t value)
{
    return value >= ranges[field].least && value <= ranges[field].most;
}

static bool is(enum dp_field field, const char *key, size_t length)
{
    return dp_fields[field].length == length && memcmp(dp_fields[field].key, key, length) == 0;
}

enum dp_field dp_field_find_from(enum dp_field first, const char *key, size_t length)
{
    for (int i = (int)first; i < DP_F_COUNT; i++)
        if (is((enum dp_field)i, key, length))
            return (enum dp_field)i;
    for (int i = 0; i < (int)first; i++)
        if (is((enum dp_field)i, key, length))
            return (enum dp_field)i;
    return DP_F_COUNT;
}

enum dp_field dp_field_find(const char *key, size_t length)
{
    return dp_field_find_from((enum dp_field)0, key, length);
}
