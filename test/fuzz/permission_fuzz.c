/* permission_fuzz.c - what must hold for every pattern and every command. The input: the pattern, a
 * newline, the command. */
#include "gate/command.h"
#include "gate/gate.h"
#include "gate/path.h"
#include "gate/prepared.h"
#include "gate/web.h"
#include "gate/wildcard.h"
#include "net/url.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct tool bash = {.name = "Bash", .risk = RISK_EXECUTE, .permission_arg = "command"};
static struct tool edit = {.name = "Edit", .risk = RISK_MODIFY, .permission_arg = "file_path"};
static struct tool fetch = {.name = "WebFetch", .risk = RISK_NETWORK, .permission_arg = "url"};

static struct subject subject_make(struct arena *a, const struct tool *tool, struct str argument,
                                   const struct tool_state *state)
{
    struct json *args = json_new(a, JSON_OBJECT);

    json_set_str(a, args, tool->permission_arg, argument);
    return (struct subject){.tool = tool, .args = args, .state = state};
}

/* The pattern that is remembered for a call is valid, allows it, and denies it. */
static void check_remembered(const struct subject *s, struct arena *a)
{
    struct str pattern;
    struct pattern p;

    if (!pattern_of_call(s, a, &pattern) || pattern.n > 2000)
        return;
    p = pattern_read(pattern);
    BUG_IF(p.is_broken);
    BUG_IF(s->tool != &edit && pattern_match(&p, s, READ_NARROWLY) != MATCH_YES);
    BUG_IF(pattern_match(&p, s, READ_NARROWLY) == MATCH_YES &&
           pattern_match(&p, s, READ_WIDELY) == MATCH_NO);
}

static struct decided decide(const struct permission_rules *rules, enum permission_mode mode,
                             const struct subject *s)
{
    AUTO(rulebook) struct rulebook *book = rulebook_new(rules);

    return permission_decide(book, mode, s->tool, s->args, s->state, s->prepared);
}

static void check_tool(const struct tool *tool, struct str pattern, struct str argument,
                       const struct tool_state *state)
{
    AUTO(arena) struct arena a = {0};
    struct subject s = subject_make(&a, tool, argument, state);
    struct permission_rules rules = {.allow = &pattern, .n_allow = 1}, both = rules;
    struct decided allowed, denied;

    both.deny = &pattern;
    both.n_deny = 1;
    allowed = decide(&rules, MODE_DEFAULT, &s);
    denied = decide(&both, MODE_DEFAULT, &s);
    BUG_IF(allowed.decision == DECISION_DENY);
    /* What a pattern allows it denies, or at least it asks. */
    BUG_IF(allowed.by == DECIDED_BY_ALLOW && denied.decision == DECISION_AUTO);
    check_remembered(&s, &a);
}

/* What allows an address allows it as it is sent, too: redirects are compared with that. */
static void check_as_sent(struct str pattern, struct str text)
{
    AUTO(arena) struct arena a = {0};
    struct url url;
    AUTO(err) struct err *e = url_parse(&a, text, &url);

    BUG_IF(!e && web_match(pattern, text, READ_NARROWLY) == MATCH_YES &&
           web_match(pattern, url_format(&a, &url), READ_NARROWLY) != MATCH_YES);
}

/* Where a pattern is told apart at first sight, it would not have matched at length. */
static void check_first_sight(struct str pattern, struct str argument,
                              const struct tool_state *state)
{
    AUTO(arena) struct arena a = {0};
    struct subject s = subject_make(&a, &edit, argument, state);
    const char *path = subject_path(&s, &a);

    for (int reading = READ_NARROWLY; path && reading <= READ_WIDELY; reading++) {
        AUTO(path_rule) struct path_rule rule = {0};

        if (path_may_match(pattern, &s, reading, path) || strlen(path) > PATH_MAX_BYTES)
            continue;
        BUG_IF(path_rule_init(&rule, pattern, &s, reading) &&
               path_rule_matches(&rule, str_of(path)));
    }
}

/* What links say decides nothing where there are none. */
static void check_prepared(const struct tool *tool, struct str pattern, struct str argument,
                           const struct tool_state *state)
{
    AUTO(arena) struct arena a = {0};
    struct subject s = subject_make(&a, tool, argument, state);
    struct permission_rules rules = {.allow = &pattern, .n_allow = 1};
    AUTO(rulebook) struct rulebook *book = rulebook_new(&rules);
    struct hard_policy policy = {0};
    struct prepared prepared;
    struct policy_refusal refusal;
    struct err *e = gate_prepare(book, &policy, &s, &a, &prepared);

    BUG_IF(e);
    s.prepared = &prepared;
    subject_split_command(&s, &a);
    if (hard_policy_refuses(&policy, book, &s, &a, &refusal)) {
        BUG_IF(refusal.rule.n == 0 || refusal.reason.n == 0);
        return;
    }
    /* What is written is in the workspace, or named. */
    BUG_IF(tool == &edit && prepared.path.given && !place_is_in(prepared.path.real, "/proj") &&
           decide(&rules, MODE_PLAN, &s).by != DECIDED_BY_ALLOW);
}

static enum match match_line(struct str pattern, struct str line, enum reading reading)
{
    AUTO(arena) struct arena a = {0};
    struct command_line c;

    command_init(&c, &a, line, /* other_shell= */ false);
    return command_match(pattern, &c, reading);
}

/* With a command before it, what is denied stays denied, and what allows it allows both. */
static void check_compound(struct str pattern, struct str command)
{
    AUTO(strbuf) struct strbuf line = {0};
    bool is_allowed;

    command = str_trim(command);
    if (command.n == 0 || command.n > SHELL_MAX_BYTES / 2 || wildcard_is_literal(pattern))
        return;
    strbuf_add_cstr(&line, "true\n");
    strbuf_add(&line, command);
    BUG_IF(match_line(pattern, strbuf_str(&line), READ_NARROWLY) == MATCH_YES &&
           match_line(pattern, S("true"), READ_NARROWLY) != MATCH_YES);
    is_allowed = match_line(pattern, command, READ_NARROWLY) == MATCH_YES;
    BUG_IF(is_allowed && match_line(pattern, strbuf_str(&line), READ_WIDELY) == MATCH_NO);
}

/* The same as a rule for a tool: "Tool(pattern)". */
static struct str name_rule(struct strbuf *out, const char *tool, struct str pattern)
{
    strbuf_clear(out);
    strbuf_addf(out, "%s(", tool);
    strbuf_add(out, pattern);
    strbuf_add_char(out, ')');
    return strbuf_str(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str rest = str_make((const char *)data, size), pattern;
    AUTO(tool_state) struct tool_state *state = tool_state_new(S("/proj"));
    AUTO(strbuf) struct strbuf named = {0};

    setenv("HOME", "/home/me", 1);
    if (!str_split(&rest, '\n', &pattern))
        return 0;
    check_compound(pattern, rest);
    check_first_sight(pattern, rest, state);
    check_as_sent(pattern, rest);
    check_tool(&bash, pattern, rest, state);
    for (int i = 0; i < 3; i++) {
        const struct tool *tool = (const struct tool *[]){&bash, &edit, &fetch}[i];

        check_tool(tool, name_rule(&named, tool->name, pattern), rest, state);
        check_prepared(tool, name_rule(&named, tool->name, pattern), rest, state);
        check_tool(tool, name_rule(&named, "Read", pattern), rest, state);
    }
    return 0;
}
