/* A directory of CURVE keys: `own`, a pair of this user, and `trusted`, lines of a name and a public key each, of those who may
   talk to it. Keys are text (Z85). Neither the directory, of mode 0700, nor a file in it is for others to read or write: what
   is open to them is refused (DP_E_UNSAFE). */
#ifndef DP_PORT_KEYS_H
#define DP_PORT_KEYS_H

#include <stddef.h>

#include "base/err.h"
#include "base/security.h"

#define DP_KEY_TEXT 41    /* bytes of a key as text, and its end */
#define DP_KEY_NAME 65    /* bytes of the longest name, and its end */
#define DP_KEYS_MOST 4096 /* in one directory */

struct dp_key_pair {
    char public[DP_KEY_TEXT], secret[DP_KEY_TEXT];
};

struct dp_key_trusted {
    char name[DP_KEY_NAME], key[DP_KEY_TEXT];
};

/* The pair of that directory. DP_E_USAGE: there is none. Whoever is done with the secret wipes it (sodium_memzero). */
int dp_keys_own(const char *directory, struct dp_key_pair *pair, struct dp_err *err);

/* All that are trusted, which the caller frees; none where there is no such file. DP_E_RUN names the line at fault. */
int dp_keys_trusted(const char *directory, struct dp_key_trusted **list, size_t *count, struct dp_err *err);

/* Makes the directory, if there is none, and a pair in it. DP_E_USAGE: there is one already. */
int dp_keys_make(const char *directory, struct dp_key_pair *pair, struct dp_err *err);

/* Adds a line, or takes it away. DP_E_USAGE: not a name (letters, digits and ._- of at most 64) or not a key, or one of that
   name, or that key, is there already; no such name. */
int dp_keys_trust(const char *directory, const char *name, const char *key, struct dp_err *err);
int dp_keys_forget(const char *directory, const char *name, struct dp_err *err);

#endif
