/* restore.c - looks at what a plan is about, then carries it out in three passes over the paths.
 *
 * Up: what must go, from the deepest path. Down: directories, then what is in them; of files with
 * several names first those that still are the same file. Up again: the permissions of directories,
 * which might have kept files from being made in them. A directory that keel's user owns and may
 * not enter or write is unlocked as long as that takes. */
#include "snapshot/restore_internal.h"

#include "sys/auto_fd.h"
#include "sys/locked_file.h"
#include "sys/temp_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

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

static bool has_owner(const struct pre_image *aim, const struct file_state *now)
{
    return !aim->has_owner || (aim->uid == now->uid && aim->gid == now->gid);
}

static bool is_as_it_was(struct arena *a, const struct pre_image *aim, const struct file_state *now)
{
    struct str was;

    if (aim->kind != now->kind || aim->mode != now->mode || !has_owner(aim, now) ||
        (aim->n_names > 1 && (aim->inode != now->stamp.inode || aim->device != now->stamp.device)))
        return false;
    return aim->keeps_content || (image_sign(a, aim, &was) && str_eq(was, state_sign(a, now)));
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

/* Why it must not be touched; empty: it may be. */
static struct str why_forbidden(const struct restoring *r, const struct pre_image *aim)
{
    struct str was;

    if (!is_inside(r->options, aim->path))
        return S("it is outside of the workspace");
    if (is_own(r->options, aim->path))
        return S("it belongs to keel itself");
    if (aim->why_not.n)
        return aim->why_not;
    return aim->keeps_content || image_sign(r->arena, aim, &was) ? (struct str){0}
                                                                 : S("it was not saved");
}

static struct err *look_at_item(struct restoring *r, struct restore_item *item,
                                struct file_state *now)
{
    const struct pre_image *aim = &item->aim;
    struct str why = why_forbidden(r, aim);

    if (why.n) {
        end_item(item, RESTORE_IMPOSSIBLE, why);
        return NULL;
    }
    now->path = arena_cstr(r->arena, aim->path);
    if (!state_look(now)) {
        end_item(item, RESTORE_FAILED, S("it may not be looked at"));
        return NULL;
    }
    if (state_has_content(now) && !(aim->keeps_content && now->kind == aim->kind))
        TRY(state_read(now, RESTORE_MAX_BYTES, r->options->blobs, &r->bytes));
    if (is_as_it_was(r->arena, aim, now))
        end_item(item, RESTORE_NOT_NEEDED, (struct str){0});
    else if (aim->keeps_content && aim->kind != now->kind)
        end_item(item, RESTORE_CONFLICT, S("something else is there now"));
    else if (!r->options->force && !aim->keeps_content && !is_as_left(r->arena, now, item))
        end_item(item, RESTORE_CONFLICT, S("it was changed since"));
    else if (!r->options->force && item->changed_between)
        end_item(item, RESTORE_CONFLICT, S("somebody else changed it in between"));
    return NULL;
}

static bool make_undo(struct restoring *r, size_t i, struct pre_image *ret_undo)
{
    const struct pre_image *aim = &r->plan->items[i].aim;
    const struct file_state *now = &r->plan->now[i];

    *ret_undo = state_image(r->arena, now, aim->keeps_content, NULL);
    if (!aim->keeps_content)
        return image_sign(r->arena, aim, &ret_undo->after);
    ret_undo->after = state_sign(r->arena, now);
    return true;
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
                          .bytes = {.max_bytes = RESTORE_MAX_BYTES + (1 << 18)}};
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
    AUTO_FD dir_fd = plain_open_writable(now->path, &r->unlocks, &name);
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
            AUTO_FD dir_fd = plain_open_writable(partial, &r->unlocks, &name);

            if (dir_fd >= 0 && mkdirat(dir_fd, name, 0777) < 0 && errno != EEXIST)
                return; /* what comes next fails and says so */
        }
        partial[i] = '/';
    }
}

static int open_parent(struct restoring *r, const char *path, const char **ret_name)
{
    int fd = plain_open_writable(path, &r->unlocks, ret_name);

    if (fd >= 0 || errno != ENOENT)
        return fd;
    make_parents(r, path);
    return plain_open_writable(path, &r->unlocks, ret_name);
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

/* Only root may give a file to somebody else; what cannot be is reported. */
static bool give_owner(int fd, const char *name, const struct pre_image *aim,
                       const struct stat *now)
{
    if (!aim->has_owner || (now->st_uid == aim->uid && now->st_gid == aim->gid))
        return true;
    return fchownat(fd, name, aim->uid, aim->gid, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) == 0;
}

static void end_restored(struct restore_item *item, bool has_owner)
{
    if (has_owner)
        end_item(item, RESTORE_DONE, (struct str){0});
    else
        end_item(item, RESTORE_PARTLY, S("it has another owner now"));
}

/* Owner before permissions: the kernel drops some of those with it. */
static bool set_attributes(int fd, const struct pre_image *aim, bool *ret_has_owner)
{
    struct stat now;

    if (fstat(fd, &now) < 0)
        return false;
    *ret_has_owner = give_owner(fd, "", aim, &now);
    return fchmod(fd, aim->mode) == 0;
}

/* A file of an earlier version keeps the owner of the one that it replaces, if that may be. */
static bool put_file(struct restoring *r, int dir_fd, const char *name, const struct pre_image *aim,
                     bool *ret_has_owner)
{
    AUTO(temp_file) struct temp_file t = TEMP_FILE_NONE;
    struct stat st;

    if (temp_file_open(&t, dir_fd, name) < 0 || !write_all(t.fd, strbuf_str(&r->bytes)))
        return false;
    if (!aim->has_owner && fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISREG(st.st_mode) && fchown(t.fd, st.st_uid, st.st_gid) < 0 && errno != EPERM)
        return false;
    return set_attributes(t.fd, aim, ret_has_owner) && temp_file_replace(&t) == 0;
}

/* --- files with several names --- */

static int open_for_writing(int dir_fd, const char *name)
{
    int fd = locked_file_openat(dir_fd, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    AUTO_FD path_fd = -1;
    char path[64];
    struct stat st;

    if (fd >= 0 || errno != EACCES)
        return fd;
    path_fd = openat(dir_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", path_fd);
    if (path_fd < 0 || fstat(path_fd, &st) < 0 || !S_ISREG(st.st_mode) ||
        chmod(path, (st.st_mode & 07777) | S_IWUSR) < 0)
        return -1;
    return locked_file_openat(AT_FDCWD, path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
}

/* Through its own name, so that all other names see it. */
static bool put_in_place(struct restoring *r, int dir_fd, const char *name,
                         const struct pre_image *aim, bool *ret_has_owner)
{
    AUTO_FD fd = open_for_writing(dir_fd, name);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0)
        return false;
    if (st.st_ino != aim->inode || st.st_dev != aim->device) {
        errno = ESTALE;
        return false;
    }
    return write_all(fd, strbuf_str(&r->bytes)) && ftruncate(fd, (off_t)r->bytes.n) == 0 &&
           set_attributes(fd, aim, ret_has_owner);
}

/* Ends what leftover_begin() began: what was made under its name gets this one, or is removed. */
static bool replace_by(struct leftover *own, bool is_made, int dir_fd, const char *name)
{
    bool is_done = is_made && renameat(dir_fd, own->name, dir_fd, name) == 0;
    int error = errno;

    if (!is_done)
        unlinkat(dir_fd, own->name, 0);
    leftover_done(own);
    errno = error;
    return is_done;
}

/* Another name for the anchor. */
static bool put_name(struct restoring *r, int dir_fd, const char *name, const char *anchor)
{
    const char *anchor_name;
    AUTO_FD anchor_fd = plain_open_parent(anchor, &r->unlocks, &anchor_name);
    struct leftover own;

    if (anchor_fd < 0)
        return false;
    leftover_begin(&own, dir_fd, name);
    return replace_by(&own, linkat(anchor_fd, anchor_name, dir_fd, own.name, 0) == 0, dir_fd, name);
}

/* One that replaces something is made beside it first. */
static bool put_link(struct restoring *r, int dir_fd, const char *name)
{
    const char *to = strbuf_cstr(&r->bytes);
    struct leftover own;

    if (symlinkat(to, dir_fd, name) == 0)
        return true;
    if (errno != EEXIST)
        return false;
    leftover_begin(&own, dir_fd, name);
    return replace_by(&own, symlinkat(to, dir_fd, own.name) == 0, dir_fd, name);
}

static void end_named(struct restore_item *item, const struct linked_names *names, bool has_owner)
{
    end_restored(item, has_owner);
    if (item->outcome == RESTORE_DONE && names && names->n_all > names->n + names->n_new)
        end_item(item, RESTORE_PARTLY,
                 S("it had other names, which are another file now; its content is restored"));
}

static struct err *put_content(struct restoring *r, struct restore_item *item,
                               const struct file_state *now, int dir_fd, const char *name)
{
    struct linked_names *names = restore_names_of(r, &item->aim);
    bool has_owner = true, in_place = restore_is_in_place(&item->aim, now);

    if (names && names->anchor && !in_place && put_name(r, dir_fd, name, names->anchor)) {
        end_item(item, RESTORE_DONE, (struct str){0});
        return NULL;
    }
    strbuf_clear(&r->bytes);
    TRY(blob_get(r->options->blobs, item->aim.content, &r->bytes));
    if (in_place ? !put_in_place(r, dir_fd, name, &item->aim, &has_owner)
                 : !put_file(r, dir_fd, name, &item->aim, &has_owner)) {
        fail_item(r, item, "it cannot be written");
    } else if (in_place) {
        end_restored(item, has_owner);
    } else {
        end_named(item, names, has_owner);
        if (names)
            names->anchor = now->path;
    }
    return NULL;
}

static struct err *put_link_content(struct restoring *r, struct restore_item *item, int dir_fd,
                                    const char *name)
{
    struct stat st;

    strbuf_clear(&r->bytes);
    TRY(blob_get(r->options->blobs, item->aim.content, &r->bytes));
    if (!put_link(r, dir_fd, name))
        fail_item(r, item, "it cannot be written");
    else
        end_restored(item, fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
                               give_owner(dir_fd, name, &item->aim, &st));
    return NULL;
}

static void put_at(struct restoring *r, struct restore_item *item, const struct file_state *now,
                   int dir_fd, const char *name)
{
    AUTO(err)
    struct err *e = item->aim.kind == IMAGE_LINK ? put_link_content(r, item, dir_fd, name)
                                                 : put_content(r, item, now, dir_fd, name);
    AUTO_FREE char *text = e ? err_message(e) : NULL;

    if (e)
        end_item(item, RESTORE_FAILED, arena_str(r->arena, str_of(text)));
}

/* Permissions and owner, of what is not open for reading either. */
static void put_attributes(struct restoring *r, struct restore_item *item, int dir_fd,
                           const char *name)
{
    AUTO_FD fd = openat(dir_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    char path[64];
    struct stat st;
    bool has_owner;

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (fd < 0 || fstat(fd, &st) < 0) {
        fail_item(r, item, "it cannot be opened");
        return;
    }
    has_owner = give_owner(fd, "", &item->aim, &st);
    if (item->aim.kind != IMAGE_LINK && chmod(path, item->aim.mode) < 0)
        fail_item(r, item, "its permissions cannot be set");
    else
        end_restored(item, has_owner);
}

static void put_item(struct restoring *r, struct restore_item *item, const struct file_state *now)
{
    const char *name;
    AUTO_FD dir_fd = open_parent(r, now->path, &name);

    if (dir_fd < 0)
        fail_item(r, item, "its directory cannot be opened");
    else if (item->aim.keeps_content)
        put_attributes(r, item, dir_fd, name);
    else if (item->aim.kind != IMAGE_DIRECTORY)
        put_at(r, item, now, dir_fd, name);
    else if (mkdirat(dir_fd, name, item->aim.mode | 0700) < 0 && errno != EEXIST)
        fail_item(r, item, "the directory cannot be made");
}

/* --- directories, at last --- */

static void finish_directory(struct restoring *r, struct restore_item *item, const char *path)
{
    AUTO(unlocks) struct unlocks unlocks = {0};
    const char *name;
    AUTO_FD dir_fd = plain_open_parent(path, &unlocks, &name);

    if (dir_fd < 0)
        fail_item(r, item, "the directory's permissions cannot be set");
    else
        put_attributes(r, item, dir_fd, name);
}

/* --- all --- */

static void count(struct restoring *r, struct restore_report *report)
{
    for (size_t i = 0; i < r->plan->n; i++) {
        const struct restore_item *item = &r->plan->items[i];
        struct pre_image undo;

        report->n_conflicts += item->outcome == RESTORE_CONFLICT;
        report->n_failed += item->outcome == RESTORE_FAILED || item->outcome == RESTORE_IMPOSSIBLE;
        report->n_partly += item->outcome == RESTORE_PARTLY;
        if (item->outcome != RESTORE_DONE && item->outcome != RESTORE_PARTLY)
            continue;
        report->n_restored++;
        if (make_undo(r, i, &undo))
            pre_images_add(&report->undo, r->arena, undo);
    }
}

static bool is_to_be_put(const struct restore_item *item)
{
    return item->outcome == RESTORE_PLANNED && item->aim.kind != IMAGE_NONE;
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
        if (is_to_be_put(&items[i]) && restore_is_in_place(&items[i].aim, &now[i]))
            put_item(r, &items[i], &now[i]);
    for (size_t i = 0; i < n; i++)
        if (is_to_be_put(&items[i]))
            put_item(r, &items[i], &now[i]);
    unlocks_done(&r->unlocks);
    for (size_t i = n; i-- > 0;)
        if (items[i].outcome == RESTORE_PLANNED && items[i].aim.kind == IMAGE_DIRECTORY)
            finish_directory(r, &items[i], now[i].path);
}

void restore_change(struct restore_plan *plan, const struct restore_options *options,
                    struct arena *a, struct restore_report *ret_report)
{
    struct restoring r = {.options = options,
                          .arena = a,
                          .plan = plan,
                          .bytes = {.max_bytes = RESTORE_MAX_BYTES + (1 << 18)}};

    restore_find_names(&r);
    change(&r);
    path_table_done(&r.names);
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
