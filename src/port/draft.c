/* draft.c - a file a draft: HOME/unfinished/STORE.ID, with a line "ID MILLISECONDS" a session. */
#include "port/draft.h"

#include "base/sha256.h"
#include "sys/auto_fd.h"
#include "sys/fs.h"
#include "sys/temp_file.h"
#include "sys/work.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEY_CHARS 16 /* of the hash of the store's place, which may hold a password */
#define MAX_NOTE ((size_t)64 << 20)

void drafts_keep_in(struct store *s, const char *home, struct str place)
{
    AUTO(arena) struct arena a = {0};
    char hex[SHA256_HEX_SIZE];

    sha256_hex(place, hex);
    mem_free(s->drafts);
    s->drafts = mem_strdup(arena_format(&a, "%s/" LEFTOVER_DIR "/%.*s.", home, KEY_CHARS, hex).p);
}

/* --- one --- */

struct note_call {
    struct draft *draft;
    struct str line;
    bool is_held; /* by another process */
};

static bool lock_note(int fd)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    return fcntl(fd, F_OFD_SETLK, &whole) == 0;
}

/* It has its lock before it has its name: one without is a dead process's. */
static int make_note(const char *path)
{
    AUTO_FREE char *dir = str_dup(str_make(path, str_rfind_char(str_of(path), '/')));
    AUTO(temp_file) struct temp_file t = TEMP_FILE_NONE;
    AUTO_FD dir_fd = -1;
    int fd;

    err_ignore(fs_make_dirs(dir, 0700), "then no note can be made");
    dir_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (dir_fd < 0 || temp_file_open(&t, dir_fd, strrchr(path, '/') + 1) < 0 || !lock_note(t.fd) ||
        temp_file_create(&t) < 0)
        return -1;
    fd = t.fd;
    t.fd = -1;
    return fd;
}

/* One that is there, else ENOENT. */
static int lock_old_note(const char *path, bool *ret_is_held)
{
    int fd = open(path, O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;

    if (fd < 0)
        return -1;
    *ret_is_held = !lock_note(fd);
    if (!*ret_is_held && fstat(fd, &st) == 0 && st.st_nlink > 0)
        return fd;
    close(fd);
    errno = ENOENT; /* where it was removed before it was locked */
    return -1;
}

static struct err *take_old_note(void *arg)
{
    struct note_call *c = arg;

    c->draft->fd = lock_old_note(c->draft->path, &c->is_held);
    return NULL;
}

/* Where a dead process has left one for this id, that one is continued. */
static struct err *take_new_note(void *arg)
{
    struct note_call *c = arg;
    struct draft *d = c->draft;

    for (;;) {
        d->fd = make_note(d->path);
        if (d->fd >= 0 || errno != EEXIST)
            return NULL;
        d->fd = lock_old_note(d->path, &c->is_held);
        if (d->fd >= 0 || c->is_held || errno != ENOENT)
            return NULL;
    }
}

/* What cannot be written is made without a note. */
static struct err *write_line(void *arg)
{
    struct note_call *c = arg;

    if (c->draft->fd >= 0 && write(c->draft->fd, c->line.p, c->line.n) < 0)
        return NULL;
    return NULL;
}

void draft_add(struct draft *d, struct str id, int64_t created_ms)
{
    AUTO(arena) struct arena a = {0};
    struct note_call c = {
        d, arena_format(&a, "%" STR_FMT " %" PRId64 "\n", STR_ARG(id), created_ms), false};

    err_ignore(work_run(write_line, &c), "it is made without a note");
}

static struct err *take(struct draft *d, const struct store *s, struct str id,
                        struct err *(*take_note)(void *arg))
{
    AUTO(arena) struct arena a = {0};
    struct note_call c = {.draft = d};

    d->path = mem_strdup(arena_format(&a, "%s%" STR_FMT, s->drafts, STR_ARG(id)).p);
    TRY(work_run(take_note, &c));
    if (!c.is_held)
        return NULL;
    draft_done(d);
    return err_new(ERR_STORAGE, "session %" STR_FMT " is being created by another process",
                   STR_ARG(id));
}

struct err *draft_begin(struct draft *d, const struct store *s, struct str id, int64_t created_ms)
{
    *d = DRAFT_NONE;
    if (!s->drafts)
        return NULL;
    TRY(take(d, s, id, take_new_note));
    draft_add(d, id, created_ms);
    return NULL;
}

void draft_end(struct draft *d)
{
    if (d->fd >= 0)
        unlink(d->path);
    draft_done(d);
}

void draft_done(struct draft *d)
{
    if (d->fd >= 0)
        close(d->fd);
    mem_free(d->path);
    *d = DRAFT_NONE;
}

/* --- of processes that are gone --- */

struct note_list {
    struct arena arena;
    const char *prefix;
    struct str *ids; /* in `arena` */
    size_t n, room;
};

static struct err *list_notes(void *arg)
{
    struct note_list *l = arg;
    size_t slash = str_rfind_char(str_of(l->prefix), '/');
    struct str key = str_of(l->prefix + slash + 1);
    DIR *d = opendir(arena_cstr(&l->arena, str_make(l->prefix, slash)));
    struct dirent *entry;

    while (d && (entry = readdir(d))) {
        struct str name = str_of(entry->d_name);

        if (!str_starts(name, key) || !store_id_is_valid(str_skip(name, key.n)))
            continue;
        l->ids = arena_grow(&l->arena, l->ids, l->n, &l->room, sizeof *l->ids);
        l->ids[l->n++] = arena_str(&l->arena, str_skip(name, key.n));
    }
    if (d)
        closedir(d);
    return NULL;
}

static struct err *remove_one(struct store *s, struct str id, int64_t created_ms)
{
    AUTO(arena) struct arena a = {0};
    struct store_summary found;
    bool is_there;

    TRY(store_find(s, id, &a, &found, &is_there));
    return is_there && found.created_ms == created_ms ? store_remove(s, id) : NULL;
}

/* A line that was torn is of a session that was not made yet. */
static struct err *remove_listed(struct store *s, struct str text)
{
    struct str line, id;
    int64_t created_ms;

    while (str_find_char(text, '\n') != STR_NONE && str_split(&text, '\n', &line))
        if (str_split(&line, ' ', &id) && store_id_is_valid(id) && str_to_int64(line, &created_ms))
            TRY(remove_one(s, id, created_ms));
    return NULL;
}

struct read_call {
    const char *path;
    struct strbuf *text;
};

static struct err *read_note(void *arg)
{
    struct read_call *c = arg;

    return fs_read(c->path, c->text, NULL);
}

/* The note stays as long as a session of it does. */
static struct err *sweep_one(struct store *s, struct str id)
{
    AUTO(draft) struct draft d = DRAFT_NONE;
    AUTO(strbuf) struct strbuf text = {.max_bytes = MAX_NOTE};
    struct read_call c = {.text = &text};

    TRY(take(&d, s, id, take_old_note));
    if (d.fd < 0)
        return NULL; /* its process has ended it */
    c.path = d.path;
    TRY(work_run(read_note, &c));
    TRY(remove_listed(s, strbuf_str(&text)));
    draft_end(&d);
    return NULL;
}

void drafts_sweep(struct store *s)
{
    struct note_list l = {.prefix = s->drafts};

    if (s->drafts)
        err_ignore(work_run(list_notes, &l), "then the next one looks");
    for (size_t i = 0; i < l.n; i++)
        err_ignore(sweep_one(s, l.ids[i]), "its process is at work, or the next one tries again");
    arena_done(&l.arena);
}
