/* arena_test.c */
#include "test.h"

#include "base/arena.h"

TEST(blocks_are_zeroed_aligned_and_apart)
{
    AUTO(arena) struct arena a = {0};
    char *x = arena_alloc(&a, 3), *y = arena_alloc(&a, 5000);

    assert_int_equal((uintptr_t)x % 16, 0);
    assert_int_equal((uintptr_t)y % 16, 0);
    for (int i = 0; i < 5000; i++)
        assert_int_equal(y[i], 0);
    memset(x, 1, 3);
    memset(y, 2, 5000);
    assert_int_equal(x[2], 1);
}

TEST(clearing_keeps_a_chunk_so_that_loops_stop_allocating)
{
    AUTO(arena) struct arena a = {0};
    struct arena_chunk *chunk;

    for (int i = 0; i < 100; i++)
        assert_non_null(arena_alloc(&a, 1000));
    arena_clear(&a);
    chunk = a.chunk;
    assert_non_null(chunk);
    assert_int_equal(a.used_bytes, 0);
    for (int i = 0; i < 10; i++) {
        assert_non_null(arena_alloc(&a, 100));
        arena_clear(&a);
        assert_ptr_equal(a.chunk, chunk);
    }
}

TEST(copies_end_with_a_nul)
{
    AUTO(arena) struct arena a = {0};

    assert_string_equal(arena_cstr(&a, str_make("abcdef", 3)), "abc");
    assert_string_equal(arena_format(&a, "%d-%s", 7, "x").p, "7-x");
    assert_string_equal(arena_str(&a, (struct str){0}).p, "");
}

TEST(an_array_grows_and_keeps_what_it_holds)
{
    AUTO(arena) struct arena a = {0};
    int *items = NULL;
    size_t n = 0, room = 0;

    for (int i = 0; i < 1000; i++) {
        items = arena_grow(&a, items, n, &room, sizeof *items);
        items[n++] = i;
    }
    for (int i = 0; i < 1000; i++)
        assert_int_equal(items[i], i);
}

/* Messages and their parts are made of such. */
TEST(an_empty_text_takes_nothing_and_a_large_item_the_room_of_one)
{
    AUTO(arena) struct arena a = {0};
    size_t room = 0;

    assert_string_equal(arena_str(&a, S("")).p, "");
    assert_int_equal(a.used_bytes, 0);
    assert_non_null(arena_grow(&a, NULL, 0, &room, 256));
    assert_int_equal(room, 1);
    assert_int_equal(a.used_bytes, 256);
}

/* A checker of memory would tell of a block that is freed twice or never. */
TEST(a_block_that_is_given_to_an_arena_goes_with_it)
{
    AUTO(arena) struct arena a = {0};

    for (int i = 0; i < 3; i++)
        arena_own(&a, mem_strdup("owned"));
    assert_string_equal(arena_cstr(&a, S("own")), "own");
    arena_clear(&a);
    arena_own(&a, mem_strdup("owned again"));
}

TEST(much_memory_is_one_block_at_the_beginning_of_a_large_page)
{
    AUTO(arena) struct arena a = {0}, small = {0};
    char *first;

    arena_reserve_large(&a, (size_t)5 << 20);
    first = arena_alloc(&a, 16);
    assert_true(((uintptr_t)first & (((uintptr_t)2 << 20) - 1)) < 64);
    for (size_t n = 16; n < (size_t)5 << 20; n += 16)
        assert_ptr_equal(arena_alloc(&a, 16), first + n);
    arena_reserve_large(&small, 100);
    assert_non_null(arena_alloc(&small, 100));
}

RUN_TESTS(UNIT(blocks_are_zeroed_aligned_and_apart),
          UNIT(clearing_keeps_a_chunk_so_that_loops_stop_allocating), UNIT(copies_end_with_a_nul),
          UNIT(an_array_grows_and_keeps_what_it_holds),
          UNIT(an_empty_text_takes_nothing_and_a_large_item_the_room_of_one),
          UNIT(a_block_that_is_given_to_an_arena_goes_with_it),
          UNIT(much_memory_is_one_block_at_the_beginning_of_a_large_page))
