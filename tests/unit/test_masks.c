/* Masks between sites, against the formula of masks.h computed here again; and what cancels them. */
#include "unit.h"

#include <sodium.h>

#include "scratch.h"

#include "base/hash.h"
#include "port/keys.h"
#include "shards/masks.h"

#define SITES 4
#define COUNT 5

static const unsigned char run[DP_LINK_ID] = {1, 2, 3};
static struct dp_masks *site[SITES];
static struct dp_frame *answer[SITES];
static unsigned char public[SITES][DP_KEY_BYTES], secret[SITES][DP_KEY_BYTES];

static void open_one(int k, const char *roster)
{
    char directory[32];
    snprintf(directory, sizeof directory, "keys-%d", k);
    const struct dp_masks_options options = {roster, k + 1, SITES, 1};
    const struct dp_security security = {.keys = directory};
    assert_int_equal(dp_masks_open(&site[k], &options, &security, NULL), 0);
}

static int open_all(void **state)
{
    if (enter(state) != 0)
        return -1;
    FILE *roster = fopen("roster", "w"), *other = fopen("other", "w");
    for (int k = 0; k < SITES; k++) {
        struct dp_key_pair pair;
        char directory[32];
        snprintf(directory, sizeof directory, "keys-%d", k);
        assert_int_equal(dp_keys_make(directory, &pair, NULL), 0);
        fprintf(roster, "site-%d %s\n", k, pair.public);
        fprintf(other, "site-%d %s\n", k, pair.public);
        dp_key_bytes(pair.public, public[k]);
        dp_key_bytes(pair.secret, secret[k]);
        answer[k] = dp_frame_new();
    }
    fclose(roster);
    fclose(other);
    for (int k = 0; k < SITES; k++)
        open_one(k, "roster");
    return 0;
}

static int close_all(void **state)
{
    for (int k = 0; k < SITES; k++) {
        dp_masks_close(site[k]);
        dp_frame_free(answer[k]);
    }
    return leave(state);
}

/* The answers to that lap: a sum of a few numbers, which are extreme, and a count. */
static void answers(int64_t lap)
{
    for (int k = 0; k < SITES; k++) {
        struct dp_frame *f = answer[k];
        int64_t *data;
        dp_frame_reset(f, DP_KIND_LAP);
        f->lap = lap;
        assert_int_equal(dp_frame_make_array(f, DP_F_SUM, DP_I64, 1, COUNT, &data, NULL), 0);
        for (int j = 0; j < COUNT; j++)
            data[j] = (j % 2 == 0 ? 1000 : -1000) * (k + 1) + j;
        assert_int_equal(dp_frame_make_array(f, DP_F_WITHIN, DP_I64, 1, 1, &data, NULL), 0);
        data[0] = k;
        struct dp_record r = {.of = DP_F_SUM, .shares = SITES, .colluding = 1};
        assert_int_equal(dp_frame_add_record(f, &r, NULL), 0);
        r.of = DP_F_WITHIN;
        assert_int_equal(dp_frame_add_record(f, &r, NULL), 0);
    }
}

static int64_t at(int k, enum dp_field field, int j)
{
    return ((const int64_t *)dp_frame_array(answer[k], field)->data)[j];
}

/* The total of number j of all sites but one, modulo 2^64. */
static int64_t total(enum dp_field field, int j, int but)
{
    uint64_t all = 0;
    for (int k = 0; k < SITES; k++)
        all += k != but ? (uint64_t)at(k, field, j) : 0;
    return (int64_t)all;
}

/* Gives all sites their numbers, and 0 for site `but`. */
static void complete(int64_t numbers[SITES], int but)
{
    for (int k = 0; k < SITES; k++)
        numbers[k] = k != but ? dp_masks_fresh(site[k]) : 0;
    for (int k = 0; k < SITES; k++)
        dp_masks_complete(site[k], run, numbers, SITES * sizeof *numbers);
}

static void mask_all(int but)
{
    for (int k = 0; k < SITES; k++)
        if (k != but)
            assert_int_equal(dp_masks_add(site[k], answer[k], NULL), 0);
}

/* Number j of the mask between two sites, by libsodium. */
static uint64_t formula(int i, int j, const int64_t numbers[SITES], int64_t lap, uint32_t which, size_t number)
{
    unsigned char shared[32], roster[32], key[32], nonce[12];
    uint64_t stream[COUNT] = {0};
    struct dp_hash hash;
    assert_int_equal(crypto_scalarmult(shared, secret[i], public[j]), 0);
    dp_hash_start(&hash, NULL, 0, sizeof roster);
    dp_hash_add(&hash, public, sizeof public);
    dp_hash_add(&hash, numbers, SITES * sizeof *numbers);
    dp_hash_end(&hash, roster, sizeof roster);
    dp_hash_start(&hash, shared, sizeof shared, sizeof key);
    dp_hash_add(&hash, run, sizeof run);
    dp_hash_add(&hash, roster, sizeof roster);
    dp_hash_add(&hash, public[i < j ? i : j], DP_KEY_BYTES);
    dp_hash_add(&hash, public[i < j ? j : i], DP_KEY_BYTES);
    dp_hash_end(&hash, key, sizeof key);
    memcpy(nonce, &lap, 8);
    memcpy(nonce + 8, &which, 4);
    crypto_stream_chacha20_ietf((unsigned char *)stream, sizeof stream, nonce, key);
    return stream[number];
}

TEST(masks_are_those_of_the_formula)
{
    int64_t numbers[SITES];
    complete(numbers, -1);
    for (int64_t lap = 1; lap <= ((int64_t)1 << 40); lap <<= 20) {
        answers(lap);
        mask_all(-1);
        for (int k = 0; k < SITES; k++)
            for (int j = 0; j <= COUNT; j++) {
                bool count = j == COUNT;
                int number = count ? 0 : j;
                uint64_t expected = count ? (uint64_t)k : (uint64_t)((j % 2 == 0 ? 1000 : -1000) * (k + 1) + j);
                for (int other = 0; other < SITES; other++) {
                    uint64_t mask = other == k ? 0 : formula(k, other, numbers, lap, count, (size_t)number);
                    expected += k < other ? mask : -mask;
                }
                assert_int_equal(at(k, count ? DP_F_WITHIN : DP_F_SUM, number), (int64_t)expected);
            }
    }
}

TEST(masks_cancel_in_the_total_only)
{
    int64_t numbers[SITES], plain[COUNT];
    for (int but = -1; but < SITES; but++) {
        complete(numbers, but);
        answers(7);
        for (int j = 0; j < COUNT; j++)
            plain[j] = total(DP_F_SUM, j, but);
        mask_all(but);
        for (int j = 0; j < COUNT; j++)
            assert_int_equal(total(DP_F_SUM, j, but), plain[j]);
        /* without one more, nothing cancels */
        assert_true(llabs(total(DP_F_SUM, 0, but) - at((but + 1) % SITES, DP_F_SUM, 0)) > 1 << 20);
    }
    /* nor if one site is told other numbers, is in another lap, or has another run */
    complete(numbers, -1);
    answers(7);
    int64_t sum = total(DP_F_SUM, 0, -1);
    numbers[3]++;
    dp_masks_complete(site[0], run, numbers, sizeof numbers);
    mask_all(-1);
    assert_int_not_equal(total(DP_F_SUM, 0, -1), sum);
    complete(numbers, -1);
    answers(7);
    answer[1]->lap = 8;
    mask_all(-1);
    assert_int_not_equal(total(DP_F_SUM, 0, -1), sum);
}

TEST(a_roster_is_complete_with_the_own_number)
{
    int64_t numbers[SITES];
    complete(numbers, -1);
    assert_int_equal(dp_masks_ready(site[0], NULL), 0);
    int64_t before = dp_masks_fresh(site[0]);
    dp_masks_renew(site[0], 0);
    assert_int_not_equal(dp_masks_fresh(site[0]), before);
    assert_true(dp_masks_fresh(site[0]) > 0);
    assert_fails(dp_masks_ready(site[0], &err), DP_E_UNSAFE,
                 "--mask: the gather does not say which sites take part in the masks of the lap");
    dp_masks_complete(site[0], run, numbers, sizeof numbers);
    assert_fails(dp_masks_ready(site[0], &err), DP_E_UNSAFE,
                 "--mask: the gather asks for a lap whose masks are without this site");
    dp_masks_renew(site[0], before);
    dp_masks_complete(site[0], run, numbers, sizeof numbers - 1);
    assert_fails(dp_masks_ready(site[0], &err), DP_E_UNSAFE,
                 "--mask: the gather does not say which sites take part in the masks of the lap");
    complete(numbers, 2);
    assert_int_equal(dp_masks_ready(site[0], NULL), 0);
    assert_fails(dp_masks_ready(site[2], &err), DP_E_UNSAFE,
                 "--mask: the gather asks for a lap whose masks are without this site");
    numbers[1] = 0;
    dp_masks_complete(site[0], run, numbers, sizeof numbers);
    assert_fails(dp_masks_ready(site[0], &err), DP_E_UNSAFE,
                 "--mask: the gather continues without 2 of 4 sites, and --lost allows 1");
    answers(1);
    answer[0]->record[1].shares = 0;
    assert_fails(dp_masks_add(site[0], answer[0], &err), DP_E_UNSAFE, "--mask: the within of lap 1 has no noise in shares");
    answers(1); /* what a hello without records has not announced */
    answer[0]->record[0].colluding = 3;
    assert_fails(dp_masks_add(site[0], answer[0], &err), DP_E_UNSAFE,
                 "--mask: --colluding leaves 1 honest site, whose sum the gather would get: at least two are needed");
    answer[0]->record[0].colluding = 0;
    assert_fails(dp_masks_add(site[0], answer[0], &err), DP_E_UNSAFE,
                 "--lost: the noise is enough without 0 sites (dp-noise --colluding), and not 1");
    answer[0]->record[0].shares = SITES + 1;
    assert_fails(dp_masks_add(site[0], answer[0], &err), DP_E_UNSAFE,
                 "--mask: without noise in shares (dp-noise --share) the gather gets an exact total");
}

TEST(the_tag_tells_rosters_apart)
{
    FILE *other = fopen("other", "w"), *roster = fopen("roster", "r");
    char line[SITES][128];
    for (int k = 0; k < SITES; k++)
        assert_non_null(fgets(line[k], sizeof line[k], roster));
    fprintf(other, "# names are not part of it\n%s%s%sx%s", line[0], line[2], line[1], line[3]);
    fclose(other);
    fclose(roster);
    int64_t tag = dp_masks_tag(site[0]);
    assert_true(tag > 0);
    for (int k = 1; k < SITES; k++)
        assert_int_equal(dp_masks_tag(site[k]), tag);
    dp_masks_close(site[0]);
    open_one(0, "other");
    assert_int_not_equal(dp_masks_tag(site[0]), tag);
}

TESTS(open_all, close_all)
