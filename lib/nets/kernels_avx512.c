/* Kernels for an x86 CPU that has AVX-512. */
#include "base/isa.h"

#ifdef DP_ISA_X86
#define TARGET DP_TARGET_AVX512
#define WIDTH 16
#define TABLE dp_net_kernels_avx512
#include "nets/kernels.inc"
#else
typedef int dp_no_net_kernels_avx512;
#endif
