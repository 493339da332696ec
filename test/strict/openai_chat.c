/* openai_chat.c - judges requests for OpenAI's Chat Completions API, and for vendors of it. */
#include "strict/check.h"
#include "strict/strict.h"

#define MAX_NAME 64
#define MAX_CALL_ID 40
#define MAX_STOP 4
#define IMAGES "image/png image/jpeg image/webp image/gif"

/* --- small things --- */

static bool check_name(struct check *c, const struct json *v)
{
    return text_is_name(json_str(v), "_-", MAX_NAME) ? true : refuse(c, "is no name of a tool");
}

/* Compatible vendors take longer ones; OpenAI says how long. */
static bool check_id(struct check *c, const struct json *v)
{
    struct str id = json_str(v);

    return id.n && id.n <= MAX_CALL_ID ? true : refuse(c, "must have 1 to %d bytes", MAX_CALL_ID);
}

static bool check_temperature(struct check *c, const struct json *v)
{
    return check_range(c, v, 0, 2);
}

static bool check_fraction(struct check *c, const struct json *v)
{
    return check_range(c, v, 0, 1);
}

static bool check_penalty(struct check *c, const struct json *v)
{
    return check_range(c, v, -2, 2);
}

static bool check_stop(struct check *c, const struct json *v)
{
    if (v->n > MAX_STOP)
        return refuse(c, "at most %d stop sequences", MAX_STOP);
    return v->type != JSON_ARRAY || is_text_list(c, v);
}

/* --- content --- */

static bool check_image(struct check *c, const struct json *v)
{
    static const struct member members[] = {
        NEEDS("url", A_STRING, BY(is_url)),
        MAY("detail", A_STRING, WORDS("auto low high original")),
        END_OF_MEMBERS,
    };
    struct str url = json_get_text(v, "url");

    if (!check_members(c, v, members, NULL))
        return false;
    if (str_starts(url, S("data:")) &&
        !text_has_word(" " IMAGES " ", str_slice(url, 5, str_find_char(url, ';') - 5)))
        return refuse(c, "is no type of picture that is taken");
    return true;
}

static bool check_file(struct check *c, const struct json *v)
{
    static const struct member members[] = {
        MAY("filename", A_STRING, BY(is_not_blank)),
        MAY("file_data", A_STRING, BY(is_url)),
        MAY("file_id", A_STRING, BY(is_not_blank)),
        END_OF_MEMBERS,
    };
    struct str data = json_get_text(v, "file_data");

    if (!check_members(c, v, members, NULL))
        return false;
    if (data.n == 0)
        return json_has(v, "file_id") ? true : refuse(c, "has neither data nor an id");
    if (!json_has(v, "filename"))
        return refuse(c, "data without a \"filename\"");
    return str_starts(data, S("data:application/pdf;")) || str_starts(data, S("http"))
               ? true
               : refuse(c, "only PDF files are taken");
}

static bool check_audio(struct check *c, const struct json *v)
{
    static const struct member members[] = {
        NEEDS("data", A_STRING, BY(is_base64)),
        NEEDS("format", A_STRING, WORDS("wav mp3")),
        END_OF_MEMBERS,
    };
    return check_members(c, v, members, NULL);
}

/* What may stand beside a part, by its vendor. */
static const struct member marks[] = {
    MAY("cache_control", AN_OBJECT),
    MAY("prompt_cache_breakpoint", AN_OBJECT),
    END_OF_MEMBERS,
};

static bool check_part(struct check *c, const struct json *v)
{
    static const struct member text[] = {NEEDS("type", A_STRING),
                                         NEEDS("text", A_STRING, BY(is_not_blank)), END_OF_MEMBERS};
    static const struct member image[] = {
        NEEDS("type", A_STRING), NEEDS("image_url", AN_OBJECT, BY(check_image)), END_OF_MEMBERS};
    static const struct member file[] = {NEEDS("type", A_STRING),
                                         NEEDS("file", AN_OBJECT, BY(check_file)), END_OF_MEMBERS};
    static const struct member audio[] = {
        NEEDS("type", A_STRING), NEEDS("input_audio", AN_OBJECT, BY(check_audio)), END_OF_MEMBERS};
    static const struct member refusal[] = {
        NEEDS("type", A_STRING), NEEDS("refusal", A_STRING, BY(is_not_blank)), END_OF_MEMBERS};
    struct str type = json_get_text(v, "type");
    struct str role = json_get_text(c->path[c->depth - 3], "role");

    if (str_is(type, "text"))
        return check_members(c, v, text, marks);
    if (str_is(role, "user") && str_is(type, "image_url"))
        return check_members(c, v, image, marks);
    if (str_is(role, "user") && str_is(type, "file"))
        return check_members(c, v, file, marks);
    if (str_is(role, "user") && str_is(type, "input_audio"))
        return check_members(c, v, audio, marks);
    if (str_is(role, "assistant") && str_is(type, "refusal"))
        return check_members(c, v, refusal, NULL);
    return refuse(c, "type \"%" STR_FMT "\" may not stand here", STR_ARG(type));
}

static bool check_content(struct check *c, const struct json *v)
{
    const struct json *message = c->path[c->depth - 2];
    bool may_be_empty =
        str_is(json_get_text(message, "role"), "tool") || json_has(message, "tool_calls");

    if (v->type == JSON_ARRAY)
        return is_not_empty(c, v) && check_each(c, v, check_part);
    return may_be_empty || is_not_blank(c, v);
}

/* --- calls --- */

static bool check_arguments(struct check *c, const struct json *v)
{
    AUTO(arena) struct arena scratch = {0};
    struct json *args;
    struct json_where where;

    if (!json_parse_at(&scratch, json_str(v), 0, &args, &where))
        return refuse(c, "must be JSON: %s", where.reason);
    return args->type == JSON_OBJECT ? true : refuse(c, "must be a JSON object");
}

static bool check_function(struct check *c, const struct json *v)
{
    static const struct member members[] = {
        NEEDS("name", A_STRING, BY(check_name)),
        NEEDS("arguments", A_STRING, BY(check_arguments)),
        END_OF_MEMBERS,
    };
    return check_members(c, v, members, NULL);
}

static bool check_custom(struct check *c, const struct json *v)
{
    static const struct member members[] = {NEEDS("name", A_STRING, BY(check_name)),
                                            NEEDS("input", A_STRING), END_OF_MEMBERS};

    return check_members(c, v, members, NULL);
}

static bool check_call(struct check *c, const struct json *v)
{
    static const struct member members[] = {
        NEEDS("id", A_STRING, BY(check_id)),
        NEEDS("type", A_STRING, WORDS("function custom")),
        MAY("function", AN_OBJECT, BY(check_function)),
        MAY("custom", AN_OBJECT, BY(check_custom)),
        MAY("cache_control", AN_OBJECT),
        MAY("extra_content", AN_OBJECT),
        END_OF_MEMBERS,
    };
    struct str type = json_get_text(v, "type");

    if (!check_members(c, v, members, NULL))
        return false;
    return v->n >= 3 && json_get_str(v, type) ? true : refuse(c, "has no member of its type");
}

static bool check_calls(struct check *c, const struct json *v)
{
    return is_not_empty(c, v) && check_each(c, v, check_call);
}

/* --- messages --- */

/* By vendors of the protocol: how reasoning goes back. */
static const struct member reasoning[] = {
    MAY("reasoning_content", A_STRING),
    MAY("reasoning", A_STRING),
    MAY("reasoning_details", AN_ARRAY, BY(is_not_empty)),
    MAY("cache_control", AN_OBJECT),
    END_OF_MEMBERS,
};

static bool check_message(struct check *c, const struct json *v)
{
    static const struct member said[] = {
        NEEDS("role", A_STRING, WORDS("system developer user")),
        NEEDS("content", A_STRING | AN_ARRAY, BY(check_content)),
        MAY("name", A_STRING, BY(check_name)),
        MAY("cache_control", AN_OBJECT),
        END_OF_MEMBERS,
    };
    static const struct member assistant[] = {
        NEEDS("role", A_STRING),
        MAY("content", A_STRING | AN_ARRAY | A_NULL, BY(check_content)),
        MAY("tool_calls", AN_ARRAY, BY(check_calls)),
        MAY("refusal", A_STRING | A_NULL),
        MAY("audio", AN_OBJECT | A_NULL),
        MAY("name", A_STRING, BY(check_name)),
        MAY("annotations", AN_ARRAY),
        END_OF_MEMBERS,
    };
    static const struct member tool[] = {
        NEEDS("role", A_STRING),
        NEEDS("content", A_STRING | AN_ARRAY, BY(check_content)),
        NEEDS("tool_call_id", A_STRING, BY(check_id)),
        MAY("name", A_STRING, BY(check_name)),
        END_OF_MEMBERS,
    };
    struct str role = json_get_text(v, "role");

    if (str_is(role, "tool"))
        return check_members(c, v, tool, NULL);
    if (!str_is(role, "assistant"))
        return check_members(c, v, said, NULL);
    if (!check_members(c, v, assistant, reasoning))
        return false;
    return json_get_text(v, "content").n || json_is(json_get(v, "content"), JSON_ARRAY) ||
                   json_get_text(v, "refusal").n || json_has(v, "tool_calls") ||
                   json_has(v, "audio")
               ? true
               : refuse(c, "says nothing");
}

static bool open_calls(struct check *c, const struct json *message, struct ids *open)
{
    json_each (call, json_get(message, "tool_calls"))
        if (!ids_add(open, json_get_text(call, "id")))
            return refuse(c, "call id \"%" STR_FMT "\" is not unique",
                          STR_ARG(json_get_text(call, "id")));
    return true;
}

/* A message of a tool answers a call that is open; nothing else comes while one is. */
static bool check_place(struct check *c, const struct json *message, struct ids *open)
{
    struct str id = json_get_text(message, "tool_call_id");

    if (str_is(json_get_text(message, "role"), "tool"))
        return ids_take(open, id)
                   ? true
                   : refuse(c, "result \"%" STR_FMT "\" without a call before it", STR_ARG(id));
    if (open->n)
        return refuse(c, "call \"%" STR_FMT "\" is not answered here", STR_ARG(open->at[0]));
    return open_calls(c, message, open);
}

static bool check_messages(struct check *c, const struct json *v)
{
    struct ids open = {.n = 0};

    if (!is_not_empty(c, v) || !check_each(c, v, check_message))
        return false;
    json_each (m, v) {
        c->path[c->depth++] = m;
        if (!check_place(c, m, &open))
            return false;
        c->depth--;
    }
    return open.n ? refuse(c, "call \"%" STR_FMT "\" is not answered", STR_ARG(open.at[0])) : true;
}

/* --- tools --- */

static bool check_tool_function(struct check *c, const struct json *v)
{
    static const struct member members[] = {
        NEEDS("name", A_STRING, BY(check_name)),
        MAY("description", A_STRING),
        MAY("parameters", AN_OBJECT, BY(is_object_schema)),
        MAY("strict", A_BOOL | A_NULL),
        END_OF_MEMBERS,
    };
    return check_members(c, v, members, NULL);
}

static bool check_tool_custom(struct check *c, const struct json *v)
{
    static const struct member members[] = {
        NEEDS("name", A_STRING, BY(check_name)),
        MAY("description", A_STRING),
        MAY("format", AN_OBJECT),
        END_OF_MEMBERS,
    };
    return check_members(c, v, members, NULL);
}

static bool check_tool(struct check *c, const struct json *v)
{
    static const struct member function[] = {
        NEEDS("type", A_STRING),
        NEEDS("function", AN_OBJECT, BY(check_tool_function)),
        END_OF_MEMBERS,
    };
    static const struct member custom[] = {
        NEEDS("type", A_STRING), NEEDS("custom", AN_OBJECT, BY(check_tool_custom)), END_OF_MEMBERS};
    static const struct member routed[] = {NEEDS("type", A_STRING), MAY("parameters", AN_OBJECT),
                                           END_OF_MEMBERS};
    struct str type = json_get_text(v, "type");

    if (str_is(type, "function"))
        return check_members(c, v, function, NULL);
    if (str_is(type, "custom"))
        return check_members(c, v, custom, NULL);
    return str_starts(type, S("openrouter:"))
               ? check_members(c, v, routed, NULL)
               : refuse(c, "type \"%" STR_FMT "\" is not known", STR_ARG(type));
}

static bool check_tools(struct check *c, const struct json *v)
{
    return is_not_empty(c, v) && check_each(c, v, check_tool);
}

static bool check_named_choice(struct check *c, const struct json *v)
{
    static const struct member members[] = {NEEDS("name", A_STRING, BY(check_name)),
                                            END_OF_MEMBERS};

    return check_members(c, v, members, NULL);
}

static bool check_tool_choice(struct check *c, const struct json *v)
{
    static const struct member members[] = {
        NEEDS("type", A_STRING, WORDS("function custom")),
        MAY("function", AN_OBJECT, BY(check_named_choice)),
        MAY("custom", AN_OBJECT, BY(check_named_choice)),
        END_OF_MEMBERS,
    };

    if (!json_has(c->body, "tools"))
        return refuse(c, "there are no tools to choose from");
    return v->type == JSON_STRING || check_members(c, v, members, NULL);
}

static bool check_parallel(struct check *c, const struct json *v)
{
    return json_has(c->body, "tools") || v->boolean ? true
                                                    : refuse(c, "there are no tools to call");
}

/* --- settings --- */

static bool check_json_schema(struct check *c, const struct json *v)
{
    static const struct member members[] = {
        NEEDS("name", A_STRING, BY(check_name)),
        MAY("description", A_STRING),
        MAY("schema", AN_OBJECT),
        MAY("strict", A_BOOL | A_NULL),
        END_OF_MEMBERS,
    };
    return check_members(c, v, members, NULL);
}

static bool check_response_format(struct check *c, const struct json *v)
{
    static const struct member members[] = {
        NEEDS("type", A_STRING, WORDS("text json_object json_schema")),
        MAY("json_schema", AN_OBJECT, BY(check_json_schema)),
        END_OF_MEMBERS,
    };

    if (!check_members(c, v, members, NULL))
        return false;
    return str_is(json_get_text(v, "type"), "json_schema") == json_has(v, "json_schema")
               ? true
               : refuse(c, "a schema belongs to the type \"json_schema\"");
}

static bool check_stream_options(struct check *c, const struct json *v)
{
    static const struct member members[] = {MAY("include_usage", A_BOOL),
                                            MAY("include_obfuscation", A_BOOL), END_OF_MEMBERS};

    if (!json_bool(json_get(c->body, "stream"), false))
        return refuse(c, "is only for streams");
    return check_members(c, v, members, NULL);
}

/* Members of other vendors. */
static const struct member compat[] = {
    MAY("cache_control", AN_OBJECT),
    MAY("enable_thinking", A_BOOL),
    MAY("models", AN_ARRAY),
    MAY("provider", AN_OBJECT),
    MAY("reasoning", AN_OBJECT),
    MAY("reasoning_format", A_STRING | A_NULL),
    MAY("safe_prompt", A_BOOL),
    MAY("thinking", AN_OBJECT),
    MAY("thinking_budget", AN_INT),
    MAY("top_k", AN_INT),
    MAY("transforms", AN_ARRAY),
    MAY("usage", AN_OBJECT),
    END_OF_MEMBERS,
};

static bool check_body(const struct json *body, const struct member *more, struct strbuf *why)
{
    static const struct member members[] = {
        NEEDS("model", A_STRING, BY(is_not_blank)),
        NEEDS("messages", AN_ARRAY, BY(check_messages)),
        MAY("audio", AN_OBJECT | A_NULL),
        MAY("frequency_penalty", A_NUMBER | A_NULL, BY(check_penalty)),
        MAY("logit_bias", AN_OBJECT | A_NULL),
        MAY("logprobs", A_BOOL | A_NULL),
        MAY("max_completion_tokens", AN_INT | A_NULL, BY(is_positive)),
        MAY("max_tokens", AN_INT | A_NULL, BY(is_positive)),
        MAY("metadata", AN_OBJECT | A_NULL),
        MAY("modalities", AN_ARRAY | A_NULL),
        MAY("n", AN_INT | A_NULL, BY(is_positive)),
        MAY("parallel_tool_calls", A_BOOL, BY(check_parallel)),
        MAY("prediction", AN_OBJECT | A_NULL),
        MAY("presence_penalty", A_NUMBER | A_NULL, BY(check_penalty)),
        MAY("prompt_cache_key", A_STRING),
        MAY("prompt_cache_options", AN_OBJECT),
        MAY("prompt_cache_retention", A_STRING | A_NULL),
        MAY("reasoning_effort", A_STRING | A_NULL, WORDS("none minimal low medium high xhigh")),
        MAY("response_format", AN_OBJECT, BY(check_response_format)),
        MAY("safety_identifier", A_STRING),
        MAY("seed", AN_INT | A_NULL),
        MAY("service_tier", A_STRING | A_NULL),
        MAY("stop", A_STRING | AN_ARRAY | A_NULL, BY(check_stop)),
        MAY("store", A_BOOL | A_NULL),
        MAY("stream", A_BOOL | A_NULL),
        MAY("stream_options", AN_OBJECT | A_NULL, BY(check_stream_options)),
        MAY("temperature", A_NUMBER | A_NULL, BY(check_temperature)),
        MAY("tool_choice", A_STRING | AN_OBJECT, WORDS("none auto required"),
            BY(check_tool_choice)),
        MAY("tools", AN_ARRAY, BY(check_tools)),
        MAY("top_logprobs", AN_INT | A_NULL),
        MAY("top_p", A_NUMBER | A_NULL, BY(check_fraction)),
        MAY("user", A_STRING),
        MAY("verbosity", A_STRING | A_NULL, WORDS("low medium high")),
        MAY("web_search_options", AN_OBJECT),
        END_OF_MEMBERS,
    };
    struct check c = {.why = why, .body = body};

    if (!check_members(&c, body, members, more))
        return false;
    return json_has(body, "max_tokens") && json_has(body, "max_completion_tokens")
               ? refuse(&c, "two names for one limit")
               : true;
}

bool strict_openai_chat(const struct json *body, struct strbuf *why)
{
    return check_body(body, NULL, why);
}

bool strict_openai_compat(const struct json *body, struct strbuf *why)
{
    return check_body(body, compat, why);
}
