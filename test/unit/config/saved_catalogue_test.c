/* saved_catalogue_test.c */
#include "temp_dir.h"

#include "config/saved_catalogue.h"
#include "sys/fs.h"

#include <sys/stat.h>

static const struct model_info known[] = {
    {.id = "old",
     .name = "Old",
     .context_window = 1000,
     .max_output = 100,
     .price = {5, 6, 7, 8, 900, 200, 150},
     .lifecycle = LIFECYCLE_RETIRED,
     .capabilities = CAN_TOOLS | NO_SAMPLING,
     .source = "https://example.com/models",
     .last_verified = "2026-11-01"},
};
static const struct catalogue catalogue = {known, ARRAY_LEN(known)};
static const struct vendor vendor = {.name = "v", .aliases = "", .catalogue = &catalogue};

/* Writes `models` and reads them back into the same list. */
static bool keep(const struct temp_dir *d, struct arena *a, struct model_list *models)
{
    struct str fetched_at = {0};

    assert_ok(saved_catalogue_write(d->path, &vendor, models));
    *models = (struct model_list){0};
    return saved_catalogue_read(d->path, &vendor, a, models, &fetched_at) && fetched_at.n > 0;
}

TEST(a_list_comes_back_as_it_was)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    AUTO(arena) struct arena a = {0};
    struct model_info m = {.id = "n",
                           .name = "New \"one\"",
                           .context_window = 200000,
                           .max_output = 64000,
                           .price = {1, 2, -1, 3, 200000, 200, 150},
                           .lifecycle = LIFECYCLE_PREVIEW,
                           .capabilities = CAN_TOOLS | CAN_REASON | REASONS_ADAPTIVELY};
    struct model_list models = {&m, 1};

    assert_true(keep(&d, &a, &models));
    assert_int_equal(models.n, 1);
    assert_string_equal(models.items[0].id, "n");
    assert_string_equal(models.items[0].name, "New \"one\"");
    assert_int_equal(models.items[0].context_window, 200000);
    assert_int_equal(models.items[0].max_output, 64000);
    assert_memory_equal(&models.items[0].price, &m.price, sizeof m.price);
    assert_int_equal(models.items[0].lifecycle, LIFECYCLE_PREVIEW);
    assert_int_equal(models.items[0].capabilities, m.capabilities);
    assert_null(models.items[0].source);
}

TEST(what_the_provider_did_not_say_is_filled_in)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    AUTO(arena) struct arena a = {0};
    struct model_info m = {.id = "old-20260101",
                           .name = "old",
                           .max_output = 50,
                           .price = {-1, -1, -1, -1},
                           .capabilities = CAN_SEE_IMAGES};
    struct model_list models = {&m, 1};

    assert_true(keep(&d, &a, &models));
    assert_int_equal(models.items[0].context_window, 1000);
    assert_int_equal(models.items[0].max_output, 50);
    assert_memory_equal(&models.items[0].price, &known[0].price, sizeof known[0].price);
    assert_int_equal(models.items[0].capabilities, CAN_TOOLS | NO_SAMPLING | CAN_SEE_IMAGES);
    assert_string_equal(models.items[0].source, "https://example.com/models");
    assert_string_equal(models.items[0].last_verified, "2026-11-01");
}

TEST(a_model_that_the_provider_lists_is_not_gone)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    AUTO(arena) struct arena a = {0};
    struct model_info m = {.id = "old", .name = "old"};
    struct model_list models = {&m, 1};

    assert_true(keep(&d, &a, &models));
    assert_int_equal(models.items[0].lifecycle, LIFECYCLE_DEPRECATED);
}

TEST(only_its_owner_can_read_the_file)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    struct model_info m = {.id = "n", .name = "n"};
    struct model_list models = {&m, 1};
    struct stat s;

    assert_ok(saved_catalogue_write(d.path, &vendor, &models));
    assert_int_equal(stat(temp_path(&d, "models/v.json"), &s), 0);
    assert_int_equal(s.st_mode & 0777, 0600);
    assert_int_equal(stat(temp_path(&d, "models"), &s), 0);
    assert_int_equal(s.st_mode & 0777, 0700);
}

TEST(without_a_home_nothing_is_kept_and_nothing_fails)
{
    AUTO(arena) struct arena a = {0};
    struct model_info m = {.id = "old", .name = "old", .price = {-1, -1, -1, -1}};
    struct model_list models = {&m, 1};
    struct str fetched_at;

    assert_ok(saved_catalogue_write("", &vendor, &models));
    assert_ok(saved_catalogue_write(NULL, &vendor, &models));
    assert_int_equal(m.price.input, 5); /* filled in all the same */
    assert_false(saved_catalogue_read(NULL, &vendor, &a, &models, &fetched_at));
}

TEST(a_file_that_cannot_be_understood_is_as_none)
{
    static const char *const files[] = {"",
                                        "{",
                                        "[]",
                                        "{\"models\":[]}",
                                        "{\"models\":{\"id\":1}}",
                                        "{\"models\":[{\"name\":\"x\"},7,null]}"};
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    AUTO(arena) struct arena a = {0};
    struct model_list models = {.n = 77};
    struct str fetched_at;

    assert_false(saved_catalogue_read(d.path, &vendor, &a, &models, &fetched_at));
    assert_ok(fs_make_dirs(temp_path(&d, "models"), 0700));
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        assert_ok(fs_write_atomic(temp_path(&d, "models/v.json"), str_of(files[i]), 0600));
        assert_false(saved_catalogue_read(d.path, &vendor, &a, &models, &fetched_at));
    }
    assert_int_equal(models.n, 77);
}

TEST(odd_numbers_in_the_file_are_unknown)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    AUTO(arena) struct arena a = {0};
    struct model_list models;
    struct str fetched_at;

    assert_ok(fs_make_dirs(temp_path(&d, "models"), 0700));
    assert_ok(fs_write_atomic(temp_path(&d, "models/v.json"),
                              S("{\"models\":[{\"id\":\"x\",\"contextWindow\":-1,\"maxOutput\":"
                                "1e99,\"microcentsPerMillion\":{\"input\":-7,\"longFrom\":-7},"
                                "\"lifecycle\":\"buried\",\"capabilities\":-1}]}"),
                              0600));
    assert_true(saved_catalogue_read(d.path, &vendor, &a, &models, &fetched_at));
    assert_int_equal(models.items[0].context_window, 0);
    assert_int_equal(models.items[0].max_output, 0);
    assert_int_equal(models.items[0].price.input, -1);
    assert_int_equal(models.items[0].price.long_from, 0);
    assert_int_equal(models.items[0].lifecycle, LIFECYCLE_ACTIVE);
    assert_int_equal(models.items[0].capabilities, 0);
    assert_string_equal(models.items[0].name, "x");
}

#define URL "http://127.0.0.1:8000/v1"

static bool recall(const struct temp_dir *d, const char *url, const char *model,
                   struct learned_model *ret)
{
    *ret = (struct learned_model){0};
    return saved_catalogue_recall(d->path, str_of(url), str_of(model), ret);
}

TEST(what_a_server_told_of_a_model_is_kept_by_its_address)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    struct learned_model m;

    assert_false(recall(&d, URL, "m", &m));
    assert_ok(
        saved_catalogue_learn(d.path, S(URL), S("m"), &(struct learned_model){32768, 4096, 1000}));
    assert_ok(
        saved_catalogue_learn(d.path, S(URL), S("m"), &(struct learned_model){65536, 0, 2000}));
    assert_true(recall(&d, URL, "m", &m));
    assert_int_equal(m.window, 65536);
    assert_int_equal(m.max_output, 0);
    assert_int_equal(m.unix_ms, 2000);
    assert_false(recall(&d, "http://127.0.0.1:9000/v1", "m", &m));
    assert_false(recall(&d, URL, "n", &m));
    assert_false(saved_catalogue_recall(NULL, S(URL), S("m"), &m));
}

TEST(the_oldest_are_forgotten)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    struct learned_model m;

    for (int i = 0; i <= SAVED_LEARNED_MAX; i++) {
        char name[16];

        snprintf(name, sizeof name, "m%d", i);
        assert_ok(saved_catalogue_learn(d.path, S(URL), str_of(name),
                                        &(struct learned_model){32768, 0, i}));
    }
    assert_false(recall(&d, URL, "m0", &m));
    assert_true(recall(&d, URL, "m1", &m));
}

TEST(a_window_that_cannot_be_meant_is_not_used)
{
    static const struct {
        struct learned_model told;
        bool is_used;
        int64_t max_output;
    } cases[] = {{{2047, 0, 0}, false, 0},       {{2048, 256, 0}, true, 256},
                 {{INT64_MAX, 0, 0}, false, 0},  {{-1, 0, 0}, false, 0},
                 {{8192, 8192, 0}, true, 0},     {{8192, 1, 0}, true, 0},
                 {{100000000, 0, 0}, true, 0},   {{100000001, 0, 0}, false, 0},
                 {{8192, INT64_MIN, 0}, true, 0}};

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct learned_model m = cases[i].told;

        assert_int_equal(learned_model_check(&m), cases[i].is_used);
        if (cases[i].is_used)
            assert_int_equal(m.max_output, cases[i].max_output);
    }
}

RUN_TESTS(UNIT(what_a_server_told_of_a_model_is_kept_by_its_address),
          UNIT(the_oldest_are_forgotten), UNIT(a_window_that_cannot_be_meant_is_not_used),
          UNIT(a_list_comes_back_as_it_was), UNIT(what_the_provider_did_not_say_is_filled_in),
          UNIT(a_model_that_the_provider_lists_is_not_gone), UNIT(only_its_owner_can_read_the_file),
          UNIT(without_a_home_nothing_is_kept_and_nothing_fails),
          UNIT(a_file_that_cannot_be_understood_is_as_none),
          UNIT(odd_numbers_in_the_file_are_unknown))
