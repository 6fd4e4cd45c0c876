/* The table of all stages. */
#include "stages/stages.h"

const struct dp_stage_class *const dp_stage_classes[] = {DP_STAGES(DP_STAGE_ROW) NULL};
