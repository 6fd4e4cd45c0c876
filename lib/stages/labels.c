#include "stages/labels.h"

/* Whether the loss is for labels of that many classes; 0: a regression. */
static bool suits(enum dp_loss loss, size_t classes)
{
    switch (dp_losses[loss].of) {
    case DP_LOSS_OF_MARGIN:
        return classes >= 2;
    case DP_LOSS_OF_RESIDUAL:
        return true;
    case DP_LOSS_OF_COUNT:
        return classes == 0;
    case DP_LOSS_OF_CLASS:
        break;
    }
    return classes >= 3;
}

int dp_labels_check(enum dp_loss loss, size_t classes, struct dp_err *err)
{
    const char *name = dp_loss_names[loss];
    if (!suits(loss, classes)) {
        if (classes > 0 && dp_loss_is_joint(loss))
            return dp_fail(err, DP_E_RUN, "--loss %s needs three classes or more; for two, --loss logistic is the same", name);
        if (dp_losses[loss].of == DP_LOSS_OF_COUNT)
            return dp_fail(err, DP_E_RUN, "--loss %s needs labels that are counts; the labels of this data set are classes",
                           name);
        return dp_fail(err, DP_E_RUN, "--loss %s needs labels in classes; the labels of this data set are real numbers", name);
    }
    return DP_OK;
}

int dp_labels_check_outputs(enum dp_loss loss, size_t classes, size_t outputs, struct dp_err *err)
{
    if (dp_loss_outputs(classes) == outputs && suits(loss, classes))
        return DP_OK;
    return dp_fail(err, DP_E_RUN, "a model of %zu outputs for %zu classes does not go with the loss %s", outputs, classes,
                   dp_loss_names[loss]);
}

bool dp_labels_take(enum dp_loss loss, size_t classes, double label)
{
    if (classes == 0)
        return dp_loss_takes(loss, label);
    return label >= 0 && label < (double)classes && floor(label) == label;
}
