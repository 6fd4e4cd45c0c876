/* The identity of an import: the population of its rows, and the split that divides them. */
#pragma once

#include "base/registry_place.h"
#include "data/import.h"
#include "ledger/registry.h"

struct identity {
    const char *population; /* --population; NULL: by the table */
    struct dp_registry_choice choice;
    char name[DP_POPULATION_MOST + 40];
    char split[DP_REGISTRY_DIGEST];
    char sentence[DP_ERR_MESSAGE_SIZE]; /* a message for the user, or "" */
    bool known;                         /* an earlier import was of this population */
};

/* Sets the population and the split of the import, and notes the table's population in the registry. The function `identify` of
   an import calls it after the whole table was read. For a stream call it before the first row. DP_E_UNSAFE, DP_E_RUN: as
   dp_registry_open. */
int identity_find(void *identity, struct dp_import *import, struct dp_err *err);
