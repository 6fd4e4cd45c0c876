#include "data/words.h"

#include <sodium.h>

#include "base/mem.h"

/* The code point at p, valid UTF-8, and the number of its bytes. */
static uint32_t decode(const unsigned char *p, size_t *bytes)
{
    *bytes = p[0] < 0x80 ? 1 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    uint32_t c = *bytes == 1 ? p[0] : p[0] & (0x7fu >> *bytes);
    for (size_t i = 1; i < *bytes; i++)
        c = c << 6 | (p[i] & 0x3f);
    return c;
}

static bool within(uint32_t c, uint32_t first, uint32_t last)
{
    return c >= first && c <= last;
}

static bool is_letter(uint32_t c)
{
    if (c < 0xc0)
        return within(c, '0', '9') || within(c, 'A', 'Z') || within(c, 'a', 'z');
    return c != 0xd7 && c != 0xf7 && !within(c, 0x2000, 0x2bff) && !within(c, 0x3000, 0x303f) && !within(c, 0xfe00, 0xfe0f);
}

/* A capital letter has as many bytes as its small letter. */
static uint32_t small(uint32_t c)
{
    if (within(c, 'A', 'Z') || within(c, 0xc0, 0xde) || within(c, 0x391, 0x3a9) || within(c, 0x410, 0x42f))
        return c + 32;
    if (within(c, 0x100, 0x137) || within(c, 0x14a, 0x177))
        return c | 1;
    if (within(c, 0x139, 0x148) || within(c, 0x179, 0x17e))
        return c + (c & 1);
    return within(c, 0x400, 0x40f) ? c + 80 : c == 0x178 ? 0xff : c;
}

static void encode(uint32_t c, size_t bytes, const unsigned char *from, unsigned char *to)
{
    if (bytes == 1)
        to[0] = (unsigned char)c;
    for (size_t i = 0; bytes > 2 && i < bytes; i++) /* none of these changes */
        to[i] = from[i];
    if (bytes == 2) {
        to[0] = (unsigned char)(0xc0 | c >> 6);
        to[1] = (unsigned char)(0x80 | (c & 0x3f));
    }
}

uint64_t dp_words_hash(const void *text, size_t length)
{
    static const unsigned char key[crypto_shorthash_KEYBYTES + 1] = "dpline words: 1";
    unsigned char hash[crypto_shorthash_BYTES];
    uint64_t value = 0;
    crypto_shorthash(hash, text, length, key);
    for (size_t i = sizeof hash; i-- > 0;)
        value = value << 8 | hash[i];
    return value;
}

static void put(const unsigned char *text, const unsigned char *end, int sign, size_t columns, uint32_t column,
                struct dp_parsed *r)
{
    const uint64_t hash = dp_words_hash(text, (size_t)(end - text));
    dp_parsed_add(r, column, sign * (double)(hash % columns + 1));
}

void dp_words_feature(double value, double *x)
{
    double *feature = &x[(size_t)fabs(value) - 1];
    *feature = fmax(*feature, value > 0 ? 1 : DP_WORDS_PAIR);
}

void dp_words_add(const char *text, size_t length, size_t columns, uint32_t column, struct dp_parsed *r)
{
    const unsigned char *from = (const unsigned char *)text, *end = from + length;
    unsigned char *words, *to, *word, *before = NULL; /* words with a blank after each */
    words = dp_new(length + 1, sizeof *words);
    to = word = words;
    while (from <= end) {
        size_t bytes = 1;
        uint32_t c = from < end ? decode(from, &bytes) : ' ';
        if (is_letter(c)) {
            encode(small(c), bytes, from, to);
            to += bytes;
        } else if (to > word) {
            put(word, to, 1, columns, column, r);
            if (before != NULL)
                put(before, to, -1, columns, column, r);
            before = word;
            *to++ = ' ';
            word = to;
        }
        from += bytes;
    }
    free(words);
}
