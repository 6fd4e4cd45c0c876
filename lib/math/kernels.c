#include "math/kernels.h"

const struct dp_kernels *dp_kernels(void)
{
    static const struct dp_kernels *const tables[DP_ISA_COUNT] = {
        [DP_ISA_PORTABLE] = &dp_kernels_portable,
#ifdef DP_ISA_X86
        [DP_ISA_AVX2] = &dp_kernels_avx2,
        [DP_ISA_AVX512] = &dp_kernels_avx512,
#endif
    };
    return tables[dp_isa_used()];
}
