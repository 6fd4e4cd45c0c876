/* The page of dp-account report: what a released model has cost the people whose rows it was trained on, as one HTML file for
 * readers who are not engineers. It loads nothing from elsewhere, is legible on light and dark backgrounds, and prints on two
 * sheets. */
#pragma once

#include <jansson.h>
#include <time.h>

#include "base/c.h"

/* Weights of a linear model with one output and no schema, in the order of the data set's columns. */
struct page_weights {
    char **names;
    double *values;
    size_t count;
    bool divides; /* each row was divided by its norm */
};

struct page {
    const json_t *report;       /* of dp_ledger_report_people, one population; NULL without a ledger */
    const json_t *certificate;  /* of dp_certificate_make, or NULL: no model was named */
    bool alone;                 /* no ledger has the model's run: certificate is of stated_by_model */
    const json_t *held_out;     /* of held_out_measure, or NULL */
    const json_t *along;        /* of along_measure, or NULL */
    const char *ledger, *model; /* their file names; ledger: may be NULL */
    const char *software;
    const json_t *predicts; /* {"name", "classes", "low", "high"} if known, or {"release", "synthetic",
                               "errors": {"file", "line": […]}}, or NULL */
    const char *left_out;   /* "": no column; NULL: not known */
    time_t made;
    struct page_weights weights; /* count 0: none */
    json_t *coefficients;        /* of info_coefficients_json, or NULL */
    json_t *curves;              /* of info_curves_json, or NULL */
    bool plain;                  /* for plain.h: tables in place of drawings */
};

/* Sorts the weights. The stream's error flag says whether writing worked. */
void page_print(struct page *page, FILE *out);
