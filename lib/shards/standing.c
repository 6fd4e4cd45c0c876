#include "shards/standing.h"

int64_t dp_standing_joins(const struct dp_standing *standing)
{
    return standing->any ? DP_SHARD_ANY : standing->lap;
}

/* The gather continues from lap `from`, which may be earlier than ours. Only a seeded run may begin again at lap 0 under its
 * name, because its laps are the same again. */
static enum dp_welcome go_back(struct dp_standing *s, int64_t from, bool seeded, struct dp_err *err)
{
    bool there = s->alive && s->lap == from;
    if (from <= 0 && s->lap > 0 && !seeded) {
        dp_fail(err, DP_E_UNSAFE,
                "the gather begins the run again, and lap %lld of it was answered here: this site answers no lap twice",
                (long long)s->lap);
        return DP_WELCOME_REFUSES;
    }
    if (!s->any && s->lap != from && s->kept != from && from != 0) {
        dp_fail(err, DP_E_RUN, "the run continues from lap %lld, and the checkpoint here is of lap %lld", (long long)from,
                (long long)s->lap);
        return DP_WELCOME_REFUSES;
    }
    s->lap = from;
    s->answer = false;
    return there ? DP_WELCOME_STAYS : DP_WELCOME_STARTS;
}

enum dp_welcome dp_standing_hello(struct dp_standing *s, const struct dp_link_header *header, bool seeded, struct dp_err *err)
{
    bool same_session = dp_link_same(s->session, header->session), fresh = !dp_link_is_run(s->run);
    if (!fresh && !dp_link_same(s->run, header->run)) {
        dp_fail(err, DP_E_RUN, "the gather is of another run than the one that this worker is in the middle of");
        return DP_WELCOME_REFUSES;
    }
    memcpy(s->run, header->run, sizeof s->run);
    memcpy(s->session, header->session, sizeof s->session);
    if (fresh && s->any)
        s->lap = header->lap;
    if (fresh || same_session)
        return s->alive ? DP_WELCOME_STAYS : DP_WELCOME_STARTS;
    return go_back(s, header->lap, seeded, err);
}

enum dp_task dp_standing_lap(const struct dp_standing *s, const struct dp_link_header *header)
{
    if (!s->alive || !dp_link_same(s->run, header->run) || !dp_link_same(s->session, header->session))
        return DP_TASK_DROP;
    if (header->lap == s->lap && s->answer)
        return DP_TASK_REPEAT;
    return header->lap > s->lap ? DP_TASK_WORK : DP_TASK_DROP;
}
