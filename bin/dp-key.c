/* dp-key: the keys of this user, and the keys that the user trusts. */
#include <sodium.h>

#include "base/cli.h"
#include "base/security.h"
#include "port/keys.h"

struct options {
    char unused;
};

static const struct dp_option options[] = {{.name = NULL}};

static int make(const char *directory, char **argument, struct dp_err *err)
{
    struct dp_key_pair pair;
    (void)argument;
    int rc = dp_keys_make(directory, &pair, err);
    if (rc == DP_OK)
        puts(pair.public);
    sodium_memzero(&pair, sizeof pair);
    return rc;
}

static int show(const char *directory, char **argument, struct dp_err *err)
{
    struct dp_key_pair pair;
    (void)argument;
    int rc = dp_keys_own(directory, &pair, err);
    if (rc == DP_OK)
        puts(pair.public);
    sodium_memzero(&pair, sizeof pair);
    return rc;
}

static int trust(const char *directory, char **argument, struct dp_err *err)
{
    return dp_keys_trust(directory, argument[0], argument[1], err);
}

static int forget(const char *directory, char **argument, struct dp_err *err)
{
    return dp_keys_forget(directory, argument[0], err);
}

static int list(const char *directory, char **argument, struct dp_err *err)
{
    struct dp_key_trusted *trusted;
    size_t count;
    (void)argument;
    int rc = dp_keys_trusted(directory, &trusted, &count, err);
    for (size_t i = 0; rc == DP_OK && i < count; i++)
        printf("%s %s\n", trusted[i].name, trusted[i].key);
    free(trusted);
    return rc;
}

static const struct word {
    const char *name;
    int arguments; /* not counting the directory, which precedes them */
    int (*run)(const char *directory, char **argument, struct dp_err *err);
} words[] = {{"new", 0, make}, {"show", 0, show}, {"trust", 2, trust}, {"list", 0, list}, {"forget", 1, forget}};

static int run(int count, char **operand, struct dp_err *err)
{
    const struct word *word = NULL;
    for (size_t i = 0; count > 0 && i < sizeof words / sizeof words[0]; i++)
        if (strcmp(operand[0], words[i].name) == 0)
            word = &words[i];
    if (word == NULL)
        return dp_fail(err, DP_E_USAGE, "say what to do: new, show, trust, list or forget (try --help)");
    int given = count - 1;
    if (given != word->arguments && given != word->arguments + 1)
        return dp_fail(err, DP_E_USAGE, "%s: %s", word->name,
                       word->arguments == 0   ? "takes a directory, or nothing"
                       : word->arguments == 1 ? "takes a name, optionally after a directory"
                                              : "takes a name and a public key, optionally after a directory");
    struct dp_security where = {.keys = given > word->arguments ? operand[1] : NULL};
    char *directory = NULL;
    int rc = dp_security_directory(&directory, &where, err);
    rc = rc ?: word->run(directory, operand + count - word->arguments, err);
    free(directory);
    return rc;
}

int main(int argc, char **argv)
{
    const struct dp_command command = {"dp-key", "new|show|list [DIR] | trust [DIR] NAME KEY | forget [DIR] NAME",
                                       "Make keys, and choose which machines may connect", options, NULL};
    struct options unused;
    struct dp_err err = {0};
    int operand, status;
    if (!dp_cli_start(&command, &unused, NULL, argc, argv, &operand, &status))
        return status;
    int rc = run(argc - operand, argv + operand, &err);
    return dp_cli_finish("dp-key", rc, &err);
}
