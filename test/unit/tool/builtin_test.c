/* builtin_test.c - the table of tools, and what others read in it. */
#include "test.h"

#include "port/tool_set.h"
#include "tool/builtin.h"
#include "tool/names.h"

TEST(each_name_is_there_once_and_known)
{
    AUTO(arena) struct arena a = {0};
    size_t n, n_own;
    const struct str *names = tool_names(&a, &n, &n_own);

    for (size_t i = 0; i < n; i++) {
        assert_true(tool_name_is_known(names[i]));
        assert_int_equal(tool_name_is_absent(names[i]), i >= n_own);
        for (size_t j = 0; j < i; j++)
            if (str_eq(names[i], names[j]))
                fail_msg("%s is there twice", names[i].p);
    }
    assert_null(builtin_tools[n_own]);
}

TEST(a_line_about_a_call_has_what_rules_are_about)
{
    for (struct tool *const *t = builtin_tools; *t; t++) {
        AUTO(arena) struct arena a = {0};
        struct json *args = json_new(&a, JSON_OBJECT);

        if (!(*t)->permission_arg)
            continue;
        json_set_str(&a, args, (*t)->permission_arg, S("it"));
        json_set_str(&a, args, "name", S("less"));
        if (!str_is(tool_main_argument(args), "it"))
            fail_msg("tool_main_argument() does not know \"%s\" of %s", (*t)->permission_arg,
                     (*t)->name);
    }
}

RUN_TESTS(UNIT(each_name_is_there_once_and_known),
          UNIT(a_line_about_a_call_has_what_rules_are_about))
