#include "checkpoint/saved.h"

#include <sodium.h>

#include "base/option.h"
#include "base/version.h"
#include "checkpoint/checkpoint.h"
#include "wire/codec.h"

static void hash(unsigned char digest[DP_SAVED_DIGEST], const char *text)
{
    crypto_generichash(digest, DP_SAVED_DIGEST, (const unsigned char *)text, strlen(text), NULL, 0);
}

/* A seeded run has the same name each time. */
static void name_run(char run[DP_RUN_DIGITS + 1], int64_t seed)
{
    unsigned char name[DP_RUN_DIGITS / 2];
    char text[40];
    if (sodium_init() < 0)
        sodium_misuse();
    snprintf(text, sizeof text, "dpline run %lld", (long long)seed);
    if (seed != DP_OPT_ABSENT_INT)
        crypto_generichash(name, sizeof name, (const unsigned char *)text, strlen(text), NULL, 0);
    else
        randombytes_buf(name, sizeof name);
    sodium_bin2hex(run, DP_RUN_DIGITS + 1, name, sizeof name);
}

void dp_saved_of(struct dp_saved *saved, const char *pipeline, const char *plan, int64_t laps, int64_t seed)
{
    *saved = (struct dp_saved){.laps = laps, .seed = seed};
    hash(saved->pipeline, pipeline != NULL ? pipeline : "");
    hash(saved->plan, plan != NULL ? plan : "");
    name_run(saved->run, seed);
}

int dp_saved_write(const char *directory, const struct dp_saved *saved, const struct dp_frame *last, struct dp_err *err)
{
    struct dp_state state = {0};
    msgpack_sbuffer frame;
    msgpack_sbuffer_init(&frame);
    int rc = dp_wire_encode(&frame, last, err);
    dp_state_put_text(&state, "software", "dpline " DP_VERSION);
    dp_state_put_bytes(&state, "pipeline", saved->pipeline, sizeof saved->pipeline);
    dp_state_put_bytes(&state, "plan", saved->plan, sizeof saved->plan);
    dp_state_put_int(&state, "laps", saved->laps);
    dp_state_put_bytes(&state, "turn", saved->turn, sizeof saved->turn);
    dp_state_put_int(&state, "moved", saved->moved);
    dp_state_put_int(&state, "seed", saved->seed);
    dp_state_put_text(&state, "run", saved->run);
    dp_state_put_int(&state, "stages", saved->stages);
    dp_state_put_bytes(&state, "last", frame.data, frame.size);
    rc = rc ?: dp_checkpoint_write(directory, 0, last->lap, &state, err);
    msgpack_sbuffer_destroy(&frame);
    return rc;
}

/* The values of stages have names, but their meaning may differ between versions. */
static int check_software(const struct dp_state *state, const char *directory, struct dp_err *err)
{
    static const char own[] = "dpline " DP_VERSION;
    char software[64] = "an older version"; /* version 0.1 did not write its name */
    int rc = dp_state_has(state, "software") ? dp_state_get_text(state, "software", software, sizeof software, err) : DP_OK;
    if (rc == DP_OK && strcmp(software, own) != 0)
        rc = dp_fail(err, DP_E_RUN, "the checkpoint %s was written by %s, and only that can resume it; this is %s", directory,
                     software, own);
    return rc;
}

static bool has_digest(const struct dp_state *state, const char *name, const unsigned char digest[DP_SAVED_DIGEST])
{
    const void *bytes;
    size_t size;
    struct dp_err unused;
    return dp_state_get_bytes(state, name, &bytes, &size, &unused) == DP_OK && size == DP_SAVED_DIGEST &&
           memcmp(bytes, digest, size) == 0;
}

/* Compares the options with the file. */
static int check(const struct dp_state *state, const struct dp_saved *saved, const char *directory, struct dp_err *err)
{
    int64_t laps, seed;
    int rc = check_software(state, directory, err);
    rc = rc ?: dp_state_get_int(state, "laps", 1, INT64_MAX, &laps, err);
    rc = rc ?: dp_state_get_int(state, "seed", INT64_MIN, INT64_MAX, &seed, err);
    if (rc != DP_OK)
        return rc;
    if (!has_digest(state, "pipeline", saved->pipeline))
        return dp_fail(err, DP_E_RUN, "the checkpoint %s is of another pipeline: resume it with the same text", directory);
    if (laps != saved->laps)
        return dp_fail(err, DP_E_RUN, "the checkpoint %s is of a run of %lld laps, not %lld", directory, (long long)laps,
                       (long long)saved->laps);
    if (!has_digest(state, "plan", saved->plan))
        return dp_fail(err, DP_E_RUN, "the checkpoint %s is of another plan: resume it with the same text", directory);
    if (seed != saved->seed)
        return dp_fail(err, DP_E_RUN, "the checkpoint %s is of a run with another seed, or without", directory);
    return DP_OK;
}

static int read_turns(const struct dp_state *state, struct dp_saved *saved, struct dp_err *err)
{
    const void *bytes;
    size_t size;
    int rc = dp_state_get_bytes(state, "turn", &bytes, &size, err);
    if (rc == DP_OK && size != sizeof saved->turn)
        rc = dp_fail(err, DP_E_RUN, "'turn' of the checkpoint does not have a number for each kind of lap");
    if (rc == DP_OK)
        memcpy(saved->turn, bytes, size);
    return rc;
}

int dp_saved_read(const char *directory, struct dp_saved *saved, struct dp_frame *last, struct dp_err *err)
{
    struct dp_state state = {0};
    const void *bytes;
    size_t size;
    int64_t moved = 0;
    char *text;
    int rc = dp_checkpoint_read(directory, 0, 0, &state, &text, err);
    rc = rc ?: check(&state, saved, directory, err);
    rc = rc ?: dp_state_get_int(&state, "stages", 1, 1000, &saved->stages, err);
    rc = rc ?: dp_state_get_text(&state, "run", saved->run, sizeof saved->run, err);
    rc = rc ?: read_turns(&state, saved, err);
    rc = rc ?: dp_state_get_int(&state, "moved", 0, 1, &moved, err);
    rc = rc ?: dp_state_get_bytes(&state, "last", &bytes, &size, err);
    rc = rc ?: dp_wire_read(last, bytes, size, err);
    if (rc == DP_OK &&
        (last->kind != DP_KIND_LAP || last->label != DP_LABEL_RELEASED || last->lap < 1 || last->lap >= saved->laps))
        rc = dp_fail(err, DP_E_RUN, "the checkpoint %s holds no model of its run", directory);
    saved->moved = moved == 1;
    free(text);
    return rc;
}
