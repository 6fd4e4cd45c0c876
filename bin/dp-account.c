/* dp-account is the gate of a pipeline; with a word as its first argument, a calculator and the reader of ledgers. */

#include "account/words.h"
#include "base/cli.h"
#include "runtime/run.h"
#include "stages/stages.h"

static const struct word *const words[] = {&word_sigma,  &word_epsilon, &word_delta,       &word_laps,
                                           &word_rate,   &word_curve,   &word_sensitivity, &word_budget,
                                           &word_charge, &word_report,  &word_verify,      &word_certify};
enum { WORDS = sizeof words / sizeof words[0] };

static const char *name_of(const struct word *word)
{
    return word->command.name + strlen("dp-account ");
}

static const struct word *find(const char *name)
{
    for (size_t i = 0; i < WORDS; i++)
        if (strcmp(name, name_of(words[i])) == 0)
            return words[i];
    return NULL;
}

static int usage(const char *got)
{
    struct dp_err err = {0};
    char list[200] = "";
    for (size_t i = 0; i < WORDS; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i > 0 ? ", " : "", name_of(words[i]));
    dp_fail(&err, DP_E_USAGE, "expected %s, help or the gate's options, got '%.80s'", list, got);
    return dp_cli_finish("dp-account", DP_E_USAGE, &err);
}

static void print_words(void)
{
    printf("\nThe calculator and the ledgers, dp-account WORD [options] (dp-account WORD --help):\n");
    for (size_t i = 0; i < WORDS; i++)
        printf("  %-12s %s\n", name_of(words[i]), words[i]->command.summary);
}

/* Prints the help of a word, or the list of words; with --help the help of the gate first. */
static int help(int argc, char **argv)
{
    struct dp_err err = {0};
    char option[] = "--help", *page[] = {argv[0], option, NULL};
    if (argv[1][0] == '-') {
        int status = dp_stage_main(&dp_account_class, 2, page);
        print_words();
        return status != 0 ? status : dp_cli_finish("dp-account", DP_OK, &err);
    }
    const struct word *word = argc == 3 ? find(argv[2]) : NULL;
    if (argc > 3 || (argc == 3 && word == NULL))
        return usage(argv[argc - 1]);
    if (word != NULL)
        return word->run(word, 2, page);
    puts("The gate of a pipeline, dp-account [options] (dp-account --help)");
    print_words();
    return dp_cli_finish("dp-account", DP_OK, &err);
}

int main(int argc, char **argv)
{
    if (argc > 1 && (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
        return help(argc, argv);
    const struct word *word = argc > 1 ? find(argv[1]) : NULL;
    if (word != NULL)
        return word->run(word, argc - 1, argv + 1);
    if (argc > 1 && argv[1][0] != '-')
        return usage(argv[1]);
    return dp_stage_main(&dp_account_class, argc, argv);
}
