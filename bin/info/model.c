#include "model.h"

#include "base/text.h"
#include "base/json.h"
#include "base/number.h"
#include "model/family.h"
#include "port/model.h"
#include "base/round.h"
#include "base/unit.h"
#include "wire/json.h"

static const char *number(double value, char *buffer, size_t size)
{
    return isfinite(value) ? dp_number_print(value, buffer, size) : isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

/* Epsilon for readers: six digits, rounded up. */
static const char *rounded_up(double value, char *buffer, size_t size)
{
    if (!(value > 0) || !isfinite(value))
        return number(value, buffer, size);
    snprintf(buffer, size, "%.6g", dp_round_up(value, 6));
    return buffer;
}

static int print_field(const struct dp_frame *frame, const char *name, FILE *out, struct dp_err *err)
{
    char text[40];
    enum dp_field field = dp_field_find(name, strlen(name));
    if (strcmp(name, "lap") == 0) {
        fprintf(out, "%lld\n", (long long)frame->lap);
        return DP_OK;
    }
    if (strcmp(name, "label") == 0) {
        fprintf(out, "%s\n", dp_label_name(frame->label));
        return DP_OK;
    }
    if (field == DP_F_COUNT || !dp_frame_has(frame, field))
        return dp_fail(err, DP_E_RUN, "the model has no '%.80s'", name);
    const struct dp_value *v = &frame->value[field];
    switch (dp_fields[field].type) {
    case DP_T_INT:
        fprintf(out, "%lld\n", (long long)v->u.whole);
        break;
    case DP_T_REAL:
        fprintf(out, "%s\n", number(v->u.real, text, sizeof text));
        break;
    case DP_T_BOOL:
        fprintf(out, "%s\n", v->u.flag ? "true" : "false");
        break;
    case DP_T_TEXT:
        fprintf(out, "%s\n", v->text);
        break;
    case DP_T_ARRAY:
        for (size_t i = 0; i < v->array.count; i++)
            fprintf(out, "%s\n", number(dp_array_at(&v->array, i), text, sizeof text));
        break;
    }
    return DP_OK;
}

static void print_training(const struct dp_frame *frame, const struct dp_form *form, FILE *out)
{
    char text[40];
    const char *loss = dp_frame_text(frame, DP_F_LOSS, "an unnamed");
    fprintf(out, "model: %s loss, %zu × %zu weights (%s)", loss, form->rows, form->cols, form->family->sides);
    if (dp_frame_has(frame, DP_F_LAMBDA))
        fprintf(out, ", lambda %s", number(dp_frame_real(frame, DP_F_LAMBDA, 0), text, sizeof text));
    fputc('\n', out);
    if (dp_frame_has(frame, DP_F_NETWORK))
        dp_text_line("network: ", dp_frame_text(frame, DP_F_NETWORK, ""), out);
    if (dp_frame_has(frame, DP_F_LABELS))
        dp_text_line("classes: ", dp_frame_text(frame, DP_F_LABELS, ""), out);
    if (dp_frame_has(frame, DP_F_CLASS_WEIGHTS))
        dp_text_line("class weights: ", dp_frame_text(frame, DP_F_CLASS_WEIGHTS, ""), out);
    if (dp_frame_has(frame, DP_F_TRIALS))
        fputs("laps: all laps of the chosen run, released as one", out);
    else
        fprintf(out, "laps: %lld", (long long)frame->lap);
    if (dp_frame_has(frame, DP_F_LAPS))
        fprintf(out, " of %lld", (long long)dp_frame_int(frame, DP_F_LAPS, 0));
    if (dp_frame_bool(frame, DP_F_INTERRUPTED))
        fputs(", interrupted", out);
    if (dp_frame_has(frame, DP_F_AVERAGE))
        fprintf(out, ", the mean of the last %lld", (long long)dp_frame_int(frame, DP_F_AVERAGED, 1));
    fputc('\n', out);
    if (dp_frame_has(frame, DP_F_DATA))
        fprintf(out, "trained on: data set %s", dp_frame_text(frame, DP_F_DATA, ""));
    if (dp_frame_has(frame, DP_F_DATA) && dp_frame_has(frame, DP_F_N))
        fprintf(out, ", %lld %s", (long long)dp_frame_int(frame, DP_F_N, 0),
                dp_frame_has(frame, DP_F_UNIT) ? "persons" : "rows");
    if (dp_frame_has(frame, DP_F_DATA))
        fputc('\n', out);
    size_t most;
    if (dp_unit_read(dp_frame_text(frame, DP_F_UNIT, ""), &most))
        fprintf(out, "all rows of a person count together: at most %zu of them\n", most);
    if (dp_frame_has(frame, DP_F_ROW_NORM))
        dp_text_line("its rows: ", dp_frame_text(frame, DP_F_ROW_NORM, ""), out);
}

static void print_tables(const struct dp_frame *frame, FILE *out)
{
    const struct dp_array *numbers = dp_frame_array(frame, DP_F_MODEL);
    json_t *list = json_loads(dp_frame_text(frame, DP_F_TABLES, ""), 0, NULL);
    const bool rows = strcmp(dp_frame_text(frame, DP_F_METHOD, ""), "rows") == 0;
    fprintf(out, "model: tables of counts (%zu tables, %zu numbers), which dp-table print shows%s\n", json_array_size(list),
            numbers != NULL ? numbers->count : 0, rows ? "; dp-rows draw makes synthetic rows of them" : "");
    json_decref(list);
    if (dp_frame_has(frame, DP_F_DATA))
        fprintf(out, "counted in: data set %s, %lld %s\n", dp_frame_text(frame, DP_F_DATA, ""),
                (long long)dp_frame_int(frame, DP_F_N, 0), dp_frame_has(frame, DP_F_UNIT) ? "persons" : "rows");
}

/* The gate's warnings about what the two numbers do not cover. */
static void print_doubts(const struct dp_frame *frame, FILE *out)
{
    double rows = (double)dp_frame_int(frame, DP_F_N, 0);
    if (dp_frame_real(frame, DP_F_DELTA, 0) * rows >= 1)
        fprintf(out, "  delta is not below 1/N = %g: it would permit publishing somebody's row\n", 1 / rows);
    if (dp_frame_real(frame, DP_F_EPSILON, 0) > 10)
        fputs("  epsilon is above 10: little is hidden\n", out);
    if (dp_frame_has(frame, DP_F_EXACT_OF))
        dp_text_line("  it shows without noise rows of ", dp_frame_text(frame, DP_F_EXACT_OF, ""), out);
    if (dp_frame_has(frame, DP_F_EPSILON) && frame->lap < dp_frame_int(frame, DP_F_LAPS, 0))
        fputs("  a lap before the last: chosen by its results it costs what all laps cost (dp-account certify)\n", out);
}

/* Against the operator of the gather the sums of a site have the noise of its share only. A frame does not say if they had
 * masks, because a masked run has the bytes of an unmasked run. */
static void print_view(const struct dp_frame *frame, FILE *out)
{
    char share[40], all[40];
    for (int i = 0; i < frame->records; i++) {
        const struct dp_record *r = &frame->record[i];
        if (r->shares <= r->colluding)
            continue;
        fprintf(
            out,
            "  noise in shares of %lld sites: against the operator of their gather the multiplier of each lap is %s, and not "
            "%s, unless dp-worker had --mask\n",
            (long long)r->shares, number(r->query.multiplier / sqrt((double)(r->shares - r->colluding)), share, sizeof share),
            number(r->query.multiplier, all, sizeof all));
    }
}

static void print_privacy(const struct dp_frame *frame, FILE *out)
{
    char epsilon[40], delta[40];
    bool non_private = dp_frame_bool(frame, DP_F_NON_PRIVATE);
    if (non_private)
        fputs("privacy: none, it was trained without noise\n", out);
    else if (dp_frame_bool(frame, DP_F_PUBLIC))
        fputs("privacy: it was trained on public rows\n", out);
    else if (!dp_frame_has(frame, DP_F_EPSILON))
        fputs("privacy: it does not say what was spent\n", out);
    else
        fprintf(out, "privacy: epsilon %s, delta %s\n",
                rounded_up(dp_frame_real(frame, DP_F_EPSILON, 0), epsilon, sizeof epsilon),
                number(dp_frame_real(frame, DP_F_DELTA, (double)NAN), delta, sizeof delta));
    if (!non_private)
        print_doubts(frame, out);
    if (dp_frame_has(frame, DP_F_TRIALS))
        fprintf(out, "  for the choice of the best of several runs (%s), by the rows of data set %s\n",
                dp_frame_text(frame, DP_F_TRIALS, ""), dp_frame_text(frame, DP_F_SELECTED_ON, "unknown"));
    if (dp_frame_has(frame, DP_F_PRIOR_EPSILON))
        fprintf(out, "  of it epsilon %s, delta %s is the cost of the model that the run started from\n",
                rounded_up(dp_frame_real(frame, DP_F_PRIOR_EPSILON, 0), epsilon, sizeof epsilon),
                number(dp_frame_real(frame, DP_F_PRIOR_DELTA, (double)NAN), delta, sizeof delta));
    if (dp_frame_has(frame, DP_F_PUBLIC_START))
        fprintf(out, "  the run started from the public model %.12s, which costs nothing\n",
                dp_frame_text(frame, DP_F_PUBLIC_START, ""));
    if (dp_frame_bool(frame, DP_F_SEEDED))
        fputs("  seeded: anybody who knows the seed knows the noise; for experiments, not private\n", out);
    if (dp_frame_bool(frame, DP_F_UNTRACKED))
        fputs("  untracked: no ledger has the run: its gate had --no-ledger\n", out);
    print_view(frame, out);
    char preprocessing[200];
    bool paid;
    dp_text_unpaid(dp_frame_text(frame, DP_F_PREPROCESSING, ""), &paid, preprocessing, sizeof preprocessing);
    if (paid && !non_private)
        fputs("  bounds, categories or knots of the table were paid for: epsilon includes them\n", out);
    if (preprocessing[0] != '\0' && !non_private)
        fprintf(out, "  the preparation of the data read private rows, which epsilon leaves out: %s\n", preprocessing);
}

int info_model_describe(const struct dp_frame *frame, bool json, const char *get, FILE *out, struct dp_err *err)
{
    struct dp_form form;
    if (get != NULL)
        return print_field(frame, get, out, err);
    if (json) {
        json_t *root = dp_json_frame(frame, true);
        dp_json_print(root, 0, out);
        int rc = DP_OK;
        json_decref(root);
        return rc;
    }
    const bool tables = dp_frame_has(frame, DP_F_TABLES);
    int rc = tables ? DP_OK : dp_form_read(&form, frame, err);
    if (rc != DP_OK)
        return rc;
    if (tables)
        print_tables(frame, out);
    else
        print_training(frame, &form, out);
    print_privacy(frame, out);
    return DP_OK;
}

int info_model(const char *path, bool json, const char *get, FILE *out, struct dp_err *err)
{
    struct dp_frame *frame = dp_frame_new();
    int rc = dp_model_read(frame, path, err);
    rc = rc ?: info_model_describe(frame, json, get, out, err);
    dp_frame_free(frame);
    return rc;
}
