#include "dataset.h"

static json_t *names(char *const *list, size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; list != NULL && i < count; i++)
        json_array_append_new(array, json_string(list[i]));
    return array;
}

json_t *info_dataset(const struct dp_dataset *d)
{
    json_t *o =
        json_pack("{s:I, s:I, s:s, s:b, s:s, s:I, s:s, s:s, s:s, s:b, s:s, s:s}", "rows", (json_int_t)d->rows, "cols",
                  (json_int_t)d->cols, "storage", dp_storages[d->storage], "quantised", d->quantised, "label",
                  d->label.name != NULL ? d->label.name : "", "classes", (json_int_t)d->label.classes, "private_preprocessing",
                  d->private_preprocessing, "row_norm", d->row_norm, "population", d->population, "held_out", d->held_out,
                  "split", d->split != NULL ? d->split : "", "digest", d->digest);
    json_object_set_new(o, "persons", json_integer((json_int_t)d->persons));
    if (d->rows_per_person > 0)
        json_object_set_new(o, "rows_per_person", json_integer((json_int_t)d->rows_per_person));
    if (d->label.classes > 0)
        json_object_set_new(o, "class_names", names(d->label.class_names, d->label.classes));
    else
        json_object_set_new(o, "label_units", json_pack("{s:f, s:f}", "scale", d->label.scale, "offset", d->label.offset));
    if (d->paid.epsilon > 0) {
        json_object_set_new(o, "paid_epsilon", json_real(d->paid.epsilon));
        json_object_set_new(o, "paid_delta", json_real(d->paid.delta));
    }
    json_object_set_new(o, "columns", names(d->column_names, d->cols));
    return o;
}
