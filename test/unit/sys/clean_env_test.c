/* clean_env_test.c - what commands find in their environment. */
#include "test.h"

#include "sys/clean_env.h"

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
    return joined(a, clean_environment(a, &(struct clean_env_options){.environment = environment}));
}

#define EDITORS "EDITOR=true VISUAL=true GIT_EDITOR=true GIT_SEQUENCE_EDITOR=true "
#define NO_TERM                                                                                    \
    "PAGER=cat GIT_PAGER=cat MANPAGER=cat SYSTEMD_PAGER=cat AWS_PAGER=cat " EDITORS                \
    "VIMINIT=if resolve('/proc/self/fd/0')=~#'/null$'|exe 'au VimEnter * cquit'|endif "            \
    "GIT_TERMINAL_PROMPT=0 GIT_ASKPASS= SSH_ASKPASS_REQUIRE=never GCM_INTERACTIVE=never "          \
    "DEBIAN_FRONTEND=noninteractive PIP_NO_INPUT=1 "
#define FIXED "TERM=dumb " NO_TERM

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

    assert_str(joined(&a, clean_environment(&a, &(struct clean_env_options){.environment = in,
                                                                            .settings = settings})),
               "A=1 " NO_TERM "PWD=/new BASH_ENV=/start TERM=vt100 ");
}

TEST(editors_are_set_whatever_they_were_unless_the_command_names_one)
{
    AUTO(arena) struct arena a = {0};
    const char *const in[] = {"EDITOR=vim", "GIT_EDITOR=code --wait", NULL};
    struct clean_env_options o = {.environment = in};
    struct str own;

    assert_str(joined(&a, clean_environment(&a, &o)), FIXED);
    o.command = S("git -c sequence.editor='sed -i s/pick/fixup/' rebase -i HEAD~2");
    own = joined(&a, clean_environment(&a, &o));
    assert_int_equal(str_find(own, S("GIT_SEQUENCE_EDITOR")), STR_NONE);
    assert_int_not_equal(str_find(own, S("GIT_EDITOR=true")), STR_NONE);
}

TEST(what_a_person_passes_on_purpose_wins)
{
    AUTO(arena) struct arena a = {0};
    const char *const in[] = {"EDITOR=ed", NULL};
    const struct str passed[] = {S("EDITOR")};
    struct str got =
        joined(&a, clean_environment(&a, &(struct clean_env_options){
                                             .environment = in, .passed = passed, .n_passed = 1}));

    assert_true(str_starts(got, S("EDITOR=ed TERM=dumb ")));
    assert_int_equal(str_find(got, S(" EDITOR=true")), STR_NONE);
}

TEST(a_person_at_a_terminal_is_asked_and_shown_pages)
{
    AUTO(arena) struct arena a = {0};
    const char *const in[] = {"TERM=xterm", "EDITOR=vim", NULL};

    assert_str(joined(&a, clean_environment(&a, &(struct clean_env_options){.environment = in,
                                                                            .is_attended = true})),
               "TERM=xterm EDITOR=vim ");
}

TEST(names_that_are_given_as_secret_are_left_out)
{
    AUTO(arena) struct arena a = {0};
    const char *const in[] = {"MY_LLM=abc", "MY_LLM_2=d", NULL};
    const struct str hidden[] = {S("MY_LLM")};

    assert_str(joined(&a, clean_environment(&a, &(struct clean_env_options){.environment = in,
                                                                            .hidden = hidden,
                                                                            .n_hidden = 1})),
               "MY_LLM_2=d " FIXED);
}

TEST(what_a_confined_command_cannot_reach_is_left_out_there_only)
{
    AUTO(arena) struct arena a = {0};
    const char *const in[] = {"TMUX=/tmp/tmux-0/default,1,0", "HTTPS_PROXY=http://proxy:3128",
                              "no_proxy=localhost",           "http_proxy=http://u:pw@proxy:3128",
                              "KUBECONFIG=/home/me/kube",     NULL};
    struct clean_env_options options = {.environment = in, .is_confined = true};

    assert_str(joined(&a, clean_environment(&a, &options)), FIXED);
    options.is_confined = false;
    assert_str(joined(&a, clean_environment(&a, &options)),
               "TMUX=/tmp/tmux-0/default,1,0 HTTPS_PROXY=http://proxy:3128 no_proxy=localhost "
               "KUBECONFIG=/home/me/kube " FIXED);
}

TEST(what_a_person_lets_pass_passes)
{
    AUTO(arena) struct arena a = {0};
    struct secret_value key = {S("KEY"), S("sk-4711-hush")};
    AUTO(secrets) struct secrets *secrets = secrets_new(&key, 1);
    const char *const in[] = {"DATABASE_URL=postgres://u:pw@h/d",
                              "CI_TOKEN=x",
                              "CI_KEY=y",
                              "LLM=sk-4711-hush",
                              "KUBECONFIG=/k",
                              "OTHER_TOKEN=z",
                              "LD_PRELOAD=/x",
                              NULL};
    const struct str passed[] = {S("DATABASE_URL"), S("CI_*"), S("LLM"), S("KUBECONFIG"),
                                 S("LD_PRELOAD")};

    assert_str(
        joined(&a, clean_environment(&a, &(struct clean_env_options){.environment = in,
                                                                     .secrets = secrets,
                                                                     .passed = passed,
                                                                     .n_passed = ARRAY_LEN(passed),
                                                                     .is_confined = true})),
        "DATABASE_URL=postgres://u:pw@h/d CI_TOKEN=x CI_KEY=y LLM=sk-4711-hush "
        "KUBECONFIG=/k " FIXED);
}

TEST(git_gets_all_of_its_settings_or_none)
{
    AUTO(arena) struct arena a = {0};
    const char *in[] = {"GIT_CONFIG_COUNT=2",
                        "GIT_CONFIG_KEY_0=user.name",
                        "GIT_CONFIG_VALUE_0=me",
                        "GIT_CONFIG_KEY_1=http.extraheader",
                        "GIT_CONFIG_VALUE_1=x-trace: 1",
                        NULL};

    assert_str(made_of(&a, in),
               "GIT_CONFIG_COUNT=2 GIT_CONFIG_KEY_0=user.name GIT_CONFIG_VALUE_0=me "
               "GIT_CONFIG_KEY_1=http.extraheader GIT_CONFIG_VALUE_1=x-trace: 1 " FIXED);
    in[4] = "GIT_CONFIG_VALUE_1=Authorization: Basic dXNlcjpwYXNz";
    assert_str(made_of(&a, in), FIXED);
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

    assert_str(joined(&a, clean_environment(&a, &(struct clean_env_options){.environment = in,
                                                                            .secrets = secrets})),
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

RUN_TESTS(UNIT(credentials_are_left_out_and_the_rest_is_kept_in_order),
          UNIT(what_shells_and_the_loader_heed_is_left_out), UNIT(keels_own_variables_are_left_out),
          UNIT(pagers_and_the_terminal_are_set_whatever_they_were), UNIT(settings_win),
          UNIT(editors_are_set_whatever_they_were_unless_the_command_names_one),
          UNIT(what_a_person_passes_on_purpose_wins),
          UNIT(a_person_at_a_terminal_is_asked_and_shown_pages),
          UNIT(names_that_are_given_as_secret_are_left_out),
          UNIT(what_a_confined_command_cannot_reach_is_left_out_there_only),
          UNIT(what_a_person_lets_pass_passes), UNIT(git_gets_all_of_its_settings_or_none),
          UNIT(entries_that_are_no_variables_are_left_out),
          UNIT(without_an_environment_the_process_s_own_is_taken),
          UNIT(a_variable_that_holds_a_known_credential_is_hidden_whatever_it_is_called),
          UNIT(a_program_of_the_operators_own_keeps_what_keel_does_not_know))
