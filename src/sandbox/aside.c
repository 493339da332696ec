/* aside.c - renames what is not to be trusted. */
#include "sandbox/aside.h"

#include "sys/random.h"
#include "sys/unlock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

enum {
    MAX_TOLD = 50,  /* paths of which the same is said */
    N_NUMBERED = 5, /* names that are tried first */
    MAX_NAMES = 10,
};

/* --- telling --- */

/* Names come from the command: a line is a line, and a terminal is not told to do anything. */
static void add_path(const struct teller *t, const char *path)
{
    strbuf_addf(t->notes, "%s%s", t->root, *path ? "/" : "");
    for (; *path; path++)
        strbuf_add_char(t->notes, (unsigned char)*path < ' ' || *path == 0x7f ? '?' : *path);
}

static size_t count_told(const struct strbuf *notes, struct str what)
{
    struct str rest = strbuf_str(notes), line;
    size_t n = 0;

    while (rest.n) {
        str_split(&rest, '\n', &line);
        n += str_ends(line, what);
    }
    return n;
}

/* A command can make thousands of such names. They must neither fill a screen nor hide what else
 * there is to say, so each thing is said of a limited number of paths. */
void tell(const struct teller *t, const char *path, const char *what)
{
    size_t n = count_told(t->notes, str_of(what));

    if (n > MAX_TOLD)
        return;
    if (n < MAX_TOLD)
        add_path(t, path);
    else
        strbuf_addf(t->notes, "further paths in %s are not listed: each", t->root);
    strbuf_addf(t->notes, " %s\n", what);
}

void tell_failure(const struct teller *t, const char *path)
{
    AUTO(strbuf) struct strbuf what = {0};

    strbuf_addf(&what,
                "was changed by the command, and keel cannot restore it (%s): check it before you "
                "use it",
                strerror(errno));
    tell(t, path, strbuf_cstr(&what));
}

/* --- renaming --- */

/* A command can take any name that it can guess. */
static uint64_t choose_number(int attempt)
{
    return attempt < N_NUMBERED ? (uint64_t)attempt : random_uint64(&random_system);
}

static bool rename_aside(int dir, const char *name, int to)
{
    char aside[NAME_MAX + 1];

    for (int i = 0; i < MAX_NAMES; i++) {
        int n =
            i ? snprintf(aside, sizeof aside, "%.200s" ASIDE "-%" PRIu64, name, choose_number(i))
              : snprintf(aside, sizeof aside, "%.200s" ASIDE, name);

        if (n >= (int)sizeof aside)
            return false;
        if (renameat2(dir, name, to, aside, RENAME_NOREPLACE) == 0)
            return true;
        if (errno != EEXIST)
            return false;
    }
    return false;
}

/* A directory that gets another one above it must be writable, too. */
static bool unlock_itself(const struct teller *t, int dir, const char *name)
{
    int fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    bool done = fd >= 0 && unlocks_add(t->unlocks, fd);

    if (fd >= 0)
        close(fd);
    return done;
}

static bool move_to(const struct teller *t, int dir, const char *name, int to)
{
    bool is_unlocked;

    if (rename_aside(dir, name, to))
        return true;
    if (errno != EACCES)
        return false;
    is_unlocked = unlocks_add(t->unlocks, dir);
    is_unlocked |= unlocks_add(t->unlocks, to);
    if (dir != to)
        is_unlocked |= unlock_itself(t, dir, name);
    errno = EACCES;
    return is_unlocked && rename_aside(dir, name, to);
}

bool move_aside(const struct teller *t, int dir, const char *name)
{
    return move_to(t, dir, name, dir);
}

void move_aside_told(const struct teller *t, int dir, const char *name, const char *path)
{
    move_out_told(t, dir, name, dir, path);
}

void move_out_told(const struct teller *t, int dir, const char *name, int to, const char *path)
{
    if (move_to(t, dir, name, to))
        tell(t, path, "was created by the command; keel renamed it by appending " ASIDE);
    else
        tell_failure(t, path);
}

/* With or without a number. */
bool is_aside(const char *name)
{
    size_t n = strlen(name), n_digits = 0;

    while (n_digits < n && name[n - 1 - n_digits] >= '0' && name[n - 1 - n_digits] <= '9')
        n_digits++;
    if (n_digits && n_digits < n && name[n - 1 - n_digits] == '-')
        n -= n_digits + 1;
    return str_ends(str_make(name, n), S(ASIDE));
}
