/* calls.h - tools and calls for the tests of the gate. The session's root is /proj. */
#ifndef KEEL_TEST_UNIT_GATE_CALLS_H
#define KEEL_TEST_UNIT_GATE_CALLS_H

#include "gate/gate.h"
#include "gate/pattern.h"
#include "test.h"

#define OBJECT(properties) "{\"type\":\"object\",\"properties\":{" properties "}}"
#define TEXT(name) "\"" name "\":{\"type\":\"string\"}"

static struct tool bash = {
    .name = "Bash",
    .schema = "{\"type\":\"object\",\"properties\":{" TEXT("command") "," TEXT(
        "description") "},"
                       "\"required\":[\"command\"],\"additionalProperties\":false}",
    .risk = RISK_EXECUTE,
    .permission_arg = "command"};
static struct tool read_tool = {.name = "Read",
                                .schema = OBJECT(TEXT("file_path")),
                                .risk = RISK_INSPECT,
                                .permission_arg = "file_path"};
static struct tool edit = {.name = "Edit",
                           .schema = OBJECT(TEXT("file_path")),
                           .risk = RISK_MODIFY,
                           .permission_arg = "file_path"};
static struct tool write_tool = {.name = "Write",
                                 .schema = OBJECT(TEXT("file_path")),
                                 .risk = RISK_MODIFY,
                                 .permission_arg = "file_path"};
static struct tool grep = {
    .name = "Grep", .schema = OBJECT(TEXT("path")), .risk = RISK_INSPECT, .permission_arg = "path"};
static struct tool fetch = {.name = "WebFetch",
                            .schema = OBJECT(TEXT("url")),
                            .risk = RISK_NETWORK,
                            .permission_arg = "url"};
static struct tool search = {.name = "WebSearch",
                             .schema = OBJECT(TEXT("query")),
                             .risk = RISK_NETWORK,
                             .permission_arg = "query"};
static struct tool issue = {.name = "mcp__github__create_issue", .schema = OBJECT(TEXT("title"))};
static struct tool query = {
    .name = "mcp__db__query", .schema = OBJECT(TEXT("sql")), .permission_arg = "sql"};

static struct tool *const all_tools[] = {&bash,  &read_tool, &edit,  &write_tool, &grep,
                                         &fetch, &search,    &issue, &query};

static inline struct tool *tool_named(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(all_tools); i++)
        if (str_is(name, all_tools[i]->name))
            return all_tools[i];
    fail_msg("no such tool");
    return NULL;
}

/* One call of a tool with its permission argument; NULL: with none. */
struct sample {
    struct arena arena;
    struct tool_state *state;
    struct json *args;
    struct subject subject;
};

static inline struct sample sample_make(const struct tool *tool, const char *argument)
{
    struct sample c = {.state = tool_state_new(S("/proj"))};

    c.args = json_new(&c.arena, JSON_OBJECT);
    if (argument)
        json_set_str(&c.arena, c.args, tool->permission_arg, str_of(argument));
    c.subject = (struct subject){.tool = tool, .args = c.args, .state = c.state};
    return c;
}

static inline void sample_done(struct sample *c)
{
    tool_state_free(c->state);
    arena_done(&c->arena);
}
DEFINE_AUTO_VAL(sample, sample_done)

/* The pattern alone, as if there were no other. */
static inline enum match match_text(struct str pattern, const struct subject *s,
                                    enum reading reading)
{
    struct pattern p = pattern_read(pattern);

    return pattern_match(&p, s, reading);
}

/* Rules that are read for this call only. What is decided points into them and the session. */
static inline struct decided decide_sample(const struct permission_rules *rules,
                                           enum permission_mode mode, const struct tool *tool,
                                           const struct sample *c)
{
    AUTO(rulebook) struct rulebook *book = rulebook_new(rules);

    return permission_decide(book, mode, tool, c->args, c->state, NULL);
}

/* The pattern against a call of the tool that it names. */
static inline enum match match_one(const char *pattern, const char *argument, enum reading reading)
{
    struct str name = permission_pattern_tool(str_of(pattern));
    AUTO(sample) struct sample c = sample_make(tool_named(name), argument);

    return match_text(str_of(pattern), &c.subject, reading);
}

static inline void assert_match_(const char *pattern, const char *argument, enum reading reading,
                                 enum match want, int line)
{
    static const char *const names[] = {"no", "yes", "unclear"};
    enum match got = match_one(pattern, argument, reading);

    if (got != want) {
        print_error("%s, read %s, against \"%s\": want %s, got %s\n", pattern,
                    reading == READ_WIDELY ? "widely" : "narrowly", argument ? argument : "nothing",
                    names[want], names[got]);
        _fail(__FILE__, line);
    }
}
#define allows(p, a) assert_match_(p, a, READ_NARROWLY, MATCH_YES, __LINE__)
#define allows_not(p, a) assert_match_(p, a, READ_NARROWLY, MATCH_NO, __LINE__)
#define denies(p, a) assert_match_(p, a, READ_WIDELY, MATCH_YES, __LINE__)
#define denies_not(p, a) assert_match_(p, a, READ_WIDELY, MATCH_NO, __LINE__)
#define is_unclear(p, a) assert_match_(p, a, READ_WIDELY, MATCH_UNCLEAR, __LINE__)

#endif
