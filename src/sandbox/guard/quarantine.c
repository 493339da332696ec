/* quarantine.c - renames what is not to be trusted. */
#include "sandbox/guard/quarantine.h"

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
static void add_path(const struct guard_report *r, const char *path)
{
    strbuf_addf(r->notes, "%s%s", r->root, *path ? "/" : "");
    for (; *path; path++)
        strbuf_add_char(r->notes, (unsigned char)*path < ' ' || *path == 0x7f ? '?' : *path);
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
void guard_report_path(const struct guard_report *r, const char *path, const char *what)
{
    size_t n = count_told(r->notes, str_of(what));

    if (n > MAX_TOLD)
        return;
    if (n < MAX_TOLD)
        add_path(r, path);
    else
        strbuf_addf(r->notes, "further paths in %s are not listed: each", r->root);
    strbuf_addf(r->notes, " %s\n", what);
}

void guard_report_failure(const struct guard_report *r, const char *path)
{
    AUTO(strbuf) struct strbuf what = {0};

    strbuf_addf(&what,
                "was changed by the command, and keel cannot restore it (%s): check it before you "
                "use it",
                strerror(errno));
    guard_report_path(r, path, strbuf_cstr(&what));
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
        int n = i ? snprintf(aside, sizeof aside, "%.200s" QUARANTINE_SUFFIX "-%" PRIu64, name,
                             choose_number(i))
                  : snprintf(aside, sizeof aside, "%.200s" QUARANTINE_SUFFIX, name);

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
static bool unlock_itself(const struct guard_report *r, int dir, const char *name)
{
    int fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    bool done = fd >= 0 && unlocks_add(r->unlocks, fd);

    if (fd >= 0)
        close(fd);
    return done;
}

static bool move_to(const struct guard_report *r, int dir, const char *name, int to)
{
    bool is_unlocked;

    if (rename_aside(dir, name, to))
        return true;
    if (errno != EACCES)
        return false;
    is_unlocked = unlocks_add(r->unlocks, dir);
    is_unlocked |= unlocks_add(r->unlocks, to);
    if (dir != to)
        is_unlocked |= unlock_itself(r, dir, name);
    errno = EACCES;
    return is_unlocked && rename_aside(dir, name, to);
}

bool quarantine(const struct guard_report *r, int dir, const char *name)
{
    return move_to(r, dir, name, dir);
}

void quarantine_named(const struct guard_report *r, int dir, const char *name, const char *path)
{
    quarantine_elsewhere(r, dir, name, dir, path);
}

void quarantine_elsewhere(const struct guard_report *r, int dir, const char *name, int to,
                          const char *path)
{
    if (move_to(r, dir, name, to))
        guard_report_path(
            r, path, "was created by the command; keel renamed it by appending " QUARANTINE_SUFFIX);
    else
        guard_report_failure(r, path);
}

/* With or without a number. */
bool is_quarantined(const char *name)
{
    size_t n = strlen(name), n_digits = 0;

    while (n_digits < n && name[n - 1 - n_digits] >= '0' && name[n - 1 - n_digits] <= '9')
        n_digits++;
    if (n_digits && n_digits < n && name[n - 1 - n_digits] == '-')
        n -= n_digits + 1;
    return str_ends(str_make(name, n), S(QUARANTINE_SUFFIX));
}
