/* redact.c - hides values under the names of credentials in calls. */
#include "view/redact.h"

#include "base/secret_places.h"
#include "base/secrets.h"

/* --- arguments that are not JSON --- */

/* "name" : "value", or a bare value, in a text that a model has cut off or misspelled. */
struct pair {
    struct str name, value;
    size_t start, end; /* of the value in the text, including quotes */
};

static size_t skip_blanks(struct str s, size_t at)
{
    while (at < s.n && strchr(" \t\r\n", s.p[at]))
        at++;
    return at;
}

/* The position after the closing quote, or the end of a text without one. */
static size_t string_end(struct str s, size_t at)
{
    for (at++; at < s.n && s.p[at] != '"'; at++)
        at += s.p[at] == '\\' && at + 1 < s.n;
    return MIN(at + 1, s.n);
}

/* The position after the bracket that closes the list, or the end of a text without one. */
static size_t list_end(struct str s, size_t at)
{
    size_t depth = 0;

    while (at < s.n) {
        char c = s.p[at];

        if (c == '"') {
            at = string_end(s, at);
            continue;
        }
        at++;
        depth += c == '[';
        if (c == ']' && --depth == 0)
            break;
    }
    return at;
}

static struct str without_quotes(struct str s, size_t start, size_t end)
{
    struct str text = str_slice(s, start + 1, end - start - 1);

    return text.n && text.p[text.n - 1] == '"' ? str_slice(text, 0, text.n - 1) : text;
}

/* The next pair from `at` on; false: none. */
static bool next_pair(struct str s, size_t *at, struct pair *ret_pair)
{
    while (*at < s.n) {
        size_t start = *at, end, value;

        if (s.p[start] != '"') {
            ++*at;
            continue;
        }
        *at = end = string_end(s, start);
        value = skip_blanks(s, end);
        if (value >= s.n || s.p[value] != ':')
            continue;
        value = skip_blanks(s, value + 1);
        ret_pair->name = without_quotes(s, start, end);
        ret_pair->start = ret_pair->end = value;
        if (value < s.n && s.p[value] == '"') {
            ret_pair->end = string_end(s, value);
            ret_pair->value = without_quotes(s, value, ret_pair->end);
        } else if (value < s.n && s.p[value] == '[' && key_is_secret(ret_pair->name)) {
            ret_pair->end = list_end(s, value);
            ret_pair->value = str_slice(s, value, ret_pair->end - value);
        } else {
            while (ret_pair->end < s.n && !strchr(",}] \t\r\n{[", s.p[ret_pair->end]))
                ret_pair->end++;
            ret_pair->value = str_slice(s, value, ret_pair->end - value);
        }
        *at = MAX(ret_pair->end, end);
        return true;
    }
    return false;
}

static struct str redact_text(struct str args, struct arena *a)
{
    AUTO(strbuf) struct strbuf out = {0};
    size_t at = 0, from = 0;
    struct pair pair;

    while (next_pair(args, &at, &pair)) {
        if (!key_is_secret(pair.name) || !pair.value.n)
            continue;
        strbuf_add(&out, str_slice(args, from, pair.start - from));
        strbuf_add_cstr(&out, "\"" REDACTED "\"");
        from = pair.end;
    }
    if (!from)
        return args;
    strbuf_add(&out, str_skip(args, from));
    return arena_str(a, strbuf_str(&out));
}

/* --- arguments --- */

/* False: it is not JSON. */
static bool redact_json(struct str args, struct arena *a, struct str *ret_shown)
{
    AUTO(arena) struct arena scratch = {0};
    AUTO(strbuf) struct strbuf out = {0};
    struct json_where where;
    const struct json *shown;
    struct json *v;

    *ret_shown = args;
    if (!json_parse_at(&scratch, args, JSON_REPAIR_UTF8, &v, &where))
        return false;
    shown = json_hide_secret_keys(&scratch, v);
    if (shown == v)
        return true;
    json_write(&out, shown);
    *ret_shown = arena_str(a, strbuf_str(&out));
    return true;
}

struct str redact_args(struct str args, struct arena *a)
{
    struct str shown, text;

    if (redact_json(args, a, &shown))
        return shown;
    text = redact_text(args, a);
    if (text.p != args.p &&
        redact_json(text, a, &shown)) /* the part that was cut off had hidden it */
        return shown;
    return text;
}

/* --- messages --- */

static bool is_call(const struct part *p)
{
    return p->kind == PART_TOOL_CALL || p->kind == PART_SERVER_TOOL_USE;
}

/* The text of a refusal may quote the refused arguments. */
const struct part *redact_result(const struct part *p, struct arena *a)
{
    struct part *copy;
    bool is_hidden = false;

    if (!p || !p->is_error)
        return p;
    copy = ARENA_NEW(a, struct part);
    *copy = *p;
    copy->content = ARENA_ARRAY(a, p->n_content, struct part);
    for (size_t i = 0; i < p->n_content; i++) {
        copy->content[i] = p->content[i];
        copy->content[i].text = redact_text(p->content[i].text, a);
        is_hidden |= copy->content[i].text.p != p->content[i].text.p;
    }
    return is_hidden ? copy : p;
}

/* True: something was hidden. */
static bool redact_part(struct part *p, struct arena *a)
{
    struct str args = p->args, bad_args = p->bad_args;

    if (p->kind == PART_TOOL_RESULT) {
        const struct part *shown = redact_result(p, a);
        bool is_hidden = shown != p;

        *p = *shown;
        return is_hidden;
    }
    if (!is_call(p))
        return false;
    p->args = redact_args(args, a);
    p->bad_args = redact_args(bad_args, a);
    if (p->args.p == args.p && p->bad_args.p == bad_args.p)
        return false;
    p->native = p->signature = (struct str){0};
    return true;
}

static bool is_affected(const struct part *p)
{
    AUTO(arena) struct arena scratch = {0};
    struct part copy = *p;

    return redact_part(&copy, &scratch);
}

struct message *redact_message(const struct message *m)
{
    struct message *copy;
    bool is_hidden = false;

    for (size_t i = 0; i < m->n_parts && !is_hidden; i++)
        is_hidden = is_affected(&m->parts[i]);
    if (!is_hidden)
        return message_ref((struct message *)m);
    copy = message_new(m->role, m->id);
    copy->state = m->state;
    copy->is_error = m->is_error;
    message_set_origin(copy, m->origin);
    copy->stop_reason = arena_str(&copy->arena, m->stop_reason);
    message_set_usage(copy, &m->usage);
    for (size_t i = 0; i < m->n_parts; i++) {
        AUTO(arena) struct arena scratch = {0};
        struct part p = m->parts[i];

        redact_part(&p, &scratch);
        message_add(copy, &p);
    }
    return copy;
}

const struct reply *redact_reply(const struct reply *r, struct arena *a)
{
    struct reply *copy = ARENA_NEW(a, struct reply);
    bool is_hidden = false;

    *copy = *r;
    copy->parts = ARENA_ARRAY(a, r->n_parts, struct reply_part);
    for (size_t i = 0; i < r->n_parts; i++) {
        copy->parts[i] = r->parts[i];
        is_hidden |= redact_part(&copy->parts[i].part, a);
    }
    return is_hidden ? copy : r;
}

/* --- values --- */

static void find_values(const struct json *v, bool in_secret,
                        void (*found)(void *self, struct str value), void *self)
{
    bool is_secret = key_is_secret(v->key) || (in_secret && v->key.n == 0);

    if (is_secret && (v->type == JSON_STRING || v->type == JSON_NUMBER) && v->text.n)
        found(self, v->text);
    json_each (child, v)
        find_values(child, is_secret && v->type == JSON_ARRAY, found, self);
}

static void each_value(struct str args, void (*found)(void *self, struct str value), void *self)
{
    AUTO(arena) struct arena scratch = {0};
    struct json_where where;
    struct pair pair;
    struct json *v;
    size_t at = 0;

    if (json_parse_at(&scratch, args, JSON_REPAIR_UTF8, &v, &where)) {
        find_values(v, /* in_secret= */ false, found, self);
        return;
    }
    while (next_pair(args, &at, &pair))
        if (key_is_secret(pair.name) && pair.value.n)
            found(self, pair.value);
}

static void keep_value(void *self, struct str value)
{
    struct redaction *r = self;

    if (r->n == REDACTION_MAX_VALUES || value.n > SECRETS_MAX_BYTES)
        return;
    for (size_t i = 0; i < r->n; i++)
        if (str_eq(r->values[i].value, value))
            return;
    r->values = arena_grow(&r->arena, r->values, r->n, &r->room, sizeof *r->values);
    r->values[r->n++] = (struct secret_value){S("argument"), arena_str(&r->arena, value)};
}

/* --- contents of places of credentials --- */

static bool reads_secrets(struct str args)
{
    static const char *const names[] = {"file_path", "path", "filePath", "notebook_path"};
    AUTO(arena) struct arena scratch = {0};
    struct json_where where;
    struct json *v;

    if (!json_parse_at(&scratch, args, JSON_REPAIR_UTF8, &v, &where))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (secret_place_find(json_get_text(v, names[i])))
            return true;
    return false;
}

static bool is_read(const struct redaction *r, struct str id)
{
    for (size_t i = 0; i < r->n_reads; i++)
        if (str_eq(r->reads[i], id))
            return true;
    return false;
}

static struct str trim_any(struct str s, const char *chars)
{
    while (s.n && strchr(chars, s.p[0]))
        s = str_skip(s, 1);
    while (s.n && strchr(chars, s.p[s.n - 1]))
        s.n--;
    return s;
}

/* Keeps the line without its number, and the value in it. */
static void keep_line(struct redaction *r, struct str line)
{
    static const struct str arrow = S("\xe2\x86\x92");
    struct str rest = trim_any(line, " "), number = rest;
    size_t sign;

    while (rest.n && rest.p[0] >= '0' && rest.p[0] <= '9')
        rest = str_skip(rest, 1);
    if (rest.n == number.n || !(str_starts(rest, S("\t")) || str_starts(rest, arrow)))
        rest = number;
    else
        rest = str_skip(rest, rest.p[0] == '\t' ? 1 : arrow.n);
    rest = trim_any(rest, " \t\r");
    if (rest.n)
        keep_value(r, rest);
    sign = MIN(str_find_char(rest, '='), str_find_char(rest, ':'));
    rest = sign == STR_NONE ? (struct str){0} : trim_any(str_skip(rest, sign + 1), " \t\"',;");
    if (rest.n)
        keep_value(r, rest);
}

static void learn_lines(struct redaction *r, const struct part *result)
{
    for (size_t i = 0; i < result->n_content; i++) {
        struct str rest = result->content[i].text, line;

        while (str_split(&rest, '\n', &line))
            keep_line(r, line);
    }
}

static void learn_call(struct redaction *r, const struct part *call)
{
    each_value(call->args, keep_value, r);
    each_value(call->bad_args, keep_value, r);
    if (!reads_secrets(call->args) || is_read(r, call->id))
        return;
    r->reads = arena_grow(&r->arena, r->reads, r->n_reads, &r->reads_room, sizeof *r->reads);
    r->reads[r->n_reads++] = arena_str(&r->arena, call->id);
}

void redaction_learn(struct redaction *r, const struct message *m)
{
    for (size_t i = 0; i < m->n_parts; i++) {
        const struct part *p = &m->parts[i];

        if (is_call(p))
            learn_call(r, p);
        else if (p->kind == PART_TOOL_RESULT && !p->is_error && is_read(r, p->id))
            learn_lines(r, p);
    }
}

void redaction_learn_args(struct redaction *r, const struct json *args)
{
    if (args)
        find_values(args, /* in_secret= */ false, keep_value, r);
}

void redaction_ready(struct redaction *r)
{
    secrets_unref(r->learned);
    r->learned = r->n ? secrets_new(r->values, r->n) : NULL;
}

void redaction_done(struct redaction *r)
{
    secrets_unref(r->learned);
    strbuf_done(&r->scratch);
    arena_done(&r->arena);
}

/* Hides the values of both sets. */
static struct str hide_twice(struct redaction *r, struct str text, struct strbuf *out,
                             struct str (*hide)(const struct secrets *s, struct str text,
                                                struct strbuf *out, uint64_t *found))
{
    struct str once, twice;

    if (!r)
        return text;
    once = hide(r->known, text, &r->scratch, NULL);
    twice = hide(r->learned, once, out, NULL);
    if (twice.p != once.p || once.p == text.p)
        return twice;
    strbuf_clear(out);
    strbuf_add(out, once);
    return strbuf_str(out);
}

struct str redaction_hide(struct redaction *r, struct str text, struct strbuf *out)
{
    return hide_twice(r, text, out, secrets_hide);
}

struct str redaction_hide_json(struct redaction *r, struct str json_text, struct strbuf *out)
{
    return hide_twice(r, json_text, out, secrets_hide_in_json_text);
}

const struct json *redaction_hide_in(struct redaction *r, struct arena *a, const struct json *v)
{
    if (!r)
        return v;
    v = secrets_hide_in_json(r->known, a, v, NULL);
    return secrets_hide_in_json(r->learned, a, v, NULL);
}

struct str redaction_stream_add(struct redaction_stream *s, struct str piece)
{
    if (!s->redaction)
        return piece;
    s->known.set = s->redaction->known;
    s->learned.set = s->redaction->learned;
    piece = secrets_stream_add(&s->known, piece, &s->first);
    return secrets_stream_add(&s->learned, piece, &s->second);
}

struct str redaction_stream_end(struct redaction_stream *s)
{
    AUTO(strbuf) struct strbuf all = {0};

    if (!s->redaction)
        return (struct str){0};
    strbuf_add(&all, secrets_stream_add(&s->learned, secrets_stream_end(&s->known, &s->first),
                                        &s->second));
    strbuf_add(&all, secrets_stream_end(&s->learned, &s->second));
    strbuf_clear(&s->first);
    strbuf_add(&s->first, strbuf_str(&all));
    return strbuf_str(&s->first);
}

void redaction_stream_done(struct redaction_stream *s)
{
    strbuf_done(&s->first);
    strbuf_done(&s->second);
}
