/* announced.h - commands that announce what they are about to change, as a launcher reports it.
 *
 * A few programs of the shell, line by line: `cp -a a b; rm -rf a && echo x > b/c`. Each system
 * call that changes something is announced first, so that the snapshotter sees what it would see of
 * the real program. Words are separated by blanks; $'...' and quotes are not known. A command that
 * fails ends its list of &&, and nothing else. */
#ifndef KEEL_TEST_UNIT_SNAPSHOT_ANNOUNCED_H
#define KEEL_TEST_UNIT_SNAPSHOT_ANNOUNCED_H

#include "base/strbuf.h"
#include "sys/write_observer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct announcer {
    const char *dir; /* that names are relative to */
    struct write_observer *observer;
    size_t n_notices;
};

/* --- one system call each --- */

static inline const char *absolute(const struct announcer *a, const char *name, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s%s%s", *name == '/' ? "" : a->dir, *name == '/' ? "" : "/", name);
    return path;
}

/* As the kernel would resolve it: the directory's links are followed, the last name's are not. */
static inline const char *resolved(const struct announcer *a, const char *name, char path[PATH_MAX])
{
    char dir[PATH_MAX], text[PATH_MAX], *slash, *real;

    absolute(a, name, text);
    slash = strrchr(text, '/');
    *slash = '\0';
    real = realpath(*text ? text : "/", NULL);
    snprintf(dir, sizeof dir, "%s", real ? real : text);
    free(real);
    snprintf(path, PATH_MAX, "%s/%s", strcmp(dir, "/") == 0 ? "" : dir, slash + 1);
    return path;
}

static inline void announce(struct announcer *a, enum write_kind kind, const char *name,
                            const char *to)
{
    char path[PATH_MAX], other[PATH_MAX];
    struct write_notice notice = {
        .kind = kind, .path = resolved(a, name, path), .to = to ? resolved(a, to, other) : NULL};

    a->n_notices++;
    if (a->observer)
        a->observer->about_to(a->observer, &notice);
}

/* The file that a call which follows links would open. */
static inline const char *followed(const struct announcer *a, const char *name, char path[PATH_MAX])
{
    char text[PATH_MAX];
    ssize_t n;

    snprintf(path, PATH_MAX, "%s", absolute(a, name, text));
    for (int i = 0; i < 40; i++) {
        char link[PATH_MAX], *slash;

        n = readlink(path, link, sizeof link - 1);
        if (n < 0)
            break;
        link[n] = '\0';
        slash = strrchr(path, '/');
        if (*link == '/')
            snprintf(path, PATH_MAX, "%s", link);
        else
            snprintf(slash + 1, (size_t)(PATH_MAX - (slash + 1 - path)), "%s", link);
    }
    return path;
}

static inline bool do_write(struct announcer *a, const char *name, const char *text, int flags)
{
    char path[PATH_MAX];
    int fd;

    followed(a, name, path);
    announce(a, WRITE_CONTENT, path, NULL);
    fd = open(path, O_WRONLY | O_CREAT | O_NONBLOCK | flags, 0666);
    if (fd < 0)
        return false;
    if (write(fd, text, strlen(text)) < 0)
        abort();
    close(fd);
    return true;
}

static inline bool do_chmod(struct announcer *a, const char *name, unsigned mode)
{
    char path[PATH_MAX];

    followed(a, name, path);
    announce(a, WRITE_ATTRIBUTES, path, NULL);
    return chmod(path, mode) == 0;
}

static inline bool do_mkdir(struct announcer *a, const char *name, unsigned mode)
{
    char path[PATH_MAX];

    announce(a, WRITE_NEW_NAME, name, NULL);
    return mkdir(absolute(a, name, path), mode) == 0;
}

static inline bool do_rename(struct announcer *a, const char *from, const char *to)
{
    char path[PATH_MAX], other[PATH_MAX];

    announce(a, WRITE_RENAME, from, to);
    return rename(absolute(a, from, path), absolute(a, to, other)) == 0;
}

static inline bool do_exchange(struct announcer *a, const char *from, const char *to)
{
    char path[PATH_MAX], other[PATH_MAX];

    announce(a, WRITE_EXCHANGE, from, to);
    return renameat2(AT_FDCWD, absolute(a, from, path), AT_FDCWD, absolute(a, to, other),
                     RENAME_EXCHANGE) == 0;
}

static inline bool do_symlink(struct announcer *a, const char *target, const char *name)
{
    char path[PATH_MAX];

    announce(a, WRITE_NEW_NAME, name, NULL);
    return symlink(target, absolute(a, name, path)) == 0;
}

static inline bool do_link(struct announcer *a, const char *old, const char *name)
{
    char path[PATH_MAX], other[PATH_MAX];

    announce(a, WRITE_NEW_NAME, name, old);
    return linkat(AT_FDCWD, absolute(a, old, path), AT_FDCWD, absolute(a, name, other), 0) == 0;
}

static inline bool do_unlink(struct announcer *a, const char *name, int flags)
{
    char path[PATH_MAX];

    announce(a, WRITE_REMOVAL, name, NULL);
    return unlinkat(AT_FDCWD, absolute(a, name, path), flags) == 0;
}

/* --- programs --- */

static inline bool look_at(const struct announcer *a, const char *name, struct stat *st)
{
    char path[PATH_MAX];

    return lstat(absolute(a, name, path), st) == 0;
}

typedef bool announced_visit(struct announcer *a, const char *name, const char *to, unsigned mode);

/* Calls for each name in the directory. */
static inline bool each_in(struct announcer *a, const char *name, const char *to, unsigned mode,
                           announced_visit *visit)
{
    char path[PATH_MAX], child[PATH_MAX], target[PATH_MAX];
    DIR *dir = opendir(absolute(a, name, path));
    const struct dirent *entry;
    bool is_fine = dir != NULL;

    while (dir && (entry = readdir(dir))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(child, sizeof child, "%s/%s", name, entry->d_name);
        snprintf(target, sizeof target, "%s/%s", to ? to : "", entry->d_name);
        is_fine &= visit(a, child, target, mode);
    }
    if (dir)
        closedir(dir);
    return is_fine;
}

static inline bool run_rm(struct announcer *a, const char *name, const char *to, unsigned mode)
{
    struct stat st;

    if (!look_at(a, name, &st))
        return false;
    if (!S_ISDIR(st.st_mode))
        return do_unlink(a, name, 0);
    each_in(a, name, NULL, 0, run_rm);
    return do_unlink(a, name, AT_REMOVEDIR);
}

static inline bool run_chmod(struct announcer *a, const char *name, const char *to, unsigned mode)
{
    struct stat st;

    if (!look_at(a, name, &st) || S_ISLNK(st.st_mode))
        return false;
    if (S_ISDIR(st.st_mode))
        each_in(a, name, NULL, mode, run_chmod);
    return do_chmod(a, name, mode);
}

static inline bool copy_bytes(struct announcer *a, const char *from, const char *to)
{
    char path[PATH_MAX], other[PATH_MAX], bytes[65536];
    int in = open(absolute(a, from, path), O_RDONLY), out = -1;
    ssize_t n;

    if (in < 0)
        return false;
    announce(a, WRITE_CONTENT, to, NULL);
    out = open(absolute(a, to, other), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
    while (out >= 0 && (n = read(in, bytes, sizeof bytes)) > 0)
        if (write(out, bytes, (size_t)n) != n)
            abort();
    close(in);
    if (out >= 0)
        close(out);
    return out >= 0;
}

static inline bool run_cp(struct announcer *a, const char *from, const char *to, unsigned mode)
{
    char path[PATH_MAX], target[PATH_MAX];
    struct stat st, there;
    ssize_t n;

    resolved(a, from, path);
    resolved(a, to, target);
    if (!look_at(a, from, &st) || /* nor into itself */
        (strncmp(target, path, strlen(path)) == 0 && strchr("/", target[strlen(path)])))
        return false;
    if (S_ISLNK(st.st_mode)) {
        n = readlink(absolute(a, from, path), target, sizeof target - 1);
        target[MAX(n, (ssize_t)0)] = '\0';
        if (look_at(a, to, &there) && !do_unlink(a, to, 0))
            return false;
        return do_symlink(a, target, to);
    }
    if (S_ISDIR(st.st_mode)) {
        if (!look_at(a, to, &there) && !do_mkdir(a, to, 0700))
            return false;
        each_in(a, from, to, 0, run_cp);
    } else if (!S_ISREG(st.st_mode) || !copy_bytes(a, from, to)) {
        return false;
    }
    return do_chmod(a, to, st.st_mode & 07777);
}

/* Into a directory, if it is one. */
static inline const char *inside(const struct announcer *a, const char *from, const char *to,
                                 char path[PATH_MAX])
{
    char text[PATH_MAX];
    struct stat st;
    const char *slash = strrchr(from, '/');

    if (stat(absolute(a, to, text), &st) < 0 || !S_ISDIR(st.st_mode))
        return to;
    snprintf(path, PATH_MAX, "%s/%s", to, slash ? slash + 1 : from);
    return path;
}

static inline bool run_mkdir(struct announcer *a, const char *name)
{
    char part[PATH_MAX];
    struct stat st;

    snprintf(part, sizeof part, "%s", name);
    for (char *p = part + 1; (p = strchr(p, '/')); p++) {
        *p = '\0';
        if (!look_at(a, part, &st) && !do_mkdir(a, part, 0777))
            return false;
        *p = '/';
    }
    return look_at(a, part, &st) || do_mkdir(a, part, 0777);
}

/* As sed -i does: another file that takes its name. */
static inline bool run_replace(struct announcer *a, const char *name, const char *text)
{
    char other[PATH_MAX];
    struct stat st;

    snprintf(other, sizeof other, "%s.new", name);
    return look_at(a, name, &st) && do_write(a, other, text, O_TRUNC) &&
           do_chmod(a, other, st.st_mode & 07777) && do_rename(a, other, name);
}

static inline bool run_ln(struct announcer *a, const char *flags, const char *old, const char *name)
{
    struct stat st;

    if (strchr(flags, 'f') && look_at(a, name, &st)) {
        char made[PATH_MAX];

        snprintf(made, sizeof made, "%s.ln", name);
        if (!(strchr(flags, 's') ? do_symlink(a, old, made) : do_link(a, old, made)))
            return false;
        if (do_rename(a, made, name) && !look_at(a, made, &st))
            return true;
        do_unlink(a, made, 0); /* two names of one file, or a directory is in the way */
        return false;
    }
    return strchr(flags, 's') ? do_symlink(a, old, name) : do_link(a, old, name);
}

static inline bool run_touch(struct announcer *a, const char *name)
{
    return do_write(a, name, "", 0);
}

/* --- lines --- */

static inline bool run_words(struct announcer *a, char **w, size_t n)
{
    char path[PATH_MAX], other[PATH_MAX];
    const char *flags = n > 1 && w[1][0] == '-' ? w[1] : "";
    size_t i = *flags ? 2 : 1;
    bool is_fine = true;

    if (n > 2 && (strcmp(w[n - 2], ">") == 0 || strcmp(w[n - 2], ">>") == 0)) {
        snprintf(path, sizeof path, "%s\n", n > 3 ? w[1] : "");
        return do_write(a, w[n - 1], strcmp(w[0], ":") == 0 ? "" : path,
                        w[n - 2][1] ? O_APPEND : O_TRUNC);
    }
    if (strcmp(w[0], "true") == 0)
        return true;
    if (strcmp(w[0], "rm") == 0 || strcmp(w[0], "mkdir") == 0 || strcmp(w[0], "touch") == 0 ||
        strcmp(w[0], "mkfifo") == 0) {
        for (; i < n; i++) {
            if (strcmp(w[0], "rm") == 0)
                is_fine &= run_rm(a, w[i], NULL, 0) || strchr(flags, 'f');
            else if (strcmp(w[0], "mkdir") == 0)
                is_fine &= run_mkdir(a, w[i]);
            else if (strcmp(w[0], "touch") == 0)
                is_fine &= run_touch(a, w[i]);
            else
                announce(a, WRITE_NEW_NAME, w[i], NULL), mkfifo(absolute(a, w[i], path), 0666);
        }
        return is_fine;
    }
    if (strcmp(w[0], "mv") == 0)
        return do_rename(a, w[i],
                         strcmp(flags, "-T") == 0 ? w[i + 1] : inside(a, w[i], w[i + 1], path));
    if (strcmp(w[0], "exch") == 0)
        return do_exchange(a, w[1], w[2]);
    if (strcmp(w[0], "cp") == 0)
        return run_cp(a, w[i], inside(a, w[i], w[i + 1], other), 0);
    if (strcmp(w[0], "ln") == 0)
        return run_ln(a, flags, w[i], w[i + 1]);
    if (strcmp(w[0], "replace") == 0)
        return run_replace(a, w[1], n > 2 ? w[2] : "");
    if (strcmp(w[0], "truncate") == 0) {
        announce(a, WRITE_CONTENT, w[1], NULL);
        return truncate(absolute(a, w[1], path), 1) == 0;
    }
    if (strcmp(w[0], "chmod") == 0) {
        unsigned mode = (unsigned)strtoul(w[i], NULL, 8);

        return strcmp(flags, "-R") == 0 ? run_chmod(a, w[i + 1], NULL, mode)
                                        : do_chmod(a, w[i + 1], mode);
    }
    fprintf(stderr, "unknown command: %s\n", w[0]);
    abort();
}

static inline bool run_simple(struct announcer *a, char *text)
{
    char *words[64], *word, *rest = text;
    size_t n = 0;

    while ((word = strsep(&rest, " ")))
        if (*word && n < ARRAY_LEN(words))
            words[n++] = word;
    return n == 0 || run_words(a, words, n);
}

static inline void run_announced(struct announcer *a, const char *line)
{
    char *copy = strdup(line), *rest = copy, *list;

    while ((list = strsep(&rest, ";\n"))) {
        char *end;

        while ((end = strstr(list, "&&"))) {
            *end = '\0';
            if (!run_simple(a, list))
                break;
            list = end + 2;
        }
        if (!end)
            run_simple(a, list);
    }
    free(copy);
}

#endif
