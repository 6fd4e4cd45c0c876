/* A data set as JSON, for dp-info and dp-import. */
#pragma once

#include <jansson.h>

#include "data/dataset.h"

/* The caller frees the object. */
json_t *info_dataset(const struct dp_dataset *data);
