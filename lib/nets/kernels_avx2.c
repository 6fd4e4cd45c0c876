/* Kernels for an x86 CPU that has AVX2. */
#include "base/isa.h"

#ifdef DP_ISA_X86
#define TARGET DP_TARGET_AVX2
#define WIDTH 8
#define TABLE dp_net_kernels_avx2
#include "nets/kernels.inc"
#else
typedef int dp_no_net_kernels_avx2;
#endif
