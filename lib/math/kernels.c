#include "math/kernels.h"

#include <stdatomic.h>

#include "base/isa.h"

const struct dp_kernels *dp_kernels(void)
{
    static const struct dp_kernels *const tables[DP_ISA_COUNT] = {
        [DP_ISA_PORTABLE] = &dp_kernels_portable,
#if defined(__x86_64__) || defined(__i386__)
        [DP_ISA_AVX2] = &dp_kernels_avx2,
        [DP_ISA_AVX512] = &dp_kernels_avx512,
#endif
    };
    static _Atomic(const struct dp_kernels *) used; /* several threads may set it: all to the same value */
    const struct dp_kernels *kernels = atomic_load_explicit(&used, memory_order_relaxed);
    if (kernels == NULL) {
        kernels = tables[dp_isa_used()];
        atomic_store_explicit(&used, kernels, memory_order_relaxed);
    }
    return kernels;
}
