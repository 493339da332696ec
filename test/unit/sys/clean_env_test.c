/* clean_env_test.c - what commands find in their environment. */
#include "test.h"

#include "sys/clean_env.h"

static const char *const no_settings[] = {NULL};

/* The entries, each with a blank behind it. */
static struct str joined(struct arena *a, const char *const *environment)
{
    AUTO(strbuf) struct strbuf b = {0};

    for (; *environment; environment++)
        strbuf_addf(&b, "%s ", *environment);
    return arena_str(a, strbuf_str(&b));
}

static struct str made_of(struct arena *a, const char *const *environment)
{
    return joined(a, clean_environment(a, environment, NULL, 0, NULL, no_settings));
}

#define FIXED "PAGER=cat GIT_PAGER=cat TERM=dumb "

TEST(names_of_credentials_are_secret)
{
    static const char *const names[] = {
        "ANTHROPIC_API_KEY",
        "GEMINI_API_KEY",
        "LM_API_TOKEN",
        "GITHUB_TOKEN",
        "GH_TOKEN",
        "GHTOKEN",
        "npm_config__authToken",
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "STRIPE_KEY",
        "SECRET_KEY_BASE",
        "CLIENT_SECRET",
        "clientsecret",
        "PGPASSWORD",
        "MYSQL_PWD",
        "DB_PASS",
        "DB_PASSWORD_2",
        "REDIS_PASSWD",
        "GPG_PASSPHRASE",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "SESSION_COOKIE",
        "TOKEN",
        "PASSWORD",
        "OPENAIAPIKEY",
    };

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (!variable_is_secret(str_of(names[i])))
            fail_msg("%s is not secret", names[i]);
}

TEST(other_names_are_not_secret)
{
    static const char *const names[] = {
        "PATH",
        "HOME",
        "PWD",
        "LANG",
        "SSH_AUTH_SOCK",
        "SSH_ASKPASS",
        "MAX_TOKENS",
        "KEYMAP",
        "TOKENIZERS_PARALLELISM",
        "XAUTHORITY",
        "KEYBOARD",
        "PASSAGE",
        "MONKEY",
        "COMPASS",
        "KEY_REPEAT",
        "LS_COLORS",
        "AWS_PROFILE",
        "GIT_AUTHOR_NAME",
        "PYTHON_PATH",
        "",
        "_",
    };

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (variable_is_secret(str_of(names[i])))
            fail_msg("%s is secret", names[i]);
}

TEST(credentials_are_left_out_and_the_rest_is_kept_in_order)
{
    AUTO(arena) struct arena a = {0};
    const char *const in[] = {"PATH=/bin", "OPENAI_API_KEY=sk-1", "HOME=/root", "A=b=c", NULL};

    assert_str(made_of(&a, in), "PATH=/bin HOME=/root A=b=c " FIXED);
}

TEST(what_shells_and_the_loader_heed_is_left_out)
{
    AUTO(arena) struct arena a = {0};
    const char *const in[] = {
        "BASH_ENV=/x", "ENV=/x",           "PROMPT_COMMAND=x", "SHELLOPTS=xtrace",     "BASHOPTS=x",
        "CDPATH=/x",   "LD_PRELOAD=/x.so", "LD_AUDIT=x.so",    "LD_LIBRARY_PATH=/lib", NULL};

    assert_str(made_of(&a, in), "LD_LIBRARY_PATH=/lib " FIXED);
}

TEST(keels_own_variables_are_left_out)
{
    AUTO(arena) struct arena a = {0};
    const char *const in[] = {"KEEL_EXEC=/x", "KEEL_HOME=/y", "KEELHAUL=1", NULL};

    assert_str(made_of(&a, in), "KEELHAUL=1 " FIXED);
}

TEST(pagers_and_the_terminal_are_set_whatever_they_were)
{
    AUTO(arena) struct arena a = {0};
    const char *const in[] = {"TERM=xterm", "PAGER=less", "GIT_PAGER=delta", "TERM=again", NULL};

    assert_str(made_of(&a, in), FIXED);
}

TEST(settings_win)
{
    AUTO(arena) struct arena a = {0};
    const char *const in[] = {"PWD=/old", "A=1", NULL};
    const char *const settings[] = {"PWD=/new", "BASH_ENV=/start", "TERM=vt100", NULL};

    assert_str(joined(&a, clean_environment(&a, in, NULL, 0, NULL, settings)),
               "A=1 PAGER=cat GIT_PAGER=cat PWD=/new BASH_ENV=/start TERM=vt100 ");
}

TEST(names_that_are_given_as_secret_are_left_out)
{
    AUTO(arena) struct arena a = {0};
    const char *const in[] = {"MY_LLM=abc", "MY_LLM_2=d", NULL};
    const struct str hidden[] = {S("MY_LLM")};

    assert_str(joined(&a, clean_environment(&a, in, hidden, 1, NULL, no_settings)),
               "MY_LLM_2=d " FIXED);
}

TEST(entries_that_are_no_variables_are_left_out)
{
    AUTO(arena) struct arena a = {0};
    const char *const in[] = {"nothing", "=x", "", "B=", NULL};

    assert_str(made_of(&a, in), "B= " FIXED);
}

TEST(without_an_environment_the_process_s_own_is_taken)
{
    AUTO(arena) struct arena a = {0};

    setenv("SHELL_TEST_MARK", "here", 1);
    assert_int_not_equal(str_find(made_of(&a, NULL), S("SHELL_TEST_MARK=here ")), STR_NONE);
    unsetenv("SHELL_TEST_MARK");
}

TEST(a_variable_that_holds_a_known_credential_is_hidden_whatever_it_is_called)
{
    AUTO(arena) struct arena a = {0};
    struct secret_value key = {S("KEY"), S("sk-4711-hush")};
    AUTO(secrets) struct secrets *secrets = secrets_new(&key, 1);
    const char *in[] = {"A=sk-4711-hush", "B=http://u:sk-4711-hush@host/", "C=sk-4711", "D=", NULL};

    assert_str(joined(&a, clean_environment(&a, in, NULL, 0, secrets, no_settings)),
               "C=sk-4711 D= " FIXED);
}

TEST(a_program_of_the_operators_own_keeps_what_keel_does_not_know)
{
    AUTO(arena) struct arena a = {0};
    struct secret_value key = {S("KEY"), S("sk-4711-hush")};
    AUTO(secrets) struct secrets *secrets = secrets_new(&key, 1);
    const char *in[] = {"LLM=sk-4711-hush", "SEARCH=sk-4711-hush", "API_KEY=other", NULL};

    assert_str(joined(&a, environment_without(&a, in, secrets, S("SEARCH"))),
               "SEARCH=sk-4711-hush API_KEY=other ");
    assert_str(joined(&a, environment_without(&a, in, NULL, S(""))),
               "LLM=sk-4711-hush SEARCH=sk-4711-hush API_KEY=other ");
}

RUN_TESTS(UNIT(names_of_credentials_are_secret), UNIT(other_names_are_not_secret),
          UNIT(credentials_are_left_out_and_the_rest_is_kept_in_order),
          UNIT(what_shells_and_the_loader_heed_is_left_out), UNIT(keels_own_variables_are_left_out),
          UNIT(pagers_and_the_terminal_are_set_whatever_they_were), UNIT(settings_win),
          UNIT(names_that_are_given_as_secret_are_left_out),
          UNIT(entries_that_are_no_variables_are_left_out),
          UNIT(without_an_environment_the_process_s_own_is_taken),
          UNIT(a_variable_that_holds_a_known_credential_is_hidden_whatever_it_is_called),
          UNIT(a_program_of_the_operators_own_keeps_what_keel_does_not_know))
