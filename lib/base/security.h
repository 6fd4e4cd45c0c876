/* Security options of every command that has a port. The keys themselves are in port/keys.h. */
#pragma once

#include "base/option.h"

/* All NULL and false is the default: keys of ~/.config/dpline/keys. */
struct dp_security {
    const char *keys;   /* directory of keys; NULL: $DPLINE_KEYS, or dpline/keys in $XDG_CONFIG_HOME or ~/.config */
    const char *server; /* for a port that connects: the name of the other end's trusted key; NULL: the only trusted key */
    bool plaintext;     /* tcp:// without keys */
};

/* *directory: the directory of keys; the caller frees it. DP_E_USAGE: neither options nor environment name one. */
int dp_security_directory(char **directory, const struct dp_security *security, struct dp_err *err);

/* Rows of an option table. member: the struct dp_security in the command's options. */
#define DP_SECURITY_OPTIONS(member_)                                                                                           \
    DP_OPTION_TEXT(0, member_.keys, "DIR", "tcp: directory of keys, see dp-key (DPLINE_KEYS, else ~/.config/dpline/keys)"),    \
        DP_OPTION_TEXT(0, member_.server, "NAME", "tcp, connecting: the name of the other end's key"),                         \
        DP_OPTION_FLAG(0, member_.plaintext, "tcp: no keys; frames that are not released stay on this machine",                \
                       .name = "insecure-plaintext")

#define DP_PATIENCE_OPTION(member_)                                                                                            \
    DP_OPTION_REAL(0, member_, "SECONDS", DP_ABOVE_TO(0, 1e6),                                                                 \
                   "time for the other end of a socket to connect, or to reconnect over a network (10; over a network 30)")
