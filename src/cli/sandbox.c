/* sandbox.c - `keel sandbox`: runs a command as the agent's commands are run. */
#include "cli/commands.h"
#include "cli/flags/agent.h"
#include "cli/interrupt.h"
#include "cli/output/display.h"
#include "cli/sandbox_stdio.h"
#include "config/network_rules.h"
#include "config/passed_variables.h"
#include "sdk/agent_sandbox.h"
#include "sdk/rule_set.h"
#include "sdk/shelf.h"
#include "sys/clean_env.h"
#include "sys/proc.h"

#include <unistd.h>

enum { STATUS_NO_SANDBOX = 2, STATUS_NO_COMMAND = 127 };

static const struct option options[] = {
    {"no-namespaces", 0, NULL, "as on a machine without namespaces"},
    {"add-dir", 0, "DIR", "additional writable directory; repeatable"},
    {"allow-domain", 0, "DOMAIN", "allow this host and its subdomains; repeatable"},
    {"allow-private", 0, "DOMAIN", "the same for a host with a private address"},
    {0},
};

struct job {
    const struct args *args;
    struct project *project;
    struct arena arena;
    struct rule_set rules;
    struct net_rules network;
    struct group tasks; /* of the proxy */
    struct event_stream notices;
    struct event_subscriber printer;
    int status;
};

static struct err *read_rules(struct job *j)
{
    const char **dirs = ARENA_ARRAY(&j->arena, j->args->n_given + 1, const char *);
    struct agent_options added = {.added_dirs = dirs};
    const char *path;
    size_t at = 0;

    while ((path = args_next(j->args, "add-dir", &at)))
        TRY(agent_flags_directory("add-dir", path, &j->arena, &dirs[added.n_added_dirs++]));
    return rule_set_init(&j->rules, &j->arena, j->project, &added);
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

/* What the settings allow, and what is given. */
static struct err *read_network(struct job *j)
{
    TRY(network_rules_from_settings(&j->arena, j->project->settings, &j->rules.gate_rules,
                                    &j->network));
    j->network.has_flags = true;
    TRY(read_domains(j, "allow-domain", NET_ALLOW));
    return read_domains(j, "allow-private", NET_ALLOW_PRIVATE);
}

static void open_sandbox(struct job *j, struct agent_sandbox *sandbox)
{
    const struct project *p = j->project;
    const char *const *environment = host_environment(p->host);
    struct agent_sandbox_options wanted = {
        .source = {.workspace = p->place.cwd,
                   .added_dirs = j->rules.added_dirs,
                   .n_added_dirs = j->rules.n_added_dirs,
                   .rules = &j->rules.gate_rules,
                   .home = p->place.home,
                   .keel_home = p->place.keel_home,
                   .store_place = shelf_place(p, shelf_name(p, NULL, &j->arena), &j->arena),
                   .environment = environment},
        .notices = &j->notices,
        .is_for_one = true,
        .no_namespaces = args_has(j->args, "no-namespaces"),
        .require_full = settings_bool(j->project->settings, "sandbox.requireFull", false),
        .network = &j->network,
        .environment = environment,
        .tasks = &j->tasks,
    };

    j->printer.on_event = show_notices;
    event_stream_subscribe(&j->notices, &j->printer);
    agent_sandbox_init(sandbox, &wanted);
}

static struct err *run_in(struct job *j, struct launcher *launcher)
{
    AUTO(strbuf) struct strbuf notes = {0};
    struct proc_status status = {0};
    struct proc *p = NULL;
    struct clean_env_options clean = {.is_confined = true,
                                      .is_attended = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)};
    struct proc_spec spec = {.argv = j->args->operands};
    struct err *e, *after;

    clean.passed = passed_variables(j->project->settings, &j->arena, &clean.n_passed);
    spec.environment = clean_environment(&j->arena, &clean);
    sandbox_stdio_choose(&spec);
    TRY(launcher_start(launcher, &spec, &p));
    e = sandbox_stdio_follow(p, &spec, &status);
    proc_free(p);
    after = launcher_ended(launcher, &notes);
    j->status = status.exited ? status.exit_code : 128 + status.signal;
    if (status.lost_protection)
        cli_tell(PROC_LOST_PROTECTION);
    if (!e)
        return after;
    err_ignore(after, "the first error counts");
    return e;
}

static struct err *run_job(void *arg)
{
    struct job *j = arg;
    AUTO(agent_sandbox) struct agent_sandbox sandbox = {0};
    struct err *e;

    if (!j->project->place.cwd)
        return err_new(ERR_VALIDATION, "the working directory is gone");
    TRY(read_rules(j));
    TRY(read_network(j));
    open_sandbox(j, &sandbox);
    agent_sandbox_recover(&sandbox);
    group_begin(&j->tasks, 0, GROUP_KEEP_GOING);
    e = run_in(j, &sandbox.launcher);
    group_cancel(&j->tasks);
    err_ignore(group_end(&j->tasks), "nobody is left to speak through the proxy");
    return e;
}

static bool has_supervisor(void)
{
    char path[4096];
    AUTO(err) struct err *e = proc_find_supervisor(path);

    return !e;
}

/* The exit status is the command's, so what keeps it from running has those of a shell; and 2 is
 * for the sandbox. */
static struct err *tell(struct err *take_error, const char *program, int *ret_status)
{
    if (!err_is(take_error, ERR_SANDBOX) && !err_is(take_error, ERR_CONFIGURATION))
        return take_error;
    *ret_status = err_is(take_error, ERR_SANDBOX) || !has_supervisor() ? STATUS_NO_SANDBOX
                                                                       : STATUS_NO_COMMAND;
    if (*ret_status == STATUS_NO_COMMAND && strchr(program, ' '))
        take_error = err_hint(take_error, "give its arguments as words of their own: keel sandbox "
                                          "-- ls -l; a line for the shell: sh -c 'make && ls'");
    cli_tell_error(take_error);
    err_free(take_error);
    return NULL;
}

static struct err *run(const struct args *args, int *ret_status)
{
    struct job *j = mem_alloc(sizeof *j);
    struct err *e;

    *j = (struct job){.args = args};
    e = args_count(args, 1, SIZE_MAX, "a command");
    if (!e)
        e = project_open(NULL, &(struct project_options){0}, &j->project);
    if (!e)
        e = cli_run(NULL, run_job, j);
    *ret_status = j->status;
    project_unref(j->project);
    arena_done(&j->arena);
    mem_free(j);
    return tell(e, args->operands[0], ret_status);
}

const struct command command_sandbox = {
    .name = "sandbox",
    .usage = "[--add-dir DIR]... [--allow-domain DOMAIN]... [--] COMMAND [ARGUMENT]...",
    .group = "Set up",
    .summary = "run a command in the agent's sandbox",
    .details = "The command may write in the working directory, which is its workspace, and in\n"
               "$TMPDIR. It reaches only the domains that are allowed, sees no secrets and\n"
               "leaves nothing running. Deny rules of the settings apply. Exits with the\n"
               "command's status, with 127 if the command cannot be run, or with 2 if the\n"
               "sandbox cannot be built.\n"
               "\n"
               "Examples:\n"
               "  keel sandbox -- make test\n"
               "  keel sandbox -- sh -c 'curl https://example.com || echo no network'\n"
               "  keel sandbox --allow-domain registry.npmjs.org -- npm ci\n",
    .options = options,
    .operands = COMPLETE_PROGRAMS,
    .takes_command = true,
    .run = run,
};
