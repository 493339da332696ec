/* git_todo.c - lines of a rebase that git would run. */
#include "sandbox/guard/git_todo.h"

#include "base/git_config.h"
#include "sandbox/guard/baseline.h"
#include "sandbox/guard/open_below.h"
#include "sandbox/guard/quarantine.h"
#include "sys/locked_file.h"
#include "sys/temp_file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { MAX_BYTES = 4 << 20 };

const char *const git_todo_paths[] = {"rebase-merge/git-rebase-todo", "sequencer/todo", NULL};

/* --- lists --- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static struct str trim(struct str line)
{
    while (line.n && is_blank(line.p[0]))
        line = str_skip(line, 1);
    while (line.n && is_blank(line.p[line.n - 1]))
        line.n--;
    return line;
}

/* "exec COMMAND" or "x COMMAND", trimmed. */
static bool is_exec(struct str line)
{
    size_t n = str_starts(line, S("exec")) ? 4 : str_starts(line, S("x")) ? 1 : 0;

    return n && (line.n == n || is_blank(line.p[n]));
}

/* With what ends it. */
static struct str next_line(struct str *rest)
{
    size_t end = str_find_char(*rest, '\n');
    struct str line = str_slice(*rest, 0, end == STR_NONE ? rest->n : end + 1);

    *rest = str_skip(*rest, line.n);
    return line;
}

static struct str without_end(struct str line)
{
    return trim(str_ends(line, S("\n")) ? str_slice(line, 0, line.n - 1) : line);
}

void git_todo_find(struct str text, struct strbuf *lines)
{
    while (text.n) {
        struct str line = without_end(next_line(&text));

        if (is_exec(line))
            strbuf_addf(lines, "%" STR_FMT "\n", STR_ARG(line));
    }
}

static bool has_line(struct str lines, struct str wanted)
{
    struct str line;

    while (str_split(&lines, '\n', &line))
        if (str_eq(line, wanted))
            return true;
    return false;
}

bool git_todo_strip(struct str text, struct str known, struct strbuf *out)
{
    bool has_left_out = false;

    while (text.n) {
        struct str line = next_line(&text);
        struct str what = without_end(line);

        if (is_exec(what) && !has_line(known, what))
            has_left_out = true;
        else
            strbuf_add(out, line);
    }
    return has_left_out;
}

/* --- strategies --- */

static bool is_strategy(struct str name)
{
    for (size_t i = 0; i < name.n; i++)
        if (name.p[i] == '/' || name.p[i] == 0)
            return false;
    return true;
}

bool git_strategy_is_plain(struct str text)
{
    return is_strategy(text);
}

bool git_sequencer_is_plain(struct str text)
{
    AUTO(arena) struct arena arena = {0};
    struct git_reader r = {.rest = text, .arena = &arena};
    struct git_setting s;

    while (git_config_next(&r, &s))
        if (str_eq_nocase(s.key, S("strategy")) && !is_strategy(s.value))
            return false;
    return !r.is_bad;
}

/* --- after a command --- */

struct todo_check {
    const struct baseline *b;
    const struct survey *survey;
    struct guard_report report;
};

/* NULL: it is not a file that can be read whole. */
static char *read_whole(int dir, const char *name, size_t *ret_n, mode_t *ret_mode)
{
    int fd = locked_file_openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    char *text = NULL;
    struct stat st;
    ssize_t n = -1;

    if (fd < 0)
        return NULL;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= MAX_BYTES) {
        text = mem_alloc((size_t)st.st_size + 1);
        n = read(fd, text, (size_t)st.st_size + 1);
        *ret_mode = st.st_mode;
    }
    close(fd);
    if (n < 0 || n > st.st_size) {
        mem_free(text);
        return NULL;
    }
    *ret_n = (size_t)n;
    return text;
}

static bool write_stripped(int dir, const char *name, struct str text, mode_t mode)
{
    AUTO(temp_file) struct temp_file file = TEMP_FILE_NONE;

    return temp_file_open(&file, dir, name) == 0 &&
           write(file.fd, text.p, text.n) == (ssize_t)text.n && fchmod(file.fd, mode & 0777) == 0 &&
           temp_file_create(&file) == 0;
}

static void check_list(struct todo_check *c, int dir, const char *name, const char *path)
{
    const struct guarded *known = baseline_find(c->b, path);
    AUTO(strbuf) struct strbuf stripped = {0};
    size_t n = 0;
    mode_t mode = 0600;
    AUTO_FREE char *text = read_whole(dir, name, &n, &mode);

    if (!text) {
        quarantine_named(&c->report, dir, name, path);
        return;
    }
    if (!git_todo_strip(str_make(text, n), known ? known->content : (struct str){0}, &stripped))
        return;
    if (quarantine(&c->report, dir, name) && write_stripped(dir, name, strbuf_str(&stripped), mode))
        guard_report_path(
            &c->report, path,
            "contained lines of the command that git would run; keel removed them, and kept the "
            "original as *" QUARANTINE_SUFFIX);
    else
        guard_report_failure(&c->report, path);
}

static void check_strategy(struct todo_check *c, int dir, const char *name, const char *path)
{
    size_t n = 0;
    mode_t mode;
    AUTO_FREE char *text = read_whole(dir, name, &n, &mode);
    bool is_plain = text && (strcmp(name, "opts") == 0 ? git_sequencer_is_plain(str_make(text, n))
                                                       : git_strategy_is_plain(str_make(text, n)));

    if (!is_plain)
        quarantine_named(&c->report, dir, name, path);
}

/* One of the files, if it is there. A link on the way is none of git's making. */
static void check_file(struct todo_check *c, const char *git_dir, const char *file,
                       void (*check)(struct todo_check *, int, const char *, const char *))
{
    AUTO(strbuf) struct strbuf path = {0};
    const char *name;
    struct stat st;
    int dir;

    strbuf_addf(&path, "%s%s%s", git_dir, *git_dir ? "/" : "", file);
    dir = below_open_parent(c->survey->fd, strbuf_cstr(&path), &name, c->survey->unlocks);
    if (dir < 0 && errno == ELOOP) {
        strbuf_cut(&path, str_rfind_char(strbuf_str(&path), '/'));
        dir = below_open_parent(c->survey->fd, strbuf_cstr(&path), &name, c->survey->unlocks);
        if (dir >= 0)
            quarantine_named(&c->report, dir, name, strbuf_cstr(&path));
    } else if (dir >= 0 && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
        check(c, dir, name, strbuf_cstr(&path));
    }
    if (dir >= 0)
        close(dir);
}

void git_todos_check(const struct baseline *b, const struct survey *s, struct strbuf *notes)
{
    struct todo_check c = {b, s, {s->root, notes, s->unlocks}};

    for (size_t i = 0; i < s->now.n; i++) {
        const struct directory *d = &s->now.items[i];

        if (!(d->names & GIT_NAME_TODO) || !names_are_git_dir(d->names))
            continue;
        for (size_t j = 0; git_todo_paths[j]; j++)
            check_file(&c, d->path, git_todo_paths[j], check_list);
        check_file(&c, d->path, "rebase-merge/strategy", check_strategy);
        check_file(&c, d->path, "sequencer/opts", check_strategy);
    }
}
