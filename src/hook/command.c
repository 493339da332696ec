/* command.c - hooks that are command lines. */
#include "hook/executors.h"
#include "sys/clean_env.h"
#include "sys/env.h"

#define SHELL "bash"
#define SPARE_SHELL "/bin/sh"
#define GRACE_MS 500 /* between TERM and KILL, after the timeout */

/* --- the environment --- */

#define N_OWN_SETTINGS 3

static const char *const own_variables[N_OWN_SETTINGS] = {"PWD", "CLAUDE_PROJECT_DIR",
                                                          "KEEL_PROJECT_DIR"};

static bool is_own(struct str name)
{
    for (size_t i = 0; i < N_OWN_SETTINGS; i++)
        if (str_is(name, own_variables[i]))
            return true;
    return false;
}

static struct err *add_variable(const struct command_hooks *x, const struct json *variable,
                                struct arena *a, const char **ret_setting)
{
    struct str value;

    TRY(hook_resolve(json_str(variable), x->environment, &value));
    *ret_setting =
        arena_format(a, "%" STR_FMT "=%" STR_FMT, STR_ARG(variable->key), STR_ARG(value)).p;
    return NULL;
}

static struct err *make_environment(const struct command_hooks *x, const struct hook_job *job,
                                    struct arena *a, const char *const **ret_environment)
{
    const char **settings =
        ARENA_ARRAY(a, N_OWN_SETTINGS + (job->env ? job->env->n : 0) + 1, const char *);
    size_t n = 0;

    settings[n++] = arena_format(a, "%s=%s", own_variables[0], job->cwd).p;
    settings[n++] = arena_format(a, "%s=%s", own_variables[1], x->project_dir).p;
    settings[n++] = arena_format(a, "%s=%s", own_variables[2], x->project_dir).p;
    json_each (variable, job->env)
        if (!is_own(variable->key))
            TRY(add_variable(x, variable, a, &settings[n++]));
    *ret_environment =
        clean_environment(a, &(struct clean_env_options){.environment = x->environment,
                                                         .hidden = x->secret_variables,
                                                         .n_hidden = x->n_secret_variables,
                                                         .secrets = x->secrets,
                                                         .is_confined = x->is_confined,
                                                         .settings = settings});
    return NULL;
}

/* --- the command --- */

static struct launcher *launcher_of(const struct command_hooks *x, const struct hook_job *job)
{
    return job->is_project && x->project_launcher ? x->project_launcher : x->launcher;
}

static struct err *start_command(const struct command_hooks *x, const struct hook_job *job,
                                 struct arena *a, struct proc **ret_proc)
{
    const char *argv[] = {SHELL, "-c", arena_cstr(a, json_get_text(job->definition, "command")),
                          NULL};
    struct proc_spec spec = {.argv = argv,
                             .cwd = job->cwd,
                             .stdin_kind = PROC_STDIN_BYTES,
                             .stdin_bytes = job->input,
                             .grace_ms = GRACE_MS};
    struct err *e;

    TRY(make_environment(x, job, a, &spec.environment));
    e = launcher_start(launcher_of(x, job), &spec, ret_proc);
    if (!err_is(e, ERR_CONFIGURATION))
        return e;
    err_ignore(e, "without bash there is still sh; what else is wrong comes back with it");
    argv[0] = SPARE_SHELL;
    return launcher_start(launcher_of(x, job), &spec, ret_proc);
}

static int exit_code_of(const struct proc_status *s)
{
    return s->signalled ? 128 + s->signal : s->exit_code;
}

/* Lends the buffers to `output` while it collects. */
static struct err *collect_reply(struct proc *p, uint64_t timeout_ms, struct hook_reply *reply)
{
    struct proc_output output = {.out = reply->out, .err = reply->err};
    struct err *e = proc_collect(p, timeout_ms, &output);

    reply->out = output.out;
    reply->err = output.err;
    reply->is_cut = output.n_out_bytes > output.out.n;
    reply->timed_out = output.timed_out;
    reply->exit_code = exit_code_of(&output.status);
    return e;
}

static struct err *command_hook_run(struct hook_executor *executor, const struct hook_job *job,
                                    struct hook_reply *reply)
{
    struct command_hooks *x = (struct command_hooks *)executor;
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf notes = {0};
    struct proc *p = NULL;
    struct err *e, *after;

    if (!x->launcher)
        return err_new(ERR_CONFIGURATION, "commands are not available here");
    TRY(start_command(x, job, &a, &p));
    e = collect_reply(p, job->timeout_ms, reply);
    proc_free(p);
    after = launcher_ended(launcher_of(x, job), &notes); /* its notes are for the person */
    if (!e)
        return after;
    err_ignore(after, "the first error counts");
    return e;
}

void command_hooks_init(struct command_hooks *x, struct launcher *launcher, const char *project_dir,
                        const char *const *environment)
{
    *x = (struct command_hooks){.executor = {.type = "command", .run = command_hook_run},
                                .launcher = launcher,
                                .project_dir = project_dir,
                                .environment = environment};
}

struct err *hook_resolve(struct str value, const char *const *environment, struct str *ret_value)
{
    *ret_value = value;
    if (!env_is_reference(value))
        return NULL;
    *ret_value = env_resolve(value, environment);
    if (ret_value->n)
        return NULL;
    return err_hint(
        err_new(ERR_CONFIGURATION, "the variable named by %" STR_FMT " is not set", STR_ARG(value)),
        "set it before you start keel, or remove it from the hook's definition");
}
