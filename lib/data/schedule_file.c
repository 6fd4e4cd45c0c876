#include "data/schedule_file.h"

#include "base/mem.h"
#include "base/number.h"
#include "data/lines.h"

static int read_values(struct dp_schedule *schedule, struct dp_lines *lines, struct dp_err *err)
{
    size_t capacity = 0;
    int rc;
    while ((rc = dp_lines_next(lines, err)) == 1) {
        double value;
        if (lines->length == 0 || lines->line[0] == '#')
            continue;
        if (!dp_number_cell(lines->line, lines->length, &value) || !(value > 0) || !isfinite(value))
            return dp_fail(err, DP_E_RUN, "%s: line %zu: expected a number > 0", lines->name, lines->number);
        dp_extend(&schedule->value, &capacity, schedule->count + 1, sizeof value);
        schedule->value[schedule->count++] = value;
    }
    return rc;
}

int dp_schedule_open(struct dp_schedule *schedule, const char *option, const char *text, struct dp_err *err)
{
    struct dp_lines lines;
    int rc = dp_schedule_parse(schedule, option, text, err);
    if (rc != 1)
        return rc;
    if (strcmp(text, "-") == 0)
        return dp_fail(err, DP_E_USAGE, "%s: a file cannot be standard input, where frames come from", option);
    *schedule = (struct dp_schedule){.kind = DP_SCHEDULE_TABLE};
    rc = dp_lines_open(&lines, text, err);
    if (rc != DP_OK)
        return rc;
    rc = read_values(schedule, &lines, err);
    dp_lines_close(&lines);
    return rc;
}
