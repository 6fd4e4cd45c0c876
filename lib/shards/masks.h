/* Masks between sites: each site adds numbers to its sums that cancel in the total of all sites, so that a gather learns the
 * total and nothing else. For sites i < j of a roster, all modulo 2^64:
 *
 *   key(i, j) = BLAKE2b(key X25519(own secret, other public); run ‖ hash of the roster ‖ public key i ‖ public key j)
 *   mask(i, j, lap, a) = ChaCha20(key(i, j); nonce lap ‖ a),   a: which paid array of the frame
 *   site i adds mask(i, j), site j subtracts it
 *
 * The roster is a file of each site: line k is the name and the public key (dp-key) of the site with shard k. For a lap it is
 * complete with a number of each site, which the gather passes on: the `fresh` number of a site that takes part, 0 for a site
 * that is lost. The hash covers keys and numbers. A site draws its own number again whenever it may answer a lap twice, so no
 * key is used for two answers, whatever a gather says. dp-zmq(7) proves what a gather learns. */
#pragma once

#include "base/err.h"
#include "base/security.h"
#include "port/link.h"
#include "wire/frame.h"

struct dp_masks;

struct dp_masks_options {
    const char *roster; /* file */
    int shard, shards;  /* of this site, from 1 */
    int lost;           /* the run may continue without this many sites */
};

/* Reads the roster and the key pair of this site, and draws its fresh number. DP_E_USAGE, DP_E_UNSAFE, DP_E_RUN: the roster is
 * not of this many shards, or its line is not this site's key, or two lines have the same key. */
int dp_masks_open(struct dp_masks **masks, const struct dp_masks_options *options, const struct dp_security *security,
                  struct dp_err *err);
void dp_masks_close(struct dp_masks *masks); /* or NULL */

/* A number above 0 that is the same for the same keys in the same order: a gather compares it. */
int64_t dp_masks_tag(const struct dp_masks *masks);

/* The fresh number of this site, above 0. dp_masks_renew draws another one; `kept` is one of a checkpoint, or 0. */
int64_t dp_masks_fresh(const struct dp_masks *masks);
void dp_masks_renew(struct dp_masks *masks, int64_t kept);

/* DP_E_UNSAFE: the total of the announced laps would tell more than one Gaussian of the announced multiplier: a record has no
 * shares of noise, fewer than two of the sites are honest, or more may be lost than shares of noise are left over. */
int dp_masks_announced(const struct dp_masks *masks, const struct dp_frame *hello, struct dp_err *err);

/* Takes the numbers of all sites, of 8 bytes each, from the gather; ignores a wrong size. */
void dp_masks_complete(struct dp_masks *masks, const unsigned char run[DP_LINK_ID], const void *numbers, size_t size);

/* DP_E_UNSAFE: the roster of the next lap is not complete, is without this site, or has lost too many sites. */
int dp_masks_ready(const struct dp_masks *masks, struct dp_err *err);

/* Masks the paid arrays of an answer to a lap, once. DP_E_UNSAFE: one has no record of noise in shares. */
int dp_masks_add(struct dp_masks *masks, struct dp_frame *answer, struct dp_err *err);
