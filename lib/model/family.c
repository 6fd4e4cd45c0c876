#include "model/family.h"

#include "wire/model.h"

static const struct dp_family *const families[] = {&dp_family_linear, &dp_family_network};

static const struct dp_family *find(const char *name)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (strcmp(families[i]->name, name) == 0)
            return families[i];
    return NULL;
}

int dp_form_network(struct dp_form *form, const char *text, struct dp_err *err)
{
    *form = (struct dp_form){.family = &dp_family_network};
    int rc = dp_net_parse(&form->net, text, err);
    form->features = form->net.inputs;
    form->outputs = form->net.outputs;
    form->family->shape(form);
    return rc;
}

void *dp_form_room(const struct dp_form *form)
{
    return form->family->open_room != NULL ? form->family->open_room(form) : NULL;
}

void dp_form_leave(const struct dp_form *form, void *room)
{
    if (form->family != NULL && form->family->close_room != NULL)
        form->family->close_room(room);
}

struct dp_form dp_form_for(const struct dp_family *family, size_t features, size_t outputs, double intercept)
{
    struct dp_form form = {.family = family, .features = features, .outputs = outputs, .intercept = intercept};
    family->shape(&form);
    return form;
}

int dp_form_read(struct dp_form *form, const struct dp_frame *frame, struct dp_err *err)
{
    const char *name = dp_frame_text(frame, DP_F_FAMILY, dp_family_linear.name);
    *form = (struct dp_form){.family = find(name), .intercept = dp_frame_real(frame, DP_F_INTERCEPT, 0)};
    if (form->family == NULL)
        return dp_fail(err, DP_E_RUN, "the model is of the family '%.40s', which is unknown here", name);
    int rc = form->family == &dp_family_network ? dp_net_parse(&form->net, dp_frame_text(frame, DP_F_NETWORK, ""), err) : DP_OK;
    rc = rc ?: dp_model_shape(frame, &form->rows, &form->cols, err);
    if (rc == DP_OK && !form->family->read(form))
        rc = dp_fail(err, DP_E_RUN, "the model of lap %lld is %zu × %zu, which no %s model is", (long long)frame->lap,
                     form->rows, form->cols, name);
    return rc;
}

int dp_form_model(const struct dp_form *form, struct dp_frame *frame, const double **model, struct dp_err *err)
{
    const struct dp_array *a;
    double *parameters;
    int rc;
    if (!dp_frame_has(frame, DP_F_MODEL)) {
        rc = dp_frame_make_array(frame, DP_F_MODEL, DP_F64, form->rows, form->cols, &parameters, err);
        if (rc == DP_OK) {
            form->family->start(form, parameters);
            *model = parameters;
        }
        return rc;
    }
    rc = dp_frame_need_array(frame, DP_F_MODEL, DP_F64, 2, &a, err);
    if (rc != DP_OK)
        return rc;
    if (a->dims[0] != form->rows || a->dims[1] != form->cols)
        return dp_fail(err, DP_E_RUN, "the model is %llu × %llu, the data needs %zu × %zu", (unsigned long long)a->dims[0],
                       (unsigned long long)a->dims[1], form->rows, form->cols);
    *model = a->data;
    return DP_OK;
}
