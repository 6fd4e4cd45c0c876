/* Memory for GMP and MPFR, which end the process when an allocation fails. Private to lib/base. */
#pragma once

/* Gives GMP allocators that fall back on a reserve of 64 KB. GMP is used only to draw noise, and one draw needs less than the
 * reserve. So the draw still ends with correct bits, and the next allocation elsewhere reports that memory is short. If the
 * reserve is used up, too, the process ends, as with GMP's own allocators. */
void dp_spare_open(void);
