/* glob.c - the Glob tool: finds files by a pattern over their paths, newest first. */
#include "base/glob.h"

#include "base/quoted.h"
#include "sys/fs.h"
#include "sys/work.h"
#include "tool/builtin.h"
#include "tool/file/args.h"
#include "tool/file/guess.h"
#include "tool/file/scope.h"
#include "tool/file/shown.h"
#include "tool/file/target.h"
#include "tool/search/engine.h"

#include <fcntl.h>
#include <sys/stat.h>

#define MAX_FILES 1000

struct glob_job {
    struct glob_args args;
    struct search_scope scope;
    const char
        *base; /* what `path` names; the root adds the part of the pattern without wildcards */
    const char *decided; /* the path that the gate judged, or NULL */
    struct tool_result *result;
    struct grep_report report;
};

/* The directory in which the pattern begins. */
static const char *find_root(const struct tool_context *c, struct glob_job *job)
{
    struct str dir = job->args.dir;

    if (!str_starts(dir, S("/")) && !str_starts(dir, S("~/")))
        dir = arena_format(&job->result->arena, "%s/%" STR_FMT, job->base, STR_ARG(dir));
    return tool_state_path(c->state, &job->result->arena, c->config ? c->config->environment : NULL,
                           dir);
}

/* Also names the directory that may be meant. */
static void add_missing_root(const struct search_scope *s, struct tool_result *r)
{
    struct path_guess guess = {0};

    if (!path_is_below_hidden(s->hidden, s->target))
        guess = path_guess(&r->arena, s->root, s->target, s->hidden);
    tool_result_addf(r, "[there is no directory %s", quoted(&r->arena, str_of(s->root)).p);
    if (guess.path)
        tool_result_addf(r, "; did you mean %s?", path_quoted(&r->arena, s->cwd, guess.path));
    tool_result_addf(r, "]\n");
}

static void add_nothing_found(const struct glob_job *job)
{
    const struct search_scope *s = &job->scope;
    struct str pattern = job->args.pattern;

    tool_result_addf(job->result, "No files found.\n");
    if (s->root_fd < 0) {
        add_missing_root(s, job->result);
        return;
    }
    if (str_find_char(pattern, '/') == STR_NONE && !str_starts(pattern, S("**")))
        tool_result_addf(job->result,
                         "[this pattern looks in %s only; to look below it too: %" STR_FMT
                         "**/%" STR_FMT "]\n",
                         path_shown(s->cwd, s->root), STR_ARG(job->args.dir), STR_ARG(pattern));
    search_scope_add_ignored(&job->report.walk, &job->result->text);
}

/* A name without wildcards is found even if git ignores it. */
static void add_named(struct glob_job *job, struct strbuf *lines)
{
    const struct search_scope *s = &job->scope;
    struct arena *a = &job->result->arena;
    const char *name = arena_cstr(a, job->args.pattern);
    const char *path = fs_join(a, s->root, name);
    struct stat st;

    if (fstatat(s->root_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
        path_is_hidden(s->hidden, path, S_ISDIR(st.st_mode)) ||
        path_is_hidden(s->hidden, fs_join(a, s->target, name), S_ISDIR(st.st_mode)))
        return;
    if (S_ISDIR(st.st_mode))
        path = fs_join(a, path, "");
    strbuf_addf(lines, "%s\n", path_quoted(a, s->cwd, path));
    job->report.n_files_matched = 1;
}

/* --- where to look --- */

static struct err *check_directory(const struct search_scope *s)
{
    if (s->root_fd < 0)
        return search_scope_missing(s);
    if (!s->is_file)
        return NULL;
    return err_hint(err_new(ERR_TOOL_FAILED, "path is a file, not a directory: %s", s->root),
                    "name the directory to search, or omit path");
}

/* `path` must name a directory, even if the pattern continues from there. */
static struct err *check_base(struct glob_job *job)
{
    struct search_scope base = job->scope;
    struct err *e;

    base.root = job->base;
    base.target = fs_resolve(&job->result->arena, job->base);
    TRY(search_scope_open(&base));
    e = check_directory(&base);
    search_scope_close(&base);
    return e;
}

/* The directory that the pattern leads to need not exist. */
static struct err *open_root(struct glob_job *job)
{
    struct search_scope *s = &job->scope;

    s->target = job->decided; /* opens what the gate judged, without following a link */
    if (!s->target)
        TRY(target_resolve(&job->result->arena, s->root, s->cwd, &s->target));
    if (job->args.dir.n && !str_starts(job->args.dir, S("/")))
        TRY(check_base(job));
    TRY(search_scope_open(s));
    if (job->args.dir.n == 0)
        return check_directory(s);
    if (s->is_file)
        search_scope_close(s);
    return NULL;
}

static struct err *glob_in_worker(void *arg)
{
    struct glob_job *job = arg;
    AUTO(glob) struct glob *pattern = NULL, *literal = NULL;
    AUTO(strbuf) struct strbuf lines = {0};
    struct walk_options options;

    TRY(glob_compile(job->args.pattern, GLOB_LITERAL_SEPARATOR, &pattern));
    TRY(glob_compile_brackets(job->args.pattern, &literal));
    TRY(open_root(job));
    if (job->scope.root_fd >= 0) {
        const struct glob *patterns[] = {pattern, literal};
        struct glob_query query = {
            .patterns = patterns,
            .n_patterns = literal ? 2 : 1,
            .with_dirs = str_find(job->args.pattern, S("**")) == STR_NONE,
            .max_results = MAX_FILES,
            .names = search_scope_names(&job->scope, &job->result->arena),
        };

        options = search_scope_walk(&job->scope);
        TRY(glob_run(&query, &options, &lines, &job->report));
        if (!lines.n && job->args.is_name)
            add_named(job, &lines);
    }
    strbuf_add(&job->result->text, strbuf_str(&lines));
    if (!lines.n)
        add_nothing_found(job);
    else if (job->report.was_cut)
        tool_result_addf(job->result,
                         "[%zu files match; these are the newest %d: use a narrower pattern]\n",
                         job->report.n_files_matched, MAX_FILES);
    search_scope_add_notes(&job->report.walk, strbuf_str(&lines), &job->result->text);
    return NULL;
}

static void glob_job_done(struct glob_job *job)
{
    search_scope_close(&job->scope);
}
DEFINE_AUTO_VAL(glob_job, glob_job_done)

static struct err *glob_tool_run(const struct tool *t, struct tool_context *c,
                                 const struct json *args, struct tool_result *result)
{
    AUTO(glob_job)
    struct glob_job job = {.result = result,
                           .decided = c->target,
                           .scope = {.cwd = tool_state_cwd(c->state),
                                     .workspace = tool_state_workspace(c->state),
                                     .hidden = c->hidden,
                                     .root_fd = -1}};
    struct err *e = glob_args_parse(args, &job.args);
    struct json *details;

    if (e)
        return failure_as_result(result, e);
    job.base = job.args.path.n ? path_given(c, result, job.args.path) : job.scope.cwd;
    job.scope.root = find_root(c, &job);
    job.scope.with_hidden_names = job.args.hidden;
    e = work_run(glob_in_worker, &job);
    if (e)
        return failure_as_result(result, e);
    if (job.report.walk.was_cancelled)
        return task_check();
    details = tool_result_details(result);
    json_set_int(&result->arena, details, "files", (int64_t)job.report.n_files_matched);
    json_set_bool(&result->arena, details, "cut", job.report.was_cut);
    return NULL;
}

struct tool tool_glob = {
    .name = "Glob",
    .description =
        "Finds files by a pattern over their paths, such as \"**/*.c\" or "
        "\"src/**/test_*.{py,js}\". Returns up to 1000, newest first; paths are relative to the "
        "working directory where they are below it. * and ? stay within one directory, ** crosses "
        "directories. A pattern without ** also finds directories, printed with a trailing /. "
        "Brackets match literally, too, as in app/[id]/page.tsx. Skips .git and what .gitignore "
        "and .ignore exclude. To search file contents use Grep.",
    .schema = "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
              "\"pattern\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":4096,"
              "\"description\":\"The pattern, relative to path, or absolute.\"},"
              "\"path\":{\"type\":\"string\",\"minLength\":1,\"description\":"
              "\"The directory to search. Default: the working directory.\"},"
              "\"hidden\":{\"type\":\"boolean\",\"description\":"
              "\"Include names that begin with a dot. Default: true.\"}},"
              "\"required\":[\"pattern\"]}",
    .aliases = "query=pattern dir=path directory=path dir_path=path glob=pattern",
    .risk = RISK_INSPECT,
    .starts_early = true,
    .permission_arg = "pattern",
    .max_chars = TOOL_CODING_MAX_CHARS,
    .run = glob_tool_run,
};
