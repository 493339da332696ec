/* model_list.c - reads lists of models in many shapes. */
#include "provider/model_list.h"

#define MAX_TOKENS 1000000000 /* more than any model has */

/* --- values --- */

/* Can it be printed on one line of a terminal, without side effects? */
static bool is_showable(struct str text)
{
    if (text.n == 0 || text.n > MODEL_LIST_MAX_NAME)
        return false;
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];

        if (c < ' ' || c == 0x7f)
            return false;
        if (c == 0xc2 && i + 1 < text.n && (unsigned char)text.p[i + 1] < 0xa0) /* U+0080-009F */
            return false;
    }
    return true;
}

/* The first of these members that is a text; empty if it cannot be shown. */
static struct str text_of(const struct json *entry, const char *const *keys)
{
    struct str text = {0};

    for (; *keys && text.n == 0; keys++)
        text = json_get_text(entry, *keys);
    return is_showable(text) ? text : (struct str){0};
}

/* The count at the first of these places that has one. */
static int64_t count_of(const struct json *entry, const char *const *pointers)
{
    for (; *pointers; pointers++) {
        int64_t n = json_int_or(json_pointer(entry, str_of(*pointers)), 0);

        if (n > 0 && n <= MAX_TOKENS)
            return n;
    }
    return 0;
}

static bool list_has(const struct json *list, const char *word)
{
    json_each (item, list)
        if (str_is(json_str(item), word))
            return true;
    return false;
}

/* --- prices --- */

/* Converts dollars for `n_tokens` tokens, as a number or text, to micro-cents per million. */
static int64_t read_amount(const struct json *amount, double n_tokens)
{
    double usd, price;

    if (!json_is(amount, JSON_NUMBER) && !json_is(amount, JSON_STRING))
        return -1;
    if (!str_to_double(amount->text, &usd))
        return -1;
    price = usd / n_tokens * 1e6 * MICROCENTS_PER_USD;
    return price >= 0 && price <= 1e15 ? (int64_t)(price + 0.5) : -1; /* nor NaN */
}

static const struct json *first_of(const struct json *object, const char *key, const char *other)
{
    const struct json *value = json_get(object, key);

    return value ? value : json_get(object, other);
}

/* Prices per million tokens are numbers (Together, Hugging Face), prices per token are texts
 * (OpenRouter, Vercel). */
static struct price read_price(const struct json *pricing)
{
    bool per_million = json_is(json_get(pricing, "input"), JSON_NUMBER);

    if (per_million)
        return (struct price){.input = read_amount(json_get(pricing, "input"), 1e6),
                              .output = read_amount(json_get(pricing, "output"), 1e6),
                              .cache_read = read_amount(json_get(pricing, "cached_input"), 1e6),
                              .cache_write = -1};
    return (struct price){.input = read_amount(first_of(pricing, "prompt", "input"), 1),
                          .output = read_amount(first_of(pricing, "completion", "output"), 1),
                          .cache_read = read_amount(json_get(pricing, "input_cache_read"), 1),
                          .cache_write = read_amount(json_get(pricing, "input_cache_write"), 1)};
}

/* --- abilities --- */

static unsigned ability_of(struct str word)
{
    static const struct {
        const char *word;
        unsigned can;
    } words[] = {
        {"tools", CAN_TOOLS},
        {"tool_use", CAN_TOOLS},
        {"tool-use", CAN_TOOLS},
        {"tool_calls", CAN_TOOLS},
        {"function_calling", CAN_TOOLS},
        {"supports_tools", CAN_TOOLS},
        {"supports_function_calling", CAN_TOOLS},
        {"image", CAN_SEE_IMAGES},
        {"vision", CAN_SEE_IMAGES},
        {"image_input", CAN_SEE_IMAGES},
        {"supports_image_input", CAN_SEE_IMAGES},
        {"supports_image_in", CAN_SEE_IMAGES},
        {"supports_vision", CAN_SEE_IMAGES},
        {"file", CAN_READ_PDF},
        {"file-input", CAN_READ_PDF},
        {"pdf_input", CAN_READ_PDF},
        {"audio", CAN_HEAR_AUDIO},
        {"reasoning", CAN_REASON},
        {"thinking", CAN_REASON},
        {"supports_reasoning", CAN_REASON},
        {"structured_outputs", CAN_FOLLOW_SCHEMA},
        {"supports_structured_output", CAN_FOLLOW_SCHEMA},
    };

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_is(word, words[i].word))
            return words[i].can;
    return 0;
}

/* ["tools", ...] */
static unsigned read_words(const struct json *list)
{
    unsigned can = 0;

    if (json_is(list, JSON_ARRAY))
        json_each (word, list)
            can |= ability_of(json_str(word));
    return can;
}

/* {"function_calling": true} or {"image_input": {"supported": true}} */
static unsigned read_switches(const struct json *object)
{
    unsigned can = 0;

    if (json_is(object, JSON_OBJECT))
        json_each (member, object)
            if (json_bool(member, false) || json_bool(json_get(member, "supported"), false))
                can |= ability_of(member->key);
    return can;
}

/* Reads only what the entry says itself. */
static unsigned read_capabilities(const struct json *entry)
{
    const struct json *capabilities = json_get(entry, "capabilities");
    const struct json *adaptive =
        json_pointer(capabilities, S("/thinking/types/adaptive/supported"));
    unsigned can = read_switches(entry) | read_switches(capabilities) | read_words(capabilities);

    can |= read_switches(json_get(capabilities, "supports"));
    can |= read_words(json_get(entry, "tags"));
    can |= read_words(json_get(entry, "supported_parameters"));
    can |= read_words(json_pointer(entry, S("/architecture/input_modalities")));
    return can | (json_bool(adaptive, false) ? REASONS_ADAPTIVELY : 0);
}

/* --- entries --- */

static bool is_off(const struct json *object, const char *key)
{
    return !json_bool(json_get(object, key), true);
}

/* False for models that the list marks as models for vectors, pictures or speech. */
static bool can_converse(const struct json *entry)
{
    static const char *const others[] = {"embedding", "embeddings", "image",
                                         "audio",     "video",      "rerank",
                                         "reranking", "moderation", "transcribe"};
    const struct json *capabilities = json_get(entry, "capabilities");
    const struct json *methods = json_get(entry, "supportedGenerationMethods");
    const struct json *outputs = json_pointer(entry, S("/architecture/output_modalities"));

    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (str_is(json_get_text(entry, "type"), others[i]) ||
            str_is(json_get_text(entry, "mode"), others[i]) ||
            str_is(json_get_text(capabilities, "type"), others[i]))
            return false;
    if ((methods && !list_has(methods, "generateContent")) ||
        (outputs && !list_has(outputs, "text")))
        return false;
    return !is_off(capabilities, "completion_chat") && !is_off(capabilities, "chat_completion") &&
           !is_off(entry, "supports_chat") && !is_off(entry, "active");
}

/* Entries have a day of the end only if it is known. */
static enum model_lifecycle read_lifecycle(const struct json *entry)
{
    static const char *const ends[] = {"shutdown_date", "expiration_date", "deprecation", NULL};

    if (text_of(entry, ends).n)
        return LIFECYCLE_DEPRECATED;
    return str_is(json_get_text(entry, "lifecycle_status"), "preview") ? LIFECYCLE_PREVIEW
                                                                       : LIFECYCLE_ACTIVE;
}

/* If a router chooses among several providers of a model: the smallest window, so that a prompt
 * fits any of them, the highest price, and what at least one of them can do. */
static void read_providers(const struct json *list, struct model_info *m)
{
    static const char *const windows[] = {"/context_length", NULL};

    if (!json_is(list, JSON_ARRAY))
        return;
    json_each (provider, list) {
        int64_t window = count_of(provider, windows);
        struct price price = read_price(json_get(provider, "pricing"));
        struct str status = json_get_text(provider, "status");

        if (status.n && !str_is(status, "live"))
            continue;
        if (window && (!m->context_window || window < m->context_window))
            m->context_window = window;
        if (price.input + price.output > m->price.input + m->price.output)
            m->price = price;
        m->capabilities |= read_switches(provider);
    }
}

static bool read_entry(struct arena *a, const struct json *entry, struct model_info *ret)
{
    static const char *const ids[] = {"id", "model_group", "name", "model", NULL};
    static const char *const names[] = {"display_name", "displayName", "name", NULL};
    static const char *const windows[] = {
        "/loaded_context_length", /* the actual one first */
        "/context_window",
        "/context_length",
        "/inputTokenLimit",
        "/max_input_tokens",
        "/max_model_len",
        "/max_context_length",
        "/capabilities/limits/max_prompt_tokens", /* before the sum of prompt and answer */
        "/capabilities/limits/max_context_window_tokens",
        "/meta/n_ctx",
        "/meta/n_ctx_train",
        NULL};
    static const char *const outputs[] = {"/outputTokenLimit",
                                          "/max_tokens",
                                          "/max_output_tokens",
                                          "/max_completion_tokens",
                                          "/top_provider/max_completion_tokens",
                                          "/capabilities/limits/max_output_tokens",
                                          NULL};
    struct str id = text_of(entry, ids), name = text_of(entry, names);

    if (str_starts(id, S("models/")))
        id = str_skip(id, strlen("models/"));
    if (id.n == 0 || !can_converse(entry))
        return false;
    *ret = (struct model_info){
        .id = arena_cstr(a, id),
        .name = arena_cstr(a, name.n ? name : id),
        .context_window = count_of(entry, windows),
        .max_output = count_of(entry, outputs),
        .price = read_price(json_get(entry, "pricing")),
        .lifecycle = read_lifecycle(entry),
        .capabilities = read_capabilities(entry),
    };
    read_providers(json_get(entry, "providers"), ret);
    return true;
}

static const struct json *find_list(const struct json *root)
{
    const struct json *list = json_is(root, JSON_ARRAY) ? root : json_get(root, "data");

    if (!json_is(list, JSON_ARRAY))
        list = json_get(root, "models");
    return json_is(list, JSON_ARRAY) ? list : NULL;
}

struct err *model_list_parse(struct arena *a, const struct json *root,
                             struct model_list *ret_models)
{
    const struct json *list = find_list(root);
    struct model_list models = {0};

    if (!list)
        return err_hint(err_new(ERR_BAD_RESPONSE, "the answer contains no list of models"),
                        "check the base URL");
    models.items = ARENA_ARRAY(a, MIN(list->n, (uint32_t)MODEL_LIST_MAX), struct model_info);
    json_each (entry, list) {
        if (models.n == MODEL_LIST_MAX)
            break;
        models.n += read_entry(a, entry, &models.items[models.n]);
    }
    *ret_models = models;
    return NULL;
}

static const struct model_info *find_listed(const struct model_list *models, struct str id)
{
    struct str latest = S(":latest");

    for (size_t i = 0; i < models->n; i++) {
        struct str known = str_of(models->items[i].id);

        if (str_eq(known, id) || (str_starts(known, id) && str_eq(str_skip(known, id.n), latest)))
            return &models->items[i];
    }
    return NULL;
}

/* The name for a router may end in a wish, "maker/model:nitro", that its list does not have. */
const struct model_info *model_list_find(const struct model_list *models, struct str id)
{
    const struct model_info *found = find_listed(models, id);
    size_t wish = str_find_char(id, ':');

    if (!found && wish != STR_NONE && str_find_char(id, '/') != STR_NONE)
        found = find_listed(models, str_slice(id, 0, wish));
    return found;
}

/* --- one model of Ollama --- */

/* One parameter per line: "stop \"x\"\nnum_ctx   8192" */
static int64_t parameter(struct str lines, const char *name)
{
    struct str line;

    while (str_split(&lines, '\n', &line)) {
        struct str rest = str_trim(line);
        int64_t n;

        if (!str_starts(rest, str_of(name)))
            continue;
        rest = str_skip(rest, strlen(name));
        if (rest.n && strchr(" \t", rest.p[0]) && str_to_int64(str_trim(rest), &n) && n > 0 &&
            n <= MAX_TOKENS)
            return n;
    }
    return 0;
}

/* {"general.architecture": "qwen3", "qwen3.context_length": 40960, ...} */
static int64_t made_for(const struct json *details)
{
    json_each (member, details) {
        int64_t n = json_int_or(member, 0);

        if (str_ends(member->key, S(".context_length")) && n > 0 && n <= MAX_TOKENS)
            return n;
    }
    return 0;
}

struct err *model_show_parse(struct arena *a, struct str id, const struct json *root,
                             struct model_info *ret_model)
{
    int64_t set = parameter(json_get_text(root, "parameters"), "num_ctx");
    int64_t most = made_for(json_get(root, "model_info"));

    if (!set && !most)
        return err_new(ERR_BAD_RESPONSE,
                       "the server does not report the size of the context window");
    *ret_model = (struct model_info){
        .id = arena_cstr(a, id),
        .name = arena_cstr(a, id),
        .context_window = set ? set : MIN(most, (int64_t)MODEL_LOCAL_WINDOW),
        .price = {-1, -1, -1, -1},
        .capabilities = read_capabilities(root),
    };
    return NULL;
}
