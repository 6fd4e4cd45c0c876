#include "stages/class_weights.h"

#include "base/mem.h"
#include "base/number.h"

static int refuse(const char *text, struct dp_err *err)
{
    return dp_fail(err, DP_E_USAGE,
                   "--class-weights: must be numbers above 0 and at most 1, separated by commas, got '%.80s'%s", text,
                   strcmp(text, "balanced") == 0 ? ": shares of classes among private rows would have to be paid for" : "");
}

int dp_class_weights_open(struct dp_class_weights *w, const char *text, struct dp_err *err)
{
    size_t count = 1;
    *w = (struct dp_class_weights){0};
    if (text == NULL)
        return DP_OK;
    for (const char *at = text; (at = strchr(at, ',')) != NULL; at++)
        count++;
    w->weight = dp_new(count, sizeof *w->weight);
    for (const char *at = text; w->count < count; w->count++) {
        size_t length = strcspn(at, ",");
        double *weight = &w->weight[w->count];
        if (!dp_number_cell(at, length, weight) || !(*weight > 0 && *weight <= 1))
            return refuse(text, err);
        at += length + 1;
    }
    return DP_OK;
}

void dp_class_weights_close(struct dp_class_weights *w)
{
    free(w->weight);
    *w = (struct dp_class_weights){0};
}

int dp_class_weights_check(const struct dp_class_weights *w, size_t classes, struct dp_err *err)
{
    if (w->weight == NULL || w->count == classes)
        return DP_OK;
    if (classes == 0)
        return dp_fail(err, DP_E_USAGE, "--class-weights: the label is a number, and has no classes");
    return dp_fail(err, DP_E_USAGE, "--class-weights: %zu weights, and there are %zu classes", w->count, classes);
}
