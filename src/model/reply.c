/* reply.c - builds an answer piece by piece. */
#include "model/reply.h"

#include "base/utf8.h"
#include "model/message_json.h"

#include <stdio.h>

/* The bytes of JSON that a message takes around its parts, and a part around its strings: names,
 * quotes, numbers, a generated id. */
#define MESSAGE_FRAME ((size_t)128 << 10)
#define PART_FRAME ((size_t)448)

void reply_init(struct reply *r, struct delta_sink sink)
{
    *r = (struct reply){.sink = sink,
                        .usage = USAGE_UNKNOWN,
                        .n_json = MESSAGE_FRAME,
                        .max_json = MESSAGE_MAX_JSON_BYTES};
}

static void free_parts(struct reply *r)
{
    for (size_t i = 0; i < r->n_parts; i++) {
        strbuf_done(&r->parts[i].text);
        strbuf_done(&r->parts[i].args);
    }
    r->n_parts = 0;
}

void reply_done(struct reply *r)
{
    free_parts(r);
    mem_free(r->parts);
    arena_done(&r->arena);
    *r = (struct reply){.usage = USAGE_UNKNOWN};
}

void reply_clear(struct reply *r)
{
    struct delta_sink sink = r->sink;

    reply_done(r);
    reply_init(r, sink);
}

static void emit(struct reply *r, enum delta_kind kind, size_t index, struct str text)
{
    struct delta d = {.kind = kind, .part = index, .text = text};

    if (!r->sink.on_delta)
        return;
    d.id = r->parts[index].part.id;
    d.name = r->parts[index].part.name;
    r->sink.on_delta(r->sink.self, &d);
}

struct str reply_str(struct reply *r, struct str s)
{
    return s.n ? arena_str(&r->arena, s) : (struct str){0};
}

void reply_set_word(struct reply *r, struct str *at, struct str word)
{
    word = utf8_truncate(word, REPLY_MAX_WORD_BYTES);
    if (!str_eq(*at, word))
        *at = reply_str(r, word);
}

/* --- how large --- */

/* Counts `n` more bytes of JSON instead of `n_before`. */
static struct err *count_json(struct reply *r, size_t n_before, size_t n)
{
    size_t n_rest = r->n_json - n_before;

    if (n_rest > r->max_json || n > r->max_json - n_rest)
        return err_new(ERR_BAD_RESPONSE,
                       "the answer is larger than a message may be: %zu MiB as JSON",
                       r->max_json >> 20);
    r->n_json = n_rest + n;
    return NULL;
}

/* The call and the list of calls have ids and names, and results repeat them. */
static struct err *set_name(struct reply *r, struct str *at, struct str name, const char *what)
{
    if (name.n > REPLY_MAX_ID_BYTES)
        return err_new(ERR_BAD_RESPONSE, "the answer has a part whose %s is larger than %zu KiB",
                       what, REPLY_MAX_ID_BYTES >> 10);
    TRY(count_json(r, 2 * json_string_size(*at), 2 * json_string_size(name)));
    *at = reply_str(r, name);
    return NULL;
}

static size_t text_size(enum part_kind kind, struct str text)
{
    return json_string_size(text) * (kind == PART_TEXT ? 2 : 1); /* again in `content` */
}

/* Bytes of media become base64. */
static size_t base64_size(size_t n)
{
    return n / 3 * 4 + 4;
}

static size_t args_size(enum part_kind kind, struct str args)
{
    if (kind == PART_MEDIA)
        return base64_size(args.n);
    return json_string_size(args) * (kind == PART_TOOL_CALL ? 2 : 1);
}

static size_t media_size(const struct media *m)
{
    size_t data = m->source == MEDIA_BYTES ? base64_size(m->data.n) : json_string_size(m->data);

    return data + json_string_size(m->mime) + json_string_size(m->name);
}

/* The query of a provider's own tool, under the names that vendors use. */
static struct str find_query(const struct json *args)
{
    static const char *const names[] = {"query", "url", "retrievedUrl", "code"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (json_get_text(args, names[i]).n)
            return json_get_text(args, names[i]);
    return json_str(json_at(json_get(args, "queries"), 0));
}

/* An incomplete call is not announced: it did not run. */
static void tell_server_tool(struct reply *r, size_t index)
{
    AUTO(arena) struct arena scratch = {0};
    struct reply_part *p = &r->parts[index];
    struct json *args = NULL;
    struct json_where where;

    if (p->part.kind != PART_SERVER_TOOL_USE || p->is_told)
        return;
    if (p->args.n &&
        !json_parse_at(&scratch, strbuf_str(&p->args), JSON_REPAIR_UTF8, &args, &where))
        return;
    p->is_told = true;
    emit(r, DELTA_SERVER_TOOL, index, find_query(args));
}

struct err *reply_begin(struct reply *r, enum part_kind kind, struct str id, struct str name,
                        size_t *ret_index)
{
    struct reply_part *p;
    struct str own_id = {0}, own_name = {0};

    if (r->n_parts == REPLY_MAX_PARTS)
        return err_new(ERR_BAD_RESPONSE, "the answer has more than %d parts", REPLY_MAX_PARTS);
    if (r->n_parts && r->parts[r->n_parts - 1].args.n)
        tell_server_tool(r, r->n_parts - 1);
    TRY(count_json(r, 0, PART_FRAME));
    TRY(set_name(r, &own_id, id, "id"));
    TRY(set_name(r, &own_name, name, "name"));
    if (r->n_parts == r->parts_room) {
        r->parts_room = r->parts_room ? r->parts_room * 2 : 2;
        r->parts = mem_resize(r->parts, r->parts_room * sizeof *r->parts);
    }
    p = &r->parts[r->n_parts];
    *p = (struct reply_part){.part = {.kind = kind, .id = own_id, .name = own_name}};
    strbuf_init(&p->text, REPLY_MAX_BYTES);
    strbuf_init(&p->args, REPLY_MAX_BYTES);
    *ret_index = r->n_parts++;
    if (kind == PART_TOOL_CALL)
        emit(r, DELTA_TOOL_BEGIN, *ret_index, (struct str){0});
    return NULL;
}

struct err *reply_continue(struct reply *r, enum part_kind kind, size_t *ret_index)
{
    size_t last = r->n_parts - 1;

    if (r->n_parts && r->parts[last].part.kind == kind && !r->parts[last].is_closed) {
        *ret_index = last;
        return NULL;
    }
    reply_close_text(r);
    return reply_begin(r, kind, (struct str){0}, (struct str){0}, ret_index);
}

/* Some providers give no id. A call needs one, and the same answer must generate the same id. */
static void make_id(struct reply *r, size_t index, struct str args)
{
    struct part *p = &r->parts[index].part;
    uint64_t hash = str_hash(r->id) * 31 + str_hash(p->name) * 17 + str_hash(args);

    p->id = arena_format(&r->arena, "call_%016llx_%zu", (unsigned long long)hash, index);
}

bool reply_has_whole_args(const struct reply *r, size_t index)
{
    AUTO(arena) struct arena scratch = {0};
    struct str args = str_trim(reply_part_args(r, index));
    struct json_where where;
    struct json *value;

    return str_ends(args, S("}")) &&
           json_parse_at(&scratch, args, JSON_REPAIR_UTF8, &value, &where) &&
           value->type == JSON_OBJECT;
}

/* The state after reply_finish(). */
static struct str closed_args(const struct reply *r, size_t index)
{
    if (r->parts[index].part.is_free_text)
        return reply_part_args(r, index);
    return reply_has_whole_args(r, index) ? str_trim(reply_part_args(r, index)) : S("{}");
}

void reply_close(struct reply *r, size_t index)
{
    struct reply_part *p;

    BUG_IF(index >= r->n_parts);
    p = &r->parts[index];
    p->is_closed = true;
    tell_server_tool(r, index);
    if (p->part.kind == PART_TOOL_CALL && p->part.id.n == 0)
        make_id(r, index, closed_args(r, index));
    if (r->sink.on_close)
        r->sink.on_close(r->sink.self, index);
}

void reply_close_text(struct reply *r)
{
    size_t last = r->n_parts - 1;
    enum part_kind kind;

    if (r->n_parts == 0 || r->parts[last].is_closed)
        return;
    kind = r->parts[last].part.kind;
    if (kind == PART_TEXT || kind == PART_REASONING || kind == PART_REFUSAL)
        reply_close(r, last);
}

struct part *reply_part(struct reply *r, size_t index)
{
    BUG_IF(index >= r->n_parts);
    return &r->parts[index].part;
}

struct str reply_part_text(const struct reply *r, size_t index)
{
    return strbuf_str(&r->parts[index].text);
}

struct str reply_part_args(const struct reply *r, size_t index)
{
    return strbuf_str(&r->parts[index].args);
}

struct err *reply_set_field(struct reply *r, struct str *field, struct str value)
{
    TRY(count_json(r, json_string_size(*field), json_string_size(value)));
    *field = reply_str(r, value);
    return NULL;
}

struct err *reply_set_id(struct reply *r, size_t index, struct str id)
{
    return set_name(r, &reply_part(r, index)->id, id, "id");
}

struct err *reply_set_name(struct reply *r, size_t index, struct str name)
{
    return set_name(r, &reply_part(r, index)->name, name, "name");
}

struct err *reply_set_media(struct reply *r, size_t index, const struct media *m)
{
    struct media *at = &reply_part(r, index)->media;

    TRY(count_json(r, media_size(at), media_size(m)));
    *at = (struct media){.mime = reply_str(r, m->mime),
                         .source = m->source,
                         .data = reply_str(r, m->data),
                         .name = reply_str(r, m->name)};
    return NULL;
}

/* --- what grows --- */

static struct err *add_piece(struct reply *r, struct strbuf *to, struct str piece, size_t *size,
                             size_t n_json)
{
    TRY(count_json(r, 0, n_json));
    *size += n_json;
    r->n_bytes += piece.n;
    strbuf_add(to, piece);
    return strbuf_check(to, "the answer");
}

struct err *reply_add_text(struct reply *r, size_t index, struct str text)
{
    static const enum delta_kind kinds[] = {
        [PART_TEXT] = DELTA_TEXT,
        [PART_REASONING] = DELTA_REASONING,
        [PART_REFUSAL] = DELTA_REFUSAL,
    };
    enum part_kind kind = reply_part(r, index)->kind;

    struct reply_part *p = &r->parts[index];

    if (text.n == 0)
        return NULL;
    TRY(add_piece(r, &p->text, text, &p->text_json, text_size(kind, text)));
    if (kind == PART_TEXT || kind == PART_REASONING || kind == PART_REFUSAL)
        emit(r, kinds[kind], index, text);
    return NULL;
}

struct err *reply_add_args(struct reply *r, size_t index, struct str json_piece)
{
    enum part_kind kind = reply_part(r, index)->kind;
    struct reply_part *p = &r->parts[index];

    if (json_piece.n == 0)
        return NULL;
    TRY(add_piece(r, &p->args, json_piece, &p->args_json, args_size(kind, json_piece)));
    if (kind == PART_TOOL_CALL)
        emit(r, DELTA_TOOL_ARGS, index, json_piece);
    return NULL;
}

static void empty(struct reply *r, struct strbuf *at, size_t *size)
{
    r->n_bytes -= at->n;
    r->n_json -= *size;
    *size = 0;
    strbuf_clear(at);
}

struct err *reply_set_text(struct reply *r, size_t index, struct str text)
{
    struct reply_part *p = &r->parts[index];

    empty(r, &p->text, &p->text_json);
    return add_piece(r, &p->text, text, &p->text_json, text_size(p->part.kind, text));
}

struct err *reply_set_args(struct reply *r, size_t index, struct str json)
{
    struct reply_part *p = &r->parts[index];

    empty(r, &p->args, &p->args_json);
    return add_piece(r, &p->args, json, &p->args_json, args_size(p->part.kind, json));
}

struct str reply_take_args(struct reply *r, size_t index)
{
    struct reply_part *p = &r->parts[index];
    struct str taken = reply_str(r, strbuf_str(&p->args));

    empty(r, &p->args, &p->args_json);
    return taken;
}

void reply_set_stop(struct reply *r, struct str reason, enum stop stop)
{
    reply_set_word(r, &r->stop_reason, reason);
    r->stop = stop;
}

void reply_abort(struct reply *r)
{
    r->is_complete = false;
    reply_set_stop(r, S(REPLY_ABORTED), STOP_UNKNOWN);
}

enum message_state reply_state(const struct reply *r)
{
    if (r->is_complete)
        return MESSAGE_COMPLETE;
    return str_is(r->stop_reason, REPLY_ABORTED) ? MESSAGE_INTERRUPTED : MESSAGE_BROKEN;
}

/* --- finishing --- */

/* If an answer was cut off before a call's arguments began, they are unknown, and not empty as for
 * a call without arguments. */
static bool is_cut_off(const struct reply *r, const struct reply_part *p)
{
    return (r->stop == STOP_LENGTH || r->stop == STOP_OVERFLOW) && p == &r->parts[r->n_parts - 1];
}

static size_t count_values(const struct json *v)
{
    size_t n = 1;

    json_each (child, v)
        n += count_values(child);
    return n;
}

/* The calls of an answer are in memory together, so they share one limit. */
static bool parse_args(struct reply *r, struct arena *a, struct str args, struct json **ret_value)
{
    struct json_where where;

    if (!json_parse_few(a, args, JSON_REPAIR_UTF8, JSON_MAX_VALUES - r->n_values, ret_value,
                        &where))
        return false;
    r->n_values += count_values(*ret_value);
    return true;
}

static void settle_args(struct reply *r, struct reply_part *p)
{
    AUTO(arena) struct arena scratch = {0};
    struct str args = str_trim(strbuf_str(&p->args));
    struct json *value = NULL;

    p->part.args = S("{}");
    if (p->part.is_free_text)
        p->part.args = reply_str(r, strbuf_str(&p->args));
    else if (args.n == 0 && is_cut_off(r, p))
        p->part.bad_args = S("(nothing: the answer was cut off)");
    else if (args.n == 0)
        return;
    else if (parse_args(r, &scratch, args, &value) && value->type == JSON_OBJECT)
        p->part.args = reply_str(r, args);
    else if (!json_is(value, JSON_NULL))
        p->part.bad_args = reply_str(r, args);
}

/* Compares hashes, in case of thousands of long calls that differ only at the end. */
static bool is_repeat(struct reply *r, size_t index)
{
    const struct part *p = &r->parts[index].part;
    uint64_t hash = str_hash(p->id) * 31 + str_hash(p->args) * 17 + str_hash(p->bad_args);

    r->parts[index].hash = hash;
    for (size_t i = 0; i < index; i++) {
        const struct part *q = &r->parts[i].part;
        if (r->parts[i].hash == hash && q->kind == PART_TOOL_CALL && str_eq(q->id, p->id) &&
            str_eq(q->name, p->name) && str_eq(q->args, p->args) &&
            str_eq(q->bad_args, p->bad_args))
            return true;
    }
    return false;
}

static void drop_part(struct reply *r, size_t index)
{
    strbuf_done(&r->parts[index].text);
    strbuf_done(&r->parts[index].args);
    memmove(&r->parts[index], &r->parts[index + 1], (r->n_parts - index - 1) * sizeof *r->parts);
    r->n_parts--;
}

void reply_finish(struct reply *r)
{
    for (size_t i = 0; i < r->n_parts;) {
        struct reply_part *p = &r->parts[i];

        tell_server_tool(r, i);
        if (p->part.kind == PART_TOOL_CALL || p->part.kind == PART_SERVER_TOOL_USE)
            settle_args(r, p);
        if (p->part.kind == PART_TOOL_CALL) {
            if (p->part.id.n == 0)
                make_id(r, i, p->part.args);
            else if (is_repeat(r, i)) {
                drop_part(r, i);
                continue;
            }
        }
        i++;
    }
    usage_settle(&r->usage, /* window= */ 0);
}

struct message *reply_to_message(const struct reply *r, struct str message_id,
                                 enum message_state state, struct origin origin)
{
    struct message *m = message_new(ROLE_ASSISTANT, message_id);

    m->state = state;
    message_set_origin(m, origin);
    message_set_usage(m, &r->usage);
    m->stop_reason = arena_str(&m->arena, r->stop_reason);
    m->stop = r->stop;
    for (size_t i = 0; i < r->n_parts; i++) {
        struct part p = r->parts[i].part;

        p.text = strbuf_str(&r->parts[i].text);
        message_add(m, &p);
    }
    return m;
}
