/* notebook_edit.c - the NotebookEdit tool: changes one cell of a Jupyter notebook. */
#include "sys/work.h"
#include "tool/builtin.h"
#include "tool/file/change.h"
#include "tool/file/shown.h"
#include "tool/file/target.h"
#include "tool/notebook/notebook.h"

struct notebook_job {
    struct notebook_change args;
    struct file_change change;
    struct arena arena;
    size_t index, n_cells;
};

static void notebook_job_done(struct notebook_job *job)
{
    file_change_end(&job->change);
    arena_done(&job->arena);
}
DEFINE_AUTO_VAL(notebook_job, notebook_job_done)

static enum notebook_mode mode_of(struct str name)
{
    return str_is(name, "insert")   ? NOTEBOOK_INSERT
           : str_is(name, "delete") ? NOTEBOOK_DELETE
                                    : NOTEBOOK_REPLACE;
}

static struct notebook_change args_of(const struct json *args)
{
    return (struct notebook_change){
        .mode = mode_of(json_get_text(args, "edit_mode")),
        .cell_id = json_get_text(args, "cell_id"),
        .cell_number = json_int_or(json_get(args, "cell_number"), -1),
        .has_source = json_has(args, "new_source"),
        .source = json_get_text(args, "new_source"),
        .cell_type = json_get_text(args, "cell_type"),
    };
}

static struct err *notebook_edit_in_worker(void *arg)
{
    struct notebook_job *job = arg;
    struct file_change *f = &job->change;
    struct notebook notebook;
    struct err *e;

    TRY(file_change_load(f));
    if (!f->exists)
        return path_missing(f->path, f->target, f->cwd, f->workspace, f->hidden);
    if (f->opaque || !notebook_parse(&job->arena, strbuf_str(&f->old_text), &notebook))
        return err_hint(err_new(ERR_TOOL_FAILED, "%s is not a readable notebook", f->shown),
                        "change it with Edit, or repair it first");
    e = notebook_change(&job->arena, &notebook, &job->args, &f->new_text, &job->index);
    if (e)
        return err_wrap(e, "%s was not changed", f->shown);
    job->n_cells = notebook.n_cells + (job->args.mode == NOTEBOOK_INSERT) -
                   (job->args.mode == NOTEBOOK_DELETE);
    if (str_eq(strbuf_str(&f->old_text), strbuf_str(&f->new_text)))
        return err_new(ERR_TOOL_FAILED, "%s is unchanged: the cell already has this source",
                       f->shown);
    return file_change_store(f);
}

static struct err *notebook_edit_run(const struct tool *t, struct tool_context *c,
                                     const struct json *args, struct tool_result *result)
{
    static const char *const done[] = {"Replaced", "Inserted", "Deleted"};
    AUTO(notebook_job)
    struct notebook_job job = {.change = FILE_CHANGE_NONE, .args = args_of(args)};
    struct str path = json_get_text(args, "notebook_path");
    struct err *e = str_find_char(path, '\0') == STR_NONE
                        ? file_change_begin(&job.change, c, result, path)
                        : err_new(ERR_TOOL_FAILED, "notebook_path contains a NUL character");

    if (!e)
        e = work_run(notebook_edit_in_worker, &job);
    if (e)
        return failure_as_result(result, e);
    if (job.change.was_cancelled)
        return task_check();
    file_change_report(&job.change, c, /* whole= */ false, result);
    json_set_int(&result->arena, tool_result_details(result), "cell", (int64_t)job.index);
    tool_result_addf(result, "%s cell-%zu of %s, which has %zu cell%s now.\n", done[job.args.mode],
                     job.index, job.change.shown, job.n_cells, job.n_cells == 1 ? "" : "s");
    file_change_show(&job.change, result);
    return NULL;
}

struct tool tool_notebook_edit = {
    .name = "NotebookEdit",
    .description =
        "Changes one cell of a Jupyter notebook (.ipynb): replaces its source, inserts a new cell "
        "after the one you name (at the top if you name none), or deletes it. The notebook must "
        "have been read with Read in this session and be unchanged since. The outputs of a code "
        "cell are removed when its source changes; everything else stays. Returns a diff.",
    .schema = "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
              "\"notebook_path\":{\"type\":\"string\",\"minLength\":1,\"description\":"
              "\"Absolute path, or path relative to the working directory.\"},"
              "\"cell_id\":{\"type\":\"string\",\"minLength\":1,\"description\":"
              "\"The id of the cell, or cell-N as Read shows it.\"},"
              "\"cell_number\":{\"type\":\"integer\",\"minimum\":0,\"description\":"
              "\"The number of the cell, from 0, if you pass no cell_id.\"},"
              "\"new_source\":{\"type\":\"string\",\"description\":"
              "\"The complete new source of the cell.\"},"
              "\"cell_type\":{\"type\":\"string\",\"enum\":[\"code\",\"markdown\",\"raw\"],"
              "\"description\":\"Type of a new cell; for an existing one, its new type.\"},"
              "\"edit_mode\":{\"type\":\"string\",\"enum\":[\"replace\",\"insert\",\"delete\"],"
              "\"description\":\"What to do. Default: replace.\"}},"
              "\"required\":[\"notebook_path\"]}",
    .aliases = "notebookPath=notebook_path file_path=notebook_path filePath=notebook_path "
               "absolute_path=notebook_path path=notebook_path cellId=cell_id "
               "cell_index=cell_number index=cell_number "
               "newSource=new_source source=new_source cellType=cell_type editMode=edit_mode",
    .risk = RISK_MODIFY,
    .permission_arg = "notebook_path",
    .is_barrier = true,
    .max_chars = TOOL_CODING_MAX_CHARS,
    .run = notebook_edit_run,
};
