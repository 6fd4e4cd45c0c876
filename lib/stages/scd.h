/* dp-scd-step: code shared by its variants. scd_step.c holds the options and the batch loop; scd_dual.c, scd_sequential.c and
 * scd_primal.c hold one algorithm each. Paper: Damaskinos et al., "Differentially Private Stochastic Coordinate Descent",
 * 2021. */
#pragma once

#include "math/dual.h"
#include "stages/row_stage.h"

enum dp_scd_variant { DP_SCD_PARALLEL, DP_SCD_SEQUENTIAL, DP_SCD_PRIMAL, DP_SCD_NON_PRIVATE };

struct dp_scd_options {
    struct dp_row_options row;
    double clip, sigma_prime_scale;
    int64_t newton, gap_every;
    int variant;
    bool release_alpha;
};

/* State of --variant non-private, in addition to alpha; rows are numbered within own_rows. */
struct dp_scd_certificate {
    double *norm2;   /* own_rows: ‖x‖²; 0: not known yet */
    uint32_t *place; /* own_rows: place of a row in an inline batch */
    uint32_t *list;  /* own_rows: the rows that a pass goes over */
    double *slope;   /* own_rows × outputs: dp_dual_slope at `point` */
    double *total;   /* outputs × cols: Σ alpha x */
    double *point;   /* outputs × cols: v computed from these values of alpha */
    bool made;
    double objective, gap; /* P(point / (lambda N)), and an upper bound on P − D(alpha) */
};

#define DP_SCD_BLOCKS 5
struct dp_scd {
    struct dp_row_state row;
    const struct dp_scd_options *options;
    struct dp_batch_sum batch_sum;
    size_t own_rows;    /* rows that may be in a batch here; row.rows counts all shards */
    size_t outputs;     /* 1, or K for one-vs-rest */
    double lambda_n;    /* lambda × the public number of rows */
    double *alpha;      /* own_rows × outputs: secret, never released */
    double *zeta;       /* outputs: zeta of one row */
    double *blocks;     /* threads × DP_SCD_BLOCKS × DP_ROWS × outputs, dp_apart: work space for blocks */
    float *coefficient; /* outputs: coefficients of one row */
    double *work;       /* outputs × cols, and cols more for the primal */
    struct dp_scd_certificate certificate;
    int64_t *last_id; /* release_alpha: rows of the last batch, whose alpha still needs noise */
    size_t last_count, last_capacity;
    size_t restored; /* entries of alpha from a checkpoint, before the shapes are known */
    int64_t last_lap;
};

static inline double dp_scd_target(const struct dp_scd *s, double label, size_t k)
{
    return dp_loss_target(label, s->row.classes, s->outputs, k);
}

/* Algorithm 1, one lap: every zeta from the same v; clipped jointly over outputs and summed exactly (with --clip), or
   left as updates per example for dp-clip. `model` is v, outputs × cols. */
int dp_scd_parallel(struct dp_stage *stage, struct dp_frame *frame, const struct dp_batch *batch, const double *model,
                    struct dp_err *err);

/* Algorithm 3, one lap: one zeta after another, each computed with the earlier ones applied. */
int dp_scd_sequential(struct dp_stage *stage, struct dp_frame *frame, const struct dp_batch *batch, const double *model,
                      struct dp_err *err);

/* One lap of Algorithm 2: changes some weights, each computed from all rows. */
int dp_scd_primal(struct dp_stage *stage, struct dp_frame *frame, const struct dp_batch *batch, const double *model,
                  struct dp_err *err);

/* Stochastic dual coordinate ascent without privacy, in double, with the duality gap every --gap-every laps. */
int dp_scd_non_private(struct dp_stage *stage, struct dp_frame *frame, const struct dp_batch *batch, const double *model,
                       struct dp_err *err);

/* Computes the certificate of v = point and alpha, for a batch of all rows: one pass over the rows in the order of their
 * numbers, which place[] maps to the batch. The gap is the sum over outputs of P(v/(lambda N)) − D(alpha) as real numbers,
 * rounded up. Everything is computed again from alpha, without values that updates have accumulated. */
void dp_scd_certificate_alloc(struct dp_scd *s);
void dp_scd_certificate_free(struct dp_scd_certificate *certificate);
void dp_scd_certify(struct dp_scd *s, const struct dp_batch *batch, const double *point);

/* The row of the batch with that number, its label, and ‖x‖², which is kept. */
static inline struct dp_row dp_scd_row(const struct dp_scd *s, const struct dp_batch *batch, size_t id)
{
    return batch->dataset != NULL ? dp_dataset_row(batch->dataset, id) : dp_batch_row(batch, s->certificate.place[id]);
}
static inline double dp_scd_label(const struct dp_scd *s, const struct dp_batch *batch, size_t id)
{
    return batch->y[batch->dataset != NULL ? id : s->certificate.place[id]];
}
static inline double dp_scd_norm2(struct dp_scd *s, size_t id, struct dp_row row)
{
    double *norm2 = &s->certificate.norm2[id];
    if (*norm2 == 0)
        *norm2 = dp_row_norm2(row);
    return *norm2;
}

/* sigma' of the subproblem: --sigma-prime-scale × q N. */
double dp_scd_sigma_prime(const struct dp_scd *s, const struct dp_record *m);

/* Adds the noise of Algorithms 1 and 3 to alpha of the last batch's rows, with the scale of the noise that was released (field
 * noise_scale). The noise of a row is addressed by its number among all rows. */
int dp_scd_noise_alpha(struct dp_stage *stage, const struct dp_frame *frame, struct dp_err *err);

/* Completes the record with the bound, as if each row had one update. Returns the record, so that a variant can
 * change its sensitivity. */
struct dp_record *dp_scd_record(const struct dp_scd *s, struct dp_frame *frame, enum dp_release release);
