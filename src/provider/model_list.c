/* model_list.c - one list of models out of five shapes. */
#include "provider/model_list.h"

static const char *text_of(struct arena *a, const struct json *entry, const char *const *keys)
{
    for (; *keys; keys++) {
        struct str text = json_get_text(entry, *keys);
        if (text.n)
            return arena_cstr(a, text);
    }
    return NULL;
}

static int64_t number_of(const struct json *entry, const char *const *keys)
{
    for (; *keys; keys++) {
        int64_t value = json_int_or(json_get(entry, *keys), 0);
        if (value > 0)
            return value;
    }
    return 0;
}

/* Routers give dollars per token, as text. */
static int64_t price_per_million(const struct json *price)
{
    struct json number = {.type = JSON_NUMBER, .text = json_str(price)};
    double usd;

    if (!json_double(json_is(price, JSON_NUMBER) ? price : &number, &usd) || usd < 0 || usd > 1)
        return -1;
    return (int64_t)(usd * 1e6 * MICROCENTS_PER_USD + 0.5);
}

static struct price read_price(const struct json *pricing)
{
    return (struct price){
        .input = price_per_million(json_get(pricing, "prompt")),
        .output = price_per_million(json_get(pricing, "completion")),
        .cache_read = price_per_million(json_get(pricing, "input_cache_read")),
        .cache_write = price_per_million(json_get(pricing, "input_cache_write")),
    };
}

static bool list_has(const struct json *list, const char *word)
{
    json_each (item, list)
        if (str_is(json_str(item), word))
            return true;
    return false;
}

/* Only what the entry says itself. */
static unsigned read_capabilities(const struct json *entry)
{
    const struct json *parameters = json_get(entry, "supported_parameters");
    const struct json *inputs = json_get(json_get(entry, "architecture"), "input_modalities");
    unsigned can = 0;

    if (list_has(parameters, "tools"))
        can |= CAN_TOOLS;
    if (list_has(parameters, "reasoning"))
        can |= CAN_REASON;
    if (list_has(parameters, "structured_outputs"))
        can |= CAN_FOLLOW_SCHEMA;
    if (list_has(inputs, "image"))
        can |= CAN_SEE_IMAGES;
    if (list_has(inputs, "file"))
        can |= CAN_READ_PDF;
    return can;
}

static bool read_entry(struct arena *a, const struct json *entry, struct model_info *ret)
{
    static const char *const ids[] = {"id", "name", "model", NULL};
    static const char *const names[] = {"display_name", "displayName", "name", "id", NULL};
    static const char *const windows[] = {"context_window",   "context_length", "inputTokenLimit",
                                          "max_input_tokens", "max_model_len",  NULL};
    static const char *const outputs[] = {"outputTokenLimit", "max_tokens", "max_output_tokens",
                                          "max_completion_tokens", NULL};
    const char *id = text_of(a, entry, ids);

    if (!id)
        return false;
    if (str_starts(str_of(id), S("models/")))
        id += strlen("models/");
    *ret = (struct model_info){
        .id = id,
        .name = text_of(a, entry, names),
        .context_window = number_of(entry, windows),
        .max_output = number_of(entry, outputs),
        .price = read_price(json_get(entry, "pricing")),
        .capabilities = read_capabilities(entry),
    };
    return true;
}

struct err *model_list_parse(struct arena *a, const struct json *root,
                             struct model_list *ret_models)
{
    const struct json *list = json_is(root, JSON_ARRAY) ? root : json_get(root, "data");
    size_t n = 0;

    if (!json_is(list, JSON_ARRAY))
        list = json_get(root, "models");
    if (!json_is(list, JSON_ARRAY))
        return err_hint(err_new(ERR_PROVIDER_ERROR, "the answer holds no list of models"),
                        "check the base URL");
    ret_models->items = ARENA_ARRAY(a, list->n, struct model_info);
    json_each (entry, list)
        if (n < MODEL_LIST_MAX)
            n += read_entry(a, entry, &ret_models->items[n]);
    ret_models->n = n;
    return NULL;
}
