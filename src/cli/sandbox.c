/* sandbox.c - `keel sandbox`: runs a command as the agent's commands are run. */
#include "sandbox/sandbox.h"
#include "cli/commands.h"
#include "cli/run.h"
#include "cli/sandbox_stdio.h"
#include "sandbox/proxy.h"
#include "sys/clean_env.h"
#include "sys/env.h"
#include "sys/fs.h"
#include "sys/work.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

enum { STATUS_NO_SANDBOX = 2, STATUS_NO_COMMAND = 127 };

static const struct option options[] = {
    {"no-namespaces", 0, NULL, "as on a machine where namespaces are forbidden"},
    {"add-dir", 0, "DIR", "a further directory that may be written; may be repeated"},
    {"allow-domain", 0, "DOMAIN", "a host that may be reached, and all below it"},
    {"allow-private", 0, "DOMAIN", "the same for one with a private address"},
    {0},
};

struct job {
    struct arena arena;
    const struct args *args;
    struct sandbox_policy policy;
    struct net_rules network;
    char workspace[PATH_MAX], home[PATH_MAX], tmp_dir[PATH_MAX];
    int status;
};

static const char *real_or(const char *path, char real[PATH_MAX])
{
    return path && realpath(path, real) ? real : NULL;
}

static struct err *read_places(struct job *j)
{
    const char *keel_home = env_find(NULL, "KEEL_HOME");

    if (!getcwd(j->workspace, sizeof j->workspace))
        return err_errno(ERR_VALIDATION, errno, "cannot tell the working directory");
    j->policy.workspace = j->workspace;
    j->policy.home = real_or(env_find(NULL, "HOME"), j->home);
    if (!keel_home && j->policy.home)
        keel_home = fs_join(&j->arena, j->policy.home, ".keel");
    j->policy.hidden =
        sandbox_secret_places(&j->arena, j->policy.home, keel_home, &j->policy.n_hidden);
    return NULL;
}

static struct err *read_added(struct job *j)
{
    const char **writable = ARENA_ARRAY(&j->arena, j->args->n_given + 1, const char *);
    const char *path;
    size_t at = 0;

    while ((path = args_next(j->args, "add-dir", &at))) {
        char real[PATH_MAX];

        if (!realpath(path, real) || !fs_is_dir(real))
            return err_errno(ERR_VALIDATION, errno, "%s is no directory", path);
        writable[j->policy.n_writable++] = arena_cstr(&j->arena, str_of(real));
    }
    j->policy.writable = writable;
    return NULL;
}

static struct err *read_domains(struct job *j, const char *option, enum net_list list)
{
    const char *pattern;
    size_t at = 0;

    while ((pattern = args_next(j->args, option, &at))) {
        struct err *e = net_rules_add(&j->arena, &j->network, list, str_of(pattern));

        if (e)
            return err_wrap(e, "--%s", option);
    }
    return NULL;
}

static struct err *find_protected(void *arg)
{
    struct job *j = arg;

    return sandbox_protected_places(&j->arena, j->policy.workspace, &j->policy.read_only,
                                    &j->policy.n_read_only);
}

static struct err *run_in(struct sandbox *sandbox, struct job *j)
{
    static const char *const none[] = {NULL};
    AUTO(proc) struct proc *p = NULL;
    struct proc_status status;
    struct proc_spec spec = {
        .argv = j->args->operands,
        .environment = clean_environment(&j->arena, NULL, NULL, 0, NULL, none),
    };

    sandbox_stdio_choose(&spec);
    TRY(launcher_start(&sandbox->launcher, &spec, &p));
    TRY(sandbox_stdio_follow(p, &spec, &status));
    j->status = status.exited ? status.exit_code : 128 + status.signal;
    return NULL;
}

static void tell_notes(struct str notes)
{
    struct str line;

    while (str_split(&notes, '\n', &line))
        if (line.n)
            cli_tell("%" STR_FMT, STR_ARG(line));
}

/* Also when the person has interrupted the command. */
static struct err *look_after(struct sandbox *sandbox)
{
    AUTO(strbuf) struct strbuf notes = {0};
    struct err *e = NULL;

    task_shield_begin();
    if (sandbox->n_running)
        e = sandbox_command_ended(sandbox, &notes);
    task_shield_end();
    tell_notes(strbuf_str(&notes));
    return e;
}

static struct err *run_confined(struct job *j)
{
    struct sandbox sandbox;
    struct err *e, *after;

    TRY(sandbox_make_tmp(j->tmp_dir));
    j->policy.tmp_dir = j->tmp_dir;
    sandbox_init(&sandbox, &j->policy);
    e = run_in(&sandbox, j);
    after = look_after(&sandbox);
    sandbox_done(&sandbox);
    sandbox_remove_tmp(j->tmp_dir);
    if (!e)
        return after;
    err_ignore(after, "the first error counts");
    return e;
}

static void tell_refusal(void *self, struct str host, const struct err *why)
{
    const char *hint = err_find_hint(why);

    (void)self;
    (void)host;
    cli_tell("%s%s%s", why->text, hint ? "; " : "", hint ? hint : "");
}

/* The proxy lives as long as the command. */
static struct err *run_job(void *arg)
{
    AUTO(proxy) struct proxy *proxy = NULL;
    struct job *j = arg;
    struct group serving;
    struct err *e;

    TRY(work_run(find_protected, j));
    if (!net_rules_allow_any(&j->network))
        return run_confined(j);
    group_begin(&serving, 0, GROUP_KEEP_GOING);
    proxy = proxy_new(&(struct proxy_options){
        .rules = &j->network, .group = &serving, .on_refusal = tell_refusal});
    j->policy.network = SANDBOX_PROXY_ONLY;
    j->policy.proxy = proxy;
    e = run_confined(j);
    group_cancel(&serving);
    err_ignore(group_end(&serving), "the command has ended");
    return e;
}

/* The exit status is the command's, so what keeps it from running has those of a shell; and 2 is
 * for the sandbox. */
static struct err *tell(struct err *take_error, int *ret_status)
{
    if (!err_is(take_error, ERR_SANDBOX) && !err_is(take_error, ERR_CONFIGURATION))
        return take_error;
    *ret_status = err_is(take_error, ERR_SANDBOX) ? STATUS_NO_SANDBOX : STATUS_NO_COMMAND;
    cli_tell_error(take_error);
    err_free(take_error);
    return NULL;
}

static struct err *run(const struct args *args, int *ret_status)
{
    struct job *j = mem_alloc(sizeof *j);
    struct err *e;

    *j = (struct job){.args = args, .policy.no_namespaces = args_has(args, "no-namespaces")};
    e = args_count(args, 1, SIZE_MAX, "a command");
    if (!e)
        e = read_places(j);
    if (!e)
        e = read_added(j);
    if (!e)
        e = read_domains(j, "allow-domain", NET_ALLOW);
    if (!e)
        e = read_domains(j, "allow-private", NET_ALLOW_PRIVATE);
    if (!e)
        e = cli_run(NULL, run_job, j);
    *ret_status = j->status;
    arena_done(&j->arena);
    mem_free(j);
    return tell(e, ret_status);
}

const struct command command_sandbox = {
    .name = "sandbox",
    .usage = "[--add-dir DIR]... [--allow-domain DOMAIN]... [--] COMMAND [ARGUMENT]...",
    .group = "Set up",
    .summary = "run a command as the agent's commands are run",
    .details = "The command may write in the working directory, which is its workspace, and in\n"
               "$TMPDIR. It has no network but for the domains that are allowed, sees no\n"
               "secrets and leaves nothing running.\n"
               "The exit status is the command's; 2 when the sandbox cannot be built.\n"
               "\n"
               "Examples:\n"
               "  keel sandbox -- make test\n"
               "  keel sandbox -- sh -c 'curl https://example.com || echo no network'\n"
               "  keel sandbox --allow-domain registry.npmjs.org -- npm ci\n",
    .options = options,
    .takes_command = true,
    .run = run,
};
