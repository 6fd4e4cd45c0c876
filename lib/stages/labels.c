#include "stages/labels.h"

#include <math.h>

int dp_labels_check(enum dp_loss loss, size_t classes, const struct dp_dataset *dataset, const char *path, struct dp_err *err)
{
    const char *name = dp_loss_names[loss];
    if (dp_loss_is_classification(loss) && classes < 2)
        return dp_fail(err, DP_E_RUN, "--loss %s needs labels in classes; the labels of this data set are real numbers", name);
    if (loss == DP_LOSS_SOFTMAX && classes < 3)
        return dp_fail(err, DP_E_RUN, "--loss softmax needs three classes or more; for two, --loss logistic is the same");
    if (loss == DP_LOSS_POISSON && classes > 0)
        return dp_fail(err, DP_E_RUN, "--loss poisson needs labels that are counts; the labels of this data set are classes");
    if (loss != DP_LOSS_POISSON || dataset == NULL)
        return DP_OK;
    for (size_t i = 0; i < dataset->rows; i++)
        if (!dp_loss_takes(loss, dataset->y[i]))
            return dp_fail(err, DP_E_RUN, "--loss poisson needs labels that are counts; %s has a label below 0", path);
    return DP_OK;
}

bool dp_labels_take(enum dp_loss loss, size_t classes, double label)
{
    if (classes == 0)
        return dp_loss_takes(loss, label);
    return label >= 0 && label < (double)classes && floor(label) == label;
}
