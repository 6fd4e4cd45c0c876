/* The registry of a user: which table is of which population, and in which ledgers its runs are (dp-ledger(5), REGISTRY).
 *
 * A directory of mode 0700 with two files of mode 0600: `key`, 32 random bytes, and `lines`, a JSON object per line, which is
 * only ever appended to. An open registry holds a lock on `lines`, exclusive for a writer: whoever looks something up and
 * writes down what follows from it is alone from the first to the last. The lock comes before that of any ledger. Lines are
 * fsynced. A last line without its line feed was never finished: it is left out, and cut off by the next writer.
 *
 * No table stands in it: of its bytes there is a BLAKE2b with the key. */
#ifndef DP_LEDGER_REGISTRY_H
#define DP_LEDGER_REGISTRY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/registry_place.h"

#define DP_REGISTRY_FORMAT 1
#define DP_REGISTRY_TABLE 32  /* bytes of the hash of a table, before the key */
#define DP_REGISTRY_DIGEST 33 /* bytes that hold a keyed digest in hexadecimal and its NUL */

enum { DP_REGISTRY_NONE = 1 }; /* there is no registry, and *err says why; nothing of it was asked for by name */

enum dp_registry_kind { DP_REGISTRY_IMPORT, DP_REGISTRY_RUN, DP_REGISTRY_BUDGET };

/* A line. Strings of one that was read belong to the registry. */
struct dp_registry_line {
    enum dp_registry_kind kind;
    const char *population;
    const char *table, *path, *directory; /* import: keyed digest of the bytes, real path of the table or "", the data set */
    const char *ledger;                   /* run, budget: its absolute path */
    const char *run, *adjacency;          /* run: the name that it opened under. adjacency: of a budget, too */
    const char *unit;                     /* run: as the ledger has it; NULL: one row is taken for one person */
    double epsilon, delta;                /* run, budget. Infinite: no bound is known */
    json_t *json;                         /* what the strings belong to */
};

struct dp_registry {
    char *path;
    int fd;
    struct dp_registry_line *line;
    size_t lines, capacity, end; /* end: bytes of the lines */
    unsigned char key[32];
};

/* Opens, locks and reads the registry; a writer makes it where it is not there yet. DP_REGISTRY_NONE: nobody has named it, and
 * it is not there and cannot be made; or there is to be none, and then err->message is "". DP_E_UNSAFE: it is open to others,
 * or a line was edited, or is of a newer format. DP_E_RUN: it cannot be read or written. The caller closes it, which unlocks.
 */
int dp_registry_open(struct dp_registry **registry, const struct dp_registry_place *place, bool write, struct dp_err *err);
void dp_registry_close(struct dp_registry *registry); /* NULL is none */

/* Appends a line, fsynced, and takes it in. DP_E_RUN: it could not be written, and is not there. */
int dp_registry_add(struct dp_registry *registry, const struct dp_registry_line *line, struct dp_err *err);

/* The keyed digest of what was hashed for that purpose. */
void dp_registry_digest(const struct dp_registry *registry, const char *purpose, const void *bytes, size_t size,
                        char digest[DP_REGISTRY_DIGEST]);

/* The newest import of the same bytes, else the newest from the same path (which may be ""); NULL where there is none. */
const struct dp_registry_line *dp_registry_table(const struct dp_registry *registry, const char *table, const char *path);

/* The newest line about a population; NULL where there is none. */
const struct dp_registry_line *dp_registry_population(const struct dp_registry *registry, const char *population);

/* Whether a population is one that registries know. Rows that dp-synth has made are nobody's, and a data set that names no
   population but by its own digest cannot be found by it elsewhere. */
bool dp_registry_concerns(const char *population, const char *digest);

/* The absolute path of a file whose directory is there. The caller frees it. DP_E_RUN: the directory is not there. */
int dp_registry_path(const char *file, char **path, struct dp_err *err);

#endif
