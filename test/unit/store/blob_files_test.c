/* blob_files_test.c */
#include "port/blob_conformance.h"
#include "temp_dir.h"

#include "store/blob_files.h"
#include "sys/loop.h"

#include <sys/stat.h>

static struct err *in_a_task(void *arg)
{
    blob_conforms(arg);
    return NULL;
}

TEST(files_conform_inside_and_outside_tasks)
{
    AUTO(temp_dir) struct temp_dir dir = temp_dir_make();
    AUTO(blob_store) struct blob_store *b = blob_files_new(temp_path(&dir, "x/blobs"), 1 << 20);

    blob_conforms(b);
    assert_ok(loop_run_once(in_a_task, b));
}

TEST(only_the_owner_can_read_them)
{
    AUTO(temp_dir) struct temp_dir dir = temp_dir_make();
    AUTO(blob_store) struct blob_store *b = blob_files_new(temp_path(&dir, "blobs"), 0);
    char handle[SHA256_HEX_SIZE], name[128];
    struct stat s;

    assert_ok(blob_put(b, S("secret"), handle));
    snprintf(name, sizeof name, "blobs/%.2s/%s", handle, handle);
    assert_int_equal(stat(temp_path(&dir, name), &s), 0);
    assert_int_equal(s.st_mode & 0777, 0600);
    snprintf(name, sizeof name, "blobs/%.2s", handle);
    assert_int_equal(stat(temp_path(&dir, name), &s), 0);
    assert_int_equal(s.st_mode & 0777, 0700);
}

static time_t time_of(struct temp_dir *dir, const char *handle)
{
    char name[128];
    struct stat s;

    snprintf(name, sizeof name, "blobs/%.2s/%s", handle, handle);
    assert_int_equal(stat(temp_path(dir, name), &s), 0);
    return s.st_mtim.tv_sec;
}

/* Its time says so: the first second of all. */
TEST(what_was_put_soon_is_marked_once_it_is_durable)
{
    AUTO(temp_dir) struct temp_dir dir = temp_dir_make();
    AUTO(blob_store) struct blob_store *b = blob_files_new(temp_path(&dir, "blobs"), 0);
    char handles[12][SHA256_HEX_SIZE], text[16];

    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < ARRAY_LEN(handles); i++) {
            snprintf(text, sizeof text, "content %zu", i);
            assert_ok(blob_put_soon(b, str_of(text), handles[i]));
            if (round == 0)
                assert_int_not_equal(time_of(&dir, handles[i]), 1);
        }
        assert_ok(blob_sync(b));
    }
    /* The first ones made directories, and the list is short: those are marked the next time. */
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(time_of(&dir, handles[i]), 1);
    assert_ok(blob_remove(b, str_of(handles[0])));
    assert_ok(blob_put_soon(b, S("content 0"), handles[0]));
    assert_int_not_equal(time_of(&dir, handles[0]), 1);
    assert_ok(blob_sync(b));
    assert_int_equal(time_of(&dir, handles[0]), 1);
}

TEST(damaged_content_is_told_and_healed_by_storing_it_again)
{
    AUTO(temp_dir) struct temp_dir dir = temp_dir_make();
    AUTO(blob_store) struct blob_store *b = blob_files_new(temp_path(&dir, "blobs"), 0);
    AUTO(strbuf) struct strbuf out = {0};
    char handle[SHA256_HEX_SIZE], name[128];
    FILE *file;

    assert_ok(blob_put(b, S("content"), handle));
    snprintf(name, sizeof name, "blobs/%.2s/%s", handle, handle);
    file = fopen(temp_path(&dir, name), "w");
    fputs("cont", file);
    fclose(file);
    assert_err(blob_get(b, str_of(handle), &out), ERR_STORAGE);
    assert_int_equal(out.n, 0);
    assert_ok(blob_put(b, S("content"), handle));
    assert_ok(blob_get(b, str_of(handle), &out));
    assert_str(strbuf_str(&out), "content");
}

TEST(references_are_written_read_and_kept_inside_their_directory)
{
    static const struct {
        const char *path;
        bool is_inside;
    } cases[] = {
        {"s.payloads/x.json", true}, {"/etc/passwd", false}, {"../x", false},
        {"a/../../x", false},        {"a//b", false},        {"", false},
        {"a\\..\\b", false},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena) struct arena a = {0};
        AUTO(strbuf) struct strbuf out = {0};
        struct blob_reference r = {.n_bytes = 40000, .relative_path = str_of(cases[i].path)}, back;
        char hex[SHA256_HEX_SIZE];
        struct json_writer w;
        struct json *v;

        sha256_hex(S("x"), hex);
        r.sha256 = str_of(hex);
        jw_init(&w, &out);
        blob_reference_write(&w, &r);
        assert_ok(json_parse(&a, strbuf_str(&out), 0, &v));
        assert_true(blob_is_reference(v));
        if (!cases[i].is_inside) {
            assert_err(blob_reference_parse(v, &back), ERR_VALIDATION);
            continue;
        }
        assert_ok(blob_reference_parse(v, &back));
        assert_int_equal(back.n_bytes, 40000);
        assert_str(back.relative_path, cases[i].path);
    }
}

RUN_TESTS(UNIT(files_conform_inside_and_outside_tasks), UNIT(only_the_owner_can_read_them),
          UNIT(what_was_put_soon_is_marked_once_it_is_durable),
          UNIT(damaged_content_is_told_and_healed_by_storing_it_again),
          UNIT(references_are_written_read_and_kept_inside_their_directory))
