/* git_dir.c - repositories that a command has made. */
#include "sandbox/guard/git_dir.h"

#include "base/git_config.h"
#include "sandbox/guard/git_named.h"
#include "sandbox/guard/open_below.h"
#include "sandbox/guard/quarantine.h"
#include "sys/locked_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum {
    MAX_CONFIG_BYTES = 4096, /* of a new repository; git itself writes some hundred */
    MAX_LEAD_BYTES = 4096,
};

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* At most `room` bytes of a file; STR_NONE when it is none, or longer, or linked elsewhere. */
static size_t read_file(int dir, const char *name, char *bytes, size_t room)
{
    int fd = locked_file_openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    struct stat st;
    ssize_t n = -1;

    if (fd < 0)
        return STR_NONE;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        n = read(fd, bytes, room);
    close(fd);
    return n < 0 || (size_t)n == room ? STR_NONE : (size_t)n;
}

/* --- where it is --- */

/* Puts `text` behind the directory in `path`. Only a run of ".." at its beginning goes up: behind a
 * name, ".." is where a link of that name says. */
static bool join(struct strbuf *path, struct str text)
{
    bool has_name = false;
    struct str part;

    while (str_split(&text, '/', &part)) {
        if (part.n == 0 || str_is(part, "."))
            continue;
        if (str_is(part, "..")) {
            size_t n = str_rfind_char(strbuf_str(path), '/');

            if (has_name || path->n == 0)
                return false;
            strbuf_cut(path, n == STR_NONE ? 0 : n);
            continue;
        }
        has_name = true;
        strbuf_addf(path, "%s%" STR_FMT, path->n ? "/" : "", STR_ARG(part));
    }
    return true;
}

/* The text of a file that leads somewhere. */
static bool read_lead(const struct survey *s, const char *path, const char *name,
                      struct strbuf *lead)
{
    char bytes[MAX_LEAD_BYTES];
    int dir = below_open_dir(s->fd, path, s->unlocks);
    size_t n = dir >= 0 ? read_file(dir, name, bytes, sizeof bytes) : STR_NONE;

    if (dir >= 0)
        close(dir);
    if (n == STR_NONE || memchr(bytes, 0, n))
        return false;
    while (n && (bytes[n - 1] == '\n' || bytes[n - 1] == '\r'))
        n--;
    strbuf_add(lead, str_make(bytes, n));
    return true;
}

char *git_dir_resolve(const struct survey *s, const char *path, const char *name)
{
    AUTO(strbuf) struct strbuf lead = {0}, found = {0};
    size_t n_root = strlen(s->root);
    struct str text;
    int dir;

    if (!read_lead(s, path, name, &lead))
        return NULL;
    text = strbuf_str(&lead);
    if (strcmp(name, ".git") == 0) {
        if (!str_starts(text, S("gitdir: ")))
            return NULL;
        text = str_skip(text, 8);
    }
    if (str_starts(text, S("/"))) {
        if (!str_starts(text, str_of(s->root)) || text.n <= n_root || text.p[n_root] != '/')
            return NULL;
        path = "";
        text = str_skip(text, n_root + 1);
    }
    strbuf_add_cstr(&found, path);
    if (!join(&found, text))
        return NULL;
    dir = below_open_dir(s->fd, strbuf_cstr(&found), s->unlocks);
    if (dir < 0)
        return NULL;
    close(dir);
    return mem_strdup(strbuf_cstr(&found));
}

/* --- what is in a new one --- */

struct check {
    const struct survey *survey;
    struct guard_report report;
    char **shut; /* paths */
    size_t n_shut;
};

static void add_path_in(struct strbuf *path, const char *directory, const char *name)
{
    strbuf_addf(path, "%s%s%s", directory, *directory ? "/" : "", name);
}

static void put_aside(struct check *c, int dir, const char *directory, const char *name)
{
    AUTO(strbuf) struct strbuf path = {0};

    add_path_in(&path, directory, name);
    quarantine_named(&c->report, dir, name, strbuf_cstr(&path));
}

static bool is_there(int dir, const char *name, mode_t *ret_type)
{
    struct stat st;

    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return false;
    *ret_type = st.st_mode & S_IFMT;
    return true;
}

static bool is_sample(const char *name)
{
    return is_dots(name) || is_quarantined(name) || str_ends(str_of(name), S(".sample"));
}

/* All but the samples; all of it where it cannot be listed. */
static void check_hooks(struct check *c, int git_dir, const char *path)
{
    AUTO(strbuf) struct strbuf hooks = {0};
    const struct dirent *entry;
    DIR *d;
    int fd;

    add_path_in(&hooks, path, "hooks");
    fd = below_open_dir(c->survey->fd, strbuf_cstr(&hooks), c->survey->unlocks);
    d = fd >= 0 ? fdopendir(fd) : NULL;
    if (!d)
        put_aside(c, git_dir, path, "hooks");
    while (d && (entry = readdir(d)))
        if (!is_sample(entry->d_name))
            put_aside(c, dirfd(d), strbuf_cstr(&hooks), entry->d_name);
    if (d)
        closedir(d);
    else if (fd >= 0)
        close(fd);
}

/* One that is linked to another name could be changed by that name. */
static bool is_plain_config(int dir, const char *name)
{
    char text[MAX_CONFIG_BYTES];
    size_t n = read_file(dir, name, text, sizeof text);
    struct stat st;

    return n != STR_NONE && git_config_is_plain(str_make(text, n)) &&
           fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_nlink <= 1;
}

static bool is_dot_git(const char *path)
{
    const char *slash = strrchr(path, '/');

    return strcmp(slash ? slash + 1 : path, ".git") == 0;
}

static bool is_known_git_dir(const struct survey *s, const char *path)
{
    const struct directory *d = survey_find(s, path);

    return d && names_are_git_dir(survey_names_before(s, d));
}

static bool has_hooks(const struct survey *s, int git_dir, const char *path)
{
    AUTO(strbuf) struct strbuf hooks = {0};
    const struct dirent *entry;
    bool has_one = false;
    mode_t type;
    DIR *d;
    int fd;

    if (!is_there(git_dir, "hooks", &type))
        return false;
    add_path_in(&hooks, path, "hooks");
    fd = below_open_dir(s->fd, strbuf_cstr(&hooks), s->unlocks);
    d = fd >= 0 ? fdopendir(fd) : NULL;
    while (d && !has_one && (entry = readdir(d)))
        has_one = !is_sample(entry->d_name);
    if (!d && fd >= 0)
        close(fd);
    if (!d)
        return true;
    closedir(d);
    return has_one;
}

/* Nothing in it makes git run something, or leads on to another. */
static bool is_plain_git_dir(const struct survey *s, int dir, const char *path)
{
    mode_t type;

    return is_plain_config(dir, "config") && !is_there(dir, "config.worktree", &type) &&
           !is_there(dir, "commondir", &type) && !has_hooks(s, dir, path);
}

/* May a file that the command has made lead to it, from the working tree `top`? Inside a ".git" it
 * has always been git's. Others may be files of a repository that was cloned, and nobody has looked
 * at them. */
static bool may_be_led_to(const struct survey *s, const char *path, const char *top)
{
    bool is_plain;
    int dir;

    if (!is_known_git_dir(s, path) || git_dir_names_any_in(s, path, top))
        return false;
    if (strncmp(path, ".git/", 5) == 0 || strstr(path, "/.git/") || is_dot_git(path))
        return true;
    dir = below_open_dir(s->fd, path, s->unlocks);
    is_plain = dir >= 0 && is_plain_git_dir(s, dir, path);
    if (dir >= 0)
        close(dir);
    return is_plain;
}

static void check_git_dir(struct check *c, const char *path, const char *top);

/* Further working trees have one, and share all else with the repository that it leads to. */
static void check_commondir(struct check *c, int dir, const char *path, const char *top)
{
    AUTO_FREE char *common = git_dir_resolve(c->survey, path, "commondir");
    const struct directory *d;

    if (common) {
        if (may_be_led_to(c->survey, common, top))
            return;
        d = survey_find(c->survey, common);
        if (d && survey_is_new(c->survey, d) && strcmp(common, path) != 0 &&
            !(d->names & GIT_NAME_COMMONDIR)) {
            check_git_dir(c, common, top);
            return;
        }
    }
    put_aside(c, dir, path, "commondir");
}

/* To be searched. What cannot be is not looked at, so it goes aside; unless it is gone. */
static int open_to_check(struct check *c, const char *path)
{
    int dir = below_open_dir(c->survey->fd, path, c->survey->unlocks), above;
    const char *name;

    if (dir >= 0 || errno == ENOENT || errno == ENOTDIR || errno == ELOOP)
        return dir;
    above = *path ? below_open_parent(c->survey->fd, path, &name, c->survey->unlocks) : -1;
    if (above < 0) {
        guard_report_failure(&c->report, path);
        return -1;
    }
    quarantine_named(&c->report, above, name, path);
    close(above);
    return -1;
}

/* What the settings of all repositories name in it. */
static void put_named_aside(void *self, const char *named)
{
    struct check *c = self;
    AUTO(strbuf) struct strbuf path = {0};
    const char *name;
    mode_t type;
    int dir = join(&path, str_of(named)) && path.n
                  ? below_open_parent(c->survey->fd, strbuf_cstr(&path), &name, c->survey->unlocks)
                  : -1;

    if (dir >= 0 && is_there(dir, name, &type))
        quarantine_named(&c->report, dir, name, strbuf_cstr(&path));
    if (dir >= 0)
        close(dir);
}

/* A new one, whose working tree is `top`. */
static void check_git_dir(struct check *c, const char *path, const char *top)
{
    static const char *const configs[] = {"config", "config.worktree"};
    int dir = open_to_check(c, path);
    mode_t type;

    if (dir < 0)
        return;
    if (is_there(dir, "hooks", &type)) {
        if (type == S_IFDIR)
            check_hooks(c, dir, path);
        else
            put_aside(c, dir, path, "hooks");
    }
    if (is_there(dir, "sl", &type)) /* with settings of Sapling's own */
        put_aside(c, dir, path, "sl");
    for (size_t i = 0; i < ARRAY_LEN(configs); i++)
        if (is_there(dir, configs[i], &type) && !is_plain_config(dir, configs[i]))
            put_aside(c, dir, path, configs[i]);
    if (is_there(dir, "commondir", &type))
        check_commondir(c, dir, path, top);
    close(dir);
    git_global_each_in(c->survey, top, put_named_aside, c);
}

/* --- which are new --- */

/* A file that says where the git directory is, as submodules and working trees have. */
static void check_git_file(struct check *c, int dir, const char *path)
{
    AUTO_FREE char *git_dir = git_dir_resolve(c->survey, path, ".git");
    const struct directory *d;

    if (git_dir) {
        if (may_be_led_to(c->survey, git_dir, path)) {
            git_global_each_in(c->survey, path, put_named_aside, c);
            return;
        }
        d = survey_find(c->survey, git_dir);
        if (d && survey_is_new(c->survey, d)) {
            check_git_dir(c, git_dir, path);
            return;
        }
    }
    put_aside(c, dir, path, ".git");
}

static void check_dot_git(struct check *c, const char *path)
{
    int dir = open_to_check(c, path);
    AUTO(strbuf) struct strbuf git_dir = {0};
    mode_t type;

    if (dir < 0)
        return;
    add_path_in(&git_dir, path, ".git");
    if (is_there(dir, ".git", &type)) {
        if (type == S_IFDIR)
            check_git_dir(c, strbuf_cstr(&git_dir), path);
        else if (type == S_IFREG)
            check_git_file(c, dir, path);
        else
            put_aside(c, dir, path, ".git");
    }
    close(dir);
}

/* The names that make it a repository and were not there. */
static void unmake(struct check *c, const struct directory *d, unsigned before)
{
    int dir = open_to_check(c, d->path);

    for (unsigned i = 1; dir >= 0 && i < N_GIT_NAMES; i++)
        if (d->names & ~before & 1u << i)
            put_aside(c, dir, d->path, git_names[i]);
    if (dir >= 0)
        close(dir);
}

/* What the last look could not look into, and what came or changed since no command ran. */
static void check_shut(void *self, const struct watched_dir *dir, enum dir_shut why)
{
    struct check *c = self;
    struct strbuf path = {0};

    if (watched_dir_changed(dir) <= c->survey->before_version)
        return;
    watched_dir_path(dir, &path);
    c->shut = mem_resize(c->shut, (c->n_shut + 1) * sizeof *c->shut);
    c->shut[c->n_shut++] = strbuf_take(&path);
}

static void put_shut_aside(struct check *c)
{
    dir_watch_each_shut(c->survey->watch, check_shut, c);
    for (size_t i = 0; i < c->n_shut; i++) {
        const char *name;
        int above = below_open_parent(c->survey->fd, c->shut[i], &name, c->survey->unlocks);

        if (above >= 0 && quarantine(&c->report, above, name))
            guard_report_path(&c->report, c->shut[i],
                              "cannot be read; keel renamed it by appending " QUARANTINE_SUFFIX);
        else if (above < 0 || errno != ENOENT)
            guard_report_failure(&c->report, c->shut[i]);
        if (above >= 0)
            close(above);
        mem_free(c->shut[i]);
    }
    mem_free(c->shut);
}

void git_dirs_check_new(const struct survey *s, struct strbuf *notes)
{
    struct check c = {s, {s->root, notes, s->unlocks}};

    for (size_t i = 0; i < s->now.n; i++) {
        const struct directory *d = &s->now.items[i];
        unsigned before = survey_names_before(s, d);

        if (d->names & ~before & GIT_NAME_DOT_GIT)
            check_dot_git(&c, d->path);
        if (!names_are_git_dir(d->names) || names_are_git_dir(before))
            continue;
        if (survey_is_new(s, d))
            check_git_dir(&c, d->path, d->path);
        else if (!is_dot_git(d->path)) /* whose configuration is protected in any case */
            unmake(&c, d, before);
    }
    put_shut_aside(&c);
}
