#include "audit/choices.h"

#include "base/mem.h"
#include "model/held.h"

int dp_audit_choices_read(struct dp_audit_choices *choices, const struct dp_frame *frame, bool *has, size_t *choice,
                          struct dp_err *err)
{
    const struct dp_array *steps;
    *has = dp_frame_has(frame, DP_F_CHOICE);
    if (!*has)
        return DP_OK;
    int rc = dp_held_choice(frame, &steps, choice, err);
    if (rc == DP_OK && choices->steps == 0) {
        choices->steps = steps->count;
        choices->made = dp_new(4 * steps->count, sizeof *choices->made);
    }
    if (rc == DP_OK && steps->count != choices->steps)
        rc = dp_fail(err, DP_E_RUN, "the search of lap %lld has another number of steps than the first", (long long)frame->lap);
    return rc;
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

/* Adds a half to each count, so that an event that never happened is not certain. */
double dp_audit_choices_score(const struct dp_audit_choices *choices, bool sign, size_t choice)
{
    double part[2];
    for (int with = 0; with < 2; with++)
        part[with] = ((double)choices->made[at(choices, with, sign, choice)] + 0.5) /
                     ((double)choices->laps[with][sign] + 0.5 * (double)choices->steps);
    return log(part[1] / part[0]);
}
