/* restore.c - looks at what a plan is about, then carries it out in three passes over the paths.
 *
 * Up: what must go, from the deepest path. Down: directories, then what is in them. Up again: the
 * permissions of directories, which might have kept files from being made in them. */
#include "snapshot/restore.h"

#include "snapshot/compare.h"
#include "snapshot/plain.h"
#include "snapshot/state.h"
#include "sys/auto_fd.h"
#include "sys/open_plain.h"
#include "sys/temp_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#define MAX_BYTES ((size_t)64 << 20)

struct restoring {
    const struct restore_options *options;
    struct arena *arena;
    struct restore_plan *plan;
    struct strbuf bytes;
};

static void end_item(struct restore_item *item, enum restore_outcome outcome, struct str why)
{
    item->outcome = outcome;
    item->why = why;
}

static void fail_item(struct restoring *r, struct restore_item *item, const char *what)
{
    end_item(item, RESTORE_FAILED, arena_format(r->arena, "%s: %s", what, strerror(errno)));
}

/* --- may it be done, and must it? --- */

static bool is_inside(const struct restore_options *o, struct str path)
{
    struct str rest = path, name;

    if (path.n == 0 || path.p[0] != '/' || str_find_char(path, '\0') != STR_NONE)
        return false;
    rest = str_skip(rest, 1);
    while (str_split(&rest, '/', &name))
        if (name.n == 0 || str_is(name, ".") || str_is(name, ".."))
            return false;
    for (size_t i = 0; i < o->n_roots; i++) {
        struct str root = str_of(o->roots[i]);

        if (path.n > root.n + 1 && str_starts(path, root) && path.p[root.n] == '/')
            return true;
    }
    return false;
}

static bool is_own(const struct restore_options *o, struct str path)
{
    struct str home = str_of(o->home);

    if (home.n && str_starts(path, home) && (path.n == home.n || path.p[home.n] == '/'))
        return true;
    return o->own && o->own->is_hidden(o->own->self, path, /* is_dir= */ false);
}

/* A directory that its owner may not enter hides what is in it; it gets its permissions last. */
static void open_up(const char *path, const struct file_state *now)
{
    AUTO_FD fd = -1;
    char name[64];

    if (now->kind != IMAGE_DIRECTORY || (now->mode & 0700) == 0700)
        return;
    fd = open_plain(path, O_PATH | O_DIRECTORY);
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    if (fd >= 0 && chmod(name, now->mode | 0700) < 0)
        return; /* what is in it will fail and say so */
}

static bool is_as_it_was(struct arena *a, const struct pre_image *aim, const struct file_state *now)
{
    struct str was;

    return aim->kind == now->kind && aim->mode == now->mode && image_sign(a, aim, &was) &&
           str_eq(was, state_sign(a, now));
}

/* As the last call left it, or as if that call had never been: a restore that died on its way. */
static bool is_as_left(struct arena *a, const struct file_state *now,
                       const struct restore_item *item)
{
    struct file_state unread = *now;
    struct str sign;

    unread.is_known &= !str_starts(item->aim.after, S("stamp:"));
    sign = state_sign(a, &unread);
    return str_eq(sign, item->aim.after) || (item->knows_before && str_eq(sign, item->before));
}

static struct err *look_at_item(struct restoring *r, struct restore_item *item,
                                struct file_state *now)
{
    const struct pre_image *aim = &item->aim;
    struct str was;

    if (!is_inside(r->options, aim->path)) {
        end_item(item, RESTORE_IMPOSSIBLE, S("it is outside of the workspace"));
        return NULL;
    }
    if (is_own(r->options, aim->path)) {
        end_item(item, RESTORE_IMPOSSIBLE, S("it belongs to keel itself"));
        return NULL;
    }
    now->path = arena_cstr(r->arena, aim->path);
    if (!state_look(now)) {
        end_item(item, RESTORE_FAILED, S("nobody may look at it"));
        return NULL;
    }
    if (state_has_content(now))
        TRY(state_read(now, MAX_BYTES, r->options->blobs, &r->bytes));
    if (r->options->blobs)
        open_up(now->path, now);
    if (!image_sign(r->arena, aim, &was))
        end_item(item, RESTORE_IMPOSSIBLE, aim->why_not.n ? aim->why_not : S("it was not saved"));
    else if (is_as_it_was(r->arena, aim, now))
        end_item(item, RESTORE_NOT_NEEDED, (struct str){0});
    else if (!r->options->force && !is_as_left(r->arena, now, item))
        end_item(item, RESTORE_CONFLICT, S("it was changed since"));
    else if (!r->options->force && item->changed_between)
        end_item(item, RESTORE_CONFLICT, S("somebody else changed it in between"));
    return NULL;
}

static bool make_undo(struct restoring *r, size_t i, struct pre_image *ret_undo)
{
    *ret_undo = state_image(r->arena, &r->plan->now[i], NULL);
    return image_sign(r->arena, &r->plan->items[i].aim, &ret_undo->after);
}

static struct err *look(struct restoring *r, struct pre_images *undo)
{
    struct restore_plan *plan = r->plan;
    struct pre_image image;

    for (size_t i = 0; i < plan->n; i++) {
        TRY(look_at_item(r, &plan->items[i], &plan->now[i]));
        if (plan->items[i].outcome == RESTORE_PLANNED && make_undo(r, i, &image))
            pre_images_add(undo, r->arena, image);
    }
    return r->options->blobs ? blob_sync(r->options->blobs) : NULL;
}

struct err *restore_look(struct restore_plan *plan, const struct restore_options *options,
                         struct arena *a, struct pre_images *ret_undo)
{
    struct restoring r = {.options = options,
                          .arena = a,
                          .plan = plan,
                          .bytes = {.max_bytes = MAX_BYTES + (1 << 18)}};
    struct err *e;

    plan->now = ARENA_ARRAY(a, plan->n + 1, struct file_state);
    *ret_undo = (struct pre_images){0};
    e = look(&r, ret_undo);
    strbuf_done(&r.bytes);
    return e;
}

/* --- removing --- */

static bool must_go(const struct restore_item *item, const struct file_state *now)
{
    bool is_dir = now->kind == IMAGE_DIRECTORY, was_dir = item->aim.kind == IMAGE_DIRECTORY;

    return item->outcome == RESTORE_PLANNED && now->kind != IMAGE_NONE &&
           (item->aim.kind == IMAGE_NONE || is_dir != was_dir);
}

static void remove_item(struct restoring *r, struct restore_item *item, struct file_state *now)
{
    const char *name;
    AUTO_FD dir_fd = plain_open_parent(now->path, &name);
    int flags = now->kind == IMAGE_DIRECTORY ? AT_REMOVEDIR : 0;

    if (dir_fd >= 0 && unlinkat(dir_fd, name, flags) == 0) {
        if (item->aim.kind == IMAGE_NONE)
            end_item(item, RESTORE_DONE, (struct str){0});
    } else if (errno == ENOTEMPTY || errno == EEXIST) {
        end_item(item, RESTORE_CONFLICT, S("there are other files in it"));
    } else {
        fail_item(r, item, "it cannot be removed");
    }
}

/* --- putting back --- */

/* Directories above that nothing is known of: they were there when the file was. */
static void make_parents(struct restoring *r, const char *path)
{
    AUTO_FREE char *partial = mem_strdup(path);

    for (size_t i = 1; partial[i]; i++) {
        const char *name;

        if (partial[i] != '/')
            continue;
        partial[i] = '\0';
        if (is_inside(r->options, str_of(partial))) {
            AUTO_FD dir_fd = plain_open_parent(partial, &name);

            if (dir_fd >= 0 && mkdirat(dir_fd, name, 0777) < 0 && errno != EEXIST)
                return; /* what comes next fails and says so */
        }
        partial[i] = '/';
    }
}

static int open_parent(struct restoring *r, const char *path, const char **ret_name)
{
    int fd = plain_open_parent(path, ret_name);

    if (fd >= 0 || errno != ENOENT)
        return fd;
    make_parents(r, path);
    return plain_open_parent(path, ret_name);
}

static bool write_all(int fd, struct str bytes)
{
    while (bytes.n) {
        ssize_t n = write(fd, bytes.p, bytes.n);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        bytes = str_skip(bytes, (size_t)n);
    }
    return true;
}

/* A file keeps the owner of the one that it replaces, if that may be. */
static bool put_file(struct restoring *r, int dir_fd, const char *name, const struct pre_image *aim)
{
    AUTO(temp_file) struct temp_file t = TEMP_FILE_NONE;
    struct stat st;

    if (temp_file_open(&t, dir_fd, name) < 0 || !write_all(t.fd, strbuf_str(&r->bytes)))
        return false;
    if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
        fchown(t.fd, st.st_uid, st.st_gid) < 0 && errno != EPERM)
        return false;
    return fchmod(t.fd, aim->mode) == 0 && temp_file_replace(&t) == 0;
}

/* One that replaces something is made beside it first. */
static bool put_link(struct restoring *r, int dir_fd, const char *name)
{
    const char *to = strbuf_cstr(&r->bytes);
    struct leftover own;
    bool is_done;
    int error;

    if (symlinkat(to, dir_fd, name) == 0)
        return true;
    if (errno != EEXIST)
        return false;
    leftover_begin(&own, dir_fd, name);
    is_done = symlinkat(to, dir_fd, own.name) == 0 && renameat(dir_fd, own.name, dir_fd, name) == 0;
    error = errno;
    if (!is_done)
        unlinkat(dir_fd, own.name, 0);
    leftover_done(&own);
    errno = error;
    return is_done;
}

static struct err *put_content(struct restoring *r, struct restore_item *item, int dir_fd,
                               const char *name)
{
    bool is_done;

    strbuf_clear(&r->bytes);
    TRY(blob_get(r->options->blobs, item->aim.content, &r->bytes));
    is_done = item->aim.kind == IMAGE_LINK ? put_link(r, dir_fd, name)
                                           : put_file(r, dir_fd, name, &item->aim);
    if (is_done)
        end_item(item, RESTORE_DONE, (struct str){0});
    else
        fail_item(r, item, "it cannot be written");
    return NULL;
}

static void put_at(struct restoring *r, struct restore_item *item, int dir_fd, const char *name)
{
    AUTO(err) struct err *e = put_content(r, item, dir_fd, name);
    AUTO_FREE char *text = e ? err_message(e) : NULL;

    if (e)
        end_item(item, RESTORE_FAILED, arena_str(r->arena, str_of(text)));
}

static void put_item(struct restoring *r, struct restore_item *item, const struct file_state *now)
{
    const char *name;
    AUTO_FD dir_fd = open_parent(r, now->path, &name);

    if (dir_fd < 0)
        fail_item(r, item, "its directory cannot be opened");
    else if (item->aim.kind != IMAGE_DIRECTORY)
        put_at(r, item, dir_fd, name);
    else if (mkdirat(dir_fd, name, item->aim.mode | 0700) < 0 && errno != EEXIST)
        fail_item(r, item, "the directory cannot be made");
}

/* --- directories, at last --- */

static void set_mode(struct restoring *r, struct restore_item *item, const char *path,
                     unsigned mode)
{
    AUTO_FD fd = open_plain(path, O_PATH | O_DIRECTORY);
    char name[64];

    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    if (fd >= 0 && chmod(name, mode) == 0) {
        if (item->outcome == RESTORE_PLANNED)
            end_item(item, RESTORE_DONE, (struct str){0});
        return;
    }
    fail_item(r, item, "the directory's permissions cannot be set");
}

static void finish_directory(struct restoring *r, struct restore_item *item,
                             const struct file_state *now)
{
    bool was_opened = now->kind == IMAGE_DIRECTORY && (now->mode & 0700) != 0700;

    if (item->outcome == RESTORE_PLANNED && item->aim.kind == IMAGE_DIRECTORY)
        set_mode(r, item, now->path, item->aim.mode);
    else if (was_opened && item->outcome != RESTORE_DONE) /* as we found it */
        set_mode(r, item, now->path, now->mode);
}

/* --- all --- */

static void count(struct restoring *r, struct restore_report *report)
{
    for (size_t i = 0; i < r->plan->n; i++) {
        const struct restore_item *item = &r->plan->items[i];
        struct pre_image undo;

        report->n_conflicts += item->outcome == RESTORE_CONFLICT;
        report->n_failed += item->outcome == RESTORE_FAILED || item->outcome == RESTORE_IMPOSSIBLE;
        if (item->outcome != RESTORE_DONE)
            continue;
        report->n_restored++;
        if (make_undo(r, i, &undo))
            pre_images_add(&report->undo, r->arena, undo);
    }
}

static void change(struct restoring *r)
{
    struct restore_item *items = r->plan->items;
    struct file_state *now = r->plan->now;
    size_t n = r->plan->n;

    for (size_t i = n; i-- > 0;)
        if (must_go(&items[i], &now[i]))
            remove_item(r, &items[i], &now[i]);
    for (size_t i = 0; i < n; i++)
        if (items[i].outcome == RESTORE_PLANNED && items[i].aim.kind != IMAGE_NONE)
            put_item(r, &items[i], &now[i]);
    for (size_t i = n; i-- > 0;)
        if (now[i].path)
            finish_directory(r, &items[i], &now[i]);
}

void restore_change(struct restore_plan *plan, const struct restore_options *options,
                    struct arena *a, struct restore_report *ret_report)
{
    struct restoring r = {.options = options,
                          .arena = a,
                          .plan = plan,
                          .bytes = {.max_bytes = MAX_BYTES + (1 << 18)}};

    change(&r);
    strbuf_done(&r.bytes);
    *ret_report = (struct restore_report){0};
    count(&r, ret_report);
}

struct err *snapshot_restore(const struct pre_image *images, size_t n,
                             const struct restore_options *options, struct arena *a,
                             struct restore_plan *ret_plan, struct restore_report *ret_report)
{
    struct pre_images undo;

    restore_plan(images, n, a, ret_plan);
    TRY(restore_look(ret_plan, options, a, &undo));
    restore_change(ret_plan, options, a, ret_report);
    return NULL;
}
