/* Kernels for an x86 CPU that has AVX-512. */
#if defined(__x86_64__) || defined(__i386__)
#ifdef __clang__ /* clang has no such preference */
#define TARGET __attribute__((target("avx512f")))
#else
#define TARGET __attribute__((target("avx512f,prefer-vector-width=512")))
#endif
#define WIDTH 16
#define TABLE dp_net_kernels_avx512
#include "nets/kernels.inc"
#else
typedef int dp_no_net_kernels_avx512;
#endif
