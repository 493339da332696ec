/* bash.c - the Bash tool: runs a command line, here or in the background. */
#include "sys/fs.h"
#include "sys/loop.h"
#include "tool/builtin.h"
#include "tool/shell/background.h"
#include "tool/shell/command.h"
#include "tool/shell/exit_code.h"
#include "tool/shell/follow.h"
#include "tool/shell/output.h"

enum {
    DEFAULT_TIMEOUT_MS = 120000,
    MAX_TIMEOUT_MS = 600000, /* as in the schema */
    /* To end a process tree that ignores TERM, and to read its last output. */
    ENDING_MS = 10000,
};

static uint64_t timeout_of(const struct json *args)
{
    int64_t ms = json_int_or(json_get(args, "timeout"), DEFAULT_TIMEOUT_MS);

    return ms > 0 ? (uint64_t)MIN(ms, (int64_t)MAX_TIMEOUT_MS) : DEFAULT_TIMEOUT_MS;
}

/* --- how models of other agents write a command ---
 *
 * An argument list becomes the command line that runs it, or the script of a shell that only runs a
 * script. A directory becomes a cd in a subshell: rules and people see where the command runs, and
 * the working directory stays. */

static bool is_plain(struct str word)
{
    for (size_t i = 0; i < word.n; i++) {
        char c = word.p[i];

        if (!(c >= '0' && c <= '9') && !(c >= 'A' && c <= 'Z') && !(c >= 'a' && c <= 'z') &&
            str_find_char(S("_-./:,+@%"), c) == STR_NONE)
            return false;
    }
    return word.n > 0;
}

/* Appends it as one word of a command line. */
static void add_word(struct strbuf *out, struct str word)
{
    if (is_plain(word)) {
        strbuf_add(out, word);
        return;
    }
    strbuf_add_char(out, '\'');
    for (size_t i = 0; i < word.n; i++) {
        if (word.p[i] == '\'')
            strbuf_add_cstr(out, "'\\'");
        strbuf_add_char(out, word.p[i]);
    }
    strbuf_add_char(out, '\'');
}

/* The script of ["bash", "-lc", "make && make check"]. Another shell may read it differently. */
static struct str script_of(const struct json *list)
{
    struct str shell = json_str(json_at(list, 0)), option = json_str(json_at(list, 1));

    if (list->n != 3 || !(str_is(shell, "bash") || str_is(shell, "/bin/bash")) ||
        !(str_is(option, "-c") || str_is(option, "-lc")))
        return S("");
    return json_str(json_at(list, 2));
}

static bool holds_words(const struct json *list)
{
    json_each (word, list)
        if (!json_is(word, JSON_STRING))
            return false;
    return list->n > 0;
}

static struct str line_of(const struct json *list, struct arena *a)
{
    AUTO(strbuf) struct strbuf line = {0};
    struct str script = script_of(list);

    if (script.n)
        return arena_str(a, script);
    json_each (word, list) {
        if (line.n)
            strbuf_add_char(&line, ' ');
        add_word(&line, json_str(word));
    }
    return arena_str(a, strbuf_str(&line));
}

/* The closing parenthesis is on a line of its own, since the command may end with a comment or a
 * here document. */
static struct str line_in(struct str directory, struct str command, struct arena *a)
{
    AUTO(strbuf) struct strbuf line = {0};

    strbuf_add_cstr(&line, "(cd -- ");
    add_word(&line, directory);
    strbuf_addf(&line, " || exit\n%" STR_FMT "\n)", STR_ARG(command));
    return arena_str(a, strbuf_str(&line));
}

static void bash_adapt(struct json *args, struct arena *a)
{
    const struct json *command = json_get(args, "command");
    const struct json *directory = json_get(args, "workdir");
    int64_t timeout_ms;

    if (json_is(command, JSON_ARRAY) && holds_words(command))
        json_set_str(a, args, "command", line_of(command, a));
    command = json_get(args, "command");
    if (json_is(command, JSON_STRING) && command->text.n && json_is(directory, JSON_STRING)) {
        if (directory->text.n && !str_is(directory->text, "."))
            json_set_str(a, args, "command", line_in(directory->text, command->text, a));
        json_remove(args, S("workdir"));
    }
    if (json_int64(json_get(args, "timeout"), &timeout_ms) && timeout_ms > MAX_TIMEOUT_MS)
        json_set_int(a, args, "timeout", MAX_TIMEOUT_MS);
}

/* --- before --- */

/* Returns false and fails the result if the command cannot run as it was meant. */
static bool check_command(struct str command, struct tool_result *r)
{
    if (str_find_char(command, '\0') != STR_NONE)
        tool_result_fail(r, "The command holds a NUL character, which no command can.");
    else if (command.n > COMMAND_MAX_BYTES)
        tool_result_fail(r,
                         "The command is %zu bytes long; the limit is %zu. Write it to a file and "
                         "run that.",
                         command.n, COMMAND_MAX_BYTES);
    return !r->is_error;
}

/* If the working directory is gone, the next call continues in the workspace. */
static bool check_cwd(struct tool_state *s, struct tool_result *r)
{
    const char *cwd = tool_state_cwd(s), *workspace = tool_state_workspace(s);

    if (fs_is_dir(cwd))
        return true;
    if (strcmp(cwd, workspace) == 0) {
        tool_result_fail(r, "The workspace %s no longer exists: commands have nowhere to run.",
                         cwd);
        return false;
    }
    tool_result_fail(r,
                     "The working directory %s no longer exists, so the command was not run. "
                     "The working directory is %s again: repeat the command from there.",
                     cwd, workspace);
    tool_state_set_cwd(s, workspace);
    return false;
}

/* A command may move to a directory where no other can start. The next call must not fail for the
 * same reason. */
static struct err *leave_cwd(struct tool_state *s, struct err *take_error)
{
    const char *workspace = tool_state_workspace(s);

    if (strcmp(tool_state_cwd(s), workspace) == 0)
        return take_error;
    tool_state_set_cwd(s, workspace);
    return err_hint(take_error, "the working directory is %s again: repeat the command from there",
                    workspace);
}

/* --- in the background --- */

#define HOW_IT_GOES_ON                                                                             \
    "as %s. You are told when it ends; until then read what it prints with BashOutput, or end it " \
    "with KillShell."

static void add_shell_details(const struct shell *k, struct tool_result *r)
{
    struct json *details = tool_result_details(r);

    json_set_str(&r->arena, details, "shellId", str_of(shell_id(k)));
    shell_add_details(k, &r->arena, details);
}

static struct err *run_in_background(struct tool_context *c, struct str command,
                                     struct tool_result *r)
{
    struct shell *k;

    TRY(background_start(c, command, r, &k));
    if (!k)
        return NULL;
    tool_result_addf(r, "Runs in the background " HOW_IT_GOES_ON, shell_id(k));
    add_shell_details(k, r);
    return NULL;
}

/* --- in the foreground --- */

struct foreground {
    struct tool_context *context;
    struct str command;
    const char *cwd; /* before the command */
    bool may_stay;   /* the call sets no timeout */
    struct output output;
    struct strbuf advice; /* why the command failed, and what to do */
};

static void foreground_done(struct foreground *x)
{
    output_done(&x->output);
    strbuf_done(&x->advice);
}
DEFINE_AUTO_VAL(foreground, foreground_done)

static void foreground_add(void *self, struct str bytes)
{
    struct foreground *x = self;

    output_add(&x->output, bytes);
}

/* If the sandbox refuses what the command does, more time does not help: end it. */
static bool foreground_may_stay(void *self)
{
    struct foreground *x = self;
    struct command_ending e = {.command = x->command,
                               .output = strbuf_str(&x->output.head),
                               .cwd = x->cwd,
                               .timed_out = true};

    launcher_advise(x->context->launcher, &e, &x->advice);
    return x->may_stay && x->advice.n == 0 && background_has_room(x->context->state);
}

static void end_line(struct tool_result *r)
{
    if (r->text.n > 0 && !str_ends(strbuf_str(&r->text), S("\n")))
        tool_result_addf(r, "\n");
}

/* The failure comes first, so that it is not overlooked. */
static void add_failure(const struct proc_status *status, const char *meaning,
                        struct tool_result *r)
{
    if (meaning) {
        tool_result_addf(r, "Exit code %d: %s.\n", status->exit_code, meaning);
        return;
    }
    if (status->signalled) {
        tool_result_addf(r, "Killed by ");
        follow_add_signal(&r->text, status->signal);
        tool_result_addf(r, "\n");
    } else {
        tool_result_addf(r, "Exit code %d\n", status->exit_code);
    }
    r->is_error = true;
}

/* The stored result needs this too: it does not hold all of the output either. */
static void add_gap_details(const struct output *output, bool has_status_line,
                            struct tool_result *r)
{
    struct output_gap gap = output_find_gap(output);
    struct json *told = json_new(&r->arena, JSON_OBJECT);

    if (gap.n_bytes == 0)
        return;
    json_set_int(&r->arena, told, "bytes", (int64_t)gap.n_bytes);
    json_set_int(&r->arena, told, "lines", (int64_t)gap.n_lines);
    json_set_int(&r->arena, told, "line", (int64_t)(gap.after_line + has_status_line));
    json_set_int(&r->arena, told, "totalBytes", (int64_t)gap.n_total_bytes);
    json_set_int(&r->arena, told, "totalLines", (int64_t)gap.n_total_lines);
    json_set(&r->arena, tool_result_details(r), TOOL_LEFT_OUT, told);
}

static struct err *write_text(const struct follow *f, const struct foreground *x, struct str place,
                              struct tool_result *r)
{
    const struct output *output = &x->output;
    const char *meaning = f->status.exited ? exit_code_meaning(x->command, f->status.exit_code,
                                                               strbuf_str(&output->head))
                                           : NULL;

    if (!f->timed_out && (f->status.signalled || f->status.exit_code != 0))
        add_failure(&f->status, meaning, r);
    if (f->status.lost_protection)
        tool_result_addf(r, "(" PROC_LOST_PROTECTION ")\n");
    add_gap_details(output, r->text.n > 0, r);
    TRY(output_add_text(output, &r->text));
    if (place.n) {
        end_line(r);
        strbuf_add(&r->text, place);
    }
    if (r->text.n == 0 && !f->timed_out)
        tool_result_addf(r, "(the command succeeded and printed nothing)");
    return NULL;
}

static void add_hints(const struct follow *f, struct foreground *x, struct tool_result *r)
{
    struct command_ending e = {.command = x->command,
                               .output = strbuf_str(&r->text),
                               .cwd = x->cwd,
                               .failed = r->is_error};

    if (f->timed_out) {
        end_line(r);
        tool_result_addf(r, "(tool failed: timeout) The command was ended after %g s.",
                         (double)f->timeout_ms / 1000);
        if (!x->advice.n)
            tool_result_addf(r,
                             " Give it a longer timeout (at most %d ms), or start it with "
                             "run_in_background: then it continues while you work, and you are "
                             "told when it ends.",
                             MAX_TIMEOUT_MS);
        tool_result_addf(r, "\n");
        r->is_error = true;
        r->code = ERR_TIMEOUT;
    } else {
        launcher_advise(x->context->launcher, &e, &x->advice);
    }
    if (x->advice.n) {
        end_line(r);
        tool_result_addf(r, "(%s)\n", strbuf_cstr(&x->advice));
    }
}

static void write_details(const struct follow *f, uint64_t duration_ms, const char *cwd,
                          struct tool_result *r)
{
    struct json *details = tool_result_details(r);
    struct arena *a = &r->arena;

    json_set(a, details, "exitCode",
             f->status.exited ? json_new_int(a, f->status.exit_code) : json_new(a, JSON_NULL));
    json_set(a, details, "signal",
             f->status.signalled ? json_new_int(a, f->status.signal) : json_new(a, JSON_NULL));
    json_set_int(a, details, "durationMs", (int64_t)duration_ms);
    json_set_bool(a, details, "timedOut", f->timed_out);
    json_set_str(a, details, "cwd", str_of(cwd));
}

/* The call sets no timeout, so the command keeps running: its work so far may have taken long. */
static struct err *leave_running(const struct follow *f, struct foreground *x,
                                 struct shell_command *take_running, struct tool_result *r)
{
    struct shell *k;

    add_gap_details(&x->output, /* has_status_line= */ false, r);
    TRY(output_add_text(&x->output, &r->text));
    k = background_adopt(x->context, x->command, take_running);
    end_line(r);
    tool_result_addf(
        r, "(Still running after %g s. It continues in the background " HOW_IT_GOES_ON ")\n",
        (double)f->timeout_ms / 1000, shell_id(k));
    add_shell_details(k, r);
    return NULL;
}

static struct err *run_here(struct tool_context *c, struct str command, const struct json *args,
                            struct tool_result *r)
{
    AUTO(shell_command) struct shell_command k = {0};
    AUTO(foreground)
    struct foreground x = {.context = c,
                           .command = command,
                           .cwd = arena_cstr(&r->arena, str_of(tool_state_cwd(c->state))),
                           .may_stay = !json_has(args, "timeout")};
    AUTO(strbuf) struct strbuf notes = {0}, place = {0};
    struct shell_progress progress = {.context = c};
    struct follow f = {.timeout_ms = timeout_of(args),
                       .on_output = foreground_add,
                       .may_stay = foreground_may_stay,
                       .self = &x,
                       .progress = &progress};
    uint64_t start_ms = loop_now_ms(task_loop());

    output_init(&x.output);
    TRY(shell_command_start(c, command, /* asks_place= */ true, &k));
    f.proc = k.proc;
    TRY(follow_run(&f));
    if (f.stays)
        return leave_running(&f, &x, &k, r);
    place_follow(c, x.cwd, shell_command_take_place(&k, &r->arena), &place);
    shell_command_end(&k, &notes);
    write_details(&f, loop_now_ms(task_loop()) - start_ms, tool_state_cwd(c->state), r);
    TRY(write_text(&f, &x, strbuf_str(&place), r));
    add_hints(&f, &x, r);
    notes_add(strbuf_str(&notes), r);
    return NULL;
}

/* --- the tool --- */

static struct err *bash_run(const struct tool *t, struct tool_context *c, const struct json *args,
                            struct tool_result *r)
{
    struct str command = json_get_text(args, "command");
    const struct json *unconfined = json_get(args, "dangerouslyDisableSandbox");
    struct err *e;

    if (!check_command(command, r) || !check_cwd(c->state, r))
        return NULL;
    if (json_bool(json_get(args, "run_in_background"), false))
        e = run_in_background(c, command, r);
    else
        e = run_here(c, command, args, r);
    if (!e && unconfined && json_bool(unconfined, true)) {
        end_line(r);
        tool_result_addf(r,
                         "(dangerouslyDisableSandbox has no effect: commands stay in the sandbox "
                         "unless the person switches it off)\n");
    }
    return err_is(e, ERR_TOOL_FAILED) || err_is(e, ERR_SANDBOX) ? leave_cwd(c->state, e) : e;
}

static uint64_t bash_timeout_ms(const struct tool *t, const struct json *args)
{
    return timeout_of(args) + ENDING_MS;
}

static const char description[] =
    "Runs a command line in bash and returns what it prints, stdout and stderr together. Use it to "
    "run programs: builds, tests, git. For files prefer Read, Edit, Write, Glob and Grep.\n"
    "- The working directory is kept from call to call; variables, functions and aliases are "
    "not.\n"
    "- There is no terminal and no input. Pass flags that answer questions (-y, --no-edit), and "
    "start no editor, pager or other interactive program.\n"
    "- Chain commands that depend on each other with &&. Quote paths that contain spaces.\n"
    "- The result of a command that fails begins with \"Exit code N\".\n"
    "- Whatever the command leaves running is ended with it. For servers, watchers and long jobs "
    "set run_in_background, then use BashOutput and KillShell; do not wait with sleep.\n"
    "- Credentials are removed from the environment.\n"
    "- Commands usually run in a sandbox that limits where they write and what they reach. "
    "\"Read-only file system\", \"Operation not permitted\" and host names that do not resolve "
    "are its refusals: nothing in a command changes that, so do not retry or work around it. Use "
    "$TMPDIR instead of /tmp, and tell the person what else you need.";

static const char schema[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"command\":{\"type\":\"string\",\"minLength\":1,"
    "\"description\":\"The command line; it may span several lines.\"},"
    "\"timeout\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":600000,"
    "\"description\":\"End the command after this many milliseconds. Without it, a command that "
    "takes more than 120000 continues in the background. Ignored with run_in_background.\"},"
    "\"description\":{\"type\":\"string\","
    "\"description\":\"What the command does, in five to ten words, for the person.\"},"
    "\"dangerouslyDisableSandbox\":{},"
    "\"run_in_background\":{\"type\":\"boolean\","
    "\"description\":\"Return at once with an id; the command continues in the background.\"}},"
    "\"required\":[\"command\"],\"additionalProperties\":false}";

struct tool tool_bash = {
    .name = "Bash",
    .description = description,
    .schema = schema,
    .aliases = "cmd=command timeoutMs=timeout timeout_ms=timeout runInBackground=run_in_background "
               "is_background=run_in_background background=run_in_background justification= "
               "cwd=workdir directory=workdir dir_path=workdir",
    .adapt = bash_adapt,
    .hidden = "dangerouslyDisableSandbox",
    .risk = RISK_EXECUTE,
    .needs = NEEDS_LAUNCHER,
    .permission_arg = "command",
    .begins_late = true,
    .max_chars = TOOL_CODING_MAX_CHARS,
    .run = bash_run,
    .timeout_ms = bash_timeout_ms,
};
