/* aside.c - renames what is not to be trusted. */
#include "sandbox/aside.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>

enum { MAX_ASIDE = 1000 }; /* of one name */

/* Names come from the command: a line is a line, and a terminal is not told to do anything. */
static void add_path(const struct teller *t, const char *path)
{
    strbuf_addf(t->notes, "%s%s", t->root, *path ? "/" : "");
    for (; *path; path++)
        strbuf_add_char(t->notes, (unsigned char)*path < ' ' || *path == 0x7f ? '?' : *path);
}

void tell(const struct teller *t, const char *path, const char *what)
{
    add_path(t, path);
    strbuf_addf(t->notes, " %s\n", what);
}

void tell_failure(const struct teller *t, const char *path)
{
    int error = errno;

    add_path(t, path);
    strbuf_addf(t->notes,
                " was changed by the command and cannot be put back (%s): look at it before you "
                "use it\n",
                strerror(error));
}

bool move_aside(int dir, const char *name)
{
    char aside[NAME_MAX + 1];

    for (int i = 0; i < MAX_ASIDE; i++) {
        int n = i ? snprintf(aside, sizeof aside, "%.200s" ASIDE "-%d", name, i)
                  : snprintf(aside, sizeof aside, "%.200s" ASIDE, name);

        if (n >= (int)sizeof aside)
            return false;
        if (renameat2(dir, name, dir, aside, RENAME_NOREPLACE) == 0)
            return true;
        if (errno != EEXIST)
            return false;
    }
    return false;
}

void move_aside_told(const struct teller *t, int dir, const char *name, const char *path)
{
    if (move_aside(dir, name))
        tell(t, path, "was made by the command; it is now called *" ASIDE);
    else
        tell_failure(t, path);
}

bool is_aside(const char *name)
{
    return strstr(name, ASIDE) != NULL;
}
