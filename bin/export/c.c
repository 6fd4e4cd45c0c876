/* C: tables, and a few functions that read them. */

#include "export.h"

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

static void put_strings(const struct export *e, const char *type, const char *name, char *const *text, size_t count)
{
    fprintf(e->out, "%s %s[] = {", type, name);
    for (size_t i = 0; i < count; i++) {
        put_string(e, text[i]);
        fputs(", ", e->out);
    }
    fputs("0};\n", e->out);
}

static void put_numbers(const struct export *e, const char *name, const double *value, size_t count)
{
    fprintf(e->out, "static const double %s[] = {", name);
    for (size_t i = 0; i < count; i++) {
        fputs(i % 5 == 0 ? "\n    " : " ", e->out);
        fprintf(e->out, "%.17g,", value[i]);
    }
    fputs("\n};\n", e->out);
}

/* Texts of a column: its categories, pairs of a synonym and its category, and the cells that are missing. */
static void put_texts(const struct export *e, size_t i)
{
    const struct dp_schema *s = &e->terms->plan.schema;
    const struct dp_column *c = &s->column[i];
    char name[40];
    snprintf(name, sizeof name, "categories_%zu", i + 1);
    put_strings(e, "static const char *const", name, c->categories.text, c->categories.count - c->buckets);
    fprintf(e->out, "static const char *const synonyms_%zu[] = {", i + 1);
    for (size_t k = 0; k < c->synonyms.count; k++) {
        put_string(e, c->synonyms.text[k]);
        fputs(", ", e->out);
        put_string(e, c->categories.text[c->meant[k]]);
        fputs(", ", e->out);
    }
    fputs("0};\n", e->out);
    fprintf(e->out, "static const char *const missing_%zu[] = {\"\", ", i + 1);
    for (size_t k = 0; k < s->missing.count + c->missing.count; k++) {
        put_string(e, k < s->missing.count ? s->missing.text[k] : c->missing.text[k - s->missing.count]);
        fputs(", ", e->out);
    }
    fputs("0};\n", e->out);
}

/* The edges of its basis. */
static void put_edges(const struct export *e, size_t i)
{
    const struct dp_basis *basis = &e->terms->plan.schema.column[i].basis;
    char name[40];
    snprintf(name, sizeof name, "edges_%zu", i + 1);
    if (dp_basis_count(basis) > 0)
        put_numbers(e, name, basis->edge, basis->intervals + 1);
}

static void put_limit(const struct export *e, const char *name, double value)
{
    fprintf(e->out, ", .%s = ", name);
    if (isinf(value))
        fputs(value > 0 ? "HUGE_VAL" : "-HUGE_VAL", e->out);
    else
        fprintf(e->out, "%.17g", value);
}

static void put_column(const struct export *e, size_t i)
{
    const struct dp_terms *t = e->terms;
    const struct dp_column *c = &t->plan.schema.column[i];
    bool numeric = c->type == DP_COLUMN_NUMERIC;
    size_t first, end;
    dp_terms_of_column(t, i, &first, &end);
    fprintf(
        e->out,
        "    {.categories = categories_%zu, .synonyms = synonyms_%zu, .missing = missing_%zu, .first = %zu, .features = %zu",
        i + 1, i + 1, i + 1, first, end - first);
    fprintf(e->out, ", .numeric = %d, .indicator = %d, .drop_first = %d, .unknown = %d, .fills = %d", numeric, c->indicator,
            c->drop_first, c->unknown_zero, c->fill == DP_FILL_VALUE || c->unknown_zero);
    if (numeric) {
        put_limit(e, "low", c->bounded ? c->low : -INFINITY);
        put_limit(e, "high", c->bounded ? c->high : INFINITY);
        put_limit(e, "shift", t->term[first].shift);
        put_limit(e, "factor", t->term[first].factor);
    }
    if (numeric && dp_basis_count(&c->basis) > 0)
        fprintf(e->out, ", .basis = %d, .intervals = %zu, .edges = edges_%zu", c->basis.kind, c->basis.intervals, i + 1);
    fprintf(e->out, ", .buckets = %zu", c->buckets);
    put_limit(e, "fill", c->fill == DP_FILL_VALUE ? c->fill_value : -1); /* −1: no category */
    fputs("},\n", e->out);
}

static const char code_of_columns[] =
    "static int is_in(const char *text, const char *const *list)\n"
    "{\n"
    "    for (; *list; list++)\n"
    "        if (strcmp(text, *list) == 0)\n"
    "            return 1;\n"
    "    return 0;\n"
    "}\n"
    "\n"
    "/* Digits with a point and an exponent, in the locale \"C\". */\n"
    "static int read_number(const char *text, double *value)\n"
    "{\n"
    "    char *end;\n"
    "    while (isspace((unsigned char)*text))\n"
    "        text++;\n"
    "    if (strlen(text) > 63)\n"
    "        return 0;\n"
    "    if (!text[strcspn(text, \"0123456789\")] || strspn(text, \"0123456789.+-eE\") < strcspn(text, \" \\t\\r\\n\\v\\f\"))\n"
    "        return 0;\n"
    "    *value = strtod(text, &end);\n"
    "    while (isspace((unsigned char)*end))\n"
    "        end++;\n"
    "    return *end == '\\0' && isfinite(*value);\n"
    "}\n"
    "\n";

static const char code_of_comma[] =
    "/* A decimal comma; points separate groups of three digits. */\n"
    "static int read_comma(const char *text, double *value)\n"
    "{\n"
    "    char plain[64];\n"
    "    size_t used = 0, digits = 0;\n"
    "    int grouped = 0, comma = 0;\n"
    "    for (; *text; text++) {\n"
    "        int point = *text == '.', ends = (grouped || point) && !comma && !isdigit((unsigned char)*text);\n"
    "        if (used + 1 >= sizeof plain || (ends && grouped && digits != 3) || (*text == ',' && comma) ||\n"
    "            (point && (comma || digits == 0 || digits > 3 || (digits == 1 && !grouped && text[-1] == '0'))))\n"
    "            return 0;\n"
    "        digits = isdigit((unsigned char)*text) ? digits + 1 : 0;\n"
    "        grouped |= point;\n"
    "        comma |= *text == ',';\n"
    "        if (!point)\n"
    "            plain[used++] = *text == ',' ? '.' : *text;\n"
    "    }\n"
    "    plain[used] = '\\0';\n"
    "    return !(grouped && !comma && digits != 3) && read_number(plain, value);\n"
    "}\n"
    "\n";

/* As dp_number_written. */
static const char code_of_marks[] =
    "/* A number without its mark ($, \u00a3, \u00a5, \u20ac or %) and the blanks next to it. */\n"
    "static void leave_mark_out(char *text)\n"
    "{\n"
    "    static const char *const marks[] = {\"$\", \"\\302\\243\", \"\\302\\245\", \"\\342\\202\\254\", \"%\", 0};\n"
    "    char *start = text + strspn(text, \" \\t\"), *mark = 0, *after;\n"
    "    int k, first;\n"
    "    for (k = 0; marks[k] && !(mark = strstr(start, marks[k])); k++)\n"
    "        ;\n"
    "    if (!mark)\n"
    "        return;\n"
    "    after = mark + strlen(marks[k]);\n"
    "    after += strspn(after, \" \\t\");\n"
    "    first = mark == start || (mark == start + 1 && *start == '-');\n"
    "    if (!*after)\n"
    "        *mark = 0;\n"
    "    else if (first && *mark != '%' && (isdigit((unsigned char)*after) || *after == '.'))\n"
    "        memmove(mark, after, strlen(after) + 1);\n"
    "}\n"
    "\n"
    "static int read_written(const char *text, double *value)\n"
    "{\n"
    "    char plain[64], *p;\n"
    "    if (READ(text, value))\n"
    "        return 1;\n"
    "    if (strlen(text) >= sizeof plain)\n"
    "        return 0;\n"
    "    leave_mark_out(strcpy(plain, text));\n"
    "    if (READ(plain, value))\n"
    "        return 1;\n"
    "    for (p = plain; !COMMA && *p; p++)\n"
    "        *p = *p == '.' ? ',' : *p == ',' ? '.' : *p;\n"
    "    return read_comma(plain, value);\n"
    "}\n"
    "\n";

static const char code_of_basis[] = "/* Functions of a number: hats (2), bins (3) or cosines (4). */\n"
                                    "static void code_basis(const struct column *c, double value, double *x)\n"
                                    "{\n"
                                    "    int i = 0;\n"
                                    "    while (i + 1 < c->intervals && value >= c->edges[i + 1])\n"
                                    "        i++;\n"
                                    "    double part = (value - c->edges[i]) / (c->edges[i + 1] - c->edges[i]);\n"
                                    "    if (c->basis == 2) {\n"
                                    "        x[i] = 1 - part;\n"
                                    "        x[i + 1] = part;\n"
                                    "    } else if (c->basis == 3) {\n"
                                    "        x[i] = 1;\n"
                                    "    } else {\n"
                                    "        for (int k = 1; k <= COSINES; k++)\n"
                                    "            x[k - 1] = cos(3.14159265358979323846 * k * (i + part) / c->intervals) / k;\n"
                                    "    }\n"
                                    "}\n"
                                    "\n";

/* dp_words_hash: SipHash-2-4 (Aumasson and Bernstein, 2012), with the two halves of its key as numbers. */
static const char code_of_hash[] =
    "#define TURN(x, n) (x << n | x >> (64 - n))\n"
    "static void mix(uint64_t *v, int times)\n"
    "{\n"
    "    for (; times > 0; times--) {\n"
    "        v[0] += v[1], v[1] = TURN(v[1], 13) ^ v[0], v[0] = TURN(v[0], 32);\n"
    "        v[2] += v[3], v[3] = TURN(v[3], 16) ^ v[2];\n"
    "        v[0] += v[3], v[3] = TURN(v[3], 21) ^ v[0];\n"
    "        v[2] += v[1], v[1] = TURN(v[1], 17) ^ v[2], v[2] = TURN(v[2], 32);\n"
    "    }\n"
    "}\n"
    "\n"
    "/* SipHash-2-4, which chooses the bucket of a text. */\n"
    "static uint64_t hash(const char *text)\n"
    "{\n"
    "    const uint64_t key[2] = {0x7720656e696c7064, 0x0031203a7364726f};\n"
    "    uint64_t v[4] = {key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d, key[0] ^ 0x6c7967656e657261,\n"
    "                     key[1] ^ 0x7465646279746573};\n"
    "    unsigned long length = strlen(text), at = 0;\n"
    "    for (int last = 0; !last;) {\n"
    "        uint64_t word = 0;\n"
    "        int i = 0;\n"
    "        for (; i < 8 && at < length; i++)\n"
    "            word |= (uint64_t)(unsigned char)text[at++] << (8 * i);\n"
    "        last = i < 8;\n"
    "        word |= last ? (uint64_t)length << 56 : 0;\n"
    "        v[3] ^= word;\n"
    "        mix(v, 2);\n"
    "        v[0] ^= word;\n"
    "    }\n"
    "    v[2] ^= 0xff;\n"
    "    mix(v, 4);\n"
    "    return v[0] ^ v[1] ^ v[2] ^ v[3];\n"
    "}\n"
    "\n";

static const char code_of_row[] =
    "static int code_cell(const struct column *c, const char *cell, double *x)\n"
    "{\n"
    "    int k = 0, missing = is_in(cell, c->missing);\n"
    "    double value = c->fill;\n"
    "    memset(x, 0, c->features * sizeof *x);\n"
    "    if (missing && !c->fills)\n"
    "        return -1;\n"
    "    if (missing && c->indicator)\n"
    "        x[c->features - 1] = 1;\n"
    "    if (c->numeric) {\n"
    "        if (!missing && !read_written(cell, &value)) {\n"
    "            if (!BAD_MISSING)\n"
    "                return -1;\n"
    "            value = c->fill;\n"
    "            if (c->indicator)\n"
    "                x[c->features - 1] = 1;\n"
    "        }\n"
    "        value = value < c->low ? c->low : value > c->high ? c->high : value;\n"
    "        x[0] = c->factor * (value - c->shift);\n"
    "        if (c->basis)\n"
    "            code_basis(c, value, x + 1);\n"
    "        return 0;\n"
    "    }\n"
    "    for (int j = 0; c->synonyms[j]; j += 2)\n"
    "        cell = strcmp(c->synonyms[j], cell) == 0 ? c->synonyms[j + 1] : cell;\n"
    "    while (c->categories[k] && strcmp(c->categories[k], cell) != 0)\n"
    "        k++;\n"
    "    if (!missing && !c->categories[k] && !c->buckets) {\n"
    "        if (c->unknown || !BAD_MISSING)\n"
    "            return c->unknown ? 0 : -1;\n"
    "        missing = 1;\n"
    "        if (c->indicator)\n"
    "            x[c->features - 1] = 1;\n"
    "    }\n"
    "    if (!missing && !c->categories[k])\n"
    "        k += (int)(hash(cell) % c->buckets);\n"
    "    k = (missing ? (int)c->fill : k) - c->drop_first;\n"
    "    if (k >= 0)\n"
    "        x[k] = 1;\n"
    "    return 0;\n"
    "}\n"
    "\n"
    "/* The scores of a row. cell: MODEL_COLUMNS texts in the order of model_columns, without blanks at their ends. Returns -1,\n"
    " * and no scores, if a cell cannot be read. */\n"
    "int model_score(const char *const *cell, double *score)\n"
    "{\n"
    "    double x[MODEL_FEATURES], norm2 = 0, scale = 1;\n"
    "    for (int i = 0; i < MODEL_COLUMNS; i++)\n"
    "        if (code_cell(&columns[i], cell[i], x + columns[i].first) != 0)\n"
    "            return -1;\n"
    "    for (int j = 0; j < PRODUCTS; j++)\n"
    "        x[products[j].at] = products[j].factor * x[products[j].a] * x[products[j].b];\n"
    "    if (BIAS)\n"
    "        x[MODEL_FEATURES - 1] = 1;\n"
    "    for (int j = 0; j < MODEL_FEATURES; j++)\n"
    "        norm2 += x[j] * x[j];\n";

static const char code_of_sum[] = "    for (int k = 0; k < MODEL_OUTPUTS; k++) {\n"
                                  "        double sum = 0;\n"
                                  "        for (int j = 0; j < MODEL_FEATURES; j++)\n"
                                  "            sum += weights[k * MODEL_FEATURES + j] * x[j];\n"
                                  "        score[k] = constants[k] + scale * sum;\n"
                                  "    }\n"
                                  "    return 0;\n"
                                  "}\n"
                                  "\n";

static const char code_of_classes[] = "/* The class with the largest score, a number of model_classes. */\n"
                                      "int model_class(const double *score)\n"
                                      "{\n"
                                      "    int best = 0;\n"
                                      "    if (MODEL_OUTPUTS == 1)\n"
                                      "        return score[0] > 0;\n"
                                      "    for (int k = 1; k < MODEL_OUTPUTS; k++)\n"
                                      "        if (score[k] > score[best])\n"
                                      "            best = k;\n"
                                      "    return best;\n"
                                      "}\n";

static const char code_of_logistic[] = "\n"
                                       "/* The probability of each class. */\n"
                                       "void model_probability(const double *score, double *p)\n"
                                       "{\n"
                                       "    double sum = 0;\n"
                                       "    if (MODEL_OUTPUTS == 1) {\n"
                                       "        p[0] = 1 / (1 + exp(score[0]));\n"
                                       "        p[1] = 1 / (1 + exp(-score[0]));\n"
                                       "        return;\n"
                                       "    }\n"
                                       "    for (int k = 0; k < MODEL_CLASSES; k++)\n"
                                       "        sum += p[k] = 1 / (1 + exp(-score[k]));\n"
                                       "    for (int k = 0; k < MODEL_CLASSES; k++)\n"
                                       "        p[k] /= sum;\n"
                                       "}\n";

static const char code_of_softmax[] = "\n"
                                      "/* The probability of each class. */\n"
                                      "void model_probability(const double *score, double *p)\n"
                                      "{\n"
                                      "    double sum = 0, largest = score[model_class(score)];\n"
                                      "    for (int k = 0; k < MODEL_CLASSES; k++)\n"
                                      "        sum += p[k] = exp(score[k] - largest);\n"
                                      "    for (int k = 0; k < MODEL_CLASSES; k++)\n"
                                      "        p[k] /= sum;\n"
                                      "}\n";

/* The end of model_score. */
static void put_sum(const struct export *e)
{
    if (dp_terms_network(e->terms))
        export_run(e);
    else
        fputs(code_of_sum, e->out);
}

/* Products of two features, or an entry that is not used. */
static void put_products(const struct export *e)
{
    const struct dp_terms *t = e->terms;
    fprintf(e->out,
            "enum { PRODUCTS = %zu };\nstatic const struct {\n    int at, a, b;\n    double factor;\n} products[] = {\n",
            t->products);
    for (size_t j = 0; j < t->count; j++)
        if (t->term[j].kind == DP_TERM_PRODUCT)
            fprintf(e->out, "    {%zu, %zu, %zu, %.17g},\n", j, t->term[j].of[0], t->term[j].of[1], t->term[j].factor);
    fputs(t->products == 0 ? "    {0, 0, 0, 0},\n};\n\n" : "};\n\n", e->out);
}

static void put_row(const struct export *e)
{
    static const char *const scale[] = {
        [DP_NORM_UNIT] = "    scale = norm2 > 0 ? (1 - 0x1p-22) / sqrt(norm2) : 1;\n",
        [DP_NORM_CAP] = "    scale = sqrt(norm2) > 1 - 0x1p-22 ? (1 - 0x1p-22) / sqrt(norm2) : 1;\n",
        [DP_NORM_NONE] = "    if (norm2 > 1)\n        return -1;\n",
        [DP_NORM_BOUNDS] = "    (void)norm2;\n",
    };
    const struct dp_terms *t = e->terms;
    const struct dp_schema *s = &t->plan.schema;
    for (size_t i = 0; i < s->columns; i++)
        if (dp_terms_reads(t, i))
            put_texts(e, i), put_edges(e, i);
    fputs(
        "static const struct column {\n    const char *const *categories, *const *synonyms, *const *missing;\n    unsigned long first, features, buckets;\n"
        "    int numeric, indicator, drop_first, unknown, fills;\n    double low, high, shift, factor, fill;\n    int basis, "
        "intervals;\n    const double *edges;\n} columns[] = {\n",
        e->out);
    for (size_t i = 0; i < s->columns; i++)
        if (dp_terms_reads(t, i))
            put_column(e, i);
    fputs("};\n\n", e->out);
    fputs(code_of_columns, e->out);
    fputs(code_of_comma, e->out);
    fprintf(e->out, "enum { COMMA = %d, BAD_MISSING = %d };\n#define READ %s\n#define BIAS %d\n", s->comma, t->plan.bad_missing,
            s->comma ? "read_comma" : "read_number", t->plan.bias);
    fputs(code_of_marks, e->out);
    fprintf(e->out, "enum { COSINES = %d };\n\n", DP_BASIS_COSINE_COUNT);
    put_products(e);
    fputs(code_of_basis, e->out);
    fputs(code_of_hash, e->out);
    fputs(code_of_row, e->out);
    fputs(scale[t->norm], e->out);
    if (dp_terms_network(t) && t->norm == DP_NORM_BOUNDS)
        fprintf(e->out, "    scale = %.17g;\n", 1 / t->plan.divisor);
    put_sum(e);
}

/* The names of the columns that are read, and their number. */
static void put_columns(const struct export *e)
{
    const struct dp_terms *t = e->terms;
    size_t count = 0;
    fputs("const char *const model_columns[] = {", e->out);
    for (size_t i = 0; i < t->plan.schema.columns; i++) {
        if (!dp_terms_reads(t, i))
            continue;
        put_string(e, t->plan.schema.column[i].name);
        fputs(", ", e->out);
        count++;
    }
    fprintf(e->out, "0};\nenum { MODEL_COLUMNS = %zu };\n", count);
}

int export_c(const struct export *e, struct dp_err *err)
{
    const struct dp_terms *t = e->terms;
    char privacy[EXPORT_PRIVACY];
    (void)err;
    fprintf(e->out, "/* A %s%s by dpline, %s loss; %s. */\n", dp_terms_network(t) ? "network, " : "linear model",
            dp_terms_network(t) ? dp_frame_text(e->frame, DP_F_NETWORK, "") : "", dp_loss_names[t->predictor.loss],
            export_privacy(e, privacy));
    fputs("#include <ctype.h>\n#include <math.h>\n#include <stdint.h>\n#include <stdlib.h>\n#include <string.h>\n\n", e->out);
    fprintf(e->out, "enum { MODEL_FEATURES = %zu, MODEL_OUTPUTS = %zu, MODEL_CLASSES = %zu };\n", t->count, t->outputs,
            t->classes);
    put_strings(e, "const char *const", "model_classes", t->class, t->classes);
    if (t->table)
        put_columns(e);
    if (dp_terms_network(t)) {
        export_layers(e);
    } else {
        put_numbers(e, "weights", t->weight, t->outputs * t->count);
        put_numbers(e, "constants", t->constant, t->outputs);
    }
    if (t->table) {
        put_row(e);
    } else {
        fputs("\n/* The scores of a row of a data set: MODEL_FEATURES numbers, scaled as the rows of the training set. */\n"
              "int model_score(const double *x, double *score)\n{\n    const double scale = 1;\n",
              e->out);
        put_sum(e);
    }
    if (t->classes > 0)
        fputs(code_of_classes, e->out);
    else
        fprintf(e->out,
                "/* The prediction. */\ndouble model_value(const double *score)\n{\n    double value = %.17g * %s + (%.17g);\n",
                t->predictor.label.scale, t->predictor.loss == DP_LOSS_POISSON ? "exp(score[0])" : "score[0]",
                t->predictor.label.offset);
    if (t->classes == 0 && t->predictor.label.low < t->predictor.label.high)
        fprintf(e->out, "    if (value < %.17g)\n        return %.17g;\n    if (value > %.17g)\n        return %.17g;\n",
                t->predictor.label.low, t->predictor.label.low, t->predictor.label.high, t->predictor.label.high);
    if (t->classes == 0)
        fputs("    return value;\n}\n", e->out);
    if (t->classes > 0 && dp_metric_has_probability(t->predictor.loss))
        fputs(t->predictor.loss == DP_LOSS_SOFTMAX ? code_of_softmax : code_of_logistic, e->out);
    return DP_OK;
}
