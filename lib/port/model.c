#include "port/model.h"

#include "port/port.h"
#include "wire/model.h"

/* Reads one frame of the stream; 1 after the end frame. */
static int read_one(struct dp_port *port, const char *name, struct dp_frame *frame, struct dp_err *err)
{
    int rc = dp_port_read(port, frame, err);
    if (rc == 0)
        return dp_fail(err, DP_E_UPSTREAM, "%s ends before its end frame: the run behind it did not finish", name);
    if (rc < 0)
        dp_err_in(err, name);
    if (rc < 0)
        return rc;
    if (frame->kind == DP_KIND_ERROR)
        return dp_fail(err, DP_E_UPSTREAM, "%s ends with the failure of %s: %.300s", name,
                       dp_frame_text(frame, DP_F_WHERE, "a stage"), dp_frame_text(frame, DP_F_MESSAGE, "no message"));
    return frame->kind == DP_KIND_END;
}

int dp_model_read(struct dp_frame *frame, const char *spec, struct dp_err *err)
{
    const char *name = strcmp(spec, "-") == 0 ? "standard input" : spec;
    struct dp_port *port = NULL;
    struct dp_frame *here = NULL, *last = NULL;
    bool found = false, end = false;
    size_t outputs, cols;
    int rc = dp_port_open(&port, spec, DP_IN, err);
    if (rc == DP_OK) {
        here = dp_frame_new();
        last = dp_frame_new();
    }
    while (rc == DP_OK && !end) {
        rc = read_one(port, name, here, err);
        end = rc == 1;
        if (rc == 1)
            rc = DP_OK;
        if (rc == DP_OK && here->kind == DP_KIND_LAP && dp_frame_has(here, DP_F_MODEL)) {
            struct dp_frame *swap = last;
            last = here;
            here = swap;
            found = true;
        }
    }
    if (rc == DP_OK && !found)
        rc = dp_fail(err, DP_E_RUN, "%s holds no model", name);
    if (rc == DP_OK && last->label != DP_LABEL_RELEASED)
        rc = dp_fail(err, DP_E_UNSAFE, "%s holds a %s frame, not a released model", name, dp_label_name(last->label));
    if (rc == DP_OK && dp_frame_has(last, DP_F_TRIAL))
        rc = dp_fail(err, DP_E_UNSAFE, "%s holds one trial of a selection, which nobody has paid for", name);
    if (rc == DP_OK && (rc = dp_model_shape(last, &outputs, &cols, err)) != DP_OK)
        dp_err_in(err, name);
    if (rc == DP_OK)
        dp_frame_copy(frame, last);
    dp_frame_free(here);
    dp_frame_free(last);
    dp_port_close(port);
    return rc;
}
