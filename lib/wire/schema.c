#include "wire/schema.h"

#include <string.h>

#define DP_FIELD_INFO(id, key, type, visibility, lifetime) [id] = {key, type, visibility, DP_LIFETIME_##lifetime},
const struct dp_field_info dp_fields[DP_F_COUNT] = {DP_FIELDS(DP_FIELD_INFO)};

enum dp_field dp_field_find(const char *key, size_t length)
{
    for (int i = 0; i < DP_F_COUNT; i++)
        if (length > 0 && dp_fields[i].key[0] == key[0] && strlen(dp_fields[i].key) == length &&
            memcmp(dp_fields[i].key, key, length) == 0)
            return (enum dp_field)i;
    return DP_F_COUNT;
}
