/* message.c - a line of type `user` as a message: text, images and documents. */
#include "cli/lines/parts.h"

#include "base/base64.h"
#include "base/file_kind.h"
#include "base/uuid.h"

static struct err *wrong(const char *what)
{
    return err_new(ERR_VALIDATION, "%s", what);
}

static struct err *add_text(struct message *m, struct str text)
{
    if (str_trim(text).n)
        message_add_text(m, text);
    return NULL;
}

/* --- media --- */

#define HEAD_BYTES 8192     /* that tell what a file is */
#define PDF_HEAD_BYTES 1024 /* in which the head of a document may begin */

/* What the bytes certainly are wins over what the host calls them. What is called an image or a PDF
 * and is neither would be refused by the provider, with this request and all that follow. */
static struct err *find_mime(struct str bytes, struct str called, struct str *ret_mime)
{
    struct file_kind kind = file_kind_of(str_slice(bytes, 0, HEAD_BYTES));
    bool is_image = kind.class == FILE_IMAGE || str_starts(str_of(kind.mime), S("image/"));
    bool is_late_pdf = str_is(called, "application/pdf") &&
                       str_find(str_slice(bytes, 0, PDF_HEAD_BYTES), S("%PDF-")) != STR_NONE;

    *ret_mime = called;
    if (is_image || kind.class == FILE_PDF)
        *ret_mime = str_of(kind.mime);
    else if ((str_starts(called, S("image/")) || str_is(called, "application/pdf")) && !is_late_pdf)
        return err_hint(err_new(ERR_VALIDATION,
                                "its media_type is %" STR_FMT ", but its data is %s",
                                STR_ARG(called), kind.name),
                        "send the bytes of the file itself, encoded as base64 once");
    return NULL;
}

static struct err *add_bytes(struct message *m, const struct json *source, struct str name)
{
    AUTO(strbuf) struct strbuf bytes = {0};
    struct str mime = json_get_text(source, "media_type");

    if (mime.n == 0)
        return wrong("a base64 source needs its media_type");
    TRY(base64_decode(&bytes, json_get_text(source, "data")));
    if (bytes.n == 0)
        return wrong("a base64 source needs its data");
    TRY(find_mime(strbuf_str(&bytes), mime, &mime));
    message_add(m, &(struct part){.kind = PART_MEDIA,
                                  .media = {.mime = mime,
                                            .source = MEDIA_BYTES,
                                            .data = strbuf_str(&bytes),
                                            .name = name}});
    return NULL;
}

/* What the address says; where it says nothing, what pictures mostly are. */
static struct str image_type(struct str url)
{
    static const struct {
        const char *ending, *mime;
    } types[] = {{".png", "image/png"}, {".gif", "image/gif"}, {".webp", "image/webp"}};
    size_t end = 0;

    while (end < url.n && url.p[end] != '?' && url.p[end] != '#')
        end++;
    url = str_slice(url, 0, end);
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        struct str ending = str_of(types[i].ending);

        if (url.n > ending.n && str_eq_nocase(str_skip(url, url.n - ending.n), ending))
            return str_of(types[i].mime);
    }
    return S("image/jpeg");
}

static struct err *add_url(struct message *m, const struct json *source, struct str mime,
                           struct str name)
{
    struct str url = json_get_text(source, "url");

    if (url.n == 0)
        return wrong("a url source needs its url");
    if (mime.n == 0)
        mime = image_type(url);
    message_add(
        m, &(struct part){.kind = PART_MEDIA,
                          .media = {.mime = mime, .source = MEDIA_URL, .data = url, .name = name}});
    return NULL;
}

static struct err *add_media(struct message *m, const struct json *block, struct str mime)
{
    const struct json *source = json_get(block, "source");
    struct str type = json_get_text(source, "type"), name = json_get_text(block, "title");

    if (str_is(type, "base64"))
        return add_bytes(m, source, name);
    if (str_is(type, "url"))
        return add_url(m, source, mime, name);
    if (str_is(type, "text"))
        return add_text(m, json_get_text(source, "data"));
    if (str_is(type, "file"))
        return err_hint(wrong("keel cannot use a file in the provider's storage: other models, and "
                              "this session when it is resumed, could not read it"),
                        "send its bytes as base64, or its address as url");
    return err_new(ERR_VALIDATION,
                   "the source of a block is base64, url or text, not \"%" STR_FMT "\"",
                   STR_ARG(type));
}

/* --- blocks --- */

static struct err *add_block(struct message *m, const struct json *block)
{
    struct str type = json_get_text(block, "type");

    if (str_is(type, "text"))
        return add_text(m, json_get_text(block, "text"));
    if (str_is(type, "image"))
        return add_media(m, block, (struct str){0});
    if (str_is(type, "document"))
        return add_media(m, block, S("application/pdf"));
    return err_new(ERR_VALIDATION,
                   "a prompt has text, image and document blocks, not \"%" STR_FMT "\"",
                   STR_ARG(type));
}

static struct err *add_content(struct message *m, const struct json *content)
{
    size_t n = 0;

    if (json_is(content, JSON_STRING))
        return add_text(m, content->text);
    if (!json_is(content, JSON_ARRAY))
        return wrong("message.content must be text or a list of blocks");
    json_each (block, content) {
        struct err *e = add_block(m, block);

        n++;
        if (e)
            return err_wrap(e, "message.content, block %zu (%" STR_FMT ")", n,
                            STR_ARG(json_get_text(block, "type")));
    }
    return NULL;
}

struct err *input_message(const struct json *line, struct message **ret_message)
{
    const struct json *message = json_get(line, "message");
    struct str id = json_get_text(line, "uuid"), role = json_get_text(message, "role");
    AUTO(message) struct message *m = message_new(ROLE_USER, uuid_is_valid(id) ? id : S(""));

    if (!str_is(role, "user"))
        return err_new(ERR_VALIDATION, "message.role must be \"user\", not \"%" STR_FMT "\"",
                       STR_ARG(role));
    if (!json_bool(json_get(line, "shouldQuery"), true))
        return wrong("shouldQuery cannot be false: every prompt is answered");
    TRY(add_content(m, json_get(message, "content")));
    if (m->n_parts == 0)
        return wrong("the prompt is empty");
    *ret_message = TAKE(m);
    return NULL;
}
