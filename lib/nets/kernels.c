#include "nets/kernels.h"

size_t dp_net_room(const struct dp_net_window *n, size_t lanes)
{
    size_t values = DP_NET_TILE * (n->outputs + DP_NET_PANEL) * lanes, weights = n->outputs * n->rows * n->run;
    return values > weights ? values : weights;
}

const struct dp_net_kernels *dp_net_kernels(void)
{
    static const struct dp_net_kernels *const tables[DP_ISA_COUNT] = {
        [DP_ISA_PORTABLE] = &dp_net_kernels_portable,
#ifdef DP_ISA_X86
        [DP_ISA_AVX2] = &dp_net_kernels_avx2,
        [DP_ISA_AVX512] = &dp_net_kernels_avx512,
#endif
    };
    return tables[dp_isa_used()];
}
