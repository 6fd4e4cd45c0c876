/* A stream of frames into a stage: the first byte of the input, a letter, says which, and how it is configured. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "stage/stage.h"
#include "wire/codec.h"

#define MOST_LAPS 8 /* of an input */

/* @DATA is the data set of classes, @REAL of a regression, @LEDGER a new file. */
static const char *const configurations[] = {
    "dp-sample --data @DATA --rate 0.1",
    "dp-sample --data @DATA --mode fixed --rate 0.1 --inline",
    "dp-sample --data @DATA --mode full --columns 2",
    "dp-scd-step --data @DATA --loss hinge --lambda 1e-3 --clip 0.1",
    "dp-scd-step --data @DATA --loss logistic --lambda 1e-3 --variant sequential --clip 0.1",
    "dp-scd-step --data @REAL --loss squared --lambda 1e-3 --variant primal --clip 0.1",
    "dp-scd-step --data @DATA --loss hinge --lambda 1e-3",
    "dp-grad --loss logistic --clip 0.5",
    "dp-grad --data @DATA --loss smooth-hinge --intercept 1",
    "dp-grad --data @REAL --loss squared --non-private",
    "dp-clip --clip 0.1",
    "dp-clip --data @DATA --clip 0.1 --adaptive 0.5",
    "dp-noise --multiplier 2 --count-multiplier 5",
    "dp-noise --multiplier 2 --noise laplace",
    "dp-noise --multiplier 2 --schedule sqrt:1:1",
    "dp-account --epsilon 100 --delta 1e-5 --allow-seeded",
    "dp-account --epsilon 100 --delta 1e-5 --allow-seeded --ledger @LEDGER",
    "dp-account --epsilon 100 --delta 1e-5 --allow-seeded --adaptive",
    "dp-account --non-private --allow-seeded",
    "dp-step --average tail",
    "dp-step --step 0.1 --optimizer adam",
    "dp-step --step 0.1 --average polynomial --momentum 0.9 --project 10",
    "dp-eval --data @DATA",
    "dp-eval --data @REAL --format json",
};

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

static struct dp_stage *start(const char *configuration)
{
    char *argv[32], *text = strdup(configuration), *rest = NULL;
    int argc = 0;
    struct dp_stage *stage = NULL;
    struct dp_err err = {0};
    for (char *word = strtok_r(text, " ", &rest); word != NULL && argc < 31; word = strtok_r(NULL, " ", &rest)) {
        if (strcmp(word, "@DATA") == 0)
            word = (char *)fuzz_need("FUZZ_CLASSES");
        else if (strcmp(word, "@REAL") == 0)
            word = (char *)fuzz_need("FUZZ_REAL");
        else if (strcmp(word, "@LEDGER") == 0)
            word = (char *)fuzz_path("ledger");
        argv[argc++] = word;
    }
    argv[argc] = NULL;
    int rc = dp_stage_new(&stage, dp_stage_find(argv[0]), argc, argv, NULL, &err);
    if (rc != DP_OK)
        fuzz_fail(err.message, configuration, rc);
    free(text);
    return stage;
}

static void feed(struct dp_stage *stage, const char *bytes, size_t size)
{
    struct dp_err err = {0};
    struct dp_out out = {.frame = put_frame, .text = put_text, .warn = warn};
    struct dp_frame *frame;
    size_t length;
    int laps = 0, rc = DP_OK;
    bool hello = false, end = false;
    fuzz_assert(dp_frame_new(&frame, NULL) == DP_OK);
    for (size_t at = 0; at < size && rc == DP_OK && !end && laps < MOST_LAPS; at += length) {
        if (dp_wire_scan(&(struct dp_scan){0}, bytes + at, size - at, &length, &err) != 1 ||
            dp_wire_decode(frame, bytes + at, length, &err) != DP_OK)
            break;
        /* what the runtime asks of a stream before a stage sees it */
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
    const unsigned count = sizeof configurations / sizeof configurations[0];
    if (size < 1 || data[0] < 'A' || data[0] >= 'A' + count)
        return -1;
    struct dp_stage *stage = start(configurations[data[0] - 'A']);
    char *bytes = fuzz_text(data + 1, size - 1);
    feed(stage, bytes, size - 1);
    dp_stage_free(stage);
    free(bytes);
    unlink(fuzz_path("ledger"));
    unlink(fuzz_path("ledger.mark"));
    return 0;
}
