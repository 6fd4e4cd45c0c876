/* The steps of a model (model/terms.h), from the cells of a row to scores, and from scores to predictions: each is a name and an
 * expression of cells and of earlier steps. This is the only place that knows how cells become features; the formats know how
 * expressions are written.
 *
 *   text, read      of a column: its cell without blanks, and the number or date in it
 *   number          of a numeric column: the same with fills, within the bounds
 *   category        of a categorical column: 0 for none, 1, 2, … in the order of the schema, one more for a missing cell
 *   place           of a number whose basis is cosines: m u of data/basis.h
 *   feature         f_j, of a network, which has no other sums and scores
 *   sum, norm2      Σ_j weight_kj f_j and Σ_j f_j²
 *   scale           the factor s of a row
 *   score           constant_k + s sum_k
 *   top, part, total, probability    of classes
 *   value           the prediction of a number */
#pragma once

#include "expr.h"
#include "model/terms.h"

struct step {
    const char *kind;     /* its name is the kind and the number: "text_3" */
    size_t number, level; /* a step uses only steps of lower levels */
    size_t last;          /* the highest level of a step that uses it, SIZE_MAX for results, 0: it is not used */
    const struct expr *value;
};

struct steps {
    const struct dp_terms *terms;
    struct step *step;
    size_t count, room;
    size_t score; /* scores are steps score, …, score + outputs − 1; predictions are made of the steps from `predict` on */
    size_t predict;
    struct {
        const struct expr *number, *missing, *place;
    } * column;
};

/* class: the caller finds the class by the largest score, the last `top`. */
void steps_open(struct steps *s, const struct dp_terms *terms, bool class);
void steps_close(struct steps *s);

/* Whether the step is of that kind. */
bool step_is(const struct step *step, const char *kind);
