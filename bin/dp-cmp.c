#include "base/cli.h"
#include "base/terminal.h"
#include "model/compare.h"
#include "port/model.h"

struct options {
    double tolerance, relative;
    bool weights_only;
};

#define DP_OPTIONS struct options
static const struct dp_option options[] = {
    DP_OPTION_REAL('t', tolerance, "ABS", DP_FROM(0), "weights may differ by this much"),
    DP_OPTION_REAL('r', relative, "PART", DP_FROM(0), "weights may differ by this part of the larger one"),
    DP_OPTION_FLAG('w', weights_only, "compare only the weights"),
    {.name = NULL},
};

static int run(const struct options *o, const char *first, const char *second, struct dp_err *err)
{
    struct dp_frame *a = NULL, *b = NULL;
    char what[256];
    struct dp_model_tolerance tolerance = {.exact = isnan(o->tolerance) && isnan(o->relative),
                                           .weights_only = o->weights_only,
                                           .absolute = isnan(o->tolerance) ? 0 : o->tolerance,
                                           .relative = isnan(o->relative) ? 0 : o->relative};
    if (strcmp(first, "-") == 0 && strcmp(second, "-") == 0)
        return dp_fail(err, DP_E_USAGE, "only one of the two models can come from standard input");
    a = dp_frame_new();
    b = dp_frame_new();
    int rc = dp_model_read(a, first, err);
    rc = rc ?: dp_model_read(b, second, err);
    rc = rc ?: dp_model_compare(a, b, &tolerance, what, sizeof what, err);
    if (rc == 1)
        printf("%s %s differ: %s\n", first, second, what);
    dp_frame_free(a);
    dp_frame_free(b);
    return rc;
}

int main(int argc, char **argv)
{
    const struct dp_command command = {"dp-cmp", "MODEL MODEL", "Compare two models", options, NULL};
    struct options o;
    struct dp_err err = {0};
    int operand, status, rc;
    if (!dp_cli_start(&command, &o, NULL, argc, argv, &operand, &status))
        return status;
    dp_terminal_people();
    if (argc - operand != 2)
        rc = dp_fail(&err, DP_E_USAGE, "expected two models (try --help)");
    else
        rc = run(&o, argv[operand], argv[operand + 1], &err);
    status = dp_cli_finish("dp-cmp", rc == 1 ? DP_OK : rc, &err);
    return status == 0 && rc == 1 ? 1 : status;
}
