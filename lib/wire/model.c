#include "wire/model.h"

#include <errno.h>
#include <math.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/number.h"
#include "wire/json.h"

int dp_model_shape(const struct dp_frame *frame, size_t *outputs, size_t *cols, struct dp_err *err)
{
    const struct dp_array *model, *average = dp_frame_array(frame, DP_F_AVERAGE);
    int rc = dp_frame_need_array(frame, DP_F_MODEL, DP_F64, 2, &model, err);
    if (rc != DP_OK)
        return rc;
    if (model->count == 0)
        return dp_fail(err, DP_E_RUN, "the model of lap %lld is empty", (long long)frame->lap);
    if (average != NULL && (average->dtype != DP_F64 || average->ndim != 2 || average->dims[0] != model->dims[0] ||
                            average->dims[1] != model->dims[1]))
        return dp_fail(err, DP_E_RUN, "'average' of lap %lld does not have the shape of the model", (long long)frame->lap);
    *outputs = model->dims[0];
    *cols = model->dims[1];
    return DP_OK;
}

int dp_model_weights(const struct dp_frame *frame, double *weights, struct dp_err *err)
{
    enum dp_field field = dp_frame_has(frame, DP_F_AVERAGE) ? DP_F_AVERAGE : DP_F_MODEL;
    const struct dp_array *a = dp_frame_array(frame, field);
    const double *from = a->data;
    double scale = dp_frame_real(frame, DP_F_SCALE, 1);
    for (size_t i = 0; i < a->count; i++) {
        weights[i] = scale * from[i];
        if (!isfinite(weights[i]))
            return dp_fail(err, DP_E_RUN, "the model of lap %lld is not finite", (long long)frame->lap);
    }
    return DP_OK;
}

int dp_model_digest(const struct dp_frame *frame, char digest[DP_MODEL_DIGEST], struct dp_err *err)
{
    crypto_generichash_state hash;
    unsigned char bytes[DP_MODEL_DIGEST / 2];
    size_t outputs, cols;
    double *weights;
    int rc = dp_model_shape(frame, &outputs, &cols, err);
    if (rc == DP_OK)
        rc = dp_alloc(&weights, outputs * cols, sizeof *weights, err);
    if (rc != DP_OK)
        return rc;
    rc = dp_model_weights(frame, weights, err);
    uint64_t shape[2] = {outputs, cols};
    crypto_generichash_init(&hash, NULL, 0, sizeof bytes);
    crypto_generichash_update(&hash, (const unsigned char *)shape, sizeof shape);
    crypto_generichash_update(&hash, (const unsigned char *)weights, outputs * cols * sizeof *weights);
    crypto_generichash_final(&hash, bytes, sizeof bytes);
    sodium_bin2hex(digest, DP_MODEL_DIGEST, bytes, sizeof bytes);
    free(weights);
    return rc;
}

void dp_model_free_names(char **names, size_t count)
{
    for (size_t i = 0; names != NULL && i < count; i++)
        free(names[i]);
    free(names);
}

int dp_model_names(const struct dp_frame *frame, char ***names, size_t *count, struct dp_err *err)
{
    const char *text = dp_frame_text(frame, DP_F_LABELS, "");
    *names = NULL;
    *count = 0;
    if (text[0] == '\0')
        return DP_OK;
    json_t *root, *entry;
    size_t index;
    int rc = dp_json_parse(&root, text, strlen(text), "labels", err);
    if ((rc != DP_OK && errno != ENOMEM) || (rc == DP_OK && (!json_is_array(root) || json_array_size(root) == 0)))
        rc = dp_fail(err, DP_E_RUN, "'labels' of lap %lld is not a JSON array of names", (long long)frame->lap);
    if (rc == DP_OK)
        rc = dp_alloc(names, json_array_size(root), sizeof **names, err);
    json_array_foreach (root, index, entry) {
        if (rc != DP_OK)
            break;
        if (!json_is_string(entry)) {
            rc = dp_fail(err, DP_E_RUN, "'labels' of lap %lld is not a JSON array of names", (long long)frame->lap);
            break;
        }
        (*names)[index] = strdup(json_string_value(entry));
        *count = index + 1;
        if ((*names)[index] == NULL)
            rc = dp_fail(err, DP_E_RUN, "out of memory");
    }
    json_decref(root);
    if (rc != DP_OK) {
        dp_model_free_names(*names, *count);
        *names = NULL;
        *count = 0;
    }
    return rc;
}

/* --- comparison
 * ------------------------------------------------------------------------------------------------- */

struct phrase {
    char *text;
    size_t size;
};

static int __attribute__((format(printf, 2, 3))) differ(struct phrase *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(p->text, p->size, format, args);
    va_end(args);
    return 1;
}

/* Bit by bit: −0 is not 0, and a NaN is like itself. */
static bool same_real(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static int differ_real(struct phrase *p, const char *name, double a, double b)
{
    char left[40], right[40];
    return differ(p, "%s: %s and %s", name, dp_number_print(a, left, sizeof left), dp_number_print(b, right, sizeof right));
}

static int compare_mechanisms(const struct dp_frame *a, const struct dp_frame *b, struct phrase *p)
{
    if (a->mechanisms != b->mechanisms)
        return differ(p, "mechanism records: %d and %d", a->mechanisms, b->mechanisms);
    for (int i = 0; i < a->mechanisms; i++) {
        const struct dp_mechanism *m = &a->mechanism[i], *n = &b->mechanism[i];
        if (m->sampler != n->sampler || m->adjacency != n->adjacency || m->release != n->release || m->noise != n->noise ||
            m->rows != n->rows || m->epoch_laps != n->epoch_laps || !same_real(m->rate, n->rate) ||
            !same_real(m->bound, n->bound) || !same_real(m->sensitivity, n->sensitivity) ||
            !same_real(m->multiplier, n->multiplier) || !same_real(m->scale, n->scale))
            return differ(p, "mechanism record %d", i + 1);
    }
    return 0;
}

static double array_value(const struct dp_array *a, size_t i)
{
    switch (a->dtype) {
    case DP_F32:
        return (double)((const float *)a->data)[i];
    case DP_F64:
        return ((const double *)a->data)[i];
    case DP_I32:
        return ((const int32_t *)a->data)[i];
    case DP_I64:
        return (double)((const int64_t *)a->data)[i];
    }
    return (double)NAN;
}

static void shape_text(const struct dp_array *a, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "%s", dp_dtype_name(a->dtype));
    for (int i = 0; i < a->ndim && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%llu", i == 0 ? " " : " × ", (unsigned long long)a->dims[i]);
}

static int compare_arrays(const char *key, const struct dp_array *a, const struct dp_array *b, struct phrase *p)
{
    size_t width = dp_dtype_size(a->dtype);
    if (a->dtype != b->dtype || a->ndim != b->ndim || memcmp(a->dims, b->dims, (size_t)a->ndim * sizeof a->dims[0]) != 0) {
        char left[120], right[120];
        shape_text(a, left, sizeof left);
        shape_text(b, right, sizeof right);
        return differ(p, "%s: %s and %s", key, left, right);
    }
    for (size_t i = 0; i < a->count; i++) {
        if (memcmp((const char *)a->data + i * width, (const char *)b->data + i * width, width) == 0)
            continue;
        char name[120];
        size_t last = a->dims[a->ndim - 1];
        if (a->ndim == 2)
            snprintf(name, sizeof name, "%s[%zu, %zu]", key, i / last, i % last);
        else
            snprintf(name, sizeof name, "%s[%zu]", key, i);
        return differ_real(p, name, array_value(a, i), array_value(b, i));
    }
    return 0;
}

static int compare_field(const struct dp_frame *a, const struct dp_frame *b, enum dp_field field, struct phrase *p)
{
    const struct dp_value *v = &a->value[field], *w = &b->value[field];
    const char *key = dp_fields[field].key;
    if (v->present != w->present)
        return differ(p, "%s: only the %s has it", key, v->present ? "first" : "second");
    if (!v->present)
        return 0;
    switch (dp_fields[field].type) {
    case DP_T_INT:
        if (v->u.whole != w->u.whole)
            return differ(p, "%s: %lld and %lld", key, (long long)v->u.whole, (long long)w->u.whole);
        return 0;
    case DP_T_REAL:
        return same_real(v->u.real, w->u.real) ? 0 : differ_real(p, key, v->u.real, w->u.real);
    case DP_T_BOOL:
        return v->u.flag == w->u.flag ? 0 : differ(p, "%s: %s", key, v->u.flag ? "yes and no" : "no and yes");
    case DP_T_TEXT:
        return strcmp(v->text, w->text) == 0 ? 0 : differ(p, "%s: '%.80s' and '%.80s'", key, v->text, w->text);
    case DP_T_ARRAY:
        return compare_arrays(key, &v->array, &w->array, p);
    }
    return 0;
}

static int compare_weights(const struct dp_frame *a, const struct dp_frame *b, const struct dp_model_tolerance *t,
                           struct phrase *p, struct dp_err *err)
{
    size_t outputs, cols, other_outputs, other_cols;
    double *left = NULL, *right = NULL;
    int rc = dp_model_shape(a, &outputs, &cols, err);
    if (rc == DP_OK)
        rc = dp_model_shape(b, &other_outputs, &other_cols, err);
    if (rc != DP_OK)
        return rc;
    if (outputs != other_outputs || cols != other_cols)
        return differ(p, "weights: %zu × %zu and %zu × %zu", outputs, cols, other_outputs, other_cols);
    rc = dp_alloc(&left, outputs * cols, sizeof *left, err);
    if (rc == DP_OK)
        rc = dp_alloc(&right, outputs * cols, sizeof *right, err);
    if (rc == DP_OK)
        rc = dp_model_weights(a, left, err);
    if (rc == DP_OK)
        rc = dp_model_weights(b, right, err);
    for (size_t i = 0; rc == DP_OK && i < outputs * cols; i++) {
        double slack = t->absolute + t->relative * fmax(fabs(left[i]), fabs(right[i]));
        if (t->exact ? same_real(left[i], right[i]) : fabs(left[i] - right[i]) <= slack)
            continue;
        char name[80];
        snprintf(name, sizeof name, "weight[%zu, %zu]", i / cols, i % cols);
        rc = differ_real(p, name, left[i], right[i]);
    }
    free(left);
    free(right);
    return rc;
}

int dp_model_compare(const struct dp_frame *a, const struct dp_frame *b, const struct dp_model_tolerance *tolerance, char *what,
                     size_t size, struct dp_err *err)
{
    struct phrase p = {what, size};
    if (!tolerance->weights_only) {
        if (a->lap != b->lap)
            return differ(&p, "lap: %lld and %lld", (long long)a->lap, (long long)b->lap);
        if (a->label != b->label)
            return differ(&p, "label: %s and %s", dp_label_name(a->label), dp_label_name(b->label));
        int rc = compare_mechanisms(a, b, &p);
        for (int i = 0; rc == 0 && i < DP_F_COUNT; i++) {
            /* Within a tolerance the weights stand for these. */
            bool weight = i == DP_F_MODEL || i == DP_F_AVERAGE || i == DP_F_SCALE;
            if (tolerance->exact || !weight)
                rc = compare_field(a, b, (enum dp_field)i, &p);
        }
        if (rc != 0 || tolerance->exact)
            return rc;
    }
    return compare_weights(a, b, tolerance, &p, err);
}

/* --- description
 * ------------------------------------------------------------------------------------------------ */

static const char *number(double value, char *buffer, size_t size)
{
    return isfinite(value) ? dp_number_print(value, buffer, size) : isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

/* Epsilon for a person: six digits, never less than it is. */
static const char *rounded_up(double value, char *buffer, size_t size)
{
    if (!(value > 0) || !isfinite(value))
        return number(value, buffer, size);
    double step = pow(10, floor(log10(value)) - 5);
    snprintf(buffer, size, "%.6g", value);
    if (strtod(buffer, NULL) < value)
        snprintf(buffer, size, "%.6g", value + step);
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
            fprintf(out, "%s\n", number(array_value(&v->array, i), text, sizeof text));
        break;
    }
    return DP_OK;
}

static void print_training(const struct dp_frame *frame, size_t outputs, size_t cols, FILE *out)
{
    char text[40];
    const char *loss = dp_frame_text(frame, DP_F_LOSS, "an unnamed");
    fprintf(out, "model: %s loss, %zu × %zu weights (outputs × columns)", loss, outputs, cols);
    if (dp_frame_has(frame, DP_F_LAMBDA))
        fprintf(out, ", lambda %s", number(dp_frame_real(frame, DP_F_LAMBDA, 0), text, sizeof text));
    fputc('\n', out);
    if (dp_frame_has(frame, DP_F_LABELS))
        fprintf(out, "classes: %s\n", dp_frame_text(frame, DP_F_LABELS, ""));
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
        fprintf(out, ", %lld rows", (long long)dp_frame_int(frame, DP_F_N, 0));
    if (dp_frame_has(frame, DP_F_DATA))
        fputc('\n', out);
    if (dp_frame_has(frame, DP_F_ROW_NORM))
        fprintf(out, "its rows: %s\n", dp_frame_text(frame, DP_F_ROW_NORM, ""));
}

/* What the two numbers leave open, as the gate warns of it. */
static void print_doubts(const struct dp_frame *frame, FILE *out)
{
    double rows = (double)dp_frame_int(frame, DP_F_N, 0);
    if (dp_frame_real(frame, DP_F_DELTA, 0) * rows >= 1)
        fprintf(out, "  delta is not below 1/N = %g: it would permit to publish somebody's row\n", 1 / rows);
    if (dp_frame_real(frame, DP_F_EPSILON, 0) > 10)
        fputs("  epsilon is above 10: little is hidden\n", out);
}

static void print_privacy(const struct dp_frame *frame, FILE *out)
{
    char epsilon[40], delta[40], sound[40];
    bool non_private = dp_frame_bool(frame, DP_F_NON_PRIVATE);
    if (non_private)
        fputs("privacy: none, it was trained without noise\n", out);
    else if (!dp_frame_has(frame, DP_F_EPSILON))
        fputs("privacy: it does not say what was spent\n", out);
    else
        fprintf(out, "privacy: epsilon %s, delta %s%s\n",
                rounded_up(dp_frame_real(frame, DP_F_EPSILON, 0), epsilon, sizeof epsilon),
                number(dp_frame_real(frame, DP_F_DELTA, (double)NAN), delta, sizeof delta),
                dp_frame_bool(frame, DP_F_AS_PUBLISHED) ? ", as published" : "");
    if (!non_private)
        print_doubts(frame, out);
    if (dp_frame_has(frame, DP_F_PRIOR_EPSILON))
        fprintf(out, "  of it epsilon %s, delta %s is what the model has cost that the run started from\n",
                rounded_up(dp_frame_real(frame, DP_F_PRIOR_EPSILON, 0), epsilon, sizeof epsilon),
                number(dp_frame_real(frame, DP_F_PRIOR_DELTA, (double)NAN), delta, sizeof delta));
    if (dp_frame_bool(frame, DP_F_AS_PUBLISHED)) {
        fputs("  as published: charged as the paper does, which is not sound;", out);
        if (dp_frame_has(frame, DP_F_EPSILON_SOUND))
            fprintf(out, " the sound epsilon is %s\n",
                    rounded_up(dp_frame_real(frame, DP_F_EPSILON_SOUND, 0), sound, sizeof sound));
        else
            fputs(" it does not give the sound epsilon\n", out);
    }
    if (dp_frame_bool(frame, DP_F_SEEDED))
        fputs("  seeded: whoever knows the seed knows the noise; for experiments, not private\n", out);
    if (dp_frame_bool(frame, DP_F_UNTRACKED))
        fputs("  untracked: no ledger has the run, it was told --no-ledger\n", out);
    const char *preprocessing = dp_frame_text(frame, DP_F_PREPROCESSING, "");
    if (preprocessing[0] != '\0' && !non_private)
        fprintf(out, "  the preparation of the data read private rows, which epsilon leaves out: %s\n", preprocessing);
}

int dp_model_describe(const struct dp_frame *frame, bool json, const char *get, FILE *out, struct dp_err *err)
{
    size_t outputs, cols;
    if (get != NULL)
        return print_field(frame, get, out, err);
    if (json) {
        json_t *root = dp_json_frame(frame, true);
        int rc = dp_json_print(root, 0, out, err);
        json_decref(root);
        return rc;
    }
    int rc = dp_model_shape(frame, &outputs, &cols, err);
    if (rc != DP_OK)
        return rc;
    print_training(frame, outputs, cols, out);
    print_privacy(frame, out);
    return DP_OK;
}
