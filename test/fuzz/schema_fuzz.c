/* schema_fuzz.c - a schema, a line end, a value: compiles, validates, and reads every word of the
 * report. */
#include "base/schema.h"
#include "base/utf8.h"

#include <stdint.h>

static void validate(const struct schema *schema, const struct json *value, struct arena *a)
{
    struct schema_report report;
    bool valid;
    struct err *e = schema_validate(schema, value, a, &valid, &report);

    if (e) {
        err_free(e);
        return;
    }
    BUG_IF(valid != (report.n_errors == 0));
    BUG_IF(report.n_errors > SCHEMA_MAX_ERRORS);
    for (size_t i = 0; i < report.n_errors; i++) {
        BUG_IF(!json_pointer(value, report.errors[i].path));
        BUG_IF(report.errors[i].message.n == 0 || !utf8_is_valid(report.errors[i].message));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) struct arena a = {0};
    AUTO(schema) struct schema *schema = NULL;
    struct str value = str_make((const char *)data, size), document = {0};
    struct json *parsed, *instance;
    struct json_where where;
    struct err *e;

    if (!str_split(&value, '\n', &document) || !value.p ||
        !json_parse_at(&a, document, 0, &parsed, &where) ||
        !json_parse_at(&a, value, 0, &instance, &where))
        return 0;
    e = schema_compile(parsed, NULL, &schema);
    if (e)
        err_free(e);
    else
        validate(schema, instance, &a);
    return 0;
}
