/* A data set as JSON, for dp-info and dp-import. */
#ifndef BIN_INFO_DATASET_H
#define BIN_INFO_DATASET_H

#include <jansson.h>

#include "data/dataset.h"

/* The caller frees the object. */
json_t *info_dataset(const struct dp_dataset *data);

#endif
