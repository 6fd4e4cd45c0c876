/* The formats of tables, by the ends of their names. */
#pragma once

#include "data/import.h"

/* A query of a database is read as a CSV table, so dp_import does not know DP_FORMAT_SQLITE. */
enum { DP_FORMAT_SQLITE = DP_IMPORT_NPZ + 1, DP_FORMATS };

/* Their names: "csv" and so on, in the order of enum dp_import_format. */
extern const char *const dp_format_names[DP_FORMATS];

/* The format that the name of a file ends with, perhaps before .gz, .xz or .zst, or DP_FORMATS. A directory has images. */
int dp_format_of(const char *path);

/* Whether the columns of a table have their meaning from a schema. An ARFF table without one describes itself. */
bool dp_format_takes_schema(int format);
