/* command.c - starts a shell and learns its last working directory.
 *
 * bash reads the file that BASH_ENV names before its command. That file is a pipe with a few lines.
 * They close what the command must not see, and make bash print its directory to another pipe when
 * it exits. The command itself stays untouched, including its line numbers and syntax errors. For
 * other shells the same lines precede the command. A command that sets its own trap on EXIT
 * replaces ours; then the directory is not followed. */
#include "tool/shell/command.h"

#include "base/quoted.h"
#include "base/utf8.h"
#include "sys/clean_env.h"
#include "sys/env.h"
#include "sys/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

/* More than a pipe holds: anything longer was not written by the shell. */
#define MAX_CWD_BYTES ((size_t)128 << 10)

/* How a shell prints its directory: the path and a newline, as pwd prints it, then a NUL. Since
 * errors are discarded, `set -x` does not show it; only `trap` and `set -v` do. */
#define PRINT_CWD(fd) "{ { command pwd; printf \"\\\\0\"; } >&" fd " || :; } 2>/dev/null"

/* The pipes arrive as 3 and 4, numbers that commands like to use. They do not use 47. */
#define BASH_START "BASH_ENV=/proc/self/fd/3"
#define BASH_PROLOGUE                                                                              \
    "unset BASH_ENV\n"                                                                             \
    "exec 47>&4 3<&- 4>&-\n"                                                                       \
    "trap '" PRINT_CWD("47") "' EXIT\n"
/* A shell that execs another program runs no trap on EXIT, so it prints before. Not if exec only
 * redirects. */
#define IS_NO_EXEC "{ [[ $BASH_COMMAND != exec\\ [!0-9\\<\\>\\&{]* ]]; } 2>/dev/null"
#define BASH_EXEC_PROLOGUE "trap '" IS_NO_EXEC " || " PRINT_CWD("47") "' DEBUG\n"

/* --- whether the shell must print its directory, and how --- */

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr(" -_./=,:@%+", c));
}

static bool runs_other_text(struct str text)
{
    struct str word;

    while (str_split(&text, ' ', &word))
        if (str_is(word, ".") || str_is(word, "source") || str_is(word, "eval"))
            return true;
    return false;
}

/* In plain words, a command that changes the directory appears by its name. If there is none, not
 * asking saves a process: bash becomes the last command of a line unless it has a trap to run. */
bool command_may_move(struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (!is_plain(text.p[i]))
            return true;
    return str_find(text, S("cd")) != STR_NONE || str_find(text, S("pushd")) != STR_NONE ||
           str_find(text, S("popd")) != STR_NONE || runs_other_text(text);
}

enum cwd_way { CWD_NOT_PRINTED, CWD_VIA_BASH, CWD_VIA_SH };

/* Can this shell print its directory, and how? In POSIX mode bash ignores BASH_ENV. */
static enum cwd_way cwd_way_of(const char *shell, const char *const *environment)
{
    static const char *const like_sh[] = {"sh", "dash", "ash", "ksh", "mksh", "zsh"};
    struct str name = str_of(shell);

    name = str_skip(name, str_rfind_char(name, '/') + 1); /* STR_NONE + 1 is 0 */
    if (str_is(name, "bash"))
        return env_find(environment, "POSIXLY_CORRECT") ? CWD_VIA_SH : CWD_VIA_BASH;
    for (size_t i = 0; i < ARRAY_LEN(like_sh); i++)
        if (str_is(name, like_sh[i]))
            return CWD_VIA_SH;
    return CWD_NOT_PRINTED;
}

/* --- pipes --- */

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

struct pipes {
    int prologue;        /* read by bash */
    int place, place_in; /* our end, and the shell's end */
};

static void pipes_done(struct pipes *p)
{
    close_fd(&p->prologue);
    close_fd(&p->place);
    close_fd(&p->place_in);
}
DEFINE_AUTO_VAL(pipes, pipes_done)

static struct err *pipe_error(int error)
{
    return err_hint(err_errno(ERR_TOOL_FAILED, error, "cannot create a pipe for a command"),
                    "if too many files are open, raise the limit with ulimit -n");
}

/* Does not block: no process gets stuck in it. */
static struct err *open_place(struct pipes *p)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
        return pipe_error(errno);
    p->place = ends[0];
    p->place_in = ends[1];
    return NULL;
}

static struct err *open_prologue(struct pipes *p, struct str text)
{
    struct str prologue = str_find(text, S("exec")) == STR_NONE
                              ? S(BASH_PROLOGUE)
                              : S(BASH_PROLOGUE BASH_EXEC_PROLOGUE);
    ssize_t n;
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return pipe_error(errno);
    p->prologue = ends[0];
    n = write(ends[1], prologue.p, prologue.n); /* an empty pipe holds this much */
    close(ends[1]);
    return n == (ssize_t)prologue.n ? NULL : pipe_error(EIO);
}

/* --- starting --- */

/* The prologue precedes the command on its first line, since messages count lines. `sh` only knows
 * descriptors of one digit: use one that the command's text does not contain. */
static const char *add_prologue(struct arena *a, struct str text)
{
    for (int fd = 9; fd > 3; fd--)
        if (str_find_char(text, (char)('0' + fd)) == STR_NONE)
            return arena_format(a, "exec %d>&3 3>&-; trap '" PRINT_CWD("%d") "' EXIT; %" STR_FMT,
                                fd, fd, STR_ARG(text))
                .p;
    return arena_cstr(a, text);
}

static const char *const *environment_for(const struct tool_context *c, struct arena *a,
                                          struct str text, const char *start)
{
    const struct tool_config *config = c->config;
    struct str pwd = arena_format(a, "PWD=%s", tool_state_cwd(c->state));
    const char *const settings[] = {pwd.p, start, NULL};
    struct str *hidden = ARENA_ARRAY(a, config->n_secret_variables + 1, struct str);
    size_t n = 0;

    for (; n < config->n_secret_variables; n++)
        hidden[n] = config->secret_variables[n];
    if (config->search.key_variable.n)
        hidden[n++] = config->search.key_variable;
    return clean_environment(a, &(struct clean_env_options){.environment = config->environment,
                                                            .hidden = hidden,
                                                            .n_hidden = n,
                                                            .secrets = config->secrets,
                                                            .passed = config->passed_variables,
                                                            .n_passed = config->n_passed_variables,
                                                            .command = text,
                                                            .is_confined = config->is_confined,
                                                            .settings = settings});
}

/* The environment of the command is built while the journal records its start. */
static struct err *shell_command_begin(void *self)
{
    return tool_begin(self);
}

static struct err *start_in(const struct tool_context *c, const char *shell, struct str text,
                            bool asks_place, struct shell_command *ret_command)
{
    AUTO(arena) struct arena a = {0};
    AUTO(pipes) struct pipes pipes = {-1, -1, -1};
    enum cwd_way way = asks_place && command_may_move(text)
                           ? cwd_way_of(shell, c->config->environment)
                           : CWD_NOT_PRINTED;
    const char *argv[] = {shell, "-c", NULL, NULL};
    int fds[2];
    struct proc_spec spec = {.argv = argv,
                             .cwd = tool_state_cwd(c->state),
                             .stdin_kind = PROC_STDIN_CLOSED,
                             .merge_stderr = true,
                             .before_start = shell_command_begin,
                             .before_self = (void *)c,
                             .observer = c->observer,
                             .extra_fds = fds};

    argv[2] = way == CWD_VIA_SH ? add_prologue(&a, text) : arena_cstr(&a, text);
    spec.environment = environment_for(c, &a, text, way == CWD_VIA_BASH ? BASH_START : NULL);
    if (way == CWD_VIA_BASH) {
        TRY(open_prologue(&pipes, text));
        fds[spec.n_extra_fds++] = pipes.prologue;
    }
    if (way != CWD_NOT_PRINTED) {
        TRY(open_place(&pipes));
        fds[spec.n_extra_fds++] = pipes.place_in;
    }
    TRY(launcher_start(c->launcher, &spec, &ret_command->proc));
    ret_command->launcher = c->launcher;
    ret_command->place_fd = pipes.place;
    pipes.place = -1;
    return NULL;
}

struct err *shell_command_start(const struct tool_context *c, struct str text, bool asks_place,
                                struct shell_command *ret_command)
{
    struct str chosen = c->config->shell;
    AUTO_FREE char *shell =
        chosen.n ? str_dup(chosen) : mem_strdup(shell_of(c->config->environment));

    return start_in(c, shell, text, asks_place, ret_command);
}

void shell_command_end(struct shell_command *k, struct strbuf *notes)
{
    AUTO(err) struct err *e = NULL;
    AUTO_FREE char *message = NULL;

    if (!k->proc)
        return;
    proc_free(TAKE(k->proc));
    close_fd(&k->place_fd);
    e = launcher_ended(k->launcher, notes);
    if (!e)
        return;
    message = err_message(e);
    strbuf_addf(notes, "cannot check what the command changed: %s\n", message);
}

void shell_command_done(struct shell_command *k)
{
    AUTO(strbuf) struct strbuf notes = {0};

    shell_command_end(k, &notes);
}

void notes_add(struct str notes, struct tool_result *result)
{
    struct json *list;
    struct str line;

    if (notes.n == 0)
        return;
    if (result->text.n > 0 && !str_ends(strbuf_str(&result->text), S("\n")))
        tool_result_addf(result, "\n");
    tool_result_addf(result,
                     "The sandbox checked what the command changed, and told the person:\n");
    list = json_new(&result->arena, JSON_ARRAY);
    while (str_split(&notes, '\n', &line)) {
        if (line.n == 0)
            continue;
        tool_result_addf(result, "- %" STR_FMT "\n", STR_ARG(line));
        json_push(list, json_new_str(&result->arena, arena_str(&result->arena, line)));
    }
    json_set(&result->arena, tool_result_details(result), "sandboxNotes", list);
}

/* --- where it went --- */

/* The last complete record; empty: there is none. */
static struct str last_record(struct str told)
{
    size_t end = str_rfind_char(told, '\0');

    if (end == STR_NONE)
        return (struct str){0};
    told = str_slice(told, 0, end);
    return str_skip(told, str_rfind_char(told, '\0') + 1); /* STR_NONE + 1 is 0 */
}

static void read_printed(int fd, struct strbuf *out)
{
    ssize_t n;

    do {
        char *at = strbuf_reserve(out, PATH_MAX);

        n = at ? read(fd, at, PATH_MAX) : 0;
        strbuf_grew(out, n > 0 ? (size_t)n : 0);
    } while (n > 0);
}

const char *shell_command_take_place(struct shell_command *k, struct arena *a)
{
    AUTO(strbuf) struct strbuf told;
    struct str place;
    const char *path;

    strbuf_init(&told, MAX_CWD_BYTES);
    if (k->place_fd >= 0)
        read_printed(k->place_fd, &told);
    close_fd(&k->place_fd);
    if (strbuf_is_over(&told))
        return NULL;
    place = last_record(strbuf_str(&told));
    if (!str_starts(place, S("/")) || !str_ends(place, S("\n")))
        return NULL;
    path = arena_cstr(a, str_slice(place, 0, place.n - 1));
    return fs_is_dir(path) ? path : NULL;
}

/* Both paths are without links. */
static bool is_below(const char *real, const char *dir, struct arena *a)
{
    struct str top = str_of(fs_resolve(a, dir)), path = str_of(real);

    return str_is(top, "/") || str_eq(path, top) || (str_starts(path, top) && path.p[top.n] == '/');
}

static bool is_workplace(const struct tool_context *c, const char *place, struct arena *a)
{
    const char *real = fs_resolve(a, place), *workspace = tool_state_workspace(c->state);
    bool is_inside = is_below(real, workspace, a);

    for (size_t i = 0; !is_inside && i < c->config->n_added_dirs; i++) {
        const char *dir = c->config->added_dirs[i];

        is_inside = is_below(real, *dir == '/' ? dir : fs_join(a, workspace, dir), a);
    }
    return is_inside;
}

/* Says where the session works now. With `why`, it is there again because `other` cannot be used.
 */
static void add_cwd(struct strbuf *out, const char *place, const char *other, const char *why)
{
    strbuf_addf(out, "The working directory is %s", why ? "" : "now ");
    quoted_add(out, str_of(place));
    if (why) {
        strbuf_add_cstr(out, " again: ");
        quoted_add(out, str_of(other));
        strbuf_add_cstr(out, why);
    }
    strbuf_add_cstr(out, ".\n");
}

/* A call that did not change the directory does not undo the change of a concurrent one. */
static void follow_shell(const struct tool_context *c, const char *before, const char *place,
                         struct strbuf *out)
{
    AUTO(arena) struct arena a = {0};

    if (!place || strcmp(place, before) == 0 || !utf8_is_valid(str_of(place)))
        return;
    if (!is_workplace(c, place, &a)) {
        add_cwd(out, tool_state_cwd(c->state), place, " is outside the workspace");
        return;
    }
    tool_state_set_cwd(c->state, place);
    add_cwd(out, place, NULL, NULL);
}

void place_follow(const struct tool_context *c, const char *before, const char *place,
                  struct strbuf *out)
{
    const char *workspace = tool_state_workspace(c->state), *kept;

    follow_shell(c, before, place, out);
    kept = tool_state_cwd(c->state);
    if (fs_is_dir(kept) || strcmp(kept, workspace) == 0)
        return;
    add_cwd(out, workspace, kept, " no longer exists");
    tool_state_set_cwd(c->state, workspace);
}
