/* Shared by the readers of ledgers: dp-account budget, report, verify and certify. */
#pragma once

#include <jansson.h>

#include "base/option.h"
#include "ledger/people.h"
#include "question.h"
#include "words.h"
#include "wire/model.h"

struct books {
    struct question q; /* budget: the runs that are planned */
    const char *data, *ledger, *model, *certificate, *test, *output;
    double order, run_epsilon;
    bool after_runs, addition, text, deployment;
    char own[4096]; /* the ledger in a data set's directory */
    struct dp_registry_choice choice;
    struct dp_registry *registry;      /* NULL: no such text */
    struct dp_people people;           /* the ledgers of the data set's population, once a data set is known */
    char digest[64], population[1024]; /* of --data */
};

/* Their options. */
#define DP_OPTIONS struct books
#define JSON DP_OPTION_FLAG('j', q.json, "the answer as JSON")
#define DATA(text) DP_OPTION_TEXT('D', data, "DIR", text)

/* Finds the ledger: a file, or the ledger of a data set. `what` says what is missing. */
int books_find_ledger(struct books *b, const char *what, struct dp_err *err);

/* The people: given by the directory of a data set, by a digest or, if a name is allowed, by the population's name. */
int books_find_population(struct books *b, bool name, struct dp_err *err);

/* Finds all ledgers of the population; call it after books_find_ledger and books_find_population. For a data set, this is the
 * ledger in which its runs are charged. write: the registry will be written. */
int books_find_people(struct books *b, const char *operand, bool write, struct dp_err *err);

/* Finds the model's people and the ledger that has its run: in the directory --data, or by the registry. ledger is NULL if none
 * has it. */
int books_find_run(struct books *b, const struct dp_frame *model, struct dp_err *err);

/* The released model in a file, for the caller to free, and its digest. */
int books_read_model(const char *path, struct dp_frame **frame, char digest[DP_MODEL_DIGEST], struct dp_err *err);

/* "tables of counts", or "synthetic rows"; NULL: the model predicts. */
const char *books_release(const struct dp_frame *frame);

/* The certificate of the model by the ledger (ledger/certificate.h). DP_E_UNSAFE, DP_E_RUN: no ledger has paid for it. */
int books_make_certificate(const struct books *b, const struct dp_frame *frame, const char *digest, json_t **json,
                           struct dp_err *err);

/* Runs a word: its options, an operand if it takes one, and the exit status. */
int books_run(const struct word *word, int argc, char **argv);
