#include "runtime/lane_table.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "runtime/pipeline.h"
#include "stages/stage.h"

enum { LANE, SEED, LAPS, WORDS };

static const char *const names[WORDS] = {[LANE] = "lane", [SEED] = "seed", [LAPS] = "laps"};

static int check_options(const struct dp_loop *loop, struct dp_err *err)
{
    const struct dp_loop_options *o = &loop->options;
    if (o->send != NULL || o->receive != NULL)
        return dp_fail(err, DP_E_USAGE, "--lanes: lanes run in this process: --send and --receive have no place");
    if (o->exec == DP_EXEC_PROCESSES)
        return dp_fail(err, DP_E_USAGE, "--lanes: lanes run in this process: --exec=processes has no place");
    if (o->checkpoint != NULL || o->resume != NULL)
        return dp_fail(err, DP_E_USAGE,
                       "--lanes: a lane that has ended has no checkpoint to go on from: --checkpoint and --resume are for one "
                       "run");
    if (loop->pipeline == NULL)
        return dp_fail(err, DP_E_USAGE, "no child pipeline (try --help)");
    if (o->model == NULL)
        return dp_fail(
            err, DP_E_USAGE,
            "--lanes: each lane's model has a file of its own: --model names them, as a directory with / at its end, "
            "or with {lane} or a column");
    if (o->init != NULL && strcmp(o->init, "-") == 0)
        return dp_fail(err, DP_E_USAGE, "--lanes: standard input is one, and the lanes that would start from it are several");
    return DP_OK;
}

/* A column that is an option of the same name. */
static int check_column(const struct dp_table *rows, const char *name, bool given, struct dp_err *err)
{
    if (given && dp_table_find(rows, name) < rows->columns)
        return dp_fail(err, DP_E_USAGE, "--lanes: the table has a column '%s', and an option says otherwise for all lanes",
                       name);
    return DP_OK;
}

static int check_columns(const struct dp_lane_table *t, const struct dp_loop_options *o, struct dp_err *err)
{
    if (dp_table_find(&t->rows, names[LANE]) < t->rows.columns)
        return dp_fail(err, DP_E_RUN, "%s: {lane} is the number of the lane, and no column", o->lanes);
    int rc = check_column(&t->rows, names[SEED], o->seed != DP_OPT_ABSENT_INT, err);
    if (rc == DP_OK)
        rc = check_column(&t->rows, names[LAPS], o->laps != DP_OPT_ABSENT_INT || o->plan != NULL, err);
    return rc;
}

/* The value that the table has for an option; the option's own where there is no such column. */
static int read_number(const struct dp_lane_table *t, size_t lane, const char *name, const struct dp_loop_options *given,
                       struct dp_loop_options *own, struct dp_err *err)
{
    const struct dp_option *option = dp_loop_option_table;
    size_t column = dp_table_find(&t->rows, name);
    struct dp_err why = {0};
    *own = *given;
    if (column == t->rows.columns)
        return DP_OK;
    while (strcmp(option->name, name) != 0)
        option++;
    int rc = dp_option_assign(option, own, dp_table_cell(&t->rows, lane, column), &why);
    return rc == DP_OK ? rc : dp_fail(err, rc, "%s: lane %zu: %.300s", given->lanes, lane + 1, why.message);
}

/* Before any lane is opened: a stage of one that waits would hold up those beside it. */
static int check_pipeline(const char *text, size_t lane, struct dp_err *err)
{
    struct dp_pipeline pipeline;
    struct dp_err why = {0};
    int rc = dp_pipeline_parse(&pipeline, text, &why);
    if (rc != DP_OK)
        rc = dp_fail(err, DP_E_USAGE, "lane %zu, which runs in this process: %.300s", lane + 1, why.message);
    for (int i = 0; rc == DP_OK && i < pipeline.stages; i++)
        if (dp_stage_find(pipeline.stage[i].argv[0])->waits)
            rc = dp_fail(err, DP_E_USAGE, "lane %zu: %s waits for others, and all lanes would wait with it", lane + 1,
                         pipeline.stage[i].argv[0]);
    dp_pipeline_free(&pipeline);
    return rc;
}

static int fill_lane(struct dp_lane_table *t, size_t lane, const struct dp_loop *loop, const char *model, bool *named,
                     struct dp_err *err)
{
    const struct dp_loop_options *o = &loop->options;
    struct dp_lane_texts *to = &t->lane[lane];
    struct dp_loop_options own;
    char number[WORDS][24];
    struct dp_table_word words[WORDS];
    size_t count = 0;
    int rc = read_number(t, lane, names[SEED], o, &own, err);
    to->seed = own.seed;
    if (rc == DP_OK)
        rc = read_number(t, lane, names[LAPS], o, &own, err);
    to->laps = own.laps;
    const int64_t value[WORDS] = {[LANE] = (int64_t)lane + 1, [SEED] = to->seed, [LAPS] = to->laps};
    for (size_t i = 0; i < WORDS; i++) {
        if (value[i] == DP_OPT_ABSENT_INT || dp_table_find(&t->rows, names[i]) < t->rows.columns)
            continue;
        snprintf(number[i], sizeof number[i], "%lld", (long long)value[i]);
        words[count++] = (struct dp_table_word){names[i], number[i], false};
    }
    const struct {
        const char *text;
        char **to;
    } texts[] = {{loop->pipeline, &to->pipeline}, {model, &to->model}, {o->init, &to->init}, {o->plan, &to->plan}};
    for (size_t i = 0; rc == DP_OK && i < sizeof texts / sizeof texts[0]; i++)
        if (texts[i].text != NULL)
            rc = dp_table_fill(&t->rows, lane, texts[i].text, words, count, named, texts[i].to, err);
    return rc == DP_OK ? check_pipeline(to->pipeline, lane, err) : rc;
}

/* A column that nothing names is one that somebody thinks is tried. */
static int check_named(const struct dp_table *rows, const bool *named, struct dp_err *err)
{
    for (size_t i = 0; i < rows->columns; i++) {
        const char *name = dp_table_name(rows, i);
        if (!named[i] && strcmp(name, names[SEED]) != 0 && strcmp(name, names[LAPS]) != 0)
            return dp_fail(err, DP_E_USAGE,
                           "{%.60s}: neither the pipeline nor --model, --init or --plan has that column of the "
                           "table",
                           name);
    }
    return DP_OK;
}

/* --- files of models ---------------------------------------------------------------------------------------------- */

struct place {
    char *path; /* of the directory without links, and the name in it */
    size_t lane;
};

static int by_path(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    int order = strcmp(x->path, y->path);
    return order != 0 ? order : (x->lane > y->lane) - (x->lane < y->lane);
}

static int place_of(const char *model, char **path, struct dp_err *err)
{
    char *one = strdup(model), *two = strdup(model), *directory = one != NULL ? realpath(dirname(one), NULL) : NULL;
    int rc = DP_OK;
    if (one == NULL || two == NULL)
        rc = dp_fail(err, DP_E_RUN, "out of memory");
    else if (directory == NULL)
        rc = dp_fail_errno(err, errno, "cannot write %.300s", model);
    else if (asprintf(path, "%s/%s", directory, basename(two)) < 0) {
        *path = NULL;
        rc = dp_fail(err, DP_E_RUN, "out of memory");
    }
    free(one);
    free(two);
    free(directory);
    return rc;
}

/* The file that comes last would take the place of the other's. */
static int check_models(const struct dp_lane_table *t, struct dp_err *err)
{
    struct place *place;
    size_t count = t->rows.count;
    int rc = dp_alloc(&place, count, sizeof *place, err);
    if (rc != DP_OK)
        return rc;
    for (size_t i = 0; rc == DP_OK && i < count; i++) {
        place[i].lane = i;
        rc = place_of(t->lane[i].model, &place[i].path, err);
    }
    if (rc == DP_OK)
        qsort(place, count, sizeof *place, by_path);
    for (size_t i = 1; rc == DP_OK && i < count; i++)
        if (strcmp(place[i - 1].path, place[i].path) == 0)
            rc = dp_fail(err, DP_E_USAGE, "--model: lanes %zu and %zu would both write %.300s", place[i - 1].lane + 1,
                         place[i].lane + 1, t->lane[place[i].lane].model);
    for (size_t i = 0; i < count; i++)
        free(place[i].path);
    free(place);
    return rc;
}

/* DIR/ stands for a file in it for each lane; the directory is made. */
static int model_text(const char *model, char **text, struct dp_err *err)
{
    size_t length = strlen(model);
    bool directory = length > 0 && model[length - 1] == '/';
    if (directory && mkdir(model, 0777) != 0 && errno != EEXIST)
        return dp_fail_errno(err, errno, "cannot make %.300s", model);
    if (asprintf(text, "%s%s", model, directory ? "{lane}.frames" : "") >= 0)
        return DP_OK;
    *text = NULL;
    return dp_fail(err, DP_E_RUN, "out of memory");
}

int dp_lane_table_open(struct dp_lane_table *table, const struct dp_loop *loop, struct dp_err *err)
{
    bool named[DP_TABLE_MOST_COLUMNS] = {0};
    char *model = NULL;
    int rc = check_options(loop, err);
    if (rc == DP_OK)
        rc = dp_table_open(&table->rows, loop->options.lanes, err);
    if (rc == DP_OK)
        rc = check_columns(table, &loop->options, err);
    if (rc == DP_OK)
        rc = dp_alloc(&table->lane, table->rows.count, sizeof *table->lane, err);
    if (rc == DP_OK)
        rc = model_text(loop->options.model, &model, err);
    for (size_t i = 0; rc == DP_OK && i < table->rows.count; i++)
        rc = fill_lane(table, i, loop, model, named, err);
    if (rc == DP_OK)
        rc = check_named(&table->rows, named, err);
    if (rc == DP_OK)
        rc = check_models(table, err);
    free(model);
    return rc;
}

void dp_lane_table_close(struct dp_lane_table *table)
{
    for (size_t i = 0; table->lane != NULL && i < table->rows.count; i++) {
        free(table->lane[i].pipeline);
        free(table->lane[i].model);
        free(table->lane[i].init);
        free(table->lane[i].plan);
    }
    free(table->lane);
    dp_table_free(&table->rows);
    *table = (struct dp_lane_table){0};
}

void dp_lane_table_take(const struct dp_lane_table *table, size_t lane, struct dp_loop *loop)
{
    const struct dp_lane_texts *from = &table->lane[lane];
    loop->pipeline = from->pipeline;
    loop->options.model = from->model;
    loop->options.init = from->init;
    loop->options.plan = from->plan;
    loop->options.seed = from->seed;
    loop->options.laps = from->laps;
    loop->options.exec = DP_EXEC_FUSED;
    loop->silent = true;
}
