/* Kernels for an x86 CPU that has AVX2. */
#if defined(__x86_64__) || defined(__i386__)
#define TARGET __attribute__((target("avx2")))
#define WIDTH 8
#define TABLE dp_net_kernels_avx2
#include "nets/kernels.inc"
#else
typedef int dp_no_net_kernels_avx2;
#endif
