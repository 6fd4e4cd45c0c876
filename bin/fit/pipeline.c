#include "pipeline.h"

#include "base/mem.h"
#include "base/text.h"

static void option(FILE *to, const char *name, const char *value)
{
    if (value == NULL)
        return;
    fprintf(to, " --%s ", name);
    dp_text_shell(value, to);
}

static void flag(FILE *to, const char *name, bool given)
{
    if (given)
        fprintf(to, " --%s", name);
}

/* " --data … --intercept …", the options that all stages that read rows share. */
static void rows(FILE *to, const struct dp_fit *fit, const struct fit_options *o)
{
    option(to, "data", o->data);
    fprintf(to, " --intercept %.9g", fit->intercept);
}

static void readers(FILE *to, const struct fit_options *o)
{
    fprintf(to, " --threads %lld", (long long)o->threads);
    option(to, "adjacency", o->adjacency);
    fputs(" |\n", to);
}

/* The rows of laps of that kind (NULL: of all laps), of which a rate below 1 takes a sample. */
static void sample(FILE *to, const char *kind, double rate, const struct fit_options *o)
{
    fputs("  dp-sample   ", to);
    option(to, "on", kind);
    option(to, "data", o->data);
    if (rate < 1)
        fprintf(to, " --rate %.9g |\n", rate);
    else
        fputs(" --mode full |\n", to);
}

/* The rows of all laps. */
static void samples(FILE *to, const struct dp_fit *fit, const struct fit_options *o)
{
    const bool apart = fit->rate < 1 && (fit->moments > 0 || fit->temperature > 0);
    putc('\n', to);
    if (apart && fit->moments > 0)
        sample(to, "moments", fit->moments_rate, o);
    sample(to, apart ? "gradient" : NULL, fit->rate, o);
    if (apart && fit->temperature > 0)
        sample(to, "temperature", fit->rate, o);
}

static void gate(FILE *to, const char *name, const struct fit_options *o)
{
    fprintf(to, "  %s", name);
    option(to, "epsilon", o->epsilon);
    option(to, "delta", o->delta);
    flag(to, "with-schema", o->with_schema);
    flag(to, "no-ledger", o->no_ledger);
    flag(to, "partial", o->partial);
    flag(to, "allow-weak", o->allow_weak);
    option(to, "ledger", o->ledger);
    option(to, "registry", o->registry);
    flag(to, "no-registry", o->no_registry);
    flag(to, "allow-seeded", o->seed != NULL);
    fputs(" |\n", to);
}

/* Laps that find the temperature: how they begin, their noise, and how they end. */
static void temperature(FILE *to, const struct dp_fit *fit, const struct fit_options *o)
{
    if (fit->temperature == 0)
        return;
    fputs("  dp-temperature --on temperature", to);
    option(to, "data", o->data);
    readers(to, o);
}

static void temperature_noise(FILE *to, const struct dp_fit *fit)
{
    if (fit->temperature > 0)
        fprintf(to, "  dp-noise     --on temperature --multiplier %.9g |\n", fit->gradient);
}

static void temperature_step(FILE *to, const struct dp_fit *fit)
{
    if (fit->temperature > 0)
        fputs(" |\n  dp-step      --on temperature --temperature", to);
}

static void plain(FILE *to, const struct dp_fit *fit, const struct fit_options *o)
{
    const char *on = fit->temperature > 0 ? " --on gradient" : "";
    samples(to, fit, o);
    fprintf(to, "  dp-grad     %s", on);
    rows(to, fit, o);
    fprintf(to, " --loss %s --clip %.9g --scale %.9g", dp_loss_names[fit->loss], fit->clip, fit->scale);
    option(to, "class-weights", o->class_weights);
    readers(to, o);
    temperature(to, fit, o);
    fprintf(to, "  dp-noise    %s --multiplier %.9g |\n", on, fit->gradient);
    temperature_noise(to, fit);
    gate(to, "dp-account  ", o);
    const char *end = fit->run == DP_FIT_DECAYED ? " --schedule linear-decay" : fit->last ? "" : " --average tail";
    fprintf(to, "  dp-step     %s --step %.9g --momentum %.9g%s", on, fit->step, DP_FIT_MOMENTUM, end);
    temperature_step(to, fit);
}

static void moments(FILE *to, const struct dp_fit *fit, const struct fit_options *o)
{
    samples(to, fit, o);
    fputs("  dp-moments   --on moments", to);
    rows(to, fit, o);
    flag(to, "unit", fit->unit);
    readers(to, o);
    fputs("  dp-grad      --on gradient", to);
    rows(to, fit, o);
    fprintf(to, " --loss %s", dp_loss_names[fit->loss]);
    option(to, "class-weights", o->class_weights);
}

static void transformed(FILE *to, const struct dp_fit *fit, const struct fit_options *o)
{
    moments(to, fit, o);
    fprintf(to, " --clip %.9g --scale %.9g", fit->clip, fit->scale);
    readers(to, o);
    temperature(to, fit, o);
    fprintf(to, "  dp-noise     --on moments --multiplier %.9g |\n", fit->moments);
    fprintf(to, "  dp-noise     --on gradient --multiplier %.9g |\n", fit->gradient);
    temperature_noise(to, fit);
    gate(to, "dp-account  ", o);
    fprintf(to, "  dp-transform --on moments --floor %.9g --radius %.9g |\n", fit->floor, fit->radius);
    fprintf(to, "  dp-step      --on gradient --step %.9g --relative --average tail", fit->step);
    temperature_step(to, fit);
}

static void uncut(FILE *to, const struct dp_fit *fit, const struct fit_options *o)
{
    char schedule[60];
    snprintf(schedule, sizeof schedule, "--schedule first:%lld:%d", (long long)fit->late, DP_FIT_EARLY);
    moments(to, fit, o);
    fprintf(to, " --threads %lld |\n  dp-clip      --on gradient", (long long)o->threads);
    option(to, "data", o->data);
    fprintf(to, " --clip 1 --adaptive %.9g --adaptive-rate %.9g --adaptive-most 4", fit->quantile, fit->quantile_rate);
    readers(to, o);
    fprintf(to, "  dp-noise     --on moments --multiplier %.9g |\n", fit->moments);
    fprintf(to, "  dp-noise     --on gradient --multiplier %.9g %s --count-multiplier %.9g |\n", fit->gradient, schedule,
            fit->counts);
    gate(to, "dp-account  ", o);
    fprintf(to, "  dp-transform --on moments --floor %.9g --radius %.9g --uncut --constant %.9g |\n", fit->floor, fit->radius,
            fit->intercept);
    fprintf(to, "  dp-step      --on gradient --step %.9g --relative --constant-laps %lld --average tail --tail %.9g",
            fit->step, (long long)fit->late, fit->tail);
}

static void stream(FILE *to, const struct dp_fit *fit, const struct fit_options *o)
{
    fputs("\n  dp-window   ", to);
    option(to, "rows", o->arrivals);
    fprintf(to, " --size %lld |\n", (long long)fit->window);
    fprintf(to, "  dp-grad      --loss %s --clip %.9g --threads %lld", dp_loss_names[fit->loss], fit->clip,
            (long long)o->threads);
    option(to, "class-weights", o->class_weights);
    fprintf(to, " |\n  dp-noise     --multiplier %.9g --correlated %lld |\n", fit->gradient, (long long)fit->bands);
    gate(to, "dp-account  ", o);
    fprintf(to, "  dp-step      --step %.9g --average polynomial --gamma %d", fit->step, DP_FIT_STREAM_DEGREE);
}

/* How many laps there are, of each kind if there are kinds. */
static void plan(FILE *to, const struct dp_fit *fit)
{
    const bool moments = fit->run == DP_FIT_TRANSFORMED || fit->run == DP_FIT_UNCUT;
    if (!moments && fit->temperature == 0) {
        fprintf(to, " --laps %lld -- ", (long long)fit->laps);
        return;
    }
    fprintf(to, " --plan '%sgradient %lld", moments ? "moments 1, " : "", (long long)fit->laps);
    if (fit->temperature > 0)
        fprintf(to, ", temperature %lld", (long long)fit->temperature);
    fputs("' -- ", to);
}

void fit_print(FILE *to, const struct dp_fit *fit, const struct fit_options *o)
{
    static void (*const write[])(FILE *, const struct dp_fit *,
                                 const struct fit_options *) = {[DP_FIT_PLAIN] = plain,
                                                                [DP_FIT_TRANSFORMED] = transformed,
                                                                [DP_FIT_UNCUT] = uncut,
                                                                [DP_FIT_DECAYED] = plain,
                                                                [DP_FIT_STREAM] = stream};
    char *text = NULL;
    size_t length;
    FILE *pipeline = dp_got(open_memstream(&text, &length));
    write[fit->run](pipeline, fit, o);
    dp_close_text(pipeline);
    fputs("dp-loop", to);
    option(to, "exec", o->exec);
    option(to, "seed", o->seed);
    fputs(o->quiet ? " -q" : "", to);
    option(to, "model", o->model);
    plan(to, fit);
    dp_text_shell(text, to);
    putc('\n', to);
    free(text);
}
