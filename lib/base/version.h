/* The version of dpline. */
#pragma once

#define DP_VERSION "0.2.0"
