#include <ctype.h>
#include <fcntl.h>
#include <omp.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arrivals/row_writer.h"
#include "base/cli.h"
#include "base/json.h"
#include "base/number.h"
#include "base/text.h"
#include "data/format.h"
#include "data/import.h"
#include "data/input.h"
#include "data/join.h"
#include "data/products.h"
#include "data/propose.h"
#include "base/interrupt.h"
#include "base/mem.h"
#include "base/progress.h"
#include "import/identity.h"
#include "import/paid.h"
#include "info/dataset.h"
#include "port/port.h"

/* The table and the schema that is given with it */
struct table_options {
    const char *schema, *label, *classes, *delimiter, *comment, *sql;
    int64_t cols, skip_bad, skip_lines;
    int bad_cells;
    bool number, count;
};

struct propose_options {
    const char *infer, *columns, *without;
    bool header, no_header;
};

struct people_options {
    const char *population, *person;
    int64_t rows_per_person;
    bool row_is_person;
    struct dp_registry_choice registry;
};

struct pay_options {
    double private_schema, of, at_most, private_knots, delta;
    const char *ledger;
    int64_t noise_seed;
    bool no_ledger, allow_weak, else_unpaid;
};

/* How a row is made of its cells */
struct row_options {
    int norm, scale, features, basis;
    int64_t products;
    bool bias, no_bias, quantise;
};

struct to_options {
    const char *output, *out, *test, *part;
    double split, patience;
    int64_t seed, join;
    int storage;
    bool allow_private_output;
    struct dp_security security;
};

struct options {
    struct table_options table;
    struct propose_options propose;
    struct people_options people;
    struct pay_options pay;
    struct row_options rows;
    struct to_options to;
    bool force, private_counts, quiet, json;
};

#define DP_OPTIONS struct options

/* The format: the first operand, or the end of a file's name. */
#define TEXTS "csv|tsv"
#define TABLES TEXTS "|sqlite"
#define SCHEMED TABLES "|arff"
#define PARTS 10000
#define MOST_TOLD 40 /* columns of a proposed schema */
#define PAYMENTS "private-schema, private-knots"

static const struct dp_option options[] = {
    DP_OPTION_TEXT('o', to.output, "DIR", "data set to write", .needed_by = "=" TABLES "|libsvm|arff|idx|images|npy|npz",
                   .unless = "out, infer-schema"),
    DP_OPTION_TEXT(0, to.out, "PORT", "send the rows there as they come, instead of writing a data set",
                   .only = TABLES ": other formats are read completely before rows are known",
                   .excludes =
                       "infer-schema, output, test, storage=csr, storage=cells, force: it sends rows, and writes no data set"),
    DP_OPTION_TEXT(0, people.population, "NAME", "the people of these rows (by the registry, else the name of the file)"),
    DP_REGISTRY_OPTIONS(people.registry),
    DP_OPTION_TEXT('s', table.schema, "FILE", "meaning of the columns (JSON)", .only = SCHEMED, .unless = "infer-schema",
                   .needed_by = "=" TABLES ": --infer-schema SCHEMA.json writes a first one, and "
                                "dpline fit TABLE --label NAME does all that it takes"),
    DP_OPTION_TEXT(0, propose.infer, "FILE", "infer a schema from the data and write it, for you to edit",
                   .name = "infer-schema", .only = SCHEMED),
    DP_OPTION_TEXT(0, table.sql, "QUERY", "the SELECT statement whose rows are the table", .only = "sqlite",
                   .needed_by = "=sqlite: which rows of the database"),
    DP_OPTION_REAL(0, pay.private_schema, "E", DP_ABOVE(0), "pay epsilon E for the bounds and categories, by counts with noise",
                   .needs = "infer-schema"),
    DP_OPTION_REAL(0, pay.of, "E", DP_ABOVE(0), "as a part of a budget of E and ten times --delta, which a run has the rest of",
                   .needs = PAYMENTS),
    DP_OPTION_REAL(0, pay.at_most, "E", DP_ABOVE(0), "pay up to E if the table is too small for less",
                   .needs = "private-schema", .at_least = "private-schema"),
    DP_OPTION_REAL(0, pay.private_knots, "E", DP_ABOVE(0),
                   "pay epsilon E for knots at quantiles, by counts with noise, instead of even ones",
                   .needs = "output; basis=hats|bins|cosines|products"),
    DP_OPTION_REAL(0, pay.delta, "D", DP_ABOVE_BELOW(0, 1),
                   "its delta (a tenth of the largest power of ten below 1 / rows^1.1)", .needs = PAYMENTS),
    DP_OPTION_TEXT(0, pay.ledger, "FILE", "where it is charged (the population's, else next to what is written)",
                   .needs = PAYMENTS),
    DP_OPTION_FLAG(0, pay.no_ledger, "in no ledger", .needs = PAYMENTS, .excludes = "ledger"),
    DP_OPTION_FLAG(0, pay.allow_weak, "also with E above 10 or D not below 1 / rows", .needs = PAYMENTS),
    DP_OPTION_FLAG(0, pay.else_unpaid, "even knots if the table is too small to pay for others", .needs = "private-knots"),
    DP_OPTION_INT(0, pay.noise_seed, "S", DP_FROM_TO(0, 9007199254740992), "reproducible, not private",
                  .needs = "private-schema"),
    DP_OPTION_TEXT(0, people.person, "NAME", "the column that says whose row it is, if a person may have several rows",
                   .needs = "infer-schema, schema"),
    DP_OPTION_FLAG(0, people.row_is_person, "each row is another person, although a column looks like an identifier",
                   .needs = "infer-schema, schema", .excludes = "person"),
    DP_OPTION_INT(0, people.rows_per_person, "K", DP_FROM_TO(1, DP_UNIT_MOST),
                  "keep at most K rows of one person (--person: 8; else as the schema says)", .only = SCHEMED,
                  .excludes = "out: the rows of a person are kept in a data set"),
    DP_OPTION_REAL(0, to.split, "PART", DP_ABOVE_BELOW(0, 1),
                   "part of the rows or persons, at random, for --output; the rest goes to --test", .needs = "test"),
    DP_OPTION_TEXT('t', to.test, "DIR", "data set for the held-out rows, or for the rows of a second table"),
    DP_OPTION_TEXT(0, to.part, "K/N", "make DIR.part-K of the Kth of N parts of the table, to be joined", .only = TEXTS,
                   .needs = "output", .excludes = "join, test, storage=cells, private-knots: it needs all rows"),
    DP_OPTION_INT(0, to.join, "N", DP_FROM_TO(1, PARTS), "make the data set of its N parts, instead of reading the rows",
                  .only = TEXTS, .needs = "output",
                  .excludes = "storage=cells, private-knots, private-counts: parts have their rows"),
    DP_OPTION_INT(0, to.seed, "SEED", DP_FROM_TO(0, 9007199254740992), "of the split", .fallback = "1"),
    DP_OPTION_TEXT(0, table.label, "NAME", "which column is the label (the last); COLUMN=CLASS: that class against all others",
                   .only = SCHEMED),
    DP_OPTION_FLAG(0, table.number, "labels are numbers to predict, not classes", .only = SCHEMED "|libsvm|npy|npz",
                   .excludes = "classes"),
    DP_OPTION_FLAG(0, table.count, "labels are counts: numbers from 0 on, for --loss poisson", .only = SCHEMED,
                   .excludes = "classes"),
    DP_OPTION_TEXT('k', table.classes, "K",
                   "how many, or their names, as -1,1 (idx: 10; images: the folders; libsvm: measured on the data)",
                   .only = SCHEMED "|libsvm|idx|images|npy|npz", .needed_by = "=npy|npz: how many, or which numbers",
                   .unless = "number"),
    DP_OPTION_INT('d', table.cols, "D", DP_FROM_TO(1, 1e7), "how many columns (measured on the data)", .only = "libsvm"),
    DP_OPTION_CHOICE(0, rows.scale, "HOW", "none|max-abs", "max-abs divides by the largest magnitude, measured on the data",
                     .only = "libsvm|arff|npy|npz", .fallback = "none"),
    DP_OPTION_CHOICE(0, rows.norm, "HOW", DP_NORM_CHOICES,
                     "of the rows: all divided by the largest norm that the bounds permit (where there "
                     "are bounds), all made 1 (elsewhere), at most 1, or refused above 1",
                     .name = "row-norm"),
    DP_OPTION_FLAG(0, rows.bias, "add a column of ones (this is the default)"),
    DP_OPTION_FLAG(0, rows.no_bias, "add no column of ones", .excludes = "bias"),
    DP_OPTION_CHOICE(
        0, to.storage, "HOW", "dense|csr|cells",
        "of the rows (dense; csr with words of texts; 16 bits with --quantise; cells for more than 256 MB of rows)"),
    DP_OPTION_FLAG(0, rows.quantise, "round values toward zero to 16 bits, in steps from the bounds of the columns"),
    DP_OPTION_CHOICE(
        0, rows.features, "WHICH", DP_MAP_CHOICES,
        "rows are public features of the images (histograms of gradients or scattering, whitened) instead of pixels",
        .only = "idx|images|npy|npz",
        .excludes = "row-norm, no-bias, storage=csr, storage=cells: its rows are dense, of norm 1, with a constant"),
    DP_OPTION_CHOICE(0, rows.basis, "HOW", DP_BASIS_CHOICES,
                     "numbers with bounds become curves, where the schema does not say a basis", .only = SCHEMED,
                     .excludes = "infer-schema"),
    DP_OPTION_INT(0, rows.products, "N", DP_FROM_TO(1, DP_PRODUCTS_COLUMNS),
                  "at most N products, of small pairs of columns first", .needs = "basis=products"),
    DP_OPTION_FLAG(0, propose.header, "the first line names the columns", .needs = "infer-schema"),
    DP_OPTION_FLAG(0, propose.no_header, "the first line is a row", .needs = "infer-schema", .excludes = "header, sql"),
    DP_OPTION_TEXT(0, propose.columns, "NAMES", "only these columns, separated by commas, are features",
                   .needs = "infer-schema"),
    DP_OPTION_TEXT(0, propose.without, "NAMES", "these columns are not features", .needs = "infer-schema",
                   .excludes = "columns"),
    DP_OPTION_TEXT(0, table.delimiter, "C", "between fields, instead of the schema's or a comma", .only = TEXTS),
    DP_OPTION_INT(0, table.skip_lines, "N", DP_FROM_TO(0, 1e9), "skip the first N lines", .fallback = "0", .only = TEXTS),
    DP_OPTION_TEXT(0, table.comment, "C", "skip lines that begin with C", .only = TEXTS),
    DP_OPTION_INT(0, table.skip_bad, "N", DP_FROM_TO(0, 1e15), "up to N malformed lines become rows of zeros", .fallback = "0"),
    DP_OPTION_CHOICE(0, table.bad_cells, "HOW", "refuse|missing",
                     "a cell of a feature that cannot be read is an error, or a missing value", .fallback = "refuse",
                     .only = SCHEMED, .excludes = "infer-schema, out"),
    DP_OPTION_FLAG(0, private_counts, "print the numbers of clamped values and malformed lines, which are private"),
    DP_OPTION_FLAG('f', force, "replace a data set, or the schema that --infer-schema names"),
    DP_OPTION_FLAG('j', json, "print what the data set is, as dp-info --json does; --infer-schema: the number of rows",
                   .needs = "output, infer-schema"),
    DP_OPTION_FLAG('q', quiet, "no summary"),
    DP_OPTION_FLAG(0, to.allow_private_output, "also to a terminal", .needs = "out"),
    DP_SECURITY_OPTIONS(to.security),
    DP_PATIENCE_OPTION(to.patience),
    {.name = NULL},
};

#define ROWS_OF_A_PERSON 8 /* that a proposed schema keeps at most */

static const struct dp_command command = {"dp-import", "[csv|tsv|libsvm|arff|idx|images|npy|npz|sqlite] FILE …",
                                          "Make a data set from a table, in a file or from a pipe (-), or from images", options,
                                          NULL};

/* Holds NAME.lock while a schema is made, so that nobody else pays for the same one. *lock: its descriptor, or -1. A schema gets
 * its name when it is complete, and replaces an empty file of that name. */
static int lock_schema(const char *path, bool force, int *lock, char **name, struct dp_err *err)
{
    struct stat st;
    bool there = stat(path, &st) == 0;
    *lock = -1;
    if (there && force && S_ISDIR(st.st_mode))
        return dp_fail_errno(err, EISDIR, "cannot create %s", path);
    if (strcmp(path, "-") == 0 || (there && force && !S_ISREG(st.st_mode)))
        return DP_OK;
    *name = dp_format("%s.lock", path);
    *lock = open(*name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (*lock < 0)
        return dp_fail_errno(err, errno, "cannot create %s", path);
    if (flock(*lock, LOCK_EX | LOCK_NB) != 0 || fstat(*lock, &st) != 0 || st.st_nlink == 0) {
        close(*lock);
        *lock = -1;
        return dp_fail(err, DP_E_RUN, "another import is writing %s", path);
    }
    there = stat(path, &st) == 0 && (!S_ISREG(st.st_mode) || st.st_size > 0);
    return there && !force ? dp_fail(err, DP_E_RUN, "%s exists (--force replaces it)", path) : DP_OK;
}

static void unlock_schema(int lock, char *name)
{
    if (lock >= 0) {
        unlink(name);
        close(lock);
    }
    free(name);
}

static int write_schema(const json_t *schema, const char *path, struct dp_err *err)
{
    if (strcmp(path, "-") == 0) {
        dp_json_print(schema, 1, stdout);
        return DP_OK;
    }
    struct dp_output output;
    int rc = dp_output_open(&output, path, true, err);
    if (rc != DP_OK)
        return rc;
    dp_json_print(schema, 1, output.stream);
    return dp_output_close(&output, DP_OK, err);
}

/* The words for missing cells that only this column has, and a number that is spelled in several ways once; or NULL instead of
 * an empty list. paid: all columns of numbers have the words of a public list. The caller frees them. */
static json_t *own_words(const json_t *words, bool paid)
{
    json_t *own = json_array(), *word;
    size_t i;
    double number, before = NAN;
    json_array_foreach (words, i, word) {
        const char *text = json_string_value(word);
        if (dp_number_real(text, &number) ? number == before : paid && dp_census_is_doubtful(text, strlen(text)))
            continue;
        before = dp_number_real(text, &number) ? number : before;
        json_array_append(own, word);
    }
    if (json_array_size(own) == 0) {
        json_decref(own);
        own = NULL;
    }
    return own;
}

/* Says what a column is taken for. */
static void tell_column(const json_t *column, bool paid, bool quiet)
{
    static const char *const told[] = {"date",    "unit",    "decimal", "bounds",    "scale",          "categories",
                                       "buckets", "classes", "missing", "indicator", "rows_per_person"};
    const char *name = json_string_value(json_object_get(column, "name")),
               *type = json_string_value(json_object_get(column, "type"));
    const char *note = json_string_value(json_object_get(column, "note"));
    const char *shown = DP_SHOWN(name);
    const bool ignored = strcmp(type, "ignore") == 0;
    if (note != NULL)
        fprintf(stderr, "dp-import: column '%s'%s: %s\n", shown, ignored ? " is left out" : "", note);
    if (ignored || quiet)
        return;
    fprintf(stderr, "dp-import: column '%s' is %s", shown, type);
    for (size_t k = 0; k < sizeof told / sizeof *told; k++) {
        json_t *value = json_object_get(column, told[k]);
        value = strcmp(told[k], "missing") == 0 ? own_words(value, paid) : json_incref(value);
        char *text = value != NULL ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(6)) : NULL;
        if (text != NULL)
            fprintf(stderr, ", %s %.*s%s", told[k], (int)dp_text_cut(text, strlen(text), 70), text,
                    strlen(text) > 70 ? "…" : "");
        free(text);
        json_decref(value);
    }
    fputc('\n', stderr);
}

/* *ledger_of: the name that .ledger is appended to, such as "people.json"; the caller frees it. */
static void payment_of(const struct options *o, bool knots, char **ledger_of, struct payment_options *pay)
{
    const char *file = knots ? o->to.output : o->propose.infer;
    *pay = (struct payment_options){.option = knots ? "private-knots" : "private-schema",
                                    .epsilon = knots ? o->pay.private_knots : o->pay.private_schema,
                                    .delta = o->pay.delta,
                                    .of = o->pay.of,
                                    .most = isnan(o->pay.at_most) ? o->pay.private_schema : o->pay.at_most,
                                    .ledger = o->pay.ledger,
                                    .no_ledger = o->pay.no_ledger,
                                    .allow_weak = o->pay.allow_weak,
                                    .quiet = o->quiet,
                                    .seed = o->pay.noise_seed};
    *ledger_of = dp_format("%s.ledger", strcmp(file, "-") == 0 ? "schema" : file);
    pay->new_ledger = *ledger_of;
}

static int pay_for_schema(const struct dp_census *census, struct dp_import *import, struct identity *identity,
                          const struct options *o, json_t **schema, struct dp_err *err)
{
    struct payment_options pay;
    char *ledger_of = NULL;
    payment_of(o, false, &ledger_of, &pay);
    int rc = dp_propose_ask(census, import, false, err);
    rc = rc ?: paid_schema(census, import, identity, &pay, schema, err);
    free(ledger_of);
    return rc;
}

static void tell_encoding(const struct dp_import *import)
{
    if (import->result.encoding != NULL)
        fprintf(stderr, "dp-import: the text is not UTF-8: it is read as %s\n", import->result.encoding);
}

static const char *class_of(const json_t *classes, size_t k)
{
    const json_t *class = json_array_get(classes, k);
    return json_string_value(json_is_array(class) ? json_array_get(class, 0) : class);
}

/* Whether one text may stand for the other, as Y for Yes. */
static bool stands_for(const char *a, const char *b)
{
    return strlen(a) == 1 && strlen(b) > 1 && strncasecmp(a, b, 1) == 0 && isalpha((unsigned char)*a);
}

/* Says which texts may be two spellings of one class or category, and which ones are taken for one. */
static void tell_twins(const json_t *column, const char *what)
{
    const json_t *list = json_object_get(column, what);
    const char *name = json_string_value(json_object_get(column, "name"));
    const char *shown = DP_SHOWN(name);
    for (size_t k = 0; k < json_array_size(list); k++) {
        const json_t *same = json_array_get(list, k);
        const char *a = class_of(list, k), *last = json_string_value(json_array_get(same, json_array_size(same) - 1));
        if (last != NULL && stands_for(a, last))
            fprintf(stderr,
                    "dp-import: column '%s': '%s' and '%s' are taken for one of its %s, a guess, which the schema decides\n",
                    shown, DP_SHOWN(a), DP_SHOWN(last), what);
        for (size_t i = 0; i < json_array_size(list); i++) {
            const char *b = class_of(list, i);
            if (stands_for(a, b))
                fprintf(stderr,
                        "dp-import: column '%s': '%s' and '%s' are taken for two %s, a guess: [\"%s\", \"%s\"] in the "
                        "schema's \"%s\" makes them one\n",
                        shown, DP_SHOWN(a), DP_SHOWN(b), what, DP_SHOWN(a), DP_SHOWN(b), what);
        }
    }
}

/* Says what is guessed of the label, and which option decides it. */
static void tell_guess(const json_t *label)
{
    const json_t *classes = json_object_get(label, "classes");
    const char *name = json_string_value(json_object_get(label, "name"));
    double value;
    size_t numbers = 0;
    const char *shown = DP_SHOWN(name);
    for (size_t k = 0; k < json_array_size(classes); k++)
        numbers += dp_number_real(class_of(classes, k), &value);
    if (classes == NULL)
        fprintf(stderr, "dp-import: column '%s' is taken for a number, a guess: --classes A,B,... takes it for classes\n",
                shown);
    else if (numbers > 0)
        fprintf(stderr, "dp-import: column '%s' is taken for classes, a guess: --number takes it for a number\n", shown);
}

/* Says what the schema takes the first MOST_TOLD columns and the label for. looked: an exact look at the rows made it. */
static void tell_schema(const struct dp_import *import, const json_t *schema, bool looked, bool guessed,
                        const struct options *o)
{
    const char *file = strcmp(o->propose.infer, "-") == 0 ? "the schema" : o->propose.infer;
    json_t *column;
    size_t i, more = 0, ignored = 0, notes = 0;
    if (!o->quiet)
        tell_encoding(import);
    json_array_foreach (json_object_get(schema, "columns"), i, column) {
        const char *type = json_string_value(json_object_get(column, "type"));
        if (i >= MOST_TOLD && strcmp(type, "label") != 0) {
            more++;
            ignored += strcmp(type, "ignore") == 0;
            notes += strcmp(type, "ignore") != 0 && json_object_get(column, "note") != NULL;
            continue;
        }
        tell_column(column, !looked, o->quiet);
        if (guessed && !o->quiet && strcmp(type, "label") == 0)
            tell_guess(column);
        if (!o->quiet)
            tell_twins(column, json_object_get(column, "classes") != NULL ? "classes" : "categories");
    }
    if (more > 0 && (!o->quiet || ignored + notes > 0))
        fprintf(stderr, "dp-import: columns behind the first %d: %zu, of which %zu are left out and %zu have a note in %s\n",
                MOST_TOLD, more, ignored, notes, file);
    if (!o->quiet && looked)
        fprintf(stderr,
                "dp-import: looked at the data to write %s: its bounds and categories are private until you "
                "replace them\n",
                strcmp(o->propose.infer, "-") == 0 ? "a schema" : o->propose.infer);
}

/* Takes the class that perhaps no row has out of the schema; the caller frees it. */
static char *take_doubtful(json_t *schema)
{
    json_t *column;
    size_t i;
    char *name = NULL;
    json_array_foreach (json_object_get(schema, "columns"), i, column) {
        const char *doubtful = json_string_value(json_object_get(column, DP_PROPOSE_DOUBTFUL));
        name = doubtful != NULL ? dp_got(strdup(doubtful)) : name;
        json_object_del(column, DP_PROPOSE_DOUBTFUL);
    }
    return name;
}

static int infer_locked(struct dp_import *import, struct identity *identity, const struct options *o, struct dp_err *err)
{
    json_t *schema = NULL;
    struct dp_census census = {0};
    const bool pays = !isnan(o->pay.private_schema);
    int rc = dp_census_read(&census, import, pays ? DP_CENSUS_PAID : DP_CENSUS_UNPAID, err);
    char quoted[DP_LINES_SENTENCE];
    dp_lines_sentence(&import->result.notes, DP_LINES_QUOTED, quoted);
    if (rc == DP_OK && pays && import->result.notes.count[DP_LINES_QUOTED] > 0) /* one row would take others away */
        rc = dp_fail(err, DP_E_RUN, "%s: %s nothing was charged", import->source.input, quoted);
    if (rc == DP_OK && pays)
        rc = pay_for_schema(&census, import, identity, o, &schema, err);
    else
        rc = rc ?: dp_propose_exact(&census, import, &schema, err);
    const bool looked = json_object_get(schema, "paid") == NULL;
    const bool guessed = census.said == DP_CENSUS_GUESS;
    const size_t rows = census.rows + (census.header == 0 && !json_is_true(json_object_get(schema, "header")));
    dp_census_free(&census);
    char *doubtful = take_doubtful(schema);
    rc = rc ?: write_schema(schema, o->propose.infer, err);
    if (rc == DP_OK)
        tell_schema(import, schema, looked, guessed, o);
    if (rc == DP_OK && doubtful != NULL)
        rc = dp_fail(
            err, DP_E_UNSAFE,
            "perhaps no row has the class '%.80s'. If it is only rare, fit again: %s is paid for, and is used; if the name is wrong, "
            "remove that file",
            doubtful, o->propose.infer);
    free(doubtful);
    if (rc == DP_OK && o->json)
        printf("{\"rows\": %zu}\n", rows);
    json_decref(schema);
    return rc;
}

static int infer(struct dp_import *import, struct identity *identity, const struct options *o, struct dp_err *err)
{
    int lock;
    char *name = NULL;
    if (o->json && strcmp(o->propose.infer, "-") == 0)
        return dp_fail(err, DP_E_USAGE, "--json: standard output has the schema");
    int rc = lock_schema(o->propose.infer, o->force, &lock, &name, err);
    rc = rc ?: infer_locked(import, identity, o, err);
    unlock_schema(lock, name);
    return rc;
}

#define FORMATS "csv, tsv, libsvm, arff, idx, images, npy, npz or sqlite"

/* *named: the first operand is a format. Else it is a file, and its name says the format. */
static int find_format(const char *operand, int *format, bool *named, struct dp_err *err)
{
    struct dp_input *in = NULL;
    for (*format = 0; *format < DP_FORMATS && strcmp(operand, dp_format_names[*format]) != 0;)
        ++*format;
    *named = *format < DP_FORMATS;
    if (*named || (*format = dp_format_of(operand)) != DP_FORMATS)
        return DP_OK;
    if (access(operand, F_OK) != 0)
        return dp_fail(err, DP_E_USAGE, "'%.60s' is not a format (" FORMATS "), and not a name that ends with one", operand);
    if (dp_input_open(&in, operand, err) != DP_OK) /* such as a workbook */
        return DP_E_RUN;
    dp_input_close(in);
    return dp_fail(err, DP_E_USAGE, "the name of '%.60s' does not say its format: " FORMATS " comes first", operand);
}

static const char *expected(int format, int count, bool infer)
{
    if (format == DP_IMPORT_IDX)
        return "idx takes two files: images and labels";
    if (format == DP_IMPORT_NPY)
        return "npy takes two files: rows and labels";
    if (format == DP_IMPORT_NPZ)
        return "npz takes a file, and perhaps the names of two arrays in it (X y)";
    return count == 0 && infer ? "expected a table, or - for standard input: the name after --infer-schema is the schema's"
                               : "expected one file, or - for standard input";
}

static int check_character(const char *option, const char *text, struct dp_err *err)
{
    return text == NULL || strlen(text) == 1
               ? DP_OK
               : dp_fail(err, DP_E_USAGE, "--%s: must be one character, got '%.20s'", option, text);
}

static int operands(struct dp_import *import, struct options *o, int count, char **operand, struct dp_err *err)
{
    int format;
    bool named;
    if (count < 1)
        return dp_fail(err, DP_E_USAGE, "expected a file, or a format (" FORMATS ") and a file");
    int rc = find_format(operand[0], &format, &named, err);
    if (rc != DP_OK)
        return rc;
    operand += named;
    count -= named;
    const bool two = format == DP_IMPORT_IDX || format == DP_IMPORT_NPY, arrays = format == DP_IMPORT_NPZ && count == 3;
    const bool tests = count == 2 && o->to.test != NULL && isnan(o->to.split) && dp_format_takes_schema(format);
    if (count != (two ? 2 : 1) && !arrays && !tests)
        return dp_fail(err, DP_E_USAGE, "%s", expected(format, count, o->propose.infer != NULL));
    if (o->to.test != NULL && isnan(o->to.split) && !tests)
        return dp_fail(err, DP_E_USAGE, "--test: --split, or a second table, says which rows go there");
    import->source.tests = tests ? operand[1] : NULL;
    import->source.sql = o->table.sql;
    import->source.arff = format == DP_IMPORT_ARFF && (o->table.schema != NULL || o->propose.infer != NULL);
    import->source.format = format == DP_FORMAT_SQLITE || import->source.arff ? DP_IMPORT_CSV : (enum dp_import_format)format;
    import->source.input = operand[0];
    import->source.labels = two ? operand[1] : NULL;
    import->source.member[0] = arrays ? operand[1] : "X";
    import->source.member[1] = arrays ? operand[2] : "y";
    rc = check_character("delimiter", o->table.delimiter, err);
    rc = rc ?: check_character("comment", o->table.comment, err);
    return rc ?: dp_option_operand(&command, o, NULL, dp_format_names[format], err);
}

/* Words are sparse. */
static bool has_text(const struct dp_schema *s)
{
    bool has = false;
    for (size_t i = 0; i < s->columns; i++)
        has |= s->column[i].type == DP_COLUMN_TEXT;
    return has;
}

/* Before the table is read. */
static int check_population(const char *name, struct dp_err *err)
{
    if (!dp_registry_concerns(name, NULL) && name[0] != '\0')
        return dp_fail(err, DP_E_USAGE,
                       "--population: a name that begins with dp-synth: is reserved for rows that belong to nobody");
    return dp_writer_check_population(name, err);
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

/* Prints how rows were scaled: the meaning of a model's coefficients depends on it. */
static void summarise_rows(const struct dp_import *i)
{
    char number[32];
    if (i->plan.features_name[0] != '\0')
        fprintf(stderr, "dp-import: rows are the features %s of images, by a public map\n", i->plan.features_name);
    if (i->plan.basis == DP_BASIS_PRODUCTS)
        fputs("dp-import: pairs of columns have products, so that a model of them is a surface for each two\n", stderr);
    else if (i->plan.basis > DP_BASIS_LINE)
        fprintf(stderr, "dp-import: numbers with bounds have %s, so that a model of them is a curve\n",
                dp_bases[i->plan.basis]);
    fputs("dp-import: ", stderr);
    switch (i->plan.norm) {
    case DP_NORM_BOUNDS:
        snprintf(number, sizeof number, "%.6g", i->plan.divisor);
        fprintf(stderr, "every row is divided by %s, the largest norm that the bounds permit", number);
        break;
    case DP_NORM_UNIT:
        fputs("each row is scaled to norm 1 by itself", stderr);
        if (i->plan.choose_norm)
            fprintf(stderr, ", since column '%s' has no bounds", DP_SHOWN(i->plan.unbounded));
        break;
    case DP_NORM_CAP:
        fputs("rows above norm 1 are scaled to it", stderr);
        break;
    case DP_NORM_NONE:
        fputs("rows stay as they are", stderr);
        break;
    }
    if (i->plan.quantise)
        fputs(", and its values are rounded toward zero to 16 bits", stderr);
    fputs(i->plan.bias ? "; the last column is a bias" : "; there is no bias column", stderr);
    if (i->plan.schema.real_label && !i->plan.schema.label_bounded)
        fputs("; the label has no bounds", stderr);
    fputc('\n', stderr);
}

/* The number of all persons' rows is private, because the unit of privacy is a person. */
static void summarise_part(const struct dp_import *i, const char *to, size_t rows, size_t persons)
{
    bool by_person = i->writer.rows_per_person > 0;
    fprintf(stderr, "%s: %zu %s%s", to, by_person ? persons : rows, by_person ? "person" : "row",
            plural(by_person ? persons : rows));
}

static void summarise_extra(const struct dp_import *i)
{
    if (i->result.extra.count == 0)
        return;
    fputs("dp-import: columns that the schema does not have are ignored: ", stderr);
    for (size_t k = 0; k < i->result.extra.count; k++)
        fprintf(stderr, "%s'%s'", k > 0 ? ", " : "", DP_SHOWN(i->result.extra.text[k]));
    fputc('\n', stderr);
}

static void summarise_persons(const struct dp_import *i)
{
    size_t most = i->writer.rows_per_person;
    if (most > 0)
        fprintf(stderr, "dp-import: at most %zu row%s of one person %s kept, and privacy is for all of them together\n", most,
                plural(most), most == 1 ? "is" : "are");
    else
        fputs("dp-import: one row is taken for one person\n", stderr);
}

static void summarise(const struct dp_import *i, bool known)
{
    const char *to = i->output;
    if (strcmp(to, "-") == 0)
        to = "standard output";
    fputs("dp-import: ", stderr);
    summarise_part(i, to, i->result.rows, i->result.persons);
    fprintf(stderr, ", %zu column%s", i->plan.features, plural(i->plan.features));
    if (i->plan.schema.real_label)
        fputs(", real labels", stderr);
    else
        fprintf(stderr, ", %zu class%s", i->plan.schema.classes, i->plan.schema.classes == 1 ? "" : "es");
    if (i->test != NULL) {
        fputs("; ", stderr);
        summarise_part(i, i->test, i->result.test_rows, i->result.test_persons);
    }
    fputc('\n', stderr);
    tell_encoding(i);
    summarise_extra(i);
    summarise_rows(i);
    summarise_persons(i);
    fprintf(stderr, "dp-import: the population is %s%s\n", DP_SHOWN(i->writer.population),
            known ? ", as in an import before" : "");
}

static int print_json(const char *path, struct dp_err *err)
{
    struct dp_dataset *d = NULL;
    int rc = dp_dataset_open(&d, path, err);
    json_t *all = rc == DP_OK ? info_dataset(d) : NULL;
    if (rc == DP_OK)
        dp_json_print(all, 1, stdout);
    json_decref(all);
    dp_dataset_close(d);
    return rc;
}

/* These are functions of the rows that no budget covers. */
static void private_counts(const struct dp_import *i)
{
    for (size_t k = 0; k < i->plan.schema.columns; k++) {
        const char *name = i->plan.schema.column[k].name != NULL ? i->plan.schema.column[k].name : "";
        if (i->plan.clamped[k].all > 0)
            fprintf(stderr, "dp-import: private: %zu value%s of column %zu (%s) clamped to the bounds\n",
                    i->plan.clamped[k].all, plural(i->plan.clamped[k].all), k + 1, DP_SHOWN(name));
    }
    if (i->plan.bad_missing)
        fprintf(stderr, "dp-import: private: %zu cell%s could not be read and count as missing\n", i->result.bad_cells,
                plural(i->result.bad_cells));
    fprintf(stderr, "dp-import: private: %zu malformed line%s\n", i->result.malformed, plural(i->result.malformed));
    if (i->writer.rows_per_person > 0)
        fprintf(stderr, "dp-import: private: %zu row%s of persons who have more than are kept, left out\n", i->result.left_out,
                plural(i->result.left_out));
}

struct sender {
    const struct to_options *to;
    struct dp_port *port;
    struct dp_row_writer *writer;
};

static int send_facts(void *self, const struct dp_row_facts *facts, struct dp_err *err)
{
    struct sender *s = self;
    const struct to_options *o = s->to;
    const struct dp_port_setting setting = {o->security, o->patience, dp_cli_hear, "dp-import"};
    int rc = dp_port_open_with(&s->port, o->out, DP_OUT, &setting, err);
    rc = rc ?: dp_port_admits(dp_port_exposure(s->port), DP_LABEL_RAW, o->allow_private_output, err);
    if (rc != DP_OK)
        return rc;
    dp_port_cancel(s->port, dp_interrupt_flag());
    return dp_row_writer_open(&s->writer, s->port, facts, err);
}

static int send_row(void *self, const struct dp_import *import, const float *x, double y, struct dp_err *err)
{
    (void)import;
    const struct sender *s = self;
    return dp_row_writer_put(s->writer, x, y, err);
}

/* Before a wait, sends all rows that have arrived, and checks whether the reader is gone. */
static int send_rest(void *self, struct dp_err *err)
{
    const struct sender *s = self;
    int rc = dp_row_writer_flush(s->writer, err);
    rc = rc ?: dp_port_flush(s->port, err);
    if (rc == DP_OK && dp_port_unread(s->port))
        rc = dp_fail(err, DP_E_RUN, "nobody reads the rows any more");
    return rc;
}

static int stream(struct dp_import *import, const struct to_options *o, struct dp_err *err)
{
    struct sender sender = {.to = o};
    const struct dp_import_rows to = {.self = &sender, .begin = send_facts, .row = send_row, .pause = send_rest};
    int rc = dp_import_stream(import, &to, err);
    rc = rc ?: dp_row_writer_end(sender.writer, err);
    if (rc == DP_OK)
        rc = dp_port_commit(sender.port, err);
    else if (sender.writer != NULL)
        dp_row_writer_fail(sender.writer, rc);
    dp_row_writer_close(sender.writer);
    dp_port_close(sender.port);
    return rc;
}

/* The schema says what the label is; what the options say of it may only be the same. */
static int check_label(const struct dp_schema *s, const struct table_options *o, struct dp_err *err)
{
    const char *name = o->schema != NULL ? s->column[s->label].name : "", *given = o->label != NULL ? o->label : name;
    const size_t length = strlen(name);
    char shown[DP_TEXT_SHOWN], classes[DP_TEXT_LISTED];
    struct dp_schema said = {.label = -1};
    if (o->schema == NULL)
        return DP_OK;
    if (strncmp(given, name, length) != 0 || (given[length] != '\0' && given[length] != '='))
        return dp_fail(
            err, DP_E_USAGE, "--label: %s says that the label is '%s'%s", o->schema, dp_text_show(name, length, shown),
            s->header ? "" : ", and that the first line is a row (without that file, --header decides that it is not)");
    int rc = o->classes != NULL ? dp_schema_classes(&said, o->classes, err) : DP_OK;
    bool same = (o->classes == NULL || said.classes == s->classes) && (!(o->number || o->count) || s->real_label);
    for (size_t k = 0; k < said.classes; k++)
        same &= dp_schema_class_with(s, said.class[k].text[0]) >= 0;
    if (given[length] == '=')
        same &= dp_schema_class_with(s, given + length + 1) >= 0 && s->column[s->label].unknown_class;
    dp_schema_free(&said);
    if (rc != DP_OK || same)
        return rc;
    return dp_fail(err, DP_E_USAGE, "--%s: %s says that the label %s%s",
                   o->number            ? "number"
                   : o->count           ? "count"
                   : o->classes != NULL ? "classes"
                                        : "label",
                   o->schema, s->real_label ? "is a number" : "has the classes ",
                   s->real_label ? "" : dp_schema_show_classes(s, classes));
}

static int check_count(const struct dp_schema *s, const struct table_options *o, struct dp_err *err)
{
    if (o->schema == NULL || !o->count || s->label_count)
        return DP_OK;
    return dp_fail(err, DP_E_USAGE, "--count: %s says that the label is a number: \"scale\": \"count\" says that it is a count",
                   o->schema);
}

/* The same of persons. */
static int check_person(const struct dp_schema *s, const struct options *o, struct dp_err *err)
{
    const long column = dp_schema_person(s);
    const char *name = column >= 0 ? s->column[column].name : "";
    if (o->table.schema == NULL ||
        (o->people.person == NULL ? !o->people.row_is_person || column < 0 : strcmp(name, o->people.person) == 0))
        return DP_OK;
    const char *shown = DP_SHOWN(name);
    return dp_fail(err, DP_E_USAGE, "--%s: %s %s%s%s", o->people.person != NULL ? "person" : "row-is-person", o->table.schema,
                   column >= 0 ? "says whose a row is by column '" : "has no column of persons", shown, column >= 0 ? "'" : "");
}

/* Reads the schema, and sets what follows from it and from the options together. */
static int prepare(struct dp_import *import, const struct options *o, struct dp_err *err)
{
    struct dp_schema *schema = &import->plan.schema;
    int rc = o->table.schema != NULL ? dp_schema_load(schema, o->table.schema, err) : DP_OK;
    rc = rc ?: check_label(schema, &o->table, err) ?: check_count(schema, &o->table, err) ?: check_person(schema, o, err);
    if (rc == DP_OK && o->to.storage < 0 && has_text(schema))
        import->writer.storage = DP_STORAGE_CSR;
    if (rc == DP_OK && o->people.population != NULL)
        rc = check_population(o->people.population, err);
    if (rc == DP_OK && (o->table.sql != NULL || import->source.arff) && o->table.schema != NULL && !schema->header)
        rc = dp_fail(err, DP_E_RUN, "%s: a query or an ARFF table has names of columns: \"header\" must be true",
                     o->table.schema);
    if (o->table.delimiter != NULL)
        schema->delimiter = o->table.delimiter[0];
    if (o->table.sql != NULL || import->source.arff)
        schema->delimiter = ',';
    if (rc == DP_OK && o->propose.infer != NULL && import->writer.rows_per_person > 0 && o->people.person == NULL)
        rc = dp_fail(err, DP_E_USAGE, "--rows-per-person: --person names the column of persons");
    if (o->propose.infer != NULL && import->writer.rows_per_person == 0)
        import->writer.rows_per_person = ROWS_OF_A_PERSON;
    return rc;
}

/* Makes the data set, or sends its rows, and says what it did. */
static int import_rows(struct dp_import *import, struct identity *identity, const struct options *o, struct dp_err *err)
{
    struct paid_knots knots = {.identity = identity, .else_even = o->pay.else_unpaid};
    char *ledger_of = NULL;
    int rc = DP_OK;
    dp_interrupt_catch();
    if (o->to.out != NULL) {
        rc = identity_find(identity, import, err); /* by its name, because its bytes are still unknown */
    } else {
        import->identify = identity_find;
        import->identify_self = identity;
    }
    if (rc == DP_OK && !isnan(o->pay.private_knots)) {
        payment_of(o, true, &ledger_of, &knots.pay);
        import->place_knots = paid_knots;
        import->place_self = &knots;
    }
    rc = rc ?: o->to.out != NULL ? stream(import, &o->to, err) : dp_import_run(import, err);
    free(ledger_of);
    if (rc != DP_OK)
        return rc;
    dp_lines_tell(&import->result.notes, dp_cli_warn, "dp-import");
    if (identity->sentence[0] != '\0')
        fprintf(stderr, "dp-import: %s\n", identity->sentence);
    if (!o->quiet)
        summarise(import, identity->known);
    if (o->private_counts)
        private_counts(import);
    return o->json ? print_json(import->output, err) : DP_OK;
}

/* *name: the data set of a part, or NULL; the caller frees it. */
static int choose_part(struct dp_import *import, const struct to_options *o, char **name, struct dp_err *err)
{
    int64_t part, parts;
    int rc = o->part != NULL ? dp_option_part("part", o->part, PARTS, &part, &parts, err) : DP_OK;
    if (rc != DP_OK || o->part == NULL)
        return rc;
    import->source.part = (size_t)part;
    import->source.parts = (size_t)parts;
    import->output = *name = dp_join_name(o->output, import->source.part);
    return DP_OK;
}

static struct dp_import import_of(const struct options *o)
{
    return (struct dp_import){
        .source.label_name = o->table.label,
        .source.person = o->people.person,
        .source.row_is_person = o->people.row_is_person,
        .source.real_label = o->table.number || o->table.count,
        .source.count = o->table.count,
        .source.classes = o->table.classes,
        .source.cols = o->table.cols != DP_OPT_ABSENT_INT ? (size_t)o->table.cols : 0,
        .source.max_abs = o->rows.scale == 1,
        .source.skip_lines = (size_t)o->table.skip_lines,
        .source.comment = o->table.comment != NULL ? o->table.comment[0] : '\0',
        .source.columns = o->propose.columns,
        .source.without = o->propose.without,
        .source.header = o->propose.no_header ? -1 : o->propose.header || o->people.person != NULL,
        .source.skip_bad = (size_t)o->table.skip_bad,
        .plan.bad_missing = o->table.bad_cells == 1,
        .plan.bias = !o->rows.no_bias,
        .plan.choose_norm = o->rows.norm < 0,
        .plan.norm = (enum dp_row_norm)o->rows.norm,
        .split = o->to.split,
        .seed = o->to.seed,
        .output = o->to.out != NULL ? o->to.out : o->to.output,
        .test = o->to.test,
        .joined = o->to.join != DP_OPT_ABSENT_INT ? (size_t)o->to.join : 0,
        .plan.quantise = o->rows.quantise,
        .plan.basis = (enum dp_basis_kind)(o->rows.basis < 0 ? DP_BASIS_NONE : DP_BASIS_LINE + o->rows.basis),
        .plan.products = o->rows.products != DP_OPT_ABSENT_INT ? (size_t)o->rows.products : DP_PRODUCTS_COLUMNS,
        .map = o->rows.features < 0 ? DP_MAP_NONE : (enum dp_map_kind)(DP_MAP_HOG + o->rows.features),
        .wide = o->to.storage < 0,
        .threads = omp_get_max_threads(),
        .writer = {.storage = dp_storage_of(o->to.storage, o->rows.quantise),
                   .force = o->force,
                   .rows_per_person = o->people.rows_per_person != DP_OPT_ABSENT_INT ? (size_t)o->people.rows_per_person : 0},
    };
}

int main(int argc, char **argv)
{
    struct options o;
    struct dp_err err = {0};
    char *name = NULL;
    int operand, status;
    if (!dp_cli_start(&command, &o, NULL, argc, argv, &operand, &status))
        return status;
    struct dp_import import = import_of(&o);
    struct identity identity = {.population = o.people.population, .choice = o.people.registry};
    dp_progress_watch("dp-import: ", o.quiet || o.to.out != NULL);
    int rc = operands(&import, &o, argc - operand, argv + operand, &err);
    rc = rc ?: prepare(&import, &o, &err);
    rc = rc ?: choose_part(&import, &o.to, &name, &err);
    rc = rc ?: o.propose.infer != NULL ? infer(&import, &identity, &o, &err) : import_rows(&import, &identity, &o, &err);
    dp_import_free(&import);
    free(name);
    dp_interrupt_rethrow();
    return dp_cli_finish("dp-import", rc, &err);
}
