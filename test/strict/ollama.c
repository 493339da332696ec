/* ollama.c - judges requests for Ollama's /api/chat.
 *
 * The server itself takes almost anything and hands it to the model's template. These are the rules
 * under which templates make sense of a conversation with tools. */
#include "strict/check.h"
#include "strict/strict.h"

#define MAX_NAME 64

static bool check_name(struct check *c, const struct json *v)
{
    return text_is_name(json_str(v), "_-", MAX_NAME) ? true : refuse(c, "is no name of a tool");
}

/* --- messages --- */

static bool check_picture(struct check *c, const struct json *v)
{
    return v->type == JSON_STRING ? is_base64(c, v) : refuse(c, "must be base64 in a string");
}

static bool check_pictures(struct check *c, const struct json *v)
{
    return is_not_empty(c, v) && check_each(c, v, check_picture);
}

static bool check_call_function(struct check *c, const struct json *v)
{
    static const struct member members[] = {
        NEEDS("name", A_STRING, BY(check_name)),
        NEEDS("arguments", AN_OBJECT),
        MAY("index", AN_INT),
        MAY("description", A_STRING),
        END_OF_MEMBERS,
    };
    return check_members(c, v, members, NULL);
}

static bool check_call(struct check *c, const struct json *v)
{
    static const struct member members[] = {
        NEEDS("function", AN_OBJECT, BY(check_call_function)),
        MAY("id", A_STRING, BY(is_not_blank)),
        MAY("type", A_STRING, WORDS("function")),
        END_OF_MEMBERS,
    };
    return check_members(c, v, members, NULL);
}

static bool check_calls(struct check *c, const struct json *v)
{
    return is_not_empty(c, v) && check_each(c, v, check_call);
}

static bool check_message(struct check *c, const struct json *v)
{
    static const struct member said[] = {
        NEEDS("role", A_STRING, WORDS("system user")),
        MAY("content", A_STRING, BY(is_not_blank)),
        MAY("images", AN_ARRAY, BY(check_pictures)),
        END_OF_MEMBERS,
    };
    static const struct member assistant[] = {
        NEEDS("role", A_STRING),
        MAY("content", A_STRING),
        MAY("thinking", A_STRING),
        MAY("tool_calls", AN_ARRAY, BY(check_calls)),
        MAY("images", AN_ARRAY, BY(check_pictures)),
        END_OF_MEMBERS,
    };
    static const struct member tool[] = {
        NEEDS("role", A_STRING),
        NEEDS("content", A_STRING, BY(is_not_blank)),
        MAY("tool_name", A_STRING, BY(check_name)),
        MAY("tool_call_id", A_STRING, BY(is_not_blank)),
        MAY("images", AN_ARRAY, BY(check_pictures)),
        END_OF_MEMBERS,
    };
    struct str role = json_get_text(v, "role");

    if (str_is(role, "tool"))
        return check_members(c, v, tool, NULL);
    if (!check_members(c, v, str_is(role, "assistant") ? assistant : said, NULL))
        return false;
    return !text_is_blank_space(json_get_text(v, "content")) || json_has(v, "images") ||
                   json_has(v, "tool_calls")
               ? true
               : refuse(c, "says nothing");
}

/* Calls that wait for a result, in their order. */
struct waiting {
    const struct json *next;
    size_t n;
};

static bool check_result(struct check *c, const struct json *m, struct waiting *w)
{
    struct str name = json_get_text(json_get(w->next, "function"), "name");
    struct str id = json_get_text(w->next, "id");

    if (w->n == 0)
        return refuse(c, "result without a call before it");
    if (json_has(m, "tool_name") && !str_eq(json_get_text(m, "tool_name"), name))
        return refuse(c, "the next result is that of \"%" STR_FMT "\"", STR_ARG(name));
    if (id.n && json_has(m, "tool_call_id") && !str_eq(json_get_text(m, "tool_call_id"), id))
        return refuse(c, "the next result is that of call \"%" STR_FMT "\"", STR_ARG(id));
    w->next = w->next->next;
    w->n--;
    return true;
}

static bool check_place(struct check *c, const struct json *m, struct waiting *w)
{
    const struct json *calls = json_get(m, "tool_calls");

    if (str_is(json_get_text(m, "role"), "tool"))
        return check_result(c, m, w);
    if (w->n)
        return refuse(c, "%zu calls are not answered here", w->n);
    *w = (struct waiting){calls ? calls->first : NULL, calls ? calls->n : 0};
    return true;
}

static bool check_messages(struct check *c, const struct json *v)
{
    struct waiting waiting = {0};

    if (!is_not_empty(c, v) || !check_each(c, v, check_message))
        return false;
    json_each (m, v) {
        c->path[c->depth++] = m;
        if (!check_place(c, m, &waiting))
            return false;
        c->depth--;
    }
    return waiting.n ? refuse(c, "%zu calls are not answered", waiting.n) : true;
}

/* --- tools and settings --- */

static bool check_function(struct check *c, const struct json *v)
{
    static const struct member members[] = {
        NEEDS("name", A_STRING, BY(check_name)),
        MAY("description", A_STRING),
        NEEDS("parameters", AN_OBJECT, BY(is_object_schema)),
        MAY("strict", A_BOOL),
        END_OF_MEMBERS,
    };
    return check_members(c, v, members, NULL);
}

static bool check_tool(struct check *c, const struct json *v)
{
    static const struct member members[] = {
        NEEDS("type", A_STRING, WORDS("function")),
        NEEDS("function", AN_OBJECT, BY(check_function)),
        END_OF_MEMBERS,
    };
    return check_members(c, v, members, NULL);
}

static bool check_tools(struct check *c, const struct json *v)
{
    return check_each(c, v, check_tool);
}

static bool check_options(struct check *c, const struct json *v)
{
    static const struct member members[] = {
        MAY("frequency_penalty", A_NUMBER),
        MAY("min_p", A_NUMBER),
        MAY("num_batch", AN_INT),
        MAY("num_ctx", AN_INT),
        MAY("num_gpu", AN_INT),
        MAY("num_keep", AN_INT),
        MAY("num_predict", AN_INT),
        MAY("num_thread", AN_INT),
        MAY("presence_penalty", A_NUMBER),
        MAY("repeat_last_n", AN_INT),
        MAY("repeat_penalty", A_NUMBER),
        MAY("seed", AN_INT),
        MAY("stop", AN_ARRAY, BY(is_text_list)),
        MAY("temperature", A_NUMBER),
        MAY("top_k", AN_INT),
        MAY("top_p", A_NUMBER),
        MAY("typical_p", A_NUMBER),
        END_OF_MEMBERS,
    };
    return check_members(c, v, members, NULL);
}

bool strict_ollama(const struct json *body, struct strbuf *why)
{
    static const struct member members[] = {
        NEEDS("model", A_STRING, BY(is_not_blank)),
        NEEDS("messages", AN_ARRAY, BY(check_messages)),
        MAY("stream", A_BOOL),
        MAY("think", A_BOOL | A_STRING | A_NULL, WORDS("low medium high")),
        MAY("format", A_STRING | AN_OBJECT, WORDS("json")),
        MAY("options", AN_OBJECT, BY(check_options)),
        MAY("keep_alive", A_STRING | A_NUMBER),
        MAY("tools", AN_ARRAY, BY(check_tools)),
        MAY("logprobs", A_BOOL),
        MAY("top_logprobs", AN_INT),
        END_OF_MEMBERS,
    };
    struct check c = {.why = why, .body = body};

    return check_members(&c, body, members, NULL);
}
