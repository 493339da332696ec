/* random_test.c */
#include "sys/random.h"

#include "test.h"

/* The reference generator gives these for the state {1, 2, 3, 4}. */
TEST(the_generator_is_xoshiro256_starstar)
{
    static const uint64_t want[] = {11520, 0, 1509978240, 1215971899390074240u};
    struct seeded_random s;

    seeded_random_init(&s, 0);
    for (unsigned i = 0; i < 4; i++)
        s.state[i] = i + 1;
    for (unsigned i = 0; i < ARRAY_LEN(want); i++)
        assert_int_equal(random_uint64(&s.random), want[i]);
}

/* And splitmix64 these for the seed 0. */
TEST(a_seed_is_spread_by_splitmix64)
{
    struct seeded_random s;

    seeded_random_init(&s, 0);
    assert_int_equal(s.state[0], 0xE220A8397B1DCDAFu);
    assert_int_equal(s.state[1], 0x6E789E6AA1B965F4u);
    assert_int_equal(s.state[2], 0x06C45D188009454Fu);
    assert_int_equal(s.state[3], 0xF88BB8A8724C81ECu);
}

TEST(the_same_seed_gives_the_same_bytes_and_another_one_others)
{
    struct seeded_random a, b, c;
    unsigned char from_a[37], from_b[37], from_c[37];

    seeded_random_init(&a, 42);
    seeded_random_init(&b, 42);
    seeded_random_init(&c, 43);
    random_fill(&a.random, from_a, sizeof from_a);
    random_fill(&b.random, from_b, sizeof from_b);
    random_fill(&c.random, from_c, sizeof from_c);
    assert_memory_equal(from_a, from_b, sizeof from_a);
    assert_memory_not_equal(from_a, from_c, sizeof from_a);
}

TEST(a_fill_writes_all_its_bytes_and_no_more)
{
    for (size_t n = 0; n < 600; n += 41) {
        unsigned char bytes[602], seen[600] = {0};

        memset(bytes, 0xAA, sizeof bytes);
        for (unsigned round = 0; round < 8; round++) {
            random_fill(&random_system, bytes, n);
            for (size_t i = 0; i < n; i++)
                seen[i] |= bytes[i] ^ 0xAA; /* stays 0 by chance once in 2^64 */
        }
        for (size_t i = 0; i < n; i++)
            assert_true(seen[i]);
        assert_int_equal(bytes[n], 0xAA);
    }
}

struct script {
    struct random random;
    const uint64_t *words;
};

static void play(void *self, void *bytes, size_t n)
{
    struct script *s = self;

    assert_int_equal(n, 8);
    memcpy(bytes, s->words++, 8);
}

TEST(values_that_would_favour_small_results_are_drawn_again)
{
    /* 2^64 mod 10 is 6: the values 0 to 5 have one partner too many. */
    static const uint64_t words[] = {0, 5, 6, 27, UINT64_MAX};
    struct script s = {.random = {.fill = play, .self = &s}, .words = words};

    assert_int_equal(random_below(&s.random, 10), 6);
    assert_int_equal(random_below(&s.random, 10), 7);
    assert_int_equal(random_below(&s.random, 10), 5);
    s.words = words;
    assert_int_equal(random_below(&s.random, 1), 0);
    s.words = words + 4;
    assert_int_equal(random_below(&s.random, UINT64_MAX - 1), 1);
}

TEST(every_result_below_the_bound_comes_up)
{
    struct seeded_random s;
    unsigned seen[7] = {0};

    seeded_random_init(&s, 1);
    for (unsigned i = 0; i < 7000; i++)
        seen[random_below(&s.random, 7)]++;
    for (unsigned i = 0; i < 7; i++)
        assert_in_range(seen[i], 850, 1150);
}

RUN_TESTS(UNIT(the_generator_is_xoshiro256_starstar), UNIT(a_seed_is_spread_by_splitmix64),
          UNIT(the_same_seed_gives_the_same_bytes_and_another_one_others),
          UNIT(a_fill_writes_all_its_bytes_and_no_more),
          UNIT(values_that_would_favour_small_results_are_drawn_again),
          UNIT(every_result_below_the_bound_comes_up))
