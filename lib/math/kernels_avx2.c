/* Kernels for an x86 CPU that has AVX2. */
#if defined(__x86_64__) || defined(__i386__)
#define TARGET __attribute__((target("avx2")))
#define TABLE dp_kernels_avx2
#include "math/kernels_plain.inc"
#include "math/kernels_rows.inc"
#else
typedef int dp_no_kernels_avx2;
#endif
