#include "data/digest.h"

#include "math/kernels.h"

const char *const dp_digest_of = "nonzero";

void dp_digest_start(struct dp_hash *hash, const unsigned char *salt)
{
    dp_hash_start(hash, salt, salt != NULL ? crypto_generichash_KEYBYTES : 0, 16);
}

/* Adds at most DP_DIGEST_PART values. */
static void add_part(struct dp_hash *hash, const float *values, size_t count)
{
    unsigned char bits[DP_DIGEST_PART / 8];
    uint32_t others[DP_DIGEST_PART + LANES];
    const size_t kept = dp_kernels()->pack(values, count, bits, others);
    dp_hash_add(hash, bits, (count + 7) / 8);
    dp_hash_add(hash, others, kept * sizeof *others);
}

void dp_digest_row(struct dp_hash *hash, const float *row, size_t count)
{
    for (size_t j = 0; j < count; j += DP_DIGEST_PART)
        add_part(hash, row + j, count - j < DP_DIGEST_PART ? count - j : DP_DIGEST_PART);
}

void dp_digest_finish(struct dp_hash *hash, size_t rows, size_t cols, char digest[33])
{
    unsigned char bytes[16];
    uint64_t shape[2] = {rows, cols};
    dp_hash_add(hash, shape, sizeof shape);
    dp_hash_end(hash, bytes, sizeof bytes);
    sodium_bin2hex(digest, 33, bytes, sizeof bytes);
}
