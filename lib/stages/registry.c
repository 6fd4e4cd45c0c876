#include "stages/stages.h"

const struct dp_stage_class *const dp_stage_classes[] = {
    &dp_sample_class,  &dp_scd_step_class, &dp_grad_class, &dp_clip_class, &dp_noise_class,
    &dp_account_class, &dp_step_class,     &dp_eval_class, NULL,
};
