/* CLONES: the compiler makes one copy of the function for each set of instructions, and the CPU picks one. The results have the
   same bits, because a product and a sum are never contracted. */
#pragma once

#if defined DP_NO_CLONES || !defined __x86_64__ /* sanitizers do not work with function multiversioning */
#define CLONES
#else
#define CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#endif
