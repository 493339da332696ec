/* refusal_test.c - refusals by what programs say, as a table. */
#include "test.h"

#include "files.h"
#include "sandbox/refusal.h"
#include "temp_dir.h"

#include <unistd.h>

static const char *const hidden[] = {"/w/.env", "/w/vault", "/home/a/.ssh"};

static struct sandbox confined(enum sandbox_way way)
{
    return (struct sandbox){.way = way,
                            .policy = {.workspace = "/w",
                                       .home = "/home/a",
                                       .tmp_dir = "/tmp/keel-1",
                                       .hidden = hidden,
                                       .n_hidden = ARRAY_LEN(hidden)}};
}

static struct str explain(const struct sandbox *s, struct arena *a, struct command_ending e)
{
    AUTO(strbuf) struct strbuf out = {0};
    unsigned told = 0;

    sandbox_explain(s, &e, &told, &out);
    return arena_str(a, strbuf_str(&out));
}

TEST(words_of_programs_lead_to_the_cause)
{
    static const struct {
        const char *command, *output, *told;
    } cases[] = {
        {"curl x", "curl: (6) Could not resolve host: x", "no network"},
        {"pip install x", "[Errno -3] Temporary failure in name resolution", "no network"},
        {"npm i", "npm ERR! network request failed, reason: getaddrinfo EAI_AGAIN", "no network"},
        {"go mod tidy", "dial tcp: lookup proxy.golang.org: no such host", "no network"},
        {"apt-get update", "Temporary failure resolving 'deb.debian.org'", "no network"},
        {"touch /x", "touch: cannot touch '/x': Read-only file system", "/tmp/keel-1"},
        {"git config a.b c",
         "error: could not write config file .git/config: Device or resource busy",
         "no lock is in the way"},
        {"git revert x", "unable to rmdir 'vendor': Device or resource busy",
         "trying again does not help"},
        {"docker ps", "dial unix /var/run/docker.sock: socket: operation not permitted",
         "the Docker daemon's"},
        {"python3 s.py", "PermissionError: [Errno 1] Operation not permitted", "127.0.0.1 works"},
        {"pip install x | tail -1", "ERROR: No matching distribution found for x", "no network"},
        {"apt-get install x | tail -1",
         "E: Unable to acquire the dpkg frontend lock (/var/lib/dpkg/lock-frontend), are you root?",
         "write only below /w"},
        {"mount -t tmpfs x /mnt",
         "mount: /mnt: permission denied.\n       dmesg(1) may have more information after failed "
         "mount system call.",
         "mounts or devices"},
        {"cat /tmp/other/a", "cat: /tmp/other/a: No such file or directory", "their own /tmp"},
        {"cat /tmp/keel-1/a", "cat: /tmp/keel-1/a: No such file or directory", NULL},
        {"cat /srv/a", "cat: /srv/a: No such file or directory", NULL},
        {"make", "make: *** [all] Error 1", NULL},
        {"./x", "Connection refused", NULL},
        {"cat /root/x", "Permission denied", NULL},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena) struct arena a = {0};
        struct sandbox s = confined(SANDBOX_WITH_NAMESPACES);
        struct str told = explain(&s, &a,
                                  (struct command_ending){.command = str_of(cases[i].command),
                                                          .output = str_of(cases[i].output),
                                                          .failed = true});

        if (cases[i].told ? str_find(told, str_of(cases[i].told)) == STR_NONE : told.n > 0)
            fail_msg("%s: %" STR_FMT, cases[i].command, STR_ARG(told));
    }
}

TEST(a_protected_place_of_the_workspace_is_not_told_to_be_elsewhere)
{
    static const struct {
        const char *output, *told;
    } cases[] = {
        {"cp: cannot create regular file '.git/hooks/pre-commit': Read-only file system",
         "it protects"},
        {"OSError: [Errno 30] Read-only file system: '.vscode/settings.json'", "it protects"},
        {"touch: cannot touch 'there': Read-only file system", "it protects"},
        {"touch: cannot touch 'elsewhere': Read-only file system", "write only below"},
        {"touch: cannot touch '/usr/x': Read-only file system", "write only below"},
    };
    AUTO(temp_dir) struct temp_dir dir = temp_dir_make();

    put(&dir, "there", "");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena) struct arena a = {0};
        struct sandbox s = confined(SANDBOX_WITH_NAMESPACES);
        struct str told;

        s.policy.workspace = dir.path;
        told = explain(&s, &a,
                       (struct command_ending){.command = S("x"),
                                               .output = str_of(cases[i].output),
                                               .cwd = dir.path,
                                               .failed = true});
        if (str_find(told, str_of(cases[i].told)) == STR_NONE)
            fail_msg("%s: %" STR_FMT, cases[i].output, STR_ARG(told));
    }
}

TEST(a_success_is_explained_only_where_it_may_hide_a_failure)
{
    AUTO(arena) struct arena a = {0};
    struct sandbox s = confined(SANDBOX_WITH_NAMESPACES);
    struct command_ending e = {.command = S("grep refused log"),
                               .output = S("Could not resolve host: x")};

    assert_int_equal(explain(&s, &a, e).n, 0);
    e.command = S("pip download x | tail -3");
    assert_int_not_equal(explain(&s, &a, e).n, 0);
    e.output = S("error: could not write config file .git/config: Device or resource busy\n"
                 "branch 'x' set up to track 'master'.\n");
    e.command = S("git branch --set-upstream-to=master");
    assert_int_not_equal(str_find(explain(&s, &a, e), S("--set-upstream-to")), STR_NONE);
    e.command = S("cat log");
    assert_int_equal(explain(&s, &a, e).n, 0);
}

TEST(what_was_explained_is_only_named_later)
{
    struct sandbox s = confined(SANDBOX_WITH_NAMESPACES);
    struct command_ending e = {
        .command = S("curl x"), .output = S("Could not resolve host: x"), .failed = true};
    AUTO(strbuf) struct strbuf first = {0}, second = {0};
    unsigned told = 0;

    sandbox_explain(&s, &e, &told, &first);
    sandbox_explain(&s, &e, &told, &second);
    assert_true(second.n > 0 && second.n < first.n / 2);
}

TEST(where_the_network_is_open_a_resolver_fails_for_its_own_reasons)
{
    AUTO(arena) struct arena a = {0};
    struct sandbox s = confined(SANDBOX_WITH_NAMESPACES);
    struct command_ending e = {
        .command = S("curl x"), .output = S("Could not resolve host: x"), .failed = true};

    s.policy.network = SANDBOX_PROXY_ONLY;
    assert_int_not_equal(str_find(explain(&s, &a, e), S("that the person has allowed")), STR_NONE);
    s.policy.network = SANDBOX_NETWORK;
    assert_int_equal(explain(&s, &a, e).n, 0);
}

TEST(hidden_paths_of_the_command_line_are_named)
{
    static const struct {
        const char *command, *told;
    } cases[] = {
        {"cat .env", "/w/.env"},       {"cat /w/.env", "/w/.env"},
        {"ls vault/deep", "/w/vault"}, {"cat ~/.ssh/id_rsa", "/home/a/.ssh"},
        {"cat .env.example", NULL},    {"ls myvault", NULL},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena) struct arena a = {0};
        struct sandbox s = confined(SANDBOX_WITH_NAMESPACES);
        struct str told =
            explain(&s, &a, (struct command_ending){.command = str_of(cases[i].command)});

        if (cases[i].told ? str_find(told, str_of(cases[i].told)) == STR_NONE : told.n > 0)
            fail_msg("%s: %" STR_FMT, cases[i].command, STR_ARG(told));
    }
}

TEST(without_namespaces_a_denial_may_be_the_sandboxs)
{
    AUTO(arena) struct arena a = {0};
    struct sandbox s = confined(SANDBOX_WITHOUT_NAMESPACES);
    struct command_ending e = {
        .command = S("touch /usr/x"), .output = S("Permission denied"), .failed = true};

    assert_int_not_equal(str_find(explain(&s, &a, e), S("may have caused")), STR_NONE);
}

/* --- commands that only look --- */

static struct str explain_look(const char *workspace, const char *output, bool *known,
                               struct arena *a)
{
    static const char *const closed[] = {"/home", "/srv", "/tmp"}, *const open[] = {"/srv/open"};
    AUTO(strbuf) struct strbuf out = {0};
    struct sandbox s = {.policy = {.workspace = workspace,
                                   .closed = closed,
                                   .n_closed = ARRAY_LEN(closed),
                                   .visible = open,
                                   .n_visible = ARRAY_LEN(open)}};
    struct command_ending e = {
        .command = S("cat $x"), .output = str_of(output), .cwd = workspace, .failed = true};

    sandbox_explain_look(&s, &e, known, &out);
    return arena_str(a, strbuf_str(&out));
}

TEST(a_look_is_explained_only_where_something_was_kept_from_it)
{
    AUTO(temp_dir) struct temp_dir dir = temp_dir_make();
    AUTO(arena) struct arena a = {0};
    static const struct {
        const char *output;
        bool is_explained;
    } cases[] = {
        {"cat: missing.txt: No such file or directory", false},
        {"ls: cannot access 'nodir': No such file or directory", false},
        {"cat: /usr/share/none: No such file or directory", false},
        {"cat: /srv/open/none: No such file or directory", false},
        {"cat: locked: Permission denied", false},
        {"cat: /home/a/notes: No such file or directory", true},
        {"find: \xE2\x80\x98/srv/data\xE2\x80\x99: Permission denied", true},
        {"cat: link: No such file or directory", true},
        {"touch: x: Read-only file system", true},
        {"/home/a/notes", false},
    };

    assert_int_equal(symlink("/srv/data", temp_path(&dir, "link")), 0);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        bool known = false;

        if ((explain_look(dir.path, cases[i].output, &known, &a).n > 0) != cases[i].is_explained)
            fail_msg("%s", cases[i].output);
        assert_int_equal(known, cases[i].is_explained);
    }
}

TEST(a_look_is_explained_in_full_only_once)
{
    AUTO(arena) struct arena a = {0};
    bool known = false;
    struct str first = explain_look("/w", "cat: /srv/x: No such file or directory", &known, &a);
    struct str second = explain_look("/w", "cat: /srv/x: No such file or directory", &known, &a);

    assert_true(second.n > 0 && second.n < first.n / 2);
    assert_int_equal(str_find(first, S("asked")), STR_NONE);
}

RUN_TESTS(UNIT(words_of_programs_lead_to_the_cause),
          UNIT(a_protected_place_of_the_workspace_is_not_told_to_be_elsewhere),
          UNIT(a_success_is_explained_only_where_it_may_hide_a_failure),
          UNIT(what_was_explained_is_only_named_later),
          UNIT(where_the_network_is_open_a_resolver_fails_for_its_own_reasons),
          UNIT(hidden_paths_of_the_command_line_are_named),
          UNIT(without_namespaces_a_denial_may_be_the_sandboxs),
          UNIT(a_look_is_explained_only_where_something_was_kept_from_it),
          UNIT(a_look_is_explained_in_full_only_once))
