/* A digest (BLAKE2b) of bytes that come in parts. libsodium's own state must lie on a boundary of 64 bytes, which a struct from
 * malloc does not; this one may lie anywhere. It may not be copied or moved after its start. */
#pragma once

#include <sodium.h>

#include "base/c.h"

struct dp_hash {
    unsigned char room[sizeof(crypto_generichash_state) + _Alignof(crypto_generichash_state) - 1];
};

static inline crypto_generichash_state *dp_hash_state(const struct dp_hash *hash)
{
    const uintptr_t step = _Alignof(crypto_generichash_state);
    return (crypto_generichash_state *)(((uintptr_t)hash->room + step - 1) / step * step);
}

/* key: key_size bytes, or NULL and 0. size: of the digest. */
static inline void dp_hash_start(struct dp_hash *hash, const unsigned char *key, size_t key_size, size_t size)
{
    crypto_generichash_init(dp_hash_state(hash), key, key_size, size);
}

static inline void dp_hash_add(struct dp_hash *hash, const void *bytes, size_t count)
{
    crypto_generichash_update(dp_hash_state(hash), bytes, count);
}

/* The digest of what has been added; more may be added after it. */
static inline void dp_hash_end(const struct dp_hash *hash, unsigned char *digest, size_t size)
{
    crypto_generichash_state copy = *dp_hash_state(hash);
    crypto_generichash_final(&copy, digest, size);
}
