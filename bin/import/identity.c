#include "identity.h"

#include <sodium.h>
#include <sys/stat.h>

#include "base/cli.h"
#include "base/mem.h"
#include "data/dataset.h"

#define STANDARD_INPUT "standard-input"

/* The imported table, as the registry searches for it. */
struct table {
    char digest[DP_REGISTRY_DIGEST]; /* "" while its bytes are not known */
    char *path;                      /* "" if it is not a file */
    char *directory;                 /* of the data set, or "" */
};

/* The last part of a path; a folder may have a slash after it. Writes it into name. */
static const char *base_name(const char *path, char *name, size_t size)
{
    size_t end = strlen(path), begin;
    while (end > 1 && path[end - 1] == '/')
        end--;
    for (begin = end; begin > 0 && path[begin - 1] != '/'; begin--)
        ;
    snprintf(name, size, "%.*s", (int)(end - begin), path + begin);
    return name;
}

static char *real_file(const char *path)
{
    struct stat st;
    char *real = stat(path, &st) == 0 && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) ? realpath(path, NULL) : NULL;
    return real != NULL ? real : dp_got(strdup(""));
}

/* file: the first or the second table, and read the digest of its bytes. */
static int describe(struct table *t, const struct dp_registry *r, const struct dp_import *import, const char *file,
                    const unsigned char read[DP_INPUT_DIGEST], struct dp_err *err)
{
    static const unsigned char unread[DP_INPUT_DIGEST];
    if (memcmp(read, unread, sizeof unread) != 0)
        dp_registry_digest(r, "table", read, DP_INPUT_DIGEST, t->digest);
    t->path = real_file(file);
    bool stored = import->identify != NULL;
    int rc = stored ? dp_registry_path(import->output, &t->directory, err) : DP_OK;
    if (!stored)
        t->directory = dp_got(strdup(""));
    return rc;
}

/* A name that no other table has: the second table with a name gets a number after it. */
static void name_apart(struct identity *i, const struct dp_registry *r, const char *name)
{
    const struct dp_registry_line *other = dp_registry_population(r, name);
    snprintf(i->name, sizeof i->name, "%.500s", name);
    for (int n = 2; dp_registry_population(r, i->name) != NULL; n++)
        snprintf(i->name, sizeof i->name, "%.500s-%d", name, n);
    if (other == NULL)
        return;
    bool file = other->kind == DP_REGISTRY_IMPORT && other->path[0] != '\0';
    snprintf(
        i->sentence, sizeof i->sentence,
        "'%.60s' is the population of another table%s%.150s, and these rows are of '%.70s' (--population '%.60s' says that "
        "they are the same people)",
        name, file ? ", " : "", file ? other->path : "", i->name, name);
}

/* Whether a data set was made from these people before. A payment for their schema is not an import. */
static bool is_known(const struct dp_registry *r, const char *population)
{
    bool known = false;
    for (size_t k = 0; k < r->lines; k++)
        known |= r->line[k].kind == DP_REGISTRY_IMPORT && r->line[k].directory[0] != '\0' &&
                 strcmp(r->line[k].population, population) == 0;
    return known;
}

static void choose(struct identity *i, const struct dp_registry *r, const struct table *t, const char *name)
{
    const struct dp_registry_line *known = dp_registry_table(r, t->digest, t->path);
    if (i->population != NULL) {
        snprintf(i->name, sizeof i->name, "%s", i->population);
        if (known != NULL && strcmp(known->population, i->name) != 0)
            snprintf(i->sentence, sizeof i->sentence,
                     "the registry knows this table as rows of '%.70s', and what was spent on those does not count for '%.70s'",
                     known->population, i->name);
    } else if (known != NULL) {
        snprintf(i->name, sizeof i->name, "%s", known->population);
    } else {
        name_apart(i, r, name);
    }
    i->known = is_known(r, i->name);
}

/* Rows that are measured are of the population that pays for it, and of no other one, whose runs would be forgotten. */
static int check_tests(const struct identity *i, const struct dp_registry *r, const struct table *t, const char *file,
                       struct dp_err *err)
{
    const struct dp_registry_line *known = dp_registry_table(r, t->digest, t->path);
    return known == NULL || strcmp(known->population, i->name) == 0
               ? DP_OK
               : dp_fail(err, DP_E_UNSAFE,
                         "%.150s: the registry knows this table as rows of '%.70s', and the training table is of '%.70s' "
                         "(--population '%.60s' says that they are the same people)",
                         file, known->population, i->name, known->population);
}

static int look_up(struct identity *i, struct dp_registry *r, const struct dp_import *import, const char *name,
                   struct dp_err *err)
{
    struct table t[2] = {0};
    struct dp_registry_line line[2];
    const size_t tables = import->source.tests != NULL ? 2 : 1;
    int rc = describe(&t[0], r, import, import->source.input, import->result.table, err);
    if (rc == DP_OK && tables == 2)
        rc = describe(&t[1], r, import, import->source.tests, import->result.tests, err);
    bool nameless = rc == DP_OK && t[0].digest[0] == '\0' && t[0].path[0] == '\0'; /* a stream from a pipe */
    if (nameless)
        snprintf(i->name, sizeof i->name, "%.500s", i->population != NULL ? i->population : name);
    else if (rc == DP_OK)
        choose(i, r, &t[0], name);
    rc = rc ?: dp_writer_check_population(i->name, err);
    if (rc == DP_OK && tables == 2)
        rc = check_tests(i, r, &t[1], import->source.tests, err);
    for (size_t k = 0; k < tables; k++)
        line[k] = (struct dp_registry_line){.kind = DP_REGISTRY_IMPORT,
                                            .population = i->name,
                                            .table = t[k].digest,
                                            .path = t[k].path,
                                            .directory = t[k].directory};
    if (rc == DP_OK && !nameless)
        rc = dp_registry_add(r, line, tables, err);
    if (rc == DP_OK && import->test != NULL)
        dp_registry_digest(r, "split", import->result.division, sizeof import->result.division, i->split);
    for (size_t k = 0; k < tables; k++) {
        free(t[k].path);
        free(t[k].directory);
    }
    return rc;
}

/* Whether TABLE.synthetic marks the bytes of the table as synthetic rows: its second line begins with their digest. A table of
 * other bytes has perhaps replaced the synthetic one, so it is refused. Before the bytes are known, no table is marked. */
static int find_mark(struct identity *i, const struct dp_import *import, bool *marked, struct dp_err *err)
{
    static const unsigned char unread[DP_INPUT_DIGEST];
    char line[sizeof DP_MARK_OF_ROWS], digest[2 * DP_INPUT_DIGEST + 1], said[2 * DP_INPUT_DIGEST + 1] = "";
    char *path = dp_format("%s.synthetic", import->source.input);
    FILE *in = memcmp(import->result.table, unread, sizeof unread) != 0 ? fopen(path, "re") : NULL;
    int rc = DP_OK;
    *marked = in != NULL && fgets(line, sizeof line, in) != NULL && strcmp(line, DP_MARK_OF_ROWS) == 0;
    if (*marked) {
        (void)(fscanf(in, "%*[^\n]") + fscanf(in, "%64s", said));
        sodium_bin2hex(digest, sizeof digest, import->result.table, DP_INPUT_DIGEST);
        if (strcmp(digest, said) != 0)
            rc = dp_fail(err, DP_E_UNSAFE,
                         "%.150s marks other rows than %.150s has: remove it, if these are rows of people, or make them again",
                         path, import->source.input);
        else if (i->population != NULL)
            rc = dp_fail(err, DP_E_USAGE, "--population: %.150s says that the rows are synthetic, and belong to nobody", path);
        snprintf(i->name, sizeof i->name, DP_POPULATION_ROWS "%.16s", digest);
        snprintf(i->sentence, sizeof i->sentence,
                 "%.150s has synthetic rows: they belong to nobody, and a model of them costs no person anything",
                 import->source.input);
    }
    if (in != NULL)
        fclose(in);
    free(path);
    return rc;
}

/* In no registry: the split gets a name at random. */
static void draw_split(struct identity *i, const struct dp_import *import)
{
    unsigned char drawn[(DP_REGISTRY_DIGEST - 1) / 2];
    randombytes_buf(drawn, sizeof drawn);
    if (import->test != NULL)
        sodium_bin2hex(i->split, sizeof i->split, drawn, sizeof drawn);
}

int identity_find(void *identity, struct dp_import *import, struct dp_err *err)
{
    struct identity *i = identity;
    const struct dp_registry_place place = dp_registry_chosen(&i->choice, dp_registry_default());
    struct dp_registry *r = NULL;
    struct stat st;
    bool marked;
    char base[512];
    /* stat(2) finds no file for a folder in an archive. */
    bool file = import->source.format == DP_IMPORT_IMAGES || (stat(import->source.input, &st) == 0 && S_ISREG(st.st_mode));
    const char *name = file ? base_name(import->source.input, base, sizeof base) : STANDARD_INPUT;
    int rc = find_mark(i, import, &marked, err);
    if (rc != DP_OK)
        return rc;
    rc = marked ? DP_OK : dp_registry_open(&r, &place, true, err);
    if (marked) {
        draw_split(i, import);
    } else if (rc == DP_OK) {
        rc = look_up(i, r, import, name, err);
    } else if (rc == DP_REGISTRY_NONE) {
        if (err->message[0] != '\0')
            dp_cli_warn("dp-import", err->message);
        *err = (struct dp_err){0};
        rc = DP_OK;
        snprintf(i->name, sizeof i->name, "%.500s", i->population != NULL ? i->population : name);
        draw_split(i, import);
    }
    dp_registry_close(r);
    import->writer.population = i->name;
    import->writer.split = import->test != NULL ? i->split : NULL;
    return rc;
}
