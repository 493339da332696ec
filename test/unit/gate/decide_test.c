/* decide_test.c */
#include "calls.h"

#include "gate/prepared.h"

static struct decided decide(const struct permission_rules *rules, enum permission_mode mode,
                             const struct tool *tool, const char *argument)
{
    AUTO(sample) struct sample c = sample_make(tool, argument);
    struct decided d = decide_sample(rules, mode, tool, &c);

    return d;
}

/* --- the whole table --- */

static const struct {
    const struct tool *tool;
    const char *argument;
    struct str bare, exact;
} calls[] = {
    [RISK_UNCLASSIFIED] = {&query, "select 1", S("mcp__db__query"), S("mcp__db__query(select *)")},
    [RISK_INSPECT] = {&read_tool, "src/a.c", S("Read"), S("Read(src/**)")},
    [RISK_MODIFY] = {&edit, "src/a.c", S("Edit"), S("Edit(src/**)")},
    [RISK_EXECUTE] = {&bash, "git log", S("Bash"), S("Bash(git log:*)")},
    [RISK_NETWORK] = {&fetch, "https://a.org/", S("WebFetch"), S("WebFetch(domain:a.org)")},
};

enum lists { NONE, ALLOW, ASK, DENY, ALLOW_DENY, ASK_ALLOW, N_LISTS };

/* One letter a mode: auto, approve (?), deny; plan, default, acceptEdits, bypassPermissions. */
static const char *const want[N_LISTS][N_RISKS] = {
    /*              unclassified inspect modify execute network */
    [NONE] = {"-??+", "++++", "-?++", "-??+", "???+"},
    [ALLOW] = {"++++", "++++", "++++", "++++", "++++"},
    [ASK] = {"????", "????", "????", "????", "????"},
    [DENY] = {"----", "----", "----", "----", "----"},
    [ALLOW_DENY] = {"----", "----", "----", "----", "----"},
    [ASK_ALLOW] = {"????", "????", "????", "????", "????"},
};

static struct permission_rules lists_of(enum lists which, const struct str *pattern)
{
    struct permission_rules r = {.allow = pattern, .ask = pattern, .deny = pattern};

    r.n_allow = which == ALLOW || which == ALLOW_DENY || which == ASK_ALLOW;
    r.n_ask = which == ASK || which == ASK_ALLOW;
    r.n_deny = which == DENY || which == ALLOW_DENY;
    return r;
}

/* What becomes of a cell when a hook has an opinion: its allow replaces the mode's question only,
 * and its ask comes before every allow. */
static char with_hook(char cell, bool asks_by_rule, enum hook_permission hook)
{
    if (hook == HOOK_ALLOW && cell == '?' && !asks_by_rule)
        return '+';
    return hook == HOOK_ASK && cell == '+' ? '?' : cell;
}

static void assert_cell(enum lists which, enum risk risk, enum permission_mode mode,
                        const struct str *pattern, enum hook_permission hook)
{
    struct permission_rules rules = lists_of(which, pattern);
    struct decided d = decide(&rules, mode, calls[risk].tool, calls[risk].argument);
    char wanted = with_hook(want[which][risk][mode], rules.n_ask > 0, hook), got;

    d = permission_decide_hooked(d, hook, S("why"));
    got = "+?-"[d.decision];
    if (got != wanted) {
        print_error("lists %d, %s, %s, %s, hook %d: want %c, got %c\n", which, risk_name(risk),
                    permission_mode_name(mode), pattern->p, hook, wanted, got);
        fail();
    }
}

TEST(every_mode_every_risk_every_mix_of_lists_and_every_hook_decide_as_the_table_says)
{
    for (int which = 0; which < N_LISTS; which++)
        for (int risk = RISK_UNCLASSIFIED; risk < N_RISKS; risk++)
            for (int mode = MODE_PLAN; mode <= MODE_BYPASS; mode++)
                for (int hook = HOOK_NO_OPINION; hook <= HOOK_ASK; hook++) {
                    assert_cell(which, risk, mode, &calls[risk].bare, hook);
                    assert_cell(which, risk, mode, &calls[risk].exact, hook);
                }
}

TEST(words_of_trust_are_modes)
{
    static const struct {
        struct str name;
        enum permission_mode mode;
    } rows[] = {
        {S("plan"), MODE_PLAN},
        {S("default"), MODE_DEFAULT},
        {S("acceptEdits"), MODE_ACCEPT_EDITS},
        {S("bypassPermissions"), MODE_BYPASS},
        {S("safe"), MODE_PLAN},
        {S("moderate"), MODE_DEFAULT},
        {S("full"), MODE_ACCEPT_EDITS},
    };
    enum permission_mode mode;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_true(permission_mode_find(rows[i].name, &mode));
        assert_int_equal(mode, rows[i].mode);
    }
    assert_false(permission_mode_find(S("Full"), &mode));
}

TEST(each_mode_is_in_the_table_and_in_the_texts)
{
    AUTO(strbuf) struct strbuf listed = {0}, words = {0};

    for (enum permission_mode m = MODE_PLAN; m <= MODE_BYPASS; m++) {
        AUTO(strbuf) struct strbuf start = {0};

        strbuf_addf(&start, "mode:%s/", permission_mode_name(m));
        for (int risk = 0; risk < N_RISKS; risk++)
            assert_true(str_starts(permission_mode_cell(m, (enum risk)risk), strbuf_str(&start)));
        assert_true(str_starts(permission_outside_cell(m), strbuf_str(&start)));
        strbuf_addf(&listed, "%s%s", listed.n ? ", " : "", permission_mode_name(m));
        strbuf_addf(&words, "%s%s", words.n ? " " : "", permission_mode_name(m));
    }
    assert_string_equal(strbuf_cstr(&listed), PERMISSION_MODES);
    assert_string_equal(strbuf_cstr(&words), PERMISSION_MODE_WORDS);
}

TEST(the_mode_alone_decides_when_no_rule_matches)
{
    struct str other = S("Bash(git push:*)");
    struct permission_rules rules = {
        .allow = &other, .n_allow = 1, .ask = &other, .n_ask = 1, .deny = &other, .n_deny = 1};
    struct decided d = decide(&rules, MODE_DEFAULT, &bash, "git log");

    assert_int_equal(d.decision, DECISION_APPROVE);
    assert_int_equal(d.by, DECIDED_BY_MODE);
    assert_str(d.rule, "mode:default/execute");
    assert_str(permission_mode_cell(MODE_BYPASS, RISK_UNCLASSIFIED),
               "mode:bypassPermissions/unclassified");
    assert_string_equal(decision_name(d.decision), "approve");
}

/* --- denials that cannot be evaluated --- */

TEST(an_unclear_denial_asks_in_every_mode_but_plan_where_it_denies)
{
    struct str deny = S("Bash(rm *)"), allow = S("Bash");
    struct permission_rules rules = {.allow = &allow, .n_allow = 1, .deny = &deny, .n_deny = 1};

    for (int mode = MODE_PLAN; mode <= MODE_BYPASS; mode++) {
        struct decided d = decide(&rules, mode, &bash, "$x y");

        assert_int_equal(d.decision, mode == MODE_PLAN ? DECISION_DENY : DECISION_APPROVE);
        assert_int_equal(d.by, DECIDED_BY_UNCLEAR_DENY);
        assert_str(d.rule, "Bash(rm *)");
    }
}

TEST(a_clear_denial_wins_over_an_unclear_one_before_it)
{
    struct str deny[] = {S("Bash(curl:*)"), S("Bash(rm *)")};
    struct permission_rules rules = {.deny = deny, .n_deny = 2};
    struct decided d = decide(&rules, MODE_BYPASS, &bash, "$x; rm y");

    assert_int_equal(d.decision, DECISION_DENY);
    assert_str(d.rule, "Bash(rm *)");
}

TEST(an_ask_rule_that_cannot_be_evaluated_asks)
{
    struct str ask = S("Bash(git push:*)");
    struct permission_rules rules = {.ask = &ask, .n_ask = 1};

    assert_int_equal(decide(&rules, MODE_BYPASS, &bash, "git $x").decision, DECISION_APPROVE);
    assert_int_equal(decide(&rules, MODE_BYPASS, &bash, "git log").decision, DECISION_AUTO);
}

/* --- the session's own rules --- */

TEST(what_the_session_remembers_allows_until_it_is_removed)
{
    AUTO(sample) struct sample c = sample_make(&bash, "make");
    struct permission_rules none = {0};
    struct json *yes = json_new_bool(&c.arena, true);

    tool_state_set(c.state, STATE_ALLOWED, S("Bash(make)"), yes);
    assert_int_equal(decide_sample(&none, MODE_PLAN, &bash, &c).by, DECIDED_BY_ALLOW);
    tool_state_set(c.state, STATE_ALLOWED, S("Bash(make)"), NULL);
    assert_int_equal(decide_sample(&none, MODE_PLAN, &bash, &c).by, DECIDED_BY_MODE);
}

/* --- lines of several commands --- */

static enum decision decide_line(enum permission_mode mode, const char *line,
                                 const struct permission_rules *rules)
{
    return decide(rules, mode, &bash, line).decision;
}

TEST(each_part_of_a_line_may_be_allowed_by_another_rule)
{
    struct str allow[] = {S("Bash(git *)"), S("Bash(make:*)"), S("Bash(wc)"), S("Read")};
    struct permission_rules rules = {.allow = allow, .n_allow = ARRAY_LEN(allow)};

    assert_int_equal(decide_line(MODE_DEFAULT, "git pull && make -j2 check", &rules),
                     DECISION_AUTO);
    assert_int_equal(decide_line(MODE_PLAN, "git log | wc", &rules), DECISION_AUTO);
    assert_int_equal(decide(&rules, MODE_PLAN, &bash, "git log | wc").by, DECIDED_BY_ALLOW);
    assert_int_equal(decide_line(MODE_DEFAULT, "git log | wc -l", &rules), DECISION_APPROVE);
    assert_int_equal(decide_line(MODE_DEFAULT, "git log; rm x", &rules), DECISION_APPROVE);
    assert_int_equal(decide_line(MODE_DEFAULT, "git log $(rm x)", &rules), DECISION_APPROVE);
    assert_int_equal(decide_line(MODE_DEFAULT, "sudo git pull; make", &rules), DECISION_APPROVE);
    assert_int_equal(decide_line(MODE_DEFAULT, "X=1 git pull; make", &rules), DECISION_APPROVE);
}

TEST(a_line_that_gives_names_another_meaning_is_not_allowed_in_parts)
{
    struct str allow[] = {S("Bash(git *)"), S("Bash(printf *)"), S("Bash(export *)"),
                          S("Bash(read *)"), S("Bash(set *)")};
    struct permission_rules rules = {.allow = allow, .n_allow = ARRAY_LEN(allow)};

    assert_int_equal(decide_line(MODE_DEFAULT, "git() { git log; }; git x", &rules),
                     DECISION_APPROVE);
    assert_int_equal(decide_line(MODE_DEFAULT, "for PATH in /tmp; do git log; done", &rules),
                     DECISION_APPROVE);
    assert_int_equal(decide_line(MODE_DEFAULT, "printf -v PATH /tmp; git log", &rules),
                     DECISION_APPROVE);
    assert_int_equal(decide_line(MODE_DEFAULT, "export PATH=/tmp; git log", &rules),
                     DECISION_APPROVE);
    assert_int_equal(decide_line(MODE_DEFAULT, "export PATH=/tmp", &rules), DECISION_AUTO);
    assert_int_equal(decide_line(MODE_DEFAULT, "printf x; git log", &rules), DECISION_AUTO);
    assert_int_equal(decide_line(MODE_DEFAULT, "set -euo pipefail; git log", &rules),
                     DECISION_AUTO);
    assert_int_equal(decide_line(MODE_DEFAULT, "while read -r x; do git show $x; done", &rules),
                     DECISION_AUTO);
    assert_int_equal(decide_line(MODE_DEFAULT, "read PATH; git log", &rules), DECISION_APPROVE);
}

TEST(a_redirection_needs_the_write_to_be_allowed_too)
{
    struct str allow[] = {S("Bash(git *)"), S("Edit(out/**)"), S("Write(/log)")};
    struct permission_rules rules = {.allow = allow, .n_allow = ARRAY_LEN(allow)};

    assert_int_equal(decide_line(MODE_DEFAULT, "git log > out/a", &rules), DECISION_AUTO);
    assert_int_equal(decide_line(MODE_DEFAULT, "git log >> log", &rules), DECISION_AUTO);
    assert_int_equal(decide_line(MODE_DEFAULT, "git log > x", &rules), DECISION_APPROVE);
    assert_int_equal(decide_line(MODE_PLAN, "git log > x", &rules), DECISION_DENY);
    assert_int_equal(decide_line(MODE_DEFAULT, "git log > out/../x", &rules), DECISION_APPROVE);
    assert_int_equal(decide_line(MODE_DEFAULT, "git log > $x", &rules), DECISION_APPROVE);
    assert_int_equal(decide_line(MODE_DEFAULT, "git log > '~/x'", &rules), DECISION_APPROVE);
    assert_int_equal(decide_line(MODE_ACCEPT_EDITS, "git log > x", &rules), DECISION_AUTO);
    assert_int_equal(decide_line(MODE_ACCEPT_EDITS, "git log > $x", &rules), DECISION_APPROVE);
    assert_int_equal(decide_line(MODE_ACCEPT_EDITS, "{ git log; } &> x", &rules), DECISION_AUTO);
    assert_int_equal(decide_line(MODE_DEFAULT, "git log 2>&1 >/dev/null <x", &rules),
                     DECISION_AUTO);
    assert_int_equal(decide_line(MODE_ACCEPT_EDITS, "rm y > x", &rules), DECISION_APPROVE);
}

TEST(after_a_change_of_directory_a_relative_file_is_not_known)
{
    struct str allow[] = {S("Bash(git *)"), S("Bash(cd *)"), S("Edit(out/**)")};
    struct permission_rules rules = {.allow = allow, .n_allow = ARRAY_LEN(allow)};

    assert_int_equal(decide_line(MODE_DEFAULT, "cd x && git log > out/a", &rules),
                     DECISION_APPROVE);
    assert_int_equal(decide_line(MODE_DEFAULT, "cd x && git log > /proj/out/a", &rules),
                     DECISION_AUTO);
    assert_int_equal(decide_line(MODE_DEFAULT, "cd x && git log", &rules), DECISION_AUTO);
}

TEST(a_file_that_is_denied_or_asked_about_is_so_for_redirections)
{
    struct str allow = S("Bash"), deny[] = {S("Edit(secret/**)"), S("Read(.env)")};
    struct str ask = S("Write(*.lock)"), edit_alone = S("Edit");
    struct permission_rules rules = {
        .allow = &allow, .n_allow = 1, .deny = deny, .n_deny = 2, .ask = &ask, .n_ask = 1};
    struct permission_rules bare = {.deny = &edit_alone, .n_deny = 1};

    assert_int_equal(decide_line(MODE_BYPASS, "echo x > secret/a", &rules), DECISION_DENY);
    assert_int_equal(decide_line(MODE_BYPASS, "sh -c 'echo x > secret/a'", &rules), DECISION_DENY);
    assert_int_equal(decide_line(MODE_BYPASS, "cat < secret/a", &rules), DECISION_AUTO);
    assert_int_equal(decide_line(MODE_BYPASS, "cat < sub/.env", &rules), DECISION_DENY);
    assert_int_equal(decide_line(MODE_BYPASS, "echo > .env", &rules), DECISION_DENY);
    assert_int_equal(decide_line(MODE_BYPASS, "echo > a.lock", &rules), DECISION_APPROVE);
    assert_int_equal(decide_line(MODE_BYPASS, "echo > /dev/null", &rules), DECISION_AUTO);
    allow = S("Bash(echo *)");
    bare.allow = &allow;
    bare.n_allow = 1;
    assert_int_equal(decide_line(MODE_ACCEPT_EDITS, "echo x > a", &bare), DECISION_APPROVE);
}

TEST(what_the_session_remembers_counts_for_parts_too)
{
    AUTO(sample) struct sample c = sample_make(&bash, "make; git log");
    struct str allow = S("Bash(git *)");
    struct permission_rules rules = {.allow = &allow, .n_allow = 1};

    tool_state_set(c.state, STATE_ALLOWED, S("Bash(make)"), json_new_bool(&c.arena, true));
    assert_int_equal(decide_sample(&rules, MODE_DEFAULT, &bash, &c).decision, DECISION_AUTO);
}

TEST(the_pattern_that_allows_can_be_asked_for_alone)
{
    AUTO(sample) struct sample c = sample_make(&bash, "git log -5");

    assert_true(permission_pattern_matches(S("Bash(git log:*)"), &bash, c.args, c.state));
    assert_false(permission_pattern_matches(S("Bash(git push:*)"), &bash, c.args, c.state));
}

/* --- properties --- */

static const struct str pool[] = {
    S("Bash"),
    S("Bash(*)"),
    S("Bash(git *)"),
    S("Bash(git log:*)"),
    S("Bash(rm -rf *)"),
    S("Bash(rm:*)"),
    S("Bash(*x*)"),
    S("Bash(git log; rm x)"),
    S("Read"),
    S("Read(src/**)"),
    S("Read(/etc)"),
    S("Read(*)"),
    S("Edit(src/*.c)"),
    S("Edit"),
    S("Edit(//proj/**)"),
    S("WebFetch(domain:a.org)"),
    S("Bash(broken"),
    S("Read([)"),
    S("mcp__db"),
    S("mcp__db__query(drop *)"),
    S("*"),
};
static const struct {
    const struct tool *tool;
    const char *argument;
} samples[] = {
    {&bash, "git log"},
    {&bash, "git log; rm x"},
    {&bash, "rm -rf /"},
    {&bash, "$x"},
    {&bash, NULL},
    {&bash, "FOO=1 git log > x"},
    {&read_tool, "src/a.c"},
    {&read_tool, "/etc/passwd"},
    {&edit, "src/a.c"},
    {&edit, "../x"},
    {&write_tool, "src/a.c"},
    {&grep, NULL},
    {&grep, "/etc"},
    {&fetch, "https://b.a.org/"},
    {&fetch, "a.org"},
    {&query, "drop table"},
    {&issue, NULL},
};

struct random_rules {
    struct str lists[3][4];
    struct permission_rules rules;
};

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void fill_randomly(struct random_rules *r, uint32_t *state)
{
    size_t n[3];

    for (int list = 0; list < 3; list++) {
        n[list] = next_random(state) % 4;
        for (size_t i = 0; i < n[list]; i++)
            r->lists[list][i] = pool[next_random(state) % ARRAY_LEN(pool)];
    }
    r->rules = (struct permission_rules){.allow = r->lists[0],
                                         .n_allow = n[0],
                                         .ask = r->lists[1],
                                         .n_ask = n[1],
                                         .deny = r->lists[2],
                                         .n_deny = n[2]};
}

/* Decisions are ordered: what comes later allows less. */
static void check_properties(struct random_rules *r, struct str extra, enum permission_mode mode,
                             const struct tool *tool, const char *argument)
{
    enum decision before = decide(&r->rules, mode, tool, argument).decision, alone;
    struct permission_rules more = r->rules, one = {.deny = &extra, .n_deny = 1};

    alone = decide(&one, mode, tool, argument).decision;
    r->lists[2][more.n_deny++] = extra;
    assert_true(decide(&more, mode, tool, argument).decision >= before);
    if (alone == DECISION_DENY && mode != MODE_PLAN)
        assert_int_equal(decide(&more, mode, tool, argument).decision, DECISION_DENY);

    more = r->rules;
    r->lists[0][more.n_allow++] = extra;
    assert_true(decide(&more, mode, tool, argument).decision <= before);
    if (before == DECISION_DENY && decide(&r->rules, mode, tool, argument).by != DECIDED_BY_MODE)
        assert_int_equal(decide(&more, mode, tool, argument).decision, DECISION_DENY);
}

TEST(a_denial_always_wins_and_one_more_never_allows_more)
{
    uint32_t seed = 1;

    for (int round = 0; round < 300; round++) {
        struct random_rules r;
        enum permission_mode mode = next_random(&seed) % 4;
        struct str extra = pool[next_random(&seed) % ARRAY_LEN(pool)];

        fill_randomly(&r, &seed);
        for (size_t i = 0; i < ARRAY_LEN(samples); i++)
            check_properties(&r, extra, mode, samples[i].tool, samples[i].argument);
    }
}

/* The same with what was looked up: nothing of /proj exists, so nothing leads elsewhere, and
 * everything may be read. */
static struct decided decide_prepared(const struct permission_rules *rules,
                                      enum permission_mode mode, const struct tool *tool,
                                      const char *argument)
{
    AUTO(sample) struct sample c = sample_make(tool, argument);
    AUTO(rulebook) struct rulebook *book = rulebook_new(rules);
    const char *all = "/";
    struct hard_policy policy = {.readable = &all, .n_readable = 1};
    struct prepared p;
    struct decided d;

    assert_ok(gate_prepare(book, &policy, &c.subject, &c.arena, &p));
    d = permission_decide(book, mode, tool, c.args, c.state, &p);
    return d;
}

TEST(where_there_are_no_links_looking_changes_nothing)
{
    uint32_t seed = 7;

    for (int round = 0; round < 100; round++) {
        struct random_rules r;
        enum permission_mode mode = next_random(&seed) % 4;

        fill_randomly(&r, &seed);
        for (size_t i = 0; i < ARRAY_LEN(samples); i++) {
            struct decided seen =
                decide_prepared(&r.rules, mode, samples[i].tool, samples[i].argument);
            struct decided unseen = decide(&r.rules, mode, samples[i].tool, samples[i].argument);

            assert_int_equal(seen.decision, unseen.decision);
            assert_int_equal(seen.by, unseen.by);
        }
    }
}

TEST(plan_mode_changes_and_runs_nothing_without_a_rule)
{
    uint32_t seed = 11;

    for (int round = 0; round < 100; round++) {
        struct random_rules r;

        fill_randomly(&r, &seed);
        for (size_t i = 0; i < ARRAY_LEN(samples); i++) {
            struct decided d = decide(&r.rules, MODE_PLAN, samples[i].tool, samples[i].argument);

            if (samples[i].tool->risk != RISK_INSPECT && d.by != DECIDED_BY_ALLOW)
                assert_int_not_equal(d.decision, DECISION_AUTO);
        }
    }
}

TEST(what_the_hard_policy_refuses_no_rule_and_no_mode_allows)
{
    static const struct hard_policy policy;
    uint32_t seed = 13;

    for (int round = 0; round < 100; round++) {
        AUTO(sample) struct sample c = sample_make(&edit, ".git/config");
        struct random_rules r;
        struct judged j;

        fill_randomly(&r, &seed);
        assert_ok(permission_judge(&r.rules, &policy, next_random(&seed) % 4, &edit, c.args,
                                   c.state, &c.arena, &j));
        assert_int_equal(j.decision, DECISION_DENY);
        assert_int_equal(j.step, 5);
    }
}

TEST(a_bare_allow_rule_is_as_good_as_bypassing)
{
    struct permission_rules none = {0};

    for (size_t i = 0; i < ARRAY_LEN(samples); i++)
        for (int mode = MODE_PLAN; mode <= MODE_BYPASS; mode++) {
            struct str bare = str_of(samples[i].tool->name);
            struct permission_rules rules = {.allow = &bare, .n_allow = 1};

            assert_int_equal(
                decide(&rules, mode, samples[i].tool, samples[i].argument).decision,
                decide(&none, MODE_BYPASS, samples[i].tool, samples[i].argument).decision);
        }
}

/* --- programs that start others --- */

static const struct str no_curl[] = {S("Bash(curl *)")};

TEST(what_a_wrapper_starts_is_denied_however_it_is_spelled)
{
    static const char *const lines[] = {
        "script -qc 'curl x' /dev/null",
        "script --command='curl x' f",
        "script f -c 'curl x'",
        "script -c'curl x' f",
        "su --command='curl x'",
        "su me -c 'curl x'",
        "runuser -u me -- curl x",
        "csh -c 'curl x'",
        "tcsh -c 'curl x'",
        "setpriv curl x",
        "setpriv --reuid=1 --clear-groups curl x",
        "prlimit --nofile=5 curl x",
        "linux64 curl x",
        "linux32 -R curl x",
        "choom -n 1 -- curl x",
        "nsenter -t 1 curl x",
        "nsenter -t 1 -m -n curl x",
        "env - curl x",
        "env -i - curl x",
        "busybox env - curl x",
        "su - me -c 'curl x'",
        "su --com 'curl x'",
        "su --session-command='curl x'",
        "runuser --comm='curl x'",
        "flock --comm='curl x' f",
        "script --comm='curl x' f",
        "setarch -R curl x",
        "setarch x86_64 -R curl x",
        "sg users -c 'curl x'",
        "ssh-agent curl x",
        "/lib64/ld-linux-x86-64.so.2 /usr/bin/curl x",
        "/lib64/ld-linux-x86-64.so.2 --library-path /x /usr/bin/curl x",
    };
    struct permission_rules rules = {.deny = no_curl, .n_deny = 1};

    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        struct decided d = decide(&rules, MODE_BYPASS, &bash, lines[i]);

        if (d.by != DECIDED_BY_DENY)
            fail_msg("is not denied: %s", lines[i]);
    }
}

TEST(options_in_front_of_a_subcommand_hide_nothing_from_rules_that_forbid)
{
    static const struct str no_push[] = {S("Bash(git push *)")}, all_git[] = {S("Bash(git *)")};
    static const char *const lines[] = {
        "git push",
        "git -C . push origin",
        "git -P push",
        "git --no-pager push",
        "git --git-dir=.git push",
        "git --git-dir .git push",
        "git -C . --no-pager -c x.y=z push",
        "/usr/bin/git -C x push",
    };
    struct permission_rules deny = {.deny = no_push, .n_deny = 1};
    struct permission_rules ask = {.allow = all_git, .n_allow = 1, .ask = no_push, .n_ask = 1};

    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        if (decide(&deny, MODE_BYPASS, &bash, lines[i]).by != DECIDED_BY_DENY)
            fail_msg("is not denied: %s", lines[i]);
        if (decide(&ask, MODE_DEFAULT, &bash, lines[i]).by != DECIDED_BY_ASK)
            fail_msg("is not asked about: %s", lines[i]);
    }
    assert_int_equal(decide(&ask, MODE_DEFAULT, &bash, "git -C . log").decision, DECISION_AUTO);
}

TEST(a_pattern_in_the_name_of_a_program_is_not_taken_for_a_subscript)
{
    static const char *const lines[] = {"cur[l] x", "touch curl; cur[l] x", "cur[$x] y",
                                        "c[u]rl x"};
    struct permission_rules rules = {.deny = no_curl, .n_deny = 1};

    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        if (decide(&rules, MODE_BYPASS, &bash, lines[i]).decision == DECISION_AUTO)
            fail_msg("is not asked about: %s", lines[i]);
}

static const char *const starters[] = {
    "env --s='curl x'",
    "git rebase -x'curl x' HEAD~2",
    "git config core.fsmonitor 'curl x'",
    "GIT_EXTERNAL_DIFF='curl x' git diff",
    "EDITOR='curl x' git commit",
    "export PAGER='curl x'",
    "LD_PRELOAD=./x.so ls",
    "python3 -m timeit 'curl'",
    "gcc-12 -wrapper curl a.c",
    "cc -wrapper curl a.c",
    "run-parts .",
    "original-awk -f program a",
    "dc -e '!curl x'",
    "apt-get -o APT::Update::Pre-Invoke::=curl update",
    "socat - EXEC:'curl x'",
    "nc -e curl h 1",
    "bundle exec curl x",
    "direnv exec . curl x",
    "git -c alias.z='!curl x' z",
    "git --config-env=alias.z=X z",
    "git rebase --exec 'curl x' HEAD~2",
    "git rebase -x 'curl x' HEAD~2",
    "git bisect run curl x",
    "git submodule foreach 'curl x'",
    "git clone 'ext::sh -c curl x'",
    "git fetch --upload-pack='curl x' y",
    "git difftool -x curl",
    "fd --exec=curl",
    "awk 'BEGIN{system(\"curl x\")}'",
    "awk '{print | \"curl x\"}' a",
    "awk -f program a",
    "sed '1e curl x' a",
    "sed 's/x/curl y/e' a",
    "sed -f script a",
    "tar cf /dev/null --checkpoint=1 --checkpoint-action=exec='curl x' .",
    "tar xf a --to-command='curl x'",
    "tar xf a --to-com='curl x'",
    "tar -I 'curl x' -xf a",
    "python -c 'import os'",
    "python3 -c 1",
    "python3.12 -c 1",
    "python3 - <<EOF\nimport os\nEOF",
    "echo 'import os' | python3",
    "perl -e 'exec q(curl x)'",
    "perl -ne 'print' a",
    "ruby -e 1",
    "node -e 1",
    "node --eval=1",
    "php -r 1",
    "lua -e 1",
    "make",
    "make -C sub all",
    "ssh host ls",
    "vim -c '!curl x'",
    "vim.tiny a",
    "ed a",
    "emacs --batch",
    "gdb -batch",
    "chronic curl x",
    "faketime now curl x",
    "npx x",
    "npm exec x",
    "docker run x",
    "rsync -e 'curl x' a b:",
    "rsync --rsh='curl x' a b:",
    "sort --compress-program=curl a",
    "split --filter='curl x' a",
    "zip a.zip -TT curl b",
    "rg --pre curl x",
    "tmux new -d 'curl x'",
    "m4 a",
    "sqlite3 db '.shell curl x'",
    "xonsh -c 'curl x'",
    "nu -c 'curl x'",
    "nu --commands='curl x'",
    "elvish -c 'curl x'",
    "pwsh -c 'curl x'",
    "git clone -u 'curl x' a b",
    "git clone -ccore.sshCommand='curl x' a b",
    "git clone --config core.sshCommand='curl x' a b",
    "git send-email --sendmail-cmd='curl x' a",
    "cargo run",
    "cargo --config 'build.rustc=\"curl\"' check",
    "ctest",
    "meson compile",
    "guix shell -- curl x",
    "nodemon --exec 'curl x'",
    "tox",
    "pre-commit run",
    "bat --pager='curl x' a",
    "ag --pager 'curl x' a",
    "tcpdump -z curl -w a",
    "rustc -Clinker=curl a.rs",
    "daemonize /usr/bin/curl x",
    "catchsegv curl x",
    "complete -C 'curl x' a",
    "duckdb -c '.shell curl x'",
    "emacsclient -e '(shell-command \"curl x\")'",
    "ghc -e 'System.Process.callCommand \"curl x\"'",
    "git shell -c 'curl x'",
    "gnuplot -e 'system(\"curl x\")'",
    "lftp -c '!curl x'",
    "pandoc --lua-filter=a.lua b.md",
    "pypy3 -c 'import os'",
    "rpm --eval '%(curl x)'",
    "terraform apply",
    "vimdiff -c '!curl x' a b",
};

/* Programs that keel does not know, with a command among their words. */
static const char *const passing_on[] = {
    "torsocks curl x",
    "cpulimit -l 10 -- curl x",
    "aws-vault exec me -- /usr/bin/curl x",
    "./wrap.sh curl x",
    "python3 run.py curl x",
    "bash run.sh curl x",
    "tool --run='curl x'",
    "tool --program=/usr/bin/curl",
    "tool -c 'curl x' && ls",
    "env A=b tool curl",
    "sops exec-env keys 'curl x'",
    "cp /usr/bin/curl c",
    "ln -s /usr/bin/curl c && ./c x",
    "install -m 755 /bin/curl c",
    "dd if=/bin/curl of=c",
};

static const char *const naming[] = {
    "apt-get install curl",   "mkdir curl",     "grep -r curl .",       "man curl",
    "git commit -m 'curl x'", "echo curl x",    "docker pull curl",     "./configure --with-curl",
    "tool use-curl",          "touch a/curl/b", "timeout 5 mkdir curl", "rm curl",
};

static const char *const no_starters[] = {
    "python3 script.py",
    "python3 --version",
    "node app.js",
    "perl script.pl a",
    "git commit -m x",
    "git log -c",
    "sed -i s/a/b/g a",
    "sed -n 1,5p a",
    "awk '{print $1}' a",
    "tar xzf a.tgz",
    "rsync -a x y",
    "npm install",
    "make --version",
    "sort a",
    "go build ./...",
    "cmake -S . -B build",
    "docker ps",
    "touch a",
    "gcc -c a.c",
    "cargo build",
    "git clone a b",
    "meson setup build",
    "rustc -O a.rs",
    "pre-commit install",
    "bat a",
};

TEST(programs_that_start_others_ask_where_a_rule_denies_commands)
{
    struct permission_rules rules = {.deny = no_curl, .n_deny = 1}, none = {0};

    for (size_t i = 0; i < ARRAY_LEN(starters); i++) {
        struct decided d = decide(&rules, MODE_BYPASS, &bash, starters[i]);

        if (d.decision != DECISION_APPROVE || d.by != DECIDED_BY_UNCLEAR_DENY)
            fail_msg("is not asked about: %s", starters[i]);
        if (decide(&none, MODE_BYPASS, &bash, starters[i]).decision != DECISION_AUTO)
            fail_msg("is asked about without a rule: %s", starters[i]);
    }
    for (size_t i = 0; i < ARRAY_LEN(no_starters); i++)
        if (decide(&rules, MODE_BYPASS, &bash, no_starters[i]).decision != DECISION_AUTO)
            fail_msg("is asked about: %s", no_starters[i]);
}

TEST(a_denied_command_among_the_words_of_an_unknown_program_asks)
{
    static const struct str named[] = {S("Bash(torsocks *)")};
    struct permission_rules rules = {.deny = no_curl, .n_deny = 1}, none = {0};

    for (size_t i = 0; i < ARRAY_LEN(passing_on); i++) {
        struct decided d = decide(&rules, MODE_BYPASS, &bash, passing_on[i]);

        if (d.decision != DECISION_APPROVE || d.by != DECIDED_BY_UNCLEAR_DENY)
            fail_msg("is not asked about: %s", passing_on[i]);
        if (decide(&none, MODE_BYPASS, &bash, passing_on[i]).decision != DECISION_AUTO)
            fail_msg("is asked about without a rule: %s", passing_on[i]);
    }
    for (size_t i = 0; i < ARRAY_LEN(naming); i++)
        if (decide(&rules, MODE_BYPASS, &bash, naming[i]).decision != DECISION_AUTO)
            fail_msg("is asked about: %s", naming[i]);
    rules.allow = named;
    rules.n_allow = 1;
    assert_int_equal(decide(&rules, MODE_DEFAULT, &bash, "torsocks curl x").decision,
                     DECISION_AUTO);
}

TEST(a_rule_that_names_such_a_program_allows_it_and_one_for_all_does_not)
{
    static const struct str named[] = {S("Bash"), S("Bash(make *)")},
                            all[] = {S("Bash"), S("Bash(*)")};
    struct permission_rules rules = {.deny = no_curl, .n_deny = 1, .allow = named, .n_allow = 2};

    assert_int_equal(decide(&rules, MODE_DEFAULT, &bash, "make all").decision, DECISION_AUTO);
    assert_int_equal(decide(&rules, MODE_DEFAULT, &bash, "make all; ssh x").decision,
                     DECISION_APPROVE);
    rules.allow = all;
    assert_int_equal(decide(&rules, MODE_DEFAULT, &bash, "touch a").decision, DECISION_AUTO);
    assert_int_equal(decide(&rules, MODE_DEFAULT, &bash, "make all").decision, DECISION_APPROVE);
    assert_int_equal(decide(&rules, MODE_PLAN, &bash, "make all").decision, DECISION_DENY);
}

RUN_TESTS(UNIT(what_a_wrapper_starts_is_denied_however_it_is_spelled),
          UNIT(options_in_front_of_a_subcommand_hide_nothing_from_rules_that_forbid),
          UNIT(a_pattern_in_the_name_of_a_program_is_not_taken_for_a_subscript),
          UNIT(programs_that_start_others_ask_where_a_rule_denies_commands),
          UNIT(a_denied_command_among_the_words_of_an_unknown_program_asks),
          UNIT(a_rule_that_names_such_a_program_allows_it_and_one_for_all_does_not),
          UNIT(every_mode_every_risk_every_mix_of_lists_and_every_hook_decide_as_the_table_says),
          UNIT(words_of_trust_are_modes), UNIT(each_mode_is_in_the_table_and_in_the_texts),
          UNIT(the_mode_alone_decides_when_no_rule_matches),
          UNIT(an_unclear_denial_asks_in_every_mode_but_plan_where_it_denies),
          UNIT(a_clear_denial_wins_over_an_unclear_one_before_it),
          UNIT(an_ask_rule_that_cannot_be_evaluated_asks),
          UNIT(what_the_session_remembers_allows_until_it_is_removed),
          UNIT(each_part_of_a_line_may_be_allowed_by_another_rule),
          UNIT(a_line_that_gives_names_another_meaning_is_not_allowed_in_parts),
          UNIT(a_redirection_needs_the_write_to_be_allowed_too),
          UNIT(after_a_change_of_directory_a_relative_file_is_not_known),
          UNIT(a_file_that_is_denied_or_asked_about_is_so_for_redirections),
          UNIT(what_the_session_remembers_counts_for_parts_too),
          UNIT(the_pattern_that_allows_can_be_asked_for_alone),
          UNIT(a_denial_always_wins_and_one_more_never_allows_more),
          UNIT(where_there_are_no_links_looking_changes_nothing),
          UNIT(plan_mode_changes_and_runs_nothing_without_a_rule),
          UNIT(what_the_hard_policy_refuses_no_rule_and_no_mode_allows),
          UNIT(a_bare_allow_rule_is_as_good_as_bypassing))
