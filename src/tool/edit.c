/* edit.c - the Edit tool: replaces text in a file, in one place or in several, all or none. */
#include "sys/work.h"
#include "tool/builtin.h"
#include "tool/file/args.h"
#include "tool/file/change.h"
#include "tool/file/shown.h"
#include "tool/file/target.h"
#include "tool/notebook/notebook.h"

struct edit_job {
    struct edit_args args;
    struct file_change change;
    struct edit_report report;
};

static struct err *check_editable(const struct file_change *f)
{
    AUTO(arena) struct arena a = {0};
    struct notebook notebook;

    if (f->opaque)
        return err_hint(
            err_new(ERR_TOOL_FAILED, "%s cannot be edited as text: it is %s", f->shown, f->opaque),
            "change it with a program through Bash");
    if (notebook_has_name(f->path) && notebook_parse(&a, strbuf_str(&f->old_text), &notebook))
        return err_hint(err_new(ERR_TOOL_FAILED, "%s is a notebook", f->shown),
                        "change its cells with NotebookEdit");
    return NULL;
}

/* An empty old text starts a new file, to which the other edits apply. */
static struct err *begin_file(struct edit_job *job, struct str *ret_text)
{
    struct file_change *f = &job->change;

    if (f->old_text.n)
        return err_hint(err_new(ERR_TOOL_FAILED,
                                "old_string is empty, but %s exists and is not empty", f->shown),
                        "pass the text to replace, or use Write to replace the whole file");
    *ret_text = job->args.edits[0].new_text;
    job->args.edits++;
    job->args.n_edits--;
    job->report = (struct edit_report){.n_replaced = 1, .first_line = 1};
    return NULL;
}

static struct err *apply_edits(struct edit_job *job)
{
    struct file_change *f = &job->change;
    struct str text = strbuf_str(&f->old_text);
    bool is_new = job->args.edits[0].old_text.n == 0;
    struct edit_report report = {0};

    if (is_new)
        TRY(begin_file(job, &text));
    if (job->args.n_edits == 0) {
        strbuf_add(&f->new_text, text);
        return NULL;
    }
    TRY(edit_apply(text, job->args.edits, job->args.n_edits, &f->new_text, &report));
    job->report.n_replaced += report.n_replaced;
    job->report.was_normalised = report.was_normalised;
    if (!is_new)
        job->report.first_line = report.first_line;
    return NULL;
}

static struct err *edit_in_worker(void *arg)
{
    struct edit_job *job = arg;
    struct file_change *f = &job->change;
    struct err *e;

    TRY(file_change_load(f));
    if (!f->exists && job->args.edits[0].old_text.n)
        return path_missing(f->path, f->target, f->cwd, f->workspace, f->hidden);
    TRY(check_editable(f));
    e = apply_edits(job);
    if (e)
        return err_wrap(e, "%s was not changed", f->shown);
    if (f->exists && str_eq(strbuf_str(&f->old_text), strbuf_str(&f->new_text)))
        return err_hint(
            err_new(ERR_TOOL_FAILED, "the edits undo each other: %s is unchanged", f->shown),
            "check the edits");
    return file_change_store(f);
}

static void report_edit(const struct edit_job *job, const struct tool_context *c,
                        struct tool_result *r)
{
    const struct file_change *f = &job->change;
    size_t n = job->report.n_replaced;
    struct json *details;

    file_change_report(f, c, f->seen.whole || !f->exists, r);
    details = tool_result_details(r);
    json_set_int(&r->arena, details, "startLine", (int64_t)job->report.first_line);
    json_set_int(&r->arena, details, "replaced", (int64_t)n);
    json_set_bool(&r->arena, details, "normalised", job->report.was_normalised);
    if (!f->exists) {
        file_change_headline(f, r);
        tool_result_addf(r, "\n");
        return;
    }
    tool_result_addf(
        r, "Edited %s: %zu place%s replaced.%s\n", f->shown, n, n == 1 ? "" : "s",
        job->report.was_normalised
            ? " old_string matched only after ignoring indentation, trailing whitespace "
              "and the kind of quotes and dashes: check the diff."
            : "");
    file_change_show(f, r);
}

static void edit_job_done(struct edit_job *job)
{
    file_change_end(&job->change);
}
DEFINE_AUTO_VAL(edit_job, edit_job_done)

static struct err *edit_run(const struct tool *t, struct tool_context *c, const struct json *args,
                            struct tool_result *result)
{
    AUTO(edit_job) struct edit_job job = {.change = FILE_CHANGE_NONE};
    struct err *e = edit_args_parse(args, &result->arena, &job.args);

    if (e)
        return failure_as_result(result, e);
    e = file_change_begin(&job.change, c, result, job.args.path);
    if (!e)
        e = work_run(edit_in_worker, &job);
    if (e)
        return failure_as_result(result, e);
    if (job.change.was_cancelled)
        return task_check();
    report_edit(&job, c, result);
    return NULL;
}

/* One edit of a list. */
#define EDIT_ITEM_SCHEMA                                                                           \
    "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"                         \
    "\"old_string\":{\"type\":\"string\",\"description\":\"The text to replace, exactly as in "    \
    "the file.\"},"                                                                                \
    "\"new_string\":{\"type\":\"string\",\"description\":\"The text that replaces it.\"},"         \
    "\"replace_all\":{\"type\":\"boolean\",\"description\":"                                       \
    "\"Replace every occurrence of old_string. Default: false.\"}},"                               \
    "\"required\":[\"old_string\",\"new_string\"]}"

struct tool tool_edit = {
    .name = "Edit",
    .description =
        "Replaces old_string with new_string in a file, or makes several such edits in order if "
        "you pass edits: all of them or none. The file must have been read with Read in this "
        "session and be unchanged since. Copy old_string exactly as the file has it, without the "
        "line numbers that Read adds. It must occur exactly once: include enough lines around it, "
        "or set replace_all. Different indentation, quotes or line ends are tolerated only where "
        "the place and the new indentation are unambiguous. To remove a line, pass all of it with "
        "an empty new_string. An empty old_string creates a new file. Returns a diff.",
    .schema = "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
              "\"file_path\":{\"type\":\"string\",\"minLength\":1,\"description\":"
              "\"Absolute path, or path relative to the working directory.\"},"
              "\"old_string\":{\"type\":\"string\",\"description\":"
              "\"The text to replace, exactly as in the file. Empty: create a new file.\"},"
              "\"new_string\":{\"type\":\"string\",\"description\":\"The text that replaces it.\"},"
              "\"replace_all\":{\"type\":\"boolean\",\"description\":"
              "\"Replace every occurrence of old_string. Default: false.\"},"
              "\"edits\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":100,\"description\":"
              "\"Several edits, each applied to the result of the one before. Use instead of "
              "old_string, new_string and replace_all.\","
              "\"items\":" EDIT_ITEM_SCHEMA "}},"
              "\"required\":[\"file_path\"]}",
    .aliases = "filePath=file_path absolute_path=file_path path=file_path file=file_path "
               "oldString=old_string "
               "newString=new_string old_str=old_string new_str=new_string oldStr=old_string "
               "newStr=new_string old_text=old_string new_text=new_string oldText=old_string "
               "newText=new_string replaceAll=replace_all",
    .risk = RISK_MODIFY,
    .permission_arg = "file_path",
    .is_barrier = true,
    .max_chars = TOOL_CODING_MAX_CHARS,
    .run = edit_run,
};
