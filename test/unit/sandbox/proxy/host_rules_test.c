/* proxy_rules_test.c - which hosts, ports and addresses the rules let through. */
#include "sandbox/proxy/host_rules.h"

#include "host_patterns.h"
#include "test.h"

struct fixture {
    struct arena arena;
    struct net_rules rules;
};

static void add(struct fixture *f, enum net_list list, const char *pattern)
{
    assert_ok(net_rules_add(&f->arena, &f->rules, list, str_of(pattern)));
}

static struct url url_of(struct fixture *f, const char *text)
{
    struct url u;

    assert_ok(url_parse(&f->arena, arena_format(&f->arena, "http://%s", text), &u));
    return u;
}

static void assert_allowed(struct fixture *f, const char *host)
{
    struct url u = url_of(f, host);

    assert_ok(net_rules_check(&f->rules, &u));
}

static void assert_refused(struct fixture *f, const char *host)
{
    struct url u = url_of(f, host);

    assert_err(net_rules_check(&f->rules, &u), ERR_TOOL_DENIED);
}

static struct err *check_address(struct fixture *f, const char *host, const char *address)
{
    struct url u = url_of(f, host);

    TRY(net_rules_check(&f->rules, &u));
    return net_rules_check_address(&f->rules, &u, str_of(address),
                                   !url_address_is_private(str_of(address)));
}

#define RULES_TEST(name)                                                                           \
    static void name##_with(struct fixture *f);                                                    \
    TEST(name)                                                                                     \
    {                                                                                              \
        struct fixture f = {0};                                                                    \
                                                                                                   \
        name##_with(&f);                                                                           \
        arena_done(&f.arena);                                                                      \
    }                                                                                              \
    static void name##_with(struct fixture *f)

RULES_TEST(without_rules_nothing_is_allowed)
{
    assert_false(net_rules_allow_any(&f->rules));
    assert_refused(f, "example.com");
}

RULES_TEST(a_rule_is_about_its_hosts_and_what_is_below_them)
{
    for (size_t i = 0; i < ARRAY_LEN(host_cases); i++) {
        const struct host_case *c = &host_cases[i];
        const char *host = arena_format(&f->arena, strchr(c->host, ':') ? "[%s]" : "%s", c->host).p;
        struct url u = url_of(f, host);
        AUTO(err) struct err *e = NULL;

        f->rules = (struct net_rules){0};
        add(f, NET_ALLOW, c->pattern);
        assert_true(net_rules_allow_any(&f->rules));
        e = net_rules_check(&f->rules, &u);
        if (!e != c->is_meant_below)
            fail_msg("\"%s\" and %s", c->pattern, c->host);
    }
}

RULES_TEST(a_star_alone_is_every_name_and_no_address)
{
    add(f, NET_ALLOW, "*");
    assert_allowed(f, "anything.org");
    assert_refused(f, "93.184.216.34");
    assert_refused(f, "[2606:4700::1111]");
    assert_refused(f, "anything.org:22");
}

RULES_TEST(without_a_port_a_rule_means_those_of_the_web)
{
    add(f, NET_ALLOW, "example.com");
    assert_allowed(f, "example.com:443");
    assert_refused(f, "example.com:22");
    add(f, NET_ALLOW, "other.org:8443");
    assert_allowed(f, "other.org:8443");
    assert_allowed(f, "a.other.org:8443");
    assert_refused(f, "other.org:443");
    add(f, NET_ALLOW, "*:2222");
    assert_allowed(f, "any.net:2222");
}

RULES_TEST(an_address_has_a_port_as_names_have)
{
    add(f, NET_ALLOW, "[2606:4700:0:0::1111]:8080");
    assert_allowed(f, "[2606:4700::1111]:8080");
    assert_refused(f, "[2606:4700::1111]");
}

RULES_TEST(what_is_denied_is_denied_on_every_port)
{
    add(f, NET_ALLOW, "example.com");
    add(f, NET_ALLOW, "example.com:8443");
    add(f, NET_ALLOW, "other.org");
    add(f, NET_DENY, "secret.example.com");
    add(f, NET_DENY, "other.org:80");
    assert_allowed(f, "example.com");
    assert_refused(f, "secret.example.com");
    assert_refused(f, "a.secret.example.com:8443");
    assert_refused(f, "other.org:80");
    assert_allowed(f, "other.org:443");
}

RULES_TEST(a_private_address_is_refused_whatever_the_name)
{
    static const char *const private[] = {
        "127.0.0.1",        "10.1.2.3",
        "192.168.0.1",      "172.31.0.1",
        "169.254.169.254",  "100.64.0.1",
        "0.0.0.0",          "224.0.0.1",
        "255.255.255.255",  "::1",
        "fe80::1",          "fd00:ec2::254",
        "::ffff:10.0.0.1",  "64:ff9b::7f00:1",
        "2002:7f00:1::",    "ff02::1",
        "::ffff:127.0.0.1", "::",
        "::127.0.0.1",
    };

    add(f, NET_ALLOW, "*");
    for (size_t i = 0; i < ARRAY_LEN(private); i++)
        assert_err(check_address(f, "evil.example.com", private[i]), ERR_TOOL_DENIED);
    assert_ok(check_address(f, "example.com", "93.184.216.34"));
    assert_ok(check_address(f, "example.com", "2606:4700::1111"));
}

RULES_TEST(a_private_host_is_allowed_by_its_name)
{
    add(f, NET_ALLOW, "*");
    add(f, NET_ALLOW_PRIVATE, "db.corp.example:5000");
    assert_ok(check_address(f, "db.corp.example:5000", "10.0.0.5"));
    assert_err(check_address(f, "db.corp.example", "10.0.0.5"), ERR_TOOL_DENIED);
    assert_err(check_address(f, "evil.example.com", "10.0.0.5"), ERR_TOOL_DENIED);
    add(f, NET_ALLOW_PRIVATE, "10.0.0.6");
    assert_ok(check_address(f, "10.0.0.6", "10.0.0.6"));
    /* The address was allowed, not names that claim to be there. */
    assert_err(check_address(f, "evil.example.com", "10.0.0.6"), ERR_TOOL_DENIED);
}

RULES_TEST(a_denied_address_is_denied_by_every_name)
{
    add(f, NET_ALLOW, "example.com");
    add(f, NET_DENY, "93.184.216.34");
    assert_err(check_address(f, "example.com", "93.184.216.34"), ERR_TOOL_DENIED);
    assert_err(check_address(f, "example.com", "64:ff9b::5db8:d822"), ERR_TOOL_DENIED);
    assert_err(check_address(f, "example.com", "2002:5db8:d822::1"), ERR_TOOL_DENIED);
    assert_ok(check_address(f, "example.com", "93.184.216.35"));
}

RULES_TEST(where_all_is_denied_an_address_is_denied_as_well)
{
    add(f, NET_ALLOW, "93.184.216.34");
    add(f, NET_ALLOW, "[2606:4700::1111]:8080");
    add(f, NET_DENY, "*:8080");
    assert_allowed(f, "93.184.216.34");
    assert_refused(f, "[2606:4700::1111]:8080");
    add(f, NET_DENY, "*");
    assert_refused(f, "93.184.216.34");
}

RULES_TEST(a_refusal_names_the_rule_that_would_allow_it)
{
    struct url u = url_of(f, "[2606:4700::1111]:8080");
    AUTO(err) struct err *e = net_rules_check(&f->rules, &u);

    assert_string_equal(e->text, "commands may not connect to [2606:4700::1111]:8080");
    assert_string_equal(e->hint, "to allow it, a person adds \"[2606:4700::1111]:8080\" to "
                                 "network.allow in ~/.keel/settings.json");
}

static const char *hint_of(struct fixture *f, const char *place)
{
    struct url u = url_of(f, place);
    AUTO(err) struct err *e = net_rules_check(&f->rules, &u);

    return arena_cstr(&f->arena, str_of(err_find_hint(e)));
}

RULES_TEST(a_refusal_names_the_list_or_the_flag_that_would_allow_it)
{
    assert_string_equal(hint_of(f, "10.0.0.7:5000"),
                        "to allow it, a person adds \"10.0.0.7:5000\" to network.allowPrivate in "
                        "~/.keel/settings.json");
    f->rules.has_flags = true;
    assert_string_equal(hint_of(f, "example.org"), "to allow it, add --allow-domain example.org");
    assert_string_equal(hint_of(f, "10.0.0.7:5000"),
                        "to allow it, add --allow-private 10.0.0.7:5000");
}

RULES_TEST(a_refusal_on_the_loopback_says_where_servers_of_commands_are)
{
    f->rules.has_flags = true;
    add(f, NET_ALLOW_PRIVATE, "localhost:3000");
    assert_true(net_rules_name(&f->rules, S("localhost")));
    assert_false(net_rules_name(&f->rules, S("127.0.0.1")));
    assert_string_equal(hint_of(f, "localhost:8000"),
                        "to allow it, add --allow-private localhost:8000; a server that a command "
                        "started is at 127.0.0.1");
    add(f, NET_ALLOW, "*");
    assert_false(net_rules_name(&f->rules, S("127.0.0.1")));
    add(f, NET_ALLOW_PRIVATE, "127.0.0.1:3000");
    add(f, NET_ALLOW, "[::1]:3000");
    assert_string_equal(hint_of(f, "127.0.0.1:8000"),
                        "to allow it, add --allow-private 127.0.0.1:8000");
}

RULES_TEST(what_is_no_domain_is_an_error)
{
    for (size_t i = 0; i < ARRAY_LEN(no_hosts); i++)
        assert_err(net_rules_add(&f->arena, &f->rules, NET_ALLOW, str_of(no_hosts[i])),
                   ERR_VALIDATION);
    assert_err(net_rules_add(&f->arena, &f->rules, NET_ALLOW, S("a\0.com")), ERR_VALIDATION);
    assert_err(net_rules_add(&f->arena, &f->rules, NET_ALLOW_PRIVATE, S("*")), ERR_VALIDATION);
    assert_false(net_rules_allow_any(&f->rules));
}

RUN_TESTS(UNIT(without_rules_nothing_is_allowed),
          UNIT(a_rule_is_about_its_hosts_and_what_is_below_them),
          UNIT(a_star_alone_is_every_name_and_no_address),
          UNIT(without_a_port_a_rule_means_those_of_the_web),
          UNIT(an_address_has_a_port_as_names_have), UNIT(what_is_denied_is_denied_on_every_port),
          UNIT(a_private_address_is_refused_whatever_the_name),
          UNIT(a_private_host_is_allowed_by_its_name),
          UNIT(a_denied_address_is_denied_by_every_name),
          UNIT(a_refusal_names_the_rule_that_would_allow_it),
          UNIT(a_refusal_names_the_list_or_the_flag_that_would_allow_it),
          UNIT(a_refusal_on_the_loopback_says_where_servers_of_commands_are),
          UNIT(what_is_no_domain_is_an_error),
          UNIT(where_all_is_denied_an_address_is_denied_as_well))
