/* openai_responses.c - judges requests for OpenAI's Responses API, and for vendors of it. */
#include "strict/check.h"
#include "strict/strict.h"

#define MAX_NAME 64
#define MAX_CALL_ID 64
#define MAX_ITEM_ID 64
#define IMAGES "image/png image/jpeg image/webp image/gif"

/* --- small things --- */

static bool check_name(struct check *c, const struct json *v)
{
    return text_is_name(json_str(v), "_-", MAX_NAME) ? true : refuse(c, "is no name of a tool");
}

static bool check_call_id(struct check *c, const struct json *v)
{
    struct str id = json_str(v);

    return id.n && id.n <= MAX_CALL_ID ? true : refuse(c, "must have 1 to %d bytes", MAX_CALL_ID);
}

/* Items have ids that begin with what they are. */
static bool check_item_id(struct check *c, const struct json *v)
{
    static const char *const prefixes[][2] = {
        {"message", "msg"},
        {"function_call", "fc"},
        {"custom_tool_call", "ctc"},
        {"reasoning", "rs"},
        {"web_search_call", "ws"},
        {"tool_search_call", "tsc"},
        {"code_interpreter_call", "ci"},
    };
    struct str type = json_get_text(c->path[c->depth - 2], "type");

    if (!text_is_name(json_str(v), "_-", MAX_ITEM_ID))
        return refuse(c, "is no id of an item");
    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
        if (str_is(type, prefixes[i][0]) && !str_starts(json_str(v), str_of(prefixes[i][1])))
            return refuse(c, "the id of such an item begins with \"%s\"", prefixes[i][1]);
    return true;
}

static bool check_temperature(struct check *c, const struct json *v)
{
    return check_range(c, v, 0, 2);
}

static bool check_fraction(struct check *c, const struct json *v)
{
    return check_range(c, v, 0, 1);
}

#define STATUS MAY("status", A_STRING, WORDS("in_progress completed incomplete"))
#define ITEM_ID MAY("id", A_STRING | A_NULL, BY(check_item_id))

/* --- content --- */

static bool check_image_url(struct check *c, const struct json *v)
{
    struct str url = json_str(v);

    if (!is_url(c, v))
        return false;
    return !str_starts(url, S("data:")) ||
                   text_has_word(" " IMAGES " ", str_slice(url, 5, str_find_char(url, ';') - 5))
               ? true
               : refuse(c, "is no type of picture that is taken");
}

static bool check_input_part(struct check *c, const struct json *v)
{
    static const struct member text[] = {
        NEEDS("type", A_STRING),
        NEEDS("text", A_STRING, BY(is_not_blank)),
        MAY("prompt_cache_breakpoint", AN_OBJECT),
        END_OF_MEMBERS,
    };
    static const struct member image[] = {
        NEEDS("type", A_STRING),
        MAY("image_url", A_STRING | A_NULL, BY(check_image_url)),
        MAY("file_id", A_STRING | A_NULL, BY(is_not_blank)),
        MAY("detail", A_STRING, WORDS("auto low high original")),
        END_OF_MEMBERS,
    };
    static const struct member file[] = {
        NEEDS("type", A_STRING),
        MAY("filename", A_STRING, BY(is_not_blank)),
        MAY("file_data", A_STRING, BY(is_url)),
        MAY("file_url", A_STRING, BY(is_url)),
        MAY("file_id", A_STRING | A_NULL, BY(is_not_blank)),
        MAY("detail", A_STRING),
        END_OF_MEMBERS,
    };
    struct str type = json_get_text(v, "type");

    if (str_is(type, "input_text"))
        return check_members(c, v, text, NULL);
    if (str_is(type, "input_image"))
        return check_members(c, v, image, NULL) && (v->n > 1 ? true : refuse(c, "has no picture"));
    if (!str_is(type, "input_file"))
        return refuse(c, "type \"%" STR_FMT "\" may not stand here", STR_ARG(type));
    if (!check_members(c, v, file, NULL))
        return false;
    if (json_has(v, "file_data") != json_has(v, "filename"))
        return refuse(c, "data and name of a file belong together");
    return v->n > 1 ? true : refuse(c, "has no file");
}

static bool check_output_part(struct check *c, const struct json *v)
{
    static const struct member text[] = {
        NEEDS("type", A_STRING),   NEEDS("text", A_STRING), MAY("annotations", AN_ARRAY),
        MAY("logprobs", AN_ARRAY), END_OF_MEMBERS,
    };
    static const struct member refusal[] = {
        NEEDS("type", A_STRING), NEEDS("refusal", A_STRING, BY(is_not_blank)), END_OF_MEMBERS};
    struct str type = json_get_text(v, "type");
    bool is_item = json_has(c->path[c->depth - 3], "id");

    if (str_is(type, "refusal"))
        return check_members(c, v, refusal, NULL);
    if (!str_is(type, "output_text"))
        return refuse(c, "type \"%" STR_FMT "\" may not stand here", STR_ARG(type));
    if (!check_members(c, v, text, NULL))
        return false;
    /* What came as an item may be as empty as it came. */
    return is_item || !text_is_blank_space(json_get_text(v, "text"))
               ? true
               : refuse(c, "text must not be blank");
}

static bool check_content(struct check *c, const struct json *v)
{
    bool is_answer = str_is(json_get_text(c->path[c->depth - 2], "role"), "assistant");

    if (v->type == JSON_STRING)
        return is_not_blank(c, v);
    return is_not_empty(c, v) && check_each(c, v, is_answer ? check_output_part : check_input_part);
}

static bool check_output(struct check *c, const struct json *v)
{
    return v->type == JSON_STRING || (is_not_empty(c, v) && check_each(c, v, check_input_part));
}

/* --- items --- */

static bool check_arguments(struct check *c, const struct json *v)
{
    AUTO(arena) struct arena scratch = {0};
    struct json *args;
    struct json_where where;

    if (!json_parse_at(&scratch, json_str(v), 0, &args, &where))
        return refuse(c, "must be JSON: %s", where.reason);
    return args->type == JSON_OBJECT ? true : refuse(c, "must be a JSON object");
}

static bool check_summary(struct check *c, const struct json *v)
{
    static const struct member members[] = {NEEDS("type", A_STRING, WORDS("summary_text")),
                                            NEEDS("text", A_STRING), END_OF_MEMBERS};

    return check_members(c, v, members, NULL);
}

static bool check_summaries(struct check *c, const struct json *v)
{
    return check_each(c, v, check_summary);
}

static bool check_reasoning(struct check *c, const struct json *v)
{
    static const struct member members[] = {
        NEEDS("type", A_STRING),
        NEEDS("summary", AN_ARRAY, BY(check_summaries)),
        MAY("encrypted_content", A_STRING | A_NULL, BY(is_not_blank)),
        MAY("content", AN_ARRAY),
        ITEM_ID,
        STATUS,
        END_OF_MEMBERS,
    };
    bool stores = json_bool(json_get(c->body, "store"), true);

    if (!check_members(c, v, members, NULL))
        return false;
    /* Some vendors keep reasoning open, and then it has its text. */
    return stores || json_get_text(v, "encrypted_content").n || json_has(v, "content")
               ? true
               : refuse(c, "nothing is stored, so reasoning must bring its encrypted content");
}

static bool check_message(struct check *c, const struct json *v)
{
    static const struct member members[] = {
        MAY("type", A_STRING),
        NEEDS("role", A_STRING, WORDS("user assistant system developer")),
        NEEDS("content", A_STRING | AN_ARRAY, BY(check_content)),
        MAY("phase", A_STRING | A_NULL, WORDS("commentary final_answer")),
        ITEM_ID,
        STATUS,
        END_OF_MEMBERS,
    };
    return check_members(c, v, members, NULL);
}

static const struct member call_members[] = {
    NEEDS("type", A_STRING),
    NEEDS("call_id", A_STRING, BY(check_call_id)),
    NEEDS("name", A_STRING, BY(check_name)),
    NEEDS("arguments", A_STRING, BY(check_arguments)),
    MAY("namespace", A_STRING),
    ITEM_ID,
    STATUS,
    END_OF_MEMBERS,
};

static const struct member custom_call_members[] = {
    NEEDS("type", A_STRING),
    NEEDS("call_id", A_STRING, BY(check_call_id)),
    NEEDS("name", A_STRING, BY(check_name)),
    NEEDS("input", A_STRING),
    ITEM_ID,
    STATUS,
    END_OF_MEMBERS,
};

static const struct member output_members[] = {
    NEEDS("type", A_STRING),
    NEEDS("call_id", A_STRING, BY(check_call_id)),
    NEEDS("output", A_STRING | AN_ARRAY, BY(check_output)),
    ITEM_ID,
    STATUS,
    END_OF_MEMBERS,
};

static const struct member server_members[] = {
    NEEDS("type", A_STRING),
    NEEDS("id", A_STRING, BY(check_item_id)),
    NEEDS("status", A_STRING),
    MAY("action", AN_OBJECT),
    MAY("arguments", AN_OBJECT | A_STRING),
    MAY("call_id", A_STRING | A_NULL),
    MAY("code", A_STRING | A_NULL),
    MAY("container_id", A_STRING),
    MAY("execution", A_STRING),
    MAY("outputs", AN_ARRAY | A_NULL),
    MAY("queries", AN_ARRAY),
    MAY("results", AN_ARRAY | A_NULL),
    END_OF_MEMBERS,
};

static const struct member search_output_members[] = {
    NEEDS("type", A_STRING),
    NEEDS("call_id", A_STRING | A_NULL),
    NEEDS("tools", AN_ARRAY),
    MAY("execution", A_STRING),
    ITEM_ID,
    STATUS,
    END_OF_MEMBERS,
};

static bool is_item(const struct json *item, const char *type)
{
    return str_is(json_get_text(item, "type"), type);
}

static bool is_message(const struct json *item)
{
    return !json_has(item, "type") || is_item(item, "message");
}

static bool check_item(struct check *c, const struct json *v)
{
    static const struct {
        const char *type;
        const struct member *members;
    } kinds[] = {
        {"function_call", call_members},
        {"custom_tool_call", custom_call_members},
        {"function_call_output", output_members},
        {"custom_tool_call_output", output_members},
        {"web_search_call", server_members},
        {"file_search_call", server_members},
        {"code_interpreter_call", server_members},
        {"tool_search_call", server_members},
        {"tool_search_output", search_output_members},
    };

    if (is_message(v))
        return check_message(c, v);
    if (is_item(v, "reasoning"))
        return check_reasoning(c, v);
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (is_item(v, kinds[i].type))
            return check_members(c, v, kinds[i].members, NULL);
    return refuse(c, "type \"%" STR_FMT "\" is not known", STR_ARG(json_get_text(v, "type")));
}

/* --- the conversation --- */

static bool is_call(const struct json *item)
{
    return is_item(item, "function_call") || is_item(item, "custom_tool_call");
}

static bool is_output(const struct json *item)
{
    return is_item(item, "function_call_output") || is_item(item, "custom_tool_call_output");
}

/* What reasoning may lead to: the model's own items. */
static bool follows_reasoning(const struct json *item)
{
    return item && !is_output(item) &&
           (!is_message(item) || str_is(json_get_text(item, "role"), "assistant"));
}

struct talk {
    struct ids functions, customs; /* calls that wait for their output */
    struct ids item_ids;
};

static bool check_pairing(struct check *c, const struct json *item, struct talk *t)
{
    struct ids *open = is_item(item, "custom_tool_call") || is_item(item, "custom_tool_call_output")
                           ? &t->customs
                           : &t->functions;
    struct str id = json_get_text(item, "call_id");

    if (is_call(item) && !ids_add(open, id))
        return refuse(c, "call id \"%" STR_FMT "\" is not unique", STR_ARG(id));
    if (is_output(item) && !ids_take(open, id))
        return refuse(c, "output \"%" STR_FMT "\" without a call of its kind before it",
                      STR_ARG(id));
    if (is_message(item) && !str_is(json_get_text(item, "role"), "assistant") &&
        t->functions.n + t->customs.n)
        return refuse(c, "a call is not answered here");
    return true;
}

static bool check_place(struct check *c, const struct json *item, struct talk *t)
{
    struct str id = json_get_text(item, "id");

    if (is_item(item, "reasoning") && !follows_reasoning(item->next))
        return refuse(c, "reasoning without the item that it led to");
    if (id.n && !ids_add(&t->item_ids, id))
        return refuse(c, "item id \"%" STR_FMT "\" is not unique", STR_ARG(id));
    return check_pairing(c, item, t);
}

static bool check_input(struct check *c, const struct json *v)
{
    struct talk talk = {.functions.n = 0};

    if (v->type == JSON_STRING)
        return is_not_blank(c, v);
    if (!is_not_empty(c, v) || !check_each(c, v, check_item))
        return false;
    json_each (item, v) {
        c->path[c->depth++] = item;
        if (!check_place(c, item, &talk))
            return false;
        c->depth--;
    }
    return talk.functions.n + talk.customs.n ? refuse(c, "a call is not answered") : true;
}

/* --- tools --- */

static bool check_tool(struct check *c, const struct json *v)
{
    static const struct member function[] = {
        NEEDS("type", A_STRING),
        NEEDS("name", A_STRING, BY(check_name)),
        NEEDS("parameters", AN_OBJECT | A_NULL, BY(is_object_schema)),
        MAY("strict", A_BOOL | A_NULL),
        MAY("description", A_STRING | A_NULL),
        MAY("defer_loading", A_BOOL),
        END_OF_MEMBERS,
    };
    static const struct member custom[] = {
        NEEDS("type", A_STRING), NEEDS("name", A_STRING, BY(check_name)),
        MAY("description", A_STRING), MAY("format", AN_OBJECT), END_OF_MEMBERS};
    static const char hosted[] =
        " web_search web_search_preview file_search code_interpreter image_generation mcp "
        "tool_search computer_use_preview local_shell shell apply_patch ";
    struct str type = json_get_text(v, "type");

    if (str_is(type, "function"))
        return check_members(c, v, function, NULL);
    if (str_is(type, "custom"))
        return check_members(c, v, custom, NULL);
    return text_has_word(hosted, type)
               ? true
               : refuse(c, "type \"%" STR_FMT "\" is not known", STR_ARG(type));
}

static bool check_tools(struct check *c, const struct json *v)
{
    return check_each(c, v, check_tool);
}

static bool check_tool_choice(struct check *c, const struct json *v)
{
    static const struct member members[] = {
        NEEDS("type", A_STRING), MAY("name", A_STRING, BY(check_name)), MAY("mode", A_STRING),
        MAY("tools", AN_ARRAY),  MAY("server_label", A_STRING),         END_OF_MEMBERS,
    };

    if (!json_get(c->body, "tools") || json_get(c->body, "tools")->n == 0)
        return refuse(c, "there are no tools to choose from");
    return v->type == JSON_STRING || check_members(c, v, members, NULL);
}

/* --- settings --- */

static bool check_reasoning_settings(struct check *c, const struct json *v)
{
    static const struct member members[] = {
        MAY("effort", A_STRING | A_NULL, WORDS("none minimal low medium high xhigh")),
        MAY("summary", A_STRING | A_NULL, WORDS("auto concise detailed")),
        MAY("generate_summary", A_STRING | A_NULL),
        END_OF_MEMBERS,
    };
    return check_members(c, v, members, NULL);
}

static bool check_format(struct check *c, const struct json *v)
{
    static const struct member plain[] = {NEEDS("type", A_STRING, WORDS("text json_object")),
                                          END_OF_MEMBERS};
    static const struct member schema[] = {
        NEEDS("type", A_STRING),      NEEDS("name", A_STRING, BY(check_name)),
        NEEDS("schema", AN_OBJECT),   MAY("strict", A_BOOL | A_NULL),
        MAY("description", A_STRING), END_OF_MEMBERS,
    };
    return check_members(c, v, is_item(v, "json_schema") ? schema : plain, NULL);
}

static bool check_text(struct check *c, const struct json *v)
{
    static const struct member members[] = {
        MAY("format", AN_OBJECT, BY(check_format)),
        MAY("verbosity", A_STRING | A_NULL, WORDS("low medium high")),
        END_OF_MEMBERS,
    };
    return check_members(c, v, members, NULL);
}

static bool check_included(struct check *c, const struct json *v)
{
    return text_has_word(" web_search_call.action.sources web_search_call.results "
                         "code_interpreter_call.outputs computer_call_output.output.image_url "
                         "file_search_call.results message.input_image.image_url "
                         "message.output_text.logprobs reasoning.encrypted_content ",
                         json_str(v))
               ? true
               : refuse(c, "is nothing that can be included");
}

static bool check_include(struct check *c, const struct json *v)
{
    return check_each(c, v, check_included);
}

/* Members of other vendors. */
static const struct member compat[] = {MAY("provider", AN_OBJECT), END_OF_MEMBERS};

static bool check_body(const struct json *body, const struct member *more, struct strbuf *why)
{
    static const struct member members[] = {
        NEEDS("model", A_STRING, BY(is_not_blank)),
        NEEDS("input", A_STRING | AN_ARRAY, BY(check_input)),
        MAY("background", A_BOOL | A_NULL),
        MAY("context_management", AN_ARRAY | A_NULL),
        MAY("conversation", A_STRING | AN_OBJECT | A_NULL),
        MAY("include", AN_ARRAY | A_NULL, BY(check_include)),
        MAY("instructions", A_STRING | A_NULL, BY(is_not_blank)),
        MAY("max_output_tokens", AN_INT | A_NULL, BY(is_positive)),
        MAY("max_tool_calls", AN_INT | A_NULL, BY(is_positive)),
        MAY("metadata", AN_OBJECT | A_NULL),
        MAY("parallel_tool_calls", A_BOOL | A_NULL),
        MAY("previous_response_id", A_STRING | A_NULL),
        MAY("prompt", AN_OBJECT | A_NULL),
        MAY("prompt_cache_key", A_STRING),
        MAY("prompt_cache_options", AN_OBJECT),
        MAY("prompt_cache_retention", A_STRING | A_NULL, WORDS("in-memory 24h")),
        MAY("reasoning", AN_OBJECT | A_NULL, BY(check_reasoning_settings)),
        MAY("safety_identifier", A_STRING),
        MAY("service_tier", A_STRING | A_NULL),
        MAY("store", A_BOOL | A_NULL),
        MAY("stream", A_BOOL | A_NULL),
        MAY("stream_options", AN_OBJECT | A_NULL),
        MAY("temperature", A_NUMBER | A_NULL, BY(check_temperature)),
        MAY("text", AN_OBJECT, BY(check_text)),
        MAY("tool_choice", A_STRING | AN_OBJECT, WORDS("none auto required"),
            BY(check_tool_choice)),
        MAY("tools", AN_ARRAY, BY(check_tools)),
        MAY("top_logprobs", AN_INT | A_NULL),
        MAY("top_p", A_NUMBER | A_NULL, BY(check_fraction)),
        MAY("truncation", A_STRING | A_NULL, WORDS("auto disabled")),
        MAY("user", A_STRING),
        END_OF_MEMBERS,
    };
    struct check c = {.why = why, .body = body};

    return check_members(&c, body, members, more);
}

bool strict_openai_responses(const struct json *body, struct strbuf *why)
{
    return check_body(body, NULL, why);
}

bool strict_responses_compat(const struct json *body, struct strbuf *why)
{
    return check_body(body, compat, why);
}
