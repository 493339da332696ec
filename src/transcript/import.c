/* import.c - finds out what a file is, and reads it line by line. */
#include "transcript/import_parts.h"

#include <stdarg.h>

#define MAX_PROBLEMS 50 /* that are told; all are counted */
#define MAX_KINDS 64
#define LOOKED_AT 200 /* lines, to recognise a form by */

/* --- lines --- */

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

void import_rewind(struct importing *x)
{
    x->rest = x->bytes;
    x->line = 0;
}

/* False at the end. */
static bool take_line(struct importing *x, bool *ret_is_last)
{
    if (!str_split(&x->rest, '\n', &x->text))
        return false;
    x->line++;
    *ret_is_last = x->rest.p == NULL;
    x->text = str_trim(x->text);
    return true;
}

static bool parse_line(struct importing *x, bool is_last, struct json **ret_value)
{
    struct json_where where;

    arena_clear(&x->scratch);
    if (x->text.n > IMPORT_MAX_LINE) {
        import_problem(x, "the line has more than %zu MB", IMPORT_MAX_LINE >> 20);
        return false;
    }
    if (!json_parse_at(&x->scratch, x->text, JSON_REPAIR_UTF8, ret_value, &where)) {
        if (is_last)
            import_leave_out(x, S("a last line that was cut off"));
        else
            import_problem(x, "this is no JSON: %s at column %zu", where.reason, where.column);
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

void import_add(struct importing *x, struct imported *s, enum import_step step, bool begins,
                struct message *take_message, int64_t unix_ms)
{
    if (s->n == IMPORT_MAX_MESSAGES) {
        message_unref(take_message);
        import_leave_out(x, S("messages over the limit of a session"));
        return;
    }
    s->items = arena_grow(&x->out->arena, s->items, s->n, &s->room, sizeof *s->items);
    s->items[s->n++] = (struct imported_message){
        .step = step, .begins = begins, .message = take_message, .unix_ms = unix_ms};
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

enum form { FORM_NONE, FORM_LOG, FORM_RECORD, FORM_CLAUDE, FORM_CODEX };

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
    if (json_is(json_get(v, "messages"), JSON_ARRAY) || json_is(json_get(v, "history"), JSON_ARRAY))
        if (!json_has(v, "event"))
            return FORM_RECORD;
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

/* Printed over several lines, or a list of them. */
static struct err *read_whole(struct importing *x)
{
    struct json *value;
    struct json_where where;

    arena_clear(&x->scratch);
    if (!json_parse_at(&x->scratch, x->bytes, JSON_REPAIR_UTF8, &value, &where) ||
        (value->type == JSON_OBJECT && form_of(value) != FORM_RECORD) ||
        (value->type != JSON_OBJECT && value->type != JSON_ARRAY))
        return err_hint(
            err_new(ERR_VALIDATION, "%s is no session that keel can read", x->options->name),
            "it reads its own exports (jsonl, json), session records, and the transcripts of "
            "Claude Code and Codex");
    if (value->type == JSON_OBJECT)
        return import_record(x, value);
    json_each (record, value) {
        if (form_of(record) != FORM_RECORD)
            import_problem(x, "an entry of the list is no session record");
        else
            TRY(import_record(x, record));
    }
    return NULL;
}

static struct err *read_records(struct importing *x)
{
    const struct json *v;

    while ((v = import_next_line(x))) {
        if (form_of(v) == FORM_RECORD)
            TRY(import_record(x, v));
        else
            import_problem(x, "this is no session record");
    }
    return NULL;
}

static struct err *read_form(struct importing *x)
{
    enum form form = find_form(x);

    switch (form) {
    case FORM_LOG:
        x->out->form = "log";
        return import_log(x);
    case FORM_CLAUDE:
        x->out->form = "claude-code";
        return import_claude(x);
    case FORM_CODEX:
        x->out->form = "codex";
        return import_codex(x);
    case FORM_RECORD:
        x->out->form = "record";
        return read_records(x);
    case FORM_NONE:
        x->out->form = "record";
        return read_whole(x);
    }
    return NULL;
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
                        "--partial leaves them out");
    if (n_messages == 0)
        return err_new(ERR_VALIDATION, "%s holds no messages", options->name);
    return NULL;
}

struct err *import_read(struct import *ret, struct str bytes, const struct import_options *options)
{
    struct importing x = {.out = ret, .options = options, .bytes = bytes};
    struct err *e;

    *ret = (struct import){0};
    if (str_starts(bytes, S("\xef\xbb\xbf")))
        x.bytes = str_skip(bytes, 3);
    if (bytes.n > IMPORT_MAX_BYTES)
        return err_new(ERR_VALIDATION, "%s has more than %zu MB", options->name,
                       IMPORT_MAX_BYTES >> 20);
    e = read_form(&x);
    arena_done(&x.scratch);
    if (e)
        return e;
    for (size_t i = 0; i < ret->n; i++)
        import_finish(&ret->sessions[i], ret);
    return check(ret, options);
}
