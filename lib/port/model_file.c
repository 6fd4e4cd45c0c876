#include "port/model_file.h"

#include <stdbool.h>

#include "port/port.h"

int dp_model_file_read(const char *spec, struct dp_frame *frame, struct dp_err *err)
{
    struct dp_port *port = NULL;
    struct dp_frame *next = NULL;
    bool hello = false, found = false, ended = false;
    int rc = dp_frame_new(&next, err);
    if (rc == DP_OK)
        rc = dp_port_open(&port, spec, DP_IN, err);
    while (rc == DP_OK && !ended && (rc = dp_port_read(port, next, err)) == 1) {
        rc = DP_OK;
        if ((next->kind == DP_KIND_HELLO) == hello) {
            rc = dp_fail(err, DP_E_RUN, "%s: a stream has one hello frame, at its beginning", spec);
        } else if (next->kind == DP_KIND_ERROR) {
            rc = dp_fail(err, DP_E_UPSTREAM, "%s: the run that wrote it failed", spec);
        } else if (next->kind == DP_KIND_LAP) {
            rc = dp_frame_copy(frame, next, err);
            found = true;
        }
        hello = true;
        ended = next->kind == DP_KIND_END;
    }
    if (rc == DP_OK && !ended)
        rc = dp_fail(err, DP_E_UPSTREAM, "%s ends before its end frame", spec);
    if (rc == DP_OK && !found)
        rc = dp_fail(err, DP_E_RUN, "%s holds no model", spec);
    if (rc == DP_OK && (frame->label != DP_LABEL_RELEASED || !dp_frame_has(frame, DP_F_MODEL)))
        rc = dp_fail(err, DP_E_RUN, "%s: its last frame is not a released model", spec);
    dp_port_close(port);
    dp_frame_free(next);
    return rc < 0 ? rc : DP_OK;
}
