/* yaml_fuzz.c - whatever YAML is read becomes valid JSON. */
#include "base/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf out = {0};
    struct json *v, *again;
    AUTO(err) struct err *e = yaml_parse(&a, str_make((const char *)data, size), &v);
    struct json_where where;

    if (e)
        return 0;
    json_write(&out, v);
    BUG_IF(!json_parse_at(&a, strbuf_str(&out), JSON_UNIQUE_KEYS, &again, &where));
    return 0;
}
