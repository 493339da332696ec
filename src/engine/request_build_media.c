/* request_build_media.c - which files a request may hold.
 *
 * A file that one provider took stays in the history, and the next one may not take it: the
 * conversation must continue all the same. */
#include "engine/request_build_parts.h"

#include "base/quoted.h"
#include "base/utf8.h"

#include <string.h>

/* --- white space --- */

static bool is_space(uint32_t c)
{
    return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 ||
           c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
           c == 0x202F || c == 0x205F || c == 0x3000;
}

bool request_is_blank(struct str text)
{
    while (text.n) {
        uint32_t c;
        unsigned n = utf8_decode(text, &c);

        if (n == 0 || !is_space(c))
            return false;
        text = str_skip(text, n);
    }
    return true;
}

/* --- types --- */

static char to_lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

/* "Image/PNG; x=y" is image/png, and some types have a second name. */
static struct str plain_mime(struct arena *a, struct str mime)
{
    static const char *const names[][2] = {{"image/jpg", "image/jpeg"},
                                           {"audio/x-wav", "audio/wav"},
                                           {"audio/wave", "audio/wav"},
                                           {"audio/mp3", "audio/mpeg"},
                                           {"application/x-pdf", "application/pdf"}};
    size_t end = str_find_char(mime, ';');
    struct str cut = str_trim(str_slice(mime, 0, end == STR_NONE ? mime.n : end));
    char *text = ARENA_ARRAY(a, cut.n + 1, char);

    for (size_t i = 0; i < cut.n; i++)
        text[i] = to_lower(cut.p[i]);
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strcmp(text, names[i][0]) == 0)
            return str_of(names[i][1]);
    return str_make(text, cut.n);
}

struct media request_media(struct arena *a, const struct media *m)
{
    struct media media = *m;

    media.mime = plain_mime(a, m->mime);
    if (request_is_blank(m->name))
        media.name = (struct str){0};
    return media;
}

/* --- what protocols take --- */

static bool has_word(const char *words, struct str word)
{
    for (const char *p = words; word.n && (p = strchr(p, ' ')) && p[1]; p++)
        if (strncmp(p + 1, word.p, word.n) == 0 && p[1 + word.n] == ' ')
            return true;
    return false;
}

/* By its name, or by its family: "text/". */
static bool lists(const char *types, struct str mime)
{
    size_t slash = str_find_char(mime, '/');

    return has_word(types, mime) ||
           (slash != STR_NONE && has_word(types, str_slice(mime, 0, slash + 1)));
}

static bool takes_type(const char *types, struct str mime)
{
    return !types || lists(types, mime);
}

/* Letters of RFC 2045: the type may come from a tool, and goes into a URL as it is. */
static bool is_type(struct str mime)
{
    for (size_t i = 0; i < mime.n; i++) {
        char c = mime.p[i];

        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && !strchr("/+.-_", c))
            return false;
    }
    return mime.n > 0;
}

static bool is_address(struct str url)
{
    return str_starts(url, S("https://")) || str_starts(url, S("http://")) ||
           str_starts(url, S("gs://"));
}

static bool is_empty(const struct media *m)
{
    bool is_text = str_starts(m->mime, S("text/")) && m->source == MEDIA_BYTES;

    return m->data.n == 0 || (is_text && request_is_blank(m->data));
}

static bool is_perceived(const struct model_info *info, struct str mime)
{
    unsigned can = info ? info->capabilities : ~0u;

    if (str_starts(mime, S("image/")))
        return can & CAN_SEE_IMAGES;
    if (str_is(mime, "application/pdf"))
        return can & CAN_READ_PDF;
    if (str_starts(mime, S("audio/")))
        return can & CAN_HEAR_AUDIO;
    return true;
}

static bool is_untyped_address(const struct media *m)
{
    return m->source == MEDIA_URL && m->mime.n == 0 && is_address(m->data);
}

bool request_takes_media(const struct request_target *t, const struct media *m,
                         enum file_place place)
{
    const struct message_form *form = request_form(t);
    bool is_pdf_address = m->source == MEDIA_URL && str_is(m->mime, "application/pdf");

    if (!is_perceived(t->info, m->mime))
        return false;
    if (!t->form || (form->finds_types && is_untyped_address(m)))
        return true;
    if (is_empty(m) || !is_type(m->mime) || (m->source == MEDIA_URL && !is_address(m->data)))
        return false;
    if (place == FILE_IN_ANSWER)
        return form->answers && lists(form->answers, m->mime) &&
               (m->source == MEDIA_URL || takes_type(form->bytes, m->mime));
    return takes_type(m->source == MEDIA_URL ? form->addresses : form->bytes, m->mime) ||
           (is_pdf_address && t->takes_file_urls);
}

static const char *kind_word(const struct media *m)
{
    if (str_starts(m->mime, S("image/")))
        return "image";
    return str_is(m->mime, "application/pdf") ? "document" : "file";
}

struct str request_name_media(struct arena *a, const struct request_target *t,
                              const struct media *m)
{
    struct str name = m->name.n ? m->name : S("without a name");

    if (m->source == MEDIA_URL && is_address(m->data) && is_perceived(t->info, m->mime))
        return arena_format(
            a, "[%s at %" STR_FMT " left out: this provider accepts %ss only as bytes]",
            kind_word(m), STR_ARG(m->data), kind_word(m));
    if (is_empty(m))
        return arena_format(a, "[A file of type %" STR_FMT " (%" STR_FMT ") is empty.]",
                            STR_ARG(m->mime), STR_ARG(name));
    return arena_format(
        a, "[A file of type %" STR_FMT " (%" STR_FMT ") was left out: this model cannot read it.]",
        STR_ARG(m->mime), STR_ARG(name));
}

struct str request_name_refused(struct arena *a, const struct media *m, struct str reason)
{
    struct str name = m->name.n ? quoted(a, m->name) : S("without a name");

    return arena_format(a, "[%s (%" STR_FMT ") left out: the provider refused it: %" STR_FMT "]",
                        kind_word(m), STR_ARG(name), STR_ARG(reason));
}
