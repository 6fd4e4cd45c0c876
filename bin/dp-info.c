#include <jansson.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "base/cli.h"
#include "base/mem.h"
#include "base/json.h"
#include "base/terminal.h"
#include "data/dataset.h"
#include "data/format.h"
#include "info/coefficients.h"
#include "info/curves.h"
#include "info/dataset.h"
#include "info/model.h"

struct options {
    const char *get;
    bool json, verify, coefficients, tsv, curves, svg;
};

#define DP_OPTIONS struct options
static const struct dp_option options[] = {
    DP_OPTION_TEXT('g', get, "FIELD", "print one field only, for scripts"),
    DP_OPTION_FLAG('j', json, "everything, as JSON"),
    DP_OPTION_FLAG('c', coefficients, "the coefficients of a linear model in the units of the table", .only = "models",
                   .excludes = "get"),
    DP_OPTION_FLAG(0, curves, "effect of each numeric column along its bounds, as TSV, JSON or SVG", .only = "models",
                   .excludes = "coefficients, get"),
    DP_OPTION_FLAG(0, svg, "as a drawing", .needs = "curves", .excludes = "json"),
    DP_OPTION_FLAG(0, tsv, "as TSV", .needs = "coefficients", .excludes = "json"),
    DP_OPTION_FLAG(0, verify, "read every value, check norms and the digest", .only = "data sets"),
    {.name = NULL},
};

static int print_field(const json_t *o, const char *field, struct dp_err *err)
{
    const json_t *value = json_object_get(o, field);
    if (value == NULL)
        return dp_fail(err, DP_E_USAGE, "--get: no field '%.40s'", field);
    if (json_is_string(value)) {
        puts(json_string_value(value));
        return DP_OK;
    }
    dp_json_print(value, 0, stdout);
    return DP_OK;
}

static void print_dataset(const char *path, const struct dp_dataset *d)
{
    static const char *const stored[] = {"dense", "CSR", "dense, made of cells when they are read", "dense in 16 bits"};
    printf("data set   %s\nrows       %zu\n", path, d->rows);
    if (d->rows_per_person == 0)
        puts("persons    one row is taken for one person");
    else
        printf("persons    %zu, with at most %zu row%s each\n", d->persons, d->rows_per_person,
               d->rows_per_person == 1 ? "" : "s");
    printf("columns    %zu, %s\nlabel      ", d->cols, stored[d->storage]);
    dp_text_put(d->label.name != NULL ? d->label.name : "(unnamed)", 0, stdout);
    if (d->label.classes == 0)
        printf(", a number: %g × y %+g\n", d->label.scale, d->label.offset);
    else
        printf(", %zu classes:", d->label.classes);
    for (size_t k = 0; k < d->label.classes; k++) {
        fputs(k > 0 ? ", " : " ", stdout);
        dp_text_put(d->label.class_names[k], 0, stdout);
    }
    if (d->label.classes > 0)
        putchar('\n');
    char unpaid[200];
    bool paid;
    dp_text_unpaid(d->private_preprocessing, &paid, unpaid, sizeof unpaid);
    if (paid)
        printf("privacy    the schema was paid for: epsilon %.6g, delta %.6g, which models inherit\n", d->paid.epsilon,
               d->paid.delta);
    if (unpaid[0] == '\0' && !paid)
        puts("privacy    nothing was measured on the rows to prepare them");
    else if (unpaid[0] != '\0')
        printf("privacy    measured on the rows, and not paid for: %s\n", unpaid);
    dp_text_line("row norm   ", d->row_norm, stdout);
    printf("population %s%s\ndigest     %s\n", d->population, d->held_out ? ", rows held out for tests" : "", d->digest);
}

static int dataset(const char *path, const struct options *o, struct dp_err *err)
{
    struct dp_dataset *d = NULL;
    struct stat st;
    if (stat(path, &st) != 0)
        return dp_fail_errno(err, errno, "cannot open %s", path);
    int rc = dp_dataset_open(&d, path, err);
    if (rc == DP_OK && o->verify)
        rc = dp_dataset_verify(d, path, err);
    if (rc != DP_OK) {
        dp_dataset_close(d);
        return rc;
    }
    json_t *all = info_dataset(d);
    if (o->get != NULL)
        rc = print_field(all, o->get, err);
    else if (o->json)
        dp_json_print(all, 1, stdout);
    else
        print_dataset(path, d);
    json_decref(all);
    dp_dataset_close(d);
    return rc;
}

/* Refuses a file that begins with a character of ASCII: no frame does. */
static int refuse_text(const char *path, struct dp_err *err)
{
    FILE *file = fopen(path, "rb");
    int first = file != NULL ? getc(file) : EOF;
    if (file != NULL)
        fclose(file);
    return first > 0 && first < 0x80
               ? dp_fail(err, DP_E_RUN,
                         "%s is a text, and a data set or a model is expected (dpline fit makes both of a table)", path)
               : DP_OK;
}

/* A model, in the form that the options ask for. */
static int model_form(const char *path, const struct options *o, struct dp_err *err)
{
    if (o->coefficients)
        return info_model_coefficients(path, o->json ? INFO_JSON : o->tsv ? INFO_TSV : INFO_TEXT, stdout, err);
    if (o->curves)
        return info_model_curves(path, o->json ? INFO_JSON : o->svg ? INFO_SVG : INFO_TSV, stdout, err);
    return info_model(path, o->json, o->get, stdout, err);
}

/* For programs: whether it is a table of a known format, and no data set. */
static bool is_table(const char *path)
{
    char *description = dp_format("%s/dataset.json", path);
    const bool is = access(path, R_OK) == 0 && access(description, F_OK) != 0 && dp_format_of(path) < DP_FORMATS;
    free(description);
    return is;
}

int main(int argc, char **argv)
{
    const struct dp_command command = {"dp-info", "PATH", "Print what a data set or a model is", options, NULL};
    struct options o;
    struct dp_err err = {0};
    struct stat st = {0};
    int operand, status, rc = DP_OK;
    if (!dp_cli_start(&command, &o, NULL, argc, argv, &operand, &status))
        return status;
    if (argc - operand != 1)
        rc = dp_fail(&err, DP_E_USAGE, "expected one data set or model");
    else if (o.get != NULL && strcmp(o.get, "format") == 0 && is_table(argv[operand]))
        return puts(dp_format_names[dp_format_of(argv[operand])]), dp_cli_finish("dp-info", DP_OK, &err);
    if (o.json || !(o.tsv || o.curves || o.get != NULL))
        dp_terminal_people();
    bool model = rc == DP_OK && (strcmp(argv[operand], "-") == 0 || (stat(argv[operand], &st) == 0 && !S_ISDIR(st.st_mode)));
    rc = rc ?: dp_option_operand(&command, &o, NULL, model ? "models" : "data sets", &err);
    if (rc == DP_OK && S_ISREG(st.st_mode))
        rc = refuse_text(argv[operand], &err);
    rc = rc ?: model ? model_form(argv[operand], &o, &err) : dataset(argv[operand], &o, &err);
    return dp_cli_finish("dp-info", rc, &err);
}
