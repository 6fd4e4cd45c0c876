/* Security options of every command that has a port. The keys themselves are in port/keys.h. */
#ifndef DP_BASE_SECURITY_H
#define DP_BASE_SECURITY_H

#include <stdbool.h>

#include "base/option.h"

/* All NULL and false is the default: keys of ~/.config/dpline/keys. */
struct dp_security {
    const char *keys;   /* directory of keys; NULL: $DPLINE_KEYS, or dpline/keys in $XDG_CONFIG_HOME or ~/.config */
    const char *server; /* for a port that connects: the name of the other end's trusted key; NULL: the only trusted key */
    bool plaintext;     /* tcp:// without keys */
};

/* *directory: the directory of keys; the caller frees it. DP_E_USAGE: neither options nor environment name one. */
int dp_security_directory(char **directory, const struct dp_security *security, struct dp_err *err);

/* Rows of an option table. at: the offset of the struct dp_security in the command's options. */
#define DP_SECURITY_OPTIONS(at)                                                                                                \
    {.name = "keys",                                                                                                           \
     .kind = DP_OPT_TEXT,                                                                                                      \
     .offset = (at) + offsetof(struct dp_security, keys),                                                                      \
     .metavar = "DIR",                                                                                                         \
     .help = "tcp: where the keys are, see dp-key (DPLINE_KEYS, else ~/.config/dpline/keys)"},                                 \
        {.name = "server",                                                                                                     \
         .kind = DP_OPT_TEXT,                                                                                                  \
         .offset = (at) + offsetof(struct dp_security, server),                                                                \
         .metavar = "NAME",                                                                                                    \
         .help = "tcp, connecting: whose key the other end has"},                                                              \
    {                                                                                                                          \
        .name = "insecure-plaintext", .kind = DP_OPT_FLAG, .offset = (at) + offsetof(struct dp_security, plaintext),           \
        .help = "tcp: no keys; frames that are not released stay on this machine"                                              \
    }

#define DP_PATIENCE_OPTION(at)                                                                                                 \
    {                                                                                                                          \
        .name = "patience", .kind = DP_OPT_REAL, .offset = (at), .metavar = "SECONDS",                                         \
        .help = "for the other end of a socket to come, or to come back over a network (10; over a network 30)", .min = 0,     \
        .max = 1e6, .flags = DP_OPT_OPEN_MIN                                                                                   \
    }

#endif
