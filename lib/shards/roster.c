#include "shards/roster.h"

#include "base/mem.h"

void dp_roster_open(struct dp_roster *roster, int shards, uint64_t first, int64_t resumed)
{
    roster->seat = dp_new((size_t)shards, sizeof *roster->seat);
    roster->shards = shards;
    roster->sequence = roster->hello = first;
    roster->asked = DP_KIND_HELLO;
    roster->lap = resumed;
    for (int k = 0; k < shards; k++)
        roster->seat[k].counted = resumed;
}

void dp_roster_close(struct dp_roster *roster)
{
    free(roster->seat);
    *roster = (struct dp_roster){0};
}

void dp_roster_ask(struct dp_roster *roster, enum dp_kind kind, int64_t lap, double now)
{
    if (kind != DP_KIND_HELLO)
        roster->sequence++;
    roster->asked = kind;
    roster->lap = lap;
    for (int k = 0; k < roster->shards; k++) {
        roster->seat[k].answered = roster->seat[k].absent = false;
        roster->seat[k].since = now;
    }
}

static enum dp_verdict say(enum dp_verdict verdict, char why[DP_ERR_MESSAGE_SIZE], const char *text)
{
    snprintf(why, DP_ERR_MESSAGE_SIZE, "%s", text);
    return verdict;
}

/* A worker with a state older than its last counted lap would give other sums than the run has counted. At the end of the run
 * no lap is asked any more, and a worker may have been killed when it had just removed its checkpoint. */
static enum dp_verdict judge_state(const struct dp_roster *roster, const struct dp_link_header *header, char *why)
{
    const struct dp_seat *seat = &roster->seat[header->shard - 1];
    if (header->lap == DP_SHARD_ANY || header->lap >= seat->counted || roster->asked == DP_KIND_END)
        return DP_VERDICT_TAKEN;
    if (header->lap == 0)
        snprintf(why, DP_ERR_MESSAGE_SIZE, "it has no checkpoint, and lap %lld of it has been counted",
                 (long long)seat->counted);
    else
        snprintf(why, DP_ERR_MESSAGE_SIZE, "its checkpoint is of lap %lld, and lap %lld of it has been counted",
                 (long long)header->lap, (long long)seat->counted);
    return DP_VERDICT_REFUSED;
}

/* Whether the worker may have the seat. */
static enum dp_verdict judge_join(const struct dp_roster *roster, int peer, const char *name,
                                  const struct dp_link_header *header, char *why)
{
    if (header->shards != roster->shards || header->shard < 1 || header->shard > roster->shards) {
        snprintf(why, DP_ERR_MESSAGE_SIZE, "it is shard %d of %d, and the run has %d", header->shard, header->shards,
                 roster->shards);
        return DP_VERDICT_REFUSED;
    }
    const struct dp_seat *seat = &roster->seat[header->shard - 1];
    if (dp_link_is_run(header->run) && !dp_link_same(header->run, roster->run))
        return say(DP_VERDICT_REFUSED, why, "it is in the middle of another run");
    if (header->lap < DP_SHARD_ANY)
        return say(DP_VERDICT_DROPPED, why, "it has joined with no lap");
    if (seat->named && strcmp(seat->name, name) != 0)
        return say(DP_VERDICT_REFUSED, why, "its shard belongs to another worker");
    if (seat->named && seat->tag != header->credit)
        return say(DP_VERDICT_REFUSED, why, "it has another roster of masks than when the run began");
    if (seat->over)
        return say(DP_VERDICT_REFUSED, why, "its budget is spent");
    if (seat->peer != 0 && seat->peer != peer)
        return say(DP_VERDICT_AGAIN, why, "its shard has a worker already");
    return judge_state(roster, header, why);
}

enum dp_verdict dp_roster_join(struct dp_roster *roster, int peer, const char *name, const struct dp_link_header *header,
                               double now, char why[DP_ERR_MESSAGE_SIZE])
{
    enum dp_verdict verdict = judge_join(roster, peer, name, header, why);
    if (verdict != DP_VERDICT_TAKEN)
        return verdict;
    dp_roster_gone(roster, peer); /* it may have had another seat */
    struct dp_seat *seat = &roster->seat[header->shard - 1];
    snprintf(seat->name, sizeof seat->name, "%s", name);
    seat->named = true;
    seat->tag = header->credit;
    seat->peer = peer;
    seat->lost = seat->greeted = false;
    seat->since = now;
    return DP_VERDICT_TAKEN;
}

static enum dp_verdict judge_lap(struct dp_roster *roster, struct dp_seat *seat, const struct dp_link_header *header,
                                 enum dp_kind kind, char *why)
{
    bool ends = kind == DP_KIND_END || kind == DP_KIND_ERROR;
    if (header->sequence != roster->sequence || header->lap != roster->lap)
        return say(DP_VERDICT_DROPPED, why, "which answers a lap that is over");
    if (!seat->greeted || seat->answered)
        return say(DP_VERDICT_DROPPED, why,
                   seat->answered ? "which answers once more" : "which answers before the hello frame");
    if (kind != roster->asked && !ends)
        return say(DP_VERDICT_DROPPED, why, "which answers with a frame of another kind");
    seat->answered = true;
    if (roster->asked == DP_KIND_LAP && kind == DP_KIND_LAP)
        seat->counted = roster->lap;
    return DP_VERDICT_TAKEN;
}

enum dp_verdict dp_roster_answer(struct dp_roster *roster, int peer, const struct dp_link_header *header, enum dp_kind kind,
                                 char why[DP_ERR_MESSAGE_SIZE])
{
    if (!dp_link_same(header->run, roster->run))
        return say(DP_VERDICT_DROPPED, why, "of another run");
    int shard = header->shard;
    if (shard < 1 || shard > roster->shards || roster->seat[shard - 1].peer != peer)
        return say(DP_VERDICT_AGAIN, why, "of nobody who has a shard");
    struct dp_seat *seat = &roster->seat[shard - 1];
    if (header->sequence != roster->hello)
        return judge_lap(roster, seat, header, kind, why);
    if (seat->greeted)
        return say(DP_VERDICT_DROPPED, why, "which answers once more");
    if (kind == DP_KIND_LAP)
        return say(DP_VERDICT_DROPPED, why, "which answers with a frame of another kind");
    seat->greeted = true;
    if (roster->asked == DP_KIND_HELLO)
        seat->answered = true;
    return roster->asked == DP_KIND_HELLO ? DP_VERDICT_TAKEN : DP_VERDICT_GREETED;
}

void dp_roster_gone(struct dp_roster *roster, int peer)
{
    for (int k = 0; k < roster->shards; k++)
        if (roster->seat[k].peer == peer)
            roster->seat[k].peer = 0;
}

void dp_roster_unseat(struct dp_roster *roster, int shard, double now)
{
    roster->seat[shard - 1].peer = 0;
    roster->seat[shard - 1].since = now;
}

void dp_roster_lose(struct dp_roster *roster, int shard, double now)
{
    dp_roster_unseat(roster, shard, now);
    roster->seat[shard - 1].lost = true;
}

int dp_roster_waits(const struct dp_roster *roster, int from)
{
    for (int k = from - 1; k < roster->shards; k++)
        if (!roster->seat[k].answered && !roster->seat[k].lost && !roster->seat[k].absent)
            return k + 1;
    return 0;
}

double dp_roster_due(const struct dp_roster *roster, double timeout, double now, int *shard)
{
    double least = (double)INFINITY;
    *shard = 0;
    for (int k = dp_roster_waits(roster, 1); k != 0; k = k < roster->shards ? dp_roster_waits(roster, k + 1) : 0) {
        double left = fmax(roster->seat[k - 1].since + timeout - now, 0);
        if (left < least) {
            least = left;
            *shard = k;
        }
    }
    return least;
}
