/* The registry of a user: the population of each imported table, and the ledgers of its runs (dp-registry(5)).
 *
 * A directory of mode 0700 with two files of mode 0600: `key`, 32 random bytes, and `lines`, a JSON object per line,
 * append-only. An open registry holds a lock on `lines`, exclusive for a writer, so that a lookup and the line that follows
 * from it are one step. Take this lock before the lock of any ledger. Lines are fsynced. A last line without its line feed was
 * never finished: readers ignore it, and the next writer removes it.
 *
 * The registry has no content of tables, only a BLAKE2b of their bytes with the key. */
#pragma once

#include <jansson.h>

#include "base/err.h"
#include "base/registry_place.h"

#define DP_REGISTRY_FORMAT 1
#define DP_REGISTRY_DIGEST 33 /* bytes that hold a keyed digest in hexadecimal and its NUL */

enum { DP_REGISTRY_NONE = 1 }; /* there is no registry, *err says why, and no option or variable names one */

enum dp_registry_kind { DP_REGISTRY_IMPORT, DP_REGISTRY_RUN, DP_REGISTRY_BUDGET };

/* How the gate let a run pass: into a ledger, or by its options --no-ledger, --non-private and --public. Only the first two have
 * a bound. */
enum dp_registry_gate { DP_REGISTRY_CHARGED, DP_REGISTRY_NO_LEDGER, DP_REGISTRY_NON_PRIVATE, DP_REGISTRY_PUBLIC };

/* A line. Strings of a line that was read belong to the registry. */
struct dp_registry_line {
    enum dp_registry_kind kind;
    const char *population;
    const char *table, *path, *directory; /* import: keyed digest of the bytes, real path of the table or "", the data set */
    const char *ledger;                   /* run, budget: its absolute path */
    const char *run, *adjacency;          /* run: the name of its open line. adjacency: of a run or budget */
    const char *unit;                     /* run: unit of privacy as in the ledger; NULL: one row is taken for one person */
    double epsilon, delta;                /* run, budget. Infinite: no bound is known */
    enum dp_registry_gate gate;           /* run: unless it was charged, its ledger is "" */
    json_t *json;                         /* owner of the strings */
};

struct dp_registry {
    char *path;
    int fd;
    struct dp_registry_line *line;
    size_t lines, capacity, end; /* end: bytes of the lines */
    unsigned char key[32];
};

/* Opens, locks and reads the registry; a writer creates it if necessary. DP_REGISTRY_NONE: it does not exist, cannot be
 * created, and no option or variable names it; or the user wants none, and then err->message is "". DP_E_UNSAFE: other users
 * can read it, or a line was edited or has a newer format. DP_E_RUN: it cannot be read or written. The caller closes it, which
 * unlocks. */
int dp_registry_open(struct dp_registry **registry, const struct dp_registry_place *place, bool write, struct dp_err *err);
void dp_registry_close(struct dp_registry *registry); /* may be NULL */

/* Appends lines in one write, fsynced, to the file and to *registry. DP_E_RUN: they could not be written, and were not added. */
int dp_registry_add(struct dp_registry *registry, const struct dp_registry_line *line, size_t count, struct dp_err *err);

/* The keyed digest of the bytes for that purpose. */
void dp_registry_digest(const struct dp_registry *registry, const char *purpose, const void *bytes, size_t size,
                        char digest[DP_REGISTRY_DIGEST]);

/* The newest import of the same bytes, else the newest import from the same path (which may be ""), else NULL. */
const struct dp_registry_line *dp_registry_table(const struct dp_registry *registry, const char *table, const char *path);

/* Whether the line is of a run without privacy: nothing bounds what it has released. */
bool dp_registry_unbounded(const struct dp_registry_line *line);

/* The newest line about a population, or NULL. */
const struct dp_registry_line *dp_registry_population(const struct dp_registry *registry, const char *population);

/* Whether registries keep this population. They do not keep rows made by dp-synth, which belong to nobody. Nor do
 * they keep a population that is named by the digest of its data set: it has no other data set. */
bool dp_registry_concerns(const char *population, const char *digest);

/* The absolute path of a file; the caller frees it. DP_E_RUN: its directory does not exist. */
int dp_registry_path(const char *file, char **path, struct dp_err *err);
