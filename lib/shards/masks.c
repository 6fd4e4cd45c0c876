#include "shards/masks.h"

#include <sodium.h>

#include "base/hash.h"
#include "base/mem.h"
#include "port/keys.h"

struct other {
    unsigned char public[DP_KEY_BYTES];
    unsigned char secret[crypto_scalarmult_BYTES];           /* that this site and the other one share */
    unsigned char key[crypto_stream_chacha20_ietf_KEYBYTES]; /* for this roster */
    uint64_t fresh;                                          /* its number; 0: it takes no part */
};

struct dp_masks {
    int sites, own, lost; /* own: from 0 */
    bool complete;        /* the sites have their numbers and keys for the next lap */
    int64_t fresh;
    struct other *site; /* of each shard; this site has no secret with itself */
    uint64_t *stream;   /* of `capacity` numbers */
    size_t capacity;
};

static void hash_keys(const struct dp_masks *m, struct dp_hash *hash)
{
    for (int k = 0; k < m->sites; k++)
        dp_hash_add(hash, m->site[k].public, DP_KEY_BYTES);
}

int64_t dp_masks_tag(const struct dp_masks *m)
{
    struct dp_hash hash;
    uint64_t tag[2]; /* BLAKE2b has at least 16 bytes */
    dp_hash_start(&hash, NULL, 0, sizeof tag);
    hash_keys(m, &hash);
    dp_hash_end(&hash, (unsigned char *)tag, sizeof tag);
    return (int64_t)(tag[0] >> 1 | 1);
}

int64_t dp_masks_fresh(const struct dp_masks *m)
{
    return m->fresh;
}

void dp_masks_renew(struct dp_masks *m, int64_t kept)
{
    uint64_t drawn;
    randombytes_buf(&drawn, sizeof drawn);
    m->fresh = kept > 0 ? kept : (int64_t)(drawn >> 1 | 1);
    m->complete = false;
}

/* Copies the keys of the roster. */
static int read_roster(struct dp_masks *m, const struct dp_masks_options *o, struct dp_err *err)
{
    struct dp_key_trusted *list;
    size_t count;
    int rc = dp_keys_roster(o->roster, &list, &count, err);
    if (rc == DP_OK && count != (size_t)o->shards)
        rc = dp_fail(err, DP_E_USAGE, "--mask: %s has %zu keys, and the run has %d shards: line K is for shard K", o->roster,
                     count, o->shards);
    for (size_t k = 0; rc == DP_OK && k < count; k++) {
        for (size_t other = 0; rc == DP_OK && other < k; other++)
            if (strcmp(list[k].key, list[other].key) == 0)
                rc = dp_fail(err, DP_E_UNSAFE, "--mask: %s has one key twice, for %s and for %s", o->roster, list[other].name,
                             list[k].name);
        dp_key_bytes(list[k].key, m->site[k].public);
    }
    free(list);
    return rc;
}

/* The secrets that this site shares with each other one. */
static int share_secrets(struct dp_masks *m, const struct dp_masks_options *o, const struct dp_key_pair *pair,
                         struct dp_err *err)
{
    unsigned char own[DP_KEY_BYTES], secret[DP_KEY_BYTES];
    int rc = DP_OK;
    dp_key_bytes(pair->public, own);
    dp_key_bytes(pair->secret, secret);
    if (memcmp(own, m->site[m->own].public, sizeof own) != 0)
        rc = dp_fail(err, DP_E_UNSAFE, "--mask: the key of shard %d in %s is not the key of this site (dp-key show)", o->shard,
                     o->roster);
    for (int k = 0; rc == DP_OK && k < m->sites; k++)
        if (k != m->own && crypto_scalarmult(m->site[k].secret, secret, m->site[k].public) != 0)
            rc = dp_fail(err, DP_E_UNSAFE, "--mask: the key of shard %d in %s is not a valid key", k + 1, o->roster);
    sodium_memzero(secret, sizeof secret);
    return rc;
}

int dp_masks_open(struct dp_masks **masks, const struct dp_masks_options *o, const struct dp_security *security,
                  struct dp_err *err)
{
    struct dp_masks *m = dp_new(1, sizeof *m);
    struct dp_key_pair pair;
    char *directory = NULL;
    *masks = m;
    m->site = dp_new((size_t)o->shards, sizeof *m->site);
    m->sites = o->shards;
    m->own = o->shard - 1;
    m->lost = o->lost;
    dp_masks_renew(m, 0);
    int rc = read_roster(m, o, err);
    rc = rc ?: dp_security_directory(&directory, security, err);
    rc = rc ?: dp_keys_own(directory, &pair, err);
    rc = rc ?: share_secrets(m, o, &pair, err);
    sodium_memzero(&pair, sizeof pair);
    free(directory);
    return rc;
}

void dp_masks_close(struct dp_masks *m)
{
    if (m == NULL)
        return;
    sodium_memzero(m->site, (size_t)m->sites * sizeof *m->site);
    free(m->site);
    free(m->stream);
    free(m);
}

/* Whether a total of K − L sites, of which some are honest, has the noise that the record promises. */
static int check_noise(const struct dp_masks *m, const struct dp_record *r, struct dp_err *err)
{
    if (r->shares != m->sites)
        return dp_fail(err, DP_E_UNSAFE, "--mask: without noise in shares (dp-noise --share) the gather gets an exact total");
    if (r->shares - r->colluding < 2)
        return dp_fail(err, DP_E_UNSAFE,
                       "--mask: --colluding leaves %lld honest site, whose sum the gather would get: at least two are needed",
                       (long long)(r->shares - r->colluding));
    if (m->lost > r->colluding)
        return dp_fail(err, DP_E_UNSAFE, "--lost: the noise is enough without %lld sites (dp-noise --colluding), and not %d",
                       (long long)r->colluding, m->lost);
    return DP_OK;
}

int dp_masks_announced(const struct dp_masks *m, const struct dp_frame *hello, struct dp_err *err)
{
    int rc = DP_OK;
    for (int i = 0; rc == DP_OK && i < hello->records; i++)
        rc = check_noise(m, &hello->record[i], err);
    return rc;
}

void dp_masks_complete(struct dp_masks *m, const unsigned char run[DP_LINK_ID], const void *numbers, size_t size)
{
    struct dp_hash hash;
    unsigned char roster[32];
    if (size != (size_t)m->sites * sizeof(uint64_t))
        return;
    dp_hash_start(&hash, NULL, 0, sizeof roster);
    hash_keys(m, &hash);
    dp_hash_add(&hash, numbers, size);
    dp_hash_end(&hash, roster, sizeof roster);
    for (int k = 0; k < m->sites; k++) {
        struct other *other = &m->site[k];
        memcpy(&other->fresh, (const char *)numbers + (size_t)k * sizeof other->fresh, sizeof other->fresh);
        dp_hash_start(&hash, other->secret, sizeof other->secret, sizeof other->key);
        dp_hash_add(&hash, run, DP_LINK_ID);
        dp_hash_add(&hash, roster, sizeof roster);
        dp_hash_add(&hash, m->site[k < m->own ? k : m->own].public, DP_KEY_BYTES);
        dp_hash_add(&hash, m->site[k < m->own ? m->own : k].public, DP_KEY_BYTES);
        dp_hash_end(&hash, other->key, sizeof other->key);
    }
    m->complete = true;
}

int dp_masks_ready(const struct dp_masks *m, struct dp_err *err)
{
    int lost = 0;
    if (!m->complete)
        return dp_fail(err, DP_E_UNSAFE, "--mask: the gather does not say which sites take part in the masks of the lap");
    if (m->site[m->own].fresh != (uint64_t)m->fresh)
        return dp_fail(err, DP_E_UNSAFE, "--mask: the gather asks for a lap whose masks are without this site");
    for (int k = 0; k < m->sites; k++)
        lost += m->site[k].fresh == 0;
    if (lost > m->lost)
        return dp_fail(err, DP_E_UNSAFE, "--mask: the gather continues without %d of %d sites, and --lost allows %d", lost,
                       m->sites, m->lost);
    return DP_OK;
}

/* Adds the mask with another site, or subtracts it. */
static void mask(struct dp_masks *m, int k, int64_t lap, uint32_t which, uint64_t *sum, size_t count)
{
    unsigned char nonce[crypto_stream_chacha20_ietf_NONCEBYTES];
    memcpy(nonce, &lap, sizeof lap);
    memcpy(nonce + sizeof lap, &which, sizeof which);
    crypto_stream_chacha20_ietf((unsigned char *)m->stream, count * sizeof *m->stream, nonce, m->site[k].key);
    for (size_t j = 0; j < count; j++)
        sum[j] += m->own < k ? m->stream[j] : -m->stream[j];
}

int dp_masks_add(struct dp_masks *m, struct dp_frame *answer, struct dp_err *err)
{
    uint32_t which = 0;
    for (int i = 0; i < DP_F_COUNT; i++) {
        enum dp_field field = (enum dp_field)i;
        struct dp_array *sum = dp_paid[i].noised != DP_NOISED_NOT ? dp_frame_edit_array(answer, field) : NULL;
        if (sum == NULL)
            continue;
        const struct dp_record *r = dp_frame_record(answer, field);
        if (r == NULL || r->shares == 0 || sum->dtype != DP_I64)
            return dp_fail(err, DP_E_UNSAFE, "--mask: the %s of lap %lld has no noise in shares", dp_fields[i].key,
                           (long long)answer->lap);
        int rc = check_noise(m, r, err); /* stages of one's own may announce nothing */
        if (rc != DP_OK)
            return rc;
        dp_extend(&m->stream, &m->capacity, sum->count, sizeof *m->stream);
        for (int k = 0; k < m->sites; k++)
            if (k != m->own && m->site[k].fresh != 0)
                mask(m, k, answer->lap, which, sum->data, sum->count);
        which++;
    }
    return DP_OK;
}
