/* A stream of frames into a stage: the first byte of the input, a letter, selects the stage and its configuration. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "configured.h"
#include "wire/codec.h"

#define MOST_LAPS 8 /* of an input */

static int put_frame(struct dp_out *out, struct dp_frame *frame, struct dp_err *err)
{
    msgpack_sbuffer buffer;
    (void)out;
    msgpack_sbuffer_init(&buffer);
    int rc = dp_wire_encode(&buffer, frame, err);
    msgpack_sbuffer_destroy(&buffer);
    return rc;
}

static int put_text(struct dp_out *out, const char *text, size_t length, struct dp_err *err)
{
    (void)out;
    (void)err;
    fuzz_assert(memchr(text, '\0', length) == NULL);
    return DP_OK;
}

static void warn(struct dp_out *out, const char *stage, const char *sentence)
{
    (void)out;
    fuzz_assert(stage[0] != '\0' && sentence[0] != '\0');
}

static void feed(struct dp_stage *stage, const char *bytes, size_t size)
{
    struct dp_err err = {0};
    struct dp_out out = {.frame = put_frame, .text = put_text, .warn = warn};
    struct dp_frame *frame;
    size_t length;
    int laps = 0, rc = DP_OK;
    bool hello = false, end = false;
    frame = dp_frame_new();
    for (size_t at = 0; at < size && rc == DP_OK && !end && laps < MOST_LAPS; at += length) {
        if (dp_wire_scan(&(struct dp_scan){0}, bytes + at, size - at, &length, &err) != 1 ||
            dp_wire_decode(frame, bytes + at, length, &err) != DP_OK)
            break;
        /* the runtime checks this before a stage sees the frame */
        if (frame->kind == DP_KIND_ERROR || (frame->kind == DP_KIND_HELLO) == hello)
            break;
        hello = true;
        laps += frame->kind == DP_KIND_LAP;
        end = frame->kind == DP_KIND_END;
        rc = dp_stage_take(stage, frame, &out, &err);
        fuzz_said(rc, &err);
    }
    dp_frame_free(frame);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || configuration_of(data[0]) == NULL)
        return -1;
    struct dp_stage *stage = start(configuration_of(data[0]));
    char *bytes = fuzz_text(data + 1, size - 1);
    feed(stage, bytes, size - 1);
    dp_stage_free(stage);
    free(bytes);
    unlink(fuzz_path("ledger"));
    unlink(fuzz_path("ledger.mark"));
    return 0;
}
