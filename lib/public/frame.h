/* A public frame is a frame: only its type is hidden. Private to lib/public. */
#pragma once

#include <dpline/frame.h>
#include "wire/frame.h"

static inline struct dp_frame *dp_public_frame(struct dpline_frame *frame)
{
    return (struct dp_frame *)frame;
}
static inline const struct dp_frame *dp_public_frame_const(const struct dpline_frame *frame)
{
    return (const struct dp_frame *)frame;
}
static inline struct dpline_frame *dp_public_frame_out(struct dp_frame *frame)
{
    return (struct dpline_frame *)frame;
}
