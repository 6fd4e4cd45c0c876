#include "base/cli.h"
#include "export/export.h"
#include "port/model.h"

enum format { JSON, CSV, SQL, C, LIBLINEAR, ONNX, PMML };

struct options {
    int to;
    const char *keep, *table;
};

#define DP_OPTIONS struct options
static const struct dp_option options[] = {
    DP_OPTION_CHOICE(0, to, "FORMAT", "json|csv|sql|c|liblinear|onnx|pmml", "json, csv, sql, c, liblinear, onnx or pmml",
                     .required = true),
    DP_OPTION_TEXT(0, table, "NAME", "sql: the name of the table", .fallback = "rows"),
    DP_OPTION_TEXT('K', keep, "NAMES", "sql: copy these columns, separated by commas, in front of the predictions"),
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

/* Only readers of JSON can be expected to read dates. Buckets need a hash: the C export contains it, and readers
 * of the JSON export must compute it. */
static int check_columns(const struct dp_terms *t, int to, const char *name, struct dp_err *err)
{
    if (t->products > 0 && to != JSON && to != C)
        return dp_fail(
            err, DP_E_RUN,
            "%s has products of two numbers, for which only json and c have a place; dpline fit --additive makes a model "
            "without",
            name);
    for (size_t i = 0; t->table && i < t->plan.schema.columns; i++) {
        const struct dp_column *c = &t->plan.schema.column[i];
        if (c->date != NULL && to != JSON)
            return dp_fail(err, DP_E_RUN, "%s reads dates in column '%s', for which only json has a place", name, c->name);
        if (c->buckets > 0 && to != JSON && to != C)
            return dp_fail(err, DP_E_RUN, "%s has buckets for texts of column '%s', for which only json and c have a place",
                           name, c->name);
    }
    return DP_OK;
}

static int run(const struct options *o, const char *model, struct dp_err *err)
{
    static int (*const exports[])(const struct export *, struct dp_err *) = {
        [JSON] = export_json,           [CSV] = export_csv,   [SQL] = export_sql,  [C] = export_c,
        [LIBLINEAR] = export_liblinear, [ONNX] = export_onnx, [PMML] = export_pmml};
    struct dp_terms terms = {.networks = o->to == C || o->to == ONNX};
    struct dp_texts keep = {0};
    const char *name = strcmp(model, "-") == 0 ? "the model" : model;
    struct dp_frame *frame = dp_frame_new();
    int rc = dp_model_read(frame, model, err);
    rc = rc ?: dp_terms_open(&terms, frame, name, err);
    if (rc == DP_OK)
        take_keep(&keep, o->keep);
    rc = rc ?: check_columns(&terms, o->to, name, err);
    const struct export e = {&terms, frame, name, o->table, &keep, stdout};
    rc = rc ?: exports[o->to](&e, err);
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
    else if (o.to != SQL && o.keep != NULL)
        rc = dp_fail(&err, DP_E_USAGE, "--keep: only sql copies columns");
    else
        rc = run(&o, argv[operand], &err);
    return dp_cli_finish("dp-export", rc, &err);
}
