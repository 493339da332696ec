/* log_test.c */
#include "temp_dir.h"

#include "sys/fs.h"
#include "sys/log.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* --- lines --- */

struct collected {
    struct strbuf lines;
    unsigned n_refused; /* the next ones are not written */
};

static bool collect(void *self, struct str line)
{
    struct collected *c = self;

    if (c->n_refused) {
        c->n_refused--;
        return false;
    }
    strbuf_add(&c->lines, line);
    return true;
}

static struct log *make(struct collected *c, struct virtual_clock *clock)
{
    virtual_clock_init(clock, 0);
    return log_new(LOG_INFO, &clock->clock, (struct log_sink){collect, c});
}

static void write_line(struct log *l, enum log_level level, const char *event, const char *text)
{
    struct json_writer *w = log_begin(l, level, event);

    if (!w)
        return;
    jw_kv_str(w, "text", str_of(text));
    log_end(l);
}

/* What follows "event". */
static void assert_lines(const struct strbuf *got, const char *want)
{
    AUTO(strbuf) struct strbuf all = {0};
    struct str rest = strbuf_str(got), line;

    while (rest.n && str_split(&rest, '\n', &line)) {
        size_t at = str_find(line, S("\"event\":"));

        assert_true(str_starts(line, S("{\"time\":\"")) && at != STR_NONE);
        if (line.n)
            strbuf_addf(&all, "%" STR_FMT "\n", STR_ARG(str_skip(line, at)));
    }
    assert_str(strbuf_str(&all), want);
}

TEST(a_line_says_when_how_bad_who_and_what)
{
    AUTO(strbuf) struct strbuf want = {0};
    struct collected c = {0};
    struct virtual_clock clock;
    AUTO(log) struct log *l = make(&c, &clock);

    write_line(l, LOG_WARNING, "retry", "two\nlines");
    strbuf_addf(&want,
                "{\"time\":\"1970-01-01T00:00:00.000Z\",\"level\":\"warning\",\"pid\":%d,"
                "\"event\":\"retry\",\"text\":\"two\\nlines\"}\n",
                (int)getpid());
    assert_str(strbuf_str(&c.lines), strbuf_cstr(&want));
    strbuf_done(&c.lines);
}

TEST(nobody_gets_lines_below_the_level)
{
    struct collected c = {0};
    struct virtual_clock clock;
    AUTO(log) struct log *l = make(&c, &clock);

    write_line(l, LOG_DEBUG, "a", "");
    write_line(l, LOG_INFO, "b", "");
    write_line(NULL, LOG_ERROR, "c", "");
    assert_lines(&c.lines, "\"event\":\"b\",\"text\":\"\"}\n");
    strbuf_done(&c.lines);
}

TEST(secrets_never_appear)
{
    struct secret_value values[] = {{S("KEY"), S("sk-very\"secret")}};
    AUTO(secrets) struct secrets *secrets = secrets_new(values, ARRAY_LEN(values));
    struct collected c = {0};
    struct virtual_clock clock;
    AUTO(log) struct log *l = make(&c, &clock);

    log_hide(l, secrets);
    write_line(l, LOG_INFO, "a", "twice sk-very\"secret and sk-very\"secret");
    write_line(l, LOG_INFO, "b", "none");
    assert_lines(&c.lines, "\"event\":\"a\",\"text\":\"twice [REDACTED] and [REDACTED]\"}\n"
                           "\"event\":\"b\",\"text\":\"none\"}\n");
    log_hide(NULL, secrets);
    strbuf_done(&c.lines);
}

TEST(lines_that_cannot_be_written_are_counted)
{
    AUTO(strbuf) struct strbuf big = {0};
    struct collected c = {.n_refused = 2};
    struct virtual_clock clock;
    AUTO(log) struct log *l = make(&c, &clock);

    write_line(l, LOG_INFO, "a", "");
    write_line(l, LOG_INFO, "b", "");
    for (size_t i = 0; i < LOG_MAX_LINE; i++)
        strbuf_add_char(&big, 'x');
    write_line(l, LOG_INFO, "c", strbuf_cstr(&big)); /* too long */
    write_line(l, LOG_INFO, "d", "");
    write_line(l, LOG_INFO, "e", "");
    assert_lines(&c.lines, "\"event\":\"d\",\"linesLost\":3,\"text\":\"\"}\n"
                           "\"event\":\"e\",\"text\":\"\"}\n");
    strbuf_done(&c.lines);
}

TEST(levels_have_names)
{
    enum log_level level;

    assert_true(log_level_find(S("warning"), &level) && level == LOG_WARNING);
    assert_string_equal(log_level_name(LOG_DEBUG), "debug");
    assert_false(log_level_find(S("loud"), &level));
}

/* --- the file --- */

static void assert_file(const char *path, const char *want)
{
    AUTO(strbuf) struct strbuf text = {0};

    assert_ok(fs_read(path, &text, NULL));
    assert_lines(&text, want);
}

TEST(a_file_is_private_and_several_may_write_to_it)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    const char *path = temp_path(&d, "keel.log");
    AUTO(log) struct log *one = NULL;
    AUTO(log) struct log *other = NULL;
    struct stat file;
    mode_t mask = umask(0);

    assert_ok(log_open(path, LOG_INFO, &one));
    umask(mask);
    assert_ok(log_open(path, LOG_INFO, &other));
    assert_int_equal(stat(path, &file), 0);
    assert_int_equal(file.st_mode & 07777, 0600);
    write_line(one, LOG_INFO, "a", "1");
    write_line(other, LOG_INFO, "b", "2");
    write_line(one, LOG_INFO, "c", "3");
    assert_file(path, "\"event\":\"a\",\"text\":\"1\"}\n\"event\":\"b\",\"text\":\"2\"}\n"
                      "\"event\":\"c\",\"text\":\"3\"}\n");
}

TEST(a_file_that_was_renamed_or_removed_is_begun_anew)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    const char *path = temp_path(&d, "keel.log"), *old = temp_path(&d, "keel.log.1");
    AUTO(log) struct log *l = NULL;
    struct stat file;

    assert_ok(log_open(path, LOG_INFO, &l));
    write_line(l, LOG_INFO, "a", "");
    assert_int_equal(rename(path, old), 0);
    write_line(l, LOG_INFO, "b", "");
    assert_file(old, "\"event\":\"a\",\"text\":\"\"}\n");
    assert_file(path, "\"event\":\"b\",\"text\":\"\"}\n");
    assert_int_equal(stat(path, &file), 0);
    assert_int_equal(file.st_mode & 0077, 0);
    assert_int_equal(unlink(path), 0);
    write_line(l, LOG_INFO, "c", "");
    assert_file(path, "\"event\":\"c\",\"text\":\"\"}\n");
}

/* A command may write where the log is, but not where a link leads. */
TEST(a_link_in_the_place_of_the_file_is_not_followed)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    const char *path = temp_path(&d, "keel.log"), *other = temp_path(&d, "profile");
    AUTO(log) struct log *l = NULL;
    AUTO(log) struct log *second = NULL;
    AUTO(err) struct err *e = NULL;

    assert_ok(log_open(path, LOG_INFO, &l));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink(other, path), 0);
    write_line(l, LOG_INFO, "a", "");
    assert_int_equal(access(other, F_OK), -1);
    e = log_open(path, LOG_INFO, &second);
    assert_true(err_is(e, ERR_VALIDATION));
    assert_non_null(strstr(e->text, "is a symbolic link"));
    assert_int_equal(unlink(path), 0);
    write_line(l, LOG_INFO, "b", "");
    assert_file(path, "\"event\":\"b\",\"text\":\"\"}\n");
}

TEST(standard_error_may_be_the_file)
{
    AUTO(log) struct log *l = NULL;

    assert_ok(log_open("/dev/null", LOG_INFO, &l));
    write_line(l, LOG_INFO, "a", "");
    log_free(TAKE(l));
    assert_ok(log_open("/dev/stderr", LOG_INFO, &l));
}

/* The next line begins on a line of its own. */
TEST(a_line_that_was_written_in_part_does_not_spoil_the_next)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    const char *path = temp_path(&d, "keel.log");
    AUTO(log) struct log *l = NULL;
    AUTO(strbuf) struct strbuf text = {0};
    struct rlimit before, small;
    struct str rest, line;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);

    assert_ok(log_open(path, LOG_INFO, &l));
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = (struct rlimit){40, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    write_line(l, LOG_INFO, "torn", "");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    write_line(l, LOG_INFO, "whole", "");
    assert_ok(fs_read(path, &text, NULL));
    rest = strbuf_str(&text);
    assert_true(str_split(&rest, '\n', &line));
    assert_int_equal(line.n, 40);
    assert_true(str_split(&rest, '\n', &line));
    assert_true(str_find(line, S("\"event\":\"whole\",\"linesLost\":1")) != STR_NONE);
}

static void refused(const char *path, const char *want)
{
    AUTO(log) struct log *l = NULL;
    AUTO(err) struct err *e = log_open(path, LOG_INFO, &l);

    assert_true(err_is(e, ERR_VALIDATION));
    assert_non_null(strstr(e->text, want));
    assert_non_null(e->hint);
}

TEST(a_file_that_cannot_be_written_is_an_error_at_once)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();

    refused(temp_path(&d, "no/such/keel.log"), "cannot write the log file");
    refused(d.path, "cannot write the log file");
}

RUN_TESTS(UNIT(a_line_says_when_how_bad_who_and_what), UNIT(nobody_gets_lines_below_the_level),
          UNIT(secrets_never_appear), UNIT(lines_that_cannot_be_written_are_counted),
          UNIT(levels_have_names), UNIT(a_file_is_private_and_several_may_write_to_it),
          UNIT(a_file_that_was_renamed_or_removed_is_begun_anew),
          UNIT(a_link_in_the_place_of_the_file_is_not_followed),
          UNIT(standard_error_may_be_the_file),
          UNIT(a_line_that_was_written_in_part_does_not_spoil_the_next),
          UNIT(a_file_that_cannot_be_written_is_an_error_at_once))
