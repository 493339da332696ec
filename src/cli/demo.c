/* demo.c - `keel demo`: a small task is done for real; only the model is a script. */
#include "cli/commands.h"

#include "cli/interrupt.h"
#include "cli/output/display.h"
#include "provider/script.h"
#include "sdk/agent/agent.h"
#include "sys/env.h"
#include "sys/fs.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const struct option options[] = {
    {"script", 0, "FILE", "play this script (YAML or JSON) instead of the bundled one"},
    {"fast", 0, NULL, "do not pause between the pieces"},
    {"keep", 0, NULL, "keep the directory"},
    {"no-next", 0, NULL, "do not print how to continue"},
    {0},
};

/* --- the task --- */

/* What the person wants, what may be done for it, and the model's part. */
#define DEMO_PROMPT "the test fails: find out why and fix it"
#define DEMO_RULE "Bash(sh test.sh)"
#define DEMO_MODE "acceptEdits"
#define DEMO_PATH_SIZE 4096

/* A price list with a mistake, and its test. */
static const struct {
    const char *name, *text;
} files[] = {
    {"price.sh", "# The price of N boxes: 3 each, or 2 each for ten or more.\n"
                 "if [ \"$1\" -gt 10 ]; then\n"
                 "    echo $(($1 * 2))\n"
                 "else\n"
                 "    echo $(($1 * 3))\n"
                 "fi\n"},
    {"test.sh", "check() {\n"
                "    cost=$(sh price.sh \"$1\")\n"
                "    [ \"$cost\" = \"$2\" ] && echo \"ok    $1 boxes cost $2\" && return\n"
                "    echo \"FAIL  $1 boxes cost $cost, should be $2\"\n"
                "    exit 1\n"
                "}\n"
                "check 2 6\n"
                "check 10 20\n"
                "check 11 22\n"},
};

static const char demo_script[] =
    "turns:\n"
    "  - - reasoning: I do not know yet what fails. The test will show it.\n"
    "      split: 6\n"
    "      delay_ms: 25\n"
    "    - text: I'll run the test to see what fails.\n"
    "      split: 7\n"
    "      delay_ms: 25\n"
    "    - tool: Bash\n"
    "      args: {command: sh test.sh, description: Run the test}\n"
    "    - usage: {input: 1412, output: 58}\n"
    "  - - text: Ten boxes cost too much. How is the price computed?\n"
    "      split: 7\n"
    "      delay_ms: 25\n"
    "    - tool: Read\n"
    "      args: {file_path: price.sh}\n"
    "    - usage: {input: 1530, output: 41}\n"
    "  - - text: The comment says ten or more, but the code says more than ten.\n"
    "      split: 7\n"
    "      delay_ms: 25\n"
    "    - tool: Edit\n"
    "      args: {file_path: price.sh, old_string: -gt 10, new_string: -ge 10}\n"
    "    - usage: {input: 1688, output: 77}\n"
    "  - - tool: Bash\n"
    "      args: {command: sh test.sh, description: Run the test again}\n"
    "    - usage: {input: 1803, output: 35}\n"
    "  - - text: |\n"
    "        The test passes now. price.sh:2 compared with -gt, so ten boxes did not get\n"
    "        the lower price; it uses -ge now. I changed nothing else.\n"
    "      split: 7\n"
    "      delay_ms: 15\n"
    "    - usage: {input: 1898, output: 52}\n";

/* Makes a directory with the files; `path` is a buffer of DEMO_PATH_SIZE bytes. */
static struct err *make_task(char *path)
{
    const char *temp = env_find(NULL, "TMPDIR");

    snprintf(path, DEMO_PATH_SIZE, "%s/keel-demo-XXXXXX", temp ? temp : "/tmp");
    if (!mkdtemp(path))
        return err_hint(
            err_errno(ERR_STORAGE, errno, "cannot create a directory in %s", temp ? temp : "/tmp"),
            "set TMPDIR to a directory that you can write");
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        AUTO(arena) struct arena a = {0};

        TRY(fs_write_atomic(fs_join(&a, path, files[i].name), str_of(files[i].text), 0600));
    }
    return NULL;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    remove(path); /* what cannot be removed makes its directory stay, too */
    return 0;
}

struct demo {
    struct arena arena;
    struct host *host;
    struct project *project;
    struct provider *provider;
    struct display show;
    struct event_subscriber subscriber;
    char dir[DEMO_PATH_SIZE];
};

/* --- before and after the runs --- */

static struct err *introduce(const struct demo *d)
{
    AUTO(strbuf) struct strbuf out = {0};

    strbuf_addf(&out,
                "%s$ keel -p --permission-mode %s --allowed-tools \"%s\" \\\n    \"%s\"%s\n\n",
                d->show.in_colour ? "\033[1m" : "", DEMO_MODE, DEMO_RULE, DEMO_PROMPT,
                d->show.in_colour ? "\033[0m" : "");
    return cli_print(strbuf_str(&out));
}

static struct err *conclude(const struct demo *d, const struct args *args)
{
    bool is_kept = args_has(args, "keep");
    AUTO(strbuf) struct strbuf out = {0};

    strbuf_addf(&out, "\n%s%s.\n", is_kept ? "The files are in " : "The files were in ", d->dir);
    if (!is_kept)
        strbuf_add_cstr(&out, "They are removed; --keep keeps them.\n");
    if (!args_has(args, "script"))
        strbuf_add_cstr(&out, "\nTools, files and permissions were real, the model was a script.");
    if (!args_has(args, "script") && !args_has(args, "no-next"))
        strbuf_add_cstr(&out, " With a model:\n"
                              "  export ANTHROPIC_API_KEY=...    keel doctor names the others\n"
                              "  keel \"what does this project do?\"");
    if (!args_has(args, "script"))
        strbuf_add_char(&out, '\n');
    return cli_print(strbuf_str(&out));
}

/* --- the runs --- */

/* One run, until its result. */
static struct err *play_run(struct demo *d, struct agent *a)
{
    AUTO(message) struct message *prompt = message_new(ROLE_USER, S(""));
    AUTO(run_result) struct run_result result = {0};

    message_add_text(prompt, S(DEMO_PROMPT));
    TRY(agent_run(a, &(struct run_input){.prompt = prompt}, &result));
    display_end_line(&d->show);
    return TAKE(result.error);
}

/* A script may hold more than one run; an error in one is reported, and the next begins. */
static struct err *demo_play(void *arg)
{
    static const char *const rules[] = {DEMO_RULE};
    struct demo *d = arg;
    AUTO(agent) struct agent *agent = NULL;

    d->subscriber = (struct event_subscriber){.on_event = display_event, .self = &d->show};
    TRY(agent_open(d->project,
                   &(struct agent_options){.provider = d->provider,
                                           .subscriber = &d->subscriber,
                                           .mode = DEMO_MODE,
                                           .allowed = rules,
                                           .n_allowed = ARRAY_LEN(rules)},
                   &agent));
    while (!script_provider_is_over(d->provider)) {
        AUTO(err) struct err *e = play_run(d, agent);

        if (d->show.error)
            return TAKE(d->show.error);
        if (err_is(e, ERR_CANCELLED))
            return TAKE(e);
        if (e)
            cli_tell_error(e);
        d->show.wants_blank = d->show.has_text;
    }
    return NULL;
}

/* --- the command --- */

/* The person's settings have no part in it: what they forbid could not be shown. */
static const char *const *without_homes(struct arena *a)
{
    const char **kept;
    size_t n = 0;

    while (environ[n])
        n++;
    kept = ARENA_ARRAY(a, n + 1, const char *);
    n = 0;
    for (char **variable = environ; *variable; variable++)
        if (!str_starts(str_of(*variable), S("HOME=")) &&
            !str_starts(str_of(*variable), S("KEEL_HOME=")))
            kept[n++] = *variable;
    return kept;
}

static struct err *open_script(struct demo *d, const struct args *args)
{
    const char *file = args_get(args, "script");
    AUTO(strbuf) struct strbuf script = {0};
    struct err *e;

    if (file)
        TRY(cli_read_file(file, &script));
    else
        strbuf_add_cstr(&script, demo_script);
    e = script_provider_new(S("demo"), strbuf_str(&script), &d->provider);
    return e && file ? err_wrap(e, "%s", strcmp(file, "-") == 0 ? "standard input" : file) : e;
}

static struct err *show_all(struct demo *d, const struct args *args)
{
    bool is_bundled = !args_has(args, "script");
    struct virtual_clock no_wait;

    d->host = host_new(&(struct host_options){.environment = without_homes(&d->arena)});
    TRY(project_open(d->host, &(struct project_options){.cwd = d->dir, .dir = d->dir},
                     &d->project));
    if (is_bundled)
        TRY(introduce(d));
    virtual_clock_init(&no_wait, clock_unix_ms(&clock_system));
    TRY(cli_run_task(args_has(args, "fast") ? &no_wait.clock : NULL, demo_play, d));
    return NULL;
}

static struct err *demo_run(const struct args *args, int *ret_status)
{
    struct demo d = {
        .show = {.flags = DISPLAY_TEXT | DISPLAY_REASONING | DISPLAY_TOOLS | DISPLAY_RESULTS |
                          DISPLAY_RETRIES,
                 .margin_fd = STDOUT_FILENO,
                 .in_colour = cli_has_colour(STDOUT_FILENO),
                 .is_visible = true},
    };
    struct err *e;

    TRY(args_count(args, 0, 0, "no arguments"));
    TRY(open_script(&d, args));
    e = make_task(d.dir);
    if (!e)
        e = show_all(&d, args);
    if (!args_has(args, "keep"))
        nftw(d.dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    if (!e)
        e = conclude(&d, args);
    provider_free(d.provider);
    project_unref(d.project);
    host_unref(d.host);
    arena_done(&d.arena);
    return e;
}

const struct command command_demo = {
    .name = "demo",
    .usage = "[--script FILE] [--fast] [--keep] [--no-next]",
    .group = "Use",
    .summary = "run a small demo task; needs no key and no network",
    .details = "The model is a script; tools, files and permissions are real. The task runs in a\n"
               "temporary directory.\n\n"
               "  keel demo --keep\n",
    .options = options,
    .run = demo_run,
};
