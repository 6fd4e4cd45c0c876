#include "audit/provoke.h"

#include <float.h>

#include "base/mem.h"

const char *const dp_provoke_names[DP_PROVOKES] = {
    "itself",    "other label",     "opposite",       "duplicate", "opposite of another", "zeros", "one entry",
    "norm 1000", "entries of 1e30", "largest floats", "subnormal", "an infinite entry",   "a NaN", "label 1e300",
};

/* x and y: the replacement of row i. other: another row. False when the kind makes no sense for this data set. */
static bool fill_row(const struct dp_provoked *a, enum dp_provoke kind, size_t i, size_t other, float *x, double *y)
{
    const struct dp_dataset *d = a->data;
    size_t from = kind == DP_PROVOKE_DUPLICATE || kind == DP_PROVOKE_OPPOSITE_OF_ANOTHER ? other : i;
    struct dp_row row = dp_dataset_row(d, from);
    bool classes = d->label.kind == DP_LABEL_CLASSES;
    double norm = sqrt(dp_row_norm2(row)), each = 0;
    *y = d->y[from];
    for (size_t j = 0; j < d->cols; j++)
        x[j] = (float)dp_row_at(row, j);
    switch (kind) {
    case DP_PROVOKE_OTHER_LABEL:
        *y = classes ? fmod(*y + 1, (double)d->label.classes) : *y == 0 ? -1 : -*y;
        return true;
    case DP_PROVOKE_OPPOSITE:
    case DP_PROVOKE_OPPOSITE_OF_ANOTHER:
        for (size_t j = 0; j < d->cols; j++)
            x[j] = -x[j];
        return true;
    case DP_PROVOKE_LONG:
        for (size_t j = 0; j < d->cols && norm > 0; j++)
            x[j] = (float)(x[j] * (1000 / norm));
        return true;
    case DP_PROVOKE_HUGE:
        each = 1e30;
        break;
    case DP_PROVOKE_LARGEST:
        each = FLT_MAX;
        break;
    case DP_PROVOKE_TINY:
        each = 1e-44;
        break;
    case DP_PROVOKE_BLANK:
        break;
    case DP_PROVOKE_UNIT:
        x[0] = 1;
        for (size_t j = 1; j < d->cols; j++)
            x[j] = 0;
        return true;
    case DP_PROVOKE_INFINITE:
        x[i % d->cols] = INFINITY;
        return true;
    case DP_PROVOKE_NAN:
        x[i % d->cols] = NAN;
        return true;
    case DP_PROVOKE_HUGE_LABEL:
        *y = 1e300;
        return !classes;
    default:
        return true;
    }
    for (size_t j = 0; j < d->cols; j++)
        x[j] = (float)each;
    return true;
}

bool dp_provoke(struct dp_provoked *p, enum dp_provoke kind, size_t person, size_t other)
{
    const struct dp_dataset *d = p->data;
    size_t first, another, count = dp_dataset_person(d, person, &first), others = dp_dataset_person(d, other, &another);
    bool good = true;
    p->rows = (struct dp_variant_rows){first, count, p->x, p->y};
    for (size_t k = 0; k < count; k++) {
        good &= fill_row(p, kind, first + k, another + k % others, p->x + k * d->cols, &p->y[k]);
        if (kind == DP_PROVOKE_UNIT)
            p->y[k] = p->y[0];
    }
    return good;
}

void dp_provoke_open(struct dp_provoked *p, const struct dp_dataset *data)
{
    size_t most = data->person != NULL ? data->rows_per_person : 1;
    *p = (struct dp_provoked){.data = data};
    p->x = dp_new(most * data->cols, sizeof *p->x);
    p->y = dp_new(most, sizeof *p->y);
}

void dp_provoke_close(struct dp_provoked *p)
{
    free(p->x);
    free(p->y);
}
