#include "model/compare.h"

#include <stdarg.h>

#include "base/mem.h"
#include "base/number.h"
#include "wire/model.h"

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

/* Compares bits: −0 is not equal to 0, and a NaN is equal to itself. */
static bool same_real(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static int differ_real(struct phrase *p, const char *name, double a, double b)
{
    return differ(p, "%s: %s and %s", name, DP_NUMBER(a), DP_NUMBER(b));
}

static int compare_records(const struct dp_frame *a, const struct dp_frame *b, struct phrase *p)
{
    if (a->records != b->records)
        return differ(p, "records: %d and %d", a->records, b->records);
    for (int i = 0; i < a->records; i++)
        for (int m = 0; m < DP_RECORD_MEMBER_COUNT; m++)
            if (!dp_record_same_member(&a->record[i], &b->record[i], m))
                return differ(p, "%s in record %d", dp_record_key(m), i + 1);
    return 0;
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
        return differ_real(p, name, dp_array_at(a, i), dp_array_at(b, i));
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
    int rc = dp_model_shape(a, &outputs, &cols, err);
    rc = rc ?: dp_model_shape(b, &other_outputs, &other_cols, err);
    if (rc != DP_OK)
        return rc;
    if (outputs != other_outputs || cols != other_cols)
        return differ(p, "weights: %zu × %zu and %zu × %zu", outputs, cols, other_outputs, other_cols);
    double *left = dp_new(outputs * cols, sizeof *left), *right = dp_new(outputs * cols, sizeof *right);
    rc = dp_model_weights(a, left, err);
    rc = rc ?: dp_model_weights(b, right, err);
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
        int rc = compare_records(a, b, &p);
        for (int i = 0; rc == 0 && i < DP_F_COUNT; i++) {
            /* With a tolerance, the weights are compared instead of these fields. */
            bool weight = i == DP_F_MODEL || i == DP_F_AVERAGE || i == DP_F_SCALE;
            if (tolerance->exact || !weight)
                rc = compare_field(a, b, (enum dp_field)i, &p);
        }
        if (rc != 0 || tolerance->exact)
            return rc;
    }
    return compare_weights(a, b, tolerance, &p, err);
}
