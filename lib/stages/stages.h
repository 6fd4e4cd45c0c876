/* All stages, one row each: dp_NAME_class, in a file of lib/stages, is the executable dp-NAME. Everything that needs all stages
 * is made from this list: the declarations below, the table of registry.c, and the executables that the Makefile builds (from
 * bin/stage.c if there is no bin/dp-NAME.c). */
#pragma once

#include "stages/stage.h"

// clang-format off
#define DP_STAGES(STAGE) \
    STAGE(breed)         \
    STAGE(gather)        \
    STAGE(sample)        \
    STAGE(window)        \
    STAGE(scd_step)      \
    STAGE(grad)          \
    STAGE(net_grad)      \
    STAGE(erm)           \
    STAGE(moments)       \
    STAGE(count)         \
    STAGE(temperature)   \
    STAGE(clip)          \
    STAGE(noise)         \
    STAGE(site_account)  \
    STAGE(linesearch)    \
    STAGE(select)        \
    STAGE(account)       \
    STAGE(transform)     \
    STAGE(table)         \
    STAGE(rows)          \
    STAGE(step)          \
    STAGE(adapt)         \
    STAGE(eval)
// clang-format on

#define DP_STAGE_DECLARE(name) extern const struct dp_stage_class dp_##name##_class;
DP_STAGES(DP_STAGE_DECLARE)

/* The row in a table of pointers to classes. */
#define DP_STAGE_ROW(name) &dp_##name##_class,
