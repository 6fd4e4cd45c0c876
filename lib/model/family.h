/* Families of models: what the entries of a model mean. In a frame a model is a matrix of numbers and the name of a family; the
 * wire, the loop and the gate know no more about it. Code that makes a model, or scores rows with it, uses the family's row of
 * the table in family.c: a new family is that row and a file of its own. How a model is trained is defined in
 * model/method.h. */
#pragma once

#include "base/err.h"
#include "math/vec.h"
#include "nets/net.h"
#include "wire/frame.h"

/* The shape of a model. All of it is public. */
struct dp_form {
    const struct dp_family *family;
    size_t features;   /* columns of a row */
    size_t outputs;    /* scores of a row, see dp_loss_outputs */
    double intercept;  /* value of a constant column after the row's own; 0: no such column */
    size_t rows, cols; /* shape of the matrix of parameters */
    struct dp_net net; /* family network; otherwise zeros */
};

#define DP_FAMILY_ROWS 256

struct dp_family {
    const char *name;  /* name on the wire */
    const char *sides; /* for messages: what the rows and columns of the matrix are */
    size_t rows;       /* the most rows of a call of score: at most DP_FAMILY_ROWS */

    /* Sets rows and cols from the rest. */
    void (*shape)(struct dp_form *form);

    /* The inverse: sets features and outputs from rows, cols and intercept. False when no model has that shape. */
    bool (*read)(struct dp_form *form);

    /* The initial parameters of a run, rows × cols, the same for all sites. */
    void (*start)(const struct dp_form *form, double *parameters);

    /* Memory that score needs for one thread. NULL: it needs none. Released by close_room. */
    void *(*open_room)(const struct dp_form *form);
    void (*close_room)(void *room);

    /* scores: count × outputs. next and norm2 as for dp_rows_dot; both may be NULL. next: count rows that are needed soon.
     * norm2: gets the squared norms of the rows, without the constant. */
    void (*score)(const struct dp_form *form, const double *parameters, const struct dp_row *rows, size_t count,
                  const struct dp_row *next, double *scores, double *norm2, void *room);
};

/* u_k = w_k·x for each output k, where x may end in a constant: outputs × columns. */
extern const struct dp_family dp_family_linear;

/* A network (nets/net.h): 1 × number of parameters. The frame has its text. */
extern const struct dp_family dp_family_network;

/* The form of a network. DP_E_RUN: the text is not a network. */
int dp_form_network(struct dp_form *form, const char *text, struct dp_err *err);

/* open_room and close_room of the form's family; NULL if it needs none. */
void *dp_form_room(const struct dp_form *form);
void dp_form_leave(const struct dp_form *form, void *room);

/* The form of models of a family for such data. */
struct dp_form dp_form_for(const struct dp_family *family, size_t features, size_t outputs, double intercept);

/* The form of the model in a lap frame. DP_E_RUN for a family that is not in the table, and as dp_model_shape. */
int dp_form_read(struct dp_form *form, const struct dp_frame *frame, struct dp_err *err);

/* The model that a stage trains. *model is borrowed from the frame and must have this form. If the frame has no model, it gets
 * the initial one. */
int dp_form_model(const struct dp_form *form, struct dp_frame *frame, const double **model, struct dp_err *err);
