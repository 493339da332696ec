/* todo_write_test.c */
#include "tool/fixture.h"

#include "base/utf8.h"
#include "port/todos.h"
#include "tool/builtin.h"

static void assert_json(const struct json *value, const char *want)
{
    AUTO(strbuf) struct strbuf got = {0};

    assert_non_null(value);
    json_write(&got, value);
    assert_str(strbuf_str(&got), want);
}

TEST(the_whole_list_is_kept_in_the_session)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    AUTO(tool_result)
    struct tool_result r =
        tool_call(&f, &tool_todo_write,
                  "{\"todos\":[{\"content\":\"Read the code\",\"status\":\"completed\"},"
                  "{\"content\":\"Fix the bug\",\"status\":\"in_progress\","
                  "\"activeForm\":\"Fixing the bug\"},"
                  "{\"content\":\"Run the tests\",\"status\":\"pending\"}]}");

    assert_false(r.is_error);
    assert_str(strbuf_str(&r.text),
               "The todo list is saved: 3 items, 1 completed, 1 in progress, 1 pending.\n"
               "1. [x] Read the code\n"
               "2. [>] Fix the bug\n"
               "3. [ ] Run the tests");
    assert_json(todos_get(f.state), "[{\"content\":\"Read the code\",\"status\":\"completed\"},"
                                    "{\"content\":\"Fix the bug\",\"status\":\"in_progress\","
                                    "\"activeForm\":\"Fixing the bug\"},"
                                    "{\"content\":\"Run the tests\",\"status\":\"pending\"}]");
}

static void count_change(void *self, struct str key, const struct json *value)
{
    assert_str(key, "todos");
    ++*(int *)self;
}

TEST(a_second_list_replaces_the_first_and_both_are_told)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    AUTO(tool_result) struct tool_result first, second;
    int n_changes = 0;

    tool_state_listen(f.state, (struct state_listener){count_change, &n_changes});
    first =
        tool_call(&f, &tool_todo_write, "{\"todos\":[{\"content\":\"a\",\"status\":\"pending\"}]}");
    second = tool_call(&f, &tool_todo_write,
                       "{\"todos\":[{\"content\":\"a\",\"status\":\"completed\"}]}");
    assert_int_equal(n_changes, 2);
    assert_json(first.details, "{\"oldTodos\":[],\"newTodos\":["
                               "{\"content\":\"a\",\"status\":\"pending\"}]}");
    assert_json(second.details, "{\"oldTodos\":[{\"content\":\"a\",\"status\":\"pending\"}],"
                                "\"newTodos\":[{\"content\":\"a\",\"status\":\"completed\"}]}");
    assert_str(strbuf_str(&second.text),
               "The todo list is saved: 1 item, 1 completed, 0 in progress, 0 pending.\n1. [x] a");
}

TEST(the_other_spelling_of_the_active_form_is_taken)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    AUTO(tool_result)
    struct tool_result r = tool_call(&f, &tool_todo_write,
                                     "{\"todos\":[{\"content\":\"a\",\"status\":\"pending\","
                                     "\"active_form\":\"doing a\"}]}");

    assert_false(r.is_error);
    assert_json(todos_get(f.state),
                "[{\"content\":\"a\",\"status\":\"pending\",\"activeForm\":\"doing a\"}]");
}

TEST(items_as_other_agents_write_them_are_taken)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    AUTO(tool_result)
    struct tool_result r = tool_call(&f, &tool_todo_write,
                                     "{\"todos\":[{\"id\":\"1\",\"priority\":\"high\","
                                     "\"content\":\"a\",\"status\":\"done\"},"
                                     "{\"content\":\"b\",\"status\":\"in-progress\"},"
                                     "{\"content\":\"c\",\"status\":\"todo\"}]}");
    AUTO(tool_result)
    struct tool_result unclear = tool_call(
        &f, &tool_todo_write, "{\"todos\":[{\"content\":\"a\",\"status\":\"cancelled\"}]}");

    assert_false(r.is_error);
    assert_true(unclear.is_error);
    assert_json(todos_get(f.state), "[{\"content\":\"a\",\"status\":\"completed\"},"
                                    "{\"content\":\"b\",\"status\":\"in_progress\"},"
                                    "{\"content\":\"c\",\"status\":\"pending\"}]");
}

TEST(an_empty_list_clears_it)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    AUTO(tool_result) struct tool_result first, r;

    first =
        tool_call(&f, &tool_todo_write, "{\"todos\":[{\"content\":\"a\",\"status\":\"pending\"}]}");
    r = tool_call(&f, &tool_todo_write, "{\"todos\":[]}");
    assert_str(strbuf_str(&r.text), "The todo list is now empty.");
    assert_json(todos_get(f.state), "[]");
}

TEST(a_list_that_is_wrong_is_refused_and_the_old_one_stays)
{
    static const char *const wrong[] = {
        "{}",
        "{\"todos\":\"a\"}",
        "{\"todos\":[{\"content\":\"\",\"status\":\"pending\"}]}",
        "{\"todos\":[{\"content\":\"a\",\"status\":\"cancelled\"}]}",
        "{\"todos\":[{\"content\":\"a\"}]}",
        "{\"todos\":[{\"content\":\"a\",\"status\":\"pending\",\"owner\":\"1\"}]}",
        "{\"todos\":[],\"merge\":true}",
    };
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    AUTO(tool_result) struct tool_result first;

    first =
        tool_call(&f, &tool_todo_write, "{\"todos\":[{\"content\":\"a\",\"status\":\"pending\"}]}");
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        AUTO(tool_result) struct tool_result r = tool_call(&f, &tool_todo_write, wrong[i]);

        assert_true(r.is_error);
        assert_int_equal(r.code, ERR_VALIDATION);
        assert_int_equal(todos_get(f.state)->n, 1);
    }
}

/* n items with contents of n_chars characters of two bytes each, with a newline in the middle. */
static char *many(size_t n, size_t n_chars)
{
    AUTO(strbuf) struct strbuf args = {0};

    strbuf_add_cstr(&args, "{\"todos\":[");
    for (size_t i = 0; i < n; i++) {
        strbuf_addf(&args, "%s{\"content\":\"", i ? "," : "");
        for (size_t k = 0; k < n_chars; k++)
            strbuf_add_cstr(&args, k == 50 ? "\\n" : "\xC3\xA4");
        strbuf_add_cstr(&args, "\",\"status\":\"pending\"}");
    }
    strbuf_add_cstr(&args, "]}");
    return strbuf_take(&args);
}

TEST(the_longest_list_is_told_in_short)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    AUTO_FREE char *args = many(200, 2000);
    AUTO(tool_result) struct tool_result r = tool_call(&f, &tool_todo_write, args);
    const struct json *todos = todos_get(f.state);
    size_t n_lines = 0;

    assert_false(r.is_error);
    assert_true(utf8_count(strbuf_str(&r.text)) < TOOL_CODING_MAX_CHARS);
    for (size_t i = 0; i < r.text.n; i++)
        n_lines += r.text.p[i] == '\n';
    assert_int_equal(n_lines, 200);
    assert_int_equal(todos->n, 200);
    assert_int_equal(utf8_count(json_get_text(todos->last, "content")), 2000);
}

TEST(a_list_over_its_limits_is_refused)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    AUTO_FREE char *long_list = many(201, 1), *long_item = many(1, 2001);
    AUTO(tool_result) struct tool_result a = tool_call(&f, &tool_todo_write, long_list);
    AUTO(tool_result) struct tool_result b = tool_call(&f, &tool_todo_write, long_item);

    assert_true(a.is_error);
    assert_non_null(strstr(strbuf_cstr(&a.text), "/todos: "));
    assert_true(b.is_error);
    assert_non_null(strstr(strbuf_cstr(&b.text), "/todos/0/content: "));
    assert_null(todos_get(f.state));
}

RUN_TESTS(UNIT(the_whole_list_is_kept_in_the_session),
          UNIT(a_second_list_replaces_the_first_and_both_are_told),
          UNIT(the_other_spelling_of_the_active_form_is_taken),
          UNIT(items_as_other_agents_write_them_are_taken), UNIT(an_empty_list_clears_it),
          UNIT(a_list_that_is_wrong_is_refused_and_the_old_one_stays),
          UNIT(the_longest_list_is_told_in_short), UNIT(a_list_over_its_limits_is_refused))
