#include "audit/choices.h"

#include <math.h>

#include "base/mem.h"

int dp_audit_choices_read(struct dp_audit_choices *choices, const struct dp_frame *frame, bool *has, size_t *choice,
                          struct dp_err *err)
{
    const struct dp_array *made, *steps;
    *has = dp_frame_has(frame, DP_F_CHOICE);
    if (!*has)
        return DP_OK;
    int rc = dp_frame_need_array(frame, DP_F_CHOICE, DP_I64, 2, &made, err);
    if (rc == DP_OK)
        rc = dp_frame_need_array(frame, DP_F_STEPS, DP_F64, 1, &steps, err);
    if (rc == DP_OK && choices->steps == 0) {
        choices->steps = steps->count;
        rc = dp_alloc(&choices->made, 4 * steps->count, sizeof *choices->made, err);
    }
    if (rc != DP_OK)
        return rc;
    int64_t value = made->count == 1 ? *(int64_t *)made->data : -1;
    if (steps->count != choices->steps || value < 0 || (uint64_t)value >= choices->steps)
        return dp_fail(err, DP_E_RUN, "the choice of lap %lld is not one of its steps", (long long)frame->lap);
    *choice = (size_t)value;
    return DP_OK;
}

static size_t at(const struct dp_audit_choices *c, bool with, bool sign, size_t choice)
{
    return ((with ? 2u : 0u) + (sign ? 1u : 0u)) * c->steps + choice;
}

void dp_audit_choices_learn(struct dp_audit_choices *choices, bool with, bool sign, size_t choice)
{
    choices->made[at(choices, with, sign, choice)]++;
    choices->laps[with][sign]++;
}

/* A half more than were seen, so that what never happened is no certainty. */
double dp_audit_choices_score(const struct dp_audit_choices *choices, bool sign, size_t choice)
{
    double part[2];
    for (int with = 0; with < 2; with++)
        part[with] = ((double)choices->made[at(choices, with, sign, choice)] + 0.5) /
                     ((double)choices->laps[with][sign] + 0.5 * (double)choices->steps);
    return log(part[1] / part[0]);
}
