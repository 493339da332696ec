/* damage_test.c - a log of a real session, cut and changed anywhere: it opens and goes on.
 *
 * The store's own tests do it at every byte of a small log; here it is some of a long one,
 * and the question is what the session makes of what is left. */
#include "files.h"
#include "session/stage.h"
#include "sys/in_task.h"

#include "engine/open_calls.h"
#include "store/files.h"

#define ID "s"
static const struct session_options fresh = {.start = SESSION_NEW, .id = {ID, 1}},
                                    again = {.start = SESSION_RESUME, .id = {ID, 1}};

#define STEP 17

static struct temp_dir dir;
static char folder[300];    /* of the store */
static struct strbuf texts; /* all messages of the whole session, each on a line */

static void add_texts(const struct history *h, struct strbuf *out)
{
    for (size_t i = 0; i < h->n_messages; i++) {
        message_text(h->messages[i], out);
        strbuf_add_char(out, '\n');
    }
}

static const char *log_path(void)
{
    static char name[320];

    snprintf(name, sizeof name, "%s/" ID ".jsonl", folder);
    return name;
}

/* Its log as it is after a good end. */
static struct strbuf make_log(void)
{
    AUTO(stage) struct stage st = {0};
    static unsigned n_stores;
    char name[16];

    snprintf(name, sizeof name, "%u", n_stores++);
    snprintf(folder, sizeof folder, "%s", temp_path(&dir, name));
    st.store = store_files_new(folder);
    strbuf_clear(&texts);
    stage_open(&st, &fresh);
    stage_run(&st,
              "turns:\n - [{text: Look.}, {tool: Echo, id: a, args: {text: x}},\n"
              "    {tool: State, id: b, args: {value: 7}}]\n - text: Done.\n",
              "first");
    add_texts(&st.session.conversation.history, &texts);
    stage_close(&st);
    return read_file(log_path());
}

static void remove_torn(void)
{
    DIR *d = opendir(folder);
    struct dirent *entry;

    assert_non_null(d);
    while ((entry = readdir(d)))
        if (strstr(entry->d_name, ".torn-"))
            unlinkat(dirfd(d), entry->d_name, 0);
    closedir(d);
}

enum expect { ANY_MESSAGES, FIRST_MESSAGES };

/* The session opens with messages that it had, in their order, says what is wrong with the log, and
 * can be asked something. */
static void assert_goes_on(struct str log, enum expect expect, bool is_torn, bool is_asked)
{
    AUTO(stage) struct stage st = {.store = store_files_new(folder)};
    AUTO(strbuf) struct strbuf now = {0};
    struct str rest, line, whole = strbuf_str(&texts);

    write_file(log_path(), log);
    stage_open(&st, &again);
    if (expect == FIRST_MESSAGES)
        assert_int_equal(st.notices.n > 0, is_torn);
    add_texts(&st.session.conversation.history, &now);
    if (expect == FIRST_MESSAGES)
        assert_true(str_starts(whole, strbuf_str(&now)));
    else
        assert_true(st.notices.n > 0 || str_eq(whole, strbuf_str(&now)));
    for (rest = strbuf_str(&now); rest.n && str_split(&rest, '\n', &line);)
        assert_true(line.n == 0 || str_find(whole, line) != STR_NONE);
    if (is_asked) {
        stage_run(&st, "turns:\n - text: The end.\n", "more");
        assert_int_equal(st.world.result.outcome, RUN_DONE);
        assert_null(open_calls_find(&st.session.conversation.history));
    }
    stage_close(&st);
    remove_torn();
}

IN_TASK(a_log_that_ends_at_any_byte)
{
    AUTO(strbuf) struct strbuf log = make_log();

    for (size_t n = 0; n <= log.n; n += STEP)
        assert_goes_on(str_slice(strbuf_str(&log), 0, n), FIRST_MESSAGES, n && log.p[n - 1] != '\n',
                       n % 16 == 0);
}

/* A record that is gone may have held a message, and then all that came after it says that it is
 * missing; what there is, is right. */
IN_TASK(a_log_with_any_byte_changed)
{
    static const char values[] = {1, (char)0x80};
    AUTO(strbuf) struct strbuf log = make_log();

    for (size_t i = 0; i < log.n; i += STEP) {
        log.p[i] ^= values[i % ARRAY_LEN(values)];
        assert_goes_on(strbuf_str(&log), ANY_MESSAGES, false, i % 16 == 0);
        log.p[i] ^= values[i % ARRAY_LEN(values)];
    }
}

static int begin(void **state)
{
    /* Thousands of fsyncs: in memory where there is such a place. */
    if (access("/dev/shm", W_OK) == 0)
        setenv("TMPDIR", "/dev/shm", 1);
    dir = temp_dir_make();
    return 0;
}

static int end(void **state)
{
    strbuf_done(&texts);
    temp_dir_done(&dir);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT(a_log_that_ends_at_any_byte),
        UNIT(a_log_with_any_byte_changed),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
