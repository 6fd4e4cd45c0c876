#include "arrivals/row_reader.h"

#include "model/described.h"
#include "base/mem.h"

struct dp_row_reader {
    struct dp_port *port;
    char *name;
    struct dp_frame *frame, *first; /* the last frame, and the first frame, which has the facts */
    struct dp_row_facts facts;
    bool hello, described, ended;
    int64_t lap;
};

void dp_row_reader_open(struct dp_row_reader **reader, struct dp_port *port, const char *name)
{
    struct dp_row_reader *r = dp_new(1, sizeof *r);
    r->port = port;
    r->name = dp_got(strdup(strcmp(name, "-") == 0 ? "standard input" : name));
    r->frame = dp_frame_new();
    r->first = dp_frame_new();
    *reader = r;
}

void dp_row_reader_close(struct dp_row_reader *r)
{
    if (r == NULL)
        return;
    dp_frame_free(r->frame);
    dp_frame_free(r->first);
    free(r->name);
    free(r);
}

const struct dp_row_facts *dp_row_reader_facts(const struct dp_row_reader *r)
{
    return &r->facts;
}

/* A record, or a field that a stream of rows does not have, means another stream. */
static int check_kind(const struct dp_row_reader *r, struct dp_err *err)
{
    const struct dp_frame *f = r->frame;
    if (f->label != DP_LABEL_RAW || f->records != 0 || dp_frame_has(f, DP_F_ROWS) || !dp_frame_has(f, DP_F_X) ||
        !dp_frame_has(f, DP_F_Y))
        return dp_fail(err, DP_E_RUN, "%s: frame %lld is not one of rows, as dp-import --out makes them", r->name,
                       (long long)f->lap);
    if (f->lap != r->lap + 1)
        return dp_fail(err, DP_E_UNSAFE, "%s: frame %lld came after frame %lld, and no row may be missing or come twice",
                       r->name, (long long)f->lap, (long long)r->lap);
    return DP_OK;
}

/* The facts come from the first frame; its arrays are not kept. */
static int describe(struct dp_row_reader *r, struct dp_err *err)
{
    struct dp_err why = {0};
    if (r->described)
        return dp_described_same(r->frame, r->first)
                   ? DP_OK
                   : dp_fail(err, DP_E_RUN, "%s: frame %lld describes other rows than the first frame", r->name,
                             (long long)r->frame->lap);
    int rc = dp_described(&r->facts, r->frame, &why);
    if (rc != DP_OK)
        return dp_fail(err, rc, "%s: frame %lld does not say what its rows are: %s", r->name, (long long)r->frame->lap,
                       why.message);
    dp_frame_reset(r->first, DP_KIND_LAP);
    dp_describe(r->first, &r->facts);
    rc = dp_described(&r->facts, r->first, err); /* borrowed from the first frame, which is kept */
    r->facts.cols = dp_frame_array(r->frame, DP_F_X)->dims[1];
    r->described = rc == DP_OK;
    return rc;
}

static int check_labels(const struct dp_row_reader *r, const struct dp_array *y, struct dp_err *err)
{
    const double *value = y->data, classes = (double)r->facts.classes;
    for (size_t i = 0; i < y->count; i++)
        if (isinf(value[i]) ||
            (!isnan(value[i]) && classes > 0 && (value[i] < 0 || value[i] >= classes || value[i] != floor(value[i]))))
            return dp_fail(err, DP_E_RUN, "%s: frame %lld has an invalid label", r->name, (long long)r->frame->lap);
    return DP_OK;
}

static int take_rows(struct dp_row_reader *r, struct dp_rows *rows, struct dp_err *err)
{
    const struct dp_array *x, *y;
    struct dp_err why = {0};
    int rc = check_kind(r, err);
    if (rc != DP_OK)
        return rc;
    rc = dp_frame_need_array(r->frame, DP_F_X, DP_F32, 2, &x, &why);
    rc = rc ?: dp_frame_need_array(r->frame, DP_F_Y, DP_F64, 1, &y, &why);
    if (rc != DP_OK)
        return dp_fail(err, rc, "%s: %s", r->name, why.message);
    if (x->dims[1] == 0 || x->dims[0] != y->count || (r->described && x->dims[1] != r->facts.cols))
        return dp_fail(err, DP_E_RUN, "%s: X and y of frame %lld have other shapes than its rows", r->name,
                       (long long)r->frame->lap);
    rc = describe(r, err);
    rc = rc ?: check_labels(r, y, err);
    r->lap = r->frame->lap;
    *rows = (struct dp_rows){y->count, r->facts.cols, x->data, y->data};
    return rc;
}

static int check_hello(struct dp_row_reader *r, struct dp_err *err)
{
    int64_t format = dp_frame_int(r->frame, DP_F_FORMAT, 0);
    if (r->hello)
        return dp_fail(err, DP_E_RUN, "%s: a second hello frame in one stream", r->name);
    if (format < 2 || format > DP_FRAME_FORMAT)
        return dp_fail(err, DP_E_RUN, "%s: the stream has frame format %lld, and streams of rows have formats from 2 to %d",
                       r->name, (long long)format, DP_FRAME_FORMAT);
    r->hello = true;
    return DP_OK;
}

int dp_row_reader_next(struct dp_row_reader *r, struct dp_rows *rows, struct dp_err *err)
{
    *rows = (struct dp_rows){0};
    while (!r->ended && rows->count == 0) {
        int rc = dp_port_read(r->port, r->frame, err);
        if (rc == 0)
            return dp_fail(err, DP_E_UPSTREAM, "%s ended before its end frame: the sender of the rows is gone", r->name);
        if (rc < 0)
            dp_err_in(err, r->name);
        if (rc != 1)
            return rc;
        if (r->frame->kind == DP_KIND_ERROR)
            return dp_fail(err, DP_E_UPSTREAM, "%s: the sender of the rows has failed", r->name);
        if (r->frame->kind != DP_KIND_HELLO && !r->hello)
            return dp_fail(err, DP_E_RUN, "%s: the stream does not begin with a hello frame", r->name);
        r->ended = r->frame->kind == DP_KIND_END;
        if (r->frame->kind == DP_KIND_HELLO)
            rc = check_hello(r, err);
        else if (!r->ended)
            rc = take_rows(r, rows, err);
        if (rc < 0)
            return rc;
    }
    return r->ended ? 0 : 1;
}
