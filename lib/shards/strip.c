#include "shards/strip.h"

static bool leaves(enum dp_kind kind, enum dp_field field)
{
    enum dp_visibility v = dp_fields[field].visibility;
    switch (kind) {
    case DP_KIND_HELLO:
        return (v != DP_PRIVATE && v != DP_TOLD && v != DP_STATED) || field == DP_F_MULTIPLIERS;
    case DP_KIND_LAP:
        return v == DP_FIXED || v == DP_MOVING || v == DP_PAID || field == DP_F_ELSEWHERE;
    case DP_KIND_END:
    case DP_KIND_ERROR:
        return field == DP_F_STATUS;
    }
    return false;
}

void dp_shard_strip(struct dp_frame *answer)
{
    for (int i = 0; i < DP_F_COUNT; i++)
        if (!leaves(answer->kind, (enum dp_field)i))
            dp_frame_drop(answer, (enum dp_field)i);
}

/* Whether a gather may send that field, and the pipeline here may see it. */
static bool comes(enum dp_kind kind, enum dp_field field)
{
    enum dp_visibility v = dp_fields[field].visibility;
    enum dp_lifetime lifetime = dp_fields[field].lifetime;
    if (kind == DP_KIND_HELLO)
        return ((v == DP_STREAM || v == DP_TOLD) && lifetime == DP_LIFETIME_HELLO) || field == DP_F_LAPS;
    return v == DP_FIXED || v == DP_MOVING || v == DP_STATED || v == DP_TOLD || (v == DP_PAID && lifetime != DP_LIFETIME_LAP) ||
           field == DP_F_ELSEWHERE;
}

static int check_fields(const struct dp_frame *frame, const struct dp_site *site, struct dp_err *err)
{
    bool hello = frame->kind == DP_KIND_HELLO;
    for (int i = 0; i < DP_F_COUNT; i++) {
        bool seed = hello && i == DP_F_SEED;
        if (!dp_frame_has(frame, (enum dp_field)i) || comes(frame->kind, (enum dp_field)i) || (seed && site->allow_seeded))
            continue;
        if (seed)
            return dp_fail(err, DP_E_UNSAFE,
                           "the gather sends a seed: anybody who knows it knows all noise that is drawn here "
                           "(--allow-seeded for experiments)");
        return dp_fail(err, DP_E_UNSAFE, "the gather sends a %s frame with '%s', which only this site may say",
                       dp_kind_name(frame->kind), dp_fields[i].key);
    }
    return DP_OK;
}

static int check_hello(const struct dp_frame *hello, const struct dp_link_header *header, const struct dp_site *site,
                       struct dp_err *err)
{
    long long said = dp_frame_int(hello, DP_F_SHARD, 0), of = dp_frame_int(hello, DP_F_SHARDS, 0);
    unsigned char run[DP_LINK_ID];
    if (said != site->shard || of != site->shards)
        return dp_fail(err, DP_E_UNSAFE, "the gather addresses shard %lld of %lld, and this is shard %d of %d", said, of,
                       site->shard, site->shards);
    if (!dp_link_run(run, hello) || !dp_link_same(run, header->run))
        return dp_fail(err, DP_E_UNSAFE, "the gather sends a hello frame of another run than its header says");
    if (dp_frame_int(hello, DP_F_LAPS, 0) > DP_SHARD_LAPS)
        return dp_fail(err, DP_E_UNSAFE, "the gather plans %lld laps, and a site accounts for at most %lld",
                       (long long)dp_frame_int(hello, DP_F_LAPS, 0), (long long)DP_SHARD_LAPS);
    if (hello->records != 0)
        return dp_fail(err, DP_E_UNSAFE,
                       "the hello frame has records, and only this site may announce what happens to its rows");
    return DP_OK;
}

/* Whether the lap frame states a cost without a model: a cost comes with the released model. */
static bool costs_for_nothing(const struct dp_frame *lap)
{
    for (int i = 0; i < DP_F_COUNT; i++)
        if (dp_fields[i].type == DP_T_ARRAY && dp_frame_has(lap, (enum dp_field)i))
            return false;
    return dp_frame_has(lap, DP_F_EPSILON) || dp_frame_has(lap, DP_F_DELTA) || dp_frame_has(lap, DP_F_PRIOR_EPSILON) ||
           dp_frame_has(lap, DP_F_PRIOR_DELTA);
}

static int check_lap(const struct dp_frame *frame, int64_t lap, struct dp_err *err)
{
    if (frame->lap != lap)
        return dp_fail(err, DP_E_UNSAFE, "the gather sends lap %lld as lap %lld", (long long)frame->lap, (long long)lap);
    if (frame->label != DP_LABEL_RELEASED)
        return dp_fail(err, DP_E_UNSAFE, "the gather sends a %s frame", dp_label_name(frame->label));
    if (frame->records != 0)
        return dp_fail(err, DP_E_UNSAFE, "lap %lld has records, and only this site may record the bounds on its sums",
                       (long long)frame->lap);
    if (costs_for_nothing(frame))
        return dp_fail(err, DP_E_UNSAFE, "lap %lld comes with what a model has cost, and without a model",
                       (long long)frame->lap);
    return DP_OK;
}

int dp_shard_check(const struct dp_frame *frame, const struct dp_link_header *header, const struct dp_site *site,
                   struct dp_err *err)
{
    if (frame->kind != DP_KIND_HELLO && frame->kind != DP_KIND_LAP)
        return DP_OK;
    int rc = frame->kind == DP_KIND_HELLO ? check_hello(frame, header, site, err) : check_lap(frame, header->lap, err);
    return rc ?: check_fields(frame, site, err);
}

bool dp_shard_shares(const struct dp_frame *hello)
{
    bool any = false;
    for (int i = 0; i < hello->records; i++)
        any |= hello->record[i].shares > 0;
    return any;
}

int dp_shard_link(const struct dp_link *link, struct dp_err *err)
{
    if (dp_link_private(link))
        return DP_OK;
    return dp_fail(err, DP_E_UNSAFE, "%s: sums that nobody has paid for yet need keys (dp-key) or a loopback address",
                   dp_link_name(link));
}
