/* todo_reminder_test.c - when a forgotten list is brought back to mind. */
#include "sdk/prompt/todo_reminder.h"

#include "test.h"

#define OPEN                                                                                       \
    "[{\"content\":\"Read\",\"status\":\"completed\"},"                                            \
    "{\"content\":\"Write\\nit\",\"status\":\"in_progress\"},"                                     \
    "{\"content\":\"Test\",\"status\":\"pending\"}]"

static void add(struct history *h, enum role role, const struct part *p)
{
    struct message *m = message_new(role, S("m"));

    message_add(m, p);
    history_add_message(h, m, 0);
    message_unref(m);
}

/* An answer that calls a tool; before it, the result of the call before. */
static void add_round(struct history *h, const char *tool, const char *result)
{
    struct part text = {.kind = PART_TEXT, .text = str_of(result)};

    add(h, ROLE_TOOL,
        &(struct part){.kind = PART_TOOL_RESULT, .id = S("c"), .content = &text, .n_content = 1});
    add(h, ROLE_ASSISTANT,
        &(struct part){
            .kind = PART_TOOL_CALL, .id = S("c"), .name = str_of(tool), .args = S("{}")});
}

static void add_rounds(struct history *h, size_t n)
{
    while (n--)
        add_round(h, "Read", "text");
}

static char *remind(const struct history *h, const char *todos)
{
    AUTO(strbuf) struct strbuf out = {0};
    AUTO(arena) struct arena a = {0};
    struct json *list = NULL;

    if (todos)
        assert_ok(json_parse(&a, str_of(todos), 0, &list));
    todo_reminder_write(h, list, &out);
    return strbuf_take(&out);
}

static void assert_reminder(const struct history *h, const char *todos, bool wanted)
{
    AUTO_FREE char *text = remind(h, todos);

    assert_int_equal(text && *text, wanted);
}

TEST(a_list_with_open_items_is_told_of_after_ten_rounds)
{
    AUTO(history) struct history h = {0};
    AUTO_FREE char *text = NULL;

    add_round(&h, "TodoWrite", "");
    add_rounds(&h, TODO_REMINDER_ROUNDS - 1);
    assert_reminder(&h, OPEN, false);
    add_rounds(&h, 1);
    text = remind(&h, OPEN);
    assert_string_equal(text,
                        "<reminder>\nYour todo list has not changed for 10 rounds, and 2 items are "
                        "open:\n- in_progress: Write it\n- pending: Test\n"
                        "Update it with TodoWrite if it no longer fits your work, then continue. "
                        "This note comes from keel; do not answer it.\n</reminder>");
}

TEST(it_comes_again_only_after_as_many_rounds)
{
    AUTO(history) struct history h = {0};
    AUTO_FREE char *text = NULL;

    add_rounds(&h, TODO_REMINDER_ROUNDS);
    text = remind(&h, OPEN);
    add_round(&h, "Read", text);
    assert_reminder(&h, OPEN, false);
    add_rounds(&h, TODO_REMINDER_ROUNDS - 2);
    assert_reminder(&h, OPEN, false);
    add_rounds(&h, 1);
    assert_reminder(&h, OPEN, true);
}

TEST(a_list_that_is_done_or_empty_is_left_alone)
{
    AUTO(history) struct history h = {0};

    add_rounds(&h, 3 * TODO_REMINDER_ROUNDS);
    assert_reminder(&h, NULL, false);
    assert_reminder(&h, "[]", false);
    assert_reminder(&h, "[{\"content\":\"Read\",\"status\":\"completed\"}]", false);
}

RUN_TESTS(UNIT(a_list_with_open_items_is_told_of_after_ten_rounds),
          UNIT(it_comes_again_only_after_as_many_rounds),
          UNIT(a_list_that_is_done_or_empty_is_left_alone))
