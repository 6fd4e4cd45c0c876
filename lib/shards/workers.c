#include "shards/workers.h"

#include "base/mem.h"

void dp_workers_start(struct dp_workers *workers, const struct dp_workers_ops *ops, struct dp_stage *stage, int shards)
{
    workers->ops = ops;
    workers->stage = stage;
    workers->shards = shards;
    workers->frame = dp_new((size_t)shards, sizeof(struct dp_frame *));
    workers->answered = dp_new((size_t)shards, sizeof *workers->answered);
    for (int k = 0; k < shards; k++)
        workers->frame[k] = dp_frame_new();
}

void dp_workers_end(struct dp_workers *workers)
{
    for (int k = 0; workers->frame != NULL && k < workers->shards; k++)
        dp_frame_free(workers->frame[k]);
    free(workers->frame);
    free(workers->answered);
}

int dp_workers_ask(struct dp_workers *workers, struct dp_err *err)
{
    return workers->ops->ask(workers, err);
}

int dp_workers_save(struct dp_workers *workers, struct dp_state *state, struct dp_err *err)
{
    return workers->ops->save != NULL ? workers->ops->save(workers, state, err) : DP_OK;
}

int dp_workers_restore(struct dp_workers *workers, const struct dp_state *state, struct dp_err *err)
{
    return workers->ops->restore != NULL ? workers->ops->restore(workers, state, err) : DP_OK;
}

void dp_workers_free(struct dp_workers *workers)
{
    if (workers != NULL)
        workers->ops->free(workers);
}
