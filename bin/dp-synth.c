#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#include "base/cli.h"
#include "base/mem.h"
#include "data/dataset_write.h"
#include "data/quantise.h"
#include "base/interrupt.h"
#include "synth/patients.h"

/* Seeded synthetic data: x ~ N(0, I) through a decaying spectrum, scaled to unit norm; labels from a hidden linear model. GSL's
   generator suffices, because none of its numbers is used as noise. */

enum { REGRESSION, CLASSIFICATION, PATIENTS };

struct options {
    int64_t rows, cols, classes, seed, test_rows, rows_per_person;
    double noise, decay;
    int like, storage;
    const char *output, *test;
    bool quantise, force, quiet;
};

#define DP_OPTIONS struct options

static const struct dp_option options[] = {
    DP_OPTION_INT('n', rows, "N", DP_FROM_TO(1, 1e12), "rows", .fallback = "1000"),
    DP_OPTION_INT('d', cols, "D", DP_FROM_TO(1, 1e7), "columns", .fallback = "10"),
    DP_OPTION_INT('k', classes, "K", DP_FROM_TO(2, 1000), "number of classes", .fallback = "2", .only = "classification"),
    DP_OPTION_REAL(0, noise, "S", DP_FROM(0), "standard deviation of the noise on the scores (which have about 1)",
                   .fallback = "0.3"),
    DP_OPTION_REAL(0, decay, "A", DP_FROM_TO(0, 10), "column j has standard deviation j^-A", .fallback = "0.5"),
    DP_OPTION_CHOICE(0, like, "DATA", "year-prediction-msd", "regression with the shape of a public data set: 463715 x 90"),
    DP_OPTION_INT('s', seed, "SEED", DP_FROM_TO(0, 4294967295), "same seed, same data", .fallback = "1"),
    DP_OPTION_TEXT('o', output, "DIR", "data set to write (patients: a table)", .required = true),
    DP_OPTION_TEXT('t', test, "DIR", "a second one from the same model"),
    DP_OPTION_INT(0, test_rows, "N", DP_FROM_TO(1, 1e12), "its rows (default: a third of --rows)"),
    DP_OPTION_INT(0, rows_per_person, "K", DP_FROM_TO(1, DP_UNIT_MOST),
                  "rows belong to persons with 1, 2, ... K, 1, 2, ... rows each"),
    DP_OPTION_CHOICE(0, storage, "HOW", "dense|csr", "of the rows (dense; 16 bits with --quantise)"),
    DP_OPTION_FLAG(0, quantise, "round values toward zero to 16 bits"),
    DP_OPTION_FLAG('f', force, "replace a data set"),
    DP_OPTION_FLAG('q', quiet, "no summary"),
    {.name = NULL},
};

struct synth {
    const struct options *o;
    gsl_rng *rng;
    double *weights; /* outputs × cols */
    double *spread;  /* cols: standard deviations */
    double *x;
    float *step; /* cols, with --quantise */
    size_t cols, outputs;
    int kind;
};

/* A row in x and its label. Scores are scaled to a standard deviation of about 1. */
static double draw(struct synth *s)
{
    double best = -INFINITY, label = 0, norm2 = 0;
    for (size_t j = 0; j < s->cols; j++) {
        s->x[j] = gsl_ran_gaussian(s->rng, 1) * s->spread[j];
        norm2 += s->x[j] * s->x[j];
    }
    for (size_t k = 0; k < s->outputs; k++) {
        double score = gsl_ran_gaussian(s->rng, 1) * s->o->noise;
        for (size_t j = 0; j < s->cols; j++)
            score += s->weights[k * s->cols + j] * s->x[j] / sqrt(norm2);
        if (s->kind == REGRESSION)
            return (float)fmax(-1, fmin(1, score / 3)); /* bounded, as after dp-import; a libm's last bits are cut off */
        if (s->outputs == 1)
            return score > 0;
        if (score > best) {
            best = score;
            label = (double)k;
        }
    }
    return label;
}

/* c0, c1, … or x1, x2, … */
static json_t *numbered(const char *letter, size_t first, size_t count)
{
    json_t *names = json_array();
    char name[32];
    for (size_t j = 0; j < count; j++) {
        snprintf(name, sizeof name, "%s%zu", letter, first + j);
        json_array_append_new(names, json_string(name));
    }
    return names;
}

static json_t *describe(const struct synth *s)
{
    json_t *label =
        s->kind == REGRESSION
            ? json_pack("{s:s, s:s, s:f, s:f}", "kind", "real", "name", "y", "scale", 1.0, "offset", 0.0)
            : json_pack("{s:s, s:s, s:o}", "kind", "classes", "name", "y", "classes", numbered("c", 0, (size_t)s->o->classes));
    return json_pack("{s:o, s:o, s:[]}", "label", label, "names", numbered("x", 1, s->cols), "private_preprocessing");
}

/* Writes a data set without committing it. The caller aborts or commits *writer, which is NULL if it could not be opened. */
static int write_set(struct synth *s, struct dp_writer **writer, const char *path, int64_t rows, struct dp_err *err)
{
    char population[80];
    struct dp_writer_options w = {.cols = s->cols,
                                  .storage = dp_storage_of(s->o->storage, s->o->quantise),
                                  .step = s->o->quantise ? s->step : NULL,
                                  .force = s->o->force,
                                  .public_rows = true,
                                  .population = population,
                                  .rows_per_person =
                                      s->o->rows_per_person != DP_OPT_ABSENT_INT ? (size_t)s->o->rows_per_person : 0,
                                  .held_out = path == s->o->test};
    snprintf(population, sizeof population, "dp-synth:%s:%lld", s->kind == REGRESSION ? "regression" : "classification",
             (long long)s->o->seed);
    size_t left = 1; /* rows of this person */
    int rc = dp_writer_open(writer, path, &w, err);
    for (int64_t i = 0; rc == DP_OK && i < rows; i++) {
        double y = draw(s);
        rc = dp_writer_row(*writer, s->x, y, err);
        if (rc == DP_OK && w.rows_per_person > 0 && (--left == 0 || i + 1 == rows)) {
            rc = dp_writer_person(*writer, err);
            left = dp_writer_persons(*writer) % w.rows_per_person + 1;
        }
    }
    if (rc != DP_OK)
        return rc;
    json_t *description = describe(s);
    rc = dp_writer_finish(*writer, description, err);
    json_decref(description);
    return rc;
}

static int commit(const struct synth *s, struct dp_writer **writer, const char *path, struct dp_err *err)
{
    size_t rows = dp_writer_rows(*writer);
    int rc = dp_writer_commit(*writer, err);
    *writer = NULL;
    if (rc == DP_OK && !s->o->quiet)
        fprintf(stderr, "dp-synth: %s: %zu row%s, %zu column%s\n", path, rows, rows == 1 ? "" : "s", s->cols,
                s->cols == 1 ? "" : "s");
    return rc;
}

static int synthesise(struct synth *s, struct dp_err *err)
{
    const struct options *o = s->o;
    s->weights = dp_new(s->cols * s->outputs, sizeof(double));
    s->x = dp_new(s->cols, sizeof(double));
    s->spread = dp_new(s->cols, sizeof(double));
    s->step = dp_new(s->cols, sizeof(float));
    /* w·x/‖x‖ has variance Σ w_j² λ_j / Σ λ_j: about 1 for w ~ N(0, I). */
    for (size_t j = 0; j < s->cols; j++)
        s->spread[j] = pow((double)j + 1, -o->decay);
    for (size_t j = 0; j < s->cols; j++)
        s->step[j] = dp_quantise_step(1); /* rows have norm 1 */
    gsl_rng_set(s->rng, (unsigned long)o->seed);
    for (size_t i = 0; i < s->cols * s->outputs; i++)
        s->weights[i] = gsl_ran_gaussian(s->rng, 1);
    struct dp_writer *output = NULL, *test = NULL;
    int rc = write_set(s, &output, o->output, o->rows, err);
    if (rc == DP_OK && o->test != NULL)
        rc = write_set(s, &test, o->test, o->test_rows != DP_OPT_ABSENT_INT ? o->test_rows : (o->rows + 2) / 3, err);
    rc = rc ?: commit(s, &output, o->output, err);
    if (rc == DP_OK && test != NULL)
        rc = commit(s, &test, o->test, err);
    dp_writer_abort(output);
    dp_writer_abort(test);
    return rc;
}

/* A table of patients, and with --test a table of other patients without the label. */
static int patients(const struct synth *s, struct dp_err *err)
{
    const struct options *o = s->o;
    int64_t next = o->test_rows != DP_OPT_ABSENT_INT ? o->test_rows : (o->rows + 2) / 3;
    gsl_rng_set(s->rng, (unsigned long)o->seed);
    int rc = patients_write(s->rng, o->output, o->rows, 1, true, o->force, err);
    if (rc == DP_OK && !o->quiet)
        fprintf(stderr, "dp-synth: %s: %lld patients; readmitted is the label\n", o->output, (long long)o->rows);
    if (rc == DP_OK && o->test != NULL)
        rc = patients_write(s->rng, o->test, next, o->rows + 1, false, o->force, err);
    if (rc == DP_OK && o->test != NULL && !o->quiet)
        fprintf(stderr, "dp-synth: %s: %lld other patients, without the label\n", o->test, (long long)next);
    return rc;
}

int main(int argc, char **argv)
{
    const struct dp_command command = {"dp-synth", "[regression|classification|patients]", "Make a seeded synthetic data set",
                                       options, NULL};
    struct options o;
    struct dp_err err = {0};
    int operand, status, rc = DP_OK;
    if (!dp_cli_start(&command, &o, NULL, argc, argv, &operand, &status))
        return status;
    struct synth s = {.o = &o, .kind = CLASSIFICATION};
    bool like = o.like == 0;
    if (argc - operand == 1 && strcmp(argv[operand], "regression") == 0)
        s.kind = REGRESSION;
    else if (argc - operand == 1 && strcmp(argv[operand], "patients") == 0 && !like)
        s.kind = PATIENTS;
    else if (argc - operand > 1 || (argc - operand == 1 && strcmp(argv[operand], "classification") != 0) ||
             (argc == operand && !like))
        rc = dp_fail(&err, DP_E_USAGE, "expected one of: regression, classification, patients");
    if (like) {
        s.kind = REGRESSION;
        o.rows = 463715;
        o.cols = 90;
    }
    const char *kind = s.kind == CLASSIFICATION ? "classification" : s.kind == REGRESSION ? "regression" : "patients";
    rc = rc ?: dp_option_operand(&command, &o, NULL, kind, &err);
    s.cols = (size_t)o.cols;
    s.outputs = s.kind == CLASSIFICATION && o.classes > 2 ? (size_t)o.classes : 1;
    s.rng = dp_got(gsl_rng_alloc(gsl_rng_mt19937));
    dp_interrupt_catch();
    rc = rc ?: s.kind == PATIENTS ? patients(&s, &err) : synthesise(&s, &err);
    gsl_rng_free(s.rng);
    free(s.weights);
    free(s.x);
    free(s.spread);
    free(s.step);
    dp_interrupt_rethrow();
    return dp_cli_finish("dp-synth", rc, &err);
}
