#include "wire/model.h"

#include <sodium.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"

int dp_model_shape(const struct dp_frame *frame, size_t *rows, size_t *cols, struct dp_err *err)
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
    *rows = model->dims[0];
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
    struct dp_hash hash;
    unsigned char bytes[DP_MODEL_DIGEST / 2];
    size_t rows = 0, cols = 0;
    int rc = dp_model_shape(frame, &rows, &cols, err);
    if (rc != DP_OK)
        return rc;
    double *weights = dp_new(rows * cols, sizeof *weights);
    rc = dp_model_weights(frame, weights, err);
    uint64_t shape[2] = {rows, cols};
    dp_hash_start(&hash, NULL, 0, sizeof bytes);
    dp_hash_add(&hash, shape, sizeof shape);
    dp_hash_add(&hash, weights, rows * cols * sizeof *weights);
    dp_hash_end(&hash, bytes, sizeof bytes);
    sodium_bin2hex(digest, DP_MODEL_DIGEST, bytes, sizeof bytes);
    free(weights);
    return rc;
}

void dp_model_end(struct dp_frame *frame)
{
    char digest[DP_MODEL_DIGEST];
    struct dp_err unused;
    bool model = frame->lap > 1 && dp_frame_has(frame, DP_F_MODEL) && dp_model_digest(frame, digest, &unused) == DP_OK;
    dp_frame_reset(frame, DP_KIND_END);
    if (model)
        dp_frame_set_string(frame, DP_F_MODEL_DIGEST, digest);
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
    if (rc != DP_OK || !json_is_array(root) || json_array_size(root) == 0)
        rc = dp_fail(err, DP_E_RUN, "'labels' of lap %lld is not a JSON array of names", (long long)frame->lap);
    if (rc == DP_OK)
        *names = dp_new(json_array_size(root), sizeof **names);
    json_array_foreach (root, index, entry) {
        if (rc != DP_OK)
            break;
        if (!json_is_string(entry)) {
            rc = dp_fail(err, DP_E_RUN, "'labels' of lap %lld is not a JSON array of names", (long long)frame->lap);
            break;
        }
        (*names)[index] = dp_got(strdup(json_string_value(entry)));
        *count = index + 1;
    }
    json_decref(root);
    if (rc != DP_OK) {
        dp_model_free_names(*names, *count);
        *names = NULL;
        *count = 0;
    }
    return rc;
}

int dp_model_class_names(const struct dp_frame *frame, const char *model, size_t classes, char *const *others, char ***names,
                         struct dp_err *err)
{
    size_t count;
    int rc = dp_model_names(frame, names, &count, err);
    if (*names != NULL && count != classes) {
        dp_model_free_names(*names, count);
        *names = NULL;
        return dp_fail(err, DP_E_RUN, "%s has %zu classes and names for %zu", model, classes, count);
    }
    if (rc != DP_OK || *names != NULL)
        return rc;
    *names = dp_new(classes, sizeof **names);
    for (size_t k = 0; k < classes; k++)
        (*names)[k] = others != NULL ? dp_got(strdup(others[k])) : dp_format("%zu", k);
    return DP_OK;
}
