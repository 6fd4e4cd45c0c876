#include "formats.h"

#include <stdio.h>
#include <string.h>

enum {
    MAPS = EXPORT_NORM | EXPORT_CURVES | EXPORT_SYNONYMS | EXPORT_PRODUCTS | EXPORT_POWER,
    LINKS = EXPORT_POWER | EXPORT_SIGMOIDS,
    TEXT = EXPORT_CHARACTERS
};

const struct export_format export_formats[] = {
    [EXPORT_JSON] = {"json", EXPORT_ALL & ~EXPORT_NETWORK, 0},
    [EXPORT_CSV] = {"csv", TEXT, EXPORT_LIMIT | LINKS},
    [EXPORT_SQL] = {"sql", MAPS | LINKS | TEXT | EXPORT_LIMIT, 0},
    [EXPORT_C] = {"c", EXPORT_ALL, 0},
    [EXPORT_LIBLINEAR] = {"liblinear", EXPORT_SIGMOIDS, EXPORT_LIMIT},
    [EXPORT_ONNX] = {"onnx", MAPS | LINKS | TEXT | EXPORT_NETWORK, EXPORT_DATES},
    [EXPORT_PMML] = {"pmml", MAPS, 0},
};

unsigned export_column_needs(const struct dp_column *c)
{
    return (dp_basis_count(&c->basis) > 0 ? EXPORT_CURVES : 0) | (c->synonyms.count > 0 ? EXPORT_SYNONYMS : 0) |
           (c->date != NULL ? EXPORT_DATES : 0) | (c->buckets > 0 ? EXPORT_BUCKETS : 0);
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
    return all | of_norm[plan->norm] | (plan->basis == DP_BASIS_PRODUCTS && cosines > 1 ? EXPORT_PRODUCTS : 0);
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
