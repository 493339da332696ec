/* part.c - reads the parts of a Gemini answer's content.
 *
 * Parts have no number: text continues where text stopped. A part with a signature is a part of its
 * own and keeps its bytes, because it must be sent back unchanged. */
#include "provider/gemini/gemini.h"

#include "base/base64.h"

#define NO_PART SIZE_MAX

struct gemini_state *gemini_state_new(struct arena *a)
{
    struct gemini_state *s = ARENA_NEW(a, struct gemini_state);

    s->text = s->call = NO_PART;
    return s;
}

static bool get_bool(const struct json *object, const char *key)
{
    return json_bool(gemini_get(object, key), false);
}

/* --- text and thoughts --- */

static struct err *sign(struct reply *r, size_t index, const struct json *part)
{
    struct part *p = reply_part(r, index);

    TRY(reply_set_field(r, &p->signature, gemini_get_text(part, "thoughtSignature")));
    return reply_set_field(r, &p->native, part->raw);
}

static struct err *begin_part(struct decode *d, enum part_kind kind, struct str id, struct str name,
                              size_t *ret_index)
{
    struct gemini_state *s = d->state;

    s->text = NO_PART;
    reply_close_text(d->reply);
    return reply_begin(d->reply, kind, id, name, ret_index);
}

static struct err *take_text(struct decode *d, const struct json *part, const struct json *value)
{
    struct gemini_state *s = d->state;
    struct reply *r = d->reply;
    enum part_kind kind = get_bool(part, "thought") ? PART_REASONING : PART_TEXT;
    struct str text = json_str(value);
    size_t index = s->text;

    if (gemini_get_text(part, "thoughtSignature").n) {
        TRY(begin_part(d, kind, (struct str){0}, (struct str){0}, &index));
        TRY(sign(r, index, part));
        return reply_add_text(r, index, text);
    }
    if (text.n == 0)
        return NULL;
    if (index == NO_PART || reply_part(r, index)->kind != kind)
        TRY(begin_part(d, kind, (struct str){0}, (struct str){0}, &index));
    s->text = index;
    return reply_add_text(r, index, text);
}

/* --- function calls --- */

/* Keeps the call as one whole part, to send it back. */
static struct err *set_native_call(struct reply *r, size_t index)
{
    AUTO(strbuf) struct strbuf out = {0};
    struct part *p = reply_part(r, index);
    struct json_writer w;

    strbuf_init(&out, 2 * REPLY_MAX_BYTES);
    jw_init(&w, &out);
    jw_begin_object(&w);
    jw_key(&w, "functionCall");
    jw_begin_object(&w);
    if (p->id.n)
        jw_kv_str(&w, "id", p->id);
    jw_kv_str(&w, "name", p->name);
    jw_kv_raw(&w, "args", reply_part_args(r, index));
    jw_end_object(&w);
    if (p->signature.n)
        jw_kv_str(&w, "thoughtSignature", p->signature);
    jw_end_object(&w);
    TRY(strbuf_check(&out, "the answer"));
    return reply_set_field(r, &p->native, strbuf_str(&out));
}

/* Arguments in pieces are complete when the call ends. Those that were cut off must not look
 * complete, or half a file would be written: without their closing brace they count as invalid. */
struct err *gemini_end_call(struct decode *d, bool is_whole)
{
    AUTO(strbuf) struct strbuf args = {0};
    struct gemini_state *s = d->state;
    size_t index = s->call;

    if (index == NO_PART)
        return NULL;
    s->call = NO_PART;
    strbuf_init(&args, 8 * REPLY_MAX_BYTES); /* reply_add_args() checks the size */
    json_write(&args, s->args.root);
    if (!is_whole)
        strbuf_cut(&args, args.n - 1);
    TRY(reply_add_args(d->reply, index, strbuf_str(&args)));
    if (!is_whole)
        return NULL;
    TRY(set_native_call(d->reply, index));
    reply_close(d->reply, index);
    return NULL;
}

/* Later parts of a call have neither name nor id; some repeat them. */
static bool continues_call(const struct decode *d, const struct json *call)
{
    const struct gemini_state *s = d->state;
    struct str name = gemini_get_text(call, "name"), id = gemini_get_text(call, "id");
    const struct part *open;

    if (s->call == NO_PART)
        return false;
    open = reply_part(d->reply, s->call);
    return (name.n == 0 || str_eq(name, open->name)) && (id.n == 0 || str_eq(id, open->id));
}

static struct err *take_pieces(struct decode *d, const struct json *part, const struct json *call)
{
    struct gemini_state *s = d->state;
    struct reply *r = d->reply;
    const struct json *args = gemini_get(call, "args");

    if (gemini_get(part, "thoughtSignature"))
        TRY(reply_set_field(r, &reply_part(r, s->call)->signature,
                            gemini_get_text(part, "thoughtSignature")));
    if (json_is(args, JSON_OBJECT) && args->n)
        TRY(gemini_args_set(&s->args, &r->arena, args));
    json_each (piece, gemini_get(call, "partialArgs"))
        TRY(gemini_args_add(&s->args, &r->arena, piece));
    return get_bool(call, "willContinue") ? NULL : gemini_end_call(d, /* is_whole= */ true);
}

static struct err *take_call(struct decode *d, const struct json *part, const struct json *call)
{
    struct gemini_state *s = d->state;
    const struct json *args = gemini_get(call, "args");
    struct str name = gemini_get_text(call, "name");
    size_t index;

    if (s->takes_no_calls)
        return NULL;
    if (continues_call(d, call))
        return take_pieces(d, part, call);
    TRY(gemini_end_call(d, /* is_whole= */ true));
    if (name.n == 0 && !args && !gemini_get(call, "partialArgs"))
        return NULL; /* the end of a call that has already ended */
    TRY(begin_part(d, PART_TOOL_CALL, gemini_get_text(call, "id"), name, &index));
    s->has_calls = true;
    if (get_bool(call, "willContinue") || gemini_get(call, "partialArgs")) {
        s->call = index;
        gemini_args_begin(&s->args, &d->reply->arena);
        return take_pieces(d, part, call);
    }
    TRY(sign(d->reply, index, part));
    if (args)
        TRY(reply_add_args(d->reply, index, args->raw));
    reply_close(d->reply, index);
    return NULL;
}

/* --- media --- */

/* The native bytes would only repeat the data: media are sent back from the field. */
static struct err *add_media(struct decode *d, const struct json *part, const struct media *media)
{
    size_t index;

    TRY(begin_part(d, PART_MEDIA, (struct str){0}, (struct str){0}, &index));
    TRY(reply_set_media(d->reply, index, media));
    return reply_set_field(d->reply, &reply_part(d->reply, index)->signature,
                           gemini_get_text(part, "thoughtSignature"));
}

static struct err *take_inline_data(struct decode *d, const struct json *part,
                                    const struct json *blob)
{
    AUTO(strbuf) struct strbuf bytes = {0};
    struct err *e;

    if (get_bool(part, "thought"))
        return NULL; /* a draft of the picture that follows */
    e = base64_decode(&bytes, gemini_get_text(blob, "data"));
    if (e) {
        e->kind = ERR_BAD_RESPONSE;
        return err_wrap(e, "cannot decode a file that the provider sent");
    }
    return add_media(d, part,
                     &(struct media){.source = MEDIA_BYTES,
                                     .mime = gemini_get_text(blob, "mimeType"),
                                     .data = strbuf_str(&bytes)});
}

static struct err *take_file_data(struct decode *d, const struct json *part,
                                  const struct json *file)
{
    return add_media(d, part,
                     &(struct media){.source = MEDIA_URL,
                                     .mime = gemini_get_text(file, "mimeType"),
                                     .data = gemini_get_text(file, "fileUri")});
}

/* --- the provider's own tools --- */

static struct err *add_server_part(struct decode *d, enum part_kind kind, const struct json *part,
                                   const struct json *value, struct str name)
{
    struct str type = gemini_get_text(value, "toolType");
    size_t index;

    TRY(begin_part(d, kind, gemini_get_text(value, "id"), type.n ? type : name, &index));
    return sign(d->reply, index, part);
}

static struct err *take_code(struct decode *d, const struct json *part, const struct json *code)
{
    TRY(add_server_part(d, PART_SERVER_TOOL_USE, part, code, S("code_execution")));
    return reply_add_args(d->reply, d->reply->n_parts - 1, code->raw);
}

static struct err *take_tool_call(struct decode *d, const struct json *part,
                                  const struct json *call)
{
    const struct json *args = gemini_get(call, "args");

    TRY(add_server_part(d, PART_SERVER_TOOL_USE, part, call, S("tool")));
    return args ? reply_add_args(d->reply, d->reply->n_parts - 1, args->raw) : NULL;
}

static struct err *take_code_result(struct decode *d, const struct json *part,
                                    const struct json *result)
{
    return add_server_part(d, PART_SERVER_TOOL_RESULT, part, result, S("code_execution"));
}

static struct err *take_tool_response(struct decode *d, const struct json *part,
                                      const struct json *response)
{
    return add_server_part(d, PART_SERVER_TOOL_RESULT, part, response, S("tool"));
}

struct err *gemini_take_part(struct decode *d, const struct json *part)
{
    static const struct {
        const char *key;
        struct err *(*take)(struct decode *d, const struct json *part, const struct json *value);
    } kinds[] = {
        {"text", take_text},
        {"functionCall", take_call},
        {"inlineData", take_inline_data},
        {"fileData", take_file_data},
        {"executableCode", take_code},
        {"codeExecutionResult", take_code_result},
        {"toolCall", take_tool_call},
        {"toolResponse", take_tool_response},
    };

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        const struct json *value = gemini_get(part, kinds[i].key);
        if (value)
            return kinds[i].take(d, part, value);
    }
    if (gemini_get(part, "thoughtSignature"))
        return take_text(d, part, NULL);
    json_each (value, part)
        if (value->type == JSON_OBJECT) /* a kind newer than this code is kept and sent back */
            return add_server_part(d, PART_SERVER_TOOL_RESULT, part, value, value->key);
    return NULL;
}
