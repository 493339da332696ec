/* git_config_test.c */
#include "sandbox/git_config.h"

#include "test.h"

TEST(what_git_writes_itself_is_plain)
{
    assert_true(git_config_is_plain(S("")));
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
        "[core]\n\tbare = false \\\n\tpager = evil\n",
        "[filter \"core\"]\n\tclean = evil\n",
        "[remote \"x\"] proxy = x ]\n",
        "[core \"]\"]\n",
        "[\n",
        "[",
        "nonsense\n",
        "; a comment\n",
    };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (git_config_is_plain(str_of(texts[i])))
            fail_msg("plain: %s", texts[i]);
}

RUN_TESTS(UNIT(what_git_writes_itself_is_plain), UNIT(what_could_run_something_is_not))
