/* item.c - turns the items of a Responses answer into parts of the reply.
 *
 * An item keeps its bytes (`native`) if it can be sent back unchanged. The API accepts only whole
 * items: reasoning needs its encrypted or plain content, a call its result. */
#include "provider/openai_responses/openai_responses.h"

#include "base/base64.h"
#include "provider/encode.h"

#define MAX_ITEMS REPLY_MAX_PARTS

/* --- finding and opening --- */

struct responses_item *responses_item_find(const struct responses_items *items, struct str type,
                                           struct str id, int64_t output_index)
{
    struct responses_item *last = NULL, *by_id = NULL, *by_index = NULL;

    for (size_t i = items->n; i-- > 0;) {
        struct responses_item *item = &items->at[i];
        bool same_id = id.n && str_eq(item->id, id);
        bool same_index = output_index >= 0 && item->output_index == output_index;

        if (type.n && !str_eq(item->type, type))
            continue;
        if (same_id && same_index)
            return item;
        last = last ? last : item;
        by_id = by_id || !same_id ? by_id : item;
        by_index = by_index || !same_index ? by_index : item;
    }
    if (id.n == 0 && output_index < 0)
        return last;
    return by_id ? by_id : by_index;
}

struct err *responses_item_open(struct decode *d, struct responses_items *items, struct str type,
                                struct str id, int64_t output_index,
                                struct responses_item **ret_item)
{
    struct reply *r = d->reply;

    if (items->n == MAX_ITEMS)
        return err_new(ERR_BAD_RESPONSE, "the answer has more than %d items", MAX_ITEMS);
    items->at = arena_grow(&r->arena, items->at, items->n, &items->room, sizeof *items->at);
    *ret_item = &items->at[items->n++];
    **ret_item = (struct responses_item){
        .type = reply_str(r, type), .id = reply_str(r, id), .output_index = output_index};
    return NULL;
}

/* --- parts --- */

static enum part_kind kind_of(struct str type)
{
    if (str_is(type, "reasoning"))
        return PART_REASONING;
    if (str_is(type, "function_call") || str_is(type, "custom_tool_call"))
        return PART_TOOL_CALL;
    if (str_ends(type, S("_call")) || str_is(type, "mcp_approval_request"))
        return PART_SERVER_TOOL_USE;
    return PART_SERVER_TOOL_RESULT; /* outputs, lists, compactions, and types newer than this code
                                     */
}

static bool is_message(const struct responses_item *item)
{
    return str_is(item->type, "message");
}

static struct err *begin_part(struct decode *d, struct responses_item *item, enum part_kind kind,
                              int64_t content_index, struct str id, struct str name,
                              size_t *ret_index)
{
    TRY(reply_begin(d->reply, kind, id, name, ret_index));
    item->parts = arena_grow(&d->reply->arena, item->parts, item->n_parts, &item->parts_room,
                             sizeof *item->parts);
    item->parts[item->n_parts++] =
        (struct responses_part){.index = *ret_index, .content_index = content_index};
    return NULL;
}

struct err *responses_item_part(struct decode *d, struct responses_item *item, enum part_kind kind,
                                int64_t content_index, size_t *ret_index)
{
    for (size_t i = item->n_parts; i-- > 0;) {
        const struct responses_part *p = &item->parts[i];

        if (!is_message(item) ||
            (p->content_index == content_index && reply_part(d->reply, p->index)->kind == kind)) {
            *ret_index = p->index;
            return NULL;
        }
    }
    return begin_part(d, item, kind, content_index, (struct str){0}, (struct str){0}, ret_index);
}

/* Results refer to the call_id; if a vendor has none, to the item's id. */
static struct str id_of(const struct json *json)
{
    struct str id = json_get_text(json, "call_id");

    return id.n ? id : json_get_text(json, "id");
}

/* "web_search" for a web_search_call without a name. */
static struct str name_of(struct str type, const struct json *json)
{
    struct str name = json_get_text(json, "name");

    if (name.n)
        return name;
    return str_ends(type, S("_call")) ? str_slice(type, 0, type.n - S("_call").n) : type;
}

struct err *responses_item_announce(struct decode *d, struct responses_item *item,
                                    const struct json *json)
{
    enum part_kind kind = kind_of(item->type);
    struct str id = {0}, name = {0};
    size_t index;

    if (is_message(item) || item->n_parts)
        return NULL;
    if (kind != PART_REASONING)
        id = id_of(json);
    if (kind == PART_TOOL_CALL)
        name = json_get_text(json, "name");
    else if (kind != PART_REASONING)
        name = name_of(item->type, json);
    TRY(begin_part(d, item, kind, /* content_index= */ 0, id, name, &index));
    reply_part(d->reply, index)->is_free_text = str_is(item->type, "custom_tool_call");
    return NULL;
}

struct err *responses_item_cite(struct decode *d, struct responses_item *item,
                                const struct json *annotation)
{
    struct str title = json_get_text(annotation, "title");
    struct reply *r = d->reply;
    struct part *p;
    size_t index;

    TRY(reply_begin(r, PART_CITATION, (struct str){0}, (struct str){0}, &index));
    item->n_citations++;
    p = reply_part(r, index);
    TRY(reply_set_field(r, &p->url, json_get_text(annotation, "url")));
    TRY(reply_set_field(r, &p->title, title.n ? title : json_get_text(annotation, "filename")));
    return reply_set_field(r, &p->native, annotation->raw);
}

struct err *responses_settle_text(struct reply *r, size_t index, struct str text)
{
    struct str streamed = reply_part_text(r, index);

    if (text.n == 0 || str_eq(text, streamed))
        return NULL;
    if (str_starts(text, streamed))
        return reply_add_text(r, index, str_skip(text, streamed.n));
    return reply_set_text(r, index, text);
}

struct err *responses_settle_args(struct reply *r, size_t index, struct str args)
{
    struct str streamed = reply_part_args(r, index);

    if (args.n == 0 || str_eq(args, streamed))
        return NULL;
    if (str_starts(args, streamed))
        return reply_add_args(r, index, str_skip(args, streamed.n));
    return reply_set_args(r, index, args);
}

/* --- final forms --- */

/* The n-th part of a kind: the final form counts from 0 without gaps; content_index may have
 * gaps. */
static const struct responses_part *nth_part(const struct reply *r,
                                             const struct responses_item *item, enum part_kind kind,
                                             size_t n)
{
    for (size_t i = 0; i < item->n_parts; i++)
        if (r->parts[item->parts[i].index].part.kind == kind && n-- == 0)
            return &item->parts[i];
    return NULL;
}

static struct err *settle_nth(struct decode *d, struct responses_item *item, enum part_kind kind,
                              size_t n, struct str text)
{
    const struct responses_part *p = nth_part(d->reply, item, kind, n);
    size_t index;

    if (!p && text.n == 0)
        return NULL;
    if (p)
        index = p->index;
    else
        TRY(begin_part(d, item, kind, (int64_t)n, (struct str){0}, (struct str){0}, &index));
    return responses_settle_text(d->reply, index, text);
}

static struct err *settle_message(struct decode *d, struct responses_item *item,
                                  const struct json *json)
{
    size_t n_cited = item->n_citations, n_texts = 0, n_refusals = 0;

    if (json_get_text(json, "content").n)
        return settle_nth(d, item, PART_TEXT, 0, json_get_text(json, "content"));
    json_each (content, json_get(json, "content")) {
        struct str type = json_get_text(content, "type");

        if (str_is(type, "refusal"))
            TRY(settle_nth(d, item, PART_REFUSAL, n_refusals++, json_get_text(content, "refusal")));
        else if (!str_is(type, "reasoning_text"))
            TRY(settle_nth(d, item, PART_TEXT, n_texts++, json_get_text(content, "text")));
    }
    json_each (content, json_get(json, "content"))
        json_each (annotation, json_get(content, "annotations")) {
            if (n_cited)
                n_cited--;
            else
                TRY(responses_item_cite(d, item, annotation));
        }
    return NULL;
}

static struct err *settle_reasoning(struct decode *d, size_t index, const struct json *json)
{
    AUTO(strbuf) struct strbuf text = {0};
    struct str encrypted = json_get_text(json, "encrypted_content");

    json_each (summary, json_get(json, "summary"))
        strbuf_add(&text, json_get_text(summary, "text"));
    json_each (content, json_get(json, "content"))
        strbuf_add(&text, json_get_text(content, "text"));
    if (encrypted.n && reply_part(d->reply, index)->data.n == 0)
        TRY(reply_set_field(d->reply, &reply_part(d->reply, index)->data, encrypted));
    return responses_settle_text(d->reply, index, strbuf_str(&text));
}

/* The arguments of a tool, as one JSON object. */
static void add_args(struct strbuf *out, const struct json *json)
{
    static const char *const members[] = {"arguments", "action", "operation", "queries", "code"};
    const struct json *value = NULL;

    for (size_t i = 0; i < ARRAY_LEN(members) && !value; i++)
        value = json_get(json, members[i]);
    if (!value || value->type == JSON_NULL)
        return;
    if (str_is(value->key, "arguments") && value->type == JSON_STRING)
        strbuf_add(out, value->text);
    else if (str_is(value->key, "arguments") || value->type == JSON_OBJECT)
        strbuf_add(out, value->raw);
    else
        strbuf_addf(out, "{\"%" STR_FMT "\":%" STR_FMT "}", STR_ARG(value->key),
                    STR_ARG(value->raw));
}

static struct err *settle_tool(struct decode *d, size_t index, const struct json *json)
{
    AUTO(strbuf) struct strbuf args = {0};
    struct part *p = reply_part(d->reply, index);
    struct str id = id_of(json);

    if (id.n && !str_eq(id, p->id))
        TRY(reply_set_id(d->reply, index, id));
    if (p->name.n == 0)
        TRY(reply_set_name(d->reply, index, json_get_text(json, "name")));
    if (p->kind == PART_SERVER_TOOL_RESULT)
        return NULL;
    if (p->kind == PART_TOOL_CALL && p->is_free_text)
        return responses_settle_args(d->reply, index, json_get_text(json, "input"));
    add_args(&args, json);
    return responses_settle_args(d->reply, index, strbuf_str(&args));
}

/* --- images --- */

static struct err *add_media(struct reply *r, enum media_source source, struct str mime,
                             struct str data)
{
    size_t index;

    TRY(reply_begin(r, PART_MEDIA, (struct str){0}, (struct str){0}, &index));
    return reply_set_media(r, index, &(struct media){.mime = mime, .source = source, .data = data});
}

static struct str mime_of(struct str format)
{
    if (str_is(format, "jpeg") || str_is(format, "jpg"))
        return S("image/jpeg");
    return str_is(format, "webp") ? S("image/webp") : S("image/png");
}

static struct err *take_image(struct decode *d, const struct json *json)
{
    AUTO(strbuf) struct strbuf bytes = {0};
    AUTO(err) struct err *e = NULL;
    struct str result = json_get_text(json, "result");
    struct str mime = mime_of(json_get_text(json, "output_format"));

    if (str_starts(result, S("http://")) || str_starts(result, S("https://")))
        return add_media(d->reply, MEDIA_URL, mime, result);
    if (str_starts(result, S("data:")))
        result = str_skip(result, str_find_char(result, ',') + 1); /* no comma: skips nothing */
    e = base64_decode(&bytes, result);
    if (e || bytes.n == 0)
        return NULL; /* not an image; the item is kept */
    return add_media(d->reply, MEDIA_BYTES, mime, strbuf_str(&bytes));
}

static struct err *take_images(struct decode *d, const struct responses_item *item,
                               const struct json *json)
{
    if (str_is(item->type, "image_generation_call"))
        return take_image(d, json);
    if (!str_is(item->type, "code_interpreter_call"))
        return NULL;
    json_each (output, json_get(json, "outputs"))
        if (str_is(json_get_text(output, "type"), "image") && json_get_text(output, "url").n)
            TRY(add_media(d->reply, MEDIA_URL, S("image/png"), json_get_text(output, "url")));
    return NULL;
}

/* --- items that go back unchanged --- */

static bool is_json_object(struct decode *d, struct str text)
{
    struct json *value;
    struct json_where where;

    return json_parse_at(&d->scratch, text, 0, &value, &where) && value->type == JSON_OBJECT;
}

/* Calls of built-in tools that the client must run and answer. keel offers none of them and does
 * not answer them, and the API refuses calls without a result. */
static bool awaits_the_client(const struct json *json, struct str type)
{
    if (str_is(type, "tool_search_call"))
        return str_is(json_get_text(json, "execution"), "client");
    if (str_is(type, "shell_call"))
        return !str_is(json_get_text(json_get(json, "environment"), "type"), "container_reference");
    return str_is(type, "computer_call") || str_is(type, "local_shell_call") ||
           str_is(type, "apply_patch_call") || str_is(type, "mcp_approval_request");
}

static bool goes_back(struct decode *d, const struct json *json, struct str type)
{
    struct str call_id = json_get_text(json, "call_id");

    if (str_is(type, "reasoning")) {
        const struct json *content = json_get(json, "content");
        return json_get_text(json, "encrypted_content").n ||
               (json_is(content, JSON_ARRAY) && content->n);
    }
    if (str_is(type, "function_call"))
        return call_id_is_plain(call_id, RESPONSES_MAX_CALL_ID) &&
               is_json_object(d, json_get_text(json, "arguments"));
    if (str_is(type, "custom_tool_call"))
        return call_id_is_plain(call_id, RESPONSES_MAX_CALL_ID);
    return !awaits_the_client(json, type);
}

/* The API sends more fields with an image than it accepts. */
static void write_image_call(struct strbuf *out, const struct json *json)
{
    struct json_writer w;

    jw_init(&w, out);
    jw_begin_object(&w);
    jw_kv_str(&w, "type", S("image_generation_call"));
    jw_kv_str(&w, "id", json_get_text(json, "id"));
    jw_kv_str(&w, "status", S("completed"));
    jw_kv_str(&w, "result", json_get_text(json, "result"));
    jw_end_object(&w);
}

static struct err *keep_native(struct decode *d, struct responses_item *item,
                               const struct json *json)
{
    AUTO(strbuf) struct strbuf image = {0};
    struct str native = json->raw;

    if (!goes_back(d, json, item->type))
        return NULL;
    if (str_is(item->type, "image_generation_call")) {
        if (json_get_text(json, "result").n)
            write_image_call(&image, json);
        native = strbuf_str(&image);
    }
    for (size_t i = 0; i < item->n_parts; i++)
        TRY(reply_set_field(d->reply, &reply_part(d->reply, item->parts[i].index)->native, native));
    return NULL;
}

/* Opening pages and searching in them is not charged for. */
static void count_search(struct usage *u, const struct json *json)
{
    struct str action = json_get_text(json_get(json, "action"), "type");

    if (str_is(json_get_text(json, "type"), "web_search_call") &&
        !str_is(json_get_text(json, "status"), "failed") &&
        (action.n == 0 || str_is(action, "search")))
        u->web_searches++;
}

/* Calls of the provider's own tools are reported when the next part begins. */
static void close_part(struct decode *d, const struct responses_item *item)
{
    bool is_call = str_is(item->type, "function_call");

    if (item->n_parts == 1 && (is_call || is_message(item) || str_is(item->type, "reasoning")))
        reply_close(d->reply, item->parts[0].index);
}

struct err *responses_item_settle(struct decode *d, struct responses_item *item,
                                  const struct json *json)
{
    TRY(responses_item_announce(d, item, json));
    if (is_message(item))
        TRY(settle_message(d, item, json));
    else if (str_is(item->type, "reasoning"))
        TRY(settle_reasoning(d, item->parts[0].index, json));
    else
        TRY(settle_tool(d, item->parts[0].index, json));
    if (item->is_done)
        return NULL;
    item->is_done = true;
    count_search(&d->reply->usage, json);
    TRY(keep_native(d, item, json));
    TRY(take_images(d, item, json));
    close_part(d, item);
    return NULL;
}
