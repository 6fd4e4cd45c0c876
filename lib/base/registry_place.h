/* Where the user's registry of populations is (ledger/registry.h). Only programs ask this: it reads the environment. */
#pragma once

#include "base/option.h"

/* The registry options of a command. Zeroed, no option was given. */
struct dp_registry_choice {
    const char *directory; /* --registry */
    bool none;             /* --no-registry */
};

struct dp_registry_place {
    bool none;             /* use no registry */
    const char *directory; /* NULL: no place is known */
    bool named;            /* an option or a variable names it: failing to use it is an error */
};

/* The place from the environment: DPLINE_REGISTRY, else dpline in XDG_STATE_HOME, else ~/.local/state/dpline. Later calls give
 * the result of the first. */
const struct dp_registry_place *dp_registry_default(void);

/* The place that the options name, or `otherwise` without such an option. NULL means no registry. */
struct dp_registry_place dp_registry_chosen(const struct dp_registry_choice *choice, const struct dp_registry_place *otherwise);

/* Rows of an option table. member: the struct dp_registry_choice in the command's options. */
#define DP_REGISTRY_OPTIONS(member_, ...)                                                                                      \
    DP_OPTION_TEXT(0, member_.directory, "DIR",                                                                                \
                   "where dpline notes the ledgers of a population (DPLINE_REGISTRY, else ~/.local/state/dpline)",             \
                   .name = "registry", __VA_ARGS__),                                                                           \
        DP_OPTION_FLAG(0, member_.none, "neither read nor write it", .name = "no-registry", .excludes = "registry",            \
                       __VA_ARGS__)
