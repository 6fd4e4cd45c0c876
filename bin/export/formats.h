/* Needs of models, and the formats that can fulfil them. dp-export refuses by this table; dp-fit reads it, too, and names the
 * formats before a model is paid for. */
#pragma once

#include "data/row_plan.h"
#include "math/loss.h"

/* Beyond weights of numbers and categories. */
enum export_need {
    EXPORT_NETWORK = 1, /* layers */
    EXPORT_NORM = 2,    /* rows are divided by their norms */
    EXPORT_LIMIT = 4,   /* rows of a norm above 1 have no score */
    EXPORT_CURVES = 8,  /* a basis of a number */
    EXPORT_SYNONYMS = 16,
    EXPORT_PRODUCTS = 32,
    EXPORT_DATES = 64, /* in digits, with four for a year; every text has one reading */
    EXPORT_BUCKETS = 128,
    EXPORT_POWER = 256,       /* e^score */
    EXPORT_SIGMOIDS = 512,    /* of each of several scores */
    EXPORT_CHARACTERS = 1024, /* that XML has no place for */
    EXPORT_ISO_DATES = 2048,  /* of the calendar, as days */
    EXPORT_ODD_DATES = 4096,  /* all others */
    EXPORT_ANY_DATES = EXPORT_DATES | EXPORT_ISO_DATES | EXPORT_ODD_DATES,
    EXPORT_ALL = 8191
};

/* can: the needs that the format has a place for; leaves: those that it leaves to its reader. */
enum { EXPORT_JSON, EXPORT_CSV, EXPORT_SQL, EXPORT_C, EXPORT_LIBLINEAR, EXPORT_ONNX, EXPORT_PMML, EXPORT_FORMATS };
extern const struct export_format {
    const char *name;
    unsigned can, leaves;
} export_formats[EXPORT_FORMATS];

unsigned export_column_needs(const struct dp_column *column);
#define EXPORT_SHAPE 64 /* of a date */

/* plan: of the rows of the model; NULL: it carries no schema. outputs: its scores. */
unsigned export_model_needs(const struct dp_row_plan *plan, enum dp_loss loss, size_t outputs);

/* The formats that can all of the needs, perhaps with their readers: "json, sql and c". */
#define EXPORT_LIST 80
const char *export_list(unsigned needs, bool readers, char text[EXPORT_LIST]);
