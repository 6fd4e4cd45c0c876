/* Replaces OpenMP's header when clang builds the library for the fuzzers, without threads. */
#ifndef OMP_H
#define OMP_H

static inline int omp_get_thread_num(void)
{
    return 0;
}

static inline int omp_get_num_procs(void)
{
    return 1;
}

#endif
