/* Stages as the targets configure them: the first byte of an input, from 'A' to 'Z' and then 'a' on, selects one. */
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "stages/stage.h"

/* @DATA is the data set of classes, @REAL of a regression, @LEDGER a new file. */
static const char *const configurations[] = {
    "dp-sample --data @DATA --rate 0.1",
    "dp-sample --data @DATA --mode fixed --rate 0.1 --inline",
    "dp-sample --data @DATA --mode full --columns 2",
    "dp-scd-step --data @DATA --loss hinge --lambda 1e-3 --clip 0.1",
    "dp-scd-step --data @DATA --loss logistic --lambda 1e-3 --variant sequential --clip 0.1",
    "dp-scd-step --data @REAL --loss squared --lambda 1e-3 --variant primal --clip 0.1",
    "dp-scd-step --data @DATA --loss hinge --lambda 1e-3",
    "dp-grad --loss logistic --clip 0.5",
    "dp-grad --data @DATA --loss smooth-hinge --intercept 1",
    "dp-grad --data @REAL --loss squared --non-private",
    "dp-clip --clip 0.1",
    "dp-clip --data @DATA --clip 0.1 --adaptive 0.5",
    "dp-noise --multiplier 2 --count-multiplier 5",
    "dp-noise --multiplier 2 --noise laplace",
    "dp-noise --multiplier 2 --schedule sqrt:1:1",
    "dp-account --epsilon 100 --delta 1e-5 --allow-seeded",
    "dp-account --epsilon 100 --delta 1e-5 --allow-seeded --ledger @LEDGER",
    "dp-account --epsilon 100 --delta 1e-5 --allow-seeded --adaptive",
    "dp-account --non-private --allow-seeded",
    "dp-step --average tail",
    "dp-step --step 0.1 --optimizer adam",
    "dp-step --step 0.1 --average polynomial --momentum 0.9 --project 10",
    "dp-eval --data @DATA",
    "dp-eval --data @REAL --format json",
    "dp-erm --data @REAL --loss squared --lambda 1e-2 --tolerance 1e-3 --most 20 --non-private",
    "dp-linesearch --on search --data @DATA --epsilon 1 --tries 5 --clip 1 --first-step 4 --follow",
    "dp-linesearch --method noisy-max --epsilon 1 --tries 5 --clip 1 --first-step 4 --same-batch",
    "dp-step --hold --average-gradients",
    "dp-step --hold --normalise",
    "dp-adapt --multiplier 2 --policy adaptive --first-step 4 --every 1 --clip 0.1",
    "dp-adapt --multiplier 2 --policy on-failure",
    "dp-noise --multiplier 2 --follow",
    "dp-clip --data @DATA --clip 0.1 --follow",
    "dp-linesearch --data @DATA --epsilon 1 --tries 5 --clip 1 --first-step 4 --same-batch",
    "dp-breed --data @DATA --offspring 6 --parents 3 --intercept 1 --decay 0.9",
    "dp-select --data @DATA --loss logistic --epsilon 1 --clip 1 --lambda 0.1 --relative",
    "dp-moments --data @DATA --intercept 1 --labels --label-bound 0.5 --threads 2",
    "dp-moments --clip 0.3",
    "dp-transform --rank 3",
    "dp-transform",
    "dp-step --step 1 --relative",
};

#define CONFIGURATIONS (sizeof configurations / sizeof configurations[0])

/* The configuration of a letter, or NULL. */
static inline const char *configuration_of(uint8_t letter)
{
    size_t at = (size_t)(letter >= 'a' ? letter - 'a' + 26 : letter - 'A');
    return letter >= 'A' && (letter <= 'Z' || letter >= 'a') && at < CONFIGURATIONS ? configurations[at] : NULL;
}

/* One at a time: options are texts in static memory. */
static inline struct dp_stage *start(const char *configuration)
{
    static char text[256];
    char *argv[32], *rest = NULL;
    int argc = 0;
    struct dp_stage *stage = NULL;
    struct dp_err err = {0};
    fuzz_assert(strlen(configuration) < sizeof text);
    strcpy(text, configuration);
    for (char *word = strtok_r(text, " ", &rest); word != NULL && argc < 31; word = strtok_r(NULL, " ", &rest)) {
        if (strcmp(word, "@DATA") == 0)
            word = (char *)fuzz_need("FUZZ_CLASSES");
        else if (strcmp(word, "@REAL") == 0)
            word = (char *)fuzz_need("FUZZ_REAL");
        else if (strcmp(word, "@LEDGER") == 0)
            word = (char *)fuzz_path("ledger");
        argv[argc++] = word;
    }
    argv[argc] = NULL;
    int rc = dp_stage_new(&stage, dp_stage_find(argv[0]), argc, argv, NULL, &err);
    if (rc != DP_OK)
        fuzz_fail(err.message, configuration, rc);
    return stage;
}
