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
    FILE *out;
};

/* DP_E_RUN: the format has no place for the model. The stream's error flag tells whether writing worked. */
int export_json(const struct export *e, struct dp_err *err);
int export_csv(const struct export *e, struct dp_err *err);
int export_sql(const struct export *e, struct dp_err *err);
int export_c(const struct export *e, struct dp_err *err);
int export_liblinear(const struct export *e, struct dp_err *err);
int export_onnx(const struct export *e, struct dp_err *err);
int export_pmml(const struct export *e, struct dp_err *err);

/* DP_E_RUN: rows are divided by their norms, or a column has a basis or synonyms, for which `format` has no place. */
int export_check_plain(const struct export *e, const char *format, struct dp_err *err);

/* The constant of output k in the units of the table: bias, and the shifts of numbers. */
double export_intercept(const struct export *e, size_t k);

/* The part of export_onnx for a network. */
struct onnx_graph;
void export_onnx_layers(const struct export *e, struct onnx_graph *g);

/* Parts of export_c for a network: its parameters, its layers and functions for them; and the end of model_score. */
void export_layers(const struct export *e);
void export_run(const struct export *e);

/* The cost of the model in words. */
#define EXPORT_PRIVACY 120
const char *export_privacy(const struct export *e, char text[EXPORT_PRIVACY]);

/* Writes the shortest text of the number. */
void export_number(const struct export *e, double value);

/* The name of the class that output k scores; "score" for a regression. */
const char *export_output(const struct export *e, size_t k);
