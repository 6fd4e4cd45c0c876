/* C: tables, functions that read them (runtime/), and an expression for each step. */

#include "base/mem.h"
#include "export.h"
#include "steps.h"

static const char *const code_of_cells[] = {
#include "export/cell.lines"
    NULL};
static const char *const code_of_numbers[] = {
#include "export/read.lines"
    NULL};
static const char *const code_of_dates[] = {
#include "export/date.lines"
    NULL};
static const char *const code_of_hash[] = {
#include "export/hash.lines"
    NULL};
static const char *const code_of_network[] = {
#include "export/network.lines"
    NULL};
static const char *const code_of_class[] = {
#include "export/class.lines"
    NULL};

struct printer {
    const struct export *e;
    struct steps steps;
    size_t tables;
};

static void put_lines(const struct export *e, const char *const *line)
{
    while (*line != NULL)
        fputs(*line++, e->out);
}

/* A C string; bytes beyond ASCII as octal, so that the text does not depend on the compiler's character set. */
static void put_string(const struct export *e, const char *text)
{
    fputc('"', e->out);
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < 32 || c > 126 || c == '"' || c == '\\' || c == '?')
            fprintf(e->out, "\\%03o", c);
        else
            fputc(c, e->out);
    }
    fputc('"', e->out);
}

/* --- expressions ------------------------------------------------------------------------------------------------------ */

/* The number of a column among those that are read. */
static size_t input_of(const struct dp_terms *t, size_t column)
{
    size_t input = 0;
    for (size_t i = 0; i < column; i++)
        input += dp_terms_reads(t, i);
    return input;
}

static void put_name(void *self, const struct expr *x)
{
    const struct printer *p = self;
    const struct dp_terms *t = p->e->terms;
    if (x->op == OP_INPUT) {
        fprintf(p->e->out, t->table ? "cell[%zu]" : "x[%zu]", t->table ? input_of(t, x->at) : x->at);
        return;
    }
    const struct step *step = &p->steps.step[x->at];
    bool score = step_is(step, "score");
    if (score || step_is(step, "feature"))
        fprintf(p->e->out, score ? "score[%zu]" : "x[%zu]", step->number - 1);
    else
        fprintf(p->e->out, "%s_%zu", step->kind, step->number);
}

static void put_number(void *self, double value)
{
    fprintf(((struct printer *)self)->e->out, isnan(value) ? "NAN" : value < 0 ? "(%.17g)" : "%.17g", value);
}

static void put_word(void *self, const char *word)
{
    put_string(((struct printer *)self)->e, word);
}

/* The letter d is the date of a column, u its units, q its decimal sign, h the number of its buckets. */
static void put_other(void *self, char letter, const struct expr *x)
{
    const struct printer *p = self;
    const struct dp_column *column = &p->e->terms->plan.schema.column[x->at];
    if (letter == 'd') {
        put_string(p->e, column->date);
        fprintf(p->e->out, ", %s", (const char *[]){"DP_DATE_DAYS", "DP_DATE_MONTH", "DP_DATE_WEEKDAY"}[column->part]);
    } else if (letter == 'u') {
        put_string(p->e, column->unit != NULL ? column->unit : "");
    } else if (letter == 'q') {
        fputs(column->comma ? "true" : "false", p->e->out);
    } else {
        fprintf(p->e->out, "%zu", column->buckets);
    }
}

static const struct syntax c = {.form = {[OP_NUMBER] = "%v",
                                         [OP_NONE] = "NAN",
                                         [OP_NAME] = "%s",
                                         [OP_INPUT] = "%s",
                                         [OP_TRIM] = "trim(%a, strlen(%a))",
                                         [OP_READ] = "number(%a, %u, %q)",
                                         [OP_DATE] = "date(%a, %d)",
                                         [OP_HASH] = "(1 + (double)(hash(%a) %% %h))",
                                         [OP_IN] = "0 != match(%a, words_%i, 0)",
                                         [OP_ABSENT] = "isnan(%a)",
                                         [OP_LESS] = "(%a < %b)",
                                         [OP_ADD] = "(%a + %b)",
                                         [OP_SUBTRACT] = "(%a - %b)",
                                         [OP_MULTIPLY] = "%a * %b",
                                         [OP_DIVIDE] = "(%a / %b)",
                                         [OP_SQRT] = "sqrt(%a)",
                                         [OP_COS] = "cos(%a)",
                                         [OP_EXP] = "exp(%a)",
                                         [OP_IF] = "(%a ? %b : %c)",
                                         [OP_MATCH] = "match(%a, words_%i, %b)",
                                         [OP_STEPS] = "steps(%a, table_%i, %n)",
                                         [OP_LINES] = "lines(%a, table_%i, %n)"},
                                .number = put_number,
                                .word = put_word,
                                .name = put_name,
                                .other = put_other};

/* The tables of an expression. */
static void put_tables(struct printer *p, const struct expr *x)
{
    for (int k = 0; k < 3 && x->arg[k] != NULL; k++)
        put_tables(p, x->arg[k]);
    if (x->count == 0 || x->at != 0)
        return;
    ((struct expr *)x)->at = ++p->tables;
    expr_print_as(&c, p,
                  x->op == OP_IN || x->op == OP_MATCH ? "static const struct word words_%i[] = {%({%w, %v},\n    %){0, 0}};\n"
                                                      : "static const double table_%i[][2] = {%({%k, %v},\n    %)};\n",
                  x, p->e->out);
}

/* The steps from … to − 1, one a line. */
static void put_steps(struct printer *p, size_t from, size_t to)
{
    for (; from < to; from++) {
        const struct step *step = &p->steps.step[from];
        if (step->last == 0)
            continue;
        bool array = step_is(step, "score") || step_is(step, "feature");
        fputs(array ? "    " : step_is(step, "text") ? "    const struct text " : "    const double ", p->e->out);
        put_name(p, &(struct expr){.op = OP_NAME, .at = from});
        fputs(" = ", p->e->out);
        expr_print(&c, p, step->value, p->e->out);
        fputs(";\n", p->e->out);
    }
}

/* --- networks --------------------------------------------------------------------------------------------------------- */

/* Whether the inputs of layer l are added later. */
static bool is_saved(const struct dp_net *net, size_t l)
{
    for (size_t later = l; later < net->layers; later++)
        if (net->layer[later].kind == DP_NET_ADD && net->layer[later].kept == l)
            return true;
    return false;
}

/* A fully connected layer (fc) is a filter as large as its input. */
static void put_layer(const struct export *e, const struct dp_net *net, size_t l)
{
    static const int kind[] = {
        [DP_NET_CONV] = 0, [DP_NET_FC] = 0, [DP_NET_POOL] = 1, [DP_NET_MEAN_POOL] = 2, [DP_NET_NORM] = 3, [DP_NET_ADD] = 4};
    static const int activation[] = {[DP_NET_LINEAR] = 0, [DP_NET_TANH] = 1, [DP_NET_RELU] = 2};
    const struct dp_net_layer *y = &net->layer[l];
    bool fc = y->kind == DP_NET_FC;
    fprintf(e->out, "    {%d, %d, %d, %zu, %zu, %zu, %zu, %zu, %zu, %zu, %zu, %zu, %zu, %zu, %zu},\n", kind[y->kind],
            activation[y->activation], is_saved(net, l), y->groups, y->in.height, y->in.width, y->in.channels, y->out.height,
            y->out.width, y->out.channels, fc ? y->in.height : y->kernel, fc ? y->in.width : y->kernel, fc ? 1 : y->stride,
            y->pad, y->first);
}

static void put_network(const struct export *e)
{
    const struct dp_predictor *p = &e->terms->predictor;
    const struct dp_net *net = &p->form.net;
    size_t room = net->inputs;
    fputs("static const float weights[] = {", e->out);
    for (size_t j = 0; j < net->parameters; j++)
        fprintf(e->out, "%s%.9e,", j % 8 == 0 ? "\n    " : " ", (double)(float)p->parameters[j]);
    fputs(
        "\n};\n\n/* kind: 0 weighted sums, 1 largest values, 2 means, 3 normalised groups, 4 a sum. activation: 1 tanh, 2 relu. */\n"
        "static const struct layer {\n    int kind, activation, saved;\n    long groups, height, width, channels, out_rows, out_columns, outputs;\n"
        "    long kernel_rows, kernel_columns, stride, pad, first;\n} layers[] = {\n",
        e->out);
    for (size_t l = 0; l < net->layers; l++) {
        put_layer(e, net, l);
        room = dp_net_size(net->layer[l].out) > room ? dp_net_size(net->layer[l].out) : room;
    }
    fprintf(e->out, "};\nenum { LAYERS = %zu, ROOM = %zu };\n\n", net->layers, room);
    put_lines(e, code_of_network);
}

static void put_run(const struct export *e)
{
    const struct dp_net *net = &e->terms->predictor.form.net;
    fprintf(e->out,
            "    static _Thread_local float room[3][ROOM];\n"
            "    for (int j = 0; j < MODEL_FEATURES; j++) {\n"
            "        if (isnan(x[j]))\n"
            "            return -1;\n"
            "        room[0][j] = %.9ef * (float)(%s * x[j]) - %.9ef;\n"
            "    }\n"
            "    const float *u = run_network(room);\n"
            "    for (int k = 0; k < MODEL_OUTPUTS; k++)\n"
            "        score[k] = u[k];\n",
            (double)net->factor, e->terms->table ? "scale_1" : "1", (double)net->centre);
}

/* --- the file --------------------------------------------------------------------------------------------------------- */

static void put_strings(const struct export *e, const char *name, char *const *text, size_t count)
{
    fprintf(e->out, "const char *const %s[] = {", name);
    for (size_t i = 0; i < count; i++) {
        put_string(e, text[i]);
        fputs(", ", e->out);
    }
    fputs("0};\n", e->out);
}

/* The names of the columns that are read, and their number. */
static void put_columns(const struct export *e)
{
    const struct dp_terms *t = e->terms;
    size_t columns = t->plan.schema.columns;
    char **name = dp_new(columns, sizeof *name);
    for (size_t i = 0; i < columns; i++)
        if (dp_terms_reads(t, i))
            name[input_of(t, i)] = t->plan.schema.column[i].name;
    put_strings(e, "model_columns", name, input_of(t, columns));
    fprintf(e->out, "enum { MODEL_COLUMNS = %zu };\n\n", input_of(t, columns));
    free(name);
}

/* A row of a data set may have thousands of features: a compiler takes minutes for an expression of them. */
static void put_weights(const struct export *e)
{
    const struct dp_terms *t = e->terms;
    fputs("static const double weights[][MODEL_FEATURES + 1] = {", e->out); /* the last one is the constant */
    for (size_t k = 0; k < t->outputs; k++) {
        for (size_t j = 0; j < t->count; j++)
            fprintf(e->out, "%s%.17g,", j == 0 ? "\n    {" : j % 5 == 0 ? "\n    " : " ", t->weight[k * t->count + j]);
        fprintf(e->out, " %.17g},", t->constant[k]);
    }
    fputs("\n};\n", e->out);
}

static const char code_of_weights[] = "    for (int k = 0; k < MODEL_OUTPUTS; k++) {\n"
                                      "        score[k] = weights[k][MODEL_FEATURES];\n"
                                      "        for (int j = 0; j < MODEL_FEATURES; j++)\n"
                                      "            score[k] += weights[k][j] * x[j];\n"
                                      "    }\n";

static void put_score(struct printer *p)
{
    const struct export *e = p->e;
    bool network = dp_terms_network(e->terms);
    const struct steps *s = &p->steps;
    bool plain = !network && !e->terms->table;
    for (size_t i = 0; i < s->score; i++)
        put_tables(p, s->step[i].value);
    if (plain)
        put_weights(e);
    fputs(
        e->terms->table
            ? "\n/* The scores of a row. cell: MODEL_COLUMNS texts in the order of model_columns; blanks at their ends do not count.\n"
              " * Returns -1, and no scores, if a cell cannot be read. */\n"
              "int model_score(const char *const *cell, double *score)\n{\n"
            : "\n/* The scores of a row of a data set: MODEL_FEATURES numbers, scaled as the rows of the training set. */\n"
              "int model_score(const double *x, double *score)\n{\n",
        e->out);
    if (network && e->terms->table)
        fputs("    double x[MODEL_FEATURES];\n", e->out);
    if (plain)
        fputs(code_of_weights, e->out);
    else if (e->terms->table)
        put_steps(p, 0, s->score + (network ? 0 : e->terms->outputs));
    if (network)
        put_run(e);
    else
        fputs("    for (int k = 0; k < MODEL_OUTPUTS; k++)\n        if (isnan(score[k]))\n            return -1;\n", e->out);
    fputs("    return 0;\n}\n\n", e->out);
}

/* The functions of scores. */
static void put_predictions(struct printer *p)
{
    const struct dp_terms *t = p->e->terms;
    const struct steps *s = &p->steps;
    FILE *out = p->e->out;
    if (t->classes == 0) {
        fputs("/* The prediction. */\ndouble model_value(const double *score)\n{\n", out);
        put_steps(p, s->predict, s->count);
        fputs("    return value_1;\n}\n", out);
        return;
    }
    put_lines(p->e, code_of_class);
    if (!dp_metric_has_probability(t->predictor.loss))
        return;
    fputs("\n/* The probability of each class. */\nvoid model_probability(const double *score, double *p)\n{\n", out);
    put_steps(p, s->predict, s->count);
    for (size_t k = 0; k < t->classes; k++)
        fprintf(out, "    p[%zu] = probability_%zu;\n", k, k + 1);
    fputs("}\n", out);
}

int export_c(const struct export *e, struct dp_err *err)
{
    const struct dp_terms *t = e->terms;
    struct printer p = {.e = e};
    char privacy[EXPORT_PRIVACY];
    (void)err;
    steps_open(&p.steps, t, false);
    fprintf(e->out, "/* A %s%s by dpline, %s loss; %s. */\n", dp_terms_network(t) ? "network, " : "linear model",
            dp_terms_network(t) ? dp_frame_text(e->frame, DP_F_NETWORK, "") : "", dp_loss_names[t->predictor.loss],
            export_privacy(e, privacy));
    if (export_needs(e) & EXPORT_ANY_DATES)
        fputs("#define _GNU_SOURCE /* for strptime, timegm and tm_gmtoff */\n#include <time.h>\n", e->out);
    fputs(
        "#include <ctype.h>\n#include <math.h>\n#include <stdbool.h>\n#include <stdint.h>\n#include <stdlib.h>\n#include <string.h>\n\n",
        e->out);
    fprintf(e->out, "enum { MODEL_FEATURES = %zu, MODEL_OUTPUTS = %zu, MODEL_CLASSES = %zu };\n", t->count, t->outputs,
            t->classes);
    put_strings(e, "model_classes", t->class, t->classes);
    if (dp_terms_network(t))
        put_network(e);
    if (t->table) {
        put_columns(e);
        put_lines(e, code_of_cells);
        put_lines(e, code_of_numbers);
        if (export_needs(e) & EXPORT_ANY_DATES)
            put_lines(e, code_of_dates);
        if (export_needs(e) & EXPORT_BUCKETS)
            put_lines(e, code_of_hash);
    }
    put_score(&p);
    put_predictions(&p);
    steps_close(&p.steps);
    return DP_OK;
}
