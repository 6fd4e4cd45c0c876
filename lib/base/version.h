/* The version of dpline. */
#ifndef DP_BASE_VERSION_H
#define DP_BASE_VERSION_H

#define DP_VERSION "0.2.0"

#endif
