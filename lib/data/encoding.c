#include "data/encoding.h"

#include "base/mem.h"
#include "data/input.h"

bool dp_utf16_begins(const char *begin, size_t size, bool *little, size_t *mark)
{
    *mark = size >= 2 && (memcmp(begin, "\xff\xfe", 2) == 0 || memcmp(begin, "\xfe\xff", 2) == 0) ? 2 : 0;
    const bool zeros[2] = {size >= 4 && begin[0] == 0 && begin[2] == 0, size >= 4 && begin[1] == 0 && begin[3] == 0};
    *little = *mark > 0 ? begin[0] == '\xff' : zeros[1];
    return *mark > 0 || zeros[0] != zeros[1];
}

int dp_utf16_open(struct dp_utf16 **reader, bool little, const char *begin, size_t size, struct dp_err *err)
{
    struct dp_utf16 *u = dp_new(1, sizeof *u);
    u->to_utf8 = iconv_open("UTF-8", little ? "UTF-16LE" : "UTF-16BE");
    if (u->to_utf8 == (iconv_t)-1 || size > sizeof u->raw) {
        free(u);
        return dp_fail(err, DP_E_RUN, "UTF-16 cannot be read here: iconv -f UTF-16 -t UTF-8 converts it");
    }
    u->held = size;
    memcpy(u->raw, begin, size);
    *reader = u;
    return DP_OK;
}

int dp_utf16_read(struct dp_utf16 *u, struct dp_input *input, char *bytes, size_t *got, struct dp_err *err)
{
    size_t more = 1, had = u->held, room = 1 << 16;
    char *from = u->raw, *to = bytes;
    *got = 0;
    while (*got == 0) {
        int rc = had > 3 ? DP_OK : dp_input_read(input, u->raw + had, sizeof u->raw - had, &more, err);
        if (rc != DP_OK)
            return rc;
        size_t left = had > 3 ? had : had + more;
        if (left == 0)
            return DP_OK;
        if (left == had && had <= 3)
            return dp_fail(err, DP_E_RUN, "%s: ends within a character of UTF-16", dp_input_name(input));
        from = u->raw;
        if (iconv(u->to_utf8, &from, &left, &to, &room) == (size_t)-1 && errno == EILSEQ)
            return dp_fail(err, DP_E_RUN, "%s: begins as UTF-16, and has bytes that are not UTF-16", dp_input_name(input));
        memmove(u->raw, from, left);
        had = u->held = left;
        *got = (size_t)(to - bytes);
    }
    return DP_OK;
}

void dp_utf16_close(struct dp_utf16 *u)
{
    if (u != NULL)
        iconv_close(u->to_utf8);
    free(u);
}

bool dp_text_is_wide(const char *text, size_t length)
{
    unsigned char any = 0;
    for (size_t i = 0; i < length; i++)
        any |= (unsigned char)text[i];
    return any >= 0x80;
}

size_t dp_windows_1252(const char *text, size_t length, char *utf8)
{
    /* The characters of the bytes 0x80 to 0x9f, where Latin-1 has control characters; 0: none. */
    static const uint16_t middle[32] = {0x20ac, 0,      0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160,
                                        0x2039, 0x0152, 0,      0x017d, 0,      0,      0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
                                        0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0,      0x017e, 0x0178};
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned character = (unsigned char)text[i];
        if (character >= 0x80 && character < 0xa0)
            character = middle[character - 0x80];
        if (character < ' ' && character != '\t' && character != '\r' && character != '\n')
            return 0;
        if (character < 0x80) {
            utf8[used++] = (char)character;
            continue;
        }
        if (character >= 0x800)
            utf8[used++] = (char)(0xe0 | character >> 12);
        utf8[used++] = (char)(character >= 0x800 ? 0x80 | (character >> 6 & 0x3f) : 0xc0 | character >> 6);
        utf8[used++] = (char)(0x80 | (character & 0x3f));
    }
    return used;
}
