/* path_key.c - three bytes here, three bytes there. */
#include "gate/path_key.h"

#include "base/glob.h"
#include "gate/path.h"

#define N_GRAM 3
/* With these a pattern is surely short enough to be a glob, each byte of both escaped. */
#define MAX_PATTERN (GLOB_MAX_PATTERN / 4 - 8)
#define MAX_BASE (GLOB_MAX_PATTERN / 4 - 8)

static uint16_t gram_at(const char *p)
{
    uint32_t gram = (uint32_t)(unsigned char)p[0] | (uint32_t)(unsigned char)p[1] << 8 |
                    (uint32_t)(unsigned char)p[2] << 16;

    return (uint16_t)((gram * UINT32_C(0x9E3779B1)) >> (32 - PATH_GRAM_BITS));
}

/* --- patterns --- */

/* Nothing in it but names, `*` and `?`: it can be read for sure, and what is plain is meant. */
static bool is_told_by_bytes(struct str text)
{
    if (text.n > MAX_PATTERN || !path_is_simple(text))
        return false;
    for (size_t i = 0; i < text.n; i++)
        if (strchr("[]{}\\", text.p[i]))
            return false;
    return true;
}

/* A slash beside a wildcard may stand for nothing. */
static struct str trim_slashes(struct str run)
{
    while (str_starts(run, S("/")))
        run = str_skip(run, 1);
    while (str_ends(run, S("/")))
        run.n--;
    return run;
}

/* Cuts the next run of plain text off. */
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

struct path_key path_key_of_any(void)
{
    return (struct path_key){{PATH_GRAM_NONE, PATH_GRAM_NONE}};
}

struct path_key path_key_of(struct str pattern)
{
    struct path_key key = path_key_of_any();
    struct str rest = path_pattern_text(pattern), run;

    if (!is_told_by_bytes(rest))
        return key;
    while (next_run(&rest, &run)) {
        if (run.n < N_GRAM)
            continue;
        if (key.grams[0] == PATH_GRAM_NONE)
            key.grams[0] = gram_at(run.p);
        key.grams[1] = gram_at(run.p + run.n - N_GRAM);
    }
    return key;
}

/* --- paths --- */

void path_grams_add(struct path_grams *g, const char *path)
{
    size_t n = strlen(path);

    for (size_t i = 0; i + N_GRAM <= n; i++)
        g->has[gram_at(path + i)] = true;
    g->has[PATH_GRAM_NONE] = true;
}

void path_grams_add_all(struct path_grams *g)
{
    memset(g->has, true, sizeof g->has);
}

bool path_bases_are_long(const struct path_bases *bases)
{
    return bases->workspace.directory.n > MAX_BASE || bases->cwd.directory.n > MAX_BASE ||
           bases->home.directory.n > MAX_BASE;
}
