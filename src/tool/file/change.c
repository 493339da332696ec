/* change.c - loads, stores and reports a change. */
#include "tool/file/change.h"

#include "base/clip.h"
#include "base/file_kind.h"
#include "base/quoted.h"
#include "sys/fs.h"
#include "sys/work.h"
#include "tool/file/shown.h"
#include "tool/file/target.h"

#include <stdlib.h>

#define MAX_DIFF_BYTES ((size_t)1 << 20)
#define MAX_SHOWN_CHARS 4000
#define N_CONTEXT 3

/* "src/" and "src/." name a directory, whether it exists or not. A file in its place is not
 * meant. */
static struct err *check_names_file(struct str path)
{
    size_t slash = str_rfind_char(path, '/');
    struct str name = slash == STR_NONE ? path : str_skip(path, slash + 1);

    if (name.n && !str_is(name, ".") && !str_is(name, ".."))
        return NULL;
    return err_hint(
        err_new(ERR_TOOL_FAILED, "%" STR_FMT " names a directory, not a file", STR_ARG(path)),
        "add the name of the file; missing directories are created. To create an empty "
        "directory, use mkdir -p in Bash");
}

struct err *file_change_begin(struct file_change *f, const struct tool_context *c,
                              struct tool_result *r, struct str given_path)
{
    *f = (struct file_change){.path = path_given(c, r, given_path),
                              .cwd = tool_state_cwd(c->state),
                              .workspace = tool_state_workspace(c->state),
                              .hidden = c->hidden,
                              .spot = SPOT_NONE};
    strbuf_init(&f->old_text, 3 * FILE_CHANGE_MAX_BYTES); /* UTF-8 may take three bytes for one */
    strbuf_init(&f->new_text, 3 * FILE_CHANGE_MAX_BYTES);
    strbuf_init(&f->diff, MAX_DIFF_BYTES);
    TRY(check_names_file(given_path));
    f->full = quoted(&r->arena, str_of(f->path)).p;
    f->shown = path_quoted(&r->arena, f->cwd, f->path);
    TRY(target_find(c, r, f->path, &f->target));
    f->seen = file_seen_find(c->state, f->target);
    return NULL;
}

void file_change_end(struct file_change *f)
{
    spot_done(&f->spot);
    strbuf_done(&f->old_text);
    strbuf_done(&f->new_text);
    strbuf_done(&f->diff);
}

/* --- loading --- */

/* A file that no one may write to must not be changed, even if the directory allows replacing
 * it. */
static struct err *check_writable(const struct file_change *f, const struct open_file *file)
{
    if ((file->mode & 0222) && open_file_may_write(file))
        return NULL;
    return err_hint(
        err_new(ERR_TOOL_FAILED, "%s is not writable (its mode is %04o)", f->shown, file->mode),
        "if it should be changed, make it writable with chmod first");
}

/* Whether the encoding gives the same bytes back. */
static bool is_lossless(struct str bytes, struct str text, enum text_encoding encoding)
{
    AUTO(strbuf) struct strbuf back = {.max_bytes = 2 * FILE_CHANGE_MAX_BYTES};
    AUTO(err) struct err *e = NULL;

    if (encoding == TEXT_UTF8)
        return true;
    e = text_encode(&back, text, encoding);
    return !e && str_eq(bytes, strbuf_str(&back));
}

static void take_text(struct file_change *f, struct str bytes)
{
    struct file_kind kind = file_kind_of(str_slice(bytes, 0, TEXT_HEAD_BYTES));

    if (kind.class != FILE_TEXT && !text_has_nuls(bytes)) {
        f->opaque = kind.name;
        return;
    }
    f->encoding = text_encoding_of(bytes);
    text_decode(&f->old_text, bytes, f->encoding, /* is_last= */ true);
    if (!is_lossless(bytes, strbuf_str(&f->old_text), f->encoding)) {
        f->opaque = "invalid UTF-16";
        f->encoding = TEXT_UTF8;
    }
}

struct err *file_change_load(struct file_change *f)
{
    AUTO(open_file) struct open_file file = OPEN_FILE_NONE;
    AUTO(strbuf) struct strbuf bytes = {.max_bytes = FILE_CHANGE_MAX_BYTES};
    struct str content;
    bool at_end;

    TRY(spot_find(f->target, f->full, &f->spot));
    TRY(open_file_open(&f->spot, &f->exists, &file));
    if (!f->exists)
        return NULL;
    f->loaded = file.stamp;
    if (!f->seen.is_seen || file.stamp.size > FILE_CHANGE_MAX_BYTES) {
        TRY(file_seen_check(&f->seen, &file.stamp, NULL, f->shown));
        TRY(check_writable(f, &file));
        f->opaque = "larger than 64 MiB";
        return NULL;
    }
    TRY(open_file_read(&file, FILE_CHANGE_MAX_BYTES, &bytes, &at_end));
    content = strbuf_str(&bytes);
    TRY(file_seen_check(&f->seen, &file.stamp, &content, f->shown));
    TRY(check_writable(f, &file));
    take_text(f, content);
    return NULL;
}

/* --- storing --- */

/* The mode that open() would give a new file. The mask can only be read here, or by changing it for
 * all threads at once. */
static unsigned new_file_mode(void)
{
    AUTO(strbuf) struct strbuf status = {0};
    AUTO(err) struct err *e = fs_read("/proc/self/status", &status, NULL);
    struct str text = strbuf_str(&status);
    size_t at = e ? STR_NONE : str_find(text, S("\nUmask:"));
    unsigned mask = at == STR_NONE ? 022 : (unsigned)strtoul(text.p + at + 7, NULL, 8);

    return 0666 & ~mask;
}

/* If load() found no file, store() must not replace one. */
static struct err *store_new(struct file_change *f, struct str bytes)
{
    bool created;

    TRY(spot_make_dirs(&f->spot, 0777));
    TRY(fs_create_at(&f->spot, bytes, new_file_mode(), &created));
    if (created)
        return NULL;
    return err_hint(
        err_new(ERR_TOOL_FAILED, "%s was created by another program in the meantime", f->shown),
        "read it with Read, then try again");
}

/* Replaces the file only if it is as load() found it. A change after this check is lost; the window
 * is short. */
static struct err *store_again(const struct file_change *f, struct str bytes)
{
    struct file_stamp now;
    bool exists;

    TRY(file_stamp_take(&f->spot, &exists, &now));
    if (!exists)
        return err_hint(err_new(ERR_TOOL_FAILED, "%s was removed in the meantime", f->shown),
                        "create it again with Write if it is needed");
    if (!file_stamp_eq(&f->loaded, &now))
        return err_hint(err_new(ERR_TOOL_FAILED,
                                "%s has changed since it was read; nothing was written", f->shown),
                        "read it again with Read and base the change on its current content");
    return fs_write_atomic_at(&f->spot, bytes, new_file_mode());
}

/* Models do not see the byte order mark, so diffs omit it. */
static struct str without_mark(const struct strbuf *text)
{
    struct str s = strbuf_str(text);

    return str_starts(s, S(TEXT_BOM)) ? str_skip(s, sizeof TEXT_BOM - 1) : s;
}

struct err *file_change_store(struct file_change *f)
{
    AUTO(strbuf) struct strbuf bytes = {.max_bytes = 3 * FILE_CHANGE_MAX_BYTES};
    struct err *e = text_encode(&bytes, strbuf_str(&f->new_text), f->encoding);
    AUTO(err) struct err *no_stamp = NULL;
    bool exists;
    struct str name = str_of(path_shown(f->cwd, f->path)); /* a diff has its own quoting */

    if (e)
        return err_hint(
            err_wrap(e, "cannot write %s, which is %s", f->shown, text_encoding_name(f->encoding)),
            "omit that character, or convert the file to UTF-8 first");
    f->was_cancelled = work_cancelled();
    if (f->was_cancelled)
        return NULL;
    if (f->hidden && f->hidden->check_write)
        TRY(f->hidden->check_write(f->hidden->self, f->target));
    TRY(f->exists ? store_again(f, strbuf_str(&bytes)) : store_new(f, strbuf_str(&bytes)));
    f->is_stored = true;
    f->n_bytes = bytes.n;
    sha256_hex(strbuf_str(&bytes), f->sha256);
    /* Another size means that another program wrote: then the file must be read again. */
    no_stamp = file_stamp_take(&f->spot, &exists, &f->stamp);
    f->has_stamp = !no_stamp && exists && f->stamp.size == f->n_bytes;
    if (!f->opaque)
        diff_unified(&f->diff, f->exists ? name : S("/dev/null"), without_mark(&f->old_text), name,
                     without_mark(&f->new_text), N_CONTEXT, &f->stat);
    return NULL;
}

/* --- reporting --- */

static size_t count_lines(struct str text)
{
    size_t n = 0;

    for (size_t i = 0; i < text.n; i++)
        n += text.p[i] == '\n';
    return n + (text.n && text.p[text.n - 1] != '\n');
}

void file_change_report(const struct file_change *f, const struct tool_context *c, bool whole,
                        struct tool_result *r)
{
    struct json *details = tool_result_details(r);

    struct file_seen seen = {.stamp = f->stamp, .whole = whole};

    memcpy(seen.sha256, f->sha256, sizeof seen.sha256);
    if (f->has_stamp)
        file_seen_remember(c->state, f->target, &seen);
    json_set_str(&r->arena, details, "diff", strbuf_str(&f->diff));
    json_set_int(&r->arena, details, "startLine", (int64_t)MAX(f->stat.first_line, (size_t)1));
    json_set_bool(&r->arena, details, "created", !f->exists);
    json_set_int(&r->arena, details, "bytes", (int64_t)f->n_bytes);
    if (strbuf_is_over(&f->diff))
        json_set_bool(&r->arena, details, "diffIsCut", true);
}

/* Names a new file by its full path if the model may have meant a path relative to the
 * workspace. */
void file_change_headline(const struct file_change *f, struct tool_result *r)
{
    size_t n_lines = count_lines(strbuf_str(&f->new_text));
    bool is_elsewhere = !f->exists && strcmp(f->cwd, f->workspace) != 0;

    tool_result_addf(r, "%s %s (%zu byte%s, %zu line%s).", f->exists ? "Updated" : "Created",
                     is_elsewhere ? f->full : f->shown, f->n_bytes, f->n_bytes == 1 ? "" : "s",
                     n_lines, n_lines == 1 ? "" : "s");
}

void file_change_show(const struct file_change *f, struct tool_result *r)
{
    tool_result_addf(r, "\n");
    clip_middle(&r->text, strbuf_str(&f->diff), MAX_SHOWN_CHARS);
    if (strbuf_is_over(&f->diff))
        tool_result_addf(r, "\n[the rest of the diff is left out]\n");
}
