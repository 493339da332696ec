/* write.c - the Write tool: writes a whole file, new or over an old one. */
#include "sys/work.h"
#include "tool/builtin.h"
#include "tool/file/args.h"
#include "tool/file/change.h"
#include "tool/file/target.h"
#include "tool/notebook/notebook.h"

struct write_job {
    struct write_args args;
    struct file_change change;
    bool is_same;       /* nothing to write */
    bool lost_encoding; /* the content needs UTF-8, but the file had another encoding */
};

/* --- the content in the form of the file --- */

static bool has_crlf(struct str text)
{
    return str_find(text, S("\r\n")) != STR_NONE;
}

static bool is_mostly_crlf(struct str text)
{
    size_t n_crlf = 0, n_lf = 0;

    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] == '\n')
            *(i && text.p[i - 1] == '\r' ? &n_crlf : &n_lf) += 1;
    return n_crlf > n_lf;
}

static void add_with_crlf(struct strbuf *out, struct str text)
{
    struct str line;

    while (text.n) {
        size_t end = str_find_char(text, '\n');

        line = str_slice(text, 0, MIN(end, text.n));
        strbuf_add(out, line);
        if (end == STR_NONE)
            return;
        strbuf_add(out, S("\r\n"));
        text = str_skip(text, end + 1);
    }
}

/* Models write "\n" and no byte order mark, whatever they read: the file keeps its own form. */
static void add_content(struct strbuf *out, struct str content, struct str old_text)
{
    if (str_starts(old_text, S(TEXT_BOM)) && !str_starts(content, S(TEXT_BOM)))
        strbuf_add(out, S(TEXT_BOM));
    if (is_mostly_crlf(old_text) && !has_crlf(content))
        add_with_crlf(out, content);
    else
        strbuf_add(out, content);
}

/* What keel prints in place of text that it does not show: "... [12 characters left out". */
static bool find_marker(struct str text, struct str *ret_marker)
{
    static const char *const units[] = {" character left out", " characters left out",
                                        " bytes left out", " lines left out",
                                        " bytes of output left out"};

    for (size_t at; (at = str_find(text, S("["))) != STR_NONE; text = str_skip(text, at + 1)) {
        struct str rest = str_skip(text, at + 1);
        size_t n = 0;

        while (n < rest.n && rest.p[n] >= '0' && rest.p[n] <= '9')
            n++;
        for (size_t i = 0; n && i < ARRAY_LEN(units); i++) {
            if (str_starts(str_skip(rest, n), str_of(units[i]))) {
                *ret_marker = str_slice(text, at, 1 + n + strlen(units[i]));
                return true;
            }
        }
    }
    return false;
}

#define SHOWN_NUL "\u2400"

/* A model that copies shown text would write the note instead of the text it replaces, and the sign
 * for a NUL instead of the NUL. */
static struct err *check_markers(const struct write_job *job, struct str old_text)
{
    struct str marker;

    if (str_find_char(old_text, '\0') != STR_NONE && str_find(old_text, S(SHOWN_NUL)) == STR_NONE &&
        str_find(job->args.content, S(SHOWN_NUL)) != STR_NONE)
        return err_hint(err_new(ERR_TOOL_FAILED,
                                "the content contains " SHOWN_NUL
                                ", which stands for a NUL byte of "
                                "%s; nothing was written",
                                job->change.shown),
                        "change parts with Edit, which keeps the NUL bytes");
    if (!find_marker(job->args.content, &marker) || str_find(old_text, marker) != STR_NONE)
        return NULL;
    return err_hint(
        err_new(ERR_TOOL_FAILED,
                "the content contains \"%" STR_FMT
                "...\", a note in place of text that was not shown; nothing was written",
                STR_ARG(marker)),
        "read the omitted text and write that, or change parts with Edit");
}

/* If the file's encoding lacks a character of the content, the file becomes UTF-8: all of it is
 * replaced. */
static void settle_encoding(struct write_job *job)
{
    struct file_change *f = &job->change;
    AUTO(strbuf) struct strbuf bytes = {.max_bytes = f->new_text.max_bytes};
    AUTO(err) struct err *e = text_encode(&bytes, strbuf_str(&f->new_text), f->encoding);

    job->lost_encoding = e && f->encoding == TEXT_LATIN1;
    if (job->lost_encoding)
        f->encoding = TEXT_UTF8;
}

static struct err *write_in_worker(void *arg)
{
    struct write_job *job = arg;
    struct file_change *f = &job->change;
    struct str old_text;

    TRY(file_change_load(f));
    if (f->exists && !f->seen.whole && notebook_has_name(f->path))
        return err_hint(err_new(ERR_TOOL_FAILED,
                                "%s is a notebook, of which only the cells have been read; nothing "
                                "was written",
                                f->shown),
                        "change its cells with NotebookEdit");
    if (f->exists)
        TRY(file_seen_check_whole(&f->seen, f->shown));
    old_text = f->opaque ? (struct str){0} : strbuf_str(&f->old_text);
    TRY(check_markers(job, old_text));
    add_content(&f->new_text, job->args.content, old_text);
    TRY(strbuf_check(&f->new_text, f->shown));
    job->is_same = f->exists && !f->opaque && str_eq(old_text, strbuf_str(&f->new_text));
    if (job->is_same)
        return NULL;
    settle_encoding(job);
    return file_change_store(f);
}

/* --- the result --- */

static void report_write(const struct write_job *job, const struct tool_context *c,
                         struct tool_result *r)
{
    const struct file_change *f = &job->change;

    file_change_report(f, c, /* whole= */ true, r);
    file_change_headline(f, r);
    tool_result_addf(r, "%s\n", job->lost_encoding ? " It was Latin-1 and is now UTF-8." : "");
    if (f->exists && !f->opaque)
        file_change_show(f, r);
}

static void write_job_done(struct write_job *job)
{
    file_change_end(&job->change);
}
DEFINE_AUTO_VAL(write_job, write_job_done)

static struct err *write_run(const struct tool *t, struct tool_context *c, const struct json *args,
                             struct tool_result *result)
{
    AUTO(write_job) struct write_job job = {.change = FILE_CHANGE_NONE};
    struct err *e = write_args_parse(args, &job.args);

    if (e)
        return failure_as_result(result, e);
    e = file_change_begin(&job.change, c, result, job.args.path);
    if (!e)
        e = work_run(write_in_worker, &job);
    if (e)
        return failure_as_result(result, e);
    if (job.change.was_cancelled)
        return task_check();
    if (job.is_same)
        tool_result_addf(result, "%s already has this content: nothing was changed.\n",
                         job.change.shown);
    else
        report_write(&job, c, result);
    return NULL;
}

struct tool tool_write = {
    .name = "Write",
    .description =
        "Writes a whole file: a new one, with the directories it needs, or one that replaces what "
        "was there. A file that exists must have been read completely with Read in this session "
        "and be unchanged since. It keeps its mode, owner, line ends and byte order mark. To "
        "change parts of a file use Edit. Do not create files that the task does not need.",
    .schema = "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
              "\"file_path\":{\"type\":\"string\",\"minLength\":1,\"description\":"
              "\"Absolute path, or path relative to the working directory.\"},"
              "\"content\":{\"type\":\"string\",\"description\":"
              "\"The complete content of the file.\"}},"
              "\"required\":[\"file_path\",\"content\"]}",
    .aliases =
        "filePath=file_path absolute_path=file_path path=file_path file=file_path contents=content "
        "file_text=content fileText=content",
    .risk = RISK_MODIFY,
    .permission_arg = "file_path",
    .is_barrier = true,
    .max_chars = TOOL_CODING_MAX_CHARS,
    .run = write_run,
};
