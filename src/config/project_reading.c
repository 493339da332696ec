/* project_reading.c - reads files of a project, through no link that leads out of it. */
#include "config/project_reading.h"

#include "base/utf8.h"
#include "sys/auto_fd.h"
#include "sys/fs.h"
#include "sys/open_below.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <sys/stat.h>

/* Files that other programs write while they work. */
static const char *const not_read[] = {".robota/sessions"};

struct project_reading project_reading_begin(struct arena *a, const struct project_place *place,
                                             struct project_files *files)
{
    int fd = place->dir ? open(place->dir, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    struct project_reading r = {.arena = a, .place = place, .files = files, .fd = fd};

    *files = (struct project_files){0};
    r.dirs[0] = place->dir;
    r.dirs[1] = fd < 0 ? NULL : fs_resolve(a, place->dir);
    return r;
}

void project_reading_done(struct project_reading *r)
{
    close_fd(&r->fd);
}

const char *project_join(struct arena *a, const char *dir, const char *name)
{
    return *dir ? fs_join(a, dir, name) : name;
}

void project_reading_refuse(struct project_reading *r, const char *problem)
{
    if (!r->files->problem)
        r->files->problem = problem;
}

/* --- one file --- */

static struct err *digest_fd(int fd, const char *name, char hex[SHA256_HEX_SIZE])
{
    unsigned char digest[SHA256_SIZE];
    char buffer[1 << 16];
    struct sha256 h;
    ssize_t n;

    sha256_init(&h);
    while ((n = read(fd, buffer, sizeof buffer)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_errno(ERR_STORAGE, errno, "cannot read %s", name);
        if (h.n_bytes > PROJECT_MAX_BYTES)
            return err_new(ERR_VALIDATION, "%s grew while keel read it", name);
        sha256_add(&h, str_make(buffer, (size_t)n));
    }
    sha256_end(&h, digest);
    sha256_format_hex(digest, hex);
    return NULL;
}

/* The digest is that of the bytes that were read, not of a later file. */
static struct err *read_content(struct arena *a, int fd, struct project_file *f, size_t max_bytes)
{
    AUTO(strbuf) struct strbuf text;

    strbuf_init(&text, max_bytes);
    TRY(fs_read_fd(fd, f->name, &text));
    f->content = arena_str(a, strbuf_str(&text));
    f->n_bytes = f->content.n;
    sha256_hex(f->content, f->digest);
    return NULL;
}

static struct err *read_fd(struct project_reading *r, int fd, struct project_file *f)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return err_errno(ERR_STORAGE, errno, "cannot read %s", f->name);
    f->is_executable = st.st_mode & S_IXUSR;
    if (f->kind == PROJECT_SETTINGS)
        return read_content(r->arena, fd, f, PROJECT_MAX_SETTINGS_BYTES);
    if (!S_ISREG(st.st_mode) || st.st_size <= (off_t)PROJECT_MAX_KEPT_BYTES)
        return read_content(r->arena, fd, f, PROJECT_MAX_KEPT_BYTES);
    f->n_bytes = (uint64_t)st.st_size;
    if (r->n_bytes + f->n_bytes > PROJECT_MAX_BYTES)
        return err_new(ERR_VALIDATION, "%s is too large to check", f->name);
    return digest_fd(fd, f->name, f->digest);
}

static struct err *open_error(int error, const char *name)
{
    if (error == EXDEV || error == ELOOP)
        return err_new(ERR_STORAGE, "cannot read %s: it is a link to a place outside the project",
                       name);
    return fs_open_error(error, name);
}

/* Finds the part of a path that is a link out of the project, and its target. */
static bool read_link_out(struct project_reading *r, struct project_file *f)
{
    char *name = arena_cstr(r->arena, str_of(f->name));
    size_t n = strlen(name);

    for (size_t i = 1; i <= n; i++) {
        char was = name[i], target[PATH_MAX];
        AUTO_FD link = -1;
        ssize_t size;

        if (was && was != '/')
            continue;
        name[i] = 0;
        link = open_inside(r->fd, name, O_PATH);
        if (link >= 0 || errno != EXDEV) {
            name[i] = was;
            continue;
        }
        size = readlinkat(r->fd, name, target, sizeof target);
        if (size <= 0)
            return false;
        f->name = name;
        f->is_link = true;
        f->content = arena_str(r->arena, str_make(target, (size_t)size));
        f->n_bytes = f->content.n;
        sha256_hex(f->content, f->digest);
        return true;
    }
    return false;
}

/* A word of a command can be longer than any name. */
static bool is_absence(int error)
{
    return error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG;
}

/* Is nothing there, also at the target of a link out of the project? */
static bool is_absent(const struct project_reading *r, const char *name, int error)
{
    struct stat st;

    return is_absence(error) ||
           (error == EXDEV && fstatat(r->fd, name, &st, 0) < 0 && is_absence(errno));
}

/* False: no such file. */
static bool read_one(struct project_reading *r, struct project_file *f)
{
    AUTO_FD fd = open_inside(r->fd, f->name, FS_READ_FLAGS);
    int error = errno;
    struct err *e = NULL;

    if (fd < 0 && is_absent(r, f->name, error))
        return false;
    if (fd < 0) {
        if (f->kind == PROJECT_NAMED && error == EXDEV && read_link_out(r, f))
            return true;
        e = open_error(error, f->name);
    } else {
        e = read_fd(r, fd, f);
    }
    if (e) {
        AUTO_FREE char *text = err_message(e);

        f->problem = arena_cstr(r->arena, str_of(text));
        err_free(e);
    }
    return true;
}

/* --- files and directories --- */

void project_reading_add(struct project_reading *r, const char *name, enum project_file_kind kind)
{
    struct project_files *files = r->files;
    struct project_file f = {.name = name, .kind = kind};

    if (files->problem || project_files_find(files, name) || !read_one(r, &f) ||
        project_files_find(files, f.name))
        return;
    r->n_bytes += f.problem ? 0 : f.n_bytes;
    files->items = arena_grow(r->arena, files->items, files->n, &files->room, sizeof *files->items);
    files->items[files->n++] = f;
    if (files->n > PROJECT_MAX_FILES)
        project_reading_refuse(
            r, arena_format(r->arena, "it has more than %d files to review", PROJECT_MAX_FILES).p);
    else if (r->n_bytes > PROJECT_MAX_BYTES)
        project_reading_refuse(r,
                               arena_format(r->arena, "its files to review hold more than %zu MiB",
                                            PROJECT_MAX_BYTES >> 20)
                                   .p);
}

static bool is_not_read(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(not_read); i++)
        if (strcmp(name, not_read[i]) == 0)
            return true;
    return false;
}

/* A link to a directory counts as one. */
bool project_reading_has_directory(const struct project_reading *r, const char *name)
{
    AUTO_FD fd = open_inside(r->fd, name, O_PATH | O_DIRECTORY);

    return fd >= 0;
}

static void add_entry(struct project_reading *r, const char *name, int depth)
{
    if (!utf8_is_valid(str_of(name)))
        project_reading_refuse(r, arena_format(r->arena, "the name of %s is not UTF-8", name).p);
    else if (!project_reading_has_directory(r, name))
        project_reading_add(r, name, PROJECT_OTHER);
    else if (depth == PROJECT_MAX_DEPTH)
        project_reading_refuse(r, arena_format(r->arena, "%s is nested too deeply", name).p);
    else if (!is_not_read(name))
        project_reading_add_directory(r, name, depth + 1);
}

void project_reading_add_directory(struct project_reading *r, const char *name, int depth)
{
    int fd = open_inside(r->fd, name, O_RDONLY | O_DIRECTORY);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;

    if (!dir && is_absence(errno))
        return;
    if (!dir) {
        AUTO(err) struct err *e = open_error(errno, name);
        AUTO_FREE char *text = err_message(e);

        project_reading_refuse(r, arena_cstr(r->arena, str_of(text)));
        close_fd(&fd);
        return;
    }
    while (!r->files->problem && (entry = readdir(dir)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            add_entry(r, arena_format(r->arena, "%s/%s", name, entry->d_name).p, depth);
    closedir(dir);
}
