/* denied_rules.c - which of the places that rules deny count for commands. */
#include "sdk/sandbox/denied_rules.h"

#include "sandbox/plan/plan.h"

bool denied_rules_same_patterns(const struct denied_places *a, const struct denied_places *b)
{
    size_t i = 0, j = 0;

    for (;;) {
        while (i < a->n && !a->items[i].glob)
            i++;
        while (j < b->n && !b->items[j].glob)
            j++;
        if (i == a->n || j == b->n)
            return i == a->n && j == b->n;
        if (a->items[i].hides != b->items[j].hides ||
            a->items[i].is_untrusted != b->items[j].is_untrusted ||
            !str_eq(a->items[i].pattern, b->items[j].pattern))
            return false;
        i++, j++;
    }
}

/* A pattern from the current directory adds nothing where it is one from the workspace as well, at
 * any depth. So most moves leave the patterns as they are. */
static bool is_covered(const struct denied_places *d, size_t index)
{
    struct str pattern = d->items[index].pattern;
    size_t deep = str_find(pattern, S("/**/"));

    for (size_t i = 0; deep != STR_NONE && i < d->n; i++) {
        struct str other = d->items[i].pattern;
        size_t other_deep = d->items[i].glob && i != index ? str_find(other, S("/**/")) : STR_NONE;

        if (other_deep == STR_NONE || d->items[i].hides != d->items[index].hides ||
            d->items[i].is_untrusted != d->items[index].is_untrusted)
            continue;
        if (str_eq(str_skip(pattern, deep), str_skip(other, other_deep)) &&
            path_is_in(d->items[index].path, d->items[i].path) &&
            (other_deep < deep || (other_deep == deep && i < index)))
            return true;
    }
    return false;
}

static void drop_place(struct denied_places *d, size_t index)
{
    glob_free(d->items[index].glob);
    memmove(&d->items[index], &d->items[index + 1], (d->n - index - 1) * sizeof *d->items);
    d->n--;
}

static void drop_covered(struct denied_places *d)
{
    for (size_t i = 0; i < d->n; i++)
        if (d->items[i].glob && is_covered(d, i))
            drop_place(d, i--);
}

/* --- rules of a project that is not trusted --- */

/* Has the pattern a letter or a digit behind the workspace? One without names everything. */
static bool names_something(struct str pattern, const char *workspace)
{
    bool in_brackets = false;
    struct str component;

    for (const char *c = workspace; *c && pattern.n; c++)
        if (*c == '/') /* in the pattern its signs may be escaped */
            str_split(&pattern, '/', &component);
    str_split(&pattern, '/', &component);
    for (size_t i = 0; i < pattern.n; i++) {
        unsigned char c = (unsigned char)pattern.p[i];

        if (c == '[')
            in_brackets = true;
        else if (c == ']')
            in_brackets = false;
        else if (!in_brackets && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                                  (c >= '0' && c <= '9') || c >= 0x80))
            return true;
    }
    return false;
}

/* They may keep places of the workspace from commands. What lies outside, or all of it, is not
 * theirs: else a repository could take away what every command needs. */
static void drop_foreign(struct denied_places *d, const char *workspace)
{
    for (size_t i = 0; i < d->n; i++) {
        const struct denied_place *p = &d->items[i];

        if (!p->is_untrusted)
            continue;
        if (!path_is_in(p->path, workspace) ||
            (p->glob ? !names_something(p->pattern, workspace) : strcmp(p->path, workspace) == 0))
            drop_place(d, i--);
    }
}

void denied_rules_choose(struct denied_places *d, const char *workspace)
{
    drop_covered(d);
    drop_foreign(d, workspace);
}
