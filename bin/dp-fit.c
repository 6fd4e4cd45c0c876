/* dp-fit: prints the run that suits a table, by rules on public facts about it. It reads no row, and spends nothing. */
#include <omp.h>
#include <sys/stat.h>

#include "base/cli.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/text.h"
#include "data/carried.h"
#include "data/dataset.h"
#include "data/features.h"
#include "data/input.h"
#include "data/products.h"
#include "data/row_length.h"
#include "export/formats.h"
#include "fit/fit.h"
#include "fit/pipeline.h"
#include "images/map.h"
#include "ledger/schema_cost.h"
#include "port/model.h"
#include "stages/class_weights.h"

struct options {
    double epsilon, delta;
    int64_t threads, seed, rows, cols, classes;
    int loss, adjacency, exec;
    const char *ledger, *registry, *model, *class_weights, *stream;
    bool no_ledger, no_registry, partial, allow_weak, quiet;
};

#define DP_OPTIONS struct options

static const char adjacencies[] = "null-record|replace-one", ways[] = "auto|processes|fused";

static const struct dp_option options[] = {
    DP_OPTION_REAL('e', epsilon, "E", DP_ABOVE(0), "privacy budget", .fallback = "1"),
    DP_OPTION_REAL('d', delta, "D", DP_ABOVE_BELOW(0, 1),
                   "probability that epsilon may fail to bound (the largest power of ten below 1 / rows^1.1)"),
    DP_OPTION_CHOICE('l', loss, "LOSS", DP_FIT_LOSSES,
                     "loss to minimise (logistic; squared for a regression, softmax for three or more classes)"),
    DP_OPTION_TEXT(0, class_weights, "W,W,...", "for dp-grad: weights of the losses of the classes"),
    DP_OPTION_CHOICE(0, adjacency, "HOW", adjacencies, "what one person can change", .fallback = "null-record"),
    DP_OPTION_INT('t', threads, "N", DP_FROM_TO(1, 1024),
                  "threads of the stages that read rows (all cores, for small data sets one)"),
    DP_OPTION_TEXT(0, ledger, "FILE", "for dp-account"),
    DP_OPTION_FLAG(0, no_ledger, "for dp-account"),
    DP_OPTION_TEXT(0, registry, "DIR", "for dp-account"),
    DP_OPTION_FLAG(0, no_registry, "for dp-account"),
    DP_OPTION_FLAG(0, partial, "for dp-account"),
    DP_OPTION_FLAG(0, allow_weak, "for dp-account"),
    DP_OPTION_CHOICE(0, exec, "HOW", ways, "for dp-loop", .fallback = "auto"),
    DP_OPTION_INT('s', seed, "S", DP_FROM_TO(0, 9007199254740992), "for dp-loop: reproducible, not private"),
    DP_OPTION_TEXT('o', model, "FILE", "for dp-loop"),
    DP_OPTION_FLAG('q', quiet, "for dp-loop: no progress"),
    DP_OPTION_INT(0, rows, "N", DP_FROM_TO(1, 1e12),
                  "persons of all sites of a run, of which DATA has some; rows of a table whose schema DATA is"),
    DP_OPTION_TEXT(0, stream, "PORT", "DATA is the schema of about --rows rows that arrive at PORT, each once", .needs = "rows",
                   .excludes = "cols, adjacency=replace-one"),
    DP_OPTION_INT(0, cols, "D", DP_FROM_TO(1, 1e7), "columns, with the constant one", .needs = "rows",
                  .only = "data elsewhere"),
    DP_OPTION_INT(0, classes, "K", DP_FROM_TO(0, 1000), "without DATA: number of classes, 0 for a number", .fallback = "2"),
    {.name = NULL},
};
static const struct dp_command command = {"dp-fit", "DATA", "Print the run that suits a data set, with nothing to tune",
                                          options, NULL};

/* Below this reach some models were no better than the most frequent class (German credit at 14, spam at 16). */
enum { LITTLE_REACH = 20 };

/* The index-th of choices. */
static const char *choice(const char *choices, int index, char *buffer, size_t size)
{
    for (; index > 0; index--)
        choices = strchr(choices, '|') + 1;
    snprintf(buffer, size, "%.*s", (int)strcspn(choices, "|"), choices);
    return buffer;
}

static bool ends_with(const char *text, size_t length, const char *end)
{
    size_t n = strlen(end);
    return length > n && strncmp(text + length - n, end, n) == 0;
}

/* Writes " STEM" and an ending as a word. */
static void word(const char *stem, size_t length, const char *end)
{
    char *text = dp_format("%.*s%s", (int)length, stem, end);
    putc(' ', stderr);
    dp_text_shell(text, stderr);
    free(text);
}

/* Says how a table becomes a data set, or that the file is a model. */
static int is_a_file(const char *path)
{
    struct dp_frame *frame = dp_frame_new();
    struct dp_err err = {0};
    bool model = dp_model_read(frame, path, &err) == DP_OK;
    struct dp_input *in = NULL;
    dp_frame_free(frame);
    if (!model && dp_input_open(&in, path, &err) != DP_OK) { /* such as a workbook */
        fprintf(stderr, "dp-fit: %s\n", err.message);
        return DP_E_RUN;
    }
    dp_input_close(in);
    fprintf(stderr, "dp-fit: %s is a %s, ", path, model ? "model" : "file");
    if (model) {
        fputs("and what is needed is the data set to train on (dp-predict", stderr);
        word(path, strlen(path), "");
        fputs(" DATA applies a model)\n", stderr);
        return DP_E_RUN;
    }
    fputs("not a data set: dpline fit", stderr);
    word(path, strlen(path), "");
    fputs(" --label NAME trains on a table, and dp-import makes a data set of it\n", stderr);
    return DP_E_RUN;
}

/* Prints the facts and the budget, as a comment. */
static void print_facts(const struct dp_fit_facts *facts, const struct dp_fit *fit, const struct fit_options *o, bool by_rule,
                        enum dp_basis_kind basis)
{
    printf("# %lld %s", (long long)facts->persons, dp_fit_unit(facts));
    if (facts->rows_per_person == 1)
        printf(" with one row each");
    else if (facts->rows_per_person > 1)
        printf(" with at most %lld rows each", (long long)facts->rows_per_person);
    printf(", %lld columns, ", (long long)facts->columns);
    if (facts->classes == 0)
        printf("a number");
    else
        printf("%lld classes", (long long)facts->classes);
    printf(": %s; epsilon %s, delta %s", dp_loss_names[fit->loss], o->epsilon, o->delta);
    if (by_rule)
        printf(", the largest power of ten below 1 / %s^1.1", dp_fit_unit(facts));
    if (basis > DP_BASIS_LINE)
        printf("; %s have %s%s", basis == DP_BASIS_PRODUCTS ? "columns" : "numbers", dp_bases[basis],
               facts->cosines == 0 || dp_fit_curves(facts, fit) ? "" : ", and lines would do better");
    putchar('\n');
}

/* A power of ten as 1e-k. */
static const char *print_delta(double delta, char *buffer, size_t size)
{
    for (int k = 1; k < 300; k++) {
        snprintf(buffer, size, "1e-%d", k);
        if (strtod(buffer, NULL) == delta)
            return buffer;
    }
    return dp_number_print(delta, buffer, size);
}

/* For few rows one thread is faster. */
static int64_t threads(const struct dp_dataset *d)
{
    return (double)d->persons * (double)d->cols * (double)dp_loss_outputs(d->label.classes) < 1e7 ? 1 : omp_get_num_procs();
}

/* Rows that are pixels: says what features would give, if there are features for these images. */
static void suggest_features(const struct dp_dataset *d, const char *path)
{
    struct dp_image_shape shape = {.channels = 1};
    struct dp_err err;
    if (d->images.pixels == NULL || sscanf(d->images.pixels, "%zux%zux%zu", &shape.height, &shape.width, &shape.channels) < 2 ||
        dp_map_fits(DP_MAP_HOG, shape, &err) != DP_OK)
        return;
    bool colour = shape.channels == 3;
    fprintf(stderr,
            "%s: %s has the pixels of images. A linear model is much better on their features, by a public map that costs no "
            "privacy: on %s of new images%s. Import the images again:\n"
            "  dp-import %s -o",
            command.name, path, colour ? "CIFAR-10 at epsilon 1, .68" : "Fashion-MNIST at epsilon 1, .90",
            colour ? "" : " instead of .84", colour ? "images --features scatter" : "idx --features hog");
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    length -= ends_with(path, length, ".dp") ? strlen(".dp") : 0;
    word(path, length, colour ? "-scatter.dp" : "-hog.dp");
    fputs(colour ? " FOLDER\n" : " IMAGES LABELS   # of a folder or a zip archive: images instead of idx, and FOLDER\n",
          stderr);
    fputs("fit trains no network; dpline dp-sgd --network does, on images without a bias column: man dp-net-grad\n", stderr);
}

/* How many numbers have cosines. */
static size_t numbers_with_cosines(const struct dp_dataset *d)
{
    const char last[] = " cosine 8";
    size_t count = 0;
    for (size_t i = 0; d->column_names != NULL && i < d->cols; i++)
        count += ends_with(d->column_names[i], strlen(d->column_names[i]), last);
    return count;
}

/* The public facts of the data set, if there is one, and the facts about all sites that options give. */
static struct dp_fit_facts facts_of(const struct dp_dataset *d, const struct options *o)
{
    struct dp_fit_facts facts = {.persons = o->rows, .columns = o->cols, .classes = o->classes, .constant = true};
    if (d != NULL)
        facts = (struct dp_fit_facts){.persons = o->rows == DP_OPT_ABSENT_INT ? (int64_t)d->persons : o->rows,
                                      .columns = (int64_t)d->cols,
                                      .classes = (int64_t)d->label.classes,
                                      .rows_per_person = (int64_t)d->rows_per_person,
                                      .cosines = (int64_t)numbers_with_cosines(d) * DP_BASIS_COSINE_COUNT,
                                      .constant = strstr(d->row_norm, "bias") != NULL,
                                      .images = d->images.features,
                                      .here = o->rows == DP_OPT_ABSENT_INT};
    return facts;
}

/* The rest of the budget, for a run: numbers, and the digits that are printed. */
struct left {
    struct dp_fit_budget budget;
    char epsilon[40], delta[40];
    char all[40];  /* delta before the schema was paid for */
    bool composed; /* the run and the schema are one composition, and epsilon and delta are for both */
};

/* Whether the schema was paid for as a part of this budget, so that the run has what the composition leaves. */
static bool composes(struct left *left, const struct dp_dataset *d, const struct options *o, double *delta)
{
    left->budget = (struct dp_fit_budget){0};
    left->composed = o->adjacency == 0 && o->rows == DP_OPT_ABSENT_INT && d->persons <= DP_FIT_MOST_COMPOSED &&
                     (dp_dataset_paid_mark(d) != NULL || o->no_ledger) &&
                     dp_schema_cost_joins(d->paid.cost, o->epsilon, delta, &left->budget.before, &left->budget.named);
    return left->composed;
}

/* The budget that was asked for also pays for the schema, which has cost paid and paid_delta. */
static int find_left(struct left *left, const struct options *o, int64_t persons, double paid, double paid_delta,
                     const char *path, struct dp_err *err)
{
    if (isnan(o->delta))
        snprintf(left->all, sizeof left->all, "1e-%d", dp_fit_delta_exponent(persons));
    else
        print_delta(o->delta, left->all, sizeof left->all);
    left->budget.epsilon = o->epsilon;
    left->budget.delta = strtod(left->all, NULL);
    left->budget.replace_one = o->adjacency == 1;
    if (dp_fit_left(&left->budget, paid, paid_delta, path, err) != DP_OK)
        return DP_E_BUDGET;
    snprintf(left->delta, sizeof left->delta, "%s", left->all);
    if (paid > 0)
        dp_number_print(left->budget.delta, left->delta, sizeof left->delta);
    dp_number_print(left->budget.epsilon, left->epsilon, sizeof left->epsilon);
    return DP_OK;
}

static enum dp_loss loss_of(const struct dp_fit_facts *facts, const struct options *o)
{
    char name[30];
    enum dp_loss loss = dp_fit_loss(facts->classes);
    if (o->loss >= 0)
        dp_loss_parse(choice(DP_FIT_LOSSES, o->loss, name, sizeof name), &loss);
    return loss;
}

/* Says what a model of a table can become, before it is paid for. */
static int tell_exports(const struct dp_dataset *d, enum dp_loss loss, struct dp_err *err)
{
    struct dp_row_plan plan = {.norm = DP_NORM_BOUNDS};
    char list[EXPORT_LIST];
    int rc = dp_carried_take(&plan, d->schema, "the data set", err);
    if (rc == DP_OK)
        fprintf(stderr, "%s: dp-export can write its model as %s\n", command.name,
                export_list(export_model_needs(&plan, loss, dp_loss_outputs(d->label.classes)), true, list));
    dp_row_plan_free(&plan);
    return rc;
}

static int check_weights(const struct options *o, int64_t classes, struct dp_err *err)
{
    struct dp_class_weights weights;
    int rc = dp_class_weights_open(&weights, o->class_weights, err);
    rc = rc ?: dp_class_weights_check(&weights, (size_t)classes, err);
    dp_class_weights_close(&weights);
    return rc;
}

/* Labels with bounds are stored from −1 to 1, but counts from 0 on. */
static int check_counts(const struct dp_dataset *d, enum dp_loss loss, const char *path, struct dp_err *err)
{
    if (d == NULL || dp_losses[loss].of != DP_LOSS_OF_COUNT || (d->label.classes == 0 && d->label.offset == 0))
        return DP_OK;
    return dp_fail(err, DP_E_RUN, "--loss %s is for counts, and the labels of %s are %s (dp-import --count)",
                   dp_loss_names[loss], path, d->label.classes > 0 ? "classes" : "numbers around another one than 0");
}

/* The options of a run that the rules do not choose. exec and seed are room for their texts. */
static struct fit_options stated_options(const struct options *o, const struct left *left, char exec[20], char seed[24])
{
    snprintf(seed, 24, "%lld", (long long)o->seed);
    return (struct fit_options){.epsilon = left->epsilon,
                                .delta = left->delta,
                                .class_weights = o->class_weights,
                                .ledger = o->ledger,
                                .registry = o->registry,
                                .exec = choice(ways, o->exec, exec, 20),
                                .model = o->model,
                                .seed = o->seed == DP_OPT_ABSENT_INT ? NULL : seed,
                                .no_ledger = o->no_ledger,
                                .no_registry = o->no_registry,
                                .partial = o->partial,
                                .allow_weak = o->allow_weak,
                                .with_schema = left->composed,
                                .quiet = o->quiet,
                                .threads = o->threads != DP_OPT_ABSENT_INT ? o->threads : 1};
}

static int fit(const struct dp_dataset *d, const char *path, const struct options *o, struct dp_err *err)
{
    const struct dp_fit_facts facts = facts_of(d, o);
    char adjacency[20], exec[20], seed[24];
    struct dp_fit chosen;
    size_t products;
    struct options budget = *o;
    struct left left = {0};
    const bool paid = d != NULL && !composes(&left, d, o, &budget.delta);
    int rc = check_weights(o, facts.classes, err);
    rc = rc ?: find_left(&left, &budget, facts.persons, paid ? d->paid.epsilon : 0, paid ? d->paid.delta : 0, path, err);
    if (rc != DP_OK)
        return rc;
    struct fit_options more = stated_options(o, &left, exec, seed);
    more.data = path;
    more.adjacency = choice(adjacencies, o->adjacency, adjacency, sizeof adjacency);
    if (d != NULL && o->threads == DP_OPT_ABSENT_INT)
        more.threads = threads(d);
    if (d != NULL && d->held_out)
        fprintf(
            stderr,
            "%s: warning: %s has the rows that were held out for tests: a model that is trained on them cannot be tested on "
            "them\n",
            command.name, path);
    rc = check_counts(d, loss_of(&facts, o), path, err);
    rc = rc ?: dp_fit_choose(&facts, &left.budget, loss_of(&facts, o), &chosen, err);
    if (rc != DP_OK)
        return rc;
    if (d != NULL && !o->quiet)
        suggest_features(d, path);
    struct fit_options stated = more;
    stated.epsilon = DP_NUMBER(o->epsilon);
    stated.delta = left.all;
    if (!o->quiet && chosen.reach < LITTLE_REACH)
        fprintf(stderr, "%s: warning: epsilon %s is small for so few %s: the model may be hardly better than %s\n",
                command.name, stated.epsilon, dp_fit_unit(&facts), facts.classes == 0 ? "the mean" : "the most frequent class");
    char rule[40];
    snprintf(rule, sizeof rule, "1e-%d", dp_fit_delta_exponent(facts.persons)); /* a schema may be of more rows */
    print_facts(&facts, &chosen, &stated, isnan(o->delta) && strcmp(rule, left.all) == 0,
                d != NULL ? dp_row_norm_basis(d->row_norm, &products) : DP_BASIS_LINE);
    fit_print(stdout, &chosen, &more);
    return d != NULL && d->schema != NULL && !o->quiet ? tell_exports(d, chosen.loss, err) : DP_OK;
}

/* The plan of the rows of a table with this schema, before there are rows. */
struct planned {
    struct dp_row_plan plan;
    struct dp_features features;
    struct dp_fit_facts facts;
    struct left left; /* of the budget */
};

/* bins: of two classes, numbers get bins, and not cosines (dp-fit-rules(7)). */
static int plan_rows(struct planned *p, const char *path, bool bins, const struct options *o, struct dp_err *err)
{
    struct dp_schema *s = &p->plan.schema;
    *p = (struct planned){.plan = {.basis = DP_BASIS_COSINES, .bias = true, .norm = DP_NORM_UNIT}};
    int rc = dp_schema_load(s, path, err);
    if (bins && !s->real_label && s->classes == 2)
        p->plan.basis = DP_BASIS_BINS;
    rc = rc ?: dp_features_plan(&p->features, &p->plan, err);
    p->facts = (struct dp_fit_facts){.persons = o->rows,
                                     .columns = (int64_t)p->features.count,
                                     .classes = s->real_label ? 0 : (int64_t)s->classes,
                                     .constant = true};
    rc = rc ?: check_weights(o, p->facts.classes, err);
    const double epsilon = json_number_value(json_object_get(s->paid, "epsilon")),
                 delta = json_number_value(json_object_get(s->paid, "delta"));
    return rc ?: find_left(&p->left, o, o->rows, epsilon, delta, path, err);
}

static void planned_free(struct planned *p)
{
    dp_features_free(&p->features, &p->plan.schema);
    dp_row_plan_free(&p->plan);
}

/* For programs: prints the basis that the budget pays for, for numbers of a table with this schema and --rows rows, how many
 * products, and how many pairs of columns are left out because there would be too many. */
static int choose_basis(const char *path, const struct options *o, struct dp_err *err)
{
    struct planned p;
    struct dp_products products = {0};
    struct dp_fit chosen;
    int rc = plan_rows(&p, path, false, o, err);
    const struct dp_schema *s = &p.plan.schema;
    size_t numbers = 0;
    for (size_t i = 0; rc == DP_OK && i < s->columns; i++)
        numbers += s->column[i].basis.kind == DP_BASIS_COSINES;
    p.facts.cosines = (int64_t)numbers * DP_BASIS_COSINE_COUNT;
    rc = rc ?: dp_fit_choose(&p.facts, &p.left.budget, loss_of(&p.facts, o), &chosen, err);
    const bool curves = rc == DP_OK && dp_fit_curves(&p.facts, &chosen);
    const int64_t most = rc == DP_OK && (curves || numbers == 0) ? dp_fit_products(&p.facts, &chosen) : 0;
    if (most > 0)
        rc = dp_products_plan(&products, s, p.features.first, (size_t)most, err);
    const size_t pairs = products.all;
    if (p.facts.classes == 2 && products.pairs < pairs) /* some of them lost .002 of accuracy on Adult and on credit default */
        dp_products_free(&products);
    if (rc == DP_OK)
        printf("{\"columns\": %lld, \"basis\": \"%s\", \"products\": %zu, \"pairs\": %zu, \"left_out\": %zu}\n",
               (long long)p.facts.columns,
               products.count > 0 ? dp_bases[DP_BASIS_PRODUCTS]
               : numbers == 0     ? "none"
                                  : dp_bases[curves ? DP_BASIS_COSINES : DP_BASIS_LINE],
               products.count, products.pairs, pairs - products.pairs);
    dp_products_free(&products);
    planned_free(&p);
    return rc;
}

/* Prints the run for rows that arrive: a comment, the basis that the rows need, and the words of dp-loop. */
static int fit_stream(const char *path, const struct options *o, struct dp_err *err)
{
    struct planned p;
    struct dp_fit chosen;
    char exec[20], seed[24];
    int rc = plan_rows(&p, path, true, o, err);
    rc = rc ?: dp_fit_stream(&p.facts, &p.left.budget, loss_of(&p.facts, o), &chosen, err);
    if (rc == DP_OK) {
        struct fit_options more = stated_options(o, &p.left, exec, seed);
        more.arrivals = o->stream;
        printf("# about %lld rows in %lld windows of %lld, %lld columns, ", (long long)o->rows, (long long)chosen.laps,
               (long long)chosen.window, (long long)p.facts.columns);
        if (p.facts.classes == 0)
            printf("a number");
        else
            printf("%lld classes", (long long)p.facts.classes);
        const bool numbers = p.plan.basis == DP_BASIS_BINS || p.plan.basis == DP_BASIS_COSINES;
        const char *basis = dp_bases[numbers ? p.plan.basis : DP_BASIS_LINE];
        printf(": %s; epsilon %s, delta %s; %s%s\n%s\n", dp_loss_names[chosen.loss], p.left.epsilon, p.left.delta,
               numbers ? "numbers have " : "no column is a number", numbers ? basis : "", basis);
        fit_print(stdout, &chosen, &more);
    }
    planned_free(&p);
    return rc;
}

int main(int argc, char **argv)
{
    struct options o;
    struct dp_err err = {0};
    struct dp_dataset *dataset = NULL;
    struct stat st;
    int operand, status;
    if (!dp_cli_start(&command, &o, NULL, argc, argv, &operand, &status))
        return status;
    const char *path = argc - operand == 1 ? argv[operand] : NULL;
    int rc = DP_OK;
    bool elsewhere = argc == operand && o.rows != DP_OPT_ABSENT_INT && o.cols != DP_OPT_ABSENT_INT;
    if (path == NULL && !elsewhere)
        rc = dp_fail(&err, DP_E_USAGE, "expected one data set, or --rows and --cols of one elsewhere");
    rc = rc ?: dp_option_operand(&command, &o, NULL, path == NULL ? "data elsewhere" : "a data set", &err);
    if (rc == DP_OK && path != NULL && stat(path, &st) != 0)
        rc = dp_fail_errno(&err, errno, "cannot open %s", path);
    else if (rc == DP_OK && path != NULL && S_ISREG(st.st_mode) && o.rows == DP_OPT_ABSENT_INT)
        return -is_a_file(path);
    else if (rc == DP_OK && path != NULL && S_ISREG(st.st_mode))
        return dp_cli_finish(command.name, o.stream != NULL ? fit_stream(path, &o, &err) : choose_basis(path, &o, &err), &err);
    if (rc == DP_OK && path != NULL)
        rc = dp_dataset_open(&dataset, path, &err);
    rc = rc ?: fit(dataset, path, &o, &err);
    dp_dataset_close(dataset);
    return dp_cli_finish(command.name, rc, &err);
}
