#include "patients.h"

#include <gsl/gsl_randist.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "port/port.h"

/* Texts of the fields of one patient. */
struct patient {
    char id[24], admitted[16], age[16], bmi[16], note[80];
    const char *sex, *ward, *smoker, *readmitted;
    int drugs;
};

static bool one_in(gsl_rng *rng, unsigned long n)
{
    return gsl_rng_uniform_int(rng, n) == 0;
}

static void note(gsl_rng *rng, char *text, size_t size, int drugs)
{
    static const char *const notes[] = {"stable", "came with his \"\"blue\"\" card", "allergic, see file", "família informada"};
    unsigned long k = gsl_rng_uniform_int(rng, 8);
    if (k < 4)
        snprintf(text, size, "\"%s; day %lu\"", notes[k], gsl_rng_uniform_int(rng, 9000));
    else if (k == 4)
        snprintf(text, size, "\"%d drugs\nreview in %lu days\"", drugs, 1 + gsl_rng_uniform_int(rng, 2000));
    else
        text[0] = 0;
}

/* Draws a patient: all draws happen for every patient, in one order. */
static void draw(gsl_rng *rng, int64_t number, struct patient *p)
{
    static const char *const wards[] = {"surgery", "cardiology", "emergency", "geriatrics"};
    static const char *const sexes[2][3] = {{"f", "F", "f"}, {"m", "M", "m"}};
    static const char *const missing[] = {"", "n/a", "unknown"};
    double age = fmax(18, fmin(98, 60 + 17 * gsl_ran_gaussian(rng, 1)));
    double bmi = fmax(14, fmin(55, 27 + 5 * gsl_ran_gaussian(rng, 1)));
    unsigned long ward = gsl_rng_uniform_int(rng, 4), sex = gsl_rng_uniform_int(rng, 2);
    bool smoker = gsl_rng_uniform(rng) < 0.3;
    p->drugs = (int)gsl_ran_poisson(rng, 4);
    double odds =
        0.045 * (age - 60) + 0.35 * (p->drugs - 4) + 0.03 * (bmi - 27) + (ward == 2 ? 0.7 : 0) + (smoker ? 0.5 : 0) - 0.2;
    p->readmitted = gsl_rng_uniform(rng) < 1 / (1 + exp(-odds)) ? "yes" : "no";
    if (one_in(rng, 3))
        p->readmitted = p->readmitted[0] == 'y' ? "Yes" : "No";
    snprintf(p->id, sizeof p->id, "P%06lld", (long long)number);
    unsigned long day = 1 + gsl_rng_uniform_int(rng, 28), month = 1 + gsl_rng_uniform_int(rng, 12);
    snprintf(p->admitted, sizeof p->admitted, "2026-%02lu-%02lu", month, day);
    const char *unknown = missing[gsl_rng_uniform_int(rng, 3)];
    bool without_age = one_in(rng, 40), without_bmi = one_in(rng, 15);
    snprintf(p->age, sizeof p->age, "%.0f", age);
    if (without_age)
        snprintf(p->age, sizeof p->age, "%s", unknown);
    snprintf(p->bmi, sizeof p->bmi, "%.1f", bmi);
    if (without_bmi)
        snprintf(p->bmi, sizeof p->bmi, "%s", unknown);
    p->sex = sexes[sex][gsl_rng_uniform_int(rng, 3)];
    p->ward = wards[ward];
    p->smoker = one_in(rng, 10) ? "" : smoker ? "yes" : "no";
    note(rng, p->note, sizeof p->note, p->drugs);
}

static void write_rows(gsl_rng *rng, FILE *file, int64_t rows, int64_t first, bool label)
{
    fputs(label ? "patient_id,admitted,age,sex,ward,bmi,drugs,smoker,note,readmitted\n"
                : "admitted,patient_id,ward,sex,age,drugs,bmi,smoker,note\n",
          file);
    for (int64_t i = 0; i < rows && !dp_interrupt_pending(); i++) {
        struct patient p;
        draw(rng, first + i, &p);
        if (label)
            fprintf(file, "%s,%s,%s,%s,%s,%s,%d,%s,%s,%s\n", p.id, p.admitted, p.age, p.sex, p.ward, p.bmi, p.drugs, p.smoker,
                    p.note, p.readmitted);
        else
            fprintf(file, "%s,%s,%s,%s,%s,%d,%s,%s,%s\n", p.admitted, p.id, p.ward, p.sex, p.age, p.drugs, p.bmi, p.smoker,
                    p.note);
    }
}

int patients_write(gsl_rng *rng, const char *path, int64_t rows, int64_t first, bool label, bool force, struct dp_err *err)
{
    struct dp_output output;
    if (!force && access(path, F_OK) == 0)
        return dp_fail(err, DP_E_RUN, "%s exists (--force replaces it)", path);
    int rc = dp_output_open(&output, path, true, err);
    if (rc == DP_OK) {
        write_rows(rng, output.stream, rows, first, label);
        rc = dp_output_close(&output, dp_interrupt_pending() ? DP_E_UPSTREAM : DP_OK, err);
    }
    return rc;
}
