/* ONNX: a graph from the numbers, categories and missing cells of a row to scores and probabilities.
 *
 * All that bounds and bases do is made of the place of a number in an interval, p = min(max((v − low) / (high − low), 0), 1):
 *   number   factor (low − shift + (high − low) p)
 *   hats     p_(i−1) − p_i                       of its intervals, with p_(−1) = 1 and p_m = 0
 *   bins     the same of ⌊p_i⌋, where the last interval counts as 0
 *   cosines  cos(π k Σ_i p_i / m) / k
 *   products of two of: these cosines, inputs that are 0 or 1 */

#include "base/json.h"
#include "base/mem.h"
#include "export.h"
#include "onnx_graph.h"

enum { INPUT, PLACE, STEP, WAVE, PRODUCT, PARTS };

/* outputs = Σ over parts of (what the part is) · weight + constant. outputs: the features themselves, or the scores. */
struct map {
    const struct dp_terms *terms;
    bool features, bins;
    size_t outputs, inputs, places, waves, products;
    double *weight[PARTS]; /* rows × outputs */
    double *constant;
    struct place {
        size_t input;
        double low, width;
    } * place;
    struct wave {
        size_t term, first, places; /* the intervals whose places it is of */
        double angle, factor;
    } * wave;
    size_t *input;        /* terms: the input that it is */
    size_t (*product)[2]; /* terms */
};

/* The weight of term j in output k. */
static double worth(const struct map *m, size_t j, size_t k)
{
    return m->features ? (double)(j == k) : m->terms->weight[k * m->terms->count + j];
}

static void add(struct map *m, int part, size_t row, size_t j, double factor)
{
    for (size_t k = 0; k < m->outputs; k++)
        m->weight[part][row * m->outputs + k] += factor * worth(m, j, k);
}

static void add_constant(struct map *m, size_t j, double value)
{
    for (size_t k = 0; k < m->outputs; k++)
        m->constant[k] += value * worth(m, j, k);
}

/* The width is a difference of floats, so at the upper end the place is exactly 1. */
static size_t add_place(struct map *m, size_t input, double low, double high)
{
    m->place[m->places] = (struct place){input, low, (double)((float)high - (float)low)};
    return m->places++;
}

static void add_number(struct map *m, size_t input, size_t j)
{
    const struct dp_term *term = &m->terms->term[j];
    const struct dp_column *c = &m->terms->plan.schema.column[term->column];
    if (!c->bounded) {
        add(m, INPUT, input, j, term->factor);
        add_constant(m, j, -term->factor * term->shift);
        return;
    }
    add(m, PLACE, add_place(m, input, c->low, c->high), j, term->factor * (c->high - c->low));
    add_constant(m, j, term->factor * (c->low - term->shift));
}

/* Adds the functions of a basis, which begin at term j. */
static void add_basis(struct map *m, const struct dp_basis *basis, size_t input, size_t j)
{
    size_t first = m->places, count = dp_basis_count(basis);
    int part = basis->kind == DP_BASIS_BINS ? STEP : PLACE;
    m->bins |= part == STEP;
    for (size_t i = 0; i < basis->intervals; i++)
        add_place(m, input, basis->edge[i], basis->edge[i + 1]);
    for (size_t k = 0; k < count && basis->kind == DP_BASIS_COSINES; k++) {
        double n = (double)k + 1, angle = 3.14159265358979323846 * n / (double)basis->intervals;
        m->wave[m->waves] = (struct wave){j + k, first, basis->intervals, angle, 1 / n};
        add(m, WAVE, m->waves++, j + k, 1 / n);
    }
    for (size_t k = 0; k < count && basis->kind != DP_BASIS_COSINES; k++) {
        if (k == 0)
            add_constant(m, j, 1);
        else
            add(m, part, first + k - 1, j + k, 1);
        if (k + 1 < count)
            add(m, part, first + k, j + k, -1);
    }
}

/* The wave that a term is, or m->waves. */
static size_t wave_of(const struct map *m, size_t term)
{
    size_t i = 0;
    while (i < m->waves && m->wave[i].term != term)
        i++;
    return i;
}

static void add_product(struct map *m, size_t j)
{
    const struct dp_term *term = &m->terms->term[j];
    double factor = term->factor;
    for (int which = 0; which < 2; which++) {
        const size_t wave = wave_of(m, term->of[which]);
        factor *= wave < m->waves ? m->wave[wave].factor : 1;
        m->product[m->products][which] = term->of[which];
    }
    add(m, PRODUCT, m->products++, j, factor);
}

static void fill_map(struct map *m)
{
    const struct dp_terms *t = m->terms;
    for (size_t k = 0; !m->features && k < m->outputs; k++)
        m->constant[k] = t->constant[k];
    for (size_t j = 0; j < t->count; j++) {
        const struct dp_term *term = &t->term[j];
        if (term->kind == DP_TERM_BIAS)
            add_constant(m, j, 1);
        else if (term->kind == DP_TERM_BASIS && term->part == 0)
            add_basis(m, &t->plan.schema.column[term->column].basis, m->inputs - 1, j);
        else if (term->kind == DP_TERM_NUMBER)
            add_number(m, m->inputs++, j);
        else if (term->kind == DP_TERM_PRODUCT)
            add_product(m, j);
        else if (term->kind != DP_TERM_BASIS) {
            m->input[j] = m->inputs;
            add(m, INPUT, m->inputs++, j, 1);
        }
    }
}

static double *room(size_t rows, size_t columns)
{
    return dp_new(rows * columns + 1, sizeof(double));
}

static void open_map(struct map *m)
{
    const struct dp_terms *t = m->terms;
    size_t most = t->count; /* each part has at most a row for each term, and a place for each interval */
    for (size_t i = 0; t->table && i < t->plan.schema.columns; i++)
        most += t->plan.schema.column[i].basis.intervals;
    m->outputs = m->features ? t->count : t->outputs;
    for (int part = 0; part < PARTS; part++)
        m->weight[part] = room(most, m->outputs);
    m->constant = room(1, m->outputs);
    m->place = dp_new(most, sizeof *m->place);
    m->wave = dp_new(most, sizeof *m->wave);
    m->product = dp_new(most, sizeof *m->product);
    m->input = dp_new(most, sizeof *m->input);
    fill_map(m);
}

static void close_map(struct map *m)
{
    for (int part = 0; part < PARTS; part++)
        free(m->weight[part]);
    free(m->constant);
    free(m->place);
    free(m->wave);
    free(m->product);
    free(m->input);
}

/* Adds a part, times its weights, to the sum. */
static void put_part(struct onnx_graph *g, const struct map *m, int part, size_t rows, char sum[ONNX_NAME])
{
    char value[ONNX_NAME];
    size_t used = 0;
    while (used < rows * m->outputs && m->weight[part][used] == 0)
        used++;
    if (used == rows * m->outputs)
        return;
    strcpy(value, g->value);
    onnx_with(g, "MatMul", m->weight[part], rows, m->outputs);
    if (sum[0] != '\0')
        onnx_node(g, "Add", sum, NULL, NULL, 0);
    strcpy(sum, g->value);
    strcpy(g->value, value);
}

static void put_places(struct onnx_graph *g, const struct map *m)
{
    double *select = room(m->inputs, m->places), *low = room(1, m->places), *width = room(1, m->places);
    for (size_t p = 0; p < m->places; p++) {
        select[m->place[p].input * m->places + p] = 1;
        low[p] = m->place[p].low;
        width[p] = m->place[p].width;
    }
    onnx_with(g, "MatMul", select, m->inputs, m->places);
    onnx_with(g, "Sub", low, 0, m->places);
    onnx_with(g, "Div", width, 0, m->places);
    onnx_clip(g, 0, 1);
    free(select);
    free(low);
    free(width);
}

static void put_waves(struct onnx_graph *g, const struct map *m)
{
    double *angle = room(m->places, m->waves);
    for (size_t w = 0; w < m->waves; w++)
        for (size_t p = 0; p < m->wave[w].places; p++)
            angle[(m->wave[w].first + p) * m->waves + w] = m->wave[w].angle;
    onnx_with(g, "MatMul", angle, m->places, m->waves);
    onnx_node(g, "Cos", NULL, NULL, NULL, 0);
    free(angle);
}

/* Leaves the factors of all products, waves or inputs. */
static void put_factors(struct onnx_graph *g, const struct map *m, int which, const char *inputs, const char *waves)
{
    double *of_wave = room(m->waves, m->products), *of_input = room(m->inputs, m->products);
    char first[ONNX_NAME];
    for (size_t j = 0; j < m->products; j++) {
        const size_t term = m->product[j][which], wave = wave_of(m, term);
        if (wave < m->waves)
            of_wave[wave * m->products + j] = 1;
        else
            of_input[m->input[term] * m->products + j] = 1;
    }
    strcpy(g->value, waves);
    onnx_with(g, "MatMul", of_wave, m->waves, m->products);
    strcpy(first, g->value);
    strcpy(g->value, inputs);
    onnx_with(g, "MatMul", of_input, m->inputs, m->products);
    onnx_node(g, "Add", first, NULL, NULL, 0);
    free(of_wave);
    free(of_input);
}

static void put_products(struct onnx_graph *g, const struct map *m, const char *inputs)
{
    char waves[ONNX_NAME], first[ONNX_NAME];
    strcpy(waves, g->value);
    put_factors(g, m, 0, inputs, waves);
    strcpy(first, g->value);
    put_factors(g, m, 1, inputs, waves);
    onnx_node(g, "Mul", first, NULL, NULL, 0);
}

/* Builds the graph from the inputs to the outputs of the map. */
static void put_map(struct onnx_graph *g, const struct map *m)
{
    char sum[ONNX_NAME] = "", places[ONNX_NAME], inputs[ONNX_NAME];
    strcpy(inputs, g->value);
    put_part(g, m, INPUT, m->inputs, sum);
    if (m->places > 0)
        put_places(g, m);
    put_part(g, m, PLACE, m->places, sum);
    strcpy(places, g->value);
    if (m->bins)
        onnx_node(g, "Floor", NULL, NULL, NULL, 0);
    put_part(g, m, STEP, m->places, sum);
    strcpy(g->value, places);
    if (m->waves > 0)
        put_waves(g, m);
    put_part(g, m, WAVE, m->waves, sum);
    if (m->products > 0)
        put_products(g, m, inputs);
    put_part(g, m, PRODUCT, m->products, sum);
    strcpy(g->value, sum);
    onnx_with(g, "Add", m->constant, 0, m->outputs);
}

/* Divides the features by their norm, as the rows of the training set. */
static void put_norm(struct onnx_graph *g, enum dp_row_norm norm)
{
    static const double longest = 1 - 0x1p-22, tiny = 1e-30;
    char features[ONNX_NAME], norm_of_row[ONNX_NAME];
    strcpy(features, g->value);
    onnx_node(g, "Mul", "", NULL, NULL, 0);
    onnx_sum_rows(g);
    onnx_node(g, "Sqrt", NULL, NULL, NULL, 0);
    onnx_with(g, "Div", &longest, 0, 1);
    onnx_clip(g, norm == DP_NORM_CAP ? 1 : tiny, 1e30);
    strcpy(norm_of_row, g->value);
    strcpy(g->value, features);
    onnx_node(g, "Div", norm_of_row, NULL, NULL, 0);
}

static void put_scores(struct onnx_graph *g, const struct dp_terms *t, double *room)
{
    for (size_t k = 0; k < t->outputs; k++)
        for (size_t j = 0; j < t->count; j++)
            room[j * t->outputs + k] = t->weight[k * t->count + j];
    onnx_with(g, "MatMul", room, t->count, t->outputs);
    onnx_with(g, "Add", t->constant, 0, t->outputs);
}

/* The probabilities of all classes. */
static void put_probabilities(struct onnx_graph *g, const struct dp_terms *t)
{
    static const double both[] = {-1, 1};
    char parts[ONNX_NAME], sum[ONNX_NAME];
    if (t->predictor.loss == DP_LOSS_SOFTMAX && t->outputs > 1) {
        onnx_node(g, "Softmax", NULL, NULL, &(struct onnx_attribute){"axis", ONNX_WHOLE, 1, {1}}, 1);
        return;
    }
    if (t->outputs == 1)
        onnx_with(g, "MatMul", both, 1, 2);
    onnx_node(g, "Sigmoid", NULL, NULL, NULL, 0);
    if (t->outputs == 1)
        return;
    strcpy(parts, g->value);
    onnx_sum_rows(g);
    strcpy(sum, g->value);
    strcpy(g->value, parts);
    onnx_node(g, "Div", sum, NULL, NULL, 0);
}

static void put_value(struct onnx_graph *g, const struct dp_terms *t)
{
    const struct dp_affine *label = &t->predictor.label;
    if (t->predictor.loss == DP_LOSS_POISSON)
        onnx_node(g, "Exp", NULL, NULL, NULL, 0);
    onnx_with(g, "Mul", &label->scale, 0, 1);
    onnx_with(g, "Add", &label->offset, 0, 1);
    if (label->low < label->high)
        onnx_clip(g, label->low, label->high);
}

static void put_graph(const struct export *e, struct onnx_graph *g)
{
    const struct dp_terms *t = e->terms;
    bool network = dp_terms_network(t), normed = t->norm == DP_NORM_UNIT || t->norm == DP_NORM_CAP;
    struct map m = {.terms = t, .features = network || normed};
    double *weights = room(t->count, network ? 0 : t->outputs);
    open_map(&m);
    onnx_describe(g, ONNX_INPUT, g->value, m.inputs);
    if (t->table || !network)
        put_map(g, &m);
    if (normed)
        put_norm(g, t->norm);
    if (network)
        export_onnx_layers(e, g);
    else if (normed)
        put_scores(g, t, weights);
    onnx_output(g, "scores", t->outputs);
    if (t->classes == 0)
        put_value(g, t), onnx_output(g, "prediction", 1);
    else if (dp_metric_has_probability(t->predictor.loss))
        put_probabilities(g, t), onnx_output(g, "probabilities", t->classes);
    free(weights);
    close_map(&m);
}

static void put_property(FILE *model, const char *key, const char *value)
{
    struct proto property = {0};
    proto_open(&property);
    proto_text(property.out, 1, key);
    proto_text(property.out, 2, value);
    proto_close(&property, model, 14);
}

/* The names of the inputs and classes, as JSON, and the cost. */
static void put_properties(const struct export *e)
{
    const struct dp_terms *t = e->terms;
    char privacy[EXPORT_PRIVACY];
    json_t *inputs = json_array(), *classes = json_array();
    for (size_t j = 0; j < t->count; j++)
        if (t->term[j].kind != DP_TERM_BIAS && t->term[j].kind != DP_TERM_BASIS && t->term[j].kind != DP_TERM_PRODUCT)
            json_array_append_new(inputs, json_string(t->term[j].name));
    for (size_t k = 0; k < t->classes; k++)
        json_array_append_new(classes, json_string(t->class[k]));
    char *names = dp_json_text(inputs, JSON_COMPACT), *of_classes = dp_json_text(classes, JSON_COMPACT);
    put_property(e->out, "inputs", names);
    if (t->classes > 0)
        put_property(e->out, "classes", of_classes);
    put_property(e->out, "loss", dp_loss_names[t->predictor.loss]);
    put_property(e->out, "privacy", export_privacy(e, privacy));
    free(names);
    free(of_classes);
    json_decref(inputs);
    json_decref(classes);
}

int export_onnx(const struct export *e, struct dp_err *err)
{
    enum { IR_VERSION = 1, PRODUCER = 2, GRAPH = 7, OPSETS = 8 };
    struct proto graph = {0}, opset = {0};
    (void)err;
    proto_open(&graph);
    proto_open(&opset);
    struct onnx_graph g = {.out = graph.out, .value = "x"};
    proto_text(graph.out, 2, "dpline");
    proto_number(e->out, IR_VERSION, 5);
    proto_text(e->out, PRODUCER, "dpline");
    proto_number(opset.out, 2, 10);
    proto_close(&opset, e->out, OPSETS);
    put_graph(e, &g);
    proto_close(&graph, e->out, GRAPH);
    put_properties(e);
    return DP_OK;
}
