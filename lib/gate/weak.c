#include "gate/weak.h"

static int doubt(const char *sentence, bool allow, void (*say)(void *self, const char *sentence), void *self,
                 struct dp_err *err)
{
    if (!allow)
        return dp_fail(err, DP_E_UNSAFE, "%s (--allow-weak if that is meant)", sentence);
    if (say != NULL)
        say(self, sentence);
    return DP_OK;
}

int dp_weak_check(double epsilon, double delta, int64_t rows, bool allow, void (*say)(void *self, const char *sentence),
                  void *self, struct dp_err *err)
{
    char text[200];
    int rc = DP_OK;
    if (delta * (double)rows >= 1) {
        snprintf(
            text, sizeof text,
            "delta = %g is not below 1/N = %g: it would permit publishing somebody's row; see dp-privacy(7) on choosing it",
            delta, 1 / (double)rows);
        rc = doubt(text, allow, say, self, err);
    }
    if (rc == DP_OK && epsilon > DP_WEAK_EPSILON) {
        snprintf(text, sizeof text,
                 "this may cost epsilon = %.3g, and above %d little is hidden; see dp-privacy(7) on choosing it", epsilon,
                 DP_WEAK_EPSILON);
        rc = doubt(text, allow, say, self, err);
    }
    return rc;
}
