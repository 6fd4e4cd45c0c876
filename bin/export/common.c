#include <math.h>

#include "base/number.h"
#include "base/round.h"
#include "export.h"

const char *export_privacy(const struct export *e, char text[EXPORT_PRIVACY])
{
    const struct dp_frame *f = e->frame;
    if (dp_frame_bool(f, DP_F_NON_PRIVATE))
        snprintf(text, EXPORT_PRIVACY, "not private: trained without noise");
    else if (dp_frame_bool(f, DP_F_SEEDED))
        snprintf(text, EXPORT_PRIVACY, "not private: anybody who knows the seed knows the noise");
    else if (!dp_frame_has(f, DP_F_EPSILON))
        snprintf(text, EXPORT_PRIVACY, "the model does not say what was spent");
    else
        snprintf(text, EXPORT_PRIVACY, "epsilon %.6g, delta %.6g%s", dp_round_up(dp_frame_real(f, DP_F_EPSILON, 0), 6),
                 dp_frame_real(f, DP_F_DELTA, (double)NAN),
                 dp_frame_bool(f, DP_F_AS_PUBLISHED) ? " as published, which is not sound" : "");
    return text;
}

void export_number(const struct export *e, double value)
{
    char text[40];
    fputs(dp_number_print(value, text, sizeof text), e->out);
}

const char *export_output(const struct export *e, size_t k)
{
    const struct dp_terms *t = e->terms;
    return t->classes == 0 ? "score" : t->class[t->outputs == 1 ? 1 : k];
}
