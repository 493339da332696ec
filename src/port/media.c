/* media.c - asks keel-media, and says what came of it. */
#include "port/media.h"

#include "base/file_kind.h"
#include "base/image_head.h"
#include "base/quoted.h"
#include "media/protocol.h"
#include "sys/proc.h"

#include <string.h>

#define TIMEOUT_MS 30000
#define ERROR_BYTES 2000
/* What is sent unscaled where there is no keel-media. */
#define PLAIN_IMAGE_BYTES ((size_t)5 << 20)
#define HEAD_BYTES 8192     /* that tell what a file is */
#define PDF_HEAD_BYTES 1024 /* in which the head of a document may begin */

/* --- the program --- */

struct media_answer {
    struct media_reply head;
    struct str text, bytes; /* in `output` */
    struct proc_output output;
    const char *missing; /* why there is none; NULL: the program ran */
};

static void answer_done(struct media_answer *x)
{
    proc_output_done(&x->output);
    *x = (struct media_answer){0};
}

static bool parse_answer(struct media_answer *x)
{
    struct str out = strbuf_str(&x->output.out);

    if (out.n < sizeof x->head)
        return false;
    memcpy(&x->head, out.p, sizeof x->head);
    out = str_skip(out, sizeof x->head);
    if (x->head.version != MEDIA_PROTOCOL_VERSION || x->head.n_text > MEDIA_MAX_TEXT ||
        x->head.n_text > out.n || x->head.n_bytes != out.n - x->head.n_text)
        return false;
    x->text = str_slice(out, 0, x->head.n_text);
    x->bytes = str_skip(out, x->head.n_text);
    return true;
}

/* One that crashes over a file is not asked about it again, and its file is not sent. */
static void note_crash(struct media_answer *x)
{
    const struct proc_status *s = &x->output.status;

    x->head = (struct media_reply){.outcome = MEDIA_BROKEN};
    if (x->output.timed_out)
        x->text = S("decoding it takes too long");
    else if (s->exited && s->exit_code == 3)
        x->missing = "keel-media cannot be confined here";
    else if (s->exited && s->exit_code == 0)
        x->missing = "keel-media has a different version";
    else
        x->text = S("the decoder crashed on it");
}

/* Only a cancelled or expired task is an error, and leaves nothing to free. */
static struct err *ask_program(const struct media_request *r, struct str file,
                               struct media_answer *ret)
{
    AUTO(strbuf) struct strbuf input = {0};
    AUTO(err) struct err *e = NULL;
    char path[4096];
    const char *const argv[] = {path, NULL};
    struct proc_spec spec = {.argv = argv, .stdin_kind = PROC_STDIN_BYTES};

    *ret = (struct media_answer){0};
    e = proc_find_media(path);
    if (e) {
        ret->missing = "keel-media is not installed";
        return NULL;
    }
    strbuf_add(&input, str_make((const char *)r, sizeof *r));
    strbuf_add(&input, file);
    spec.stdin_bytes = strbuf_str(&input);
    strbuf_init(&ret->output.out, sizeof ret->head + MEDIA_MAX_TEXT + MEDIA_MAX_FILE_BYTES);
    strbuf_init(&ret->output.err, ERROR_BYTES);
    e = proc_run(&spec, TIMEOUT_MS, &ret->output);
    if (err_is(e, ERR_CANCELLED) || err_is(e, ERR_TIMEOUT)) {
        answer_done(ret);
        return TAKE(e);
    }
    if (e)
        ret->missing = "keel-media cannot be started";
    else if (!parse_answer(ret))
        note_crash(ret);
    return NULL;
}

/* --- images --- */

/* One file on its way into the history. */
struct fitting {
    const struct media_limits *limits;
    struct media *media;
    struct arena *arena;
    struct strbuf *note;
    struct str name; /* as it can be shown: "a.png " with a blank behind it, or nothing */
};

static void say_left_out(const struct fitting *f, const char *what, struct str why)
{
    strbuf_addf(f->note, "[%s %" STR_FMT "left out: %" STR_FMT "]\n", what, STR_ARG(f->name),
                STR_ARG(why));
}

static void say_broken(const struct fitting *f, const struct image_head *h)
{
    AUTO(strbuf) struct strbuf why = {0};

    if (h->state == IMAGE_CUT)
        strbuf_addf(&why, "the %s is cut off after %zu bytes", h->name, f->media->data.n);
    else
        strbuf_addf(&why, "the %s is broken: %s", h->name, h->problem);
    say_left_out(f, "image", strbuf_str(&why));
}

static bool is_over(const struct fitting *f, const struct image_head *h)
{
    const struct media_limits *l = f->limits;

    return (l->max_edge && MAX(h->width, h->height) > l->max_edge) ||
           (l->max_image_bytes && f->media->data.n > l->max_image_bytes) ||
           (l->no_gif && str_is(str_of(h->name), "GIF"));
}

/* It could not be scaled: as it is, if that is not too much. */
static bool keep_unscaled(const struct fitting *f, const struct image_head *h, const char *why)
{
    AUTO(strbuf) struct strbuf text = {0};

    strbuf_addf(&text, "it is %ux%u pixels and %zu bytes large, and %s", h->width, h->height,
                f->media->data.n, why);
    if (f->media->data.n > PLAIN_IMAGE_BYTES) {
        say_left_out(f, "image", strbuf_str(&text));
        return false;
    }
    strbuf_addf(f->note, "[image %" STR_FMT "was not scaled: %s]\n", STR_ARG(f->name),
                strbuf_cstr(&text));
    return true;
}

static bool take_scaled(const struct fitting *f, const struct media_answer *x,
                        const struct image_head *h)
{
    AUTO(strbuf) struct strbuf why = {0};
    struct image_head made;

    if (x->missing)
        return keep_unscaled(f, h, x->missing);
    if (x->head.outcome != MEDIA_DONE || !image_head_read(x->bytes, &made) ||
        made.state != IMAGE_WHOLE) {
        strbuf_addf(&why, "it is %ux%u pixels large and cannot be scaled: %" STR_FMT, h->width,
                    h->height, STR_ARG(x->text.n ? x->text : S("the result is not an image")));
        say_left_out(f, "image", strbuf_str(&why));
        return false;
    }
    f->media->data = arena_str(f->arena, x->bytes);
    f->media->mime = str_of(made.mime);
    if (str_is(str_of(h->name), "GIF"))
        strbuf_addf(f->note, "[image %" STR_FMT "is a GIF: its first frame is here]\n",
                    STR_ARG(f->name));
    if (made.width != h->width || made.height != h->height)
        strbuf_addf(f->note, "[image %" STR_FMT "scaled from %ux%u to %ux%u pixels]\n",
                    STR_ARG(f->name), h->width, h->height, made.width, made.height);
    return true;
}

/* Not of the formats whose structure is known. What its bytes certainly are wins over what it is
 * called; the request's builder knows who takes it. */
static bool take_other(const struct fitting *f, const char *what)
{
    struct file_kind kind = file_kind_of(str_slice(f->media->data, 0, HEAD_BYTES));
    AUTO(strbuf) struct strbuf why = {0};

    if (kind.class == FILE_IMAGE || str_starts(str_of(kind.mime), S("image/"))) {
        f->media->mime = str_of(kind.mime);
        return true;
    }
    strbuf_addf(&why, "it is called %" STR_FMT ", but its bytes are %s", STR_ARG(f->media->mime),
                kind.name);
    say_left_out(f, what, strbuf_str(&why));
    return false;
}

static struct err *fit_image(const struct fitting *f, bool *ret_is_fine)
{
    const struct media_limits *l = f->limits;
    struct image_head head;
    struct media_answer answer;
    struct err *e;

    if (!image_head_read(f->media->data, &head)) {
        *ret_is_fine = take_other(f, "image");
        return NULL;
    }
    f->media->mime = str_of(head.mime); /* some say one and send another, which providers refuse */
    if (head.state != IMAGE_WHOLE) {
        say_broken(f, &head);
        *ret_is_fine = false;
        return NULL;
    }
    if (!is_over(f, &head))
        return NULL;
    e = ask_program(&(struct media_request){.version = MEDIA_PROTOCOL_VERSION,
                                            .work = MEDIA_SCALE,
                                            .max_edge = l->max_edge ? l->max_edge : UINT32_MAX,
                                            .max_bytes = l->max_image_bytes ? l->max_image_bytes
                                                                            : MEDIA_MAX_FILE_BYTES,
                                            .n_bytes = f->media->data.n},
                    f->media->data, &answer);
    if (!e)
        *ret_is_fine = take_scaled(f, &answer, &head);
    answer_done(&answer);
    return e;
}

/* --- documents --- */

/* How to get a part of it, where the provider does not take it whole. */
static bool check_pages(const struct fitting *f, uint32_t n_pages)
{
    const struct media_limits *l = f->limits;
    AUTO(strbuf) struct strbuf why = {0};
    bool is_long = l->max_pdf_pages && n_pages > l->max_pdf_pages;
    bool is_large = l->max_pdf_bytes && f->media->data.n > l->max_pdf_bytes;

    if (!is_long && !is_large)
        return true;
    strbuf_addf(&why, "it has %u pages and %zu bytes, ", n_pages, f->media->data.n);
    if (is_long)
        strbuf_addf(&why, "over the %u pages that the provider accepts", l->max_pdf_pages);
    else
        strbuf_addf(&why, "over the %zu bytes that the provider accepts", l->max_pdf_bytes);
    strbuf_addf(&why, "; read some of it: Read with pages \"1-%u\"", MIN(n_pages, 20u));
    say_left_out(f, "document", strbuf_str(&why));
    return false;
}

/* Nobody can look into it: as it is, if that is not too much. */
static bool keep_whole(const struct fitting *f)
{
    const size_t max = f->limits->max_pdf_bytes;

    if (!max || f->media->data.n <= max)
        return true;
    say_left_out(f, "document", S("it is larger than the provider accepts"));
    return false;
}

static struct err *fit_pdf(const struct fitting *f, bool *ret_is_fine)
{
    struct media_answer answer;

    TRY(ask_program(&(struct media_request){.version = MEDIA_PROTOCOL_VERSION,
                                            .work = MEDIA_COUNT,
                                            .max_bytes = 1,
                                            .n_bytes = f->media->data.n},
                    f->media->data, &answer));
    if (answer.missing || answer.head.outcome == MEDIA_UNKNOWN) {
        *ret_is_fine = keep_whole(f);
    } else if (answer.head.outcome == MEDIA_DONE) {
        *ret_is_fine = check_pages(f, answer.head.n_pages);
    } else {
        *ret_is_fine = false;
        say_left_out(f, "document", answer.text);
    }
    answer_done(&answer);
    return NULL;
}

struct err *media_cut_pages(struct str pdf, uint32_t first, uint32_t last, struct arena *a,
                            struct str *ret_pdf, uint32_t *ret_n_pages)
{
    struct media_answer answer;
    struct err *e = ask_program(&(struct media_request){.version = MEDIA_PROTOCOL_VERSION,
                                                        .work = MEDIA_PAGES,
                                                        .first_page = first,
                                                        .last_page = last,
                                                        .max_bytes = MEDIA_MAX_FILE_BYTES,
                                                        .n_bytes = pdf.n},
                                pdf, &answer);

    if (!e && answer.missing)
        e = err_hint(err_new(ERR_TOOL_FAILED, "cannot extract pages: %s", answer.missing),
                     "omit pages to get the whole file, or use a program such as pdftotext");
    else if (!e && answer.head.outcome != MEDIA_DONE)
        e = err_new(ERR_TOOL_FAILED, "cannot extract pages %u-%u: %" STR_FMT, first, last,
                    STR_ARG(answer.text));
    if (!e) {
        *ret_pdf = arena_str(a, answer.bytes);
        *ret_n_pages = answer.head.n_pages;
    }
    answer_done(&answer);
    return e;
}

/* --- any file --- */

struct err *media_fit(const struct media_limits *l, struct media *m, struct arena *a,
                      struct strbuf *note, bool *ret_is_fine)
{
    struct fitting f = {.limits = l, .media = m, .arena = a, .note = note};
    struct image_head head;

    *ret_is_fine = true;
    if (m->source != MEDIA_BYTES || m->data.n > MEDIA_MAX_FILE_BYTES)
        return NULL;
    if (m->name.n)
        f.name = arena_format(a, "%" STR_FMT " ", STR_ARG(quoted(a, m->name)));
    if (str_starts(m->data, S("%PDF-"))) {
        m->mime = S("application/pdf");
        return fit_pdf(&f, ret_is_fine);
    }
    if (str_starts(m->mime, S("image/")) || image_head_read(m->data, &head))
        return fit_image(&f, ret_is_fine);
    /* Readers take a document with other bytes before its head. */
    if (str_is(m->mime, "application/pdf") &&
        str_find(str_slice(m->data, 0, PDF_HEAD_BYTES), S("%PDF-")) == STR_NONE)
        *ret_is_fine = take_other(&f, "document");
    return NULL;
}

static bool has_media(const struct message *m)
{
    for (size_t i = 0; i < m->n_parts; i++)
        if (m->parts[i].kind == PART_MEDIA && m->parts[i].media.source == MEDIA_BYTES)
            return true;
    return false;
}

static struct err *add_fitted(const struct media_limits *l, struct message *to,
                              const struct part *p)
{
    AUTO(strbuf) struct strbuf note = {0};
    struct part sent = *p;
    bool is_fine;

    TRY(media_fit(l, &sent.media, &to->arena, &note, &is_fine));
    if (is_fine)
        message_add(to, &sent);
    if (note.n)
        message_add_context(to, str_trim(strbuf_str(&note)));
    return NULL;
}

struct err *media_fit_message(const struct media_limits *l, struct message *m,
                              struct message **ret_message)
{
    AUTO(message) struct message *copy = NULL;

    if (!has_media(m)) {
        *ret_message = message_ref(m);
        return NULL;
    }
    copy = message_new(m->role, m->id);
    for (size_t i = 0; i < m->n_parts; i++) {
        if (m->parts[i].kind == PART_MEDIA)
            TRY(add_fitted(l, copy, &m->parts[i]));
        else
            message_add(copy, &m->parts[i]);
    }
    *ret_message = TAKE(copy);
    return NULL;
}
