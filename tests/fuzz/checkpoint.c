/* A file of a checkpoint, restored into a stage and saved again. The first byte of the input, a letter, selects the stage
 * (configured.h); with '0' it is dp-loop's own file. */
#include <sys/stat.h>
#include <unistd.h>

#include "configured.h"
#include "checkpoint/saved.h"

static int no_frame(struct dp_out *out, struct dp_frame *frame, struct dp_err *err)
{
    (void)out;
    (void)frame;
    (void)err;
    return DP_OK;
}

/* hello comes before restore, as in a run. */
static void greet(struct dp_stage *stage)
{
    struct dp_err err = {0};
    struct dp_out out = {.frame = no_frame};
    struct dp_frame *hello;
    hello = dp_frame_new();
    dp_frame_reset(hello, DP_KIND_HELLO);
    dp_frame_set_int(hello, DP_F_FORMAT, DP_FRAME_FORMAT);
    dp_frame_set_int(hello, DP_F_LAPS, 9);
    dp_frame_set_int(hello, DP_F_SEED, 1);
    fuzz_assert(dp_stage_take(stage, hello, &out, &err) == DP_OK);
    dp_frame_free(hello);
}

static void put_back(struct dp_stage *stage, const struct dp_state *state)
{
    struct dp_err err = {0};
    struct dp_state again = {0};
    msgpack_sbuffer buffer;
    greet(stage);
    stage->checkpoint.resumed = 2;
    int rc = stage->class->restore(stage, state, &err);
    fuzz_said(rc, &err);
    stage->lap = 2;
    if (rc != DP_OK)
        return;
    msgpack_sbuffer_init(&buffer);
    rc = stage->class->save(stage, &again, &err);
    if (rc == DP_OK)
        rc = dp_state_encode(&again, &buffer, &err);
    fuzz_said(rc, &err);
    msgpack_sbuffer_destroy(&buffer);
}

static void read_own(const uint8_t *data, size_t size)
{
    struct dp_err err = {0};
    struct dp_state state = {0};
    struct dp_saved saved;
    struct dp_frame *last;
    const void *digest;
    size_t length;
    fuzz_file("loop", data, size);
    last = dp_frame_new();
    dp_saved_of(&saved, "a | b", "a, b 8", 9, 1);
    /* The run is the one that the file names, so that the members after it are read, too. */
    if (dp_state_decode(&state, (const char *)data, size, &err) == DP_OK) {
        if (dp_state_get_bytes(&state, "pipeline", &digest, &length, &err) == DP_OK && length == sizeof saved.pipeline)
            memcpy(saved.pipeline, digest, length);
        if (dp_state_get_bytes(&state, "plan", &digest, &length, &err) == DP_OK && length == sizeof saved.plan)
            memcpy(saved.plan, digest, length);
        dp_state_get_int(&state, "laps", 1, INT64_MAX, &saved.laps, &err);
        dp_state_get_int(&state, "seed", INT64_MIN, INT64_MAX, &saved.seed, &err);
    }
    err = (struct dp_err){0};
    fuzz_said(dp_saved_read(fuzz_path("."), &saved, last, &err), &err);
    dp_frame_free(last);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dp_err err = {0};
    struct dp_state state = {0};
    if (size >= 1 && data[0] == '0') {
        read_own(data + 1, size - 1);
        return 0;
    }
    if (size < 1 || configuration_of(data[0]) == NULL)
        return -1;
    char *bytes = fuzz_text(data + 1, size - 1);
    int rc = dp_state_decode(&state, bytes, size - 1, &err);
    fuzz_said(rc, &err);
    struct dp_stage *stage = rc == DP_OK ? start(configuration_of(data[0])) : NULL;
    if (stage != NULL && stage->class->restore != NULL)
        put_back(stage, &state);
    dp_stage_free(stage);
    free(bytes);
    unlink(fuzz_path("ledger"));
    unlink(fuzz_path("ledger.mark"));
    return 0;
}
