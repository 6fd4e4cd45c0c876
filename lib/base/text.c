#include "base/text.h"

/* Length in bytes of the character that begins here, or 0. Overlong forms, surrogates and numbers above U+10FFFF are not
 * characters. */
static size_t character(const unsigned char *p, size_t left)
{
    size_t length = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : p[0] < 0xf5 ? 4 : 0;
    if (length > left)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    bool bad = (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) || (p[0] == 0xf0 && p[1] < 0x90) ||
               (p[0] == 0xf4 && p[1] > 0x8f);
    return bad ? 0 : length;
}

size_t dp_text_valid(const char *text, size_t length)
{
    size_t at = 0, step;
    while (at < length && (step = character((const unsigned char *)text + at, length - at)) > 0)
        at += step;
    return at;
}

size_t dp_text_cut(const char *text, size_t length, size_t most)
{
    if (length <= most)
        return length;
    while (most > 0 && ((unsigned char)text[most] & 0xc0) == 0x80)
        most--;
    return most;
}

const char *dp_text_show(const char *text, size_t length, char buffer[DP_TEXT_SHOWN])
{
    size_t shown = length <= 40 ? length : dp_text_cut(text, length, 40), used = 0;
    for (size_t at = 0; at < shown;) {
        const unsigned char *p = (const unsigned char *)text + at;
        size_t step = character(p, shown - at);
        bool plain = step > 1 || (step == 1 && p[0] >= ' ' && p[0] != 0x7f);
        if (plain)
            memcpy(buffer + used, p, step);
        used += plain ? step : (size_t)snprintf(buffer + used, 5, "\\x%02x", p[0]);
        at += plain ? step : 1;
    }
    snprintf(buffer + used, DP_TEXT_SHOWN - used, "%s", shown < length ? "…" : "");
    return buffer;
}

const char *dp_text_list(const char *(*get)(const void *self, size_t i, size_t *length), const void *self, size_t count,
                         char buffer[DP_TEXT_LISTED])
{
    char shown[DP_TEXT_SHOWN];
    size_t used = 0, i = 0;
    buffer[0] = '\0';
    for (; i < count && i < 10 && used < 200; i++) {
        size_t length;
        const char *text = get(self, i, &length);
        used += (size_t)snprintf(buffer + used, DP_TEXT_LISTED - used, "%s%s", i > 0 ? ", " : "",
                                 length > 0 ? dp_text_show(text, length, shown) : "''");
    }
    if (i < count)
        snprintf(buffer + used, DP_TEXT_LISTED - used, " and %zu more", count - i);
    return buffer;
}

const char *dp_text_unpaid(const char *words, bool *paid, char *buffer, size_t size)
{
    const size_t length = strlen(DP_TEXT_PAID_SCHEMA);
    size_t used = 0;
    *paid = false;
    buffer[0] = '\0';
    while (*words != '\0') {
        size_t next = strcspn(words, ",");
        bool is_paid = next == length && memcmp(words, DP_TEXT_PAID_SCHEMA, next) == 0;
        *paid = *paid || is_paid;
        if (!is_paid && used < size)
            used += (size_t)snprintf(buffer + used, size - used, "%s%.*s", used > 0 ? "," : "", (int)next, words);
        words += next + (words[next] == ',');
    }
    return buffer;
}
