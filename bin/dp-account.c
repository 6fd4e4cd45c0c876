/* dp-account is the gate of a pipeline; with a word as its first argument, a calculator and the reader of ledgers. */
#include <string.h>

#include "account/words.h"
#include "base/cli.h"
#include "stage/run.h"
#include "stages/stages.h"

static const struct {
    const char *word;
    int (*run)(int argc, char **argv);
} words[] = {
    {"sigma", word_sigma}, {"epsilon", word_epsilon}, {"delta", word_delta}, {"laps", word_laps}, {"rate", word_rate},
    {"sensitivity", word_sensitivity}, {"curve", word_curve}, {"budget", word_budget}, {"report", word_report}, {"verify", word_verify}, {"certify", word_certify},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof words / sizeof words[0]; i++)
        if (strcmp(argv[1], words[i].word) == 0)
            return words[i].run(argc - 1, argv + 1);
    if (argc > 1 && argv[1][0] != '-') {
        struct dp_err err = {0};
        dp_fail(&err, DP_E_USAGE, "expected sigma, epsilon, delta, laps, rate, sensitivity, curve, budget, report, verify, certify or the "
                                  "gate's options, got '%.80s'", argv[1]);
        return dp_cli_finish("dp-account", DP_E_USAGE, &err);
    }
    return dp_stage_main(&dp_account_class, argc, argv);
}
