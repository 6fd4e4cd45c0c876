#include "along.h"

#include <sys/stat.h>

#include "held_out.h"
#include "port/port.h"

enum { POINTS = 40 };

/* The next released model of the stream: 1; 0 at its end. */
static int next_model(struct dp_port *port, struct dp_frame *frame, struct dp_err *err)
{
    int rc;
    while ((rc = dp_port_read(port, frame, err)) == 1)
        if (frame->kind == DP_KIND_LAP && frame->label == DP_LABEL_RELEASED && dp_frame_has(frame, DP_F_MODEL))
            break;
    return rc;
}

static int count_models(const char *file, struct dp_frame *frame, size_t *count, struct dp_err *err)
{
    struct dp_port *port = NULL;
    int rc = dp_port_open(&port, file, DP_IN, err);
    for (*count = 0; rc == DP_OK && (rc = next_model(port, frame, err)) == 1; rc = DP_OK)
        ++*count;
    dp_port_close(port);
    return rc;
}

/* Adds the point of a lap. *rows are opened for the first one. */
static int add_point(json_t *points, struct held_out **rows, const char *test, const struct dp_frame *frame, struct dp_err *err)
{
    double epsilon = dp_frame_real(frame, DP_F_EPSILON, (double)NAN), value = (double)NAN;
    int rc = test != NULL && *rows == NULL ? held_out_open(rows, frame, test, err) : DP_OK;
    if (rc == DP_OK && test != NULL)
        rc = held_out_value(*rows, frame, &value, err);
    if (rc != DP_OK)
        return rc;
    json_array_append_new(points, json_pack("{s:I, s:o*, s:o*}", "lap", (json_int_t)frame->lap, "epsilon",
                                            isfinite(epsilon) ? json_real(epsilon) : NULL, "value",
                                            isfinite(value) ? json_real(value) : NULL));
    return DP_OK;
}

static int take_points(const char *file, const char *test, struct dp_frame *frame, size_t count, json_t *points,
                       struct dp_err *err)
{
    const size_t most = count < POINTS ? count : POINTS;
    struct held_out *rows = NULL;
    struct dp_port *port = NULL;
    int rc = dp_port_open(&port, file, DP_IN, err);
    for (size_t i = 0, taken = 0; rc == DP_OK && i < count; i++) {
        rc = next_model(port, frame, err);
        rc = rc == 1 ? DP_OK : rc == 0 ? dp_fail(err, DP_E_RUN, "%s changes while it is read", file) : rc;
        if (rc != DP_OK || i < taken * (count - 1) / (most - 1))
            continue;
        taken++;
        rc = add_point(points, &rows, test, frame, err);
    }
    held_out_close(rows);
    dp_port_close(port);
    return rc;
}

int along_measure(const char *file, const char *test, json_t **json, struct dp_err *err)
{
    struct stat st;
    size_t count = 0;
    *json = NULL;
    if (stat(file, &st) != 0 || !S_ISREG(st.st_mode))
        return DP_OK;
    struct dp_frame *frame = dp_frame_new();
    int rc = count_models(file, frame, &count, err);
    if (rc == DP_OK && count >= 3) {
        json_t *points = json_array();
        rc = take_points(file, test, frame, count, points, err);
        *json = json_pack("{s:I, s:o}", "laps", (json_int_t)count, "points", points);
    }
    dp_frame_free(frame);
    return rc;
}
