/* extras.c - reads what comes beside text and calls: pictures, speech, sources, and the work of the
 * provider's own tools. */
#include "provider/openai_chat/openai_chat.h"

#include "base/base64.h"

static struct err *read_base64(struct strbuf *out, struct str text, const char *what)
{
    struct err *e = base64_decode(out, text);

    if (!e)
        return NULL;
    e->kind = ERR_BAD_RESPONSE;
    return err_wrap(e, "cannot decode %s that the provider sent", what);
}

/* --- pictures --- */

/* "data:image/png;base64,AAAA" */
static struct err *read_data_url(struct str url, struct strbuf *bytes, struct media *m)
{
    size_t comma = str_find_char(url, ',');
    struct str head = str_skip(str_slice(url, 0, comma), strlen("data:")), mime;

    if (comma == STR_NONE || !str_ends(head, S(";base64")))
        return err_new(ERR_BAD_RESPONSE,
                       "cannot decode an image that the provider sent: not base64");
    TRY(read_base64(bytes, str_skip(url, comma + 1), "an image"));
    str_split(&head, ';', &mime);
    *m = (struct media){.mime = mime, .source = MEDIA_BYTES, .data = strbuf_str(bytes)};
    return NULL;
}

struct err *chat_take_image(struct reply *r, const struct json *image)
{
    const struct json *holder = json_get(image, "image_url");
    struct str url = json_is(holder, JSON_STRING) ? holder->text : json_get_text(holder, "url");
    struct media media = {.mime = S("image/*"), .source = MEDIA_URL, .data = url};
    AUTO(strbuf) struct strbuf bytes = {0};
    size_t index;

    if (url.n == 0)
        return NULL;
    if (str_starts(url, S("data:")))
        TRY(read_data_url(url, &bytes, &media));
    TRY(reply_begin(r, PART_MEDIA, (struct str){0}, (struct str){0}, &index));
    return reply_set_media(r, index, &media);
}

/* --- speech --- */

static struct str audio_type(struct str bytes)
{
    static const struct {
        struct str start;
        const char *mime;
    } types[] = {
        {{"RIFF", 4}, "audio/wav"},  {{"ID3", 3}, "audio/mpeg"}, {{"\xFF\xFB", 2}, "audio/mpeg"},
        {{"fLaC", 4}, "audio/flac"}, {{"OggS", 4}, "audio/ogg"},
    };

    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (str_starts(bytes, types[i].start))
            return str_of(types[i].mime);
    return S("audio/pcm");
}

/* The spoken words become the part's text; the bytes collect in its args until the end. */
struct err *chat_take_audio(struct reply *r, struct chat_audio *s, const struct json *audio)
{
    AUTO(strbuf) struct strbuf bytes = {0};
    struct str id = json_get_text(audio, "id"), data = json_get_text(audio, "data");
    struct str words = json_get_text(audio, "transcript");

    if (id.n == 0 && data.n == 0 && words.n == 0)
        return NULL;
    if (!s->has_part)
        TRY(reply_begin(r, PART_MEDIA, id, (struct str){0}, &s->part));
    s->has_part = true;
    TRY(read_base64(&bytes, data, "speech"));
    TRY(reply_add_args(r, s->part, strbuf_str(&bytes)));
    return reply_add_text(r, s->part, words);
}

struct err *chat_settle_audio(struct reply *r, const struct chat_audio *s)
{
    struct media media = {.source = MEDIA_BYTES};

    if (!s->has_part)
        return NULL;
    media.data = reply_take_args(r, s->part);
    media.mime = audio_type(media.data);
    return reply_set_media(r, s->part, &media);
}

/* --- sources --- */

static struct err *add_citation(struct reply *r, struct str url, struct str title, struct str text,
                                struct str native)
{
    struct part *p;
    size_t index;

    TRY(reply_begin(r, PART_CITATION, (struct str){0}, (struct str){0}, &index));
    p = reply_part(r, index);
    TRY(reply_set_field(r, &p->url, url));
    TRY(reply_set_field(r, &p->title, title));
    TRY(reply_set_field(r, &p->native, native));
    return reply_add_text(r, index, text);
}

struct err *chat_take_annotation(struct reply *r, const struct json *annotation)
{
    const struct json *source = json_get(annotation, "url_citation");

    if (!json_is(source, JSON_OBJECT))
        return NULL;
    return add_citation(r, json_get_text(source, "url"), json_get_text(source, "title"),
                        json_get_text(source, "content"), annotation->raw);
}

/* "search_results" says more than "citations", which has only addresses. */
struct err *chat_take_sources(struct reply *r, const struct json *event, bool *ret_found)
{
    const struct json *results = json_get(event, "search_results");
    const struct json *list = json_is(results, JSON_ARRAY) ? results : json_get(event, "citations");

    *ret_found = json_is(list, JSON_ARRAY) && list->n > 0;
    json_each (source, json_is(list, JSON_ARRAY) ? list : NULL) {
        struct str url = json_is(source, JSON_STRING) ? source->text : json_get_text(source, "url");
        TRY(add_citation(r, url, json_get_text(source, "title"), json_get_text(source, "snippet"),
                         source->raw));
    }
    return NULL;
}

/* --- hosted tools --- */

/* A tool is reported when it starts, and again with its output when it has ended. */
static struct err *take_executed_tool(struct reply *r, const struct json *tool)
{
    struct str id = arena_format(&r->arena, "executed_%lld",
                                 (long long)json_int_or(json_get(tool, "index"), 0));
    struct str name = json_get_text(tool, "type");
    bool is_known = false;
    size_t index;

    for (size_t i = 0; i < r->n_parts && !is_known; i++)
        is_known = r->parts[i].part.kind == PART_SERVER_TOOL_USE && str_eq(r->parts[i].part.id, id);
    if (!is_known) {
        TRY(reply_begin(r, PART_SERVER_TOOL_USE, id, name, &index));
        TRY(reply_add_args(r, index, json_get_text(tool, "arguments")));
    }
    if (!json_is(json_get(tool, "output"), JSON_STRING))
        return NULL;
    TRY(reply_begin(r, PART_SERVER_TOOL_RESULT, id, name, &index));
    TRY(reply_set_field(r, &reply_part(r, index)->native, tool->raw));
    return reply_add_text(r, index, json_get_text(tool, "output"));
}

struct err *chat_take_executed_tools(struct reply *r, const struct json *tools)
{
    json_each (tool, tools)
        TRY(take_executed_tool(r, tool));
    return NULL;
}
