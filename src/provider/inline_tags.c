/* inline_tags.c - splits a stream of text at the tags of reasoning and calls. */
#include "provider/inline_tags.h"

#include "provider/inline_call.h"

#define CALL_END "</tool_call>"
#define MISTRAL "[TOOL_CALLS]"

static const struct inline_tag {
    const char *text;
    int from, to;
} tags[] = {
    {"<think>", INLINE_TEXT, INLINE_THOUGHT},     {"<thinking>", INLINE_TEXT, INLINE_THOUGHT},
    {"<tool_call>", INLINE_TEXT, INLINE_CALL},    {"</think>", INLINE_THOUGHT, INLINE_TEXT},
    {"</thinking>", INLINE_THOUGHT, INLINE_TEXT}, {CALL_END, INLINE_CALL, INLINE_TEXT},
    {MISTRAL, INLINE_TEXT, INLINE_CALL},          {"<|python_tag|>", INLINE_TEXT, INLINE_CALL},
    {"</think>", INLINE_TEXT, INLINE_TEXT},
};

/* Thoughts, and calls without an end of their own, begin a line. An end of thoughts that had no
 * beginning is the first tag of all, and nobody quotes it. */
static bool may_stand_here(const struct inline_tags *t, const struct inline_tag *tag)
{
    if (tag->from != (int)t->within)
        return false;
    if (tag->from == tag->to)
        return !t->is_behind && t->has_said && t->last != '`' && t->last != '"' && t->last != '\'';
    if (tag->to == INLINE_CALL)
        return str_is(str_of(tag->text), "<tool_call>") || !t->has_word;
    return tag->to != INLINE_THOUGHT || !t->has_word;
}

/* The tag that the text begins with. NULL, and *ret_is_part: it may be one when more has come. */
static const struct inline_tag *find_tag(const struct inline_tags *t, struct str text,
                                         bool *ret_is_part)
{
    *ret_is_part = false;
    for (size_t i = 0; i < ARRAY_LEN(tags); i++) {
        struct str tag = str_of(tags[i].text);

        if (!may_stand_here(t, &tags[i]))
            continue;
        if (str_starts(text, tag))
            return &tags[i];
        *ret_is_part |= text.n < tag.n && str_starts(tag, text);
    }
    return NULL;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Keeps track of lines and fences. A fence of one kind is closed by its own kind only. */
static void note_char(struct inline_tags *t, char c)
{
    t->last = c;
    if (c == '\n') {
        t->has_word = false;
        t->n_marks = 0;
        return;
    }
    if ((c == '`' || c == '~') && (!t->has_word || (t->n_marks && t->mark == c))) {
        t->mark = c;
        if (++t->n_marks == 3 && (!t->fence || t->fence == c))
            t->fence = t->fence ? 0 : c;
    } else if (!is_blank(c)) {
        t->n_marks = 0;
    }
    t->has_word |= !is_blank(c);
    t->has_said |= !is_blank(c);
}

/* --- what stands between the tags --- */

/* Holds white space back that the answer begins with; false: it is too much of it. */
static bool hold_blanks(struct inline_tags *t, struct str blanks)
{
    if (t->n_blanks + blanks.n > sizeof t->blanks)
        return false;
    memcpy(t->blanks + t->n_blanks, blanks.p, blanks.n);
    t->n_blanks += blanks.n;
    return true;
}

static struct err *give_blanks(struct inline_tags *t, struct reply *r, enum part_kind kind)
{
    struct str blanks = str_make(t->blanks, t->n_blanks);

    t->n_blanks = 0;
    return blanks.n ? t->add(r, kind, blanks) : NULL;
}

static struct err *add_words(struct inline_tags *t, struct reply *r, enum part_kind kind,
                             struct str text)
{
    size_t n = 0;

    while (!t->has_begun && n < text.n && is_blank(text.p[n]))
        n++;
    if (n && !t->is_behind && !hold_blanks(t, str_slice(text, 0, n)))
        n = 0;
    text = str_skip(text, n);
    if (text.n == 0)
        return NULL;
    t->has_begun = true;
    TRY(give_blanks(t, r, kind));
    return t->add(r, kind, text);
}

/* What was taken for a call is text. */
static struct err *give_up_call(struct inline_tags *t, struct reply *r, struct str end)
{
    struct str call = str_make(t->call, t->n_call);

    t->within = INLINE_TEXT;
    t->n_call = 0;
    TRY(add_words(t, r, PART_TEXT, str_of(t->opening)));
    TRY(add_words(t, r, PART_TEXT, call));
    return add_words(t, r, PART_TEXT, end);
}

static struct err *keep_call(struct inline_tags *t, struct reply *r, struct str text)
{
    if (t->n_call + text.n > INLINE_TAGS_MAX_CALL) {
        TRY(give_up_call(t, r, (struct str){0}));
        return add_words(t, r, PART_TEXT, text);
    }
    for (size_t i = 0; i < text.n; i++) {
        t->call = arena_grow(&r->arena, t->call, t->n_call, &t->call_room, 1);
        t->call[t->n_call++] = text.p[i];
    }
    return NULL;
}

static struct err *end_call(struct inline_tags *t, struct reply *r, struct arena *scratch,
                            struct str end)
{
    struct str text = str_make(t->call, t->n_call);
    struct inline_calls calls;

    if (!inline_calls_read(scratch, text, strcmp(t->opening, MISTRAL) == 0, &calls))
        return give_up_call(t, r, end);
    t->within = INLINE_TEXT;
    t->n_call = 0;
    t->has_begun = false;
    reply_close_text(r);
    for (size_t i = 0; i < calls.n; i++) {
        size_t index;

        TRY(reply_begin(r, PART_TOOL_CALL, (struct str){0}, calls.items[i].name, &index));
        TRY(reply_add_args(r, index, calls.items[i].args));
        reply_close(r, index);
    }
    return NULL;
}

/* All that came so far was thought. */
static void think_back(struct inline_tags *t, struct reply *r)
{
    if (r->n_parts == 1 && reply_part(r, 0)->kind == PART_TEXT) {
        reply_part(r, 0)->kind = PART_REASONING;
        reply_close(r, 0);
    }
    t->has_begun = false;
}

static struct err *add_text(struct inline_tags *t, struct reply *r, struct str text)
{
    if (text.n == 0)
        return NULL;
    if (t->within == INLINE_CALL)
        return keep_call(t, r, text);
    return add_words(t, r, t->within == INLINE_THOUGHT ? PART_REASONING : PART_TEXT, text);
}

static struct err *pass_tag(struct inline_tags *t, struct reply *r, struct arena *scratch,
                            const struct inline_tag *tag)
{
    t->has_word = false;
    t->n_marks = t->n_blanks = 0;
    t->is_behind = true;
    if (tag->from == INLINE_CALL)
        return end_call(t, r, scratch, S(CALL_END));
    if (tag->from == tag->to)
        think_back(t, r);
    if (tag->to == INLINE_CALL)
        t->opening = tag->text;
    t->within = tag->to;
    t->has_begun = tag->to == INLINE_CALL && t->has_begun;
    return NULL;
}

/* --- the stream --- */

struct err *inline_tags_feed(struct inline_tags *t, struct reply *r, struct arena *scratch,
                             struct str text)
{
    size_t from = 0, i;

    if (text.n == 0)
        return NULL;
    if (t->n_held) {
        text = arena_format(scratch, "%.*s%" STR_FMT, (int)t->n_held, t->held, STR_ARG(text));
        t->n_held = 0;
    }
    for (i = 0; i < text.n; i++) {
        bool may_begin =
            (text.p[i] == '<' || text.p[i] == '[') && !(t->within == INLINE_TEXT && t->fence);
        bool is_part = false;
        const struct inline_tag *tag = may_begin ? find_tag(t, str_skip(text, i), &is_part) : NULL;

        if (tag) {
            TRY(add_text(t, r, str_slice(text, from, i - from)));
            TRY(pass_tag(t, r, scratch, tag));
            from = i + strlen(tag->text);
            i = from - 1;
        } else if (is_part) {
            break;
        } else {
            note_char(t, text.p[i]);
        }
    }
    TRY(add_text(t, r, str_slice(text, from, i - from)));
    t->n_held = text.n - i;
    memcpy(t->held, text.p + i, t->n_held);
    return NULL;
}

struct err *inline_tags_end(struct inline_tags *t, struct reply *r, struct arena *scratch)
{
    struct str held = str_make(t->held, t->n_held);

    t->n_held = 0;
    TRY(add_text(t, r, held));
    TRY(give_blanks(t, r, PART_TEXT));
    return t->within == INLINE_CALL ? end_call(t, r, scratch, (struct str){0}) : NULL;
}
