/* anthropic.c - judges requests for the Anthropic Messages API. */
#include "strict/check.h"
#include "strict/strict.h"

#define MAX_CACHE_MARKS 4
#define MIN_THINKING_BUDGET 1024
#define MAX_NAME 128
#define IMAGES "image/jpeg image/png image/gif image/webp"

/* --- small things --- */

static bool check_cache_mark(struct check *c, const struct json *v)
{
    static const struct member members[] = {
        NEEDS("type", A_STRING, WORDS("ephemeral")),
        MAY("ttl", A_STRING, WORDS("5m 1h")),
        END_OF_MEMBERS,
    };
    return check_members(c, v, members, NULL);
}
#define CACHE_MARK MAY("cache_control", AN_OBJECT | A_NULL, BY(check_cache_mark))

static bool check_fraction(struct check *c, const struct json *v)
{
    return check_range(c, v, 0, 1);
}

static bool check_top_k(struct check *c, const struct json *v)
{
    return check_range(c, v, 0, 1e9);
}

static bool check_name(struct check *c, const struct json *v)
{
    return text_is_name(json_str(v), "_-", MAX_NAME) ? true : refuse(c, "is no name of a tool");
}

static bool check_id(struct check *c, const struct json *v)
{
    return text_is_name(json_str(v), "_-", 256) ? true : refuse(c, "is no id of a call");
}

/* A value that has a "type", by which its members are chosen. */
struct kind {
    const char *type;
    const struct member *members;
};

static bool check_kind(struct check *c, const struct json *v, const struct kind *kinds, size_t n)
{
    struct str type = json_get_text(v, "type");

    for (size_t i = 0; i < n; i++)
        if (str_is(type, kinds[i].type))
            return check_members(c, v, kinds[i].members, NULL);
    return refuse(c, "type \"%" STR_FMT "\" may not stand here", STR_ARG(type));
}

/* --- content --- */

static const struct member text_members[] = {
    NEEDS("type", A_STRING),
    NEEDS("text", A_STRING, BY(is_not_blank)),
    CACHE_MARK,
    MAY("citations", AN_ARRAY | A_NULL),
    END_OF_MEMBERS,
};

static bool check_text_block(struct check *c, const struct json *v)
{
    static const struct kind kinds[] = {{"text", text_members}};

    return check_kind(c, v, kinds, 1);
}

static bool check_text_blocks(struct check *c, const struct json *v)
{
    return is_not_empty(c, v) && check_each(c, v, check_text_block);
}

static bool check_image_source(struct check *c, const struct json *v)
{
    static const struct member base64[] = {
        NEEDS("type", A_STRING),
        NEEDS("media_type", A_STRING, WORDS(IMAGES)),
        NEEDS("data", A_STRING, BY(is_base64)),
        END_OF_MEMBERS,
    };
    static const struct member url[] = {NEEDS("type", A_STRING), NEEDS("url", A_STRING, BY(is_url)),
                                        END_OF_MEMBERS};
    static const struct member file[] = {
        NEEDS("type", A_STRING), NEEDS("file_id", A_STRING, BY(is_not_blank)), END_OF_MEMBERS};
    static const struct kind kinds[] = {{"base64", base64}, {"url", url}, {"file", file}};

    return check_kind(c, v, kinds, ARRAY_LEN(kinds));
}

static bool check_document_source(struct check *c, const struct json *v)
{
    static const struct member base64[] = {
        NEEDS("type", A_STRING),
        NEEDS("media_type", A_STRING, WORDS("application/pdf")),
        NEEDS("data", A_STRING, BY(is_base64)),
        END_OF_MEMBERS,
    };
    static const struct member text[] = {
        NEEDS("type", A_STRING),
        NEEDS("media_type", A_STRING, WORDS("text/plain")),
        NEEDS("data", A_STRING, BY(is_not_blank)),
        END_OF_MEMBERS,
    };
    static const struct member content[] = {
        NEEDS("type", A_STRING), NEEDS("content", AN_ARRAY, BY(check_text_blocks)), END_OF_MEMBERS};
    static const struct member url[] = {NEEDS("type", A_STRING), NEEDS("url", A_STRING, BY(is_url)),
                                        END_OF_MEMBERS};
    static const struct member file[] = {
        NEEDS("type", A_STRING), NEEDS("file_id", A_STRING, BY(is_not_blank)), END_OF_MEMBERS};
    static const struct kind kinds[] = {
        {"base64", base64}, {"text", text}, {"content", content}, {"url", url}, {"file", file}};

    return check_kind(c, v, kinds, ARRAY_LEN(kinds));
}

static const struct member image_members[] = {
    NEEDS("type", A_STRING),
    NEEDS("source", AN_OBJECT, BY(check_image_source)),
    CACHE_MARK,
    END_OF_MEMBERS,
};

static const struct member document_members[] = {
    NEEDS("type", A_STRING),
    NEEDS("source", AN_OBJECT, BY(check_document_source)),
    MAY("title", A_STRING | A_NULL, BY(is_not_blank)),
    MAY("context", A_STRING | A_NULL, BY(is_not_blank)),
    MAY("citations", AN_OBJECT),
    CACHE_MARK,
    END_OF_MEMBERS,
};

static bool check_result_block(struct check *c, const struct json *v)
{
    static const struct member reference[] = {
        NEEDS("type", A_STRING), NEEDS("tool_name", A_STRING, BY(check_name)), END_OF_MEMBERS};
    static const struct kind kinds[] = {{"text", text_members},
                                        {"image", image_members},
                                        {"document", document_members},
                                        {"tool_reference", reference}};

    return check_kind(c, v, kinds, ARRAY_LEN(kinds));
}

static bool check_result_content(struct check *c, const struct json *v)
{
    return v->type == JSON_ARRAY ? check_each(c, v, check_result_block) : is_not_blank(c, v);
}

static bool check_user_block(struct check *c, const struct json *v)
{
    static const struct member result[] = {
        NEEDS("type", A_STRING),
        NEEDS("tool_use_id", A_STRING, BY(check_id)),
        MAY("content", A_STRING | AN_ARRAY, BY(check_result_content)),
        MAY("is_error", A_BOOL),
        CACHE_MARK,
        END_OF_MEMBERS,
    };
    static const struct kind kinds[] = {{"text", text_members},
                                        {"image", image_members},
                                        {"document", document_members},
                                        {"tool_result", result}};

    if (!check_kind(c, v, kinds, ARRAY_LEN(kinds)))
        return false;
    if (!json_bool(json_get(v, "is_error"), false))
        return true;
    if (!json_has(v, "content") ||
        (json_is(json_get(v, "content"), JSON_ARRAY) && json_get(v, "content")->n == 0))
        return refuse(c, "a result that is an error must not be empty");
    json_each (block, json_get(v, "content"))
        if (!str_is(json_get_text(block, "type"), "text"))
            return refuse(c, "a result that is an error must be all text");
    return true;
}

static bool check_assistant_block(struct check *c, const struct json *v)
{
    static const struct member thinking[] = {
        NEEDS("type", A_STRING),
        NEEDS("thinking", A_STRING),
        NEEDS("signature", A_STRING, BY(is_not_blank)),
        END_OF_MEMBERS,
    };
    static const struct member redacted[] = {
        NEEDS("type", A_STRING), NEEDS("data", A_STRING, BY(is_not_blank)), END_OF_MEMBERS};
    static const struct member tool_use[] = {
        NEEDS("type", A_STRING),
        NEEDS("id", A_STRING, BY(check_id)),
        NEEDS("name", A_STRING, BY(check_name)),
        NEEDS("input", AN_OBJECT),
        MAY("caller", AN_OBJECT),
        CACHE_MARK,
        END_OF_MEMBERS,
    };
    static const struct member server_result[] = {
        NEEDS("type", A_STRING),
        NEEDS("tool_use_id", A_STRING, BY(check_id)),
        NEEDS("content", AN_ARRAY | AN_OBJECT),
        MAY("caller", AN_OBJECT),
        CACHE_MARK,
        END_OF_MEMBERS,
    };
    static const struct kind kinds[] = {{"text", text_members},
                                        {"thinking", thinking},
                                        {"redacted_thinking", redacted},
                                        {"tool_use", tool_use},
                                        {"server_tool_use", tool_use},
                                        {"web_search_tool_result", server_result},
                                        {"web_fetch_tool_result", server_result},
                                        {"code_execution_tool_result", server_result},
                                        {"tool_search_tool_result", server_result}};

    return check_kind(c, v, kinds, ARRAY_LEN(kinds));
}

/* --- messages --- */

static bool is_of(const struct json *message, const char *role)
{
    return str_is(json_get_text(message, "role"), role);
}

static bool check_content(struct check *c, const struct json *v)
{
    bool is_user = is_of(c->path[c->depth - 2], "user");

    if (v->type == JSON_STRING)
        return is_not_blank(c, v);
    return is_not_empty(c, v) &&
           check_each(c, v, is_user ? check_user_block : check_assistant_block);
}

static bool check_message(struct check *c, const struct json *v)
{
    static const struct member members[] = {
        NEEDS("role", A_STRING, WORDS("user assistant")),
        NEEDS("content", A_STRING | AN_ARRAY, BY(check_content)),
        END_OF_MEMBERS,
    };
    return check_members(c, v, members, NULL);
}

static const struct json *blocks_of(const struct json *message)
{
    const struct json *content = json_get(message, "content");

    return json_is(content, JSON_ARRAY) ? content : NULL;
}

static bool is_block(const struct json *block, const char *type)
{
    return str_is(json_get_text(block, "type"), type);
}

static bool is_thought(const struct json *block)
{
    return is_block(block, "thinking") || is_block(block, "redacted_thinking");
}

/* Results come first, one for each call of the message before, and for nothing else. */
static bool check_results(struct check *c, const struct json *message, struct ids *open)
{
    bool has_other = false;

    json_each (block, blocks_of(message)) {
        if (!is_block(block, "tool_result")) {
            has_other = true;
            continue;
        }
        if (has_other)
            return refuse(c, "results must stand before everything else");
        if (!ids_take(open, json_get_text(block, "tool_use_id")))
            return refuse(c, "result \"%" STR_FMT "\" without a call in the message before",
                          STR_ARG(json_get_text(block, "tool_use_id")));
    }
    return open->n ? refuse(c, "call \"%" STR_FMT "\" is not answered here", STR_ARG(open->at[0]))
                   : true;
}

/* What the provider ran itself comes before its result, in one turn. Only an answer that the
 * provider is to go on with ends between the two. */
static bool check_server_tools(struct check *c, const struct json *message, struct ids *open)
{
    bool is_end_of_turn = message->next && is_of(message->next, "user");

    json_each (block, blocks_of(message)) {
        struct str id = json_get_text(block, "tool_use_id");

        if (is_block(block, "server_tool_use"))
            ids_add(open, json_get_text(block, "id"));
        else if (id.n && !ids_take(open, id))
            return refuse(c, "result \"%" STR_FMT "\" without a use of a server tool before it",
                          STR_ARG(id));
    }
    return open->n && is_end_of_turn
               ? refuse(c, "use \"%" STR_FMT "\" of a server tool without its result",
                        STR_ARG(open->at[0]))
               : true;
}

static bool check_calls(struct check *c, const struct json *message, struct ids *open,
                        struct ids *served, struct ids *all)
{
    const struct json *blocks = blocks_of(message);

    if (blocks && is_thought(blocks->last))
        return refuse(c, "must not end with thinking");
    json_each (block, blocks)
        if (is_block(block, "tool_use") || is_block(block, "server_tool_use")) {
            if (!ids_add(all, json_get_text(block, "id")))
                return refuse(c, "call id \"%" STR_FMT "\" is not unique",
                              STR_ARG(json_get_text(block, "id")));
            if (is_block(block, "tool_use"))
                ids_add(open, json_get_text(block, "id"));
        }
    return check_server_tools(c, message, served);
}

static bool ends_in_space(const struct json *message)
{
    const struct json *content = json_get(message, "content");
    struct str text =
        content->type == JSON_STRING ? content->text : json_get_text(content->last, "text");

    return str_trim(text).n && str_trim(text).p + str_trim(text).n != text.p + text.n;
}

static bool check_order(struct check *c, const struct json *messages)
{
    struct ids open = {.n = 0}, served = {.n = 0}, all = {.n = 0};

    json_each (m, messages) {
        c->path[c->depth++] = m;
        if (m == messages->first && !is_of(m, "user"))
            return refuse(c, "the first message must be the user's");
        if (is_of(m, "assistant") && open.n)
            return refuse(c, "call \"%" STR_FMT "\" is not answered here", STR_ARG(open.at[0]));
        if (is_of(m, "user") ? !check_results(c, m, &open)
                             : !check_calls(c, m, &open, &served, &all))
            return false;
        if (m == messages->last && is_of(m, "assistant") && ends_in_space(m))
            return refuse(c, "a last word of the assistant must not end in white space");
        c->depth--;
    }
    return open.n ? refuse(c, "call \"%" STR_FMT "\" is not answered", STR_ARG(open.at[0])) : true;
}

static bool check_messages(struct check *c, const struct json *v)
{
    return is_not_empty(c, v) && check_each(c, v, check_message) && check_order(c, v);
}

/* --- tools --- */

static bool check_tool(struct check *c, const struct json *v)
{
    static const struct member own[] = {
        NEEDS("name", A_STRING, BY(check_name)),
        NEEDS("input_schema", AN_OBJECT, BY(is_object_schema)),
        MAY("type", A_STRING, WORDS("custom")),
        MAY("description", A_STRING),
        MAY("strict", A_BOOL),
        MAY("defer_loading", A_BOOL),
        CACHE_MARK,
        END_OF_MEMBERS,
    };
    static const struct member servers[] = {
        NEEDS("type", A_STRING),
        NEEDS("name", A_STRING, BY(check_name)),
        MAY("max_uses", AN_INT | A_NULL, BY(is_positive)),
        MAY("allowed_domains", AN_ARRAY | A_NULL),
        MAY("blocked_domains", AN_ARRAY | A_NULL),
        MAY("allowed_callers", AN_ARRAY),
        MAY("user_location", AN_OBJECT | A_NULL),
        MAY("citations", AN_OBJECT | A_NULL),
        MAY("max_content_tokens", AN_INT | A_NULL),
        MAY("max_tokens", AN_INT),
        MAY("model", A_STRING),
        MAY("display_width_px", AN_INT),
        MAY("display_height_px", AN_INT),
        CACHE_MARK,
        END_OF_MEMBERS,
    };
    struct str type = json_get_text(v, "type");

    return check_members(c, v, type.n && !str_is(type, "custom") ? servers : own, NULL);
}

static bool check_tools(struct check *c, const struct json *v)
{
    struct ids names = {.n = 0};

    if (!check_each(c, v, check_tool))
        return false;
    json_each (tool, v)
        if (!ids_add(&names, json_get_text(tool, "name")))
            return refuse(c, "two tools are named \"%" STR_FMT "\"",
                          STR_ARG(json_get_text(tool, "name")));
    return true;
}

static bool check_tool_choice(struct check *c, const struct json *v)
{
    static const struct member any[] = {NEEDS("type", A_STRING),
                                        MAY("disable_parallel_tool_use", A_BOOL), END_OF_MEMBERS};
    static const struct member none[] = {NEEDS("type", A_STRING), END_OF_MEMBERS};
    static const struct member tool[] = {
        NEEDS("type", A_STRING),
        NEEDS("name", A_STRING, BY(check_name)),
        MAY("disable_parallel_tool_use", A_BOOL),
        END_OF_MEMBERS,
    };
    static const struct kind kinds[] = {
        {"auto", any}, {"any", any}, {"none", none}, {"tool", tool}};

    if (!json_get(c->body, "tools") || json_get(c->body, "tools")->n == 0)
        return refuse(c, "there are no tools to choose from");
    return check_kind(c, v, kinds, ARRAY_LEN(kinds));
}

/* --- settings --- */

static bool check_thinking(struct check *c, const struct json *v)
{
    static const struct member enabled[] = {
        NEEDS("type", A_STRING),
        NEEDS("budget_tokens", AN_INT),
        MAY("display", A_STRING, WORDS("summarized omitted")),
        END_OF_MEMBERS,
    };
    static const struct member adaptive[] = {NEEDS("type", A_STRING),
                                             MAY("display", A_STRING, WORDS("summarized omitted")),
                                             END_OF_MEMBERS};
    static const struct member disabled[] = {NEEDS("type", A_STRING), END_OF_MEMBERS};
    static const struct kind kinds[] = {
        {"enabled", enabled}, {"adaptive", adaptive}, {"disabled", disabled}};
    int64_t budget = json_int_or(json_get(v, "budget_tokens"), -1);

    if (!check_kind(c, v, kinds, ARRAY_LEN(kinds)))
        return false;
    if (budget >= 0 &&
        (budget < MIN_THINKING_BUDGET || budget >= json_int_or(json_get(c->body, "max_tokens"), 0)))
        return refuse(c, "the budget must be from %d to less than max_tokens", MIN_THINKING_BUDGET);
    return true;
}

static bool check_format(struct check *c, const struct json *v)
{
    static const struct member members[] = {
        NEEDS("type", A_STRING, WORDS("json_schema")),
        NEEDS("schema", AN_OBJECT),
        END_OF_MEMBERS,
    };
    return check_members(c, v, members, NULL);
}

static bool check_output_config(struct check *c, const struct json *v)
{
    static const struct member members[] = {
        MAY("effort", A_STRING, WORDS("low medium high xhigh max")),
        MAY("format", AN_OBJECT, BY(check_format)),
        END_OF_MEMBERS,
    };
    return check_members(c, v, members, NULL);
}

static bool check_metadata(struct check *c, const struct json *v)
{
    static const struct member members[] = {MAY("user_id", A_STRING | A_NULL), END_OF_MEMBERS};

    return check_members(c, v, members, NULL);
}

static bool check_system(struct check *c, const struct json *v)
{
    return v->type == JSON_STRING ? is_not_blank(c, v) : check_text_blocks(c, v);
}

/* --- what depends on each other --- */

/* Not those inside arguments and schemas, which are anybody's. */
static size_t count_marks(const struct json *v)
{
    size_t n = json_is(json_get(v, "cache_control"), JSON_OBJECT);

    json_each (child, v)
        if (!str_is(child->key, "input") && !str_is(child->key, "input_schema"))
            n += child->type >= JSON_ARRAY ? count_marks(child) : 0;
    return n;
}

/* Thinking with a budget takes a turn with tools only if the turn began with thinking. */
static bool check_begin_of_turn(struct check *c, const struct json *messages)
{
    const struct json *first = NULL;

    json_each (m, messages) {
        const struct json *blocks = blocks_of(m);

        if (is_of(m, "assistant"))
            first = first ? first : m;
        else if (!blocks || !is_block(blocks->last, "tool_result"))
            first = NULL;
    }
    if (first && !(blocks_of(first) && is_thought(blocks_of(first)->first)))
        return refuse(c, "thinking is on, but the turn did not begin with thinking");
    return true;
}

static bool check_thinking_fits(struct check *c, const struct json *body)
{
    struct str type = json_get_text(json_get(body, "thinking"), "type");
    struct str choice = json_get_text(json_get(body, "tool_choice"), "type");
    double temperature = 1, top_p = 1;

    if (type.n == 0 || str_is(type, "disabled"))
        return true;
    if (str_is(choice, "any") || str_is(choice, "tool"))
        return refuse(c, "thinking and a forced tool exclude each other");
    json_double(json_get(body, "temperature"), &temperature);
    json_double(json_get(body, "top_p"), &top_p);
    if (temperature < 1 || top_p < 0.95 || json_has(body, "top_k"))
        return refuse(c, "thinking takes no temperature, top_k or small top_p");
    return str_is(type, "enabled") ? check_begin_of_turn(c, json_get(body, "messages")) : true;
}

bool strict_anthropic(const struct json *body, struct strbuf *why)
{
    static const struct member members[] = {
        NEEDS("model", A_STRING, BY(is_not_blank)),
        NEEDS("max_tokens", AN_INT, BY(is_positive)),
        NEEDS("messages", AN_ARRAY, BY(check_messages)),
        MAY("system", A_STRING | AN_ARRAY, BY(check_system)),
        MAY("metadata", AN_OBJECT, BY(check_metadata)),
        MAY("stop_sequences", AN_ARRAY, BY(is_text_list)),
        MAY("stream", A_BOOL),
        MAY("temperature", A_NUMBER, BY(check_fraction)),
        MAY("top_p", A_NUMBER, BY(check_fraction)),
        MAY("top_k", AN_INT, BY(check_top_k)),
        MAY("thinking", AN_OBJECT, BY(check_thinking)),
        MAY("tools", AN_ARRAY, BY(check_tools)),
        MAY("tool_choice", AN_OBJECT, BY(check_tool_choice)),
        MAY("output_config", AN_OBJECT, BY(check_output_config)),
        MAY("output_format", AN_OBJECT, BY(check_format)),
        MAY("service_tier", A_STRING, WORDS("auto standard_only")),
        MAY("container", A_STRING | AN_OBJECT | A_NULL),
        MAY("context_management", AN_OBJECT | A_NULL),
        MAY("mcp_servers", AN_ARRAY),
        CACHE_MARK,
        END_OF_MEMBERS,
    };
    struct check c = {.why = why, .body = body};

    if (!check_members(&c, body, members, NULL))
        return false;
    if (count_marks(body) > MAX_CACHE_MARKS)
        return refuse(&c, "more than %d cache marks", MAX_CACHE_MARKS);
    return check_thinking_fits(&c, body);
}
