/* The parts of dp-export: each writes a model in one format. */
#pragma once

#include "model/terms.h"

struct export
{
    const struct dp_terms *terms;
    const struct dp_frame *frame;
    const char *name;      /* of the model */
    const char *table;     /* sql: its name */
    struct dp_texts *keep; /* sql: columns to copy */
    int format;
    FILE *out;
};

/* Needs of a model, beyond weights of numbers and categories. */
enum export_need {
    EXPORT_NETWORK = 1, /* layers */
    EXPORT_NORM = 2,    /* rows are divided by their norms */
    EXPORT_LIMIT = 4,   /* rows of a norm above 1 have no score */
    EXPORT_CURVES = 8,  /* a basis of a number */
    EXPORT_SYNONYMS = 16,
    EXPORT_PRODUCTS = 32,
    EXPORT_DATES = 64,
    EXPORT_BUCKETS = 128,
    EXPORT_POWER = 256,       /* e^score */
    EXPORT_SIGMOIDS = 512,    /* of each of several scores */
    EXPORT_CHARACTERS = 1024, /* that XML has no place for */
    EXPORT_ALL = 2047
};

/* The needs of the model, without EXPORT_CHARACTERS. */
unsigned export_needs(const struct export *e);

/* The formats: what each of them has a place for. The stream's error flag tells whether writing worked. */
enum { EXPORT_JSON, EXPORT_CSV, EXPORT_SQL, EXPORT_C, EXPORT_LIBLINEAR, EXPORT_ONNX, EXPORT_PMML, EXPORT_FORMATS };
extern const struct export_format {
    const char *name;
    unsigned can;    /* of export_need */
    unsigned leaves; /* what it leaves to its reader */
    int (*write)(const struct export *e, struct dp_err *err);
} export_formats[EXPORT_FORMATS];

/* DP_E_RUN: the format has no place for something that the model needs. */
int export_check(const struct export *e, struct dp_err *err);

/* The same for one need; what: says what the model does. */
int export_refuse(const struct export *e, enum export_need need, const char *what, struct dp_err *err);

int export_json(const struct export *e, struct dp_err *err);
int export_csv(const struct export *e, struct dp_err *err);
int export_sql(const struct export *e, struct dp_err *err);
int export_c(const struct export *e, struct dp_err *err);
int export_liblinear(const struct export *e, struct dp_err *err);
int export_onnx(const struct export *e, struct dp_err *err);
int export_pmml(const struct export *e, struct dp_err *err);

/* The constant of output k in the units of the table: bias, and the shifts of numbers. */
double export_intercept(const struct export *e, size_t k);

/* The part of export_onnx for a network. */
struct onnx_graph;
void export_onnx_layers(const struct export *e, struct onnx_graph *g);

/* The cost of the model in words. */
#define EXPORT_PRIVACY 120
const char *export_privacy(const struct export *e, char text[EXPORT_PRIVACY]);

/* Writes the shortest text of the number. */
void export_number(const struct export *e, double value);

/* The name of the class that output k scores; "score" for a regression. */
const char *export_output(const struct export *e, size_t k);
