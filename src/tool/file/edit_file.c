/* edit_file.c - loads a file, applies edits to it, stores it. */
#include "tool/file/edit_file.h"

#include "sys/work.h"
#include "tool/file/args.h"
#include "tool/file/change.h"
#include "tool/file/failure.h"
#include "tool/file/shown.h"
#include "tool/notebook/notebook.h"

struct edit_job {
    struct edit_args args;
    struct file_change change;
    struct edit_report report;
};

static bool is_notebook(const struct file_change *f)
{
    AUTO(arena) struct arena a = {0};
    struct notebook notebook;

    return notebook_has_name(f->path) && notebook_parse(&a, strbuf_str(&f->old_text), &notebook);
}

static struct err *check_editable(const struct file_change *f)
{
    if (!f->opaque && is_notebook(f))
        return err_hint(err_new(ERR_TOOL_FAILED, "%s is a notebook", f->shown),
                        "change its cells with NotebookEdit");
    if (!f->opaque)
        return NULL;
    return err_hint(
        err_new(ERR_TOOL_FAILED, "%s cannot be edited as text: it is %s", f->shown, f->opaque),
        "change it with a program through Bash");
}

/* An empty old text is the start of a new file: what the other edits work on. */
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

static struct err *apply(struct edit_job *job)
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
    e = apply(job);
    if (e)
        return err_wrap(e, "%s was not changed", f->shown);
    if (f->exists && str_eq(strbuf_str(&f->old_text), strbuf_str(&f->new_text)))
        return err_hint(
            err_new(ERR_TOOL_FAILED, "the edits undo each other: %s is unchanged", f->shown),
            "check the edits");
    return file_change_store(f);
}

static void report(const struct edit_job *job, const struct tool_context *c, struct tool_result *r)
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

struct err *edit_file_run(const struct tool *t, struct tool_context *c, const struct json *args,
                          struct tool_result *result)
{
    AUTO(edit_job) struct edit_job job = {.change = FILE_CHANGE_NONE};
    struct err *e = edit_args_parse(args, &result->arena, &job.args);

    if (e)
        return failure_tell(result, e);
    e = file_change_begin(&job.change, c, result, job.args.path);
    if (!e)
        e = work_run(edit_in_worker, &job);
    if (e)
        return failure_tell(result, e);
    if (job.change.was_cancelled)
        return task_check();
    report(&job, c, result);
    return NULL;
}
