/* Answers of workers, also of hostile workers. The input is a digit, the number of shards, and then streams: the question to
   the workers, and one stream from each shard. The hello frame and the first lap of each stream count. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "shards/merge.h"
#include "shards/strip.h"
#include "wire/codec.h"

#define MOST 4

/* The first frames of a stream; is_lap: a lap has come. */
struct stream {
    struct dp_frame *hello, *lap;
    bool is_hello, is_lap;
};

/* Reads all streams, at most `most`. */
static void read_streams(const char *bytes, size_t size, struct stream *stream, int most)
{
    struct dp_frame *frame;
    size_t length;
    int at = -1;
    frame = dp_frame_new();
    for (size_t used = 1; used < size; used += length) {
        if (dp_wire_scan(&(struct dp_scan){0}, bytes + used, size - used, &length, NULL) != 1 ||
            dp_wire_decode(frame, bytes + used, length, NULL) != DP_OK)
            break;
        if (frame->kind == DP_KIND_HELLO && ++at < most) {
            dp_frame_copy(stream[at].hello, frame);
            stream[at].is_hello = true;
        }
        if (at >= most)
            break;
        if (at >= 0 && frame->kind != DP_KIND_HELLO && !stream[at].is_lap) {
            dp_frame_copy(stream[at].lap, frame);
            stream[at].is_lap = true;
        }
    }
    dp_frame_free(frame);
}

/* A merged frame can be written, and has nothing that must stay at a site. */
static void check(const struct dp_frame *out, const struct dp_frame *token)
{
    msgpack_sbuffer buffer;
    msgpack_sbuffer_init(&buffer);
    fuzz_assert(dp_wire_encode(&buffer, out, NULL) == DP_OK);
    msgpack_sbuffer_destroy(&buffer);
    for (int i = 0; i < DP_F_COUNT; i++)
        if ((dp_fields[i].visibility == DP_PRIVATE || dp_fields[i].visibility == DP_TOLD) && i != DP_F_ELSEWHERE &&
            i != DP_F_MULTIPLIERS && i != DP_F_MEMBERS)
            fuzz_assert(!dp_frame_has(out, (enum dp_field)i) || dp_frame_has(token, (enum dp_field)i));
    fuzz_assert(out->kind != DP_KIND_LAP || out->label == DP_LABEL_BOUNDED || out->label == DP_LABEL_NOISED);
}

static void merge_laps(const struct dp_merge *merge, struct stream *stream, struct dp_frame *out)
{
    const struct dp_frame *answer[MOST] = {NULL}, *token = stream[0].lap;
    struct dp_err err = {0};
    if (!stream[0].is_lap || token->kind != DP_KIND_LAP)
        return;
    for (int k = 0; k < merge->shards; k++) {
        dp_merge_token(merge, k, token, out);
        dp_shard_strip(stream[k + 1].lap);
        answer[k] = stream[k + 1].is_lap ? stream[k + 1].lap : NULL;
    }
    int rc = dp_merge_lap(merge, answer, token, out, &err);
    fuzz_said(rc, &err);
    if (rc == DP_OK)
        check(out, token);
}

static void merge_streams(struct stream *stream, int shards, struct dp_frame *out)
{
    const struct dp_frame *answer[MOST];
    struct dp_merge merge = {0};
    struct dp_err err = {0};
    for (int k = 0; k <= shards; k++)
        if (!stream[k].is_hello)
            return;
    for (int k = 0; k < shards; k++) {
        dp_shard_strip(stream[k + 1].hello);
        answer[k] = stream[k + 1].hello;
    }
    int rc = dp_merge_hello(&merge, shards, answer, stream[0].hello, out, &err);
    fuzz_said(rc, &err);
    if (rc == DP_OK) {
        check(out, stream[0].hello);
        merge_laps(&merge, stream, out);
    }
    dp_merge_close(&merge);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct stream stream[MOST + 1] = {{0}};
    struct dp_frame *out;
    if (size < 1 || data[0] < '1' || data[0] >= '1' + MOST)
        return -1;
    int shards = data[0] - '0';
    char *bytes = fuzz_text(data, size);
    out = dp_frame_new();
    for (int k = 0; k <= shards; k++) {
        stream[k].hello = dp_frame_new();
        stream[k].lap = dp_frame_new();
    }
    read_streams(bytes, size, stream, shards + 1);
    merge_streams(stream, shards, out);
    for (int k = 0; k <= shards; k++) {
        dp_frame_free(stream[k].hello);
        dp_frame_free(stream[k].lap);
    }
    dp_frame_free(out);
    free(bytes);
    return 0;
}
