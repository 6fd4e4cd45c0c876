/* Members of the JSON that pages and entries are made of. */
#pragma once

#include <jansson.h>

#include "base/c.h"

static inline json_t *get(const json_t *json, const char *name)
{
    return json_object_get(json, name);
}

/* NAN: no such member; INFINITY: it is a text, "inf". */
static inline double number(const json_t *json, const char *name)
{
    const json_t *value = get(json, name);
    return json_is_string(value) ? (double)INFINITY : json_is_number(value) ? json_number_value(value) : (double)NAN;
}

/* "": no such member. */
static inline const char *text(const json_t *json, const char *name)
{
    const char *value = json_string_value(get(json, name));
    return value != NULL ? value : "";
}
