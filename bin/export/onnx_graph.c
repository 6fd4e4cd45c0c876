#include "onnx_graph.h"

/* Numbers of fields and types in onnx.proto3. */
enum { GRAPH_NODE = 1, GRAPH_INITIALIZER = 5 };
enum { NODE_INPUT = 1, NODE_OUTPUT, NODE_NAME, NODE_TYPE, NODE_ATTRIBUTE };
enum { ATTRIBUTE_NAME = 1, ATTRIBUTE_REAL = 2, ATTRIBUTE_WHOLE = 3, ATTRIBUTE_LIST = 8, ATTRIBUTE_TYPE = 20 };
enum { TENSOR_DIMS = 1, TENSOR_TYPE = 2, TENSOR_INT64 = 7, TENSOR_NAME = 8, TENSOR_RAW = 9, TYPE_FLOAT = 1, TYPE_INT64 = 7 };

static void next_name(struct onnx_graph *g, char name[ONNX_NAME])
{
    snprintf(name, ONNX_NAME, "v%zu", ++g->names);
}

static void put_attribute(FILE *node, const struct onnx_attribute *a)
{
    struct proto message = {0};
    proto_open(&message);
    proto_text(message.out, ATTRIBUTE_NAME, a->name);
    for (size_t i = 0; i < a->count; i++)
        if (a->type == ONNX_REAL)
            proto_float(message.out, ATTRIBUTE_REAL, a->number[i]);
        else
            proto_number(message.out, a->type == ONNX_LIST ? ATTRIBUTE_LIST : ATTRIBUTE_WHOLE, (uint64_t)(int64_t)a->number[i]);
    proto_number(message.out, ATTRIBUTE_TYPE, a->type);
    proto_close(&message, node, NODE_ATTRIBUTE);
}

void onnx_node(struct onnx_graph *g, const char *type, const char *other, const char *third,
               const struct onnx_attribute *attribute, size_t attributes)
{
    struct proto node = {0};
    proto_open(&node);
    proto_text(node.out, NODE_INPUT, g->value);
    if (other != NULL)
        proto_text(node.out, NODE_INPUT, other[0] != '\0' ? other : g->value);
    if (third != NULL)
        proto_text(node.out, NODE_INPUT, third);
    next_name(g, g->value);
    proto_text(node.out, NODE_OUTPUT, g->value);
    proto_text(node.out, NODE_NAME, g->value);
    proto_text(node.out, NODE_TYPE, type);
    for (size_t i = 0; i < attributes; i++)
        put_attribute(node.out, &attribute[i]);
    proto_close(&node, g->out, GRAPH_NODE);
}

void onnx_constant(struct onnx_graph *g, const double *value, const long long *size, size_t dimensions, char name[ONNX_NAME])
{
    struct proto tensor = {0};
    size_t count = 1;
    next_name(g, name);
    proto_open(&tensor);
    for (size_t i = 0; i < dimensions; i++) {
        proto_number(tensor.out, TENSOR_DIMS, (uint64_t)size[i]);
        count *= (size_t)size[i];
    }
    proto_number(tensor.out, TENSOR_TYPE, TYPE_FLOAT);
    proto_text(tensor.out, TENSOR_NAME, name);
    proto_floats(tensor.out, TENSOR_RAW, value, count);
    proto_close(&tensor, g->out, GRAPH_INITIALIZER);
}

void onnx_whole(struct onnx_graph *g, const long long *value, size_t count, char name[ONNX_NAME])
{
    struct proto tensor = {0};
    next_name(g, name);
    proto_open(&tensor);
    proto_number(tensor.out, TENSOR_DIMS, count);
    proto_number(tensor.out, TENSOR_TYPE, TYPE_INT64);
    for (size_t i = 0; i < count; i++)
        proto_number(tensor.out, TENSOR_INT64, (uint64_t)value[i]);
    proto_text(tensor.out, TENSOR_NAME, name);
    proto_close(&tensor, g->out, GRAPH_INITIALIZER);
}

void onnx_with(struct onnx_graph *g, const char *type, const double *constant, size_t rows, size_t columns)
{
    char name[ONNX_NAME];
    const long long size[] = {(long long)rows, (long long)columns};
    onnx_constant(g, constant, rows > 0 ? size : size + 1, rows > 0 ? 2 : 1, name);
    onnx_node(g, type, name, NULL, NULL, 0);
}

void onnx_clip(struct onnx_graph *g, double low, double high)
{
    const struct onnx_attribute bounds[] = {{"min", ONNX_REAL, 1, {low}}, {"max", ONNX_REAL, 1, {high}}};
    onnx_node(g, "Clip", NULL, NULL, bounds, 2);
}

void onnx_sum_rows(struct onnx_graph *g)
{
    const struct onnx_attribute how[] = {{"axes", ONNX_LIST, 1, {1}}, {"keepdims", ONNX_WHOLE, 1, {1}}};
    onnx_node(g, "ReduceSum", NULL, NULL, how, 2);
}

void onnx_describe(struct onnx_graph *g, unsigned field, const char *name, size_t columns)
{
    struct proto info = {0}, type = {0}, tensor = {0}, shape = {0}, dimension[2] = {{0}, {0}};
    struct proto *all[] = {&info, &type, &tensor, &shape, &dimension[0], &dimension[1]};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        proto_open(all[i]);
    proto_text(info.out, 1, name);
    proto_number(tensor.out, 1, TYPE_FLOAT);
    proto_text(dimension[0].out, 2, "rows");
    proto_number(dimension[1].out, 1, columns);
    proto_close(&dimension[0], shape.out, 1);
    proto_close(&dimension[1], shape.out, 1);
    proto_close(&shape, tensor.out, 2);
    proto_close(&tensor, type.out, 1);
    proto_close(&type, info.out, 2);
    proto_close(&info, g->out, field);
}

void onnx_output(struct onnx_graph *g, const char *name, size_t columns)
{
    struct proto node = {0};
    proto_open(&node);
    proto_text(node.out, NODE_INPUT, g->value);
    proto_text(node.out, NODE_OUTPUT, name);
    proto_text(node.out, NODE_NAME, name);
    proto_text(node.out, NODE_TYPE, "Identity");
    proto_close(&node, g->out, GRAPH_NODE);
    snprintf(g->value, sizeof g->value, "%s", name);
    onnx_describe(g, ONNX_OUTPUT, name, columns);
}
