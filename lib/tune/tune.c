#include "tune/tune.h"

#include <fcntl.h>
#include <unistd.h>

#include "account/account.h"
#include "base/mapped.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/option.h"
#include "base/round.h"
#include "base/version.h"
#include "data/dataset.h"
#include "gate/once.h"
#include "gate/trial.h"
#include "gate/weak.h"
#include "port/port.h"
#include "runtime/command.h"
#include "tune/score.h"
#include "tune/settings.h"
#include "wire/model.h"

struct tuning {
    const struct dp_tune *tune;
    const struct dp_tune_options *options;
    struct dp_table grid;
    struct dp_score score;
    struct dp_trial_room room;
    struct dp_trial_plan *plan; /* plan of each setting */
    struct dp_dataset *data;    /* training data of the runs */
    bool all;
    struct dp_trials law;
    struct dp_charges charges; /* charges of the choice */
    struct dp_answer cost;     /* their cost at options->delta */
    struct dp_ledger *ledger;
    struct dp_key key;
    struct dp_port *out;
    struct dp_frame *here, *best;
    int64_t best_score;
    size_t chosen; /* setting of the best trial; grid.count without a best trial */
    int nothing;   /* a descriptor of the null device */
};

/* --- what was asked ----------------------------------------------------------------------------------------------- */

static int check_options(struct tuning *t, struct dp_err *err)
{
    const struct dp_tune_options *o = t->options;
    struct dp_err why = {0};
    t->all = strcmp(o->trials, DP_TUNE_ALL) == 0;
    if (t->tune->command == NULL)
        return dp_fail(err, DP_E_USAGE, "no command that makes a model (try --help)");
    if (!t->all && dp_trials_parse(&t->law, o->trials, &why) != DP_OK)
        return dp_fail(err, DP_E_USAGE, "--trials: %s, or " DP_TUNE_ALL, why.message);
    if (o->model == NULL && isatty(STDOUT_FILENO))
        return dp_fail(err, DP_E_USAGE,
                       "standard output is a terminal, which takes no model: name a file with --model, or redirect");
    return DP_OK;
}

static int open_all(struct tuning *t, struct dp_err *err)
{
    const struct dp_tune_options *o = t->options;
    t->score = (struct dp_score){.path = o->score_data,
                                 .metric = (enum dp_score_metric)o->metric,
                                 .clip = o->score_clip,
                                 .multiplier = o->score_multiplier};
    int rc = dp_settings_open(&t->grid, o->grid, err);
    rc = rc ?: dp_score_open(&t->score, err);
    if (rc == DP_OK) {
        t->plan = dp_new(t->grid.count, sizeof *t->plan);
        t->here = dp_frame_new();
        t->best = dp_frame_new();
    }
    rc = rc ?: dp_port_open(&t->out, o->model != NULL ? o->model : "-", DP_OUT, err);
    rc = rc ?: dp_trial_room_open(&t->room, t->tune->parent, err);
    if (rc == DP_OK && (t->nothing = open("/dev/null", O_WRONLY | O_CLOEXEC)) < 0)
        rc = dp_fail(err, DP_E_RUN, "cannot open /dev/null");
    t->chosen = t->grid.count;
    if (o->seed != DP_OPT_ABSENT_INT)
        dp_key_derive(&t->key, o->seed, "dp-tune", 0);
    else
        dp_key_fresh(&t->key);
    return rc;
}

/* --- what the runs would do --------------------------------------------------------------------------------------- */

/* The first line of a run's messages, as the end of a sentence. */
static void first_line(FILE *said, char *line, int size)
{
    rewind(said);
    if (fgets(line, size, said) == NULL)
        snprintf(line, (size_t)size, "it said nothing");
    line[strcspn(line, "\n")] = '\0';
}

/* Runs before any lap, so that the messages of the run do not depend on rows. */
static int ask_setting(struct tuning *t, size_t i, struct dp_err *err)
{
    const struct dp_settings_also also = {t->room.directory, t->options->seed};
    struct dp_command_end end;
    char *text = NULL, line[300];
    FILE *said = tmpfile();
    int rc = said != NULL ? DP_OK : dp_fail(err, DP_E_RUN, "cannot make a temporary file");
    rc = rc ?: dp_settings_fill(&t->grid, i, t->tune->command, &also, &text, err);
    rc = rc ?: dp_trial_room_ask(&t->room, NULL, err);
    if (rc == DP_OK) {
        struct dp_err unused = {0};
        dp_command_last(text, fileno(said), t->tune->stop, t->here, &end, &unused);
        rc = *t->tune->stop ? dp_fail(err, DP_E_RUN, "interrupted, before anything was charged")
                            : dp_trial_room_read(&t->room, &t->plan[i], err);
    }
    if (rc == 1) {
        first_line(said, line, sizeof line);
        rc = dp_fail(err, DP_E_RUN, "the run of setting %zu has no plan for dp-account --trial: %s", i + 1, line);
    }
    if (said != NULL)
        fclose(said);
    free(text);
    return rc;
}

static int ask_all(struct tuning *t, struct dp_err *err)
{
    const struct dp_trial_plan *first = &t->plan[0];
    bool seeded = t->options->seed != DP_OPT_ABSENT_INT;
    for (size_t i = 0; i < t->grid.count; i++) {
        const struct dp_trial_plan *plan = &t->plan[i];
        int rc = ask_setting(t, i, err);
        if (rc != DP_OK)
            return rc;
        if (strcmp(plan->directory, first->directory) != 0 || plan->rows != first->rows ||
            strcmp(plan->adjacency, first->adjacency) != 0)
            return dp_fail(err, DP_E_UNSAFE, "setting %zu trains on other rows than setting 1, or under another adjacency",
                           i + 1);
        if (plan->seeded != seeded)
            return dp_fail(err, DP_E_UNSAFE,
                           seeded ? "the run of setting %zu is not seeded, and --seed is for all draws"
                                  : "the run of setting %zu is seeded: dp-tune needs --seed, and the run {seed}",
                           i + 1);
    }
    return DP_OK;
}

/* Checks the population of the runs, and whether the score is about the same people. */
static int open_data(struct tuning *t, struct dp_err *err)
{
    const struct dp_dataset *scored = t->score.data;
    int rc = dp_dataset_open(&t->data, t->plan[0].directory, err);
    if (rc != DP_OK)
        return rc;
    if (t->plan[0].rows != (int64_t)t->data->persons)
        return dp_fail(err, DP_E_UNSAFE, "%.200s has rows of %zu persons, the runs announce %lld", t->plan[0].directory,
                       t->data->persons, (long long)t->plan[0].rows);
    if (scored->rows_per_person != t->data->rows_per_person)
        return dp_fail(err, DP_E_UNSAFE,
                       "%.200s and %.200s do not have the same unit of privacy: import both with one --rows-per-person",
                       t->options->score_data, t->plan[0].directory);
    if (!t->options->no_ledger && strcmp(scored->population, t->data->population) != 0)
        return dp_fail(err, DP_E_UNSAFE,
                       "%.200s has rows of '%.60s', and the runs train on '%.60s': one line of a ledger is about one "
                       "population (--no-ledger goes without)",
                       t->options->score_data, scored->population, t->data->population);
    return DP_OK;
}

/* --- the charge --------------------------------------------------------------------------------------------------- */

/* The runs of the settings become one run of the ledger, which has one list of events. */
static int charge_all(struct tuning *t, struct dp_err *err)
{
    struct dp_event score = dp_event_gaussian(DP_SAMPLING_NONE, 1, t->options->score_multiplier, 0);
    int rc = dp_charges_add(&t->charges, &score, (int64_t)t->grid.count, err);
    for (size_t i = 0; rc == DP_OK && i < t->grid.count; i++)
        for (size_t k = 0; rc == DP_OK && k < t->plan[i].charges.count; k++)
            rc = dp_charges_add_run(&t->charges, &t->plan[i].charges.charge[k].event, t->plan[i].charges.charge[k].laps, err);
    return rc;
}

static int charge_tuning(struct tuning *t, struct dp_err *err)
{
    struct dp_tuning *tuning;
    dp_tuning_new(&tuning, &t->law, t->options->score_multiplier);
    int rc = DP_OK;
    for (size_t i = 0; rc == DP_OK && i < t->grid.count; i++)
        rc = dp_tuning_add(tuning, &t->plan[i].charges, 1, err);
    struct dp_event event = dp_event_tuned(tuning);
    rc = rc ?: dp_charges_add(&t->charges, &event, 1, err);
    dp_event_free(&event);
    return rc;
}

static int charge(struct tuning *t, struct dp_err *err)
{
    const struct dp_tune_options *o = t->options;
    int rc = t->all ? charge_all(t, err) : charge_tuning(t, err);
    rc = rc ?: dp_account_epsilon(DP_ACCOUNTANT_BEST, &t->charges, o->delta, &t->cost, err);
    if (rc != DP_OK)
        return rc;
    if (t->cost.upper > o->epsilon)
        return dp_fail(
            err, DP_E_BUDGET,
            "the choice costs epsilon = %.6g at delta = %g, and the budget is %g: dp-account sigma --trials says how "
            "much noise a run needs",
            dp_round_up(t->cost.upper, 6), o->delta, o->epsilon);
    return DP_OK;
}

static void hear(void *self, const char *sentence)
{
    const struct tuning *t = self;
    if (t->tune->warn != NULL)
        t->tune->warn("dp-tune", sentence);
}

static int check_weak(struct tuning *t, struct dp_err *err)
{
    const struct dp_tune_options *o = t->options;
    if (o->seed != DP_OPT_ABSENT_INT)
        return DP_OK;
    return dp_weak_check(t->cost.upper, o->delta, (int64_t)t->data->persons, o->allow_weak, hear, t, err);
}

/* Reserves the whole charge before the first trial. */
static int reserve(struct tuning *t, struct dp_err *err)
{
    const struct dp_tune_options *o = t->options;
    const char *schema_mark = dp_dataset_paid_mark(t->data);
    char unit[DP_UNIT_TEXT];
    const struct dp_ledger_run run = {
        .data = t->data->digest,
        .population = t->data->population,
        .unit = dp_unit_text(t->data->rows_per_person, unit),
        .rows = t->plan[0].rows,
        .adjacency = t->plan[0].adjacency,
        .epsilon = o->epsilon,
        .delta = o->delta,
        .seeded = o->seed != DP_OPT_ABSENT_INT,
        .preprocessing = t->data->private_preprocessing,
        .init.mark = schema_mark,
        .init.epsilon = schema_mark == NULL ? t->data->paid.epsilon : 0,
        .init.delta = schema_mark == NULL ? t->data->paid.delta : 0,
        .init.elsewhere = t->data->paid.by != NULL && schema_mark == NULL,
        .time = t->tune->started,
    };
    struct dp_where_query query = {.ledger = o->ledger, .directory = t->plan[0].directory, .also = o->score_data};
    char warning[DP_ERR_MESSAGE_SIZE] = "";
    if (run.seeded && o->ledger == NULL) /* seeded runs are experiments */
        return DP_OK;
    if (run.seeded)
        query.registry.none = true;
    else
        query.registry = dp_registry_chosen(&o->registry, t->tune->place);
    if (o->no_ledger)
        return dp_where_note_outside(&query.registry, &run, DP_REGISTRY_NO_LEDGER, err);
    int rc = dp_once_open(&t->ledger, &query, &run, &t->charges, warning, err);
    if (rc == DP_OK && warning[0] != '\0' && t->tune->warn != NULL)
        t->tune->warn("dp-tune", warning);
    return rc == DP_E_BUDGET
               ? dp_fail(err, DP_E_BUDGET,
                         "the rest of the data set's budget does not pay for the choice, which costs epsilon = %.6g",
                         dp_round_up(t->cost.upper, 6))
               : rc;
}

/* Closes the ledger with the end of the selection, and with the model if one was released. */
static int close_ledger(struct tuning *t, const char *status, const struct dp_frame *model, struct dp_err *err)
{
    char digest[DP_MODEL_DIGEST];
    int rc = t->ledger != NULL && model != NULL ? dp_model_digest(model, digest, err) : DP_OK;
    return rc == DP_OK ? dp_once_close(&t->ledger, &t->charges, &t->cost, t->options->delta, status,
                                       model != NULL ? digest : NULL, model != NULL ? model->lap : 0, err)
                       : rc;
}

/* --- the trials --------------------------------------------------------------------------------------------------- */

/* Checks that a trial did what was charged; otherwise nothing is released. The reason of its failure is private. */
static int check_trial(const struct tuning *t, size_t setting, const struct dp_command_end *end, struct dp_err *err)
{
    struct dp_trial_plan plan = {0};
    const struct dp_frame *f = t->here;
    bool seeded = t->options->seed != DP_OPT_ABSENT_INT;
    int rc = dp_trial_room_read(&t->room, &plan, err);
    bool none = rc == 1;
    rc = none ? DP_OK : rc;
    if (rc == DP_OK && !none && !dp_trial_plan_same(&plan, &t->plan[setting]))
        rc = dp_fail(err, DP_E_UNSAFE, "a trial announced something else than its setting had");
    if (rc == DP_OK && (none || end->status != 0 || !end->whole || !end->lap))
        rc = dp_fail(err, DP_E_RUN,
                     "a trial failed, and the choice stays charged: its messages are not shown, because they are not charged; "
                     "run the command on rows that are not private to see them");
    if (rc == DP_OK && (f->label != DP_LABEL_RELEASED || strcmp(dp_frame_text(f, DP_F_TRIAL, ""), t->room.name) != 0 ||
                        strcmp(dp_frame_text(f, DP_F_DATA, ""), t->data->digest) != 0 ||
                        dp_frame_bool(f, DP_F_SEEDED) != seeded || dp_frame_bool(f, DP_F_NON_PRIVATE)))
        rc = dp_fail(err, DP_E_UNSAFE, "a trial's model did not come from its gate, or not from the rows that were announced");
    dp_trial_plan_free(&plan);
    return rc;
}

static int run_trial(struct tuning *t, int64_t number, size_t setting, int64_t seed, struct dp_err *err)
{
    const struct dp_settings_also also = {t->room.directory, seed};
    struct dp_command_end end = {0};
    struct dp_err unused = {0};
    int64_t score = 0;
    char *text = NULL;
    int rc = dp_settings_fill(&t->grid, setting, t->tune->command, &also, &text, err);
    rc = rc ?: dp_trial_room_ask(&t->room, &t->plan[setting], err);
    if (rc == DP_OK && dp_command_last(text, t->nothing, t->tune->stop, t->here, &end, &unused) != DP_OK)
        end = (struct dp_command_end){.status = 1};
    free(text);
    if (rc == DP_OK && *t->tune->stop)
        rc = dp_fail(err, DP_E_RUN, "interrupted, and the choice stays charged");
    rc = rc ?: check_trial(t, setting, &end, err);
    dp_frame_drop(t->here, DP_F_TRIAL);
    rc = rc ?: dp_score_noised(&t->score, t->here, &t->key, number, &score, err);
    rc = rc ?: dp_mapped_check(true, err);
    if (rc == DP_OK && (t->chosen == t->grid.count || score > t->best_score)) {
        struct dp_frame *swap = t->best;
        t->best = t->here;
        t->here = swap;
        t->best_score = score;
        t->chosen = setting;
    }
    return rc;
}

static int run_trials(struct tuning *t, struct dp_err *err)
{
    int64_t count = t->all ? (int64_t)t->grid.count : dp_trials_draw(&t->law, &t->key);
    int rc = DP_OK;
    for (int64_t i = 1; rc == DP_OK && i <= count; i++) {
        struct dp_stream stream;
        dp_stream_start(&stream, &t->key, DP_DRAW_SETTING, (uint64_t)i);
        size_t setting = (size_t)dp_stream_below(&stream, t->grid.count);
        int64_t seed = (int64_t)dp_stream_below(&stream, (uint64_t)1 << 53);
        rc = run_trial(t, i, t->all ? (size_t)i - 1 : setting, t->options->seed != DP_OPT_ABSENT_INT ? seed : DP_OPT_ABSENT_INT,
                       err);
    }
    return rc;
}

/* --- the release -------------------------------------------------------------------------------------------------- */

static void state_cost(struct tuning *t)
{
    const struct dp_tune_options *o = t->options;
    struct dp_frame *f = t->best;
    /* Records and laps of the trial are not the cost of the choice: the model gets the number of charged laps. */
    f->records = 0;
    f->lap = 0;
    for (size_t i = 0; i < t->charges.count; i++)
        f->lap += t->charges.charge[i].laps;
    dp_frame_drop(f, DP_F_LAPS);
    dp_frame_set_real(f, DP_F_EPSILON,
                      fmin(dp_round_up_bits(t->data->paid.epsilon + t->cost.upper), t->data->paid.epsilon + o->epsilon));
    dp_frame_set_real(f, DP_F_DELTA, t->data->paid.delta + o->delta);
    if (t->data->paid.by != NULL) {
        dp_frame_set_real(f, DP_F_PRIOR_EPSILON, t->data->paid.epsilon);
        dp_frame_set_real(f, DP_F_PRIOR_DELTA, t->data->paid.delta);
    }
    if (o->no_ledger)
        dp_frame_set_bool(f, DP_F_UNTRACKED, true);
    dp_frame_set_string(f, DP_F_TRIALS, o->trials);
    dp_frame_set_string(f, DP_F_SELECTED_ON, t->score.data->digest);
    if (t->ledger != NULL)
        dp_frame_set_string(f, DP_F_LEDGER, dp_ledger_mark(t->ledger));
}

static int write_model(struct tuning *t, struct dp_err *err)
{
    struct dp_frame *f = t->here;
    dp_frame_reset(f, DP_KIND_HELLO);
    dp_frame_set_int(f, DP_F_FORMAT, DP_FRAME_FORMAT);
    dp_frame_set_int(f, DP_F_STAGE, 0);
    dp_frame_set_string(f, DP_F_SOFTWARE, "dpline " DP_VERSION);
    int rc = dp_port_write(t->out, f, err);
    rc = rc ?: dp_port_write(t->out, t->best, err);
    dp_frame_reset(f, DP_KIND_END);
    rc = rc ?: dp_port_write(t->out, f, err);
    return rc ?: dp_port_commit(t->out, err);
}

/* Prints the setting and the noised score of the best trial, which are part of the charged release. */
static void tell(const struct tuning *t)
{
    char text[1000], number[40];
    double score = (double)t->best_score / DP_SCORE_ONE / (double)t->score.data->persons;
    int used = snprintf(text, sizeof text, "chosen:");
    for (size_t i = 0; i < t->grid.columns && used < (int)sizeof text - 200; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%s %.60s %.60s", i > 0 ? "," : "",
                         dp_table_name(&t->grid, i), dp_table_cell(&t->grid, t->chosen, i));
    snprintf(text + used, sizeof text - (size_t)used, "; %s %.4g with noise; epsilon %s, delta %g",
             t->score.metric == DP_SCORE_ACCURACY ? "accuracy" : "score", score,
             dp_number_print(dp_round_up(t->cost.upper, 6), number, sizeof number), t->options->delta);
    if (t->tune->note != NULL && !t->options->quiet)
        t->tune->note("dp-tune", text);
}

static int release(struct tuning *t, struct dp_err *err)
{
    if (t->chosen == t->grid.count) {
        int rc = close_ledger(t, "done", NULL, err);
        return rc == DP_OK ? dp_fail(err, DP_E_RUN,
                                     "the number of trials was drawn as 0, so there is no model; the cost of the choice stays "
                                     "charged, because a second draw would change the distribution")
                           : rc;
    }
    state_cost(t);
    int rc = write_model(t, err);
    rc = rc ?: close_ledger(t, "done", t->best, err);
    if (rc == DP_OK)
        tell(t);
    return rc;
}

static void close_all(struct tuning *t)
{
    dp_trial_room_close(&t->room);
    for (size_t i = 0; t->plan != NULL && i < t->grid.count; i++)
        dp_trial_plan_free(&t->plan[i]);
    free(t->plan);
    dp_table_free(&t->grid);
    dp_score_close(&t->score);
    dp_dataset_close(t->data);
    dp_charges_free(&t->charges);
    dp_ledger_free(t->ledger);
    dp_port_close(t->out);
    dp_frame_free(t->here);
    dp_frame_free(t->best);
    if (t->nothing >= 0)
        close(t->nothing);
}

int dp_tune_run(const struct dp_tune *tune, struct dp_err *err)
{
    struct tuning t = {.tune = tune, .options = &tune->options, .room.lock = -1, .nothing = -1};
    struct dp_err unused;
    int rc = check_options(&t, err);
    rc = rc ?: open_all(&t, err);
    rc = rc ?: ask_all(&t, err);
    rc = rc ?: open_data(&t, err);
    rc = rc ?: charge(&t, err);
    rc = rc ?: check_weak(&t, err);
    rc = rc ?: reserve(&t, err);
    rc = rc ?: run_trials(&t, err);
    if (rc != DP_OK && *tune->stop && t.ledger != NULL)
        close_ledger(&t, "interrupted", NULL, &unused);
    rc = rc ?: release(&t, err);
    close_all(&t);
    return rc;
}
