/* Workers that are children of the gather's process. */

#include "base/mem.h"
#include "runtime/child.h"
#include "shards/strip.h"
#include "shards/workers.h"

struct local {
    struct dp_workers base;
    struct dp_child **child;  /* child of each shard */
    struct dp_checkpoint *at; /* checkpoint of each shard's stages, if the run has checkpoints */
    int64_t first, last;      /* ordinals of its stages */
    bool ended;
};

static int children_finish(struct local *l, struct dp_err *err)
{
    int rc = DP_OK;
    for (int k = 0; k < l->base.shards; k++) {
        struct dp_err later = {0};
        int ended = dp_child_finish(l->child[k], rc == DP_OK ? err : &later);
        l->child[k] = NULL;
        rc = rc ?: ended;
    }
    return rc;
}

/* Sends all frames before it waits for the first answer. */
static int local_ask(struct dp_workers *workers, struct dp_err *err)
{
    struct local *l = (struct local *)workers;
    enum dp_kind kind = workers->frame[0]->kind;
    int rc = DP_OK;
    l->first = kind == DP_KIND_HELLO ? dp_frame_int(workers->frame[0], DP_F_STAGE, 0) + 1 : l->first;
    for (int k = 0; k < workers->shards; k++) {
        dp_child_cancel(l->child[k], workers->stage->runtime.cancel);
        dp_child_send(l->child[k], workers->frame[k]);
    }
    for (int k = 0; rc == DP_OK && k < workers->shards; k++) {
        rc = dp_child_receive(l->child[k], workers->frame[k], err);
        dp_shard_strip(workers->frame[k]);
        workers->answered[k] = rc == DP_OK;
    }
    if (rc == DP_E_BUDGET) {
        char said[DP_ERR_MESSAGE_SIZE];
        snprintf(said, sizeof said, "%s", err->message);
        rc = dp_fail(err, DP_E_BUDGET, "a shard has ended the run: %.400s", said);
    }
    if (kind == DP_KIND_HELLO)
        l->last = dp_frame_int(workers->frame[0], DP_F_STAGE, 0);
    l->ended = rc == DP_OK && kind == DP_KIND_END;
    return l->ended ? children_finish(l, err) : rc;
}

/* Stages save before they answer, so when the gather passes the answers on, all states are on disk. At an early end they save
 * after the gather. */
static int local_save(struct dp_workers *workers, struct dp_state *state, struct dp_err *err)
{
    struct local *l = (struct local *)workers;
    int rc = DP_OK;
    (void)state;
    for (int k = 0; rc == DP_OK && k < workers->shards && !workers->stage->interrupted; k++)
        rc = dp_checkpoint_complete(l->at[k].directory, l->first, l->last, workers->stage->lap, err);
    return rc;
}

static void local_free(struct dp_workers *workers)
{
    struct local *l = (struct local *)workers;
    for (int k = 0; l->child != NULL && k < workers->shards; k++)
        dp_child_kill(l->child[k]);
    for (int k = 0; l->at != NULL && k < workers->shards; k++)
        free(l->at[k].directory);
    free(l->child);
    free(l->at);
    dp_workers_end(workers);
    free(l);
}

static const struct dp_workers_ops local_ops = {.ask = local_ask, .save = local_save, .free = local_free};

/* The pipeline's text for one shard: replaces "%k" and "%K" by numbers, "%%" by a percent sign. */
static void fill_in(char **filled, const char *text, int shard, int shards)
{
    size_t size;
    FILE *out = dp_got(open_memstream(filled, &size));
    for (const char *at = text; *at != '\0'; at++) {
        if (at[0] == '%' && (at[1] == 'k' || at[1] == 'K'))
            fprintf(out, "%d", *++at == 'k' ? shard : shards);
        else
            putc(at[0] == '%' && at[1] == '%' ? *at++ : *at, out);
    }
    dp_close_text(out);
}

static int start_child(struct local *l, const char *text, int k, bool fused, struct dp_err *err)
{
    const struct dp_checkpoint *own = &l->base.stage->checkpoint;
    char *filled = NULL;
    int rc = DP_OK;
    if (own->directory != NULL) {
        l->at[k] = *own;
        rc = dp_checkpoint_shard(own->directory, k + 1, &l->at[k].directory, err);
    }
    rc = rc ?: dp_checkpoint_tell(own->directory != NULL ? &l->at[k] : NULL, err);
    if (rc == DP_OK)
        fill_in(&filled, text, k + 1, l->base.shards);
    if (rc == DP_OK && fused)
        rc = dp_child_fused(&l->child[k], filled, NULL, err);
    else if (rc == DP_OK)
        rc = dp_child_processes(&l->child[k], filled, err);
    free(filled);
    return rc == 1 ? DP_E_USAGE : rc;
}

int dp_workers_local(struct dp_workers **workers, struct dp_stage *stage, const char *text, int shards, bool fused,
                     struct dp_err *err)
{
    struct dp_err unused;
    struct local *l = dp_new(1, sizeof *l);
    dp_workers_start(&l->base, &local_ops, stage, shards);
    int rc = DP_OK;
    l->child = dp_new((size_t)shards, sizeof(struct dp_child *));
    l->at = dp_new((size_t)shards, sizeof *l->at);
    for (int k = 0; rc == DP_OK && k < shards; k++)
        rc = start_child(l, text, k, fused, err);
    /* The checkpoint gets the place of this stage back: the children have set it to theirs. */
    if (dp_checkpoint_tell(stage->checkpoint.directory != NULL ? &stage->checkpoint : NULL, &unused) != DP_OK && rc == DP_OK)
        rc = dp_fail(err, DP_E_RUN, "%s", unused.message);
    if (rc != DP_OK) {
        local_free(&l->base);
        return rc;
    }
    *workers = &l->base;
    return DP_OK;
}
