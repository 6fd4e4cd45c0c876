/* Kernels for any CPU. */
#define TARGET
#define WIDTH 4
#define TABLE dp_net_kernels_portable
#include "nets/kernels.inc"
