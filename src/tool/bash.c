/* bash.c - the Bash tool: runs a command line, here or in the background. */
#include "sys/fs.h"
#include "sys/loop.h"
#include "tool/builtin.h"
#include "tool/shell/background.h"
#include "tool/shell/command.h"
#include "tool/shell/exit_code.h"
#include "tool/shell/follow.h"
#include "tool/shell/forms.h"
#include "tool/shell/notes.h"
#include "tool/shell/output.h"
#include "tool/shell/place.h"

enum {
    DEFAULT_TIMEOUT_MS = 120000,
    MAX_TIMEOUT_MS = SHELL_MAX_TIMEOUT_MS, /* stands in the schema too */
    /* For ending a tree that does not heed TERM, and for reading what it says meanwhile. */
    ENDING_MS = 10000,
};

static uint64_t timeout_of(const struct json *args)
{
    int64_t ms = json_int_or(json_get(args, "timeout"), DEFAULT_TIMEOUT_MS);

    return ms > 0 ? (uint64_t)MIN(ms, (int64_t)MAX_TIMEOUT_MS) : DEFAULT_TIMEOUT_MS;
}

/* --- before --- */

/* False, and a failed result, when it cannot be run as it was meant. */
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

/* The next call goes on in the workspace, if that is there. */
static bool check_cwd(struct tool_session *s, struct tool_result *r)
{
    const char *cwd = tool_session_cwd(s), *workspace = tool_session_workspace(s);

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
    tool_session_set_cwd(s, workspace);
    return false;
}

/* A command may lead where no other can start: the next one is not to fail for the same reason. */
static struct err *leave_cwd(struct tool_session *s, struct err *take_error)
{
    const char *workspace = tool_session_workspace(s);

    if (strcmp(tool_session_cwd(s), workspace) == 0)
        return take_error;
    tool_session_set_cwd(s, workspace);
    return err_hint(take_error, "the working directory is %s again: repeat the command from there",
                    workspace);
}

/* --- in the background --- */

static struct err *run_in_background(struct tool_context *c, struct str command,
                                     struct tool_result *r)
{
    struct json *details;
    struct shell *k;

    TRY(background_start(c, command, r, &k));
    if (!k)
        return NULL;
    tool_result_addf(r,
                     "Runs in the background as %s. You are told when it ends; until then read "
                     "what it prints with BashOutput, end it "
                     "with KillShell.",
                     shell_id(k));
    details = tool_result_details(r);
    json_set_str(&r->arena, details, "shellId", str_of(shell_id(k)));
    shell_add_details(k, &r->arena, details);
    return NULL;
}

/* --- in the foreground --- */

static void add_output(void *self, struct str bytes)
{
    output_add(self, bytes);
}

static void end_line(struct tool_result *r)
{
    if (r->text.n > 0 && !str_ends(strbuf_str(&r->text), S("\n")))
        tool_result_addf(r, "\n");
}

/* What is wrong comes first, where nobody overlooks it. */
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

/* Whoever stores the result tells it, too: not all of what was printed can be read there. */
static void tell_gap(const struct output *output, bool has_status_line, struct tool_result *r)
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

static struct err *write_text(const struct follow *f, struct str command,
                              const struct output *output, struct str place, struct tool_result *r)
{
    const char *meaning = f->status.exited
                              ? exit_code_meaning(command, f->status.exit_code, output->head.n > 0)
                              : NULL;

    if (!f->timed_out && (f->status.signalled || f->status.exit_code != 0))
        add_failure(&f->status, meaning, r);
    if (f->status.lost_protection)
        tool_result_addf(r, "(" PROC_LOST_PROTECTION ")\n");
    tell_gap(output, r->text.n > 0, r);
    TRY(output_add_text(output, &r->text));
    if (place.n) {
        end_line(r);
        strbuf_add(&r->text, place);
    }
    if (r->text.n == 0 && !f->timed_out)
        tool_result_addf(r, "(the command succeeded and printed nothing)");
    return NULL;
}

/* Why it came to nothing, and what to do. Time alone is no remedy for what the sandbox refuses. */
static void add_hints(struct tool_context *c, const struct follow *f, struct str command,
                      const char *cwd, struct tool_result *r)
{
    struct command_ending e = {.command = command,
                               .output = strbuf_str(&r->text),
                               .cwd = cwd,
                               .failed = r->is_error,
                               .timed_out = f->timed_out};
    AUTO(strbuf) struct strbuf advice = {0};

    launcher_advise(c->launcher, &e, &advice);
    if (f->timed_out) {
        end_line(r);
        tool_result_addf(r, "(tool failed: timeout) The command was ended after %g s. ",
                         (double)f->timeout_ms / 1000);
        if (advice.n == 0)
            tool_result_addf(r,
                             "Give it a longer timeout (at most %d ms), or start it with "
                             "run_in_background: then it goes on while you work, and you are told "
                             "when it ends.\n",
                             MAX_TIMEOUT_MS);
        r->is_error = true;
        r->code = ERR_TIMEOUT;
    }
    if (advice.n) {
        end_line(r);
        tool_result_addf(r, "(%s)\n", strbuf_cstr(&advice));
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

static struct err *run_here(struct tool_context *c, struct str command, uint64_t timeout_ms,
                            struct tool_result *r)
{
    AUTO(shell_command) struct shell_command k = {0};
    AUTO(output) struct output output;
    AUTO(strbuf) struct strbuf notes = {0}, place = {0};
    struct shell_progress progress = {.context = c};
    struct follow f = {
        .timeout_ms = timeout_ms, .on_output = add_output, .self = &output, .progress = &progress};
    const char *before = arena_cstr(&r->arena, str_of(tool_session_cwd(c->session)));
    uint64_t start_ms = loop_now_ms(task_loop());

    output_init(&output);
    TRY(shell_command_start(c, command, /* asks_place= */ true, &k));
    f.proc = k.proc;
    TRY(follow_run(&f));
    place_follow(c, before, shell_command_take_place(&k, &r->arena), &place);
    shell_command_end(&k, &notes);
    write_details(&f, loop_now_ms(task_loop()) - start_ms, tool_session_cwd(c->session), r);
    TRY(write_text(&f, command, &output, strbuf_str(&place), r));
    add_hints(c, &f, command, before, r);
    notes_add(strbuf_str(&notes), r);
    return NULL;
}

/* --- the tool --- */

static struct err *run(const struct tool *t, struct tool_context *c, const struct json *args,
                       struct tool_result *r)
{
    struct str command = json_get_text(args, "command");
    const struct json *unconfined = json_get(args, "dangerouslyDisableSandbox");
    struct err *e;

    if (!check_command(command, r) || !check_cwd(c->session, r))
        return NULL;
    if (json_bool(json_get(args, "run_in_background"), false))
        e = run_in_background(c, command, r);
    else
        e = run_here(c, command, timeout_of(args), r);
    if (!e && unconfined && json_bool(unconfined, true)) {
        end_line(r);
        tool_result_addf(r,
                         "(dangerouslyDisableSandbox has no effect: commands stay in the sandbox "
                         "unless the person switches it off)\n");
    }
    return err_is(e, ERR_TOOL_FAILED) || err_is(e, ERR_SANDBOX) ? leave_cwd(c->session, e) : e;
}

static uint64_t timeout_ms(const struct tool *t, const struct json *args)
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
    "\"description\":\"End the command after this many milliseconds. Default: 120000. Ignored with "
    "run_in_background.\"},"
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
               "cwd=workdir directory=workdir dir_path=workdir",
    .adapt = shell_adapt_arguments,
    .hidden = "dangerouslyDisableSandbox",
    .risk = RISK_EXECUTE,
    .needs = NEEDS_LAUNCHER,
    .permission_arg = "command",
    .begins_late = true,
    .max_chars = TOOL_CODING_MAX_CHARS,
    .run = run,
    .timeout_ms = timeout_ms,
};
