/* Kernels for an x86 CPU that has AVX2. */
#include "base/isa.h"

#ifdef DP_ISA_X86
#define TARGET DP_TARGET_AVX2
#define TABLE dp_kernels_avx2
#include "math/kernels_plain.inc"
#include "math/kernels_rows.inc"
#else
typedef int dp_no_kernels_avx2;
#endif
