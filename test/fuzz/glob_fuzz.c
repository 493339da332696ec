/* glob_fuzz.c - a pattern that compiles matches without trouble, and an escaped path matches
 * itself. The input: a byte of flags, the pattern, a newline, the path. */
#include "base/glob.h"
#include "base/strbuf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Plain text at both ends of a pattern is compared apart; in braces it is not. */
static void check_in_braces(struct str pattern, int flags, struct str path, bool matched)
{
    AUTO(strbuf) struct strbuf longer = {0}, name = {0};
    AUTO(glob) struct glob *g = NULL;
    AUTO(err) struct err *e = NULL;

    strbuf_add_cstr(&longer, "{");
    strbuf_add(&longer, pattern);
    strbuf_add_cstr(&longer, "}[z]");
    strbuf_add(&name, path);
    strbuf_add_char(&name, 'z');
    e = glob_compile(strbuf_str(&longer), flags, &g);
    BUG_IF(!e && matched != glob_matches(g, strbuf_str(&name)));
}

static bool can_stand_in_braces(struct str pattern, int flags)
{
    return !(flags & (GLOB_GIT | GLOB_NO_BRACES)) && str_find_char(pattern, ',') == STR_NONE &&
           !str_starts(pattern, S("**/")); /* alone it means another thing */
}

static void check_escaped(struct str path, int flags)
{
    AUTO(strbuf) struct strbuf pattern = {0};
    AUTO(glob) struct glob *g = NULL;
    AUTO(err) struct err *e = NULL;

    for (size_t i = 0; i < path.n; i++) {
        if (path.p[i] && strchr("*?[]{},\\!", path.p[i]))
            strbuf_add_char(&pattern, '\\');
        strbuf_add_char(&pattern, path.p[i]);
    }
    e = glob_compile(strbuf_str(&pattern), flags & ~GLOB_NO_ESCAPE, &g);
    BUG_IF(pattern.n <= GLOB_MAX_PATTERN && (e || !glob_matches(g, path)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int flags = size ? data[0] & 63 : 0;
    struct str rest = str_skip(str_make((const char *)data, size), 1), pattern;
    AUTO(glob) struct glob *g = NULL;
    AUTO(err) struct err *e = NULL;

    if (!str_split(&rest, '\n', &pattern))
        return 0;
    e = glob_compile(pattern, flags, &g);
    BUG_IF(!e != !!g);
    if (g && can_stand_in_braces(pattern, flags))
        check_in_braces(pattern, flags | GLOB_EMPTY_ALTERNATES, rest, glob_matches(g, rest));
    else if (g)
        glob_matches(g, rest);
    check_escaped(rest, flags);
    return 0;
}
