#include "math/curves.h"

#include "base/mem.h"

struct scored {
    double score, y;
};

static int highest_first(const void *a, const void *b)
{
    const struct scored *p = a, *q = b;
    return (p->score < q->score) - (p->score > q->score);
}

/* Counts, down to each threshold, the rows of the class and the other rows. Keeps a corner if x + y has grown enough since the
 * last kept corner. */
static size_t walk(const struct scored *row, size_t rows, double positive, size_t most, struct dp_curve_point *points)
{
    double in = 0, out = 0, step = 2.0 / (double)most, kept = 0;
    size_t count = 0;
    points[count++] = (struct dp_curve_point){0, 0, 0};
    for (size_t i = 0; i < rows; i++) {
        in += row[i].y;
        out += 1 - row[i].y;
        double x = out / ((double)rows - positive), y = in / positive;
        bool corner = i + 1 == rows || row[i + 1].score < row[i].score;
        if (corner && (i + 1 == rows || x + y - kept >= step)) {
            points[count++] = (struct dp_curve_point){x, y, 0};
            kept = x + y;
        }
    }
    return count;
}

int dp_curve_roc(const double *score, const double *y, size_t rows, size_t most, struct dp_curve_point *points, size_t *count,
                 struct dp_err *err)
{
    double positive = 0;
    for (size_t i = 0; i < rows; i++)
        positive += y[i];
    if (positive <= 0 || positive >= (double)rows)
        return dp_fail(err, DP_E_RUN, "all rows have one class: there is no ROC curve");
    struct scored *row = dp_new(rows, sizeof *row);
    for (size_t i = 0; i < rows; i++)
        row[i] = (struct scored){score[i], y[i]};
    qsort(row, rows, sizeof *row, highest_first);
    *count = walk(row, rows, positive, most, points);
    free(row);
    return DP_OK;
}

size_t dp_curve_calibration(const double *probability, const double *y, size_t rows, size_t groups,
                            struct dp_curve_point *points)
{
    size_t count = 0;
    for (size_t k = 0; k < groups; k++)
        points[k] = (struct dp_curve_point){0, 0, 0};
    for (size_t i = 0; i < rows; i++) {
        size_t k = (size_t)(probability[i] * (double)groups);
        struct dp_curve_point *p = &points[k < groups ? k : groups - 1];
        p->x += probability[i];
        p->y += y[i];
        p->rows++;
    }
    for (size_t k = 0; k < groups; k++)
        if (points[k].rows > 0) {
            double n = (double)points[k].rows;
            points[count++] = (struct dp_curve_point){points[k].x / n, points[k].y / n, points[k].rows};
        }
    return count;
}

double dp_curve_calibration_error(const double *probability, const double *y, size_t rows)
{
    struct dp_curve_point points[DP_CURVE_GROUPS];
    size_t groups = dp_curve_calibration(probability, y, rows, DP_CURVE_GROUPS, points);
    double sum = 0;
    for (size_t g = 0; g < groups; g++)
        sum += (double)points[g].rows * fabs(points[g].x - points[g].y);
    return rows > 0 ? sum / (double)rows : (double)NAN;
}
