/* Frames of a malicious gather to a site: 16 bytes, one for each frame, then the frames. The lowest bit of each byte means that
   another gather sends the frame; the other bits are the lap in the header of a hello frame. The lowest bit of the last byte
   chooses the pipeline.

   The site is a worker without the link, with the same decisions. For any input, no more laps are answered than --epsilon
   affords one start of the pipeline, and the ledger has paid for each of them. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "runtime/child.h"
#include "shards/standing.h"
#include "shards/strip.h"
#include "wire/codec.h"

#define MOST 16    /* frames */
#define AFFORDED 2 /* laps of multiplier 4 and rate 0.1: two cost 0.147, three cost 0.175 */
#define LEFT "dp-sample --data %s --rate 0.1 | dp-grad --data %s --loss logistic --clip 1"
#define BUDGET "--epsilon 0.16 --delta 1e-5 --ledger %s"

static const char *const pipelines[] = {
    LEFT " | dp-site-account --multiplier 4 " BUDGET,
    LEFT " | dp-noise --multiplier 4 --share | dp-site-account " BUDGET,
};

struct site {
    char text[1024];
    struct dp_child *child;
    struct dp_standing standing;
    struct dp_frame *frame;
    bool shared;
    int answered;
};

/* The laps of all plans in the ledger. */
static long long paid(const char *path)
{
    char line[4096];
    long long laps = 0;
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const char *count = strstr(line, "\"kind\":\"plan\"") != NULL ? line : NULL;
        while (count != NULL && (count = strstr(count, "\"laps\":")) != NULL) {
            count += 7;
            laps += atoll(count);
        }
    }
    if (file != NULL)
        fclose(file);
    return laps;
}

static int pass(struct site *s, struct dp_err *err)
{
    int rc = dp_child_pass(s->child, s->frame, s->frame, err);
    if (rc == DP_OK)
        dp_shard_strip(s->frame);
    return rc;
}

static int greet(struct site *s, const struct dp_link_header *header, struct dp_err *err)
{
    enum dp_welcome welcome = dp_standing_hello(&s->standing, header, dp_frame_has(s->frame, DP_F_SEED), err);
    if (welcome != DP_WELCOME_STARTS)
        return welcome == DP_WELCOME_STAYS ? DP_OK : (int)err->status;
    dp_child_kill(s->child);
    s->child = NULL;
    int rc = dp_child_fused(&s->child, s->text, NULL, err);
    s->standing.alive = rc == DP_OK;
    rc = rc == DP_OK ? pass(s, err) : rc;
    s->shared = rc == DP_OK && dp_shard_shares(s->frame);
    return rc;
}

static int work(struct site *s, const struct dp_link_header *header, struct dp_err *err)
{
    if (dp_standing_lap(&s->standing, header) != DP_TASK_WORK)
        return DP_OK;
    int rc = pass(s, err);
    if (rc != DP_OK || (s->shared && s->frame->label != DP_LABEL_NOISED))
        return rc != DP_OK ? rc : DP_E_UNSAFE;
    s->standing.lap = s->frame->lap;
    s->standing.answer = true;
    s->answered++;
    fuzz_assert(s->answered <= AFFORDED);
    fuzz_assert(paid(fuzz_path("spent")) >= s->answered);
    return DP_OK;
}

static int take(struct site *s, uint8_t how, struct dp_link_header *header, struct dp_err *err)
{
    const struct dp_site own = {1, 2, false};
    header->session[1] += how & 1;
    header->lap = s->frame->kind == DP_KIND_LAP ? s->frame->lap : how >> 1;
    if (s->frame->kind == DP_KIND_HELLO)
        dp_link_run(header->run, s->frame);
    int rc = dp_shard_check(s->frame, header, &own, err);
    if (rc != DP_OK || s->frame->kind == DP_KIND_ERROR)
        return rc != DP_OK ? rc : DP_E_UPSTREAM;
    if (s->frame->kind == DP_KIND_HELLO)
        return greet(s, header, err);
    if (s->frame->kind == DP_KIND_LAP)
        return work(s, header, err);
    return s->child != NULL ? pass(s, err) : DP_E_UPSTREAM;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct site s = {0};
    struct dp_link_header header = {.session = {1}};
    struct dp_err err = {0};
    const char *classes = fuzz_need("FUZZ_CLASSES"), *at = (const char *)data + MOST;
    size_t length, left = size - MOST;
    bool end = false;
    if (size < MOST)
        return -1;
    fuzz_remove(fuzz_path("spent"));
    fuzz_remove(fuzz_path("spent.mark"));
    snprintf(s.text, sizeof s.text, pipelines[data[MOST - 1] % 2], classes, classes, fuzz_path("spent"));
    s.frame = dp_frame_new();
    for (int i = 0; i < MOST && !end; i++, at += length, left -= length) {
        if (dp_wire_scan(&(struct dp_scan){0}, at, left, &length, &err) != 1 ||
            dp_wire_decode(s.frame, at, length, &err) != DP_OK)
            break;
        end = s.frame->kind == DP_KIND_END;
        int rc = take(&s, data[i], &header, &err);
        fuzz_assert(paid(fuzz_path("spent")) >= s.answered);
        if (rc != DP_OK)
            break;
    }
    dp_child_kill(s.child);
    dp_frame_free(s.frame);
    return 0;
}
