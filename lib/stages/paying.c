#include "stages/paying.h"

struct heard {
    const struct dp_stage *stage;
    struct dp_out *out;
};

static void hear(void *self, const char *sentence)
{
    struct heard *h = self;
    dp_stage_warn(h->stage, h->out, "%s", sentence);
}

int dp_paying_lap(const struct dp_stage *stage, struct dp_payer *p, struct dp_frame *frame, struct dp_out *out,
                  struct dp_err *err)
{
    bool first = !p->begun;
    int rc = first ? dp_payer_begin(p, frame, err) : DP_OK;
    if (rc == DP_OK && first)
        dp_payer_warn(p, frame, hear, &(struct heard){stage, out});
    rc = rc ?: dp_payer_pay(p, frame, err);
    if (rc != DP_SPENT && rc != DP_E_BUDGET)
        return rc;
    rc = dp_payer_stop(p, rc, frame, err);
    return rc != DP_OK ? rc : DP_STAGE_STOP;
}
