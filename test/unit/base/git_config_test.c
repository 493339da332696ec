/* git_config_test.c */
#include "base/git_config.h"

#include "base/strbuf.h"
#include "test.h"

TEST(what_git_writes_itself_is_plain)
{
    assert_true(git_config_is_plain(S("")));
    assert_true(git_config_is_plain(S("# a comment\n[user] name = A ; of mine\n\temail = a@b\n")));
    assert_true(git_config_is_plain(
        S("[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n"
          "\tlogallrefupdates = true\n[remote \"origin\"]\n\turl = /a/b\n"
          "\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n"
          "\tremote = origin\n\tmerge = refs/heads/main\n")));
}

TEST(what_could_run_something_is_not)
{
    static const char *const texts[] = {
        "[core]\n\tfsmonitor = evil\n",
        "[core]\n\thooksPath = evil\n",
        "[core] sshCommand = evil\n",
        "[alias]\n\tst = !evil\n",
        "[include]\n\tpath = evil\n",
        "[filter \"core\"]\n\tclean = evil\n",
        "[remote \"x\"] proxy = x ]\n",
        "[\n",
        "[",
        "nonsense\n",
        "[core]\n\tbare = \"false\n",
        "\tbare = false\n",
        "[core]\n\tbare = \\x\n",
    };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (git_config_is_plain(str_of(texts[i])))
            fail_msg("plain: %s", texts[i]);
}

/* All settings, one a line. */
static const char *read_all(struct arena *a, const char *text)
{
    struct git_reader r = {.rest = str_of(text), .arena = a};
    AUTO(strbuf) struct strbuf all = {0};
    struct git_setting s;

    while (git_config_next(&r, &s))
        strbuf_addf(&all, "%" STR_FMT ".%" STR_FMT ".%" STR_FMT "=%" STR_FMT "\n",
                    STR_ARG(s.section), STR_ARG(s.subsection), STR_ARG(s.key), STR_ARG(s.value));
    if (r.is_bad)
        strbuf_add_cstr(&all, "bad\n");
    return arena_cstr(a, strbuf_str(&all));
}

TEST(settings_are_read_as_git_reads_them)
{
    AUTO(arena) struct arena a = {0};

    assert_string_equal(read_all(&a, "[a]b=c\n[A \"x\\\"y\"] k = v  # no\n\tflag\n"),
                        "a..b=c\nA.x\"y.k=v\nA.x\"y.flag=\n");
    assert_string_equal(read_all(&a, "[a.b]\nk = \"x # y\" z\\\n  w ;\nl = \\t\\\\\r\n"),
                        "a.b.k=x # y z  w\na.b.l=\t\\\n");
    assert_string_equal(read_all(&a, "[a]\nk = v\n[b\nl = w\n"), "a..k=v\nbad\n");
    assert_string_equal(read_all(&a, "[a]\nk = v\\"), "a..k=v\n");
}

TEST(settings_that_name_programs_are_known)
{
    static const struct {
        const char *section, *key;
        enum git_use use;
    } uses[] = {
        {"core", "hooksPath", GIT_USE_HOOKS},   {"include", "path", GIT_USE_CONFIG},
        {"includeIf", "path", GIT_USE_CONFIG},  {"filter", "clean", GIT_USE_COMMAND},
        {"diff", "textconv", GIT_USE_COMMAND},  {"merge", "driver", GIT_USE_COMMAND},
        {"core", "fsmonitor", GIT_USE_COMMAND}, {"alias", "st", GIT_USE_COMMAND},
        {"core", "excludesfile", GIT_USE_NONE}, {"remote", "url", GIT_USE_NONE},
    };

    for (size_t i = 0; i < ARRAY_LEN(uses); i++) {
        struct git_setting s = {.section = str_of(uses[i].section), .key = str_of(uses[i].key)};

        assert_int_equal(git_setting_use(&s), uses[i].use);
    }
}

TEST(what_a_changed_file_adds_is_known)
{
    struct str before = S("[core]\n\tfsmonitor = mine\n[Filter \"x\"]\n\tclean = a\n");

    assert_true(git_config_adds_nothing(before, before));
    assert_true(git_config_adds_nothing(before, S("[branch \"b\"]\n\tremote = r\n")));
    assert_true(git_config_adds_nothing(before, S("[filter \"x\"]\n\tClean = a\n")));
    assert_false(git_config_adds_nothing(before, S("[filter \"y\"]\n\tclean = a\n")));
    assert_false(git_config_adds_nothing(before, S("[core]\n\tfsmonitor = evil\n")));
    assert_false(git_config_adds_nothing(before, S("[core\n")));
}

RUN_TESTS(UNIT(what_a_changed_file_adds_is_known), UNIT(settings_are_read_as_git_reads_them),
          UNIT(settings_that_name_programs_are_known), UNIT(what_git_writes_itself_is_plain),
          UNIT(what_could_run_something_is_not))
