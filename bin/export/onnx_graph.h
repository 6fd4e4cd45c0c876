/* A graph of ONNX (opset 10) while it is written: nodes, and constants among their inputs. */
#pragma once

#include "proto.h"

#define ONNX_NAME 24

/* value: the name of the last node's output, which begins as the input of the graph. */
struct onnx_graph {
    FILE *out;
    char value[ONNX_NAME];
    size_t names;
};

/* An attribute: a whole number, a list of them, or a real number. */
enum onnx_type { ONNX_REAL = 1, ONNX_WHOLE = 2, ONNX_LIST = 7 };
struct onnx_attribute {
    const char *name;
    enum onnx_type type;
    size_t count;
    double number[4];
};

/* The output of `type` on the inputs, all constants or values by name; "" for g->value. other: NULL for none. It becomes
 * g->value. */
void onnx_node(struct onnx_graph *g, const char *type, const char *other, const char *third,
               const struct onnx_attribute *attribute, size_t attributes);

/* The same with a constant of rows × columns (rows = 0: columns, one dimension) as the second input. */
void onnx_with(struct onnx_graph *g, const char *type, const double *constant, size_t rows, size_t columns);

/* A constant, with its name. */
void onnx_constant(struct onnx_graph *g, const double *value, const long long *size, size_t dimensions, char name[ONNX_NAME]);
void onnx_whole(struct onnx_graph *g, const long long *value, size_t count, char name[ONNX_NAME]);

/* Holds the value within [low, high]. */
void onnx_clip(struct onnx_graph *g, double low, double high);

/* One column: the sum over the columns. */
void onnx_sum_rows(struct onnx_graph *g);

/* Gives the value this name, among the outputs: rows × columns. */
void onnx_output(struct onnx_graph *g, const char *name, size_t columns);

/* The field of a graph for an input or an output of rows × columns. */
enum { ONNX_INPUT = 11, ONNX_OUTPUT = 12 };
void onnx_describe(struct onnx_graph *g, unsigned field, const char *name, size_t columns);
