/* gemini.c - judges generateContent requests for the Gemini API.
 *
 * The API reads names in both spellings, thoughtSignature and thought_signature; we write the first
 * one, and recordings have both. */
#include "strict/check.h"
#include "strict/strict.h"

#define MAX_NAME 64
#define FILES                                                                                      \
    "image/png image/jpeg image/webp image/heic image/heif audio/wav audio/mp3 audio/mpeg "        \
    "audio/aiff audio/aac audio/ogg audio/flac video/mp4 video/mpeg video/mov video/quicktime "    \
    "video/avi video/x-flv video/mpg video/webm video/wmv video/3gpp application/pdf text/plain "  \
    "text/html text/css text/csv text/markdown text/xml text/rtf text/javascript"

#define EITHER(camel, snake, ...) MAY(camel, __VA_ARGS__), MAY(snake, __VA_ARGS__)

static const struct json *get(const struct json *v, const char *camel, const char *snake)
{
    const struct json *member = json_get(v, camel);

    return member ? member : json_get(v, snake);
}

static const struct json *call_of(const struct json *part)
{
    return get(part, "functionCall", "function_call");
}

static const struct json *response_of(const struct json *part)
{
    return get(part, "functionResponse", "function_response");
}

static const struct json *signature_of(const struct json *part)
{
    return get(part, "thoughtSignature", "thought_signature");
}

/* --- parts --- */

static bool check_name(struct check *c, const struct json *v)
{
    struct str name = json_str(v);

    return text_is_name(name, "_.:-", MAX_NAME) && (name.p[0] == '_' || name.p[0] >= 'A')
               ? true
               : refuse(c, "is no name of a function");
}

static bool check_blob(struct check *c, const struct json *v)
{
    static const struct member members[] = {
        EITHER("mimeType", "mime_type", A_STRING, WORDS(FILES)),
        NEEDS("data", A_STRING, BY(is_url_base64)),
        MAY("displayName", A_STRING),
        END_OF_MEMBERS,
    };

    if (!check_members(c, v, members, NULL))
        return false;
    return get(v, "mimeType", "mime_type") ? true : refuse(c, "has no \"mimeType\"");
}

static bool check_file(struct check *c, const struct json *v)
{
    static const struct member members[] = {
        EITHER("mimeType", "mime_type", A_STRING, BY(is_not_blank)),
        EITHER("fileUri", "file_uri", A_STRING, BY(is_url)),
        MAY("displayName", A_STRING),
        END_OF_MEMBERS,
    };

    if (!check_members(c, v, members, NULL))
        return false;
    return get(v, "fileUri", "file_uri") ? true : refuse(c, "has no \"fileUri\"");
}

static bool check_call(struct check *c, const struct json *v)
{
    static const struct member members[] = {
        NEEDS("name", A_STRING, BY(check_name)),
        MAY("args", AN_OBJECT),
        MAY("id", A_STRING, BY(is_not_blank)),
        END_OF_MEMBERS,
    };
    return check_members(c, v, members, NULL);
}

static bool check_response_part(struct check *c, const struct json *v)
{
    static const struct member members[] = {
        EITHER("inlineData", "inline_data", AN_OBJECT, BY(check_blob)),
        EITHER("fileData", "file_data", AN_OBJECT, BY(check_file)),
        END_OF_MEMBERS,
    };

    return check_members(c, v, members, NULL) &&
           (v->n == 1 ? true : refuse(c, "must hold one thing"));
}

static bool check_response_parts(struct check *c, const struct json *v)
{
    return is_not_empty(c, v) && check_each(c, v, check_response_part);
}

static bool check_response(struct check *c, const struct json *v)
{
    static const struct member members[] = {
        NEEDS("name", A_STRING, BY(check_name)),
        NEEDS("response", AN_OBJECT),
        MAY("id", A_STRING, BY(is_not_blank)),
        MAY("parts", AN_ARRAY, BY(check_response_parts)),
        MAY("willContinue", A_BOOL),
        MAY("scheduling", A_STRING, WORDS("SILENT WHEN_IDLE INTERRUPT")),
        END_OF_MEMBERS,
    };
    return check_members(c, v, members, NULL);
}

static bool is_of_model(const struct json *content)
{
    return str_is(json_get_text(content, "role"), "model");
}

/* Nothing in a text is fine only where a signature hangs on it. */
static bool check_text(struct check *c, const struct json *v)
{
    return signature_of(c->path[c->depth - 2]) ? true : is_not_blank(c, v);
}

static bool check_signature(struct check *c, const struct json *v)
{
    return text_is_name(json_str(v), "+/=_-", SIZE_MAX) ? true : refuse(c, "must be base64");
}

/* How many of the members that a part must have one of. */
static size_t count_data(const struct json *part)
{
    static const char *const names[] = {
        "text",         "inlineData",     "inline_data",        "fileData", "file_data",
        "functionCall", "function_call",  "functionResponse",   "toolCall", "function_response",
        "toolResponse", "executableCode", "codeExecutionResult"};
    size_t n = 0;

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        n += json_has(part, names[i]);
    return n;
}

static bool check_part(struct check *c, const struct json *v)
{
    static const struct member members[] = {
        MAY("text", A_STRING, BY(check_text)),
        EITHER("inlineData", "inline_data", AN_OBJECT, BY(check_blob)),
        EITHER("fileData", "file_data", AN_OBJECT, BY(check_file)),
        EITHER("functionCall", "function_call", AN_OBJECT, BY(check_call)),
        EITHER("functionResponse", "function_response", AN_OBJECT, BY(check_response)),
        MAY("toolCall", AN_OBJECT),
        MAY("toolResponse", AN_OBJECT),
        MAY("executableCode", AN_OBJECT),
        MAY("codeExecutionResult", AN_OBJECT),
        MAY("thought", A_BOOL),
        EITHER("thoughtSignature", "thought_signature", A_STRING, BY(check_signature)),
        MAY("videoMetadata", AN_OBJECT),
        MAY("mediaResolution", AN_OBJECT),
        END_OF_MEMBERS,
    };
    bool is_model = is_of_model(c->path[c->depth - 3]);

    if (!check_members(c, v, members, NULL))
        return false;
    if (count_data(v) != 1)
        return refuse(c, "must hold one thing");
    if (call_of(v) && !is_model)
        return refuse(c, "only the model calls functions");
    if (response_of(v) && is_model)
        return refuse(c, "only the user responds to calls");
    return signature_of(v) && !is_model ? refuse(c, "only the model signs") : true;
}

static bool check_parts(struct check *c, const struct json *v)
{
    return is_not_empty(c, v) && check_each(c, v, check_part);
}

/* --- contents --- */

static bool check_content(struct check *c, const struct json *v)
{
    static const struct member members[] = {
        NEEDS("role", A_STRING, WORDS("user model")),
        NEEDS("parts", AN_ARRAY, BY(check_parts)),
        END_OF_MEMBERS,
    };
    return check_members(c, v, members, NULL);
}

static size_t count(const struct json *content, const struct json *(*of)(const struct json *part))
{
    size_t n = 0;

    json_each (part, json_get(content, "parts"))
        n += of(part) != NULL;
    return n;
}

/* The next part from here on that is such a one. */
static const struct json *skip_to(const struct json *part,
                                  const struct json *(*of)(const struct json *part))
{
    while (part && !of(part))
        part = part->next;
    return part;
}

/* One response for each call of the content before: same order, same names, same ids. */
static bool check_responses(struct check *c, const struct json *before, const struct json *content)
{
    size_t n_calls = before ? count(before, call_of) : 0, n = count(content, response_of);
    const struct json *call = before ? json_get(before, "parts")->first : NULL;
    const struct json *part = json_get(content, "parts")->first;

    if (n_calls != n)
        return refuse(c, "%zu calls before it, but %zu responses", n_calls, n);
    if (n && n != json_get(content, "parts")->n)
        return refuse(c, "responses must not stand with anything else");
    for (; n; n--, call = call->next, part = part->next) {
        struct str name, id;

        call = skip_to(call, call_of);
        name = json_get_text(call_of(call), "name");
        id = json_get_text(call_of(call), "id");
        if (!str_eq(json_get_text(response_of(part), "name"), name) ||
            !str_eq(json_get_text(response_of(part), "id"), id))
            return refuse(c, "the next response is that of %" STR_FMT " \"%" STR_FMT "\"",
                          STR_ARG(name), STR_ARG(id));
    }
    return true;
}

static bool check_turn(struct check *c, const struct json *before, const struct json *content)
{
    if (!before && is_of_model(content))
        return refuse(c, "the first turn must be the user's");
    if (before && is_of_model(before) && is_of_model(content))
        return refuse(c, "the model has two turns in a row");
    return check_responses(c, before && is_of_model(before) ? before : NULL, content);
}

static bool check_contents(struct check *c, const struct json *v)
{
    const struct json *before = NULL;

    if (!is_not_empty(c, v) || !check_each(c, v, check_content))
        return false;
    json_each (content, v) {
        c->path[c->depth++] = content;
        if (!check_turn(c, before, content))
            return false;
        c->depth--;
        before = content;
    }
    return is_of_model(v->last) ? refuse(c, "the last turn must be the user's") : true;
}

static bool check_system_part(struct check *c, const struct json *v)
{
    static const struct member members[] = {NEEDS("text", A_STRING, BY(is_not_blank)),
                                            END_OF_MEMBERS};

    return check_members(c, v, members, NULL);
}

static bool check_system_parts(struct check *c, const struct json *v)
{
    return v->type == JSON_OBJECT ? check_system_part(c, v)
                                  : is_not_empty(c, v) && check_each(c, v, check_system_part);
}

static bool check_system(struct check *c, const struct json *v)
{
    static const struct member members[] = {
        NEEDS("parts", AN_ARRAY | AN_OBJECT, BY(check_system_parts)),
        MAY("role", A_STRING, WORDS("user system")),
        END_OF_MEMBERS,
    };
    return check_members(c, v, members, NULL);
}

/* --- tools --- */

static bool check_declaration(struct check *c, const struct json *v)
{
    static const struct member members[] = {
        NEEDS("name", A_STRING, BY(check_name)),
        MAY("description", A_STRING),
        MAY("parameters", AN_OBJECT),
        EITHER("parametersJsonSchema", "parameters_json_schema", AN_OBJECT),
        MAY("response", AN_OBJECT),
        MAY("behavior", A_STRING),
        END_OF_MEMBERS,
    };

    if (!check_members(c, v, members, NULL))
        return false;
    return json_has(v, "parameters") && get(v, "parametersJsonSchema", "parameters_json_schema")
               ? refuse(c, "two kinds of parameters exclude each other")
               : true;
}

static bool check_declarations(struct check *c, const struct json *v)
{
    return is_not_empty(c, v) && check_each(c, v, check_declaration);
}

static bool check_tool(struct check *c, const struct json *v)
{
    static const struct member members[] = {
        EITHER("functionDeclarations", "function_declarations", AN_ARRAY, BY(check_declarations)),
        EITHER("googleSearch", "google_search", AN_OBJECT),
        EITHER("urlContext", "url_context", AN_OBJECT),
        EITHER("codeExecution", "code_execution", AN_OBJECT),
        EITHER("fileSearch", "file_search", AN_OBJECT),
        EITHER("googleMaps", "google_maps", AN_OBJECT),
        END_OF_MEMBERS,
    };
    return check_members(c, v, members, NULL);
}

static bool check_tools(struct check *c, const struct json *v)
{
    return v->type == JSON_OBJECT ? check_tool(c, v) : check_each(c, v, check_tool);
}

static bool check_calling(struct check *c, const struct json *v)
{
    static const struct member members[] = {
        MAY("mode", A_STRING, WORDS("AUTO ANY NONE VALIDATED")),
        MAY("allowedFunctionNames", AN_ARRAY, BY(is_text_list)),
        END_OF_MEMBERS,
    };

    if (!check_members(c, v, members, NULL))
        return false;
    return json_has(v, "allowedFunctionNames") &&
                   !text_has_word(" ANY VALIDATED ", json_get_text(v, "mode"))
               ? refuse(c, "names are for the modes ANY and VALIDATED")
               : true;
}

static bool check_tool_config(struct check *c, const struct json *v)
{
    static const struct member members[] = {
        EITHER("functionCallingConfig", "function_calling_config", AN_OBJECT, BY(check_calling)),
        MAY("retrievalConfig", AN_OBJECT),
        MAY("includeServerSideToolInvocations", A_BOOL),
        END_OF_MEMBERS,
    };
    return check_members(c, v, members, NULL);
}

/* --- settings --- */

static bool check_thinking(struct check *c, const struct json *v)
{
    static const struct member members[] = {
        EITHER("includeThoughts", "include_thoughts", A_BOOL),
        EITHER("thinkingBudget", "thinking_budget", AN_INT),
        EITHER("thinkingLevel", "thinking_level", A_STRING,
               WORDS("minimal low medium high MINIMAL LOW MEDIUM HIGH")),
        END_OF_MEMBERS,
    };

    if (!check_members(c, v, members, NULL))
        return false;
    return get(v, "thinkingBudget", "thinking_budget") && get(v, "thinkingLevel", "thinking_level")
               ? refuse(c, "budget and level exclude each other")
               : true;
}

static bool check_temperature(struct check *c, const struct json *v)
{
    return check_range(c, v, 0, 2);
}

static bool check_fraction(struct check *c, const struct json *v)
{
    return check_range(c, v, 0, 1);
}

static bool check_stop(struct check *c, const struct json *v)
{
    if (v->n > 5)
        return refuse(c, "at most 5 stop sequences");
    json_each (stop, v)
        if (json_str(stop).n == 0)
            return refuse(c, "a stop sequence must not be empty");
    return true;
}

static bool check_generation_config(struct check *c, const struct json *v)
{
    static const struct member members[] = {
        MAY("candidateCount", AN_INT, BY(is_positive)),
        EITHER("maxOutputTokens", "max_output_tokens", AN_INT, BY(is_positive)),
        MAY("temperature", A_NUMBER, BY(check_temperature)),
        EITHER("topP", "top_p", A_NUMBER, BY(check_fraction)),
        EITHER("topK", "top_k", A_NUMBER),
        MAY("seed", AN_INT),
        EITHER("presencePenalty", "presence_penalty", A_NUMBER),
        EITHER("frequencyPenalty", "frequency_penalty", A_NUMBER),
        EITHER("stopSequences", "stop_sequences", AN_ARRAY, BY(check_stop)),
        EITHER("responseMimeType", "response_mime_type", A_STRING,
               WORDS("text/plain application/json text/x.enum")),
        EITHER("responseSchema", "response_schema", AN_OBJECT),
        EITHER("responseJsonSchema", "response_json_schema", AN_OBJECT),
        EITHER("responseModalities", "response_modalities", AN_ARRAY),
        EITHER("thinkingConfig", "thinking_config", AN_OBJECT, BY(check_thinking)),
        EITHER("speechConfig", "speech_config", AN_OBJECT),
        EITHER("imageConfig", "image_config", AN_OBJECT),
        MAY("mediaResolution", A_STRING),
        MAY("responseLogprobs", A_BOOL),
        MAY("logprobs", AN_INT),
        END_OF_MEMBERS,
    };

    if (!check_members(c, v, members, NULL))
        return false;
    return get(v, "responseJsonSchema", "response_json_schema") &&
                   !get(v, "responseMimeType", "response_mime_type")
               ? refuse(c, "a schema needs the type application/json")
               : true;
}

/* A cached content has its own system text and tools. */
static bool check_cached(struct check *c, const struct json *v)
{
    if (get(c->body, "tools", "tools") || get(c->body, "systemInstruction", "system_instruction") ||
        get(c->body, "toolConfig", "tool_config"))
        return refuse(c, "excludes system text and tools");
    return is_not_blank(c, v);
}

bool strict_gemini(const struct json *body, struct strbuf *why)
{
    static const struct member members[] = {
        NEEDS("contents", AN_ARRAY, BY(check_contents)),
        MAY("model", A_STRING),
        EITHER("systemInstruction", "system_instruction", AN_OBJECT, BY(check_system)),
        MAY("tools", AN_ARRAY | AN_OBJECT, BY(check_tools)),
        EITHER("toolConfig", "tool_config", AN_OBJECT, BY(check_tool_config)),
        EITHER("generationConfig", "generation_config", AN_OBJECT, BY(check_generation_config)),
        EITHER("safetySettings", "safety_settings", AN_ARRAY),
        EITHER("cachedContent", "cached_content", A_STRING, BY(check_cached)),
        MAY("labels", AN_OBJECT),
        END_OF_MEMBERS,
    };
    struct check c = {.why = why, .body = body};

    return check_members(&c, body, members, NULL);
}

bool strict_gemini_3(const struct json *body, struct strbuf *why)
{
    struct check c = {.why = why, .body = body};

    if (!strict_gemini(body, why))
        return false;
    json_each (content, json_get(body, "contents")) {
        const struct json *call = skip_to(json_get(content, "parts")->first, call_of);

        if (call && !signature_of(call)) {
            c.path[0] = json_get(body, "contents");
            c.path[1] = content;
            c.depth = 2;
            return refuse(&c, "the first call must have a signature");
        }
    }
    return true;
}
