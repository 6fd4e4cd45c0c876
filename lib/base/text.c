#include "base/text.h"

#include <strings.h>

#include "base/number.h"

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

/* Control characters, and marks that change the direction of the line: all of them are below U+10000. */
static bool is_hidden(uint32_t c)
{
    return c < ' ' || (c >= 0x7f && c <= 0x9f) || c == 0x061c || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
           (c >= 0x2066 && c <= 0x2069);
}

size_t dp_text_next(const char *text, size_t length, char out[DP_TEXT_NEXT], size_t *written)
{
    const unsigned char *p = (const unsigned char *)text;
    size_t step = character(p, length);
    uint32_t c = step == 3   ? (p[0] & 0x0fu) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu)
                 : step == 2 ? (p[0] & 0x1fu) << 6 | (p[1] & 0x3fu)
                             : p[0];
    if (step == 4 || (step > 0 && !is_hidden(c))) {
        memcpy(out, text, step);
        *written = step;
        return step;
    }
    *written = (size_t)snprintf(out, DP_TEXT_NEXT, c >= 0x7f && step > 0 ? "\\u%04x" : "\\x%02x", c);
    return step > 0 ? step : 1;
}

bool dp_text_ends_within(const char *text, size_t length)
{
    const unsigned char *p = (const unsigned char *)text;
    size_t whole = p[0] < 0xc2 ? 1 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : p[0] < 0xf5 ? 4 : 1;
    for (size_t i = 1; i < length; i++)
        if ((p[i] & 0xc0) != 0x80)
            return false;
    return length < whole;
}

void dp_text_escape(const char *text, size_t length, char *buffer, size_t size)
{
    char next[DP_TEXT_NEXT];
    size_t used = 0, written;
    for (size_t at = 0; at < length; used += written) {
        at += dp_text_next(text + at, length - at, next, &written);
        if (used + written >= size)
            break;
        memcpy(buffer + used, next, written);
    }
    buffer[used] = '\0';
}

void dp_text_put(const char *text, size_t width, FILE *out)
{
    char next[DP_TEXT_NEXT];
    size_t put = 0, written;
    for (size_t left = strlen(text), step; left > 0; text += step, left -= step) {
        step = dp_text_next(text, left, next, &written);
        fwrite(next, 1, written, out);
        put += step > 1 && step == written ? 1 : written;
    }
    fprintf(out, "%*s", put < width ? (int)(width - put) : 0, "");
}

void dp_text_line(const char *begin, const char *text, FILE *out)
{
    fputs(begin, out);
    dp_text_put(text, 0, out);
    fputc('\n', out);
}

bool dp_text_is_hex(const char *text, size_t digits)
{
    return strlen(text) == digits && strspn(text, "0123456789abcdef") == digits;
}

bool dp_text_has_line(const char *text, const char *line, size_t length)
{
    for (; text != NULL; text = strchr(text, '\n'), text = text != NULL ? text + 1 : NULL)
        if (strcspn(text, "\n") == length && memcmp(text, line, length) == 0)
            return true;
    return false;
}

bool dp_text_is_formula(const char *text, size_t length)
{
    double number;
    return length > 0 && strchr("=@+-\t\r", text[0]) != NULL && text[0] != '\0' &&
           !dp_number_written(text, length, false, &number) && !dp_number_written(text, length, true, &number);
}

void dp_text_csv(const char *prefix, const char *text, size_t length, FILE *out)
{
    bool quote = false;
    for (size_t i = 0; i < length; i++)
        quote |= strchr(",\"\r\n", text[i]) != NULL;
    if (quote)
        putc('"', out);
    fputs(prefix[0] == '\0' && dp_text_is_formula(text, length) ? "'" : prefix, out);
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '"')
            putc('"', out);
        putc(text[i], out);
    }
    if (quote)
        putc('"', out);
}

void dp_text_xml(const char *text, FILE *out)
{
    static const char *const special[128] = {
        ['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\t'] = "&#9;", ['\n'] = "&#10;", ['\r'] = "&#13;"};
    for (; *text != '\0'; text++)
        if (*text > 0 && special[(size_t)*text] != NULL)
            fputs(special[(size_t)*text], out);
        else
            putc(*text, out);
}

void dp_text_shell(const char *word, FILE *out)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,:/+=@%-";
    if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
        fputs(word, out);
        return;
    }
    putc('\'', out);
    for (; *word != '\0'; word++)
        fputs(*word == '\'' ? "'\\''" : (char[]){*word, '\0'}, out);
    putc('\'', out);
}

const char *dp_text_show(const char *text, size_t length, char buffer[DP_TEXT_SHOWN])
{
    size_t shown = length <= DP_TEXT_MOST ? length : dp_text_cut(text, length, DP_TEXT_MOST);
    dp_text_escape(text, shown, buffer, DP_TEXT_SHOWN);
    if (shown < length)
        strcat(buffer, "…");
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

/* Its first byte, without the bit of its case, saves most lengths and comparisons, which took half of the
 * time. */
bool dp_text_is_among(const char *const *words, const char *text, size_t length)
{
    for (; *words != NULL; words++)
        if (((**words ^ *text) & ~0x20) == 0 && strlen(*words) == length && strncasecmp(*words, text, length) == 0)
            return true;
    return false;
}
