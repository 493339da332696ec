/* pattern_test.c */
#include "calls.h"

#include "gate/path.h"

static void set_cwd(struct sample *c, const char *path)
{
    tool_state_set_cwd(c->state, path);
}

/* --- the text of a pattern --- */

TEST(a_pattern_is_a_tool_or_a_tool_and_something_in_parentheses)
{
    static const char *const good[] = {"Bash", "Bash(ls)",  "Bash(a (b) c)", "mcp__a__b",
                                       "*",    "mcp__a__*", "Read(*)",       "Bash())"};
    static const char *const bad[] = {
        "",      "(ls)",  "Bash()", "Bash(ls", "Bash(ls) ", "Bash (ls)",   "Bash ls",
        " Bash", "Bash)", "Bäsh",   "Bash(",   "Bash(x)y",  "Bash,Read(x)"};

    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        if (!permission_pattern_is_valid(str_of(good[i])))
            fail_msg("not valid: %s", good[i]);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        if (permission_pattern_is_valid(str_of(bad[i])))
            fail_msg("valid: %s", bad[i]);
    assert_str(permission_pattern_tool(S("Bash(git log:*)")), "Bash");
    assert_str(permission_pattern_tool(S("Bash")), "Bash");
}

TEST(a_denial_that_is_written_wrongly_is_unclear_for_its_tool_only)
{
    AUTO(sample) struct sample c = sample_make(&read_tool, "x");

    is_unclear("Bash(rm", "ls");
    is_unclear("Bash()", "ls");
    is_unclear("Bash (rm)", "ls");
    assert_int_equal(match_text(S("Bash(rm"), &c.subject, READ_WIDELY), MATCH_NO);
    allows_not("Bash(rm", "rm");
}

static enum match match_name(const char *pattern, const struct tool *tool)
{
    AUTO(sample) struct sample c = sample_make(tool, NULL);

    return match_text(str_of(pattern), &c.subject, READ_NARROWLY);
}

TEST(a_servers_name_stands_for_all_its_tools)
{
    assert_int_equal(match_name("mcp__github", &issue), MATCH_YES);
    assert_int_equal(match_name("mcp__github__*", &issue), MATCH_YES);
    assert_int_equal(match_name("mcp__github__create_issue", &issue), MATCH_YES);
    assert_int_equal(match_name("*", &issue), MATCH_YES);
    assert_int_equal(match_name("mcp__git", &issue), MATCH_NO);
    assert_int_equal(match_name("mcp__github__create", &issue), MATCH_NO);
    assert_int_equal(match_name("mcp__", &issue), MATCH_NO);
    assert_int_equal(match_name("bash", &bash), MATCH_NO);
    assert_int_equal(match_name("Bas", &bash), MATCH_NO);
}

TEST(other_arguments_are_text_with_stars)
{
    allows("mcp__db__query(select *)", "select a from b");
    allows_not("mcp__db__query(select *)", "drop table b");
    allows_not("mcp__db__query(select *)", NULL);
    denies("mcp__db__query(drop *)", "drop table b");
    is_unclear("mcp__db__query(drop *)", NULL);
    allows("mcp__db__query(*)", NULL);
}

TEST(a_pattern_with_an_argument_says_nothing_of_a_tool_that_has_none)
{
    AUTO(sample) struct sample c = sample_make(&issue, NULL);

    json_set_str(&c.arena, c.args, "", S("x"));
    assert_int_equal(match_text(S("mcp__github(x)"), &c.subject, READ_NARROWLY), MATCH_NO);
    assert_int_equal(match_text(S("mcp__github(x)"), &c.subject, READ_WIDELY), MATCH_UNCLEAR);
}

/* --- paths --- */

TEST(paths_count_from_the_project_the_file_system_or_home)
{
    setenv("HOME", "/home/me", 1);
    allows("Edit(src/**)", "src/a/b.c");
    allows("Edit(src/**)", "/proj/src/a/b.c");
    allows("Edit(./src/**)", "src/b.c");
    allows("Edit(/src/**)", "/proj/src/b.c");
    allows_not("Edit(/src/**)", "/src/b.c");
    allows("Edit(//src/**)", "/src/b.c");
    allows_not("Edit(//src/**)", "/proj/src/b.c");
    allows("Edit(~/x/*)", "~/x/y");
    allows("Edit(~/x/*)", "/home/me/x/y");
    allows("Edit(../other/*)", "/other/x");
}

TEST(a_star_in_a_path_stays_in_its_directory)
{
    allows("Edit(src/*.c)", "src/a.c");
    allows_not("Edit(src/*.c)", "src/a/b.c");
    allows("Edit(src/**/*.c)", "src/a/b.c");
    allows("Edit(*)", "/etc/passwd");
    allows_not("Edit(**)", "/etc/passwd");
}

TEST(dots_in_a_path_do_not_lead_out_of_what_is_allowed)
{
    allows_not("Edit(src/**)", "src/../secret");
    allows_not("Edit(src/**)", "/proj/src/../../etc/passwd");
    allows("Edit(src/**)", "./src/./a/../b");
    allows_not("Edit(src/**/../../**)", "secret");
    is_unclear("Edit(src/**/../../**)", "secret");
}

TEST(a_path_that_is_denied_is_denied_with_all_below_it)
{
    denies("Read(secret)", "secret");
    denies("Read(secret)", "secret/a/b");
    denies("Read(secret/)", "secret/a");
    denies("Read(secret/**)", "secret/a/b");
    denies("Read(secret/**)", "secret");
    denies("Read(secret/*)", "secret/a/b");
    denies("Read(//**)", "/x");
    denies("Read(//**)", "/");
    denies_not("Read(secret/**)", "secrets");
    denies_not("Read(secret)", "src/a");
}

TEST(a_denied_name_is_denied_at_every_depth)
{
    denies("Read(.env)", ".env");
    denies("Read(.env)", "a/b/.env");
    denies("Read(*.pem)", "a/b/c.pem");
    denies_not("Read(./.env)", "a/.env");
    denies_not("Read(.env)", "/elsewhere/.env");
    allows_not("Read(.env)", "a/.env");
}

TEST(a_single_slash_denies_in_both_readings)
{
    denies("Read(/etc/passwd)", "/etc/passwd");
    denies("Read(/etc/passwd)", "/proj/etc/passwd");
    denies("Read(//etc/passwd)", "/etc/passwd");
    denies_not("Read(//etc/passwd)", "/proj/etc/passwd");
}

TEST(moving_to_another_directory_changes_neither_what_is_allowed_nor_what_is_denied)
{
    AUTO(sample) struct sample c = sample_make(&edit, "/proj/secret/x");

    set_cwd(&c, "/");
    assert_int_equal(match_text(S("Edit(secret/**)"), &c.subject, READ_WIDELY), MATCH_YES);
    assert_int_equal(match_text(S("Edit(secret/**)"), &c.subject, READ_NARROWLY), MATCH_YES);
    json_set_str(&c.arena, c.args, "file_path", S("secret/x"));
    assert_int_equal(match_text(S("Edit(secret/**)"), &c.subject, READ_WIDELY), MATCH_YES);
    assert_int_equal(match_text(S("Edit(secret/**)"), &c.subject, READ_NARROWLY), MATCH_NO);
}

TEST(wildcards_in_the_projects_own_path_are_plain_characters)
{
    AUTO(sample) struct sample c = sample_make(&edit, "/p*[x]/a");

    tool_state_free(c.state);
    c.state = tool_state_new(S("/p*[x]"));
    c.subject.state = c.state;
    assert_int_equal(match_text(S("Edit(*a)"), &c.subject, READ_NARROWLY), MATCH_YES);
    json_set_str(&c.arena, c.args, "file_path", S("/pqx/a"));
    assert_int_equal(match_text(S("Edit(*a)"), &c.subject, READ_NARROWLY), MATCH_NO);
}

static enum match deny_for(const char *pattern, const struct tool *tool, const char *path)
{
    AUTO(sample) struct sample c = sample_make(tool, path);

    return match_text(str_of(pattern), &c.subject, READ_WIDELY);
}

TEST(what_read_must_not_see_no_other_tool_may_touch)
{
    assert_int_equal(deny_for("Read(secret/**)", &edit, "secret/a"), MATCH_YES);
    assert_int_equal(deny_for("Read(secret/**)", &write_tool, "secret/a"), MATCH_YES);
    assert_int_equal(deny_for("Read(secret/**)", &grep, "secret"), MATCH_YES);
    assert_int_equal(deny_for("Read(secret/**)", &grep, NULL), MATCH_NO);
    assert_int_equal(deny_for("Read(//proj/**)", &grep, NULL), MATCH_YES);
    assert_int_equal(deny_for("Read(*)", &grep, NULL), MATCH_YES);
    assert_int_equal(deny_for("Read(secret/**)", &bash, "cat secret/a"), MATCH_NO);
    assert_int_equal(deny_for("Read(secret/**)", &fetch, "http://secret/a"), MATCH_NO);
    assert_int_equal(deny_for("Read", &edit, "secret/a"), MATCH_NO);
}

TEST(what_edit_must_not_change_no_other_tool_may_change)
{
    assert_int_equal(deny_for("Edit(secret/**)", &write_tool, "secret/a"), MATCH_YES);
    assert_int_equal(deny_for("Edit(secret/**)", &read_tool, "secret/a"), MATCH_NO);
}

TEST(a_denied_path_holds_for_tools_of_servers_too)
{
    AUTO(sample) struct sample c = sample_make(&issue, NULL);

    json_set_str(&c.arena, c.args, "path", S("/proj/secret/a"));
    assert_int_equal(match_text(S("Read(secret/**)"), &c.subject, READ_WIDELY), MATCH_YES);
    assert_int_equal(match_text(S("Read(secret/**)"), &c.subject, READ_NARROWLY), MATCH_NO);
}

TEST(a_glob_that_does_not_compile_denies_unclearly_and_allows_nothing)
{
    is_unclear("Read([a)", "a");
    allows_not("Read([a)", "a");
}

TEST(an_agent_is_named_by_its_kind_and_a_server_by_its_name)
{
    struct tool agent = {.name = "Agent", .permission_arg = "subagent_type"};
    AUTO(sample) struct sample c = sample_make(&agent, "reviewer"), i = sample_make(&issue, NULL);

    assert_int_equal(match_text(S("Agent(reviewer)"), &c.subject, READ_NARROWLY), MATCH_YES);
    assert_int_equal(match_text(S("Agent(re*)"), &c.subject, READ_WIDELY), MATCH_YES);
    assert_int_equal(match_text(S("Agent(review)"), &c.subject, READ_WIDELY), MATCH_NO);
    assert_int_equal(match_text(S("mcp__github"), &i.subject, READ_NARROWLY), MATCH_YES);
    assert_int_equal(match_text(S("mcp__github__*"), &i.subject, READ_NARROWLY), MATCH_YES);
    assert_int_equal(match_text(S("mcp__github__create_issue"), &i.subject, READ_WIDELY),
                     MATCH_YES);
    assert_int_equal(match_text(S("mcp__git"), &i.subject, READ_WIDELY), MATCH_NO);
}

TEST(searches_leave_out_what_read_must_not_see)
{
    AUTO(sample) struct sample c = sample_make(&grep, NULL);
    struct str deny[] = {S("Read(secret/**)"), S("Bash(x)"), S("Read([a)"),
                         S("Edit(b)"),         S("Read"),    S("Read(*.pem)")};
    struct permission_rules rules = {.deny = deny, .n_deny = ARRAY_LEN(deny)};
    AUTO(denied_paths) struct denied_paths *d = denied_paths_new(&rules, c.state);
    struct path_filter f = denied_paths_filter(d);

    assert_true(f.is_hidden(f.self, S("/proj/secret"), true));
    assert_true(f.is_hidden(f.self, S("/proj/secret/a/b"), false));
    assert_true(f.is_hidden(f.self, S("/proj/x/y.pem"), false));
    assert_false(f.is_hidden(f.self, S("/proj/b"), false));
    assert_false(f.is_hidden(f.self, S("/proj"), true));
}

/* --- URLs --- */

TEST(a_domain_stands_for_its_host_and_those_below_it)
{
    allows("WebFetch(domain:example.com)", "https://example.com/x");
    allows("WebFetch(domain:example.com)", "https://WWW.Example.COM:8080/x");
    allows("WebFetch(domain:Example.com)", "https://example.com./");
    allows("WebFetch(domain:*.example.com)", "https://a.example.com/");
    allows_not("WebFetch(domain:*.example.com)", "https://example.com/");
    allows("WebFetch(domain:*)", "https://example.com/");
    allows_not("WebFetch(domain:example.com)", "https://badexample.com/");
    allows_not("WebFetch(domain:example.com)", "https://example.com.evil.org/");
    allows_not("WebFetch(domain:example.com)", "https://example.com@evil.org/");
    allows_not("WebFetch(domain:example.com)", "https://evil.org/example.com");
    allows_not("WebFetch(domain:example.com)", "https://evil.org\\@example.com/");
    denies("WebFetch(domain:evil.org)", "https://user@a.evil.org/");
}

TEST(a_host_stands_for_itself_and_its_port)
{
    allows("WebFetch(host:example.com)", "https://example.com/x");
    allows("WebFetch(host:example.com)", "http://EXAMPLE.com./x");
    allows("WebFetch(host:example.com:8443)", "https://example.com:8443/x");
    allows("WebFetch(host:[::1]:3000)", "http://[::1]:3000/");
    allows_not("WebFetch(host:example.com)", "https://example.com:8443/x");
    allows_not("WebFetch(host:example.com:8443)", "https://example.com/x");
    allows_not("WebFetch(host:example.com)", "https://www.example.com/");
    allows_not("WebFetch(host:example.com)", "https://example.com@evil.org/");
    allows_not("WebFetch(host:example.com)", "https://user@example.com/");
    allows_not("WebFetch(host:example.com)", "ftp://example.com/");
    denies("WebFetch(host:example.com)", "https://user@example.com/");
    denies("WebFetch(host:example.com)", "https://example.com:8443/");
    denies_not("WebFetch(host:example.com)", "https://www.example.com/");
}

TEST(a_url_that_cannot_be_read_is_unclear)
{
    is_unclear("WebFetch(domain:evil.org)", "https://evil.org\\x");
    is_unclear("WebFetch(domain:evil.org)", "evil.org");
    allows_not("WebFetch(domain:evil.org)", "evil.org");
}

TEST(a_domain_may_name_a_port)
{
    allows("WebFetch(domain:example.com:8443)", "https://a.example.com:8443/x");
    allows_not("WebFetch(domain:example.com:8443)", "https://example.com/x");
    denies("WebFetch(domain:example.com:8443)", "https://example.com:8443/x");
    denies("WebFetch(host:example.com:443)", "https://example.com/");
}

TEST(an_address_is_denied_in_every_spelling)
{
    static const char *const urls[] = {
        "http://93.184.216.34./", "http://[::ffff:93.184.216.34]/", "http://[::FFFF:5db8:d822]:81/",
        "http://[64:ff9b::5db8:d822]/", "http://[2002:5db8:d822::1]/"};

    for (size_t i = 0; i < ARRAY_LEN(urls); i++)
        denies("WebFetch(domain:93.184.216.34)", urls[i]);
    denies("WebFetch(domain:[2606:4700:0::1111])", "http://[2606:4700::1111]/");
    denies("WebFetch(domain:2606:4700::1111)", "http://[2606:4700::1111]/");
    allows("WebFetch(domain:93.184.216.34)", "http://[::ffff:93.184.216.34]/");
    allows_not("WebFetch(domain:93.184.216.34)", "http://[64:ff9b::5db8:d822]/");
}

TEST(a_web_rule_that_means_no_host_is_not_valid)
{
    static const char *const rules[] = {
        "WebFetch(domain:b\303\274cher.de)",
        "WebFetch(domain:https://a.org)",
        "WebFetch(domain:a.org/)",
        "WebFetch(domain:.a.org)",
        "WebFetch(domain:*a.org)",
        "WebFetch(domain:a.*)",
        "WebFetch(DOMAIN:a.org)",
        "WebFetch(a.org)",
        "WebFetch(host:*)",
        "WebFetch(host:*.a.org)",
        "WebFetch(https://a.org*)",
        "WebFetch(https://a.org/x#y)",
        "WebFetch(ftp://a.org/)",
    };

    for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
        if (permission_pattern_is_valid(str_of(rules[i])))
            fail_msg("%s is taken for a rule", rules[i]);
        is_unclear(rules[i], "https://a.org/");
        allows_not(rules[i], "https://a.org/");
    }
}

TEST(a_url_may_be_given_with_stars)
{
    allows("WebFetch(https://a.org/docs/*)", "https://a.org/docs/x");
    allows_not("WebFetch(https://a.org/docs/*)", "https://a.org/x");
    allows_not("WebFetch(https://a.org/docs/*)", "http://a.org/docs/x");
    allows_not("WebFetch(https://a.org/docs/*)", "https://a.org:8443/docs/x");
    allows("WebFetch(*://*.a.org:8443/*)", "http://b.a.org:8443/docs/x");
    allows("WebFetch(https://a.org)", "https://a.org/");
    allows("WebFetch(https://a.org/a%20b)", "https://a.org/a%20b");
    denies("WebFetch(https://a.org/*)", "HTTPS://A.ORG/x");
    denies("WebFetch(https://a.org/*)", "https://a.org:443/x");
    denies("WebFetch(*secret*)", "https://a.org/%73ecret");
    allows_not("WebFetch(*a.org/*)", "https://a.org/x");
}

TEST(a_star_in_a_host_does_not_reach_into_the_path)
{
    allows("WebFetch(https://*.a.org/*)", "https://b.a.org/x");
    allows_not("WebFetch(https://*.a.org/*)", "https://evil.org/.a.org/x");
    allows_not("WebFetch(https://*.a.org/*)", "https://evil.org?x.a.org/");
    allows_not("WebFetch(https://*.a.org/*)", "https://evil.org#.a.org/");
    allows_not("WebFetch(http*://a.org/*)", "https://evil.org/://a.org/");
}

TEST(a_path_is_read_as_servers_read_it)
{
    static const char *const spellings[] = {
        "https://a.org/private/x",          "https://a.org/%70rivate/x",
        "https://a.org//private/x",         "https://a.org/b/../private/x",
        "https://a.org/./private/x",        "https://a.org/private%2fx",
        "https://a.org/b/%2e%2e/private/x",
    };

    for (size_t i = 0; i < ARRAY_LEN(spellings); i++)
        denies("WebFetch(https://a.org/private/*)", spellings[i]);
    allows_not("WebFetch(https://a.org/docs/*)", "https://a.org/docs/../private/x");
    allows_not("WebFetch(https://a.org/docs/*)", "https://a.org/docs/%2e%2e/private/x");
    denies_not("WebFetch(https://a.org/private/*)", "https://a.org/docs?/private/x");
}

TEST(where_a_path_leads_that_goes_up_is_unclear)
{
    static const char *const paths[] = {
        "/docs/x%2fy/../../private/x", "/docs//../../private/x",    "/docs/%252e%252e/private/x",
        "/docs/..;/private/x",         "/docs/..%5cprivate/x",      "/docs/x%5cy/../../private/x",
        "/docs/..%3b/private/x",       "/docs/%2e%2e%00/private/x",
    };

    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        AUTO(arena) struct arena a = {0};
        const char *url = arena_format(&a, "https://a.org%s", paths[i]).p;

        allows_not("WebFetch(https://a.org/docs/*)", url);
        allows("WebFetch(https://a.org/*)", url);
        assert_int_not_equal(match_one("WebFetch(https://a.org/private/*)", url, READ_WIDELY),
                             MATCH_NO);
        assert_int_not_equal(match_one("WebFetch(*/private/x)", url, READ_WIDELY), MATCH_NO);
        denies_not("WebFetch(https://b.org/private/*)", url);
    }
    is_unclear("WebFetch(https://a.org/private/*)", "https://a.org/x%2fy/../private/x");
    is_unclear("WebFetch(https://a.org/private/*)", "https://a.org/y/../private//../x");
    allows("WebFetch(https://a.org/docs/*)", "https://a.org/docs/v1..v2/...;x?../");
}

TEST(letters_outside_of_ascii_count_as_they_are_sent)
{
    allows("WebFetch(https://a.org/\303\274/*)", "https://a.org/\303\274/x");
    allows("WebFetch(https://a.org/\303\274/*)", "https://a.org/%C3%BC/x");
    allows("WebFetch(https://a.org/%C3%BC/*)", "https://a.org/\303\274/x");
    denies("WebFetch(https://a.org/\303\274/*)", "https://a.org/%c3%bc/x");
}

/* --- what is remembered --- */

static void assert_round_trip(const struct tool *tool, const char *argument, const char *want)
{
    AUTO(sample) struct sample c = sample_make(tool, argument);
    struct str pattern;

    assert_true(pattern_of_call(&c.subject, &c.arena, &pattern));
    assert_str(pattern, want);
    assert_true(permission_pattern_is_valid(pattern));
    assert_int_equal(match_text(pattern, &c.subject, READ_NARROWLY), MATCH_YES);
}

TEST(the_pattern_of_a_call_allows_that_call)
{
    assert_round_trip(&bash, "ls *.c", "Bash(ls \\*.c)");
    assert_round_trip(&bash, " echo a\\*b; (x) \n", "Bash(echo a\\\\\\*b; (x))");
    assert_round_trip(&bash, "a:*", "Bash(a:\\*)");
    assert_round_trip(&edit, "src/a.c", "Edit(//proj/src/a.c)");
    assert_round_trip(&edit, "/a*[b]{c,d}!?\\", "Edit(//a\\*\\[b\\]\\{c\\,d\\}\\!\\?\\\\)");
    assert_round_trip(&edit, "/", "Edit(//)");
    assert_round_trip(&grep, NULL, "Grep(//proj)");
    assert_round_trip(&fetch, "https://A.org/*", "WebFetch(host:a.org)");
    assert_round_trip(&fetch, "http://a.org:8080/x", "WebFetch(host:a.org:8080)");
    assert_round_trip(&search, "some words", "WebSearch");
    assert_round_trip(&issue, NULL, "mcp__github__create_issue");
}

TEST(a_call_without_its_argument_has_no_pattern)
{
    AUTO(sample) struct sample c = sample_make(&bash, NULL);
    struct str pattern;

    assert_false(pattern_of_call(&c.subject, &c.arena, &pattern));
}

TEST(a_request_to_no_host_has_no_pattern)
{
    AUTO(sample) struct sample c = sample_make(&fetch, "https://good.org@evil.org/");
    struct str pattern;

    assert_false(pattern_of_call(&c.subject, &c.arena, &pattern));
}

RUN_TESTS(UNIT(a_pattern_is_a_tool_or_a_tool_and_something_in_parentheses),
          UNIT(a_denial_that_is_written_wrongly_is_unclear_for_its_tool_only),
          UNIT(a_servers_name_stands_for_all_its_tools), UNIT(other_arguments_are_text_with_stars),
          UNIT(a_pattern_with_an_argument_says_nothing_of_a_tool_that_has_none),
          UNIT(paths_count_from_the_project_the_file_system_or_home),
          UNIT(a_star_in_a_path_stays_in_its_directory),
          UNIT(dots_in_a_path_do_not_lead_out_of_what_is_allowed),
          UNIT(a_path_that_is_denied_is_denied_with_all_below_it),
          UNIT(a_denied_name_is_denied_at_every_depth),
          UNIT(a_single_slash_denies_in_both_readings),
          UNIT(moving_to_another_directory_changes_neither_what_is_allowed_nor_what_is_denied),
          UNIT(wildcards_in_the_projects_own_path_are_plain_characters),
          UNIT(what_read_must_not_see_no_other_tool_may_touch),
          UNIT(what_edit_must_not_change_no_other_tool_may_change),
          UNIT(a_denied_path_holds_for_tools_of_servers_too),
          UNIT(a_glob_that_does_not_compile_denies_unclearly_and_allows_nothing),
          UNIT(an_agent_is_named_by_its_kind_and_a_server_by_its_name),
          UNIT(searches_leave_out_what_read_must_not_see),
          UNIT(a_domain_stands_for_its_host_and_those_below_it),
          UNIT(a_host_stands_for_itself_and_its_port), UNIT(a_url_that_cannot_be_read_is_unclear),
          UNIT(a_url_may_be_given_with_stars), UNIT(a_domain_may_name_a_port),
          UNIT(an_address_is_denied_in_every_spelling),
          UNIT(a_web_rule_that_means_no_host_is_not_valid),
          UNIT(a_star_in_a_host_does_not_reach_into_the_path),
          UNIT(a_path_is_read_as_servers_read_it), UNIT(where_a_path_leads_that_goes_up_is_unclear),
          UNIT(letters_outside_of_ascii_count_as_they_are_sent),
          UNIT(the_pattern_of_a_call_allows_that_call),
          UNIT(a_call_without_its_argument_has_no_pattern),
          UNIT(a_request_to_no_host_has_no_pattern))
