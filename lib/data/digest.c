#include "data/digest.h"

void dp_digest_start(struct dp_hash *hash, const unsigned char *salt)
{
    dp_hash_start(hash, salt, salt != NULL ? crypto_generichash_KEYBYTES : 0, 16);
}

void dp_digest_finish(struct dp_hash *hash, size_t rows, size_t cols, char digest[33])
{
    unsigned char bytes[16];
    uint64_t shape[2] = {rows, cols};
    dp_hash_add(hash, shape, sizeof shape);
    dp_hash_end(hash, bytes, sizeof bytes);
    sodium_bin2hex(digest, 33, bytes, sizeof bytes);
}
