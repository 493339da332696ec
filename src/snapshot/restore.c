/* restore.c - carries a plan out, in passes over the paths.
 *
 * Up: removes, from the deepest path. Down: creates directories, moves files, then restores
 * contents; of files with several names first those that are still the same file. Up again: sets
 * the permissions of directories, which might have prevented creating files in them. A directory
 * that keel's user owns and may not enter or write is unlocked meanwhile. */
#include "snapshot/restore_internal.h"

#include "sys/auto_fd.h"
#include "sys/locked_file.h"
#include "sys/temp_file.h"
#include "sys/xattrs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#define OTHER_OWNER "it has another owner now"

/* --- removing --- */

/* A directory may contain files that are still to be moved: it is tried again later. */
static void remove_item(struct restoring *r, size_t i, bool is_last_try)
{
    struct restore_item *item = &r->plan->items[i];
    const struct file_state *now = &r->plan->now[i];
    const char *name;
    AUTO_FD dir_fd = plain_open_writable(now->path, &r->unlocks, &name);
    int flags = now->kind == IMAGE_DIRECTORY ? AT_REMOVEDIR : 0;

    if (dir_fd >= 0 && unlinkat(dir_fd, name, flags) == 0) {
        r->plan->moves[i].is_gone = true;
        if (item->aim.kind == IMAGE_NONE)
            restore_end_item(item, RESTORE_DONE, (struct str){0});
    } else if (errno == ENOTEMPTY || errno == EEXIST) {
        if (is_last_try)
            restore_end_item(item, RESTORE_LEFT, S("there are other files in it"));
    } else {
        restore_fail_item(r, item, "it cannot be removed");
    }
}

/* --- restoring --- */

/* Creates directories above that no image describes: they existed when the file did. */
static void make_parents(struct restoring *r, const char *path)
{
    AUTO_FREE char *partial = mem_strdup(path);

    for (size_t i = 1; partial[i]; i++) {
        const char *name;

        if (partial[i] != '/')
            continue;
        partial[i] = '\0';
        if (restore_is_inside(r->options, str_of(partial))) {
            AUTO_FD dir_fd = plain_open_writable(partial, &r->unlocks, &name);

            if (dir_fd >= 0 && mkdirat(dir_fd, name, 0777) < 0 && errno != EEXIST)
                return; /* the next step fails and reports it */
        }
        partial[i] = '/';
    }
}

int restore_open_parent(struct restoring *r, const char *path, const char **ret_name)
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

/* Only root may give files to other users; failures are reported. */
static bool give_owner(int fd, const char *name, const struct pre_image *aim,
                       const struct stat *now)
{
    if (!aim->has_owner || (now->st_uid == aim->uid && now->st_gid == aim->gid))
        return true;
    return fchownat(fd, name, aim->uid, aim->gid, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) == 0;
}

/* `lacks`: what could not be restored; NULL: nothing. */
static void end_restored(struct restore_item *item, const char *lacks)
{
    restore_end_item(item, lacks ? RESTORE_PARTLY : RESTORE_DONE, str_of(lacks));
}

static const char *path_of_fd(int fd, char path[64])
{
    snprintf(path, 64, "/proc/self/fd/%d", fd);
    return path;
}

/* Attributes that the image omits are taken from the replaced file; -1: there is none. */
static bool find_xattrs(struct restoring *r, const struct pre_image *aim, int replaced_fd,
                        struct strbuf *out)
{
    char path[64];
    struct err *e;

    if (!aim->has_xattrs)
        return replaced_fd < 0 || xattrs_read(path_of_fd(replaced_fd, path), out);
    e = aim->xattrs.n ? blob_get(r->options->blobs, aim->xattrs, out) : NULL;
    if (!e)
        return true;
    err_ignore(e, "it is reported as restored in part");
    return false;
}

/* A new file gets the attributes that its directory gives to all new files. */
static bool set_xattrs(struct restoring *r, const char *path, const struct pre_image *aim,
                       int replaced_fd, bool is_new)
{
    AUTO(strbuf) struct strbuf text = {.max_bytes = XATTRS_MAX_BYTES};

    return (!aim->has_xattrs && !is_new) ||
           (find_xattrs(r, aim, replaced_fd, &text) && xattrs_write(path, strbuf_str(&text)));
}

/* Owner before permissions: the kernel drops some permissions with the owner. Extended attributes
 * between them: an access list changes permissions, and setting them requires write permission. */
static bool set_attributes(struct restoring *r, int fd, const struct pre_image *aim,
                           int replaced_fd, bool is_new, const char **ret_lacks)
{
    struct stat now;
    char path[64];

    *ret_lacks = NULL;
    if (fstat(fd, &now) < 0)
        return false;
    if (!give_owner(fd, "", aim, &now))
        *ret_lacks = OTHER_OWNER;
    if (S_ISLNK(now.st_mode))
        return true;
    path_of_fd(fd, path);
    if (aim->has_xattrs && (now.st_mode & 0600) != 0600 &&
        chmod(path, (now.st_mode & 07777) | 0600) < 0)
        return false;
    if (!set_xattrs(r, path, aim, replaced_fd, is_new))
        *ret_lacks = "its extended attributes could not be restored";
    return chmod(path, aim->mode) == 0;
}

/* Artifacts of a build are older than the restored sources, and are built again. */
static bool set_old_time(int fd, const struct pre_image *aim)
{
    struct timespec times[] = {{.tv_nsec = UTIME_OMIT},
                               {.tv_sec = aim->identity.mtime_ns / 1000000000,
                                .tv_nsec = aim->identity.mtime_ns % 1000000000}};

    return !aim->identity.inode || times[1].tv_nsec < 0 || futimens(fd, times) == 0;
}

/* A file from an earlier version of keel keeps the owner of the one that it replaces, if
 * allowed. */
static bool put_file(struct restoring *r, int dir_fd, const char *name, const struct pre_image *aim,
                     const char **ret_lacks)
{
    AUTO(temp_file) struct temp_file t = TEMP_FILE_NONE;
    AUTO_FD replaced_fd = openat(dir_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;

    if (temp_file_open(&t, dir_fd, name) < 0 || !write_all(t.fd, strbuf_str(&r->bytes)))
        return false;
    if (replaced_fd >= 0 && (fstat(replaced_fd, &st) < 0 || !S_ISREG(st.st_mode)))
        close_fd(&replaced_fd);
    if (!aim->has_owner && replaced_fd >= 0 && fchown(t.fd, st.st_uid, st.st_gid) < 0 &&
        errno != EPERM)
        return false;
    if (aim->is_ignored && !set_old_time(t.fd, aim))
        return false;
    return set_attributes(r, t.fd, aim, replaced_fd, /* is_new= */ true, ret_lacks) &&
           temp_file_replace(&t) == 0;
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

/* Writes the file in place, so that all its names see it. */
static bool put_in_place(struct restoring *r, int dir_fd, const char *name,
                         const struct pre_image *aim, const char **ret_lacks)
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
           set_attributes(r, fd, aim, /* replaced_fd= */ -1, /* is_new= */ false, ret_lacks);
}

/* Ends leftover_begin(): renames the new file to this name, or removes it. */
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

/* Adds another name for the anchor. */
bool restore_put_name(struct restoring *r, int dir_fd, const char *name, const char *anchor)
{
    const char *anchor_name;
    AUTO_FD anchor_fd = plain_open_parent(anchor, &r->unlocks, &anchor_name);
    struct leftover own;

    if (anchor_fd < 0)
        return false;
    leftover_begin(&own, dir_fd, name);
    return replace_by(&own, linkat(anchor_fd, anchor_name, dir_fd, own.name, 0) == 0, dir_fd, name);
}

/* If it replaces something, it is made beside that first. */
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

static void end_named(struct restore_item *item, const struct linked_names *names,
                      const char *lacks)
{
    end_restored(item, lacks);
    if (item->outcome == RESTORE_DONE && names && names->n_all > names->n + names->n_new)
        restore_end_item(
            item, RESTORE_PARTLY,
            S("its other names (hard links) now belong to another file; its content is restored"));
}

/* Reads the content into the buffer. */
static struct err *get_content(struct restoring *r, const struct pre_image *aim)
{
    char sha256[SHA256_HEX_SIZE];

    strbuf_clear(&r->bytes);
    if (!aim->has_bytes)
        return blob_get(r->options->blobs, aim->content, &r->bytes);
    sha256_hex(aim->bytes, sha256);
    if (!str_is(aim->content, sha256))
        return err_new(ERR_STORAGE, "the saved content does not match its hash");
    strbuf_add(&r->bytes, aim->bytes);
    return NULL;
}

static struct err *put_content(struct restoring *r, struct restore_item *item,
                               const struct file_state *now, int dir_fd, const char *name)
{
    struct linked_names *names = restore_names_of(r, &item->aim);
    bool in_place = restore_is_in_place(&item->aim, now);
    const char *lacks = NULL;

    if (names && names->anchor && !in_place && restore_put_name(r, dir_fd, name, names->anchor)) {
        restore_end_item(item, RESTORE_DONE, (struct str){0});
        return NULL;
    }
    TRY(get_content(r, &item->aim));
    if (in_place ? !put_in_place(r, dir_fd, name, &item->aim, &lacks)
                 : !put_file(r, dir_fd, name, &item->aim, &lacks)) {
        restore_fail_item(r, item, "it cannot be written");
    } else if (in_place) {
        end_restored(item, lacks);
    } else {
        end_named(item, names, lacks);
        if (names)
            names->anchor = now->path;
    }
    return NULL;
}

static struct err *put_link_content(struct restoring *r, struct restore_item *item, int dir_fd,
                                    const char *name)
{
    struct stat st;

    TRY(get_content(r, &item->aim));
    if (!put_link(r, dir_fd, name))
        restore_fail_item(r, item, "it cannot be written");
    else
        end_restored(item, fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
                                   give_owner(dir_fd, name, &item->aim, &st)
                               ? NULL
                               : OTHER_OWNER);
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
        restore_end_item(item, RESTORE_FAILED, arena_str(r->arena, str_of(text)));
}

/* Also for files that cannot be opened for reading. */
void restore_put_attributes(struct restoring *r, struct restore_item *item, int dir_fd,
                            const char *name)
{
    AUTO_FD fd = openat(dir_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    const char *lacks;

    if (fd < 0)
        restore_fail_item(r, item, "it cannot be opened");
    else if (!set_attributes(r, fd, &item->aim, /* replaced_fd= */ -1, /* is_new= */ false, &lacks))
        restore_fail_item(r, item, "its permissions cannot be set");
    else
        end_restored(item, lacks);
}

static bool is_dir_at(int dir_fd, const char *name)
{
    int error = errno;
    struct stat st;
    bool is_dir = fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);

    errno = error;
    return is_dir;
}

static void put_item(struct restoring *r, struct restore_item *item, const struct file_state *now)
{
    const char *name;
    AUTO_FD dir_fd = restore_open_parent(r, now->path, &name);

    if (dir_fd < 0)
        restore_fail_item(r, item, "its directory cannot be opened");
    else if (item->aim.keeps_content)
        restore_put_attributes(r, item, dir_fd, name);
    else if (item->aim.kind != IMAGE_DIRECTORY)
        put_at(r, item, now, dir_fd, name);
    else if (mkdirat(dir_fd, name, item->aim.mode | 0700) == 0)
        item->aim.has_xattrs = true; /* removes what the directory above gives to new ones */
    else if (!is_dir_at(dir_fd, name))
        restore_fail_item(r, item, "the directory cannot be created");
}

/* --- permissions of directories --- */

static void finish_directory(struct restoring *r, struct restore_item *item, const char *path)
{
    AUTO(unlocks) struct unlocks unlocks = {0};
    const char *name;
    AUTO_FD dir_fd = plain_open_parent(path, &unlocks, &name);

    if (dir_fd < 0)
        restore_fail_item(r, item, "the directory's permissions cannot be set");
    else
        restore_put_attributes(r, item, dir_fd, name);
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
        report->n_left += item->outcome == RESTORE_LEFT;
        if (item->outcome != RESTORE_DONE && item->outcome != RESTORE_PARTLY)
            continue;
        report->n_restored++;
        if (restore_make_undo(r, i, &undo))
            pre_images_add(&report->undo, r->arena, undo);
    }
}

static void remove_all(struct restoring *r, bool is_last_try)
{
    for (size_t i = r->plan->n; i-- > 0;) {
        const struct restore_move *move = &r->plan->moves[i];

        if (restore_must_go(&r->plan->items[i], &r->plan->now[i]) && !move->is_source &&
            !move->is_gone)
            remove_item(r, i, is_last_try);
    }
}

static void put_all(struct restoring *r,
                    bool (*is_meant)(const struct pre_image *aim, const struct file_state *now))
{
    for (size_t i = 0; i < r->plan->n; i++) {
        struct restore_item *item = &r->plan->items[i];
        struct file_state now = r->plan->now[i];

        if (r->plan->moves[i].is_gone)
            now.kind = IMAGE_NONE;
        if (item->outcome == RESTORE_PLANNED && item->aim.kind != IMAGE_NONE &&
            !r->plan->moves[i].from && (!is_meant || is_meant(&item->aim, &now)))
            put_item(r, item, &now);
    }
}

static bool is_directory(const struct pre_image *aim, const struct file_state *now)
{
    return aim->kind == IMAGE_DIRECTORY;
}

static void change(struct restoring *r)
{
    struct restore_item *items = r->plan->items;

    remove_all(r, /* is_last_try= */ false);
    put_all(r, is_directory);
    restore_do_moves(r);
    remove_all(r, /* is_last_try= */ true);
    put_all(r, restore_is_in_place);
    put_all(r, NULL);
    unlocks_done(&r->unlocks);
    for (size_t i = r->plan->n; i-- > 0;)
        if (items[i].outcome == RESTORE_PLANNED && items[i].aim.kind == IMAGE_DIRECTORY)
            finish_directory(r, &items[i], r->plan->now[i].path);
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
