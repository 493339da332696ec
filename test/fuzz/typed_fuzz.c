/* typed_fuzz.c - no prompt names a host or a path that it does not spell out. */
#include "gate/typed.h"
#include "gate/web.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_host(struct arena *a, struct str word, struct str host)
{
    struct str name = str_slice(host, 0, MIN(str_find_char(host, ':'), host.n)), again;
    AUTO(strbuf) struct strbuf lower = {0};

    for (size_t i = 0; i < name.n; i++)
        BUG_IF(!(name.p[i] >= 'a' && name.p[i] <= 'z') && !(name.p[i] >= '0' && name.p[i] <= '9') &&
               name.p[i] != '-' && name.p[i] != '.');
    BUG_IF(name.n == 0 || str_find(name, S("xn--")) != STR_NONE);
    for (size_t i = 0; i < word.n; i++) {
        char c = word.p[i];

        strbuf_add_char(&lower, c >= 'A' && c <= 'Z' ? (char)(c + 32) : c);
    }
    BUG_IF(str_find(strbuf_str(&lower), name) == STR_NONE);
    BUG_IF(!web_host(a, arena_format(a, "https://%" STR_FMT "/", STR_ARG(host)), &again) ||
           !str_eq(again, host));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) struct arena a = {0};
    struct str rest = str_make((const char *)data, size), word, found;
    bool is_bare;

    while (typed_next_word(&rest, &word)) {
        if (typed_read_path(word, &found))
            BUG_IF(!strchr("/~.", found.p[0]) || str_find(word, found) == STR_NONE ||
                   str_is(found, "/"));
        if (typed_read_host(&a, word, &found, &is_bare))
            check_host(&a, word, found);
    }
    return 0;
}
