/* read.c - the Read tool: lines of a text file, or an image or PDF document. */
#include "base/base64.h"
#include "base/file_kind.h"
#include "base/quoted.h"
#include "base/utf8.h"
#include "port/media.h"
#include "sys/work.h"
#include "tool/builtin.h"
#include "tool/file/args.h"
#include "tool/file/encoding.h"
#include "tool/file/excerpt.h"
#include "tool/file/seen.h"
#include "tool/file/shown.h"
#include "tool/file/target.h"
#include "tool/notebook/notebook.h"

#define CHUNK_BYTES ((size_t)256 << 10)
#define MAX_COUNTED_BYTES                                                                          \
    ((uint64_t)64 << 20) /* larger files are not read to the end to count lines */

struct read_job {
    struct read_args args;
    const char *path, *target, *shown, *cwd, *workspace;
    const struct path_filter *hidden;
    unsigned capabilities;
    struct tool_result *result; /* the worker fills it in while the task waits */
    struct file_seen seen;
    struct seen_part part;
    enum text_encoding encoding;
    struct sha256 hash; /* of everything that was read */
    bool was_cancelled;
};

static struct err *read_more(struct read_job *job, struct open_file *file, size_t n,
                             struct strbuf *bytes, bool *ret_at_end)
{
    size_t was_n = bytes->n;

    TRY(open_file_read(file, n, bytes, ret_at_end));
    sha256_add(&job->hash, str_skip(strbuf_str(bytes), was_n));
    return NULL;
}

/* Call it when the whole file has been read. */
static void note_content(struct read_job *job)
{
    unsigned char digest[SHA256_SIZE];

    sha256_end(&job->hash, digest);
    sha256_format_hex(digest, job->seen.sha256);
}

/* --- text --- */

/* Passes the file to the excerpt, piece by piece, until enough is known. */
static struct err *pass_text(struct read_job *job, struct open_file *file, struct strbuf *bytes,
                             struct excerpt *x, bool *ret_at_end)
{
    enum text_encoding encoding = job->encoding = text_encoding_of(strbuf_str(bytes));
    bool counts_all = file->stamp.size <= MAX_COUNTED_BYTES, is_first = true;
    AUTO(strbuf) struct strbuf text = {0};

    for (;; is_first = false) {
        size_t n = text_decode(&text, strbuf_str(bytes), encoding, *ret_at_end);
        struct str piece = strbuf_str(&text);

        if (is_first && str_starts(piece, S(TEXT_BOM)))
            piece = str_skip(piece, sizeof TEXT_BOM - 1);
        excerpt_add(x, piece);
        strbuf_clear(&text);
        strbuf_drop_front(bytes, n);
        if (*ret_at_end || (excerpt_is_done(x) && !counts_all))
            return NULL;
        job->was_cancelled = work_cancelled();
        if (job->was_cancelled)
            return NULL;
        TRY(read_more(job, file, CHUNK_BYTES, bytes, ret_at_end));
    }
}

/* The last lines of the result: the rest of the file, how to read it, and what is shown
 * differently. */
static void add_notes(const struct read_job *job, const struct excerpt *x, bool knows_all)
{
    size_t last = job->args.offset + x->n_shown - 1;

    if (!knows_all || last != excerpt_n_lines(x)) {
        tool_result_addf(job->result, "[lines %zu-%zu", job->args.offset, last);
        if (knows_all)
            tool_result_addf(job->result, " of %zu", excerpt_n_lines(x));
        if (x->is_full)
            tool_result_addf(job->result, ", cut at %zu bytes", EXCERPT_MAX_BYTES);
        tool_result_addf(job->result, "; to continue, set offset to %zu]\n", last + 1);
    }
    if (job->encoding == TEXT_LATIN1)
        tool_result_addf(job->result,
                         "[not UTF-8: shown as Windows-1252, which Edit and Write keep. If the "
                         "text makes no sense, it has another encoding: convert a copy with "
                         "iconv]\n");
    if (x->has_nuls)
        tool_result_addf(job->result, "[NUL bytes are shown as \u2400]\n");
}

static struct err *past_the_end(const struct read_job *job, const struct excerpt *x)
{
    size_t n = x->n_first_chars ? x->n_first_chars : excerpt_n_lines(x);

    if (x->n_first_chars)
        return err_hint(err_new(ERR_TOOL_FAILED,
                                "line %zu of %s has %zu character%s: column %zu is past its end",
                                job->args.offset, job->shown, n, n == 1 ? "" : "s",
                                job->args.column),
                        "set column to an existing character, or omit it");
    return err_hint(err_new(ERR_TOOL_FAILED, "%s has %zu line%s: line %zu is past its end",
                            job->shown, n, n == 1 ? "" : "s", job->args.offset),
                    "set offset to an existing line, or omit it");
}

static struct err *read_text(struct read_job *job, struct open_file *file, struct strbuf *bytes,
                             bool at_end)
{
    AUTO(excerpt) struct excerpt x;
    bool knows_all;

    excerpt_init(&x, &job->result->text, job->args.offset, job->args.limit, job->args.column,
                 &job->seen);
    TRY(pass_text(job, file, bytes, &x, &at_end));
    if (job->was_cancelled)
        return NULL;
    if (at_end)
        excerpt_end(&x);
    knows_all = at_end && !(file->is_made && file->n_left == 0);
    if (x.n_shown == 0 || x.n_first_chars)
        return past_the_end(job, &x);
    add_notes(job, &x, knows_all);
    job->part = x.part;
    if (knows_all) {
        job->seen.n_lines = excerpt_n_lines(&x);
        note_content(job);
    }
    return NULL;
}

/* --- media --- */

static bool is_shown_as_image(const struct file_kind *kind)
{
    static const char *const mimes[] = {"image/png", "image/jpeg", "image/gif", "image/webp"};

    for (size_t i = 0; i < ARRAY_LEN(mimes); i++)
        if (strcmp(kind->mime, mimes[i]) == 0)
            return true;
    return false;
}

static struct err *read_media(struct read_job *job, struct open_file *file, struct strbuf *bytes,
                              const struct file_kind *kind)
{
    bool is_pdf = kind->class == FILE_PDF, at_end;
    size_t max = is_pdf ? MEDIA_MAX_PDF_BYTES : MEDIA_MAX_IMAGE_BYTES;
    const char *slash = strrchr(job->path, '/');

    if (!(job->capabilities & (is_pdf ? CAN_READ_PDF : CAN_SEE_IMAGES)))
        return err_hint(err_new(ERR_TOOL_FAILED, "%s is %s, and this model cannot see %s",
                                job->shown, kind->name, is_pdf ? "PDF documents" : "images"),
                        "%s",
                        is_pdf ? "convert it to text with a program, such as pdftotext"
                               : "ask the user what it shows, or look at it with a program");
    if (file->stamp.size > max)
        return err_hint(err_new(ERR_TOOL_FAILED, "%s is %s of %llu bytes, over the limit of %zu",
                                job->shown, kind->name, (unsigned long long)file->stamp.size, max),
                        "make a smaller copy with a program and read that");
    TRY(read_more(job, file, max - bytes->n, bytes, &at_end));
    tool_result_add_media(job->result, &(struct media){.mime = str_of(kind->mime),
                                                       .source = MEDIA_BYTES,
                                                       .data = strbuf_str(bytes),
                                                       .name = str_of(slash + 1)});
    tool_result_addf(job->result, "%s: %s, %zu bytes.", job->shown, kind->name, bytes->n);
    job->seen.whole = true;
    note_content(job);
    return NULL;
}

/* --- notebooks --- */

#define MAX_IMAGES 10

static bool add_notebook_image(void *self, struct str mime, struct str base64)
{
    struct read_job *job = self;
    AUTO(strbuf) struct strbuf bytes = {.max_bytes = MEDIA_MAX_IMAGE_BYTES};
    AUTO(err) struct err *e = NULL;
    struct file_kind kind;

    if (!(job->capabilities & CAN_SEE_IMAGES) || job->result->n_media == MAX_IMAGES ||
        base64.n / 4 * 3 > MEDIA_MAX_IMAGE_BYTES)
        return false;
    e = base64_decode(&bytes, base64);
    kind = file_kind_of(str_slice(strbuf_str(&bytes), 0, TEXT_HEAD_BYTES));
    if (e || !is_shown_as_image(&kind))
        return false;
    tool_result_add_media(job->result, &(struct media){.mime = str_of(kind.mime),
                                                       .source = MEDIA_BYTES,
                                                       .data = strbuf_str(&bytes),
                                                       .name = mime});
    return true;
}

static struct err *show_notebook(struct read_job *job, const struct notebook *n)
{
    const struct notebook_images images = {add_notebook_image, job};
    AUTO(strbuf) struct strbuf cells = {0};
    size_t first = job->args.offset - 1, shown;

    if (first && first >= n->n_cells)
        return err_hint(err_new(ERR_TOOL_FAILED, "%s has %zu cell%s: there is none at offset %zu",
                                job->shown, n->n_cells, n->n_cells == 1 ? "" : "s",
                                job->args.offset),
                        "the offset of a notebook counts cells, from 1");
    shown = notebook_show(&job->result->arena, n, first, job->args.limit, EXCERPT_MAX_BYTES,
                          &images, &cells);
    tool_result_addf(job->result, "%s: a notebook of %zu cell%s%s%" STR_FMT ".\n\n", job->shown,
                     n->n_cells, n->n_cells == 1 ? "" : "s", n->language.n ? " in " : "",
                     STR_ARG(n->language));
    utf8_add_repaired(&job->result->text, strbuf_str(&cells));
    if (first + shown < n->n_cells)
        tool_result_addf(job->result, "[cells %zu-%zu of %zu; to continue, set offset to %zu]\n",
                         first, first + shown - 1, n->n_cells, first + shown + 1);
    return NULL;
}

/* *ret_is_one is false, and nothing is shown, if the file is not a notebook. */
static struct err *read_notebook(struct read_job *job, struct open_file *file, struct strbuf *bytes,
                                 bool *ret_is_one)
{
    AUTO(arena) struct arena a = {0};
    struct notebook notebook;
    bool at_end;

    *ret_is_one = false;
    if (!notebook_has_name(job->path) || file->stamp.size > NOTEBOOK_MAX_BYTES)
        return NULL;
    TRY(read_more(job, file, NOTEBOOK_MAX_BYTES, bytes, &at_end));
    *ret_is_one = notebook_parse(&a, strbuf_str(bytes), &notebook);
    if (!*ret_is_one)
        return NULL;
    note_content(job);
    return show_notebook(job, &notebook);
}

/* --- any file --- */

static struct err *check_pages(const struct read_job *job, const struct file_kind *kind)
{
    if (job->args.pages.n == 0 || kind->class == FILE_PDF)
        return NULL;
    return err_hint(err_new(ERR_TOOL_FAILED, "%s has no pages: it is %s", job->shown, kind->name),
                    "pages is for PDF documents; for text use offset and limit");
}

static struct err *read_open(struct read_job *job, struct open_file *file)
{
    AUTO(strbuf) struct strbuf bytes = {0};
    struct file_kind kind;
    bool at_end, is_notebook;

    TRY(read_more(job, file, TEXT_HEAD_BYTES, &bytes, &at_end));
    kind = file_kind_of(strbuf_str(&bytes));
    TRY(check_pages(job, &kind));
    if (bytes.n == 0) {
        tool_result_addf(job->result, "%s is empty.", job->shown);
        job->seen.whole = true;
        note_content(job);
        return NULL;
    }
    if (kind.class == FILE_TEXT || text_has_nuls(strbuf_str(&bytes))) {
        TRY(read_notebook(job, file, &bytes, &is_notebook));
        return is_notebook ? NULL : read_text(job, file, &bytes, at_end || file->n_left == 0);
    }
    if (kind.class == FILE_PDF || is_shown_as_image(&kind))
        return read_media(job, file, &bytes, &kind);
    return err_hint(
        err_new(ERR_TOOL_FAILED, "%s cannot be read as text: it is %s", job->shown, kind.name),
        "inspect it with a suitable program through Bash");
}

static struct err *read_in_worker(void *arg)
{
    AUTO(spot) struct spot spot = SPOT_NONE;
    AUTO(open_file) struct open_file file = OPEN_FILE_NONE;
    struct read_job *job = arg;
    bool exists;

    TRY(spot_find(job->target, job->shown, &spot));
    TRY(open_file_open(&spot, &exists, &file));
    if (!exists)
        return path_missing(job->path, job->target, job->cwd, job->workspace, job->hidden);
    job->seen.stamp = file.stamp;
    return read_open(job, &file);
}

/* Keeps only the requested pages. */
static struct err *cut_pages(const struct read_job *job)
{
    struct str rest = job->args.pages, first_text, last_text;
    struct media *pdf = &job->result->media[0];
    int64_t first, last;
    uint32_t n_pages;

    if (!str_split(&rest, '-', &first_text))
        return NULL;
    last_text = rest.n ? rest : first_text;
    if (!str_to_int64(first_text, &first) || !str_to_int64(last_text, &last) || first < 1 ||
        last < first || last > UINT32_MAX)
        return err_hint(
            err_new(ERR_TOOL_FAILED, "there are no pages %" STR_FMT, STR_ARG(job->args.pages)),
            "pages count from 1: give one, such as 3, or a range, such as 1-5");
    TRY(media_cut_pages(pdf->data, (uint32_t)first, (uint32_t)last, &job->result->arena, &pdf->data,
                        &n_pages));
    last = MIN(last, (int64_t)n_pages);
    tool_result_addf(job->result, " It has %u page%s; ", n_pages, n_pages == 1 ? "" : "s");
    if (first == last)
        tool_result_addf(job->result, "page %u is here.", (unsigned)first);
    else
        tool_result_addf(job->result, "pages %u-%u are here.", (unsigned)first, (unsigned)last);
    return NULL;
}

static struct err *read_run(const struct tool *t, struct tool_context *c, const struct json *args,
                            struct tool_result *result)
{
    struct read_job job = {.cwd = tool_state_cwd(c->state),
                           .workspace = tool_state_workspace(c->state),
                           .hidden = c->hidden,
                           .capabilities = c->model ? c->model->capabilities : ~0u,
                           .result = result};
    struct err *e = read_args_parse(args, &job.args);
    struct file_seen earlier;

    if (e)
        return failure_as_result(result, e);
    sha256_init(&job.hash);
    job.path = path_given(c, result, job.args.path);
    job.shown = path_quoted(&result->arena, job.cwd, job.path);
    e = target_find(c, result, job.path, &job.target);
    if (e)
        return failure_as_result(result, e);
    earlier = file_seen_find(c->state, job.target);
    e = work_run(read_in_worker, &job);
    if (!e && !job.was_cancelled && result->n_media == 1)
        e = cut_pages(&job);
    if (e) {
        result->n_media = 0;
        return failure_as_result(result, e);
    }
    if (job.was_cancelled)
        return task_check();
    file_seen_add_earlier(&job.seen, &earlier);
    file_seen_add_part(&job.seen, &job.part);
    file_seen_settle(&job.seen);
    file_seen_remember(c->state, job.target, &job.seen);
    return NULL;
}

struct tool tool_read = {
    .name = "Read",
    .description =
        "Reads a file. Text comes with line numbers (number, tab, line): 2000 lines from offset, "
        "unless limit says otherwise. Lines over 10000 characters and results over 100000 bytes "
        "are cut, and a note says how to continue. Read a whole file rather than many small parts "
        "of it; of a large one read the part you need. Images (PNG, JPEG, GIF, WebP; large ones "
        "are scaled) and PDF documents are shown to you if you can see them. Notebooks (.ipynb) "
        "come as cells with their outputs; offset and limit count cells. Read a file before you "
        "change it with Edit or Write. Directories cannot be read: use Glob.",
    .schema =
        "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
        "\"file_path\":{\"type\":\"string\",\"minLength\":1,\"description\":"
        "\"Absolute path, or path relative to the working directory.\"},"
        "\"offset\":{\"type\":\"integer\",\"minimum\":0,\"description\":"
        "\"First line to read. The first line of a file is 1.\"},"
        "\"limit\":{\"type\":\"integer\",\"minimum\":1,\"description\":"
        "\"Number of lines to read. Default: 2000.\"},"
        "\"column\":{\"type\":\"integer\",\"minimum\":1,\"description\":"
        "\"Character of the first line to start at, from 1: continues a line that was cut.\"},"
        "\"pages\":{\"type\":\"string\",\"pattern\":\"^[0-9]+(-[0-9]+)?$\",\"description\":"
        "\"For a PDF: the pages you need, such as 3 or 1-5.\"}},"
        "\"required\":[\"file_path\"]}",
    .aliases = "filePath=file_path absolute_path=file_path path=file_path file=file_path",
    .adapt = read_args_adapt,
    .risk = RISK_INSPECT,
    .starts_early = true,
    .permission_arg = "file_path",
    .max_chars = 250000,
    .run = read_run,
};
