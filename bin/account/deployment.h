/* The entry of a released model for a public registry of deployments of differential privacy. */
#pragma once

#include <jansson.h>

/* {"deployment": {"product", "dp_flavor", "privacy_loss", "model", "accounting", "implementation"}, "unknown": {…}}, with the
 * members of the registry's schema (dp-account(1)). Only what the certificate says is in it; any other member is null, and
 * "unknown" has a sentence for it, under its path: {"product.name": "…"}. The caller owns the result. */
json_t *deployment_entry(const json_t *certificate);
