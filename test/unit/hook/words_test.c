/* words_test.c - what may be the name of a file in a command line. */
#include "test.h"

#include "hook/words.h"

static void has_(const char *line, const char *word, const char *file, int at)
{
    AUTO(arena) struct arena a = {0};
    struct word_list l = {0};

    hook_words_add(&l, &a, str_of(line));
    for (size_t i = 0; i < l.n; i++)
        if (str_is(l.items[i], word))
            return;
    print_error("%s:%d: no word \"%s\" in: %s\n", file, at, word, line);
    fail();
}
#define has(line, word) has_(line, word, __FILE__, __LINE__)

TEST(words_of_a_plain_line_are_found)
{
    has("./check.sh --fast", "./check.sh");
    has("python3 tools/check.py", "tools/check.py");
    has("true; sh a.sh && b.sh|c.sh", "a.sh");
    has("true; sh a.sh && b.sh|c.sh", "b.sh");
    has("true; sh a.sh && b.sh|c.sh", "c.sh");
    has("sh <a.sh", "a.sh");
    has("echo $(sh a.sh) `sh b.sh`", "a.sh");
    has("echo $(sh a.sh) `sh b.sh`", "b.sh");
}

TEST(a_variable_before_a_name_is_dropped)
{
    has("\"$KEEL_PROJECT_DIR\"/.keel/check.sh", "/.keel/check.sh");
    has("${KEEL_PROJECT_DIR}/.keel/check.sh", "/.keel/check.sh");
    has("${KEEL_PROJECT_DIR:-.}/.keel/check.sh", "/.keel/check.sh");
    has("\"$(git rev-parse --show-toplevel)\"/.keel/check.sh", "/.keel/check.sh");
    has("D=scripts; sh $D/check.sh", "scripts");
    has("D=scripts; sh $D/check.sh", "/check.sh");
}

TEST(names_with_blanks_are_found_in_quotes)
{
    has("'my hooks/check.sh' x", "my hooks/check.sh");
    has("\"$KEEL_PROJECT_DIR/my hooks/check.sh\"", "/my hooks/check.sh");
    has("my\\ hooks/check.sh", "my hooks/check.sh");
}

TEST(names_in_command_lines_in_quotes_are_found)
{
    has("bash -c \"python3 'a b/x.py' scripts/x.py\"", "scripts/x.py");
    has("sh -c 'exec scripts/x.sh'", "scripts/x.sh");
    has("bash -c 'bash -c \"scripts/x.sh\"'", "scripts/x.sh");
}

TEST(names_behind_signs_are_found)
{
    has("tool --config=conf/x.js", "conf/x.js");
    has("curl -d @data.json x", "data.json");
    has("PATH=bin:tools check", "bin");
    has("PATH=bin:tools check", "tools");
    has("run {a.sh,b.sh}", "b.sh");
}

TEST(any_bytes_are_read_and_words_are_limited)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf line = {0};
    struct word_list l = {0};

    hook_words_add(&l, &a, str_make("a\0b '", 5));
    hook_words_add(&l, &a, S("$"));
    hook_words_add(&l, &a, S("\\"));
    hook_words_add(&l, &a, S("${"));
    assert_false(l.is_full);
    for (int i = 0; i < 2 * HOOK_MAX_WORDS; i++)
        strbuf_addf(&line, "w%d ", i);
    hook_words_add(&l, &a, strbuf_str(&line));
    assert_true(l.is_full);
    assert_int_equal(l.n, HOOK_MAX_WORDS);
}

RUN_TESTS(UNIT(words_of_a_plain_line_are_found), UNIT(a_variable_before_a_name_is_dropped),
          UNIT(names_with_blanks_are_found_in_quotes),
          UNIT(names_in_command_lines_in_quotes_are_found), UNIT(names_behind_signs_are_found),
          UNIT(any_bytes_are_read_and_words_are_limited))
