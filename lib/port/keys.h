/* A directory of CURVE keys. The file `own` has the key pair of this user; each line of `trusted` has a name and the public key
 * of a machine that may connect. Keys are text (Z85). The directory has mode 0700. A directory or a file that others can read
 * or write is refused (DP_E_UNSAFE). */
#pragma once

#include "base/err.h"
#include "base/security.h"

#define DP_KEY_TEXT 41    /* bytes of a key as text, with its NUL */
#define DP_KEY_NAME 65    /* bytes of the longest name, with its NUL */
#define DP_KEY_BYTES 32   /* bytes of a key */
#define DP_KEYS_MOST 4096 /* trusted keys in one directory */

struct dp_key_pair {
    char public[DP_KEY_TEXT], secret[DP_KEY_TEXT];
};

struct dp_key_trusted {
    char name[DP_KEY_NAME], key[DP_KEY_TEXT];
};

/* Reads the key pair. DP_E_USAGE: there is no key pair. The caller wipes the secret after use (sodium_memzero). */
int dp_keys_own(const char *directory, struct dp_key_pair *pair, struct dp_err *err);

/* Reads the trusted keys; the caller frees the list. Without the file, the list is empty. DP_E_RUN names the wrong line. */
int dp_keys_trusted(const char *directory, struct dp_key_trusted **list, size_t *count, struct dp_err *err);

/* Reads a file with lines of a name and a public key, which others may read; the caller frees the list. DP_E_UNSAFE: others can
 * write to the file. */
int dp_keys_roster(const char *path, struct dp_key_trusted **list, size_t *count, struct dp_err *err);

/* The bytes of a key that was read. */
void dp_key_bytes(const char text[DP_KEY_TEXT], unsigned char bytes[DP_KEY_BYTES]);

/* Makes a key pair, and its directory if necessary. DP_E_USAGE: there is a pair already. */
int dp_keys_make(const char *directory, struct dp_key_pair *pair, struct dp_err *err);

/* Adds or removes a line. DP_E_USAGE: not a name (at most 64 letters, digits and ._-) or not a key; the name or the key is in
 * the list already; or there is no such name to remove. */
int dp_keys_trust(const char *directory, const char *name, const char *key, struct dp_err *err);
int dp_keys_forget(const char *directory, const char *name, struct dp_err *err);
