/* sandbox.c - `keel sandbox`: runs a command as the agent's commands are run. */
#include "cli/commands.h"
#include "cli/flags/agent.h"
#include "cli/interrupt.h"
#include "cli/output/display.h"
#include "config/network_rules.h"
#include "config/passed_variables.h"
#include "sdk/agent/rule_set.h"
#include "sdk/sandbox/agent_sandbox.h"
#include "sdk/session_store.h"
#include "sys/clean_env.h"
#include "sys/proc.h"
#include "sys/work.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STATUS_NO_SANDBOX = 2, STATUS_NO_COMMAND = 127 };

static const struct option options[] = {
    {"no-namespaces", 0, NULL, "as on a machine without namespaces"},
    {"add-dir", 0, "DIR", "additional writable directory; repeatable"},
    {"allow-domain", 0, "DOMAIN", "allow this host and its subdomains; repeatable"},
    {"allow-private", 0, "DOMAIN", "the same for a host with a private address"},
    {0},
};

/* --- standard input and output ---
 *
 * Pipes, terminals and devices are passed on as they are. A file or a directory is not: a process
 * that holds its descriptor can change its mode and times, and walk from a directory to others. So
 * files are copied through pipes, and directories are not passed on. */

enum { CHUNK_BYTES = 16 << 10 };

static mode_t type_of(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 ? st.st_mode & S_IFMT : S_IFIFO;
}

static bool is_file(int fd)
{
    return type_of(fd) == S_IFREG || type_of(fd) == S_IFDIR;
}

/* Says in the spec what is passed on and what becomes a pipe. */
static void choose_stdio(struct proc_spec *spec)
{
    spec->stdin_kind = type_of(STDIN_FILENO) == S_IFREG   ? PROC_STDIN_PIPE
                       : type_of(STDIN_FILENO) == S_IFDIR ? PROC_STDIN_CLOSED
                                                          : PROC_STDIN_INHERIT;
    spec->stdout_kind =
        is_file(STDOUT_FILENO) || is_file(STDERR_FILENO) ? PROC_STDOUT_PIPE : PROC_STDOUT_INHERIT;
}

/* One stream on its way. */
struct copy {
    struct proc *proc;
    enum proc_stream stream;
    int fd;
    char *chunk;
    size_t n;
};

static struct err *read_chunk(void *arg)
{
    struct copy *c = arg;
    ssize_t n = read(c->fd, c->chunk, CHUNK_BYTES);

    if (n < 0)
        return err_errno(ERR_STORAGE, errno, "cannot read standard input");
    c->n = (size_t)n;
    return NULL;
}

static struct err *copy_in(void *arg)
{
    struct copy *c = arg;

    for (;;) {
        struct err *e;

        TRY(work_run(read_chunk, c));
        if (c->n == 0)
            break;
        e = proc_write(c->proc, str_make(c->chunk, c->n));
        if (err_is(e, ERR_TOOL_FAILED)) {
            err_ignore(e, "the command does not want the rest");
            return NULL;
        }
        TRY(e);
    }
    proc_close_stdin(c->proc);
    return NULL;
}

static struct err *write_chunk(void *arg)
{
    struct copy *c = arg;
    struct str rest = str_make(c->chunk, c->n);

    while (rest.n) {
        ssize_t n = write(c->fd, rest.p, rest.n);

        if (n < 0 && errno != EINTR)
            return err_errno(ERR_STORAGE, errno, "cannot write what the command prints");
        rest = str_skip(rest, n > 0 ? (size_t)n : 0);
    }
    return NULL;
}

static struct err *copy_out(void *arg)
{
    struct copy *c = arg;

    do {
        TRY(proc_read(c->proc, c->stream, c->chunk, CHUNK_BYTES, &c->n));
        TRY(work_run(write_chunk, c));
    } while (c->n > 0);
    return NULL;
}

/* Copies until the command has ended and its output with it. */
static struct err *follow_stdio(struct proc *p, const struct proc_spec *spec,
                                struct proc_status *ret_status)
{
    AUTO_FREE char *chunks = mem_alloc(3 * CHUNK_BYTES);
    struct copy in = {p, PROC_OUT, STDIN_FILENO, chunks, 0};
    struct copy out = {p, PROC_OUT, STDOUT_FILENO, chunks + CHUNK_BYTES, 0};
    struct copy err = {p, PROC_ERR, STDERR_FILENO, chunks + 2 * CHUNK_BYTES, 0};
    struct group input, output;
    struct err *e, *written;

    group_begin(&input, 0, 0);
    if (spec->stdin_kind == PROC_STDIN_PIPE)
        group_spawn(&input, "stdin", copy_in, &in);
    group_begin(&output, 0, 0);
    if (spec->stdout_kind == PROC_STDOUT_PIPE) {
        group_spawn(&output, "stdout", copy_out, &out);
        group_spawn(&output, "stderr", copy_out, &err);
    }
    e = proc_wait(p, ret_status);
    if (e)
        group_cancel(&output);
    written = group_end(&output);
    group_cancel(&input);
    err_ignore(group_end(&input), "the command has ended");
    if (!e)
        return written;
    err_ignore(written, "the first error counts");
    return e;
}

/* --- the sandbox --- */

struct sandbox_job {
    const struct args *args;
    struct project *project;
    struct arena arena;
    struct rule_set rules;
    struct net_rules network;
    struct event_stream notices;
    struct event_subscriber printer;
    int status;
};

static struct err *read_rules(struct sandbox_job *j)
{
    const char **dirs = ARENA_ARRAY(&j->arena, j->args->n_given + 1, const char *);
    struct agent_options added = {.added_dirs = dirs};
    const char *path;
    size_t at = 0;

    while ((path = args_next(j->args, "add-dir", &at)))
        TRY(agent_flags_directory("add-dir", path, &j->arena, &dirs[added.n_added_dirs++]));
    return rule_set_init(&j->rules, &j->arena, j->project, &added);
}

static struct err *read_domains(struct sandbox_job *j, const char *option, enum net_list list)
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
static struct err *read_network(struct sandbox_job *j)
{
    TRY(network_rules_from_settings(&j->arena, j->project->settings, &j->rules.gate_rules,
                                    &j->network));
    j->network.has_flags = true;
    TRY(read_domains(j, "allow-domain", NET_ALLOW));
    return read_domains(j, "allow-private", NET_ALLOW_PRIVATE);
}

static void open_sandbox(struct sandbox_job *j, struct agent_sandbox *sandbox)
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
                   .store_place =
                       session_store_place(p, session_store_name(p, NULL, &j->arena), &j->arena),
                   .environment = environment},
        .notices = &j->notices,
        .is_for_one = true,
        .no_namespaces = args_has(j->args, "no-namespaces"),
        .require_full = settings_bool(j->project->settings, "sandbox.requireFull", false),
        .network = &j->network,
        .environment = environment,
    };

    j->printer.on_event = display_notices;
    event_stream_subscribe(&j->notices, &j->printer);
    agent_sandbox_init(sandbox, &wanted);
}

static struct err *run_in(struct sandbox_job *j, struct launcher *launcher)
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
    choose_stdio(&spec);
    TRY(launcher_start(launcher, &spec, &p));
    e = follow_stdio(p, &spec, &status);
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

static struct err *sandbox_job_run(void *arg)
{
    struct sandbox_job *j = arg;
    AUTO(agent_sandbox) struct agent_sandbox sandbox = {0};

    if (!j->project->place.cwd)
        return err_new(ERR_VALIDATION, "the working directory is gone");
    TRY(read_rules(j));
    TRY(read_network(j));
    open_sandbox(j, &sandbox);
    agent_sandbox_recover(&sandbox);
    return run_in(j, &sandbox.launcher);
}

static bool has_supervisor(void)
{
    char path[4096];
    AUTO(err) struct err *e = proc_find_supervisor(path);

    return !e;
}

/* The exit status is the command's, so what keeps it from running has those of a shell; and 2 is
 * for the sandbox. */
static struct err *report_failure(struct err *take_error, const char *program, int *ret_status)
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

static struct err *sandbox_run(const struct args *args, int *ret_status)
{
    struct sandbox_job *j = mem_alloc(sizeof *j);
    struct err *e;

    *j = (struct sandbox_job){.args = args};
    e = args_count(args, 1, SIZE_MAX, "a command");
    if (!e)
        e = project_open(NULL, &(struct project_options){0}, &j->project);
    if (!e)
        e = cli_run_task(NULL, sandbox_job_run, j);
    *ret_status = j->status;
    project_unref(j->project);
    arena_done(&j->arena);
    mem_free(j);
    return report_failure(e, args->operands[0], ret_status);
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
    .run = sandbox_run,
};
