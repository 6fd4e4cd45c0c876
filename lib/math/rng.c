#include "math/rng.h"
#include "base/hash.h"

#include <sodium.h>

_Static_assert(sizeof(struct dp_key) == crypto_stream_chacha20_KEYBYTES, "one ChaCha20 key");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words of the stream are little endian");

void dp_key_fresh(struct dp_key *key)
{
    if (sodium_init() < 0)
        sodium_misuse();
    randombytes_buf(key->bytes, sizeof key->bytes);
}

void dp_key_derive(struct dp_key *key, int64_t seed, const char *name, int64_t ordinal)
{
    if (sodium_init() < 0)
        sodium_misuse();
    struct dp_hash state;
    uint64_t words[2] = {(uint64_t)seed, (uint64_t)ordinal};
    dp_hash_start(&state, NULL, 0, sizeof key->bytes);
    dp_hash_add(&state, "dpline seed", 11);
    dp_hash_add(&state, words, sizeof words);
    dp_hash_add(&state, name, strlen(name));
    dp_hash_end(&state, key->bytes, sizeof key->bytes);
}

void dp_draw(const struct dp_key *key, enum dp_purpose purpose, uint64_t lap, uint64_t offset, void *out, size_t size)
{
    /* The 64-bit nonce is the address of the stream, the 64-bit block counter the place in the stream. */
    uint64_t nonce = (uint64_t)purpose << 56 | lap;
    memset(out, 0, size);
    crypto_stream_chacha20_xor_ic(out, out, size, (const unsigned char *)&nonce, offset / 64, key->bytes);
}

uint64_t dp_draw_word(const struct dp_key *key, enum dp_purpose purpose, uint64_t lap, uint64_t index, uint64_t j)
{
    uint64_t block[8];
    if (j == 0) {
        dp_draw(key, purpose, lap, index / 8 * 64, block, sizeof block);
        return block[index % 8];
    }
    dp_draw(key, purpose, lap | ((j - 1) / 8 + 1) << 40, index * 64, block, sizeof block);
    return block[(j - 1) % 8];
}

void dp_stream_start(struct dp_stream *stream, const struct dp_key *key, enum dp_purpose purpose, uint64_t lap)
{
    stream->key = key;
    stream->purpose = purpose;
    stream->lap = lap;
    stream->offset = 0;
    stream->used = 64;
}

uint64_t dp_stream_next(struct dp_stream *stream)
{
    if (stream->used == 64) {
        dp_draw(stream->key, stream->purpose, stream->lap, stream->offset, stream->word, sizeof stream->word);
        stream->offset += sizeof stream->word;
        stream->used = 0;
    }
    return stream->word[stream->used++];
}

double dp_stream_real(struct dp_stream *stream)
{
    return (double)(dp_stream_next(stream) >> 11) * 0x1p-53;
}

uint64_t dp_stream_below(struct dp_stream *stream, uint64_t n)
{
    uint64_t reject = (uint64_t)-n % n; /* 2^64 mod n: words below it would favour small values */
    uint64_t word;
    do
        word = dp_stream_next(stream);
    while (word < reject);
    return word % n;
}

/* Half a word is enough for a list of up to 2^31. A product and a shift replace a division (Lemire, 2019): the upper 32 bits of
   `half` times n are uniform if the lower ones are at least 2^32 mod n. */
void dp_stream_shuffle(struct dp_stream *stream, uint32_t *list, size_t count)
{
    uint64_t word = 0;
    unsigned halves = 0;
    for (size_t n = count; n > 1; n--) {
        uint64_t product;
        do {
            if (halves == 0) {
                word = dp_stream_next(stream);
                halves = 2;
            }
            product = (word & UINT32_MAX) * n;
            word >>= 32;
            halves--;
        } while ((uint32_t)product < n && (uint32_t)product < (UINT32_MAX - n + 1) % n);
        size_t at = (size_t)(product >> 32);
        uint32_t last = list[n - 1];
        list[n - 1] = list[at];
        list[at] = last;
    }
}
