/* reasoning.c - reads reasoning, as text and as details that must be sent back.
 *
 * Vendors have three names for the text. Routers add reasoning_details: the same text, cut into
 * typed pieces, with signatures and encrypted data that the provider behind them needs back. The
 * text is read once; the details are kept for replay. */
#include "provider/openai_chat/openai_chat.h"

static struct str plain_text(const struct json *said)
{
    static const char *const names[] = {"reasoning_content", "reasoning", "reasoning_text"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct str text = json_get_text(said, names[i]);
        if (text.n)
            return text;
    }
    return (struct str){0};
}

static struct str thought_text(const struct json *thought)
{
    struct str text = json_get_text(thought, "text");

    return text.n ? text : json_get_text(thought, "summary");
}

static struct err *choose_part(struct reply *r, size_t *ret_part)
{
    for (*ret_part = 0; *ret_part < r->n_parts; ++*ret_part)
        if (r->parts[*ret_part].part.kind == PART_REASONING)
            return NULL;
    return reply_begin(r, PART_REASONING, (struct str){0}, (struct str){0}, ret_part);
}

/* All details go into one part, the first, and collect in its args until the end. */
static struct err *take_thought(struct reply *r, struct chat_reasoning *s,
                                const struct json *thought)
{
    if (!s->has_plain_text)
        TRY(chat_add_piece(r, PART_REASONING, thought_text(thought)));
    if (!s->has_part)
        TRY(choose_part(r, &s->part));
    s->has_part = true;
    if (reply_part_args(r, s->part).n)
        TRY(reply_add_args(r, s->part, S(",")));
    return reply_add_args(r, s->part, thought->raw);
}

struct err *chat_take_reasoning(struct reply *r, struct chat_reasoning *s, const struct json *said,
                                bool is_whole)
{
    struct str text = plain_text(said);

    s->is_whole = is_whole;
    s->has_plain_text |= text.n > 0;
    TRY(chat_add_piece(r, PART_REASONING, text));
    json_each (thought, json_get(said, "reasoning_details"))
        TRY(take_thought(r, s, thought));
    return NULL;
}

/* Does `next` continue the thought of `last`? A signature ends a thought, and encrypted data come
 * whole. */
static bool continues(const struct json *last, const struct json *next)
{
    const struct json *index = json_get(last, "index"), *next_index = json_get(next, "index");

    if (json_get_text(last, "signature").n || json_has(last, "data") || json_has(next, "data"))
        return false;
    return str_eq(json_get_text(last, "type"), json_get_text(next, "type")) &&
           (index && next_index ? json_equal(index, next_index) : index == next_index);
}

/* Makes `first` what it would be in one piece: joins the texts of all pieces up to `end`. */
static void merge(struct arena *a, struct json *first, const struct json *end)
{
    static const char *const keys[] = {"text", "summary", "signature"};

    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        AUTO(strbuf) struct strbuf text = {0};

        strbuf_init(&text, REPLY_MAX_BYTES);
        for (const struct json *piece = first; piece != end; piece = piece->next)
            strbuf_add(&text, json_get_text(piece, keys[i]));
        if (text.n)
            json_set_str(a, first, keys[i], strbuf_str(&text));
    }
}

/* Writes the details as a whole answer would have them; whole ones keep their bytes. */
static void write_thoughts(struct arena *a, struct json *list, bool is_whole, struct strbuf *out)
{
    struct json_writer w;
    struct json *next;

    jw_init(&w, out);
    jw_begin_array(&w);
    for (struct json *first = list->first; first; first = next) {
        struct json *last = first;

        while (last->next && !is_whole && continues(last, last->next))
            last = last->next;
        next = last->next;
        if (last == first) {
            jw_raw(&w, first->raw);
        } else {
            merge(a, first, next);
            jw_json(&w, first);
        }
    }
    jw_end_array(&w);
}

struct err *chat_settle_reasoning(struct decode *d, const struct chat_reasoning *s)
{
    AUTO(strbuf) struct strbuf list = {0}, native = {0};
    struct json *thoughts;

    if (!s->has_part)
        return NULL;
    strbuf_init(&list, REPLY_MAX_BYTES);
    strbuf_init(&native, REPLY_MAX_BYTES);
    strbuf_add_char(&list, '[');
    strbuf_add(&list, reply_take_args(d->reply, s->part));
    strbuf_add_char(&list, ']');
    TRY(strbuf_check(&list, "the reasoning"));
    TRY(json_parse(&d->scratch, strbuf_str(&list), JSON_REPAIR_UTF8, &thoughts));
    write_thoughts(&d->scratch, thoughts, s->is_whole, &native);
    TRY(strbuf_check(&native, "the reasoning"));
    return reply_set_field(d->reply, &reply_part(d->reply, s->part)->native, strbuf_str(&native));
}
