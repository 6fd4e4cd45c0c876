/* The instructions that kernels are written in. All give the same bits. */
#ifndef DP_BASE_ISA_H
#define DP_BASE_ISA_H

#include "base/err.h"

enum dp_isa { DP_ISA_PORTABLE, DP_ISA_AVX2, DP_ISA_AVX512, DP_ISA_COUNT };

extern const char *const dp_isa_names[DP_ISA_COUNT];

/* What the environment variable DPLINE_ISA names, otherwise the widest that the CPU has. Where the variable names what the CPU
   has not, it is as if it were not there: dp_isa_check says so. */
enum dp_isa dp_isa_used(void);

/* DP_E_USAGE: DPLINE_ISA names no instructions, or some that this CPU has not. */
int dp_isa_check(struct dp_err *err);

#endif
