/* import.c - finds out what a file is, and reads it line by line. */
#include "transcript/import_parts.h"

#include "model/message_json.h"

#include <stdarg.h>

#define MAX_PROBLEMS 50 /* that are told; all are counted */
#define MAX_KINDS 64
#define LOOKED_AT 200 /* lines, to recognise a form by */
#define READ_BYTES ((size_t)256 << 10)
#define LONG_MAX_VALUES 10000 /* in a value that is longer than json_parse() takes */

/* --- what is wrong --- */

void import_problem(struct importing *x, const char *format, ...)
{
    struct strbuf *out = &x->out->problems;
    va_list args;

    if (x->out->n_problems++ >= MAX_PROBLEMS)
        return;
    strbuf_addf(out, "%s:%zu: ", x->options->name, x->line);
    va_start(args, format);
    strbuf_vaddf(out, format, args);
    va_end(args);
    strbuf_add_char(out, '\n');
}

void import_leave_out(struct importing *x, struct str kind)
{
    struct import *o = x->out;

    for (size_t i = 0; i < o->n_left_out; i++)
        if (str_eq(o->left_out[i].kind, kind)) {
            o->left_out[i].n++;
            return;
        }
    if (o->n_left_out == MAX_KINDS)
        kind = S("others");
    if (o->n_left_out > MAX_KINDS) {
        o->left_out[MAX_KINDS].n++;
        return;
    }
    o->left_out =
        arena_grow(&o->arena, o->left_out, o->n_left_out, &o->left_out_room, sizeof *o->left_out);
    o->left_out[o->n_left_out++] =
        (struct import_left_out){arena_str(&o->arena, str_slice(kind, 0, 80)), 1};
}

/* --- bytes --- */

void import_rewind(struct importing *x)
{
    strbuf_clear(&x->buffer);
    x->next = x->start;
    x->at = x->line = 0;
    x->is_over = false;
}

/* Some more behind what the buffer holds; nothing at the end. */
static void read_more(struct importing *x)
{
    size_t before = x->buffer.n;

    if (x->is_over || x->error)
        return;
    x->error = x->source->read(x->source->self, x->next, READ_BYTES, &x->buffer);
    if (!x->error)
        x->error = strbuf_check(&x->buffer, x->options->name);
    x->next += x->buffer.n - before;
    x->is_over = x->error || x->buffer.n == before;
}

static struct err *read_for_walk(void *self, struct strbuf *out)
{
    struct importing *x = self;
    size_t before = out->n;

    TRY(x->source->read(x->source->self, x->next, READ_BYTES, out));
    x->next += out->n - before;
    return NULL;
}

void import_walk(struct importing *x, struct json_walk *ret_walk)
{
    import_rewind(x);
    json_walk_init(ret_walk, read_for_walk, x);
}

/* --- lines --- */

/* False at the end. */
static bool take_line(struct importing *x, bool *ret_is_last)
{
    size_t looked = 0;
    const char *end;

    strbuf_drop_front(&x->buffer, x->at);
    x->at = 0;
    while (!(end = memchr(strbuf_cstr(&x->buffer) + looked, '\n', x->buffer.n - looked)) &&
           !x->is_over) {
        looked = x->buffer.n;
        read_more(x);
    }
    if (!end && x->buffer.n == 0)
        return false;
    x->line++;
    *ret_is_last = !end;
    x->text = strbuf_str(&x->buffer);
    if (end)
        x->text = str_slice(x->text, 0, (size_t)(end - x->text.p));
    x->at = x->text.n + (end != NULL);
    x->text = str_trim(x->text);
    return true;
}

/* --- values that json_parse() would not take --- */

static struct err *read_nothing(void *self, struct strbuf *out)
{
    struct str *rest = self;

    strbuf_add(out, *rest);
    *rest = (struct str){0};
    return NULL;
}

/* Members of a line that nothing is taken from: a log that repeats its history has much of them. */
static bool is_unused(const struct json_walk *w, struct str key)
{
    static const char *const names[] = {"messages", "history",     "historyStructure",
                                        "tools",    "toolSchemas", "result",
                                        "error",    "payload"};

    for (size_t i = 0; w->depth == 1 && i < ARRAY_LEN(names); i++)
        if (str_is(key, names[i]))
            return true;
    return false;
}

/* A message's parts repeat its `content`. *ret_value NULL: it was too long for that. */
static struct err *build_scalar(struct importing *x, struct json_walk *w, struct str key,
                                struct json **ret_value)
{
    struct str raw;

    TRY(json_walk_take(w, SIZE_MAX, &raw));
    if (raw.n > JSON_MAX_BYTES && str_is(key, "content"))
        return NULL;
    return json_parse(&x->scratch, arena_str(&x->scratch, raw), JSON_REPAIR_UTF8, ret_value);
}

static struct err *build(struct importing *x, struct json_walk *w, struct str key, size_t *n_left,
                         struct json **ret_value)
{
    bool found, is_short = false;
    enum json_type type;

    *ret_value = NULL;
    if ((*n_left)-- == 0)
        return err_new(ERR_VALIDATION, "it has more than %d values", LONG_MAX_VALUES);
    TRY(json_walk_type(w, &type));
    if (type != JSON_OBJECT && type != JSON_ARRAY)
        return build_scalar(x, w, key, ret_value);
    *ret_value = json_new(&x->scratch, type);
    TRY(json_walk_enter(w));
    for (;;) {
        struct json *child;
        struct str name;

        TRY(json_walk_next(w, &key, &found));
        if (!found)
            break;
        if (is_unused(w, key)) {
            TRY(json_walk_skip(w));
            continue;
        }
        name = arena_str(&x->scratch, key);
        TRY(build(x, w, name, n_left, &child));
        if (child && type == JSON_OBJECT)
            json_set_key(&x->scratch, *ret_value, name, child);
        else if (child)
            json_push(*ret_value, child);
        is_short = is_short || !child;
    }
    if (is_short && !json_has(*ret_value, "parts"))
        import_leave_out(x, S("texts that are too long"));
    return NULL;
}

struct err *import_value(struct importing *x, struct str raw, struct json **ret_value)
{
    AUTO(json_walk) struct json_walk w = {0};
    size_t n_left = LONG_MAX_VALUES;
    struct str rest = raw;

    if (raw.n <= JSON_MAX_BYTES)
        return json_parse(&x->scratch, raw, JSON_REPAIR_UTF8, ret_value);
    json_walk_init(&w, read_nothing, &rest);
    TRY(build(x, &w, (struct str){0}, &n_left, ret_value));
    return json_walk_end(&w);
}

static bool parse_long_line(struct importing *x, struct json **ret_value)
{
    AUTO(err) struct err *e = import_value(x, x->text, ret_value);
    AUTO_FREE char *why = e ? err_message(e) : NULL;

    if (e)
        import_problem(x, "%s", why);
    return !e;
}

static bool parse_line(struct importing *x, bool is_last, struct json **ret_value)
{
    struct json_where where;

    arena_clear(&x->scratch);
    if (x->text.n > JSON_MAX_BYTES) {
        if (!parse_long_line(x, ret_value))
            return false;
    } else if (!json_parse_at(&x->scratch, x->text, JSON_REPAIR_UTF8, ret_value, &where)) {
        if (is_last)
            import_leave_out(x, S("a last line that was cut off"));
        else
            import_problem(x, "this is not JSON: %s at column %zu", where.reason, where.column);
        return false;
    }
    if (!json_is(*ret_value, JSON_OBJECT))
        import_problem(x, "this is %s and no JSON object", json_type_name((*ret_value)->type));
    return json_is(*ret_value, JSON_OBJECT);
}

const struct json *import_next_line(struct importing *x)
{
    struct json *value;
    bool is_last;

    while (take_line(x, &is_last))
        if (x->text.n && parse_line(x, is_last, &value))
            return value;
    return NULL;
}

/* --- what was read --- */

struct str import_str(struct importing *x, struct str s)
{
    return arena_str(&x->out->arena, s);
}

struct imported *import_new_session(struct importing *x)
{
    struct import *o = x->out;

    o->sessions = arena_grow(&o->arena, o->sessions, o->n, &o->room, sizeof *o->sessions);
    o->sessions[o->n] = (struct imported){.usage = USAGE_UNKNOWN, .cost_is_known = true};
    return &o->sessions[o->n++];
}

/* One that could not be read back keeps its place, and nothing else. */
static struct message *without_excess(struct importing *x, struct message *take_message)
{
    AUTO(message) struct message *m = take_message;
    AUTO(err) struct err *e = message_check_stored(m, "a message");

    if (!e)
        return TAKE(m);
    import_leave_out(x, S("messages that are too large"));
    return message_new(m->role, m->id);
}

void import_add(struct importing *x, struct imported *s, enum import_step step, bool begins,
                struct message *take_message, int64_t unix_ms)
{
    if (s->n == IMPORT_MAX_MESSAGES) {
        message_unref(take_message);
        import_leave_out(x, S("messages over the limit of a session"));
        return;
    }
    s->items = arena_grow(&x->out->arena, s->items, s->n, &s->room, sizeof *s->items);
    s->items[s->n++] =
        (struct imported_message){.step = step,
                                  .begins = begins,
                                  .message = take_message ? without_excess(x, take_message) : NULL,
                                  .unix_ms = unix_ms};
}

void import_done(struct import *i)
{
    for (size_t k = 0; k < i->n; k++)
        for (size_t m = 0; m < i->sessions[k].n; m++)
            message_unref(i->sessions[k].items[m].message);
    strbuf_done(&i->problems);
    arena_done(&i->arena);
    *i = (struct import){0};
}

/* --- which form --- */

enum form { FORM_NONE, FORM_LOG, FORM_CLAUDE, FORM_CODEX };

static bool is_codex(const struct json *v)
{
    static const char *const types[] = {"session_meta", "response_item", "turn_context",
                                        "event_msg", "compacted"};

    if (json_has(v, "record_type"))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (str_is(json_get_text(v, "type"), types[i]) &&
            json_is(json_get(v, "payload"), JSON_OBJECT))
            return true;
    /* as the first ones wrote it: who it is, without a type */
    return json_has(v, "instructions") && json_has(v, "id") && json_has(v, "timestamp") &&
           !json_has(v, "messages");
}

static enum form form_of(const struct json *v)
{
    if (json_is(json_get(v, "event"), JSON_STRING))
        return FORM_LOG;
    if (is_codex(v))
        return FORM_CODEX;
    if (json_is(json_get(v, "type"), JSON_STRING) && json_is(json_get(v, "message"), JSON_OBJECT) &&
        (json_has(v, "uuid") || json_has(v, "sessionId")))
        return FORM_CLAUDE;
    return FORM_NONE;
}

/* By the first line that says it; lines that do not are looked at again by its reader. */
static enum form find_form(struct importing *x)
{
    enum form form = FORM_NONE;
    size_t n_problems = x->out->n_problems, n_bytes = x->out->problems.n;

    import_rewind(x);
    for (size_t i = 0; i < LOOKED_AT && form == FORM_NONE; i++) {
        const struct json *v = import_next_line(x);

        if (!v)
            break;
        form = form_of(v);
    }
    x->out->n_problems = n_problems;
    strbuf_cut(&x->out->problems, n_bytes);
    x->out->n_left_out = 0;
    import_rewind(x);
    return form;
}

static struct err *not_a_session(const struct importing *x)
{
    return err_hint(
        err_new(ERR_VALIDATION, "keel cannot read a session from %s", x->options->name),
        "it reads its own exports (jsonl, json), session records, and the transcripts of "
        "Claude Code and Codex");
}

static struct err *read_form(struct importing *x)
{
    x->out->form = "record";
    if (import_is_record(x))
        return import_records(x);
    switch (find_form(x)) {
    case FORM_LOG:
        x->out->form = "log";
        return import_log(x);
    case FORM_CLAUDE:
        x->out->form = "claude-code";
        return import_claude(x);
    case FORM_CODEX:
        x->out->form = "codex";
        return import_codex(x);
    case FORM_NONE:
        break;
    }
    return not_a_session(x);
}

static struct err *check(const struct import *o, const struct import_options *options)
{
    size_t n_messages = 0;

    for (size_t i = 0; i < o->n; i++)
        n_messages += o->sessions[i].n;
    if (o->n_problems && !options->is_partial)
        return err_hint(err_new(ERR_VALIDATION,
                                "%s: %zu %s cannot be read, so nothing was imported", options->name,
                                o->n_problems, o->n_problems == 1 ? "line" : "lines"),
                        "--partial skips them");
    if (n_messages == 0)
        return err_new(ERR_VALIDATION, "%s holds no messages", options->name);
    return NULL;
}

/* Behind a mark of the encoding, if there is one. */
static struct err *find_start(struct importing *x)
{
    AUTO(strbuf) struct strbuf mark = {0};

    TRY(x->source->read(x->source->self, 0, 3, &mark));
    x->start = str_is(strbuf_str(&mark), "\xef\xbb\xbf") ? 3 : 0;
    return NULL;
}

struct err *import_read(struct import *ret, const struct import_source *source,
                        const struct import_options *options)
{
    struct importing x = {.out = ret, .options = options, .source = source};
    struct err *e;

    *ret = (struct import){0};
    strbuf_init(&x.buffer, IMPORT_MAX_LINE);
    e = find_start(&x);
    if (!e)
        e = read_form(&x);
    if (x.error) { /* it is the reason of all else */
        err_free(e);
        e = x.error;
    }
    strbuf_done(&x.buffer);
    arena_done(&x.scratch);
    if (e)
        return e;
    for (size_t i = 0; i < ret->n; i++)
        import_finish(&ret->sessions[i], ret);
    return check(ret, options);
}

static struct err *read_text(void *self, uint64_t from, size_t n, struct strbuf *out)
{
    const struct str *text = self;

    if (from < text->n)
        strbuf_add(out, str_slice(*text, from, MIN(n, text->n - from)));
    return NULL;
}

struct err *import_read_text(struct import *ret, struct str text,
                             const struct import_options *options)
{
    return import_read(ret, &(struct import_source){read_text, &text}, options);
}
