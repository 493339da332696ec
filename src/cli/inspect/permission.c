/* permission.c - `keel inspect permission`: one call against given rules, and nothing else. */
#include "cli/inspect/inspect.h"

#include "cli/interrupt.h"
#include "cli/permissions/call.h"
#include "sandbox/sandbox.h"
#include "sdk/agent/agent.h"
#include "sys/fs.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

static const struct option options[] = {
    {"mode", 0, "MODE", PERMISSION_MODES "; safe, moderate, full",
     .words = PERMISSION_MODE_WORDS " safe moderate full"},
    {"tool", 0, "NAME", "the tool that is called"},
    {"args", 0, "JSON", "its arguments, an object"},
    {"allow", 0, "RULE", "a rule that allows; repeatable, like the next two"},
    {"ask", 0, "RULE", "a rule that asks"},
    {"deny", 0, "RULE", "a rule that denies"},
    {"cwd", 0, "DIR", "the working directory, which is the workspace (.)"},
    {"add-dir", 0, "DIR", "additional directory to work in; repeatable"},
    {"allowed-command", 0, "TEXT", "allow only such commands; repeatable"},
    {"allowed-domain", 0, "HOST", "fetch only from this host; repeatable"},
    {0},
};

static const struct str *all_values(const struct args *args, const char *name, struct arena *a,
                                    size_t *ret_n)
{
    struct str *values = NULL;
    const char *value;
    size_t at = 0, room = 0, n = 0;

    while ((value = args_next(args, name, &at))) {
        values = arena_grow(a, values, n, &room, sizeof *values);
        values[n++] = str_of(value);
    }
    *ret_n = n;
    return values;
}

/* A directory that is not there is taken as it is written: rules can be tried out for it. */
static const char *real_directory(struct arena *a, const char *given)
{
    char real[PATH_MAX];

    if (realpath(given, real))
        return arena_cstr(a, str_of(real));
    if (*given == '/' || !getcwd(real, sizeof real))
        return given;
    return fs_join(a, real, given);
}

static void read_policy(const struct args *args, struct arena *a, struct hard_policy *policy)
{
    const char *const *environment = (const char *const *)environ;
    const char *home = env_find(environment, "HOME"), *keel = env_find(environment, "KEEL_HOME");
    size_t n;
    const struct str *given = all_values(args, "add-dir", a, &n);
    const char **writable = ARENA_ARRAY(a, n, const char *);

    for (size_t i = 0; i < n; i++)
        writable[i] = real_directory(a, given[i].p);
    if (!keel && home)
        keel = fs_join(a, home, ".keel");
    policy->writable = writable;
    policy->n_writable = n;
    policy->secret = sandbox_secret_places(a, home, keel, &policy->n_secret);
    policy->commands = all_values(args, "allowed-command", a, &policy->n_commands);
    policy->lists_commands = policy->n_commands;
    policy->domains = all_values(args, "allowed-domain", a, &policy->n_domains);
    policy->lists_domains = policy->n_domains;
}

static struct err *read_call(const struct args *args, struct arena *a, struct permission_call *c)
{
    const char *name = args_get(args, "tool"), *json = args_get(args, "args"),
               *mode = args_get(args, "mode"), *cwd = args_get(args, "cwd");

    if (!name || !*name || !json)
        return err_hint(err_new(ERR_VALIDATION, "inspect permission needs --tool and --args"),
                        "keel inspect permission --tool Bash --args '{\"command\": \"ls\"}'");
    c->mode = MODE_DEFAULT;
    if (mode)
        TRY(agent_find_mode("--mode", str_of(mode), &c->mode));
    c->cwd = real_directory(a, cwd ? cwd : ".");
    c->tool = permission_tool(a, str_of(name));
    c->rules.allow = all_values(args, "allow", a, &c->rules.n_allow);
    c->rules.ask = all_values(args, "ask", a, &c->rules.n_ask);
    c->rules.deny = all_values(args, "deny", a, &c->rules.n_deny);
    read_policy(args, a, &c->policy);
    return permission_call_parse(c, a, str_of(json));
}

static struct err *judge_and_print(void *arg)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf out = {0};
    struct judged judged;
    struct json_writer w;

    TRY(permission_call_judge(arg, &a, &judged));
    jw_init(&w, &out);
    jw_begin_object(&w);
    permission_write_judged(&w, &judged);
    jw_end_object(&w);
    strbuf_add_char(&out, '\n');
    return cli_print(strbuf_str(&out));
}

static struct err *inspect_permission_run(const struct args *args, int *ret_status)
{
    AUTO(arena) struct arena a = {0};
    struct permission_call call = {0};

    TRY(args_count(args, 0, 0, "no arguments: rules and call come as options"));
    TRY(read_call(args, &a, &call));
    return cli_run_task(NULL, judge_and_print, &call);
}

const struct command command_inspect_permission = {
    .name = "inspect permission",
    .usage = "[--mode MODE] [--allow RULE]... [--ask RULE]... [--deny RULE]... [--cwd DIR] "
             "--tool NAME --args JSON",
    .summary = "judge a tool call by rules and mode",
    .details =
        "Prints {\"decision\", \"step\", \"rule\", \"reason\"}; the decision is auto, approve\n"
        "(asks a person) or deny. Uses only the command line: no settings files, no\n"
        "hooks. Does not check the arguments against the tool's schema. Accepts any name\n"
        "as a tool; an unknown one is unclassified. Accepts any text as a rule, also one\n"
        "that is an error elsewhere: as an allow rule it matches nothing, as an ask or\n"
        "deny rule it makes keel ask about every call of its tool. To judge a call by the\n"
        "settings, use keel permissions test.\n\n"
        "  keel inspect permission --deny 'Bash(rm *)' --tool Bash \\\n"
        "      --args '{\"command\": \"cd /tmp && rm -rf x\"}'\n",
    .options = options,
    .run = inspect_permission_run,
};
