/* typed_test.c - what a prompt names, and what it does not. */
#include "yard.h"

#include "gate/typed.h"

/* --- hosts --- */

static struct str host_in(struct arena *a, const char *word)
{
    struct str host = {0};
    bool is_bare;

    return typed_read_host(a, str_of(word), &host, &is_bare) ? host : S("");
}

TEST(an_address_names_its_host_and_port)
{
    static const struct {
        const char *word, *host;
    } rows[] = {
        {"https://example.com", "example.com"},
        {"https://example.com/a?b#c", "example.com"},
        {"HTTPS://Docs.Example.COM/x", "docs.example.com"},
        {"http://example.com:80/", "example.com"},
        {"https://example.com:443/", "example.com"},
        {"http://example.com:443/", "example.com:443"},
        {"https://example.com:8443", "example.com:8443"},
        {"http://localhost:3000/x", "localhost:3000"},
        {"http://127.0.0.1:8080/x", "127.0.0.1:8080"},
        {"https://readme.md/x", "readme.md"},
        {"https://example.com?x=1", "example.com"},
    };
    AUTO(arena) struct arena a = {0};

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_str(host_in(&a, rows[i].word), rows[i].host);
}

TEST(a_word_names_a_host_where_it_can_hardly_be_anything_else)
{
    static const struct {
        const char *word, *host;
    } rows[] = {
        {"example.com", "example.com"},      {"docs.python.org", "docs.python.org"},
        {"example.org/page", "example.org"}, {"example.com:8443", "example.com:8443"},
        {"www.bbc.co.uk", "www.bbc.co.uk"},  {"crates.io", "crates.io"},
    };
    static const char *const others[] = {
        "README.md", "main.rs",     "setup.py", "run.sh",  "a.c",    "Makefile.am",  "config.ac",
        "notes.de",  "x.zip",       "1.2.3.4",  "com",     ".com",   "a..com",       "localhost",
        "www.x",     "me@a.com",    "a_b.com",  "-a.com",  "a-.com", "foo.ai",       "x.in",
        "lib.so",    "console.log", "os.path",  "a.com:x", "a.com:", "a.com:123456",
    };
    AUTO(arena) struct arena a = {0};

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_str(host_in(&a, rows[i].word), rows[i].host);
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        assert_str(host_in(&a, others[i]), "");
}

/* None of them may become the host that it looks like, nor another one. */
TEST(addresses_in_disguise_name_no_host)
{
    static const char *const words[] = {
        "https://user@example.com/",
        "https://example.com@evil.org/",
        "https://example.com\\@evil.org",
        "https://ex\xd0\xb0mple.com/",
        "https://xn--exmple-cua.com/",
        "xn--exmple-cua.com",
        "https://www.xn--e1afmkfd.com",
        "https://example.com./",
        "https://example.com%2eevil.org",
        "https://0177.0.0.1/",
        "https://2130706433/",
        "https://1.2.3/",
        "https://[::1]/",
        "ftp://example.com/",
        "file:///etc/passwd",
        "https:example.com",
        "https:///example.com",
        "https://",
        "javascript://example.com/",
        "example.com\xe3\x80\x82",
        "https://example.com:0443x/",
        "https://example.com:99999/",
        "https://exam\x01ple.com/",
        "https://example.com\xe2\x80\x8b/",
    };
    AUTO(arena) struct arena a = {0};

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        assert_str(host_in(&a, words[i]), "");
}

/* --- paths --- */

TEST(a_path_is_read_as_it_was_written)
{
    static const struct {
        const char *word, *path;
    } rows[] = {
        {"/srv/data", "/srv/data"},
        {"/srv/data/", "/srv/data"},
        {"~/notes.md", "~/notes.md"},
        {"../other/x.c", "../other/x.c"},
        {"../../x", "../../x"},
        {"@/srv/x", "/srv/x"},
        {"/srv/x.c:12", "/srv/x.c"},
        {"/srv/x.c:12:7", "/srv/x.c"},
        {"~/", "~/"},
        {"/srv/my file", "/srv/my file"},
    };
    static const char *const others[] = {
        "/",        "src/a.c",     "a",         "..",        "../",  "/srv/*.c", "~",
        "~root/x",  "/srv/a/../b", "/srv/..",   "/srv/...",  "~/..", "../a/..",  "/srv/$HOME",
        "/srv/{a}", "/srv\\x",     "host:/srv", "/srv:/etc", "/a;b", "/a\nb",    "/a\xff",
    };
    struct str path;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_true(typed_read_path(str_of(rows[i].word), &path));
        assert_str(path, rows[i].path);
    }
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        assert_false(typed_read_path(str_of(others[i]), &path));
}

/* --- prompts --- */

static struct str words_in(struct arena *a, const char *prompt)
{
    struct str rest = str_of(prompt), word;
    AUTO(strbuf) struct strbuf out = {0};

    while (typed_next_word(&rest, &word)) {
        strbuf_add(&out, word);
        strbuf_add_char(&out, '|');
    }
    return arena_str(a, strbuf_str(&out));
}

TEST(words_stand_between_blanks_without_their_punctuation)
{
    AUTO(arena) struct arena a = {0};

    assert_str(words_in(&a, "See (https://a.com/x), please."), "See|https://a.com/x|please|");
    assert_str(words_in(&a, "in '/srv/my files', and \"x\"!"), "in|/srv/my files||and|x||");
    assert_str(words_in(&a, "don't /srv"), "don't|/srv|");
    assert_str(words_in(&a, "'tis\n/srv"), "tis|/srv|");
    assert_str(words_in(&a, "all of ~/..."), "all|of||");
    assert_str(words_in(&a, "  "), "");
}

static struct str found_in(struct yard *y, const char *prompt)
{
    struct typed_names names;
    AUTO(strbuf) struct strbuf out = {0};

    typed_find(&names, &y->arena, str_of(yard_text(y, prompt)), y->state, y->environment);
    for (size_t i = 0; i < names.n; i++)
        strbuf_addf(&out, "%" STR_FMT "\n",
                    STR_ARG(state_key_text(&y->arena, names.items[i].kind, names.items[i].name)));
    return arena_str(&y->arena, strbuf_str(&out));
}

#define finds(prompt, keys) assert_str(found_in(&y, prompt), yard_text(&y, keys))

TEST(hosts_and_paths_of_a_prompt_are_found)
{
    AUTO(yard) struct yard y;

    yard_init(&y);
    finds("compare example.com with https://b.org:8443/x. Example.com!",
          "typed:host:example.com\ntyped:host:b.org:8443\n");
    finds("what is in @/out/secret.txt, ~/notes and ../out?",
          "typed:path:@/out/secret.txt\ntyped:path:@/home/notes\ntyped:path:@/out\n");
    finds("fix the bug in src/a.c and/or README.md, 1/2 of it /", "");
    finds("not there yet: @/out/new/file", "typed:path:@/out/new/file\n");
}

TEST(a_word_that_is_a_file_here_is_not_a_host)
{
    AUTO(yard) struct yard y;

    yard_init(&y);
    finds("sum up todo.org", "typed:host:todo.org\n");
    put(&y.dir, "proj/todo.org", "");
    finds("sum up todo.org", "");
    finds("sum up https://todo.org/", "typed:host:todo.org\n");
}

TEST(a_link_of_the_repository_does_not_name_what_it_leads_to)
{
    AUTO(yard) struct yard y;

    yard_init(&y);
    yard_link(&y, "proj/data", "@out");
    yard_link(&y, "home/mine", "@out");
    finds("look at @/proj/data/secret.txt", "");
    finds("look at ~/mine/secret.txt", "typed:path:@/out/secret.txt\n");
}

TEST(a_link_to_the_root_names_nothing)
{
    AUTO(yard) struct yard y;

    yard_init(&y);
    yard_link(&y, "home/all", "/");
    finds("look at ~/all", "");
}

TEST(what_is_too_long_was_not_typed)
{
    AUTO(yard) struct yard y;
    AUTO(strbuf) struct strbuf prompt = {0};

    yard_init(&y);
    strbuf_add_cstr(&prompt, "example.com ");
    while (prompt.n < TYPED_MAX_BYTES)
        strbuf_add_cstr(&prompt, "word ");
    finds(strbuf_cstr(&prompt), "");
}

TEST(many_names_are_cut_off)
{
    AUTO(yard) struct yard y;
    AUTO(strbuf) struct strbuf prompt = {0};
    struct typed_names names;

    yard_init(&y);
    for (int i = 0; i < 200; i++)
        strbuf_addf(&prompt, "h%d.com ", i);
    typed_find(&names, &y.arena, strbuf_str(&prompt), y.state, y.environment);
    assert_int_equal(names.n, TYPED_MAX_NAMES);
}

/* --- calls --- */

static void type(struct yard *y, const char *prompt)
{
    struct typed_names names;

    typed_find(&names, &y->arena, str_of(yard_text(y, prompt)), y->state, y->environment);
    typed_keep(&names, y->state);
}

TEST(a_request_to_a_host_that_the_person_typed_runs)
{
    AUTO(yard) struct yard y;

    yard_init(&y);
    type(&y, "read example.com and http://localhost:3000/");
    for (y.mode = MODE_PLAN; y.mode < MODE_BYPASS; y.mode++) {
        auto_by(&fetch, "https://example.com/x?y", "typed:host:example.com");
        auto_by(&fetch, "http://EXAMPLE.com:80", "typed:host:example.com");
        auto_by(&fetch, "https://example.com./", "typed:host:example.com");
        auto_by(&fetch, "http://localhost:3000/y", "typed:host:localhost:3000");
    }
}

TEST(a_request_to_any_other_host_asks)
{
    static const char *const others[] = {
        "https://www.example.com/",
        "https://example.com:8443/",
        "https://example.com.evil.org/",
        "https://example.org/",
        "https://evil.org/example.com",
        "https://evil.org#example.com",
        "http://localhost/",
        "http://localhost:30000/",
        "ftp://example.com/",
        "https://ex\xd0\xb0mple.com/",
    };
    AUTO(yard) struct yard y;

    yard_init(&y);
    type(&y, "read example.com and http://localhost:3000/");
    y.mode = MODE_DEFAULT;
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        asks_by(&fetch, others[i], "mode:default/network");
    assert_str(typed_host_of(y.state, S("https://example.com@evil.org/")), "");
    assert_str(typed_host_of(y.state, S("https://user@example.com/")), "");
    y.mode = MODE_PLAN;
    asks_by(&fetch, "https://evil.org/", "mode:plan/network");
    y.mode = MODE_ACCEPT_EDITS;
    asks_by(&fetch, "https://evil.org/", "mode:acceptEdits/network");
}

TEST(a_rule_that_denies_wins_over_what_was_typed)
{
    AUTO(yard) struct yard y;

    yard_init(&y);
    y.mode = MODE_DEFAULT;
    type(&y, "read example.com");
    yard_deny(&y, "WebFetch(domain:example.com)");
    denied_by(&fetch, "https://example.com/", "WebFetch(domain:example.com)");
}

RUN_TESTS(UNIT(an_address_names_its_host_and_port),
          UNIT(a_word_names_a_host_where_it_can_hardly_be_anything_else),
          UNIT(addresses_in_disguise_name_no_host), UNIT(a_path_is_read_as_it_was_written),
          UNIT(words_stand_between_blanks_without_their_punctuation),
          UNIT(hosts_and_paths_of_a_prompt_are_found),
          UNIT(a_word_that_is_a_file_here_is_not_a_host),
          UNIT(a_link_of_the_repository_does_not_name_what_it_leads_to),
          UNIT(a_link_to_the_root_names_nothing), UNIT(what_is_too_long_was_not_typed),
          UNIT(many_names_are_cut_off), UNIT(a_request_to_a_host_that_the_person_typed_runs),
          UNIT(a_request_to_any_other_host_asks), UNIT(a_rule_that_denies_wins_over_what_was_typed))
