#include "stated.h"

#include "base/unit.h"
#include "ledger/book.h"
#include "ledger/sum.h"

/* Facts that a model may lack. */
static void add_known(json_t *json, const struct dp_frame *frame)
{
    struct dp_ledger_place mark;
    if (dp_frame_has(frame, DP_F_N))
        json_object_set_new(json, "rows", json_integer(dp_frame_int(frame, DP_F_N, 0)));
    if (dp_frame_has(frame, DP_F_LAPS))
        json_object_set_new(json, "laps", json_integer(dp_frame_int(frame, DP_F_LAPS, 0)));
    if (dp_frame_has(frame, DP_F_LEDGER) && dp_ledger_place_read(dp_frame_text(frame, DP_F_LEDGER, ""), &mark, NULL) == DP_OK)
        json_object_set_new(json, "run", json_string(mark.run));
    if (dp_frame_real(frame, DP_F_PRIOR_EPSILON, 0) > 0)
        json_object_set_new(json, "prior_epsilon", dp_ledger_real_json(dp_frame_real(frame, DP_F_PRIOR_EPSILON, 0)));
}

int stated_by_model(const struct dp_frame *frame, const char *name, json_t **stated, struct dp_err *err)
{
    const char *data = dp_frame_text(frame, DP_F_DATA, "unknown"), *read = dp_frame_text(frame, DP_F_PREPROCESSING, "");
    *stated = NULL;
    if (dp_frame_bool(frame, DP_F_NON_PRIVATE))
        return dp_fail(err, DP_E_UNSAFE, "%s: the model comes from a run without privacy", name);
    if (!dp_frame_has(frame, DP_F_EPSILON) || !dp_frame_has(frame, DP_F_DELTA))
        return dp_fail(err, DP_E_RUN, "%s: the model does not state what it has cost", name);
    json_t *json = json_pack(
        "{s:s, s:s, s:s, s:s, s:o, s:f, s:o, s:b, s:b, s:I}", "population", dp_frame_text(frame, DP_F_POPULATION, data), "data",
        data, "unit", dp_unit_name(dp_frame_has(frame, DP_F_UNIT) ? dp_frame_text(frame, DP_F_UNIT, "") : NULL), "adjacency",
        dp_frame_text(frame, DP_F_ADJACENCY, ""), "epsilon", dp_ledger_real_json(dp_frame_real(frame, DP_F_EPSILON, 0)),
        "delta", dp_frame_real(frame, DP_F_DELTA, 1), "private_preprocessing",
        read[0] != '\0' ? json_pack("[s]", read) : json_array(), "seeded", dp_frame_bool(frame, DP_F_SEEDED), "untracked",
        dp_frame_bool(frame, DP_F_UNTRACKED), "lap", (json_int_t)frame->lap);
    add_known(json, frame);
    *stated = json;
    return DP_OK;
}
