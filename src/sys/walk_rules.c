/* walk_rules.c - finds and reads the rule files of a walk. */
#include "sys/walk_rules.h"

#include "sys/locked_file.h"
#include "sys/open_plain.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_RULE_BYTES ((size_t)1 << 20) /* of one file; the rest is not read */
#define MAX_POINTER_BYTES 8192           /* of a file that names a directory of git's */

struct walk_rules {
    atomic_uint n_refs;
    struct walk_rules *above;
    struct ignore *dot_ignore, *git_ignore, *git_exclude; /* or NULL */
    bool is_repository; /* git's rules from above do not count here */
};

struct walk_rules *walk_rules_ref(struct walk_rules *r)
{
    if (r)
        atomic_fetch_add(&r->n_refs, 1);
    return r;
}

void walk_rules_unref(struct walk_rules *r)
{
    while (r && atomic_fetch_sub(&r->n_refs, 1) == 1) {
        struct walk_rules *above = r->above;

        ignore_free(r->dot_ignore);
        ignore_free(r->git_ignore);
        ignore_free(r->git_exclude);
        mem_free(r);
        r = above;
    }
}

/* --- reading --- */

static bool read_up_to(int fd, size_t max_bytes, struct strbuf *out)
{
    char *at = strbuf_reserve(out, max_bytes);
    size_t n = 0;
    ssize_t got = 1;

    while (at && n < max_bytes && got > 0) {
        got = read(fd, at + n, max_bytes - n);
        n += got > 0 ? (size_t)got : 0;
    }
    strbuf_grew(out, n);
    return got >= 0;
}

/* Reads the start of a regular file; like git, it follows no link. */
static bool read_file_at(int dir_fd, const char *name, size_t max_bytes, struct strbuf *out)
{
    int fd =
        locked_file_openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    struct stat st;
    bool is_fine;

    if (fd < 0)
        return false;
    is_fine = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
              read_up_to(fd, MIN(max_bytes, (size_t)st.st_size), out);
    close(fd);
    return is_fine;
}

static struct ignore *read_rules(int dir_fd, const char *name, struct str base)
{
    AUTO(strbuf) struct strbuf text = {0};

    if (!read_file_at(dir_fd, name, MAX_RULE_BYTES, &text))
        return NULL;
    return ignore_new(base, strbuf_str(&text), /* nocase= */ false);
}

/* In a linked work tree or a submodule .git is a file that names the directory. */
static int open_pointed_dir(int dir_fd, const char *name, const char *word)
{
    AUTO(strbuf) struct strbuf text = {0};
    AUTO_FREE char *path = NULL;
    struct str line;

    if (!read_file_at(dir_fd, name, MAX_POINTER_BYTES, &text))
        return -1;
    line = str_trim(strbuf_str(&text));
    if (!str_starts(line, str_of(word)))
        return -1;
    path = str_dup(str_trim(str_skip(line, strlen(word))));
    return openat(dir_fd, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static int open_git_dir(int dir_fd, bool is_dir)
{
    int fd = is_dir ? openat(dir_fd, ".git", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                    : open_pointed_dir(dir_fd, ".git", "gitdir:");
    int common = fd < 0 ? -1 : open_pointed_dir(fd, "commondir", "");

    if (common < 0)
        return fd;
    close(fd);
    return common;
}

/* Does a repository begin here? */
static bool find_git(int dir_fd, bool *ret_is_dir)
{
    struct stat st;

    if (fstatat(dir_fd, ".git", &st, AT_SYMLINK_NOFOLLOW) < 0)
        return false;
    *ret_is_dir = S_ISDIR(st.st_mode);
    return S_ISDIR(st.st_mode) || S_ISREG(st.st_mode);
}

static struct ignore *read_exclude(int dir_fd, bool git_is_dir, struct str base)
{
    int git_fd = open_git_dir(dir_fd, git_is_dir);
    struct ignore *rules;

    if (git_fd < 0)
        return NULL;
    rules = read_rules(git_fd, "info/exclude", base);
    close(git_fd);
    return rules;
}

struct walk_rules *walk_rules_enter(struct walk_rules *above, int dir_fd, struct str base)
{
    struct walk_rules found = {0}, *r;
    bool git_is_dir = false;

    found.dot_ignore = read_rules(dir_fd, ".ignore", base);
    found.git_ignore = read_rules(dir_fd, ".gitignore", base);
    found.is_repository = find_git(dir_fd, &git_is_dir);
    if (found.is_repository)
        found.git_exclude = read_exclude(dir_fd, git_is_dir, base);
    if (!found.dot_ignore && !found.git_ignore && !found.is_repository)
        return walk_rules_ref(above);

    r = mem_copy(&found, sizeof found);
    atomic_init(&r->n_refs, 1);
    r->above = walk_rules_ref(above);
    return r;
}

/* --- above the root --- */

static bool is_repository(const char *path)
{
    int fd = open_plain(path, O_PATH | O_DIRECTORY);
    bool is_dir, found;

    if (fd < 0)
        return false;
    found = find_git(fd, &is_dir);
    close(fd);
    return found;
}

/* The length of the path of the repository that `path` is in, or STR_NONE. */
static size_t find_top(char *path)
{
    for (size_t n = strlen(path); n > 0;) {
        char saved = path[n];
        bool found;
        size_t slash;

        path[n] = '\0';
        found = is_repository(path);
        slash = str_rfind_char(str_make(path, n), '/');
        path[n] = saved;
        if (found)
            return n;
        n = slash == STR_NONE ? 0 : slash; /* "/" itself is not a repository */
    }
    return STR_NONE;
}

static struct walk_rules *enter_path(struct walk_rules *above, const char *path, struct str base)
{
    int fd = open_plain(path, O_PATH | O_DIRECTORY);
    struct walk_rules *r;

    if (fd < 0)
        return walk_rules_ref(above);
    r = walk_rules_enter(above, fd, base);
    close(fd);
    return r;
}

struct walk_rules *walk_rules_above(const char *root, bool is_canonical, struct strbuf *ret_prefix)
{
    char *path = is_canonical ? mem_strdup(root) : realpath(root, NULL);
    size_t n_path = path ? strlen(path) : 0, n_top = path ? find_top(path) : STR_NONE;
    struct walk_rules *r = NULL;

    /* from the top down to the parent of the root */
    for (size_t n = n_top; n < n_path; n++) {
        struct walk_rules *above = r;

        if (path[n] != '/')
            continue;
        path[n] = '\0';
        r = enter_path(above, path, str_make(path + n_top + (n > n_top), n - n_top - (n > n_top)));
        path[n] = '/';
        walk_rules_unref(above);
    }
    if (n_top < n_path) {
        strbuf_add_cstr(ret_prefix, path + n_top + 1);
        strbuf_add_char(ret_prefix, '/');
    }
    free(path);
    return r;
}

/* --- asking --- */

/* What one directory says of a path that git may ignore. */
static enum ignore_verdict check_git(const struct walk_rules *r, struct str path, bool is_dir)
{
    enum ignore_verdict verdict = IGNORE_NO_RULE;

    if (r->git_ignore)
        verdict = ignore_check(r->git_ignore, path, is_dir);
    if (verdict == IGNORE_NO_RULE && r->git_exclude)
        verdict = ignore_check(r->git_exclude, path, is_dir);
    return verdict;
}

enum ignore_verdict walk_rules_check(const struct walk_rules *r, struct str path, bool is_dir)
{
    enum ignore_verdict by_git = IGNORE_NO_RULE;
    bool git_counts = true;

    for (; r; r = r->above) {
        enum ignore_verdict verdict =
            r->dot_ignore ? ignore_check(r->dot_ignore, path, is_dir) : IGNORE_NO_RULE;

        if (verdict != IGNORE_NO_RULE)
            return verdict;
        if (git_counts && by_git == IGNORE_NO_RULE)
            by_git = check_git(r, path, is_dir);
        git_counts = git_counts && !r->is_repository;
    }
    return by_git;
}
