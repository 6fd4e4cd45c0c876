#include "shards/kept.h"

#include <sodium.h>

#include "base/version.h"
#include "checkpoint/checkpoint.h"
#include "wire/codec.h"
#include "wire/state.h"

#define DIGEST 32

static const char software[] = "dpline " DP_VERSION;

static void digest_of(unsigned char digest[DIGEST], const char *text)
{
    crypto_generichash(digest, DIGEST, (const unsigned char *)text, strlen(text), NULL, 0);
}

int dp_kept_write(const char *directory, const struct dp_kept *kept, const struct dp_standing *standing,
                  const msgpack_sbuffer *answer, struct dp_err *err)
{
    struct dp_state state = {0};
    unsigned char digest[DIGEST];
    digest_of(digest, kept->pipeline);
    dp_state_put_text(&state, "software", software);
    dp_state_put_bytes(&state, "pipeline", digest, sizeof digest);
    dp_state_put_int(&state, "shard", kept->shard);
    dp_state_put_int(&state, "shards", kept->shards);
    dp_state_put_int(&state, "first", kept->first);
    dp_state_put_int(&state, "last", kept->last);
    dp_state_put_bytes(&state, "run", standing->run, sizeof standing->run);
    dp_state_put_bytes(&state, "session", standing->session, sizeof standing->session);
    dp_state_put_int(&state, "lap", standing->lap);
    dp_state_put_int(&state, "kept", standing->kept);
    dp_state_put_int(&state, "fresh", kept->fresh);
    dp_state_put_bytes(&state, "answer", answer->data, answer->size);
    return dp_checkpoint_write(directory, 0, standing->lap, &state, err);
}

static int get_id(const struct dp_state *state, const char *name, unsigned char id[DP_LINK_ID], struct dp_err *err)
{
    const void *bytes;
    size_t size;
    int rc = dp_state_get_bytes(state, name, &bytes, &size, err);
    if (rc == DP_OK && size != DP_LINK_ID)
        rc = dp_fail(err, DP_E_RUN, "'%s' of the checkpoint is not one", name);
    if (rc == DP_OK)
        memcpy(id, bytes, size);
    return rc;
}

/* DP_E_RUN unless the file belongs to this worker. */
static int check(const struct dp_state *state, const char *directory, const struct dp_kept *kept, struct dp_err *err)
{
    unsigned char digest[DIGEST];
    char text[64];
    const void *bytes = NULL;
    size_t size = 0;
    int64_t shard = 0, shards = 0;
    digest_of(digest, kept->pipeline);
    int rc = dp_state_get_text(state, "software", text, sizeof text, err);
    if (rc == DP_OK && strcmp(text, software) != 0)
        return dp_fail(err, DP_E_RUN, "the checkpoint %s was written by %s, and only that can resume it; this is %s", directory,
                       text, software);
    rc = rc ?: dp_state_get_bytes(state, "pipeline", &bytes, &size, err);
    if (rc == DP_OK && (size != DIGEST || memcmp(bytes, digest, DIGEST) != 0))
        return dp_fail(err, DP_E_RUN, "the checkpoint %s is of another pipeline: resume it with the same text", directory);
    rc = rc ?: dp_state_get_int(state, "shard", 1, DP_MAX_SHARDS, &shard, err);
    rc = rc ?: dp_state_get_int(state, "shards", 1, DP_MAX_SHARDS, &shards, err);
    if (rc == DP_OK && (shard != kept->shard || shards != kept->shards))
        return dp_fail(err, DP_E_RUN, "the checkpoint %s is of shard %lld/%lld", directory, (long long)shard,
                       (long long)shards);
    return rc;
}

int dp_kept_read(const char *directory, struct dp_kept *kept, struct dp_standing *standing, msgpack_sbuffer *answer,
                 struct dp_err *err)
{
    struct dp_state state = {0};
    const void *bytes = NULL;
    size_t size = 0;
    char *text;
    int rc = dp_checkpoint_read(directory, 0, 0, &state, &text, err);
    rc = rc ?: check(&state, directory, kept, err);
    rc = rc ?: get_id(&state, "run", standing->run, err);
    rc = rc ?: get_id(&state, "session", standing->session, err);
    rc = rc ?: dp_state_get_int(&state, "lap", 0, INT64_MAX, &standing->lap, err);
    rc = rc ?: dp_state_get_int(&state, "kept", 0, INT64_MAX, &standing->kept, err);
    rc = rc ?: dp_state_get_int(&state, "first", 1, INT64_MAX, &kept->first, err);
    rc = rc ?: dp_state_get_int(&state, "last", 1, INT64_MAX, &kept->last, err);
    rc = rc ?: dp_state_get_int(&state, "fresh", 0, INT64_MAX, &kept->fresh, err);
    rc = rc ?: dp_state_get_bytes(&state, "answer", &bytes, &size, err);
    msgpack_sbuffer_clear(answer);
    if (rc == DP_OK)
        dp_wire_put(answer, bytes, size);
    standing->answer = rc == DP_OK && size > 0;
    free(text);
    return rc;
}
