/* CLONES: a function of which the CPU it runs on decides the instructions. The results are the same bits, since a product and a
   sum are never contracted. */
#ifndef DP_MATH_CLONES_H
#define DP_MATH_CLONES_H

#ifdef DP_NO_CLONES /* sanitizers and function multiversioning do not mix */
#define CLONES
#else
#define CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#endif

#endif
