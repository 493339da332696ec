/* grep.c - the Grep tool: searches files for a regular expression. */
#include "sys/work.h"
#include "tool/builtin.h"
#include "tool/file/args.h"
#include "tool/file/scope.h"
#include "tool/file/shown.h"
#include "tool/file/target.h"
#include "tool/search/engine.h"

struct grep_job {
    struct grep_args args;
    struct search_scope scope;
    struct tool_result *result;
    struct grep_report report;
};

static void add_nothing_found(const struct grep_job *job)
{
    const struct grep_report *r = &job->report;

    if (r->n_matches) {
        tool_result_addf(job->result, "No more results: offset %zu is past the last one.\n",
                         job->args.query.offset);
        return;
    }
    tool_result_addf(job->result, "No matches found\n");
    if (r->n_files_searched == 0 && r->n_files_skipped)
        tool_result_addf(job->result, "[not searched: %s binary or too large]\n",
                         job->scope.is_file ? "the file is" : "all files there are");
    search_scope_add_ignored(&r->walk, &job->result->text);
}

/* Adds the totals, and how to continue. */
static void add_summary(const struct grep_job *job, size_t n_lines)
{
    const struct grep_query *q = &job->args.query;
    const struct grep_report *r = &job->report;
    struct strbuf *out = &job->result->text;

    if (q->mode != GREP_FILES)
        strbuf_addf(out, "[%zu match%s in %zu file%s]\n", r->n_matches,
                    r->n_matches == 1 ? "" : "es", r->n_files_matched,
                    r->n_files_matched == 1 ? "" : "s");
    else if (r->was_cut)
        strbuf_addf(out, "[%zu files match]\n", r->n_files_matched);
    if (r->was_cut)
        strbuf_addf(out, "[there is more: set offset to %zu to continue, or narrow the search]\n",
                    q->offset + n_lines);
}

/* Reports a file for which the pattern takes too many steps. */
static void add_failure(const struct grep_report *r, struct strbuf *out)
{
    AUTO_FREE char *text = r->failure ? err_message(r->failure) : NULL;

    if (!text)
        return;
    strbuf_addf(out, "[%s", text);
    if (r->n_files_failed > 1)
        strbuf_addf(out, ", as in %zu more", r->n_files_failed - 1);
    strbuf_addf(out, "%s: simplify the pattern, or exclude such files]\n",
                r->n_files_failed < GREP_MAX_FAILED ? "" : "; the search ended there");
}

static size_t count_lines(struct str text)
{
    size_t n = 0;

    for (size_t i = 0; i < text.n; i++)
        n += text.p[i] == '\n';
    return n;
}

static struct err *grep_in_worker(void *arg)
{
    struct grep_job *job = arg;
    struct grep_query *q = &job->args.query;
    AUTO(strbuf) struct strbuf lines = {0};
    struct walk_options options;

    TRY(search_scope_open(&job->scope));
    if (job->scope.root_fd < 0)
        return search_scope_missing(&job->scope);
    options = search_scope_walk(&job->scope);
    q->names = search_scope_names(&job->scope, &job->result->arena);
    TRY(grep_run(q, &options, &lines, &job->report));
    strbuf_add(&job->result->text, strbuf_str(&lines));
    if (lines.n)
        add_summary(job, count_lines(strbuf_str(&lines)));
    else
        add_nothing_found(job);
    add_failure(&job->report, &job->result->text);
    search_scope_add_notes(&job->report.walk, strbuf_str(&lines), &job->result->text);
    return NULL;
}

static void grep_job_done(struct grep_job *job)
{
    grep_args_done(&job->args);
    grep_report_done(&job->report);
    search_scope_close(&job->scope);
}
DEFINE_AUTO_VAL(grep_job, grep_job_done)

static struct err *grep_tool_run(const struct tool *t, struct tool_context *c,
                                 const struct json *args, struct tool_result *result)
{
    AUTO(grep_job) struct grep_job job = {.result = result, .scope.root_fd = -1};
    struct err *e = grep_args_parse(args, &job.args);
    struct json *details;

    if (e)
        return failure_as_result(result, e);
    job.scope = (struct search_scope){
        .cwd = tool_state_cwd(c->state),
        .workspace = tool_state_workspace(c->state),
        .hidden = c->hidden,
        .excluded = job.args.excluded,
        .n_excluded = job.args.n_excluded,
        .with_hidden_names = job.args.hidden,
        .root_fd = -1,
    };
    job.scope.root = job.args.path.n ? path_given(c, result, job.args.path) : job.scope.cwd;
    e = target_find(c, result, job.scope.root, &job.scope.target);
    if (!e)
        e = work_run(grep_in_worker, &job);
    if (e)
        return failure_as_result(result, e);
    if (job.report.walk.was_cancelled)
        return task_check();
    details = tool_result_details(result);
    json_set_int(&result->arena, details, "matches", (int64_t)job.report.n_matches);
    json_set_int(&result->arena, details, "files", (int64_t)job.report.n_files_matched);
    json_set_bool(&result->arena, details, "cut", job.report.was_cut);
    return NULL;
}

struct tool tool_grep = {
    .name = "Grep",
    .description =
        "Searches file contents for a regular expression (PCRE2), in a directory tree or in one "
        "file. output_mode selects the result: files_with_matches (paths, newest first; the "
        "default), content (matching lines with numbers) or count (matches per file). Prints at "
        "most head_limit lines; paths are relative to the working directory where they are below "
        "it. Skips binary files, .git and what .gitignore and .ignore exclude, unless path names "
        "it. Use it instead of grep or rg in Bash.",
    .schema =
        "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
        "\"pattern\":{\"type\":\"string\",\"minLength\":1,\"description\":"
        "\"The regular expression. Escape literal braces and parentheses: interface\\\\{\\\\}.\"},"
        "\"path\":{\"type\":\"string\",\"minLength\":1,\"description\":"
        "\"Directory or file to search. Default: the working directory.\"},"
        "\"glob\":{\"type\":\"string\",\"description\":"
        "\"Search only files that match, such as *.js or src/**/*.{ts,tsx}. Separate several "
        "with spaces; !*.min.js excludes files.\"},"
        "\"type\":{\"type\":\"string\",\"description\":"
        "\"Search only files of this type, named as in rg: c, py, js, rust, go, ...\"},"
        "\"output_mode\":{\"type\":\"string\",\"enum\":[\"files_with_matches\",\"content\","
        "\"count\"],\"description\":\"What to print. Default: files_with_matches.\"},"
        "\"-i\":{\"type\":\"boolean\",\"description\":\"Ignore case.\"},"
        "\"-n\":{\"type\":\"boolean\",\"description\":"
        "\"Print line numbers, in content mode. Default: true.\"},"
        "\"-A\":{\"type\":\"integer\",\"minimum\":0,\"description\":"
        "\"Lines to print after each match, in content mode.\"},"
        "\"-B\":{\"type\":\"integer\",\"minimum\":0,\"description\":"
        "\"Lines to print before each match, in content mode.\"},"
        "\"-C\":{\"type\":\"integer\",\"minimum\":0,\"description\":"
        "\"Lines to print before and after each match, in content mode.\"},"
        "\"multiline\":{\"type\":\"boolean\",\"description\":"
        "\"Let a match span lines and . match line ends. Default: false.\"},"
        "\"fixed_strings\":{\"type\":\"boolean\",\"description\":"
        "\"Take the pattern as plain text. Default: false.\"},"
        "\"head_limit\":{\"type\":\"integer\",\"minimum\":0,\"description\":"
        "\"Maximum number of lines to print; 0 prints all, up to 1 MiB. Default: 250.\"},"
        "\"offset\":{\"type\":\"integer\",\"minimum\":0,\"description\":"
        "\"Number of lines to skip first, to continue an earlier search. Default: 0.\"},"
        "\"-o\":{\"type\":\"boolean\"},"
        "\"hidden\":{\"type\":\"boolean\",\"description\":"
        "\"Search files whose names begin with a dot. Default: true.\"}},"
        "\"required\":[\"pattern\"]}",
    .aliases = "only_matching=-o onlyMatching=-o after=-A before=-B outputMode=output_mode "
               "headLimit=head_limit limit=head_limit max_results=head_limit literal=fixed_strings "
               "ignoreCase=-i context=-C "
               "fixedStrings=fixed_strings file_path=path filePath=path dir=path directory=path "
               "dir_path=path "
               "include=glob query=pattern regex=pattern",
    .adapt = grep_args_adapt,
    .hidden = "-o",
    .risk = RISK_INSPECT,
    .starts_early = true,
    .permission_arg = "path",
    .max_chars = TOOL_CODING_MAX_CHARS,
    .run = grep_tool_run,
};
