/* race.c - builds one sandbox after the other, as an agent does, while a command in the background
 * works against it.
 *
 * race [OPTION VALUE]... -- BACKGROUND... -- COMMAND...
 *
 * The background command runs in the sandbox too and says "ready" when it has begun. Then COMMAND
 * is run --tries times. What it prints is searched for --secret. The result is one line: how many
 * were run, how many were refused because the sandbox could not be built, how many printed the
 * secret. */
#include "sdk/sandbox/agent_sandbox.h"
#include "sys/loop.h"
#include "sys/proc.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_VALUES = 8, HANG_MS = 60000 };

struct race {
    const char *workspace, *home, *keel_home, *cwd, *secret;
    const char *added_dirs[MAX_VALUES];
    size_t n_added_dirs;
    struct str deny[MAX_VALUES];
    size_t n_deny;
    bool no_namespaces;
    int n_tries, n_agents;
    const char *const *background, *const *command;
    struct agent_sandbox sandbox, other;
    int n_run, n_refused, n_leaked;
    char why[256]; /* the last refusal */
};

static struct proc_spec spec_of(const struct race *r, const char *const *argv, const char *cwd)
{
    return (struct proc_spec){.argv = argv,
                              .environment = (const char *const *)environ,
                              .cwd = cwd ? cwd : r->workspace,
                              .merge_stderr = true};
}

static struct err *await_ready(struct proc *p)
{
    char text[64] = "";
    size_t n = 0, n_all = 0;

    do {
        TRY(proc_read(p, PROC_OUT, text + n_all, sizeof text - 1 - n_all, &n));
        n_all += n;
    } while (n > 0 && !strchr(text, '\n'));
    if (strncmp(text, "ready", 5) != 0)
        return err_new(ERR_INTERNAL, "the background command says \"%s\"", text);
    return NULL;
}

static struct err *end_command(struct launcher *l, struct proc *take_proc)
{
    AUTO(strbuf) struct strbuf notes = {0};

    proc_free(take_proc);
    return launcher_ended(l, &notes);
}

static struct err *try_once(struct race *r)
{
    struct proc_spec spec = spec_of(r, r->command, r->cwd);
    AUTO(proc_output) struct proc_output output = {0};
    struct proc *p = NULL;
    struct err *e = launcher_start(&r->sandbox.launcher, &spec, &p);

    if (e) {
        snprintf(r->why, sizeof r->why, "%s", e->text);
        r->n_refused++;
        err_ignore(e, "it is counted");
        return NULL;
    }
    r->n_run++;
    e = proc_collect(p, HANG_MS, &output);
    if (str_find(strbuf_str(&output.out), str_of(r->secret)) != STR_NONE)
        r->n_leaked++;
    TRY(e);
    return end_command(&r->sandbox.launcher, p);
}

static struct err *run_tries(struct race *r)
{
    struct launcher *l = r->n_agents == 2 ? &r->other.launcher : &r->sandbox.launcher;
    struct proc_spec spec = spec_of(r, r->background, NULL);
    struct proc *background = NULL;
    struct err *e;

    TRY(try_once(r));
    r->n_run = r->n_refused = 0;
    TRY(launcher_start(l, &spec, &background));
    e = await_ready(background);
    for (int i = 0; !e && i < r->n_tries; i++)
        e = try_once(r);
    if (!e)
        e = proc_end(background);
    if (e) {
        proc_free(background);
        return e;
    }
    return end_command(l, background);
}

static struct err *race_run(void *self)
{
    struct race *r = self;
    struct permission_rules rules = {.deny = r->deny, .n_deny = r->n_deny};
    struct agent_sandbox_options options = {.source = {.workspace = r->workspace,
                                                       .added_dirs = r->added_dirs,
                                                       .n_added_dirs = r->n_added_dirs,
                                                       .home = r->home,
                                                       .keel_home = r->keel_home,
                                                       .rules = &rules},
                                            .no_namespaces = r->no_namespaces};
    struct err *e;

    agent_sandbox_init(&r->sandbox, &options);
    agent_sandbox_init(&r->other, &options);
    e = run_tries(r);
    agent_sandbox_done(&r->other);
    agent_sandbox_done(&r->sandbox);
    return e;
}

/* The words up to the next "--", which ends them. */
static const char *const *take_words(char ***argv)
{
    char **words = *argv;

    while (**argv && strcmp(**argv, "--") != 0)
        ++*argv;
    if (**argv)
        *(*argv)++ = NULL;
    return (const char *const *)words;
}

static bool take_option(struct race *r, const char *name, const char *value)
{
    if (strcmp(name, "--workspace") == 0)
        r->workspace = value;
    else if (strcmp(name, "--home") == 0)
        r->home = value;
    else if (strcmp(name, "--keel-home") == 0)
        r->keel_home = value;
    else if (strcmp(name, "--cwd") == 0)
        r->cwd = value;
    else if (strcmp(name, "--secret") == 0)
        r->secret = value;
    else if (strcmp(name, "--tries") == 0)
        r->n_tries = atoi(value);
    else if (strcmp(name, "--agents") == 0)
        r->n_agents = atoi(value);
    else if (strcmp(name, "--way") == 0)
        r->no_namespaces = strcmp(value, "namespaces") != 0;
    else if (strcmp(name, "--add-dir") == 0 && r->n_added_dirs < MAX_VALUES)
        r->added_dirs[r->n_added_dirs++] = value;
    else if (strcmp(name, "--deny") == 0 && r->n_deny < MAX_VALUES)
        r->deny[r->n_deny++] = str_of(value);
    else
        return false;
    return true;
}

int main(int argc, char **argv)
{
    static struct race r;
    AUTO(err) struct err *e = NULL;

    for (argv++; *argv && strcmp(*argv, "--") != 0; argv += 2)
        if (!argv[1] || !take_option(&r, argv[0], argv[1])) {
            fprintf(stderr, "race: what is %s?\n", argv[0]);
            return EXIT_FAILURE;
        }
    if (argc < 4 || !*argv || !r.workspace || !r.secret)
        return EXIT_FAILURE;
    argv++;
    r.background = take_words(&argv);
    r.command = take_words(&argv);
    e = loop_run_once(race_run, &r);
    printf("%d run, %d refused, %d leaked%s%s%s%s\n", r.n_run, r.n_refused, r.n_leaked,
           r.why[0] ? "; last refusal: " : "", r.why, e ? "; " : "", e ? e->text : "");
    return e ? EXIT_FAILURE : EXIT_SUCCESS;
}
