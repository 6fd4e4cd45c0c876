#include "base/unit.h"

#include <inttypes.h>

#include "base/number.h"

#define PREFIX "person:"

const char *dp_unit_text(size_t rows, char text[DP_UNIT_TEXT])
{
    if (rows == 0)
        return NULL;
    snprintf(text, DP_UNIT_TEXT, PREFIX "%zu", rows);
    return text;
}

bool dp_unit_read(const char *text, size_t *rows)
{
    int64_t number;
    *rows = 0;
    if (text == NULL)
        return true;
    if (strncmp(text, PREFIX, strlen(PREFIX)) != 0 || !dp_number_int(text + strlen(PREFIX), &number) || number < 1 ||
        number > DP_UNIT_MOST)
        return false;
    *rows = (size_t)number;
    return true;
}

const char *dp_unit_larger(const char *a, const char *b)
{
    size_t rows, others;
    return dp_unit_read(b, &others) && dp_unit_read(a, &rows) && others > rows ? b : a;
}
