#include "math/schedule.h"

#include "base/number.h"

/* The numbers after the name, each after a colon. Returns their number, or -1. */
static int numbers(const char *text, double *value, int most)
{
    int count = 0;
    while (*text == ':') {
        char word[64];
        size_t length = strcspn(++text, ":");
        if (count == most || length == 0 || length >= sizeof word)
            return -1;
        memcpy(word, text, length);
        word[length] = '\0';
        if (!dp_number_real(word, &value[count++]))
            return -1;
        text += length;
    }
    return count;
}

/* Whether text is the name, or the name and a colon; *rest is the text after the name. */
static int names(const char *text, const char *name, const char **rest)
{
    size_t length = strlen(name);
    *rest = text + length;
    return strncmp(text, name, length) == 0 && (text[length] == '\0' || text[length] == ':');
}

int dp_schedule_parse(struct dp_schedule *schedule, const char *option, const char *text, struct dp_err *err)
{
    double v[2] = {0, 0};
    const char *rest;
    struct dp_schedule s = {.kind = DP_SCHEDULE_CONSTANT};
    if (names(text, "constant", &rest) || names(text, "inverse", &rest)) {
        s.kind = text[0] == 'c' ? DP_SCHEDULE_CONSTANT : DP_SCHEDULE_INVERSE;
        if (*rest != '\0')
            return dp_fail(err, DP_E_USAGE, "%s: %.*s takes no number, got '%.60s'", option, (int)(rest - text), text, text);
    } else if (names(text, "sqrt", &rest)) {
        s.kind = DP_SCHEDULE_SQRT;
        if (numbers(rest, v, 2) != 2 || v[1] < 0 || !(v[0] + v[1] > 0) || !isfinite(v[0] + v[1]))
            return dp_fail(err, DP_E_USAGE, "%s: sqrt:A:C needs C >= 0 and A + C > 0, got '%.60s'", option, text);
    } else if (names(text, "linear", &rest) || names(text, "linear-decay", &rest) || names(text, "cosine", &rest)) {
        bool decay = rest - text == (ptrdiff_t)strlen("linear-decay");
        s.kind = text[0] == 'c' ? DP_SCHEDULE_COSINE : decay ? DP_SCHEDULE_LINEAR_DECAY : DP_SCHEDULE_LINEAR;
        if (numbers(rest, v, 1) < 0 || !(v[0] >= 0 && v[0] <= 1))
            return dp_fail(err, DP_E_USAGE, "%s: %.*s:E needs a number from 0 to 1, got '%.60s'", option, (int)(rest - text),
                           text, text);
    } else if (names(text, "first", &rest)) {
        s.kind = DP_SCHEDULE_FIRST;
        if (numbers(rest, v, 2) != 2 || !(v[0] >= 1 && v[0] <= 1e15 && floor(v[0]) == v[0]) || !(v[1] > 0 && isfinite(v[1])))
            return dp_fail(err, DP_E_USAGE, "%s: first:K:B needs a whole K >= 1 and B > 0, got '%.60s'", option, text);
    } else {
        return 1;
    }
    s.a = v[0];
    s.c = v[1];
    *schedule = s;
    return DP_OK;
}

void dp_schedule_free(struct dp_schedule *schedule)
{
    free(schedule->value);
    schedule->value = NULL;
}

int dp_schedule_check(const struct dp_schedule *schedule, const char *option, int64_t laps, struct dp_err *err)
{
    enum dp_schedule_kind kind = schedule->kind;
    bool needs = kind == DP_SCHEDULE_LINEAR || kind == DP_SCHEDULE_LINEAR_DECAY || kind == DP_SCHEDULE_COSINE ||
                 kind == DP_SCHEDULE_TABLE;
    if (needs && laps <= 0)
        return dp_fail(err, DP_E_RUN, "%s: the stream does not say how many laps there will be", option);
    if (schedule->kind == DP_SCHEDULE_TABLE && schedule->count < (uint64_t)laps)
        return dp_fail(err, DP_E_RUN, "%s: the file has values for %zu laps, the run has %lld", option, schedule->count,
                       (long long)laps);
    return DP_OK;
}

static double square(double x)
{
    return x * x;
}

double dp_schedule_at(const struct dp_schedule *schedule, int64_t t, int64_t laps)
{
    double at = (double)t, all = (double)laps, end = schedule->a;
    switch (schedule->kind) {
    case DP_SCHEDULE_CONSTANT:
        return 1;
    case DP_SCHEDULE_INVERSE:
        return at;
    case DP_SCHEDULE_SQRT:
        return sqrt(schedule->a + schedule->c * at);
    case DP_SCHEDULE_LINEAR:
        return 1 / (1 - (1 - end) * (sqrt(at) - 1) / (sqrt(all + 1) - 1));
    case DP_SCHEDULE_LINEAR_DECAY:
        return 1 / (1 - (1 - end) * (at - 1) / all);
    case DP_SCHEDULE_COSINE:
        return 1 / (end + (1 - end) * square((float)cos(M_PI * (at - 1) / (2 * all))));
    case DP_SCHEDULE_FIRST:
        return at <= schedule->a ? schedule->c : 1;
    case DP_SCHEDULE_TABLE:
        return schedule->value[t - 1];
    }
    return (double)NAN;
}

double dp_schedule_noise(const struct dp_schedule *schedule, int64_t t, int64_t laps)
{
    return sqrt(dp_schedule_at(schedule, t, laps) / dp_schedule_at(schedule, 1, laps));
}
