/* model_list_fuzz.c - whatever answers a request for models, what is taken from it can be shown. */
#include "provider/model_list.h"

static void check_text(const char *text)
{
    size_t n = strlen(text);

    BUG_IF(n == 0 || n > MODEL_LIST_MAX_NAME);
    for (size_t i = 0; i < n; i++)
        BUG_IF((unsigned char)text[i] < ' ' || text[i] == 0x7f);
}

static void check_model(const struct model_info *m)
{
    check_text(m->id);
    check_text(m->name);
    BUG_IF(m->context_window < 0 || m->max_output < 0);
    BUG_IF(m->price.input < -1 || m->price.output < -1 || m->price.cache_read < -1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) struct arena a = {0};
    struct str text = str_make((const char *)data, size);
    struct model_list models;
    struct model_info shown;
    struct json_where where;
    struct json *root;
    AUTO(err) struct err *e = NULL;

    if (!json_parse_at(&a, text, JSON_REPAIR_UTF8, &root, &where))
        return 0;
    e = model_show_parse(&a, S("m"), root, &shown);
    BUG_IF(!e && (shown.context_window <= 0 || shown.max_output));
    err_free(e);
    e = model_list_parse(&a, root, &models);
    if (e)
        return 0;
    BUG_IF(models.n > MODEL_LIST_MAX);
    for (size_t i = 0; i < models.n; i++)
        check_model(&models.items[i]);
    return 0;
}
