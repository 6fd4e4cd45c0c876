/* The parts of dp-export: each writes a model in one format. */
#pragma once

#include "formats.h"
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

/* DP_E_RUN: the format has no place for something that the model needs. */
int export_check(const struct export *e, struct dp_err *err);

/* The same for one need, with the formats that take the model; what: says what the model does. */
int export_refuse(const struct export *e, enum export_need need, const char *what, struct dp_err *err);

/* The needs of the model, without EXPORT_CHARACTERS. */
unsigned export_needs(const struct export *e);

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
