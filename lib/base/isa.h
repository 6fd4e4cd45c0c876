/* Instruction sets that kernels are written for. All give the same bits. */
#pragma once

#include "base/err.h"

enum dp_isa { DP_ISA_PORTABLE, DP_ISA_AVX2, DP_ISA_AVX512, DP_ISA_COUNT };

extern const char *const dp_isa_names[DP_ISA_COUNT];

/* The instruction set that the environment variable DPLINE_ISA names, otherwise the widest that the CPU has. A set that the CPU
 * does not have is ignored here; dp_isa_check refuses it. */
enum dp_isa dp_isa_used(void);

/* DP_E_USAGE: DPLINE_ISA names no instruction set, or one that this CPU does not have. */
int dp_isa_check(struct dp_err *err);
