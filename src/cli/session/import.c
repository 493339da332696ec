/* import.c - `keel session import`: sessions out of files, of keel and of other programs. */
#include "cli/session/session.h"

#include "cli/flags/session.h"
#include "cli/output/progress.h"
#include "sdk/known_secrets.h"
#include "sys/env.h"
#include "sys/fs.h"
#include "sys/locked_file.h"
#include "sys/work.h"
#include "transcript/import_save.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct option options[] = {
    {"name", 0, "NAME", "name of the session, if only one is imported"},
    {"partial", 0, NULL, "skip lines that cannot be read"},
    {"json", 0, NULL, "print the new sessions as one JSON array"},
    SESSION_OPTIONS,
    {0},
};

/* --- a file whose bytes can be read from any place, as often as wanted ---
 *
 * A plain file is read in place, up to its length when it was opened, so one that grows meanwhile
 * is the same each time. A pipe or a terminal is copied to a file without a name first; such a file
 * also takes writes. */

struct import_file {
    const char *path; /* borrowed, as the person gave it */
    int fd;
    bool is_stdin;
    uint64_t start, n_bytes;   /* what is read of it */
    struct progress *progress; /* may be NULL */
};
#define IMPORT_FILE_NONE ((struct import_file){.fd = -1})

#define PIPE_STEP ((size_t)256 << 10)

struct file_call {
    struct import_file *file;
    int from; /* that is copied */
    uint64_t at;
    size_t n;
    struct strbuf *out;
    struct str bytes;
    bool is_plain, is_over;
};

static struct err *cannot_read(const struct import_file *f)
{
    return err_errno(ERR_VALIDATION, errno, "cannot read %s",
                     f->is_stdin ? "standard input" : f->path);
}

static struct err *make_unnamed(void *arg)
{
    struct file_call *c = arg;
    const char *const places[] = {env_find(NULL, "TMPDIR"), "/var/tmp", "/tmp"};
    FILE *file;

    for (size_t i = 0; i < ARRAY_LEN(places) && c->file->fd < 0; i++)
        if (places[i])
            c->file->fd = open(places[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (c->file->fd >= 0)
        return NULL;
    file = tmpfile(); /* where the file system has no such files */
    if (file) {
        c->file->fd = fcntl(fileno(file), F_DUPFD_CLOEXEC, 3);
        fclose(file);
    }
    return c->file->fd >= 0 ? NULL : err_errno(ERR_STORAGE, errno, "cannot make a temporary file");
}

/* An empty one without a name. */
static struct err *import_file_new(struct import_file *f)
{
    struct file_call c = {.file = f};

    *f = IMPORT_FILE_NONE;
    f->path = "a temporary file";
    return work_run(make_unnamed, &c);
}

static struct err *write_bytes(void *arg)
{
    struct file_call *c = arg;
    struct import_file *f = c->file;

    while (c->bytes.n) {
        ssize_t n = pwrite(f->fd, c->bytes.p, c->bytes.n, (off_t)f->n_bytes);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_hint(err_errno(ERR_STORAGE, errno, "cannot write a temporary file"),
                            "TMPDIR may name a directory with more room");
        f->n_bytes += (uint64_t)n;
        c->bytes = str_skip(c->bytes, (size_t)n);
    }
    return NULL;
}

static struct err *import_file_write(void *self, struct str bytes)
{
    struct file_call c = {.file = self, .bytes = bytes};

    return work_run(write_bytes, &c);
}

static struct err *copy_some(void *arg)
{
    struct file_call *c = arg;
    AUTO_FREE char *bytes = mem_alloc(PIPE_STEP);
    ssize_t n = read(c->from, bytes, PIPE_STEP);

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return NULL;
    if (n < 0)
        return cannot_read(c->file);
    c->is_over = n == 0;
    c->bytes = str_make(bytes, (size_t)n);
    return write_bytes(c);
}

static struct err *copy_pipe(struct import_file *f, int from)
{
    struct file_call c = {.file = f, .from = from};

    TRY(work_run(make_unnamed, &c));
    while (!c.is_over) {
        TRY(task_wait_fd(from, TASK_FD_READ, NULL));
        TRY(work_run(copy_some, &c));
        if (f->progress)
            progress_count(f->progress, f->n_bytes >> 20, "MB");
    }
    return NULL;
}

/* A pipe is opened without waiting for its writer: to wait for bytes can be interrupted. */
static struct err *open_path(void *arg)
{
    struct file_call *c = arg;
    struct import_file *f = c->file;
    struct stat st;
    off_t at;

    c->from = STDIN_FILENO;
    if (!f->is_stdin)
        c->from =
            locked_file_openat(AT_FDCWD, f->path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (c->from < 0 || fstat(c->from, &st) < 0)
        return cannot_read(f);
    if (S_ISBLK(st.st_mode) || (S_ISCHR(st.st_mode) && !isatty(c->from)))
        return err_new(ERR_VALIDATION, "cannot read %s: it is a device",
                       f->is_stdin ? "standard input" : f->path);
    at = S_ISREG(st.st_mode) && st.st_size > 0 ? lseek(c->from, 0, SEEK_CUR) : -1;
    c->is_plain = at >= 0;
    if (c->is_plain) {
        f->start = (uint64_t)at;
        f->n_bytes = (uint64_t)MAX(st.st_size - at, (off_t)0);
    }
    return NULL;
}

/* "-" is standard input. */
static struct err *import_file_open(struct import_file *f, const char *path,
                                    struct progress *progress)
{
    struct file_call c = {.file = f, .from = -1};
    struct err *e;

    *f = IMPORT_FILE_NONE;
    f->path = path;
    f->is_stdin = strcmp(path, "-") == 0;
    f->progress = progress;
    e = work_run(open_path, &c);
    if (!e && c.is_plain) {
        f->fd = c.from;
        return NULL;
    }
    if (!e)
        e = copy_pipe(f, c.from);
    if (c.from >= 0 && !f->is_stdin)
        close(c.from);
    return e;
}

static void import_file_done(struct import_file *f)
{
    if (f->fd > STDIN_FILENO)
        close(f->fd);
    *f = IMPORT_FILE_NONE;
}
DEFINE_AUTO_VAL(import_file, import_file_done)

static struct err *read_bytes(void *arg)
{
    struct file_call *c = arg;
    char *at = strbuf_reserve(c->out, c->n);
    ssize_t n;

    if (!at)
        return strbuf_check(c->out, c->file->path);
    do
        n = pread(c->file->fd, at, c->n, (off_t)(c->file->start + c->at));
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return cannot_read(c->file);
    strbuf_grew(c->out, (size_t)n);
    return NULL;
}

static struct err *import_file_read(void *self, uint64_t from, size_t n, struct strbuf *out)
{
    struct import_file *f = self;
    struct file_call c = {.file = f, .at = from, .out = out};

    if (f->progress)
        progress_count(f->progress, from >> 20, "MB");
    if (from >= f->n_bytes)
        return NULL;
    c.n = (size_t)MIN((uint64_t)n, f->n_bytes - from);
    return work_run(read_bytes, &c);
}

/* --- the command --- */

struct importing_files {
    struct session_work *work;
    const struct secrets *secrets;
    struct strbuf out;
    struct json_writer json;
    bool has_json;
    struct progress progress;
};

/* --- reading --- */

/* {session}.payloads/{hash}.json, beside the log. */
static struct err *load_payload(void *self, const struct blob_reference *r, struct strbuf *out)
{
    AUTO(arena) struct arena a = {0};
    AUTO(import_file) struct import_file file = IMPORT_FILE_NONE;
    char *log = arena_cstr(&a, str_of(self));
    const char *path = fs_join(&a, dirname(log), arena_cstr(&a, r->relative_path));

    if (strcmp(self, "-") == 0)
        return err_hint(err_new(ERR_VALIDATION, "it refers to %" STR_FMT ", beside the log",
                                STR_ARG(r->relative_path)),
                        "import the log by its name instead of from standard input");
    TRY(import_file_open(&file, path, NULL));
    return import_file_read(&file, 0, (size_t)MIN(file.n_bytes, SIZE_MAX), out);
}

/* --- reports --- */

static void report_problems(const struct import *i)
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
        strbuf_addf(&text, "%s%" STR_FMT " (%zu)", k ? ", " : "", STR_ARG(i->left_out[k].kind),
                    i->left_out[k].n);
    if (text.n)
        cli_tell("%s: omitted: %s", path, strbuf_cstr(&text));
}

static void report_secrets(const struct importing_files *f, const char *path, uint64_t found)
{
    AUTO(strbuf) struct strbuf names = {0};

    if (!found)
        return;
    secrets_add_names(f->secrets, found, &names);
    cli_tell("%s: the value of %s was removed; [REDACTED] replaces it", path, strbuf_cstr(&names));
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
    jw_kv_int(w, "messages", (int64_t)saved[k].n_messages);
    jw_end_object(w);
}

static void report_one(struct importing_files *f, const char *path, const struct import *i,
                       size_t k, const struct saved_session *saved)
{
    if (f->has_json) {
        write_one(&f->json, path, i, k, saved);
        return;
    }
    if (saved[k].has_new_id && i->sessions[k].id.n)
        cli_tell("%s: the id %" STR_FMT " is taken or cannot be used; it is %" STR_FMT " here",
                 path, STR_ARG(i->sessions[k].id), STR_ARG(saved[k].id));
    strbuf_addf(&f->out, "%" STR_FMT "  %zu messages  ", STR_ARG(saved[k].id), saved[k].n_messages);
    cli_add_visible(&f->out, i->sessions[k].name.n ? i->sessions[k].name : saved[k].preview);
    strbuf_add_char(&f->out, '\n');
}

/* --- the command --- */

static void show_progress(void *self, uint64_t n, uint64_t n_all)
{
    progress_part(self, n, n_all);
}

static struct err *save(struct importing_files *f, const char *path, struct import *i)
{
    struct session_work *w = f->work;
    struct import_place place = {.store = w->store,
                                 .cwd = str_of(w->project->place.cwd),
                                 .name = str_of(args_get(w->args, "name")),
                                 .secrets = f->secrets,
                                 .on_progress = show_progress,
                                 .self = &f->progress};
    struct saved_session *saved = ARENA_ARRAY(&i->arena, i->n, struct saved_session);
    uint64_t found;
    struct err *e;

    progress_begin(&f->progress, "storing", /* prints= */ false);
    e = import_save(i, &place, saved, &found);
    progress_end(&f->progress);
    TRY(e);
    tell_left_out(path, i);
    report_secrets(f, path, found);
    for (size_t k = 0; k < i->n; k++)
        report_one(f, path, i, k, saved);
    return NULL;
}

static struct err *import_file(struct importing_files *f, const char *path)
{
    AUTO(import) struct import i = {0};
    AUTO(import_file) struct import_file file = IMPORT_FILE_NONE, kept = IMPORT_FILE_NONE;
    struct import_source source = {import_file_read, &file};
    struct import_spool spool = {import_file_write, import_file_read, &kept};
    struct import_options options_of = {.name = path,
                                        .is_partial = args_has(f->work->args, "partial"),
                                        .load = load_payload,
                                        .self = (void *)path,
                                        .spool = &spool};
    struct err *e;

    progress_begin(&f->progress, "reading", /* prints= */ false);
    e = import_file_open(&file, path, &f->progress);
    if (!e)
        e = import_file_new(&kept);
    if (!e)
        e = import_read(&i, &source, &options_of);
    progress_end(&f->progress);
    report_problems(&i);
    TRY(e);
    return save(f, path, &i);
}

/* A file that cannot be imported does not keep the others from it. */
static struct err *import_files(struct session_work *w)
{
    AUTO(secrets) struct secrets *secrets = known_secrets(w->project, args_get(w->args, "store"));
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

static struct err *session_import_run(const struct args *args, int *ret_status)
{
    TRY(args_count(args, 1, SIZE_MAX, "one file or more; - is standard input"));
    if (args_get(args, "name"))
        TRY(args_count(args, 1, 1, "one file, as --name is given"));
    TRY(session_name_check(args_get(args, "name")));
    return session_work_store(args, import_files, ret_status);
}

const struct command command_session_import = {
    .name = "session import",
    .usage = "FILE... [--name NAME] [--partial] [--json]",
    .summary = "import sessions from files: keel's exports, or another program's",
    .details = "Recognizes files by their content: exports of keel as jsonl or json, records and\n"
               "logs of that kind, transcripts of Claude Code, rollouts of Codex. - is standard\n"
               "input. Keeps ids that are free.\n"
               "\n"
               "  keel session import ~/.claude/projects/*/*.jsonl\n"
               "  keel session export 019a8c1e -f json | ssh there keel session import -\n",
    .options = options,
    .run = session_import_run,
};
