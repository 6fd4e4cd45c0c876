#include "data/digest.h"

#include "base/c.h"

void dp_digest_start(crypto_generichash_state *hash, const unsigned char *salt)
{
    crypto_generichash_init(hash, salt, salt != NULL ? crypto_generichash_KEYBYTES : 0, 16);
}

void dp_digest_finish(crypto_generichash_state *hash, size_t rows, size_t cols, char digest[33])
{
    unsigned char bytes[16];
    uint64_t shape[2] = {rows, cols};
    crypto_generichash_update(hash, (const unsigned char *)shape, sizeof shape);
    crypto_generichash_final(hash, bytes, sizeof bytes);
    sodium_bin2hex(digest, 33, bytes, sizeof bytes);
}
