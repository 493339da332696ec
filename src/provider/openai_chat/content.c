/* content.c - writes texts and files as parts of a message's content. */
#include "provider/openai_chat/openai_chat.h"

void chat_write_text(struct body *b, struct str text)
{
    jw_begin_object(&b->w);
    jw_kv_str(&b->w, "type", S("text"));
    jw_kv_str(&b->w, "text", text);
    jw_end_object(&b->w);
}

/* Writes {"type": KIND, KIND: { */
static void begin_part(struct body *b, const char *kind)
{
    jw_begin_object(&b->w);
    jw_kv_str(&b->w, "type", str_of(kind));
    jw_key(&b->w, kind);
    jw_begin_object(&b->w);
}

static void end_part(struct body *b)
{
    jw_end_object(&b->w);
    jw_end_object(&b->w);
}

static struct err *write_image(struct body *b, const struct media *m)
{
    begin_part(b, "image_url");
    jw_key(&b->w, "url");
    TRY(jw_media_url(&b->w, b->request, m));
    end_part(b);
    return NULL;
}

static struct err *write_document(struct body *b, const struct media *m)
{
    begin_part(b, "file");
    jw_kv_str(&b->w, "filename", m->name.n ? m->name : S("document.pdf"));
    jw_key(&b->w, "file_data");
    TRY(jw_media_url(&b->w, b->request, m));
    end_part(b);
    return NULL;
}

static const char *audio_format(const struct media *m)
{
    static const struct {
        const char *mime, *format;
    } formats[] = {
        {"audio/wav", "wav"},  {"audio/x-wav", "wav"}, {"audio/wave", "wav"},
        {"audio/mpeg", "mp3"}, {"audio/mp3", "mp3"},
    };

    for (size_t i = 0; i < ARRAY_LEN(formats); i++)
        if (str_is(m->mime, formats[i].mime))
            return formats[i].format;
    return NULL;
}

static struct err *write_audio(struct body *b, const struct media *m)
{
    begin_part(b, "input_audio");
    jw_key(&b->w, "data");
    TRY(jw_media(&b->w, b->request, m, (struct str){0}));
    jw_kv_str(&b->w, "format", str_of(audio_format(m)));
    end_part(b);
    return NULL;
}

/* A text file is sent as text, after its name. */
static struct err *write_text_file(struct body *b, const struct media *m)
{
    AUTO(strbuf) struct strbuf loaded = {0}, text = {0};
    struct str bytes;

    TRY(media_bytes(b->request, m, &loaded, &bytes));
    if (m->name.n)
        strbuf_addf(&text, "%" STR_FMT ":\n", STR_ARG(m->name));
    strbuf_add(&text, text_is_blank(bytes) ? S("(empty file)") : bytes);
    TRY(strbuf_check(&text, "a text file"));
    chat_write_text(b, strbuf_str(&text));
    return NULL;
}

struct err *chat_write_media(struct body *b, const struct media *m)
{
    bool is_here = m->source != MEDIA_URL;

    if (media_is(m, "image/"))
        return write_image(b, m);
    if (media_is(m, "application/pdf") && (is_here || b->dialect->file_urls))
        return write_document(b, m);
    if (audio_format(m) && is_here)
        return write_audio(b, m);
    if (media_is(m, "text/") && is_here)
        return write_text_file(b, m);
    return media_unsupported(m, "the Chat Completions API");
}
