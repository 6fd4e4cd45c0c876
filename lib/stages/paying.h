/* Pays for a lap: code shared by dp-account and dp-site-account. It builds on gate/payer.h, which does not know stages. */
#pragma once

#include "gate/payer.h"
#include "stages/stage.h"

/* Pays for a lap that dp_payer_check has accepted; at the first lap, warns the user if the budget covers only a part of the
 * run. 0: the lap may be released. DP_STAGE_STOP: a budget is spent, and the frame is now the end frame that says so. Else as
 * dp_payer_begin and dp_payer_pay. */
int dp_paying_lap(const struct dp_stage *stage, struct dp_payer *payer, struct dp_frame *frame, struct dp_out *out,
                  struct dp_err *err);
