/* state.c - looks at a path, and reads it. */
#include "snapshot/state.h"

#include "snapshot/plain.h"
#include "sys/auto_fd.h"
#include "sys/locked_file.h"
#include "sys/open_plain.h"
#include "sys/xattrs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>

#define READ_STEP ((size_t)1 << 16)
#define STATX_WANTED (STATX_BASIC_STATS | STATX_BTIME)
#define TICK_NS                                                                                    \
    20000000 /* times of files advance with the ticks of the kernel, of 10 ms at most              \
              */

/* --- looking --- */

static int64_t to_ns(struct statx_timestamp t)
{
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t state_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static enum image_kind kind_of(mode_t mode)
{
    if (S_ISREG(mode))
        return IMAGE_FILE;
    if (S_ISDIR(mode))
        return IMAGE_DIRECTORY;
    return S_ISLNK(mode) ? IMAGE_LINK : IMAGE_OTHER;
}

static void take_stat(struct file_state *f, const struct statx *st)
{
    f->kind = kind_of(st->stx_mode);
    f->mode = f->kind == IMAGE_LINK ? 0 : st->stx_mode & 07777;
    f->uid = st->stx_uid;
    f->gid = st->stx_gid;
    f->n_names = f->kind == IMAGE_DIRECTORY ? 0 : st->stx_nlink;
    f->seen_ns = state_now_ns();
    f->born_ns = st->stx_mask & STATX_BTIME ? to_ns(st->stx_btime) : 0;
    f->stamp = (struct stamp){
        .mtime_ns = to_ns(st->stx_mtime),
        .ctime_ns = to_ns(st->stx_ctime),
        .size = st->stx_size,
        .inode = st->stx_ino,
        .device = makedev(st->stx_dev_major, st->stx_dev_minor),
    };
}

/* For a path without links; its owner may read it meanwhile. */
static bool read_xattrs_of(const char *path, const struct stat *st, struct strbuf *out)
{
    bool is_read = xattrs_read(path, out);

    if (is_read || errno != EACCES || st->st_uid != geteuid() ||
        chmod(path, (st->st_mode & 07777) | S_IRUSR) < 0)
        return is_read;
    strbuf_clear(out);
    is_read = xattrs_read(path, out);
    return chmod(path, st->st_mode & 07777) == 0 && is_read;
}

static bool read_xattrs(int dir_fd, const char *name, struct strbuf *out)
{
    AUTO_FD fd = openat(dir_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    char path[64];
    struct stat st;

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return fd >= 0 && fstat(fd, &st) == 0 && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) &&
           read_xattrs_of(path, &st, out);
}

static void digest_of(struct str bytes, unsigned char digest[SHA256_SIZE])
{
    struct sha256 h;

    sha256_init(&h);
    sha256_add(&h, bytes);
    sha256_end(&h, digest);
}

/* Most files have none. */
static void look_at_xattrs(struct file_state *f, int dir_fd, const char *name)
{
    AUTO(strbuf) struct strbuf text = {.max_bytes = XATTRS_MAX_BYTES};

    if ((f->kind != IMAGE_FILE && f->kind != IMAGE_DIRECTORY) || !xattrs_exist(dir_fd, name))
        return;
    f->has_xattrs = true;
    if (read_xattrs(dir_fd, name, &text))
        digest_of(strbuf_str(&text), f->xattrs);
}

bool state_look(struct file_state *f)
{
    AUTO(unlocks) struct unlocks unlocks = {0};
    const char *name;
    AUTO_FD dir_fd = plain_open_parent(f->path, &unlocks, &name);
    struct statx st;

    *f = (struct file_state){.path = f->path, .seen_ns = state_now_ns()};
    if (dir_fd < 0 || statx(dir_fd, name, AT_SYMLINK_NOFOLLOW, STATX_WANTED, &st) < 0)
        return plain_is_absent(errno);
    take_stat(f, &st);
    f->changed_ns = f->stamp.ctime_ns;
    look_at_xattrs(f, dir_fd, name);
    return true;
}

/* --- reading --- */

static const char *why_unreadable(int error)
{
    if (error == EACCES || error == EPERM)
        return "keel may not read it";
    return plain_is_absent(error) ? "it was removed before keel could read it"
                                  : "it cannot be read";
}

/* Makes it readable for its owner for a moment. */
static int open_shut(int path_fd, unsigned mode)
{
    char path[64];
    int fd;

    snprintf(path, sizeof path, "/proc/self/fd/%d", path_fd);
    if (chmod(path, mode | S_IRUSR) < 0)
        return -1;
    fd = locked_file_openat(AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (chmod(path, mode) < 0 && fd >= 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static int open_to_read(const struct file_state *f, bool *ret_was_shut)
{
    AUTO(unlocks) struct unlocks unlocks = {0};
    int fd = open_plain(f->path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    const char *name;
    struct stat st;

    *ret_was_shut = false;
    if (fd >= 0 || errno != EACCES)
        return fd;
    AUTO_FD dir_fd = plain_open_parent(f->path, &unlocks, &name);
    if (dir_fd < 0)
        return -1;
    fd =
        locked_file_openat(dir_fd, name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 || errno != EACCES)
        return fd;
    AUTO_FD path_fd = openat(dir_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (path_fd < 0 || fstat(path_fd, &st) < 0 || !S_ISREG(st.st_mode))
        return -1;
    *ret_was_shut = true;
    fd = open_shut(path_fd, st.st_mode & 07777);
    if (fd < 0)
        errno = EACCES;
    return fd;
}

/* It may have changed between the look and the end of reading. */
static void note_change(struct file_state *f, int fd, bool was_shut)
{
    struct statx st;

    if (statx(fd, "", AT_EMPTY_PATH, STATX_CTIME, &st) == 0 &&
        (!was_shut || to_ns(st.stx_ctime) != f->stamp.ctime_ns))
        f->changed_ns = to_ns(st.stx_ctime);
}

static const char *read_file(struct file_state *f, uint64_t max_bytes, struct strbuf *out)
{
    bool was_shut;
    AUTO_FD fd = open_to_read(f, &was_shut);
    struct statx st;

    if (fd < 0)
        return why_unreadable(errno);
    if (statx(fd, "", AT_EMPTY_PATH, STATX_WANTED, &st) < 0)
        return why_unreadable(errno);
    /* The stamp belongs to what is read now: a file that is written meanwhile gets another. */
    take_stat(f, &st);
    if (f->kind != IMAGE_FILE)
        return "it was replaced before keel could read it";
    for (;;) {
        char *at = strbuf_reserve(out, READ_STEP);
        ssize_t n = at ? read(fd, at, READ_STEP) : 0;

        if (!at || out->n > max_bytes)
            return "it is too large";
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return why_unreadable(errno);
        if (n == 0) {
            note_change(f, fd, was_shut);
            return NULL;
        }
        strbuf_grew(out, (size_t)n);
    }
}

static const char *read_link(struct file_state *f, struct strbuf *out)
{
    AUTO(unlocks) struct unlocks unlocks = {0};
    char *at = strbuf_reserve(out, PATH_MAX);
    const char *name;
    AUTO_FD dir_fd = plain_open_parent(f->path, &unlocks, &name);
    ssize_t n = dir_fd < 0 || !at ? -1 : readlinkat(dir_fd, name, at, PATH_MAX);

    if (n < 0)
        return why_unreadable(errno);
    strbuf_grew(out, (size_t)n);
    return NULL;
}

struct err *state_read(struct file_state *f, uint64_t max_bytes, struct blob_store *blobs,
                       struct strbuf *buffer)
{
    char handle[SHA256_HEX_SIZE];

    strbuf_clear(buffer);
    f->why_not = f->kind == IMAGE_LINK ? read_link(f, buffer) : read_file(f, max_bytes, buffer);
    f->is_known = f->is_saved = f->has_bytes = false;
    if (f->why_not)
        return NULL;
    digest_of(strbuf_str(buffer), f->digest);
    f->is_known = true;
    if (!blobs)
        return NULL;
    TRY(blob_put_soon(blobs, strbuf_str(buffer), handle));
    f->is_saved = true;
    return NULL;
}

struct err *state_save_xattrs(const struct file_state *f, struct blob_store *blobs)
{
    AUTO(unlocks) struct unlocks unlocks = {0};
    AUTO(strbuf) struct strbuf text = {.max_bytes = XATTRS_MAX_BYTES};
    unsigned char digest[SHA256_SIZE];
    char handle[SHA256_HEX_SIZE];
    const char *name;

    if (!f->has_xattrs)
        return NULL;
    AUTO_FD dir_fd = plain_open_parent(f->path, &unlocks, &name);
    if (dir_fd < 0 || !read_xattrs(dir_fd, name, &text))
        return NULL;
    digest_of(strbuf_str(&text), digest);
    return memcmp(digest, f->xattrs, sizeof digest) == 0
               ? blob_put_soon(blobs, strbuf_str(&text), handle)
               : NULL;
}

void state_take_attributes(struct file_state *f, const struct file_state *other)
{
    f->mode = other->mode;
    f->uid = other->uid;
    f->gid = other->gid;
    f->has_xattrs = other->has_xattrs;
    memcpy(f->xattrs, other->xattrs, sizeof f->xattrs);
}

/* --- comparing --- */

bool stamp_eq(const struct stamp *a, const struct stamp *b)
{
    return a->mtime_ns == b->mtime_ns && a->ctime_ns == b->ctime_ns && a->size == b->size &&
           a->inode == b->inode && a->device == b->device;
}

bool state_is_racy(const struct file_state *f)
{
    int64_t changed_ns = MAX(f->stamp.ctime_ns, f->stamp.mtime_ns);
    int64_t granule_ns =
        changed_ns % 1000000000 ? TICK_NS : 2000000000; /* some file systems count in seconds */

    return changed_ns > f->seen_ns - granule_ns;
}

bool state_eq_attributes(const struct file_state *a, const struct file_state *b)
{
    return a->kind == b->kind && a->mode == b->mode && a->uid == b->uid && a->gid == b->gid &&
           a->has_xattrs == b->has_xattrs && memcmp(a->xattrs, b->xattrs, sizeof a->xattrs) == 0;
}

bool state_eq(const struct file_state *a, const struct file_state *b)
{
    if (!state_eq_attributes(a, b))
        return false;
    if (a->is_known && b->is_known)
        return memcmp(a->digest, b->digest, sizeof a->digest) == 0;
    return !state_has_content(a) || stamp_eq(&a->stamp, &b->stamp);
}

/* Times of a directory say nothing about its contents. A number that was reused belongs to a file
 * that was born after the last change of its former one. */
enum same_file state_compare_identity(const struct file_state *now, enum image_kind kind,
                                      const struct file_identity *id)
{
    if (!id->inode || now->kind != kind || now->stamp.inode != id->inode ||
        now->stamp.device != id->device)
        return SAME_FILE_NO;
    if (now->born_ns > id->ctime_ns)
        return SAME_FILE_NO;
    if (kind != IMAGE_DIRECTORY && now->stamp.size == id->size &&
        now->stamp.mtime_ns == id->mtime_ns)
        return SAME_FILE_YES;
    if (!now->born_ns)
        return SAME_FILE_UNSURE;
    return kind == IMAGE_DIRECTORY ? SAME_FILE_YES : SAME_FILE_CHANGED;
}

/* --- signatures --- */

static struct str hex_of(struct arena *a, const unsigned char digest[SHA256_SIZE])
{
    char *hex = arena_alloc(a, SHA256_HEX_SIZE);

    sha256_format_hex(digest, hex);
    return str_of(hex);
}

static struct str stamp_sign(struct arena *a, uint64_t size, int64_t mtime_ns, uint64_t inode)
{
    return arena_format(a, "stamp:%llu:%lld:%llu", (unsigned long long)size, (long long)mtime_ns,
                        (unsigned long long)inode);
}

struct str identity_sign(struct arena *a, const struct file_identity *id)
{
    return stamp_sign(a, id->size, id->mtime_ns, id->inode);
}

bool state_has_xattrs(const struct file_state *f, struct str handle)
{
    char hex[SHA256_HEX_SIZE];

    if (!f->has_xattrs || !handle.n)
        return !f->has_xattrs && !handle.n;
    sha256_format_hex(f->xattrs, hex);
    return str_is(handle, hex);
}

struct str state_sign(struct arena *a, const struct file_state *f)
{
    struct str hex = f->is_known ? hex_of(a, f->digest) : (struct str){0};

    if (f->kind == IMAGE_NONE)
        return (struct str){0};
    if (!state_has_content(f))
        return str_of(image_kind_name(f->kind));
    if (!f->is_known)
        return stamp_sign(a, f->stamp.size, f->stamp.mtime_ns, f->stamp.inode);
    return f->kind == IMAGE_LINK ? arena_format(a, "link:%s", hex.p) : hex;
}

bool image_sign(struct arena *a, const struct pre_image *image, struct str *ret_sign)
{
    bool has_content = image->kind == IMAGE_FILE || image->kind == IMAGE_LINK;

    if (image->why_not.n || image->keeps_content || (has_content && image->content.n == 0))
        return false;
    if (image->kind == IMAGE_NONE)
        *ret_sign = (struct str){0};
    else if (!has_content)
        *ret_sign = str_of(image_kind_name(image->kind));
    else if (image->kind == IMAGE_LINK)
        *ret_sign = arena_format(a, "link:%" STR_FMT, STR_ARG(image->content));
    else
        *ret_sign = image->content;
    return true;
}

static struct str reason(const struct file_state *before, bool keeps_content)
{
    if (before->why_not)
        return str_of(before->why_not);
    if (before->kind == IMAGE_OTHER && !keeps_content)
        return S("keel does not save pipes, sockets and devices");
    if (state_has_content(before) && !before->is_saved && !keeps_content)
        return S("its content was not saved");
    return (struct str){0};
}

struct pre_image state_image(struct arena *a, const struct file_state *before, bool keeps_content,
                             const struct file_state *after)
{
    bool has_content = state_has_content(before) && before->is_saved && !keeps_content;
    struct pre_image image = {
        .path = arena_str(a, str_of(before->path)),
        .kind = before->kind,
        .mode = before->mode,
        .content = has_content ? hex_of(a, before->digest) : (struct str){0},
        .n_bytes = has_content ? before->stamp.size : 0,
        .has_bytes = has_content && before->has_bytes,
        .bytes = has_content ? arena_str(a, before->bytes) : (struct str){0},
        .keeps_content = keeps_content,
        .why_not = arena_str(a, reason(before, keeps_content)),
        .is_ignored = before->is_ignored,
        .has_owner = before->kind != IMAGE_NONE,
        .uid = before->uid,
        .gid = before->gid,
        .after = after ? state_sign(a, after) : (struct str){0},
        .now_inode = after && after->kind != IMAGE_NONE ? after->stamp.inode : 0,
    };

    image.has_xattrs = before->has_xattrs || (after && after->has_xattrs);
    if (before->has_xattrs)
        image.xattrs = hex_of(a, before->xattrs);
    if ((image.why_not.n || before->is_ignored) && before->kind != IMAGE_NONE)
        image.identity = (struct file_identity){
            .device = before->stamp.device,
            .inode = before->stamp.inode,
            .size = before->stamp.size,
            .mtime_ns = before->stamp.mtime_ns,
            .ctime_ns = before->stamp.ctime_ns,
        };
    if (before->kind == IMAGE_FILE) {
        image.n_names = before->n_names;
        image.device = before->stamp.device;
        image.inode = before->stamp.inode;
    }
    return image;
}
