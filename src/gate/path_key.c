/* path_key.c - the plain text in path patterns. */
#include "gate/path_key.h"

#include "base/glob.h"
#include "gate/path.h"

/* Short enough that the glob fits even if every byte of both is escaped. */
#define MAX_PATTERN (GLOB_MAX_PATTERN / 4 - 8)
#define MAX_BASE (GLOB_MAX_PATTERN / 4 - 8)

/* Only names, `*` and `?`: certainly readable, and its plain text is literal. */
static bool is_told_by_bytes(struct str text)
{
    if (text.n > MAX_PATTERN || !path_is_simple(text))
        return false;
    for (size_t i = 0; i < text.n; i++)
        if (strchr("[]{}\\", text.p[i]))
            return false;
    return true;
}

/* A slash beside a wildcard may match nothing. */
static struct str trim_slashes(struct str run)
{
    while (str_starts(run, S("/")))
        run = str_skip(run, 1);
    while (str_ends(run, S("/")))
        run.n--;
    return run;
}

/* Cuts off the next run of plain text. */
static bool next_run(struct str *rest, struct str *ret_run)
{
    size_t n = 0;

    if (rest->n == 0)
        return false;
    while (n < rest->n && !strchr("*?,!", rest->p[n]))
        n++;
    *ret_run = trim_slashes(str_slice(*rest, 0, n));
    *rest = str_skip(*rest, n + 1);
    return true;
}

struct gram_key path_key_of(struct str pattern)
{
    struct gram_key key = gram_key_of_any();
    struct str rest = path_pattern_text(pattern), run;

    if (!is_told_by_bytes(rest))
        return key;
    while (next_run(&rest, &run))
        gram_key_add(&key, run);
    return key;
}

bool path_bases_are_long(const struct path_bases *bases)
{
    return bases->workspace.directory.n > MAX_BASE || bases->cwd.directory.n > MAX_BASE ||
           bases->home.directory.n > MAX_BASE;
}
