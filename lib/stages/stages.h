/* The classes of all stages; registry.c lists them. */
#ifndef DP_STAGES_STAGES_H
#define DP_STAGES_STAGES_H

#include "stage/stage.h"

extern const struct dp_stage_class dp_sample_class;
extern const struct dp_stage_class dp_scd_step_class;
extern const struct dp_stage_class dp_grad_class;
extern const struct dp_stage_class dp_clip_class;
extern const struct dp_stage_class dp_noise_class;
extern const struct dp_stage_class dp_account_class;
extern const struct dp_stage_class dp_step_class;
extern const struct dp_stage_class dp_eval_class;

#endif
