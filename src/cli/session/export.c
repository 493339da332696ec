/* export.c - `keel session export`: a session as a document, or for another program. */
#include "cli/output/progress.h"
#include "cli/session/session.h"

#include "provider/protocol.h"
#include "sdk/known_secrets.h"
#include "sys/fs.h"
#include "sys/new_file.h"
#include "sys/work.h"
#include "transcript/transcript.h"

#include <stdlib.h>
#include <unistd.h>

static const struct option options[] = {
    {"format", 'f', "FORM", "jsonl, json, markdown or html (default: from the file's name)",
     .words = "jsonl json markdown html"},
    {"output", 'o', "FILE", "write to FILE; - is standard output"},
    {"no-children", 0, NULL, "omit child runs"},
    {"requests", 0, NULL, "json, jsonl: include the complete requests"},
    SESSION_OPTIONS,
    {0},
};

/* The file to write; NULL: standard output. */
static const char *output_of(const struct args *args)
{
    const char *path = args_get(args, "output");

    return path && strcmp(path, "-") != 0 ? path : NULL;
}

/* --- the form --- */

static struct str ending_of(const char *path)
{
    struct str name = str_of(path);
    size_t dot = str_rfind_char(name, '.');

    return dot == STR_NONE ? (struct str){0} : str_skip(name, dot + 1);
}

/* A person at a terminal wants to read it; a pipe leads to a program, which wants all of it. */
static struct err *find_form(const struct args *args, enum transcript_form *ret_form)
{
    const char *given = args_get(args, "format"), *path = output_of(args);

    if (path && fs_is_dir(path))
        return err_hint(err_new(ERR_VALIDATION, "%s is a directory", path),
                        "name the file, such as session.html");
    if (given) {
        if (transcript_form_find(str_of(given), ret_form))
            return NULL;
        return err_hint(err_new(ERR_VALIDATION, "unknown format \"%s\"", given),
                        "one of: jsonl, json, markdown, html");
    }
    if (path && transcript_form_find(ending_of(path), ret_form))
        return NULL;
    if (path)
        return err_hint(err_new(ERR_VALIDATION, "cannot tell the format from the name %s", path),
                        "add --format jsonl, json, markdown or html");
    *ret_form = isatty(STDOUT_FILENO) ? TRANSCRIPT_MARKDOWN : TRANSCRIPT_JSONL;
    return NULL;
}

/* --- where it goes --- */

struct export_target {
    struct new_file *file; /* NULL: standard output */
    bool is_terminal;
    struct str text; /* of the moment */
    const char *path;
    unsigned n_broken;
    struct progress progress;
};

static struct err *begin_file(void *arg)
{
    struct export_target *t = arg;

    return new_file_begin(t->file, t->path, 0600);
}

static struct err *add_to_file(void *arg)
{
    struct export_target *t = arg;

    return new_file_add(t->file, t->text);
}

static struct err *end_file(void *arg)
{
    return new_file_end(((struct export_target *)arg)->file);
}

static struct err *write_piece(void *self, struct str text)
{
    struct export_target *t = self;

    t->text = text;
    if (t->file)
        return work_run(add_to_file, t);
    return t->is_terminal ? cli_print_visible(text) : cli_print_raw(text);
}

static void report_broken(void *self, const struct err *e)
{
    struct export_target *t = self;

    progress_end(&t->progress);
    if (t->n_broken++ < 8)
        cli_tell_error(e);
}

static void show_progress(void *self, uint64_t n_events, uint64_t n_all)
{
    progress_part(&((struct export_target *)self)->progress, n_events, n_all);
}

/* --- the command --- */

/* One mistyped name would else replace all sessions by the text of one. */
static struct err *check_path(const struct store *s, const char *path)
{
    AUTO_FREE char *real = realpath(path, NULL);

    if (!real || !store_owns(s, str_of(real)))
        return NULL;
    return err_hint(
        err_new(ERR_VALIDATION, "cannot write %s: it is a file of keel's own store", path),
        "give another name");
}

static struct err *export_session(struct session_work *w)
{
    AUTO(new_file) struct new_file file = NEW_FILE_NONE;
    AUTO(secrets) struct secrets *secrets = known_secrets(w->project, args_get(w->args, "store"));
    struct store_summary summary;
    struct export_target target = {.path = output_of(w->args),
                                   .is_terminal = isatty(STDOUT_FILENO)};
    struct transcript t = {.store = w->store,
                           .session = &summary,
                           .without_children = args_has(w->args, "no-children"),
                           .with_requests = args_has(w->args, "requests"),
                           .find_form = protocol_form,
                           .secrets = secrets,
                           .write = write_piece,
                           .on_broken = report_broken,
                           .on_progress = show_progress,
                           .self = &target};
    struct err *e;

    TRY(find_form(w->args, &t.form));
    if (t.with_requests && t.form != TRANSCRIPT_JSON && t.form != TRANSCRIPT_JSONL)
        return err_hint(err_new(ERR_VALIDATION, "--requests works only with json and jsonl"),
                        "add --format jsonl or --format json");
    TRY(session_work_find(w, 0, &summary));
    if (target.path) {
        TRY(check_path(w->store, target.path));
        target.file = &file;
        TRY(work_run(begin_file, &target));
    }
    progress_begin(&target.progress, "exporting", /* prints= */ !target.path);
    e = transcript_write(&t);
    progress_end(&target.progress);
    TRY(e);
    if (target.file)
        TRY(work_run(end_file, &target));
    if (target.n_broken)
        cli_tell(
            "%u record%s could not be read and %s missing in it; keel session verify says which",
            target.n_broken, target.n_broken == 1 ? "" : "s", target.n_broken == 1 ? "is" : "are");
    w->status = target.n_broken ? 1 : 0;
    return NULL;
}

static struct err *session_export_run(const struct args *args, int *ret_status)
{
    TRY(args_count(args, 0, 1, "a session"));
    return session_work_run(args, export_session, ret_status);
}

const struct command command_session_export = {
    .name = "session export",
    .usage = "[ID] [--format FORM] [--output FILE] [--no-children] [--requests]",
    .operands = COMPLETE_SESSIONS,
    .summary = "write a session as a document, or for another program",
    .details = "  jsonl     every event as a line of the log; child runs follow\n"
               "  json      one record, for programs that store sessions\n"
               "  markdown  a document\n"
               "  html      one self-contained page\n"
               "\n"
               "Without --format the name of FILE decides. Without a FILE the format is markdown\n"
               "on a terminal, and jsonl in a pipe or after >. All formats replace known\n"
               "credentials, and values under a credential's name in the arguments of a call.\n"
               "\n"
               "Each message is in the log once; requests refer to it. With --requests every\n"
               "request contains its system text, messages, tools and options, and the export\n"
               "grows with the square of the conversation.\n"
               "\n"
               "  keel session export --output session.html\n"
               "  keel session export 019a8c1e --format jsonl | jq .event\n",
    .options = options,
    .run = session_export_run,
};
