/* The names of one population in the registry: tables with the same bytes have the rows of the same people, whatever names the
 * imports gave them. */
#pragma once

#include "ledger/registry.h"

/* Starts zeroed. Strings belong to the registry and to the caller of dp_aliases_find. */
struct dp_aliases {
    const char **name, **table; /* the tables that were imported under one of the names */
    size_t names, tables, name_capacity, table_capacity;
};

/* Finds all names, that one first. A table that was imported under two names joins all that were imported under either. The
 * caller frees *aliases. */
void dp_aliases_find(struct dp_aliases *aliases, const struct dp_registry *registry, const char *population);
void dp_aliases_free(struct dp_aliases *aliases);

bool dp_aliases_have(const struct dp_aliases *aliases, const char *population);
