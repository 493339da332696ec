/* inline_tags.c - splits a stream of text at the tags of reasoning and calls. */
#include "provider/inline_tags.h"

#include "base/ascii.h"
#include "base/json.h"

#define CALL_END "</tool_call>"
#define MISTRAL_CALLS "[TOOL_CALLS]"

/* --- calls, in the forms that models are trained on ---
 *
 *     {"name": "ls", "arguments": {...}}                    Hermes, Qwen; "parameters": Llama
 *     [{"name": "ls", "arguments": {...}}, ...]             Mistral
 *     ls[ARGS]{...}, ls{...}                                Mistral, later
 *     <function=ls><parameter=path>src</parameter></function>      Qwen3-Coder
 *
 * The last form has no types: its values are texts, to be converted by the tool's schema. */

#define FUNCTION "<function="
#define FUNCTION_END "</function>"
#define PARAMETER "<parameter="
#define PARAMETER_END "</parameter>"
#define ARGS "[ARGS]"
#define MAX_PARAMETERS 256 /* of one call; more than any tool has */

struct inline_call {
    struct str name, args; /* JSON; empty: none */
};

struct inline_calls {
    struct inline_call *items; /* in the arena */
    size_t n, room;
};

static void add_call(struct arena *a, struct inline_calls *calls, struct str name, struct str args)
{
    calls->items = arena_grow(a, calls->items, calls->n, &calls->room, sizeof *calls->items);
    calls->items[calls->n++] = (struct inline_call){name, args};
}

static bool skip_prefix(struct str *text, struct str prefix)
{
    *text = str_trim(*text);
    if (!str_starts(*text, prefix))
        return false;
    *text = str_skip(*text, prefix.n);
    return true;
}

/* {"name": "...", "arguments": {...}} */
static bool read_object(struct arena *a, const struct json *call, struct inline_calls *ret)
{
    struct str name = json_get_text(call, "name");
    const struct json *args =
        json_get(call, json_has(call, "arguments") ? "arguments" : "parameters");

    if (name.n == 0 || (args && !json_is(args, JSON_OBJECT) && !json_is(args, JSON_STRING)))
        return false;
    add_call(a, ret, name,
             json_is(args, JSON_STRING) ? args->text
             : args                     ? args->raw
                                        : (struct str){0});
    return true;
}

static bool read_json(struct arena *a, struct str text, struct inline_calls *ret)
{
    struct json_where where;
    struct json *value;

    if (!json_parse_at(a, text, JSON_REPAIR_UTF8, &value, &where))
        return false;
    if (value->type != JSON_ARRAY)
        return read_object(a, value, ret);
    json_each (call, value)
        if (!read_object(a, call, ret))
            return false;
    return value->n > 0;
}

/* NAME[ARGS]{...}, or NAME{...}. */
static bool read_named(struct arena *a, struct str text, struct inline_calls *ret)
{
    size_t brace = str_find_char(text, '{'), end = str_find(text, S(ARGS));
    struct str name, args;
    struct json_where where;
    struct json *value;

    if (brace == STR_NONE)
        return false;
    args = str_skip(text, brace);
    name = str_trim(str_slice(text, 0, end < brace ? end : brace));
    if (name.n == 0 || str_find_char(name, ' ') != STR_NONE ||
        str_find_char(name, '\n') != STR_NONE ||
        !json_parse_at(a, args, JSON_REPAIR_UTF8, &value, &where))
        return false;
    add_call(a, ret, name, value->raw);
    return true;
}

static bool read_mistral(struct arena *a, struct str text, struct inline_calls *ret)
{
    do {
        size_t next = str_find(text, S(MISTRAL_CALLS));
        struct str call = str_trim(str_slice(text, 0, next == STR_NONE ? text.n : next));

        if (!read_json(a, call, ret) && !read_named(a, call, ret))
            return false;
        text = next == STR_NONE ? (struct str){0} : str_skip(text, next + S(MISTRAL_CALLS).n);
    } while (text.n);
    return true;
}

/* Cuts NAME> off a tag that was begun. */
static bool take_tag_name(struct str *text, struct str *ret_name)
{
    size_t end = str_find_char(*text, '>');

    if (end == STR_NONE || end == 0)
        return false;
    *ret_name = str_trim(str_slice(*text, 0, end));
    *text = str_skip(*text, end + 1);
    return ret_name->n > 0;
}

static bool ends_value(struct str rest)
{
    rest = str_trim(rest);
    return str_starts(rest, S(PARAMETER)) || str_starts(rest, S(FUNCTION_END)) || rest.n == 0;
}

/* The value may hold the closing tag itself: it ends at one that another parameter or the end of
 * the function follows. A line end at each end of it is part of the form. */
static bool take_value(struct str *text, struct str *ret_value)
{
    struct str value;
    size_t at = 0, found;

    while ((found = str_find(str_skip(*text, at), S(PARAMETER_END))) != STR_NONE) {
        at += found;
        if (ends_value(str_skip(*text, at + S(PARAMETER_END).n)))
            break;
        at++;
    }
    if (found == STR_NONE)
        return false;
    value = str_slice(*text, 0, at);
    *text = str_skip(*text, at + S(PARAMETER_END).n);
    if (str_starts(value, S("\n")))
        value = str_skip(value, 1);
    if (str_ends(value, S("\n")))
        value = str_slice(value, 0, value.n - 1);
    *ret_value = value;
    return true;
}

static bool read_function(struct arena *a, struct str *text, struct inline_calls *ret)
{
    struct json *args = json_new(a, JSON_OBJECT);
    AUTO(strbuf) struct strbuf json = {0};
    struct str name, key, value;

    if (!skip_prefix(text, S(FUNCTION)) || !take_tag_name(text, &name))
        return false;
    while (skip_prefix(text, S(PARAMETER))) {
        if (args->n == MAX_PARAMETERS || !take_tag_name(text, &key) || !take_value(text, &value))
            return false;
        json_set_str(a, args, arena_cstr(a, key), value);
    }
    if (!skip_prefix(text, S(FUNCTION_END)) && text->n)
        return false;
    json_write(&json, args);
    add_call(a, ret, name, arena_str(a, strbuf_str(&json)));
    return true;
}

static bool read_functions(struct arena *a, struct str text, struct inline_calls *ret)
{
    do {
        if (!read_function(a, &text, ret))
            return false;
    } while (str_trim(text).n);
    return true;
}

/* Reads one or more calls of one form; false: the text is something else. `is_mistral`: also the
 * forms with the name before the arguments. */
static bool read_calls(struct arena *a, struct str text, bool is_mistral, struct inline_calls *ret)
{
    *ret = (struct inline_calls){0};
    text = str_trim(text);
    if (is_mistral)
        return read_mistral(a, text, ret);
    return str_starts(text, S(FUNCTION)) ? read_functions(a, text, ret) : read_json(a, text, ret);
}

/* --- tags --- */

static const struct inline_tag {
    const char *text;
    int from, to;
} tags[] = {
    {"<think>", INLINE_TEXT, INLINE_THOUGHT},     {"<thinking>", INLINE_TEXT, INLINE_THOUGHT},
    {"<tool_call>", INLINE_TEXT, INLINE_CALL},    {"</think>", INLINE_THOUGHT, INLINE_TEXT},
    {"</thinking>", INLINE_THOUGHT, INLINE_TEXT}, {CALL_END, INLINE_CALL, INLINE_TEXT},
    {MISTRAL_CALLS, INLINE_TEXT, INLINE_CALL},    {"<|python_tag|>", INLINE_TEXT, INLINE_CALL},
    {"</think>", INLINE_TEXT, INLINE_TEXT},
};

/* Thoughts, and calls without a closing tag, begin a line. An end of thoughts without a beginning
 * must be the first tag of the answer, and not be quoted. */
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

/* The tag at the beginning of the text. NULL, and *ret_is_part: more text may complete one. */
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

/* Tracks lines and fences. Only a fence of the same kind closes a fence. */
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
    } else if (!ascii_is_space(c)) {
        t->n_marks = 0;
    }
    t->has_word |= !ascii_is_space(c);
    t->has_said |= !ascii_is_space(c);
}

/* --- between the tags --- */

/* Holds back white space at the beginning of the answer; false: there is too much of it. */
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

    while (!t->has_begun && n < text.n && ascii_is_space(text.p[n]))
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

/* It is not a call: adds it as text. */
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

    if (!read_calls(scratch, text, strcmp(t->opening, MISTRAL_CALLS) == 0, &calls))
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

/* Turns all text so far into reasoning. */
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
