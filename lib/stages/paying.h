/* How a stage pays for a lap: what dp-account and dp-consent have in common beside gate/payer.h, which knows no stages. */
#ifndef DP_STAGES_PAYING_H
#define DP_STAGES_PAYING_H

#include "gate/payer.h"
#include "stages/stage.h"

/* Pays for a lap that dp_payer_check has let through; at the first one whoever started the run hears what the budget leaves
   open. 0: the lap may go out. DP_STAGE_STOP: a budget is spent, and the frame is the end frame that says so. Else as
   dp_payer_begin and dp_payer_pay. */
int dp_paying_lap(const struct dp_stage *stage, struct dp_payer *payer, struct dp_frame *frame, struct dp_out *out,
                  struct dp_err *err);

#endif
