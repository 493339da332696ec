/* system_prompt_test.c - what the model is told, and that it stays the same. */
#include "sdk/system_prompt.h"

#include "test.h"

static const char *const more[] = {"/srv/data"};
static const struct system_prompt here = {
    .cwd = "/home/me/project",
    .added_dirs = more,
    .n_added_dirs = 1,
    .is_repository = true,
    .platform = "linux",
    .os_version = "Linux 6.1.0",
    .date = "2026-01-31",
};

static char *write(struct system_prompt p)
{
    AUTO(strbuf) struct strbuf out = {0};

    system_prompt_write(&out, &p);
    return strbuf_take(&out);
}

TEST(environment_stands_at_the_end)
{
    AUTO_FREE char *text = write(here);

    assert_true(str_starts(str_of(text), S("You are keel")));
    assert_true(str_ends(str_of(text), S("\n# Environment\n"
                                         "- Working directory: /home/me/project\n"
                                         "- Further directory: /srv/data\n"
                                         "- Git repository: yes\n"
                                         "- Platform: linux (Linux 6.1.0)\n"
                                         "- Today's date: 2026-01-31\n")));
}

TEST(the_same_place_and_day_give_the_same_text)
{
    AUTO_FREE char *first = write(here), *second = write(here);

    assert_string_equal(first, second);
}

TEST(given_text_replaces_everything)
{
    struct system_prompt p = here;
    AUTO_FREE char *text = NULL;

    p.instead = "Be brief.";
    text = write(p);
    assert_string_equal(text, "Be brief.");
}

TEST(appended_text_stands_after_a_blank_line)
{
    struct system_prompt p = here;
    AUTO_FREE char *own = write(here), *added = NULL, *both = NULL;

    p.append = "Speak Latin.";
    added = write(p);
    assert_memory_equal(added, own, strlen(own));
    assert_string_equal(added + strlen(own), "\nSpeak Latin.");
    p.instead = "Be brief.";
    both = write(p);
    assert_string_equal(both, "Be brief.\n\nSpeak Latin.");
}

TEST(nothing_instead_and_something_appended_is_only_that)
{
    struct system_prompt p = here;
    AUTO_FREE char *text = NULL;

    p.instead = "";
    p.append = "Speak Latin.";
    text = write(p);
    assert_string_equal(text, "Speak Latin.");
}

RUN_TESTS(UNIT(environment_stands_at_the_end), UNIT(the_same_place_and_day_give_the_same_text),
          UNIT(given_text_replaces_everything), UNIT(appended_text_stands_after_a_blank_line),
          UNIT(nothing_instead_and_something_appended_is_only_that))
