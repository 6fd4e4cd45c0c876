/* A stream of frames: scanned, decoded, written and read again, as JSON, as a model. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../bin/info/model.h"
#include "base/json.h"
#include "fuzz.h"
#include "model/compare.h"
#include "wire/codec.h"
#include "wire/json.h"
#include "wire/model.h"

/* A frame that was read is a normal frame: it can be written, and then reads back the same. */
static void check_round_trip(const struct dp_frame *frame)
{
    msgpack_sbuffer one, two;
    size_t length;
    msgpack_sbuffer_init(&one);
    msgpack_sbuffer_init(&two);
    struct dp_frame *again = dp_frame_new();
    fuzz_assert(dp_wire_encode(&one, frame, NULL) == DP_OK);
    fuzz_assert(dp_wire_scan(&(struct dp_scan){0}, one.data, one.size, &length, NULL) == 1 && length == one.size);
    fuzz_assert(dp_wire_decode(again, one.data, one.size, NULL) == DP_OK);
    fuzz_assert(dp_wire_encode(&two, again, NULL) == DP_OK);
    fuzz_assert(one.size == two.size && memcmp(one.data, two.data, one.size) == 0);
    dp_frame_copy(again, frame);
    dp_frame_strip(again);
    dp_frame_free(again);
    msgpack_sbuffer_destroy(&one);
    msgpack_sbuffer_destroy(&two);
}

static void as_model(const struct dp_frame *frame, FILE *nowhere)
{
    struct dp_err err = {0};
    size_t outputs, cols, names = 0;
    char digest[DP_MODEL_DIGEST], what[200], **name = NULL;
    int rc = dp_model_shape(frame, &outputs, &cols, &err);
    fuzz_said(rc, &err);
    if (rc != DP_OK)
        return;
    fuzz_said(dp_model_digest(frame, digest, &err), &err);
    fuzz_said(dp_model_names(frame, &name, &names, &err), &err);
    dp_model_free_names(name, names);
    fuzz_said(info_model_describe(frame, false, NULL, nowhere, &err), &err);
    fuzz_said(info_model_describe(frame, true, NULL, nowhere, &err), &err);
    fuzz_said(info_model_describe(frame, false, "labels", nowhere, &err), &err);
    struct dp_model_tolerance exact = {.exact = true}, weights = {.weights_only = true};
    fuzz_assert(dp_model_compare(frame, frame, &exact, what, sizeof what, &err) <= 0);
    fuzz_said(dp_model_compare(frame, frame, &weights, what, sizeof what, &err), &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static FILE *nowhere;
    struct dp_frame *frame;
    struct dp_err err = {0};
    char *bytes = fuzz_text(data, size);
    if (nowhere == NULL)
        nowhere = fopen("/dev/null", "w");
    frame = dp_frame_new();
    for (size_t at = 0, length; at < size; at += length) {
        int rc = dp_wire_scan(&(struct dp_scan){0}, bytes + at, size - at, &length, &err);
        fuzz_said(rc, &err);
        fuzz_assert(rc != 0 || length > size - at);
        if (rc != 1)
            break;
        fuzz_assert(length > 0 && length <= size - at);
        rc = dp_wire_decode(frame, bytes + at, length, &err);
        fuzz_said(rc, &err);
        if (rc < 0)
            break;
        check_round_trip(frame);
        json_t *json = dp_json_frame(frame, true);
        fuzz_assert(json != NULL);
        dp_json_print(json, 0, nowhere);
        json_decref(json);
        if (frame->kind == DP_KIND_LAP)
            as_model(frame, nowhere);
    }
    dp_frame_free(frame);
    free(bytes);
    return 0;
}
