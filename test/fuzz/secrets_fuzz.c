/* secrets_fuzz.c - a first line of values with blanks between them, then a text: none of the values
 * is left in it, and it comes out the same whether it is searched at once or in pieces. */
#include "base/secrets.h"

#define MAX_VALUES 8

static size_t read_values(struct str line, struct secret_value *values)
{
    size_t n = 0;
    struct str value;

    while (n < MAX_VALUES && str_split(&line, ' ', &value))
        values[n++] = (struct secret_value){S("X"), value};
    return n;
}

static void check_pieces(const struct secrets *s, struct str text, struct str whole)
{
    struct secrets_stream stream = {.set = s};
    AUTO(strbuf) struct strbuf all = {0}, out = {0};
    size_t n = 1 + text.n % 7;

    for (; text.n; text = str_skip(text, n))
        strbuf_add(&all, secrets_stream_add(&stream, str_slice(text, 0, n), &out));
    strbuf_add(&all, secrets_stream_end(&stream, &out));
    BUG_IF(!str_eq(strbuf_str(&all), whole));
}

/* The mark that stands instead may happen to complete a value that is spelt like it. */
static bool is_like_mark(struct str value)
{
    for (size_t i = 0; i < value.n; i++)
        if (strchr(REDACTED, value.p[i]))
            return true;
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str rest = str_make((const char *)data, size), line = {0};
    struct secret_value values[MAX_VALUES];
    AUTO(strbuf) struct strbuf out = {0}, json = {0};
    size_t n_values;
    uint64_t found = 0;
    struct str shown;

    str_split(&rest, '\n', &line);
    n_values = read_values(line, values);
    AUTO(secrets) struct secrets *s = secrets_new(values, n_values);

    shown = secrets_hide(s, rest, &out, &found);
    BUG_IF(secrets_has(s, rest) != (found != 0));
    BUG_IF(!found && shown.p != rest.p);
    for (size_t i = 0; i < n_values; i++)
        BUG_IF(secrets_has(s, values[i].value) && !is_like_mark(values[i].value) &&
               str_find(shown, str_trim(values[i].value)) != STR_NONE);
    check_pieces(s, rest, shown);
    secrets_hide_in_json_text(s, rest, &json, NULL);
    return 0;
}
