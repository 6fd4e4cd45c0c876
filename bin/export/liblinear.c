/* liblinear: a model for its predict, over rows of features in the units of the table. */

#include "export.h"

/* Classes are numbers in liblinear: the names, if all are whole numbers, else 0, 1, … */
static bool whole(const char *text)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    return *text != '\0' && *end == '\0' && errno == 0 && value >= -2147483647L && value <= 2147483647L;
}

/* A solver of liblinear that predicts in the same way as the loss. MCSVM_CS takes the largest of several scores. */
static const char *solver(const struct dp_terms *t)
{
    if (t->classes == 0)
        return "L2R_L2LOSS_SVR";
    if (t->predictor.loss == DP_LOSS_LOGISTIC || (t->predictor.loss == DP_LOSS_SOFTMAX && t->outputs == 1))
        return "L2R_LR";
    return t->outputs > 1 ? "MCSVM_CS" : "L2R_L2LOSS_SVC";
}

/* A score above 0 is the first class of liblinear. */
static void put_classes(const struct export *e)
{
    const struct dp_terms *t = e->terms;
    bool named = true;
    for (size_t k = 0; k < t->classes; k++)
        named = named && whole(t->class[k]);
    fprintf(e->out, "nr_class %zu\nlabel", t->classes);
    for (size_t i = 0; i < t->classes; i++) {
        size_t k = t->outputs == 1 ? t->classes - 1 - i : i;
        if (named)
            fprintf(e->out, " %s", t->class[k]);
        else
            fprintf(e->out, " %zu", k);
    }
    fputc('\n', e->out);
}

/* The weights of a feature. The weights of a number are in its unit and the unit of the label. */
static void put_weights(const struct export *e, const double *weight, size_t stride, double factor)
{
    for (size_t k = 0; k < e->terms->outputs; k++) {
        export_number(e, factor * weight[k * stride]);
        fputc(' ', e->out);
    }
    fputc('\n', e->out);
}

int export_liblinear(const struct export *e, struct dp_err *err)
{
    const struct dp_terms *t = e->terms;
    (void)err;
    double scale = t->classes == 0 ? t->predictor.label.scale : 1, offset = t->classes == 0 ? t->predictor.label.offset : 0;
    size_t features = 0;
    for (size_t j = 0; j < t->count; j++)
        features += t->term[j].kind != DP_TERM_BIAS;
    fprintf(e->out, "solver_type %s\n", solver(t));
    if (t->classes > 0)
        put_classes(e);
    else
        fputs("nr_class 2\n", e->out);
    fprintf(e->out, "nr_feature %zu\nbias 1\nw\n", features);
    for (size_t j = 0; j < t->count; j++)
        if (t->term[j].kind != DP_TERM_BIAS)
            put_weights(e, t->weight + j, t->count, scale * (t->term[j].kind == DP_TERM_NUMBER ? t->term[j].factor : 1));
    for (size_t k = 0; k < t->outputs; k++) {
        export_number(e, scale * export_intercept(e, k) + offset);
        fputc(' ', e->out);
    }
    fputc('\n', e->out);
    return DP_OK;
}
