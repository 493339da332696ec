/* todo_write.c - TodoWrite: the model's list of steps, stored in the session. */
#include "tool/builtin.h"

#include "port/todos.h"

#define MAX_SHOWN_CHARS 100 /* of one item: 200 of them stay below TOOL_CODING_MAX_CHARS */

/* An item as it is stored. */
static struct json *copy_item(struct arena *a, const struct json *given)
{
    struct json *item = json_new(a, JSON_OBJECT);
    struct str active = json_get_text(given, "activeForm");

    json_set_str(a, item, "content", json_get_text(given, "content"));
    json_set_str(a, item, "status", json_get_text(given, "status"));
    if (active.n)
        json_set_str(a, item, "activeForm", active);
    return item;
}

static size_t count_status(const struct json *todos, const char *status)
{
    size_t n = 0;

    json_each (item, todos)
        n += str_is(json_get_text(item, "status"), status);
    return n;
}

static void show_list(struct tool_result *r, const struct json *todos)
{
    size_t number = 0;

    if (!todos->n) {
        tool_result_addf(r, "The todo list is now empty.");
        return;
    }
    tool_result_addf(r,
                     "The todo list is saved: %u item%s, %zu completed, %zu in progress, %zu "
                     "pending.",
                     todos->n, todos->n == 1 ? "" : "s", count_status(todos, "completed"),
                     count_status(todos, "in_progress"), count_status(todos, "pending"));
    json_each (item, todos) {
        strbuf_addf(&r->text, "\n%zu. ", ++number);
        todo_add_line(item, MAX_SHOWN_CHARS, &r->text);
    }
}

static struct err *todo_write_run(const struct tool *t, struct tool_context *c,
                                  const struct json *args, struct tool_result *result)
{
    struct arena *a = &result->arena;
    const struct json *old = todos_get(c->state);
    struct json *todos = json_new(a, JSON_ARRAY), *details = tool_result_details(result);

    json_each (item, json_get(args, "todos"))
        json_push(todos, copy_item(a, item));
    json_set(a, details, "oldTodos", old ? json_copy(a, old) : json_new(a, JSON_ARRAY));
    json_set(a, details, "newTodos", json_copy(a, todos));
    todos_set(c->state, todos);
    show_list(result, todos);
    return NULL;
}

/* Words of other agents for the same states. */
static const struct {
    const char *word, *status;
} words[] = {
    {"done", "completed"},         {"complete", "completed"}, {"in-progress", "in_progress"},
    {"inProgress", "in_progress"}, {"todo", "pending"},       {"not_started", "pending"},
};

static void todo_write_adapt(struct json *args, struct arena *a)
{
    json_each (item, json_get(args, "todos"))
        for (size_t i = 0; i < ARRAY_LEN(words); i++)
            if (json_is(item, JSON_OBJECT) && str_is(json_get_text(item, "status"), words[i].word))
                json_set_str(a, item, "status", str_of(words[i].status));
}

static const char description[] =
    "Records your list of steps for this session; the person sees it, too. Use it for tasks with "
    "three or more steps and when the person asks for several things at once, not for a single "
    "simple step. Each call replaces the whole list: always send every item. Keep exactly one item "
    "in_progress while you work. Mark an item completed as soon as it is done, and only when it is "
    "really done; if something blocks it, leave it in_progress and add an item for the obstacle. "
    "At most 200 items.";

static const char schema[] =
    "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"todos\"],\"properties\":{"
    "\"todos\":{\"type\":\"array\",\"maxItems\":200,"
    "\"description\":\"The whole list, in the order of work.\","
    "\"items\":{\"type\":\"object\",\"additionalProperties\":false,"
    "\"required\":[\"content\",\"status\"],\"properties\":{"
    "\"content\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":2000,"
    "\"description\":\"What to do, such as: Run the tests\"},"
    "\"status\":{\"type\":\"string\",\"enum\":[\"pending\",\"in_progress\",\"completed\"],"
    "\"description\":\"State of the item\"},"
    "\"activeForm\":{\"type\":\"string\",\"maxLength\":2000,"
    "\"description\":\"The same while in progress, such as: Running the tests\"}}}}}}";

struct tool tool_todo_write = {
    .name = "TodoWrite",
    .description = description,
    .schema = schema,
    .aliases = "active_form=activeForm id= priority=",
    .adapt = todo_write_adapt,
    .risk = RISK_INSPECT,
    .is_barrier = true,
    .max_chars = TOOL_CODING_MAX_CHARS,
    .run = todo_write_run,
};
