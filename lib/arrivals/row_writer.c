#include "arrivals/row_writer.h"

#include "model/described.h"
#include "base/mem.h"
#include "base/version.h"
#include "wire/codec.h"

struct dp_row_writer {
    struct dp_port *port;
    struct dp_frame *frame; /* the next lap frame, with the facts of the rows */
    size_t cols, count, most;
    int64_t lap;
    float *x;
    double *y;
};

/* Uses a separate frame, so that the lap frame keeps its fields. */
static int write_bare(struct dp_row_writer *w, enum dp_kind kind, int status, struct dp_err *err)
{
    static const char software[] = "dpline " DP_VERSION;
    struct dp_frame *frame = dp_frame_new();
    dp_frame_reset(frame, kind);
    if (kind == DP_KIND_HELLO) {
        dp_frame_set_int(frame, DP_F_FORMAT, DP_FRAME_FORMAT);
        dp_frame_set_string(frame, DP_F_SOFTWARE, software);
    } else if (status != 0) {
        dp_frame_set_int(frame, DP_F_STATUS, status);
    }
    int rc = dp_port_write(w->port, frame, err);
    dp_frame_free(frame);
    return rc;
}

int dp_row_writer_open(struct dp_row_writer **writer, struct dp_port *port, const struct dp_row_facts *facts,
                       struct dp_err *err)
{
    size_t room = DP_LIMIT_FRAME / 4 / (4 * facts->cols + 8);
    if (room == 0)
        return dp_fail(err, DP_E_RUN, "a row of %zu columns does not fit a frame", facts->cols);
    struct dp_row_writer *w = dp_new(1, sizeof *w);
    w->port = port;
    w->cols = facts->cols;
    w->most = room < DP_ROWS_TOGETHER ? room : DP_ROWS_TOGETHER;
    w->frame = dp_frame_new();
    w->x = dp_new(w->most * w->cols, sizeof *w->x);
    w->y = dp_new(w->most, sizeof *w->y);
    dp_frame_reset(w->frame, DP_KIND_LAP);
    w->frame->label = DP_LABEL_RAW;
    dp_describe(w->frame, facts);
    int rc = write_bare(w, DP_KIND_HELLO, 0, err);
    if (rc != DP_OK) {
        dp_row_writer_close(w);
        return rc;
    }
    *writer = w;
    return DP_OK;
}

int dp_row_writer_flush(struct dp_row_writer *w, struct dp_err *err)
{
    float *x;
    double *y;
    if (w->count == 0)
        return DP_OK;
    if (dp_port_unread(w->port))
        return dp_fail(err, DP_E_RUN, "nobody reads the rows any more");
    int rc = dp_frame_make_array(w->frame, DP_F_X, DP_F32, w->count, w->cols, &x, err);
    rc = rc ?: dp_frame_make_array(w->frame, DP_F_Y, DP_F64, w->count, 0, &y, err);
    if (rc != DP_OK)
        return rc;
    memcpy(x, w->x, w->count * w->cols * sizeof *x);
    memcpy(y, w->y, w->count * sizeof *y);
    w->count = 0;
    w->frame->lap = ++w->lap;
    return dp_port_write(w->port, w->frame, err);
}

int dp_row_writer_put(struct dp_row_writer *w, const float *x, double y, struct dp_err *err)
{
    memcpy(w->x + w->count * w->cols, x, w->cols * sizeof *x);
    w->y[w->count++] = y;
    return w->count == w->most ? dp_row_writer_flush(w, err) : DP_OK;
}

int dp_row_writer_end(struct dp_row_writer *w, struct dp_err *err)
{
    int rc = dp_row_writer_flush(w, err);
    return rc ?: write_bare(w, DP_KIND_END, 0, err);
}

void dp_row_writer_fail(struct dp_row_writer *w, int status)
{
    struct dp_err unused;
    write_bare(w, DP_KIND_ERROR, dp_exit_status(status), &unused);
}

void dp_row_writer_close(struct dp_row_writer *w)
{
    if (w == NULL)
        return;
    dp_frame_free(w->frame);
    free(w->x);
    free(w->y);
    free(w);
}
