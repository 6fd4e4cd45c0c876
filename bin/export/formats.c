#include "formats.h"

#include <ctype.h>

enum {
    MAPS = EXPORT_NORM | EXPORT_CURVES | EXPORT_SYNONYMS | EXPORT_PRODUCTS | EXPORT_POWER,
    LINKS = EXPORT_POWER | EXPORT_SIGMOIDS,
    TEXT = EXPORT_CHARACTERS
};

const struct export_format export_formats[] = {
    [EXPORT_JSON] = {"json", EXPORT_ALL & ~EXPORT_NETWORK, 0},
    [EXPORT_CSV] = {"csv", TEXT, EXPORT_LIMIT | LINKS},
    [EXPORT_SQL] = {"sql", MAPS | LINKS | TEXT | EXPORT_LIMIT | EXPORT_DATES | EXPORT_ISO_DATES, 0},
    [EXPORT_C] = {"c", EXPORT_ALL, 0},
    [EXPORT_LIBLINEAR] = {"liblinear", EXPORT_SIGMOIDS, EXPORT_LIMIT},
    [EXPORT_ONNX] = {"onnx", MAPS | LINKS | TEXT | EXPORT_NETWORK, EXPORT_ANY_DATES},
    [EXPORT_PMML] = {"pmml", MAPS | EXPORT_ISO_DATES, 0},
};

/* Writes the shape of a format with a 9 for each digit: 99.99.9999. False: it has other parts than digits. */
static bool shape_of(const char *format, size_t length, char shape[EXPORT_SHAPE])
{
    size_t n = 0;
    for (size_t i = 0; i < length; i++) {
        const bool part = format[i] == '%';
        i += part;
        const bool good = part ? strchr("dmYHM", format[i]) != NULL || (format[i] == 'S' && i + 1 == length)
                               : !isdigit((unsigned char)format[i]) && format[i] != '\'';
        if (n + 4 >= EXPORT_SHAPE || !good)
            return false;
        n += (size_t)sprintf(shape + n, part ? format[i] == 'Y' ? "9999" : "99" : "%c", format[i]);
    }
    return true;
}

/* Which kind of dates a column has. */
static unsigned dates_of(const struct dp_column *c)
{
    char shape[DP_DATE_FORMATS + 1][EXPORT_SHAPE];
    size_t count = 0, length;
    if (strcmp(c->date, "%Y-%m-%d") == 0 && c->part == DP_DATE_DAYS)
        return EXPORT_ISO_DATES;
    for (const char *format = c->date; *format != '\0'; format += length + (format[length] == '|'), count++) {
        length = strcspn(format, "|");
        bool good =
            count < DP_DATE_FORMATS && shape_of(format, length, shape[count]) && memmem(format, length, "%Y", 2) != NULL;
        for (size_t k = 0; good && k < count; k++)
            good = strcmp(shape[k], shape[count]) != 0;
        if (!good)
            return EXPORT_ODD_DATES;
    }
    return EXPORT_DATES;
}

unsigned export_column_needs(const struct dp_column *c)
{
    return (dp_basis_count(&c->basis) > 0 ? EXPORT_CURVES : 0) | (c->synonyms.count > 0 ? EXPORT_SYNONYMS : 0) |
           (c->date != NULL ? dates_of(c) : 0) | (c->buckets > 0 ? EXPORT_BUCKETS : 0);
}

unsigned export_model_needs(const struct dp_row_plan *plan, enum dp_loss loss, size_t outputs)
{
    static const unsigned of_norm[] = {
        [DP_NORM_UNIT] = EXPORT_NORM, [DP_NORM_CAP] = EXPORT_NORM, [DP_NORM_NONE] = EXPORT_LIMIT, [DP_NORM_BOUNDS] = 0};
    unsigned all =
        (loss == DP_LOSS_POISSON ? EXPORT_POWER : 0) | (outputs > 1 && loss == DP_LOSS_LOGISTIC ? EXPORT_SIGMOIDS : 0);
    size_t cosines = 0;
    if (plan == NULL)
        return all;
    for (size_t i = 0; i < plan->schema.columns; i++) {
        all |= export_column_needs(&plan->schema.column[i]);
        cosines += plan->schema.column[i].basis.kind == DP_BASIS_COSINES;
    }
    return all | of_norm[plan->norm] |
           (plan->basis == DP_BASIS_PRODUCTS && (plan->products > 0 || cosines > 1) ? EXPORT_PRODUCTS : 0);
}

const char *export_list(unsigned needs, bool readers, char text[EXPORT_LIST])
{
    const char *last = NULL;
    text[0] = '\0';
    for (int k = 0; k < EXPORT_FORMATS; k++) {
        if (needs & ~(export_formats[k].can | (readers ? export_formats[k].leaves : 0)))
            continue;
        if (last != NULL)
            sprintf(text + strlen(text), "%s%s", text[0] != '\0' ? ", " : "", last);
        last = export_formats[k].name;
    }
    if (last != NULL)
        sprintf(text + strlen(text), "%s%s", text[0] != '\0' ? " and " : "", last);
    return text;
}
