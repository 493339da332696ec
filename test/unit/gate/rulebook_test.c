/* rulebook_test.c - rules that are read once decide as each of them does alone. */
#include "calls.h"

#include "gate/command.h"
#include "gate/path.h"
#include "gate/prepared.h"

#include <stdlib.h>

/* --- the reference: every rule in its order, each matched on its own --- */

struct plain {
    const struct permission_rules *rules;
    enum permission_mode mode;
};

static enum match find_plainly(const struct str *list, size_t n, const struct subject *s,
                               enum reading reading, struct str *ret_rule)
{
    enum match best = MATCH_NO;

    for (size_t i = 0; i < n; i++) {
        enum match m = match_text(list[i], s, reading);

        if (m == MATCH_YES || (m == MATCH_UNCLEAR && best == MATCH_NO)) {
            *ret_rule = list[i];
            best = m;
        }
        if (best == MATCH_YES)
            break;
    }
    return best;
}

static struct decided decide_plainly(const struct plain *w, const struct subject *s,
                                     const char *path);

static bool writes_plainly(const struct plain *w, const struct subject *s, struct arena *a)
{
    struct command_file file;
    size_t at = 0;

    while (command_next_file(s, a, &at, &file)) {
        bool is_allowed = false;

        if (!file.writes || file.is_inner)
            continue;
        if (!file.place.given)
            return false;
        for (int i = 0; i < 2; i++) {
            struct subject one = {.tool = i ? &edit : &write_tool, .state = s->state};
            struct decided d = decide_plainly(w, &one, file.place.given);

            if (d.by != DECIDED_BY_ALLOW && d.by != DECIDED_BY_MODE)
                return false;
            is_allowed = is_allowed || d.decision == DECISION_AUTO;
        }
        if (!is_allowed)
            return false;
    }
    return true;
}

static bool allows_parts_plainly(const struct plain *w, const struct subject *s,
                                 struct str *ret_rule)
{
    AUTO(arena) struct arena a = {0};
    struct command_cover cover;

    if (!s->command || !command_cover_init(&cover, s->command, &a))
        return false;
    for (size_t i = 0; i < w->rules->n_allow; i++) {
        struct pattern p = pattern_read(w->rules->allow[i]);

        if (pattern_cover(&p, s, &cover))
            *ret_rule = w->rules->allow[i];
    }
    return cover.n_left == 0 && writes_plainly(w, s, &a);
}

/* Nothing leads elsewhere here: the path is its only name. */
static struct decided decide_plainly(const struct plain *w, const struct subject *s,
                                     const char *path)
{
    const struct permission_rules *r = w->rules;
    struct names names = {&path, 1};
    struct subject named = *s;
    struct str rule = {0};
    enum match denied;

    named.names = path ? &names : NULL;
    denied = find_plainly(r->deny, r->n_deny, &named, READ_WIDELY, &rule);
    if (denied == MATCH_YES)
        return (struct decided){DECISION_DENY, DECIDED_BY_DENY, rule};
    if (denied == MATCH_UNCLEAR)
        return (struct decided){w->mode == MODE_PLAN ? DECISION_DENY : DECISION_APPROVE,
                                DECIDED_BY_UNCLEAR_DENY, rule};
    if (find_plainly(r->ask, r->n_ask, &named, READ_WIDELY, &rule) != MATCH_NO)
        return (struct decided){DECISION_APPROVE, DECIDED_BY_ASK, rule};
    if (find_plainly(r->allow, r->n_allow, &named, READ_NARROWLY, &rule) == MATCH_YES ||
        allows_parts_plainly(w, &named, &rule))
        return (struct decided){DECISION_AUTO, DECIDED_BY_ALLOW, rule};
    return (struct decided){permission_mode_decide(w->mode, s->tool->risk), DECIDED_BY_MODE,
                            permission_mode_cell(w->mode, s->tool->risk)};
}

/* --- random rules and calls --- */

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static const char *const tools[] = {"Bash",          "Read", "Edit",    "Write",   "Grep",
                                    "WebFetch",      "*",    "mcp__db", "mcp__d*", "B*h",
                                    "mcp__db__query"};
static const char *const command_words[] = {
    "git",     "log", "push",         "rm",    "-rf",      "-r",    "-f",  "x",
    "*",       ":*",  "--all",        "-",     "ls",       "'a b'", "\\*", "a:b",
    "/bin/ls", "sh",  "sh -c 'rm x'", "FOO=1", "rm -rf x", "\"",    "env", "git log",
    "  ",      "g*",  "make",         "./x"};
/* Without programs that start others: deny rules put them in doubt (decide_test.c). */
static const char *const line_words[] = {"git",        "log",          "push",  "rm",    "-rf",
                                         "-fr",        "-r -f",        "x",     "$x",    "\"$y\"",
                                         "--all",      "ls",           "'a'",   "a\\ b", "a:b",
                                         "/bin/ls",    "sh -c 'rm x'", "FOO=1", "env",   "git log",
                                         "rm -f -r x", "$(git log)",   "touch", "./x",   "g\"i\"t"};
static const char *const separators[] = {
    " ", " ", " ", " ", "; ", " | ", " && ", " > src/a.c ", " >> /tmp/y ", " < .env ", " ( "};
static const char *const path_words[] = {
    "src",   "a.c",  "*",    "**",   "*.c", "..",  ".",   "",     "etc",  "[",  "[ab]",
    "{a,b}", ".env", "docs", "b.md", "\\*", "x,y", "?.c", "proj", "home", "me", ".config"};
static const char *const path_starts[] = {"", "", "/", "//", "~/", "~", "//proj/", "../"};
static const char *const urls[] = {"domain:a.org", "domain:*.a.org", "https://a.org/*", "*org*"};

#define PICK(list) ((list)[next_random(state) % ARRAY_LEN(list)])

static void add_path(struct strbuf *out, uint32_t *state)
{
    strbuf_add_cstr(out, PICK(path_starts));
    for (uint32_t i = next_random(state) % 4; i < 4; i++)
        strbuf_addf(out, "%s%s", PICK(path_words), i < 3 ? "/" : "");
}

static void add_command(struct strbuf *out, uint32_t *state)
{
    for (uint32_t i = next_random(state) % 4; i < 4; i++)
        strbuf_addf(out, "%s%s", PICK(command_words), i < 3 ? " " : "");
    if (next_random(state) % 4 == 0)
        strbuf_add_cstr(out, next_random(state) % 2 ? ":*" : " *");
}

static struct str make_rule(struct arena *a, uint32_t *state)
{
    const char *tool = PICK(tools);
    AUTO(strbuf) struct strbuf out = {0};

    strbuf_add_cstr(&out, tool);
    if (next_random(state) % 12 == 0)
        return arena_str(a, strbuf_str(&out));
    strbuf_add_char(&out, '(');
    if (strcmp(tool, "WebFetch") == 0)
        strbuf_add_cstr(&out, PICK(urls));
    else if (next_random(state) % 8 == 0)
        strbuf_add_char(&out, '*');
    else if (strcmp(tool, "Bash") == 0 || next_random(state) % 4 == 0)
        add_command(&out, state);
    else
        add_path(&out, state);
    if (next_random(state) % 30)
        strbuf_add_char(&out, ')');
    return arena_str(a, strbuf_str(&out));
}

static struct str *make_rules(struct arena *a, size_t n, uint32_t *state)
{
    struct str *list = ARENA_ARRAY(a, n + 1, struct str);

    for (size_t i = 0; i < n; i++)
        list[i] = make_rule(a, state);
    return list;
}

static struct permission_rules make_lists(struct arena *a, uint32_t *state)
{
    struct permission_rules r = {.n_deny = next_random(state) % 12,
                                 .n_ask = next_random(state) % 8,
                                 .n_allow = next_random(state) % 30};

    r.deny = make_rules(a, r.n_deny, state);
    r.ask = make_rules(a, r.n_ask, state);
    r.allow = make_rules(a, r.n_allow, state);
    return r;
}

static void add_line(struct strbuf *out, uint32_t *state)
{
    for (uint32_t i = next_random(state) % 6; i < 6; i++) {
        strbuf_add_cstr(out, PICK(line_words));
        if (i < 5)
            strbuf_add_cstr(out, PICK(separators));
    }
}

static struct sample make_call(const struct tool *tool, uint32_t *state)
{
    AUTO(strbuf) struct strbuf out = {0};

    if (!tool->permission_arg || next_random(state) % 20 == 0)
        return sample_make(tool, NULL);
    if (tool == &bash)
        add_line(&out, state);
    else if (tool == &fetch)
        strbuf_add_cstr(&out, next_random(state) % 2 ? "https://b.a.org/x" : "http://other.org");
    else
        add_path(&out, state);
    return sample_make(tool, strbuf_cstr(&out));
}

/* --- properties --- */

static struct rulebook *add_one_by_one(const struct permission_rules *r)
{
    struct rulebook *b = rulebook_new(&(struct permission_rules){.environment = r->environment});

    for (size_t i = 0; i < MAX(MAX(r->n_deny, r->n_ask), r->n_allow); i++) {
        if (i < r->n_allow)
            rulebook_add(b, RULE_ALLOW, r->allow[i]);
        if (i < r->n_ask)
            rulebook_add(b, RULE_ASK, r->ask[i]);
        if (i < r->n_deny)
            rulebook_add(b, RULE_DENY, r->deny[i]);
    }
    return b;
}

static size_t count_through(const struct str *list, size_t n, struct str rule)
{
    for (size_t i = 0; i < n; i++)
        if (list[i].p == rule.p)
            return i + 1;
    return n;
}

/* The rule that is named and those before it: what comes later was not needed. */
static struct permission_rules cut_after(struct permission_rules r, const struct decided *d)
{
    if (d->by == DECIDED_BY_DENY || d->by == DECIDED_BY_UNCLEAR_DENY)
        r.n_deny = count_through(r.deny, r.n_deny, d->rule);
    if (d->by == DECIDED_BY_ASK)
        r.n_ask = count_through(r.ask, r.n_ask, d->rule);
    return r;
}

static void print_rules(const char *kind, const struct str *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        print_error("  %s %" STR_FMT "\n", kind, STR_ARG(list[i]));
}

static void check_same(const struct permission_rules *r, const struct tool *tool,
                       const struct sample *c, struct decided want, struct decided got)
{
    if (got.decision == want.decision && got.by == want.by && str_eq(got.rule, want.rule) &&
        (want.by == DECIDED_BY_MODE || got.rule.p == want.rule.p))
        return;
    print_rules("deny", r->deny, r->n_deny);
    print_rules("ask", r->ask, r->n_ask);
    print_rules("allow", r->allow, r->n_allow);
    print_error("%s(%" STR_FMT "): want %s by %" STR_FMT ", got %s by %" STR_FMT "\n", tool->name,
                STR_ARG(json_get_text(c->args, tool->permission_arg ? tool->permission_arg : "")),
                decision_name(want.decision), STR_ARG(want.rule), decision_name(got.decision),
                STR_ARG(got.rule));
    fail();
}

static void check_call(const struct permission_rules *r, struct rulebook *const books[2],
                       enum permission_mode mode, const struct tool *tool, uint32_t *state)
{
    AUTO(sample) struct sample c = make_call(tool, state);
    struct plain plain = {r, mode};
    struct subject s = c.subject;
    struct permission_rules fewer;
    struct decided want;

    subject_split_command(&s, &c.arena);
    want = decide_plainly(&plain, &s, subject_path(&s, &c.arena));
    for (int i = 0; i < 2; i++)
        check_same(r, tool, &c, want,
                   permission_decide(books[i], mode, tool, c.args, c.state, NULL));
    fewer = cut_after(*r, &want);
    check_same(&fewer, tool, &c, want, decide_sample(&fewer, mode, tool, &c));
}

TEST(a_rulebook_decides_as_a_walk_over_all_its_rules)
{
    uint32_t seed = 3;

    setenv("HOME", "/home/me", 1);
    for (int round = 0; round < 250; round++) {
        AUTO(arena) struct arena a = {0};
        struct permission_rules rules = make_lists(&a, &seed);
        AUTO(rulebook) struct rulebook *at_once = rulebook_new(&rules);
        AUTO(rulebook) struct rulebook *one_by_one = add_one_by_one(&rules);
        enum permission_mode mode = next_random(&seed) % 4;

        for (size_t i = 0; i < ARRAY_LEN(all_tools) * 4; i++)
            check_call(&rules, (struct rulebook *[]){at_once, one_by_one}, mode,
                       all_tools[i % ARRAY_LEN(all_tools)], &seed);
    }
}

/* --- what a glance might miss --- */

static struct decided decide_in_crowd(const char *rule, const struct tool *tool,
                                      const char *argument)
{
    AUTO(sample) struct sample c = sample_make(tool, argument);
    AUTO(rulebook) struct rulebook *book = rulebook_new(&(struct permission_rules){0});
    AUTO(arena) struct arena a = {0};
    struct decided d;

    for (int i = 0; i < 500; i++) {
        rulebook_add(book, RULE_DENY, arena_format(&a, "Bash(crowd x%d:*)", i));
        rulebook_add(book, RULE_DENY, arena_format(&a, "Read(crowd/x%d/**)", i));
        rulebook_add(book, RULE_DENY, arena_format(&a, "mcp__crowd__x%d", i));
    }
    rulebook_add(book, RULE_DENY, str_of(rule));
    for (int i = 0; i < 500; i++)
        rulebook_add(book, RULE_DENY, arena_format(&a, "Edit(crowd/x%d.c)", i));
    d = permission_decide(book, MODE_BYPASS, tool, c.args, c.state, NULL);
    if (d.by != DECIDED_BY_MODE)
        assert_str(d.rule, rule);
    return d;
}

TEST(among_many_rules_the_one_that_denies_is_found)
{
    static const struct {
        const char *rule;
        const struct tool *tool;
        const char *argument;
        enum decided_by by;
    } rows[] = {
        {"Bash(git push:*)", &bash, "git push", DECIDED_BY_DENY},
        {"Bash(git push:*)", &bash, "true; /usr/bin/git push -f", DECIDED_BY_DENY},
        {"Bash(git push:*)", &bash, "git log", DECIDED_BY_MODE},
        {"Bash(git push:*)", &bash, "git $x", DECIDED_BY_UNCLEAR_DENY},
        {"Bash(git push:*)", &bash, "env FOO=1 git push", DECIDED_BY_DENY},
        {"Bash(git push:*)", &bash, "gi\"t\"  push", DECIDED_BY_DENY},
        {"Bash(\"git\" push)", &bash, "git push", DECIDED_BY_DENY},
        {"Bash(rm -rf x)", &bash, "rm -f -r x", DECIDED_BY_DENY},
        {"Bash(rm -r -f --all x)", &bash, "rm -fr --all x", DECIDED_BY_DENY},
        {"Bash(averyveryveryverylongprogramname and more:*)", &bash,
         "averyveryveryverylongprogramname and more", DECIDED_BY_DENY},
        {"Bash(averyveryveryverylongprogramname and more:*)", &bash,
         "averyveryveryverylongprogramname and less", DECIDED_BY_MODE},
        {"B*h(ls:*)", &bash, "ls -l", DECIDED_BY_DENY},
        {"Bash(broken", &bash, "ls", DECIDED_BY_UNCLEAR_DENY},
        {"Read(secret/**)", &bash, "cat < secret/x", DECIDED_BY_DENY},
        {"Read(secret/**)", &bash, "cat other", DECIDED_BY_MODE},
        {"Edit(//tmp/kept)", &bash, "echo > /tmp/kept", DECIDED_BY_DENY},
        {"Write(//tmp/kept)", &bash, "rm /tmp/kept", DECIDED_BY_DENY},
        {"Read([)", &bash, "echo > x", DECIDED_BY_UNCLEAR_DENY},
        {"Read(secret/[)", &bash, "echo > x", DECIDED_BY_UNCLEAR_DENY},
        {"Read(secret/**)", &edit, "secret", DECIDED_BY_DENY},
        {"Read(secret/**)", &grep, "secret/deep/er", DECIDED_BY_DENY},
        {"Edit(secret)", &grep, "secret", DECIDED_BY_MODE},
        {"Edit(.env)", &write_tool, "a/b/.env", DECIDED_BY_DENY},
        {"Edit(a?)", &edit, "ab", DECIDED_BY_DENY},
        {"Edit({one,two}/x)", &edit, "two/x", DECIDED_BY_DENY},
        {"Edit(on[ef]/x)", &edit, "one/x", DECIDED_BY_DENY},
        {"Edit(src/**/x.c)", &edit, "src/x.c", DECIDED_BY_DENY},
        {"Edit(src/./x.c)", &edit, "src/x.c", DECIDED_BY_DENY},
        {"Edit(src/)", &edit, "src", DECIDED_BY_DENY},
        {"Edit(~/.config)", &edit, "~/.config/x", DECIDED_BY_DENY},
        {"Edit(one\\*two)", &edit, "one*two", DECIDED_BY_DENY},
        {"Edit(//proj)", &edit, NULL, DECIDED_BY_DENY},
        {"mcp__db", &query, "select 1", DECIDED_BY_DENY},
        {"mcp__db__query(drop *)", &query, "drop table", DECIDED_BY_DENY},
        {"mcp__*__query", &query, "select 1", DECIDED_BY_DENY},
        {"WebFetch(domain:a.org)", &fetch, "https://b.a.org/", DECIDED_BY_DENY},
        {"*(x)", &query, "x", DECIDED_BY_DENY},
    };

    setenv("HOME", "/home/me", 1);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct decided d = decide_in_crowd(rows[i].rule, rows[i].tool, rows[i].argument);

        if (d.by != rows[i].by)
            fail_msg("%s against %s: %d", rows[i].rule, rows[i].argument, (int)d.by);
    }
}

TEST(a_path_that_is_not_told_is_in_doubt_for_every_rule_about_paths)
{
    AUTO(sample) struct sample c = sample_make(&edit, NULL);
    struct str deny = S("Edit(secret/x.c)");

    json_set(&c.arena, c.args, "file_path", json_new_bool(&c.arena, true));
    assert_int_equal(decide_sample(&(struct permission_rules){.deny = &deny, .n_deny = 1},
                                   MODE_BYPASS, &edit, &c)
                         .by,
                     DECIDED_BY_UNCLEAR_DENY);
}

RUN_TESTS(UNIT(a_rulebook_decides_as_a_walk_over_all_its_rules),
          UNIT(among_many_rules_the_one_that_denies_is_found),
          UNIT(a_path_that_is_not_told_is_in_doubt_for_every_rule_about_paths))
