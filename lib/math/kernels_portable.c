/* Kernels for any CPU. */
#define TARGET
#define TABLE dp_kernels_portable
#include "math/kernels_plain.inc"
#include "math/kernels_rows.inc"
