/* fenced.c - finds the only fenced block in an answer. */
#include "model/fenced.h"

/* The length of a fence that opens or closes with this line: three or more of ` or ~; 0: none. */
static size_t fence_length(struct str line)
{
    size_t n = 0;

    if (line.n == 0 || (line.p[0] != '`' && line.p[0] != '~'))
        return 0;
    while (n < line.n && line.p[n] == line.p[0])
        n++;
    return n >= 3 ? n : 0;
}

static bool closes(struct str line, struct str fence)
{
    size_t n = fence_length(line);

    return n >= fence.n && line.p[0] == fence.p[0] && str_trim(str_skip(line, n)).n == 0;
}

static bool is_json(struct str language)
{
    return language.n == 0 || str_eq_nocase(language, S("json")) ||
           str_eq_nocase(language, S("jsonc")) || str_eq_nocase(language, S("json5"));
}

struct str fenced_json(struct str text)
{
    struct str rest = str_trim(text), line, fence = {0}, inside = {0};
    const char *start = NULL;
    size_t n_blocks = 0;
    bool counts = false;

    if (rest.n && (rest.p[0] == '{' || rest.p[0] == '['))
        return rest;
    while (rest.n && str_split(&rest, '\n', &line)) {
        struct str trimmed = str_trim(line);

        if (fence.n && closes(trimmed, fence)) {
            inside = str_make(start, (size_t)(line.p - start));
            fence = (struct str){0};
        } else if (!fence.n && fence_length(trimmed)) {
            fence = str_slice(trimmed, 0, fence_length(trimmed));
            counts = is_json(str_trim(str_skip(trimmed, fence.n)));
            start = line.p + line.n + (rest.p ? 1 : 0);
            n_blocks++;
        }
    }
    return n_blocks == 1 && counts && !fence.n ? str_trim(inside) : str_trim(text);
}
