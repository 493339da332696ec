/* redact_fuzz.c - of arguments, whatever they are, no value stays under the name of a credential.
 */
#include "view/redact.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct json *v, bool in_secret)
{
    bool is_secret = key_is_secret(v->key) || (in_secret && v->key.n == 0);

    BUG_IF(is_secret && v->type == JSON_NUMBER);
    BUG_IF(is_secret && v->type == JSON_STRING && !str_is(v->text, REDACTED));
    json_each (child, v)
        check(child, is_secret && v->type == JSON_ARRAY);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) struct arena a = {0};
    struct str shown = redact_args(str_make((const char *)data, size), &a);
    struct json_where where;
    struct json *v;

    if (json_parse_at(&a, shown, JSON_REPAIR_UTF8, &v, &where))
        check(v, /* in_secret= */ false);
    BUG_IF(!str_eq(redact_args(shown, &a), shown));
    return 0;
}
