#include "base/cli.h"
#include "export/export.h"
#include "port/model.h"

struct options {
    int to;
    const char *keep, *table;
};

#define DP_OPTIONS struct options
static const struct dp_option options[] = {
    DP_OPTION_CHOICE(0, to, "FORMAT", "json|csv|sql|c|liblinear|onnx|pmml", "json, csv, sql, c, liblinear, onnx or pmml",
                     .required = true),
    DP_OPTION_TEXT(0, table, "NAME", "the name of the table", .fallback = "rows", .needs = "to=sql"),
    DP_OPTION_TEXT('K', keep, "NAMES", "copy these columns, separated by commas, in front of the predictions",
                   .needs = "to=sql"),
    {.name = NULL},
};

static void take_keep(struct dp_texts *keep, const char *at)
{
    for (; at != NULL; at = *at == ',' ? at + 1 : NULL) {
        size_t length = strcspn(at, ",");
        dp_texts_add(keep, at, length);
        at += length;
    }
}

static int run(const struct options *o, const char *model, struct dp_err *err)
{
    static int (*const write[])(const struct export *, struct dp_err *) = {
        [EXPORT_JSON] = export_json,           [EXPORT_CSV] = export_csv,   [EXPORT_SQL] = export_sql,  [EXPORT_C] = export_c,
        [EXPORT_LIBLINEAR] = export_liblinear, [EXPORT_ONNX] = export_onnx, [EXPORT_PMML] = export_pmml};
    const struct export_format *format = &export_formats[o->to];
    struct dp_terms terms = {.networks = (format->can & EXPORT_NETWORK) != 0};
    struct dp_texts keep = {0};
    const char *name = strcmp(model, "-") == 0 ? "the model" : model;
    struct dp_frame *frame = dp_frame_new();
    int rc = dp_model_read(frame, model, err);
    rc = rc ?: dp_terms_open(&terms, frame, name, err);
    if (rc == DP_OK)
        take_keep(&keep, o->keep);
    const struct export e = {&terms, frame, name, o->table, &keep, o->to, stdout};
    rc = rc ?: export_check(&e, err);
    rc = rc ?: write[o->to](&e, err);
    dp_texts_free(&keep);
    dp_terms_close(&terms);
    dp_frame_free(frame);
    return rc;
}

int main(int argc, char **argv)
{
    const struct dp_command command = {"dp-export", "MODEL", "Write a model for other programs", options, NULL};
    struct options o;
    struct dp_err err = {0};
    int operand, status, rc;
    if (!dp_cli_start(&command, &o, NULL, argc, argv, &operand, &status))
        return status;
    if (argc - operand != 1)
        rc = dp_fail(&err, DP_E_USAGE, "expected one model (try --help)");
    else
        rc = run(&o, argv[operand], &err);
    return dp_cli_finish("dp-export", rc, &err);
}
