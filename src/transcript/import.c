/* import.c - recognizes the form of a file, and has it read. */
#include "transcript/import_parts.h"

#include "base/utf8.h"

#include <stdarg.h>

#define MAX_PROBLEMS 50 /* reported; all are counted */
#define MAX_PROBLEM_BYTES 500
#define MAX_KINDS 64
#define MAX_KIND_BYTES 80
#define MAX_BUFFER ((size_t)8 << 20) /* of lines that are parsed whole */
#define LOOKED_AT 200                /* lines, to recognize a form */
#define LOOKED_AT_BYTES ((uint64_t)1 << 30)

/* --- problems --- */

void import_problem(struct importing *x, const char *format, ...)
{
    struct strbuf *out = &x->out->problems;
    AUTO(strbuf) struct strbuf text = {0};
    va_list args;

    if (x->out->n_problems++ >= MAX_PROBLEMS)
        return;
    va_start(args, format);
    strbuf_vaddf(&text, format, args);
    va_end(args);
    strbuf_addf(out, "%s:%zu: ", x->options->name, x->line);
    strbuf_add(out, utf8_truncate(strbuf_str(&text), MAX_PROBLEM_BYTES));
    strbuf_add_char(out, '\n');
}

void import_leave_out(struct importing *x, struct str kind)
{
    struct import *o = x->out;

    kind = utf8_truncate(kind, MAX_KIND_BYTES);
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
    o->left_out[o->n_left_out++] = (struct import_left_out){arena_str(&o->arena, kind), 1};
}

/* --- forms --- */

enum import_form { FORM_NONE, FORM_LOG, FORM_CLAUDE, FORM_CODEX };

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
    /* the first versions wrote the session's identity without a type */
    return json_has(v, "instructions") && json_has(v, "id") && json_has(v, "timestamp") &&
           !json_has(v, "messages");
}

static enum import_form form_of(const struct json *v)
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

/* Recognizes the form by the first line that shows it. The reader of the form looks at the lines
 * before it again. */
static enum import_form find_form(struct importing *x)
{
    enum import_form form = FORM_NONE;
    size_t n_problems = x->out->n_problems, n_bytes = x->out->problems.n;

    import_rewind(x);
    x->end = LOOKED_AT_BYTES;
    for (size_t i = 0; i < LOOKED_AT && form == FORM_NONE; i++) {
        const struct json *v = import_next_line(x);

        if (!v)
            break;
        form = form_of(v);
    }
    x->out->n_problems = n_problems;
    strbuf_cut(&x->out->problems, n_bytes);
    x->out->n_left_out = 0;
    x->end = 0;
    import_rewind(x);
    return form;
}

static struct err *not_a_session(const struct importing *x)
{
    return err_hint(
        err_new(ERR_VALIDATION, "%s is not a session file that keel can read", x->options->name),
        "keel reads its own exports (jsonl, json), session records, and the transcripts of Claude "
        "Code and Codex");
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

/* Results alone are omitted: no call belongs to them. */
static bool has_message(const struct imported *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->items[i].n_bytes && s->items[i].role != ROLE_TOOL)
            return true;
    return false;
}

/* A session of keel may be empty: a copy from before the first turn, or one that was rewound to it.
 * A file without a session's id and without a message is something else. */
static bool is_session(const struct imported *s)
{
    return has_message(s) || (s->id.n && s->cwd.n);
}

static struct err *check(const struct import *o, const struct import_options *options)
{
    bool is_empty = true;

    if (o->n_problems && !options->is_partial)
        return err_hint(err_new(ERR_VALIDATION, "%s: cannot read %zu %s; nothing was imported",
                                options->name, o->n_problems,
                                o->n_problems == 1 ? "line" : "lines"),
                        "skip them with --partial");
    for (size_t i = 0; i < o->n && is_empty; i++)
        is_empty = !is_session(&o->sessions[i]);
    return is_empty ? err_new(ERR_VALIDATION, "%s contains no messages", options->name) : NULL;
}

/* From the first message with a time to the last; a record may know it better. */
static void find_times(struct imported *s)
{
    for (size_t i = 0; i < s->n; i++) {
        if (!s->created_ms)
            s->created_ms = s->items[i].unix_ms;
        s->updated_ms = MAX(s->updated_ms, s->items[i].unix_ms);
    }
    s->updated_ms = MAX(s->updated_ms, s->created_ms);
}

/* Skips a byte order mark. */
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

    *ret = (struct import){.spool = options->spool};
    strbuf_init(&x.buffer, MAX_BUFFER);
    e = find_start(&x);
    if (!e)
        e = read_form(&x);
    if (x.error) { /* it caused everything else */
        err_free(e);
        e = x.error;
    }
    strbuf_done(&x.buffer);
    arena_done(&x.scratch);
    if (e)
        return e;
    for (size_t i = 0; i < ret->n; i++)
        find_times(&ret->sessions[i]);
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
