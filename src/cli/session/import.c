/* import.c - `keel session import`: sessions out of files, of keel and of other programs. */
#include "cli/progress.h"
#include "cli/session/session.h"

#include "sdk/known_secrets.h"
#include "sys/fs.h"
#include "sys/locked_file.h"
#include "sys/work.h"
#include "transcript/import_save.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIPE_STEP ((size_t)256 << 10)

static const struct option options[] = {
    {"name", 0, "NAME", "what the session is called; for one that is imported alone"},
    {"partial", 0, NULL, "skip lines that cannot be read"},
    {"json", 0, NULL, "print what was made as one JSON array"},
    SESSION_OPTIONS,
    {0},
};

struct importing_files {
    struct session_work *work;
    const struct secrets *secrets;
    struct strbuf out;
    struct json_writer json;
    bool has_json;
    struct progress progress;
};

/* --- reading --- */

/* A file that any part of can be read at any time. */
struct import_file {
    const char *path;
    int fd;
    struct progress *progress;
    /* one call */
    uint64_t from;
    size_t n;
    struct strbuf *out;
};

static struct err *cannot_read(const char *path)
{
    return err_errno(ERR_VALIDATION, errno, "cannot read %s",
                     strcmp(path, "-") == 0 ? "standard input" : path);
}

/* What comes through a pipe is kept in a file without a name, because it is read more than once. */
static struct err *keep_pipe(struct import_file *f, int pipe)
{
    AUTO_FREE char *bytes = mem_alloc(PIPE_STEP);
    FILE *file = tmpfile();
    ssize_t n;

    if (!file)
        return err_errno(ERR_STORAGE, errno, "cannot make a temporary file");
    f->fd = fcntl(fileno(file), F_DUPFD_CLOEXEC, 3);
    fclose(file);
    do {
        if (!work_wait_fd(pipe, POLLIN))
            return err_new(ERR_CANCELLED, "interrupted");
        n = read(pipe, bytes, PIPE_STEP);
        if (n > 0 && write(f->fd, bytes, (size_t)n) != n)
            return err_errno(ERR_STORAGE, errno, "cannot keep what was read in a temporary file");
    } while (n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN)));
    return n < 0 ? cannot_read(f->path) : NULL;
}

static struct err *open_file(void *arg)
{
    struct import_file *f = arg;
    bool is_stdin = strcmp(f->path, "-") == 0;
    int fd = is_stdin ? STDIN_FILENO
                      : locked_file_openat(AT_FDCWD, f->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct stat st;
    struct err *e;

    if (fd < 0 || fstat(fd, &st) < 0)
        return cannot_read(f->path);
    if (S_ISREG(st.st_mode) && !is_stdin) {
        f->fd = fd;
        return NULL;
    }
    e = keep_pipe(f, fd);
    if (!is_stdin)
        close(fd);
    return e;
}

static struct err *read_part(void *arg)
{
    struct import_file *f = arg;
    char *at = strbuf_reserve(f->out, f->n);
    ssize_t n;

    if (!at)
        return strbuf_check(f->out, f->path);
    do
        n = pread(f->fd, at, f->n, (off_t)f->from);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return cannot_read(f->path);
    strbuf_grew(f->out, (size_t)n);
    return NULL;
}

static struct err *read_source(void *self, uint64_t from, size_t n, struct strbuf *out)
{
    struct import_file *f = self;

    f->from = from;
    f->n = n;
    f->out = out;
    progress_count(f->progress, from >> 20, "MB");
    return work_run(read_part, f);
}

struct reading {
    const char *path;
    struct strbuf *out;
};

static struct err *read_file(void *arg)
{
    struct reading *r = arg;

    return cli_read_file(r->path, r->out);
}

/* {session}.payloads/{hash}.json, beside the log. */
static struct err *load_payload(void *self, const struct blob_reference *r, struct strbuf *out)
{
    AUTO(arena) struct arena a = {0};
    char *log = arena_cstr(&a, str_of(self));
    struct reading reading = {.path = fs_join(&a, dirname(log), arena_cstr(&a, r->relative_path)),
                              .out = out};

    if (strcmp(self, "-") == 0)
        return err_hint(
            err_new(ERR_VALIDATION, "it refers to %" STR_FMT, STR_ARG(r->relative_path)),
            "give the file's name, so that those beside it can be read");
    return work_run(read_file, &reading);
}

/* --- what is told --- */

static void tell_problems(const struct import *i)
{
    struct str rest = strbuf_str(&i->problems), line;

    while (str_split(&rest, '\n', &line))
        if (line.n)
            cli_tell("%" STR_FMT, STR_ARG(line));
}

static void tell_left_out(const char *path, const struct import *i)
{
    AUTO(strbuf) struct strbuf text = {0};

    for (size_t k = 0; k < i->n_left_out; k++)
        strbuf_addf(&text, "%s%zu x %" STR_FMT, k ? ", " : "", i->left_out[k].n,
                    STR_ARG(i->left_out[k].kind));
    if (text.n)
        cli_tell("%s: omitted: %s", path, strbuf_cstr(&text));
}

static void tell_secrets(const struct importing_files *f, const char *path, uint64_t found)
{
    AUTO(strbuf) struct strbuf names = {0};

    if (!found)
        return;
    secrets_add_names(f->secrets, found, &names);
    cli_tell("%s: the value of %s was removed; [REDACTED] replaces it", path, strbuf_cstr(&names));
}

static size_t count_messages(const struct imported *s)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++)
        n += s->items[i].message != NULL;
    return n;
}

static void write_one(struct json_writer *w, const char *path, const struct import *i, size_t k,
                      const struct saved_session *saved)
{
    jw_begin_object(w);
    jw_kv_str(w, "file", str_of(path));
    jw_kv_str(w, "form", str_of(i->form));
    jw_kv_str(w, "id", saved[k].id);
    jw_kv_str(w, "was", i->sessions[k].id);
    jw_kv_bool(w, "newId", saved[k].has_new_id);
    jw_kv_int(w, "messages", (int64_t)count_messages(&i->sessions[k]));
    jw_end_object(w);
}

static void tell_one(struct importing_files *f, const char *path, const struct import *i, size_t k,
                     const struct saved_session *saved)
{
    if (f->has_json) {
        write_one(&f->json, path, i, k, saved);
        return;
    }
    if (saved[k].has_new_id && i->sessions[k].id.n)
        cli_tell("%s: the id %" STR_FMT " is taken or cannot be used; it is %" STR_FMT " here",
                 path, STR_ARG(i->sessions[k].id), STR_ARG(saved[k].id));
    strbuf_addf(&f->out, "%" STR_FMT "  %zu messages  ", STR_ARG(saved[k].id),
                count_messages(&i->sessions[k]));
    cli_add_visible(&f->out, i->sessions[k].name.n ? i->sessions[k].name : i->sessions[k].preview);
    strbuf_add_char(&f->out, '\n');
}

/* --- the command --- */

static struct err *import_from(struct importing_files *f, const char *path,
                               const struct import_source *source, struct import *i)
{
    struct session_work *w = f->work;
    struct import_options options_of = {.name = path,
                                        .is_partial = args_has(w->args, "partial"),
                                        .load = load_payload,
                                        .self = (void *)path};
    struct import_place place = {.store = w->store,
                                 .cwd = str_of(w->runtime.options.cwd),
                                 .name = str_of(args_get(w->args, "name")),
                                 .secrets = f->secrets};
    struct saved_session *saved;
    uint64_t found;
    struct err *e = import_read(i, source, &options_of);

    progress_end(&f->progress);
    tell_problems(i);
    TRY(e);
    saved = ARENA_ARRAY(&i->arena, i->n, struct saved_session);
    TRY(import_save(i, &place, saved, &found));
    tell_left_out(path, i);
    tell_secrets(f, path, found);
    for (size_t k = 0; k < i->n; k++)
        tell_one(f, path, i, k, saved);
    return NULL;
}

static struct err *import_file(struct importing_files *f, const char *path)
{
    AUTO(import) struct import i = {0};
    struct import_file file = {.path = path, .fd = -1, .progress = &f->progress};
    struct import_source source = {read_source, &file};
    struct err *e;

    progress_begin(&f->progress, "reading", /* prints= */ false);
    e = work_run(open_file, &file);
    if (!e)
        e = import_from(f, path, &source, &i);
    if (file.fd >= 0)
        close(file.fd);
    return e;
}

/* A file that cannot be imported does not keep the others from it. */
static struct err *import_files(struct session_work *w)
{
    AUTO(secrets) struct secrets *secrets = known_secrets(&w->runtime, args_get(w->args, "store"));
    struct importing_files f = {
        .work = w, .secrets = secrets, .has_json = args_has(w->args, "json")};
    struct err *e = NULL;

    jw_init(&f.json, &f.out);
    if (f.has_json)
        jw_begin_array(&f.json);
    for (size_t i = 0; i < w->args->n_operands && !err_is(e, ERR_CANCELLED); i++) {
        if (e)
            cli_tell_error(e);
        w->status = e ? err_exit_code(e) : w->status;
        err_free(e);
        e = import_file(&f, w->args->operands[i]);
    }
    if (f.has_json) {
        jw_end_array(&f.json);
        strbuf_add_char(&f.out, '\n');
    }
    if (!err_is(e, ERR_CANCELLED)) {
        struct err *printing = cli_print(strbuf_str(&f.out));

        e = e ? e : printing;
        if (e != printing)
            err_free(printing);
    }
    strbuf_done(&f.out);
    return e;
}

static struct err *run(const struct args *args, int *ret_status)
{
    TRY(args_count(args, 1, SIZE_MAX, "one file or more; - is standard input"));
    if (args_get(args, "name"))
        TRY(args_count(args, 1, 1, "one file, as --name is given"));
    return session_work_run(args, import_files, ret_status);
}

const struct command command_session_import = {
    .name = "session import",
    .usage = "FILE... [--name NAME] [--partial] [--json]",
    .summary = "make sessions of files: keel's exports, or another program's",
    .details = "What a file is shows in its content: exports of keel as jsonl or json,\n"
               "records and logs of that kind, transcripts of Claude Code, rollouts of Codex.\n"
               "- is standard input. Ids are kept where they are free.\n"
               "\n"
               "  keel session import ~/.claude/projects/*/*.jsonl\n"
               "  keel session export 019a8c1e -f json | ssh there keel session import -\n",
    .options = options,
    .run = run,
};
