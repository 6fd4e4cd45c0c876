#include "runtime/child.h"

void dp_child_send(struct dp_child *child, struct dp_frame *frame)
{
    child->asked = frame->kind;
    child->lap = frame->lap;
    child->ops->send(child, frame);
}

static int judge_kind(enum dp_kind asked, int64_t lap, const struct dp_frame *answer, struct dp_err *err);

int dp_child_receive(struct dp_child *child, struct dp_frame *answer, struct dp_err *err)
{
    int rc = child->ops->receive(child, answer, err);
    return rc != DP_OK ? rc : judge_kind(child->asked, child->lap, answer, err);
}

int dp_child_exchange(struct dp_child *child, struct dp_frame *frame, struct dp_frame *answer, struct dp_err *err)
{
    dp_child_send(child, frame);
    int rc = child->ops->receive(child, answer, err);
    return rc != DP_OK ? rc : dp_child_judge(child->asked, child->lap, answer, err);
}

int dp_child_pass(struct dp_child *child, struct dp_frame *frame, struct dp_frame *answer, struct dp_err *err)
{
    dp_child_send(child, frame);
    return dp_child_receive(child, answer, err);
}

static int judge_kind(enum dp_kind asked, int64_t lap, const struct dp_frame *answer, struct dp_err *err)
{
    if (answer->kind == DP_KIND_ERROR) {
        int64_t status = dp_frame_int(answer, DP_F_STATUS, 1);
        /* 4 means that a stream ended early; for the loop this is a failed run. */
        err->status = status >= 1 && status <= 5 && status != 4 ? (enum dp_status) - status : DP_E_RUN;
        err->message[0] = '\0';
        return err->status;
    }
    if (answer->kind == DP_KIND_END && asked == DP_KIND_LAP && dp_frame_bool(answer, DP_F_EXHAUSTED))
        return DP_CHILD_EXHAUSTED;
    if (answer->kind == DP_KIND_END && asked == DP_KIND_LAP)
        return dp_fail(err, dp_frame_int(answer, DP_F_STATUS, 0) == 3 ? DP_E_BUDGET : DP_E_RUN, "%s",
                       dp_frame_text(answer, DP_F_MESSAGE, "the child pipeline ended the run early"));
    if (answer->kind != asked)
        return dp_fail(err, DP_E_RUN, "the child pipeline answered a %s frame with a %s frame", dp_kind_name(asked),
                       dp_kind_name(answer->kind));
    if (asked == DP_KIND_LAP && answer->lap != lap)
        return dp_fail(err, DP_E_RUN, "the child pipeline answered lap %lld with lap %lld", (long long)lap,
                       (long long)answer->lap);
    return DP_OK;
}

/* Each field that the gate will pass must be taken by a stage, which says so in the hello frame. */
static int judge_taken(const struct dp_frame *hello, struct dp_err *err)
{
    for (int i = 0; i < hello->records; i++) {
        const struct dp_record *record = &hello->record[i];
        if (!dp_meanings[record->means].taken)
            return dp_fail(
                err, DP_E_RUN,
                "no stage of the child pipeline takes the %s: put %s after dp-account (a stage of your own says in its hello "
                "frame what it has taken)",
                dp_fields[record->of].key, dp_meanings[record->means].taker);
    }
    return DP_OK;
}

/* The gate writes a new hello frame: readers of the models must not see what the private stages announce. */
static int judge_hello(const struct dp_frame *answer, struct dp_err *err)
{
    bool left = false;
    for (int i = 0; i < answer->records; i++)
        left = left || answer->record[i].rows > 0 || answer->record[i].sampler != DP_SAMPLER_NONE;
    for (int i = 0; i < DP_F_COUNT; i++)
        left = left || (i != DP_F_SEED && dp_fields[i].visibility == DP_PRIVATE && dp_frame_has(answer, (enum dp_field)i));
    return !left ? judge_taken(answer, err)
                 : dp_fail(err, DP_E_UNSAFE,
                           "the child pipeline gave back a hello frame that has passed no gate: dp-account is missing");
}

int dp_child_judge(enum dp_kind asked, int64_t lap, const struct dp_frame *answer, struct dp_err *err)
{
    int rc = judge_kind(asked, lap, answer, err);
    if (rc == DP_OK && asked == DP_KIND_HELLO)
        return judge_hello(answer, err);
    if (rc != DP_OK || asked != DP_KIND_LAP)
        return rc;
    if (answer->label != DP_LABEL_RELEASED)
        return dp_fail(err, DP_E_UNSAFE, "the child pipeline gave back a %s frame: dp-account is missing",
                       dp_label_name(answer->label));
    enum dp_field left = dp_paid_waiting(answer);
    return left == DP_F_NONE
               ? DP_OK
               : dp_fail(err, DP_E_RUN, "the child pipeline gave back a %s that no stage applied: put %s after dp-account",
                         dp_fields[left].key, dp_paid_taker(&(struct dp_record){.of = left}));
}

int dp_child_finish(struct dp_child *child, struct dp_err *err)
{
    int rc = child->ops->finish(child, err);
    child->ops->free(child);
    return rc;
}

void dp_child_kill(struct dp_child *child)
{
    if (child != NULL)
        child->ops->free(child);
}

bool dp_child_cancel(struct dp_child *child, volatile sig_atomic_t *flag)
{
    return child->ops->cancel(child, flag);
}

void dp_child_limit(struct dp_child *child, double seconds)
{
    if (child->ops->limit != NULL)
        child->ops->limit(child, seconds);
}
