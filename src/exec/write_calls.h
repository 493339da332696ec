/* write_calls.h - the system calls that change names, contents or attributes of files.
 *
 * The kernel holds them for keel-exec (notices.c), and keel reads from their arguments what they
 * will change. A file that is open for writing can be changed without another of them: so the open
 * counts. Calls that a sandbox always refuses (openat2, io_uring, opening by handle) are not here,
 * nor are times of files, which are never restored. */
#ifndef KEEL_EXEC_WRITE_CALLS_H
#define KEEL_EXEC_WRITE_CALLS_H

#include <fcntl.h>
#include <stdint.h>
#include <sys/syscall.h>

enum write_call_kind {
    WRITE_CALL_OPEN, /* held only with these flags: WRITE_CALL_OPEN_FLAGS */
    WRITE_CALL_CONTENT,
    WRITE_CALL_ATTRIBUTES,
    WRITE_CALL_LINK_ATTRIBUTES, /* the same, not following a link at the end */
    WRITE_CALL_REMOVE,
    WRITE_CALL_RENAME,
    WRITE_CALL_NAME, /* creates something */
    WRITE_CALL_LINK, /* gives an existing file another name */
};

/* The position of an argument; none: the working directory, the descriptor of the directory itself,
 * no flags. */
#define WRITE_CALL_NONE (-1)

struct write_call {
    uint16_t call;
    uint8_t kind; /* enum write_call_kind */
    int8_t dir, path, flags;
    int8_t to_dir, to_path; /* the second path of a rename or a link */
};

/* The flags of an open that may change something, unless it also has one of the others: these only
 * name a file, or create one that has no name until it is linked. */
#define WRITE_CALL_OPEN_FLAGS (O_ACCMODE | O_CREAT | O_TRUNC)
#define WRITE_CALL_OPEN_HARMLESS (O_PATH | (O_TMPFILE & ~O_DIRECTORY))

/* clang-format off */
static const struct write_call write_calls[] = {
#define NO WRITE_CALL_NONE
    /*                                             dir path flags, to_dir to_path */
    {SYS_openat,       WRITE_CALL_OPEN,             0,  1,  2,  NO, NO},
    {SYS_truncate,     WRITE_CALL_CONTENT,          NO, 0,  NO, NO, NO},
    {SYS_fchmod,       WRITE_CALL_ATTRIBUTES,       0,  NO, NO, NO, NO},
    {SYS_fchmodat,     WRITE_CALL_ATTRIBUTES,       0,  1,  NO, NO, NO},
    {452,              WRITE_CALL_ATTRIBUTES,       0,  1,  3,  NO, NO}, /* fchmodat2 */
    {SYS_fchown,       WRITE_CALL_ATTRIBUTES,       0,  NO, NO, NO, NO},
    {SYS_fchownat,     WRITE_CALL_ATTRIBUTES,       0,  1,  4,  NO, NO},
    {SYS_setxattr,     WRITE_CALL_ATTRIBUTES,       NO, 0,  NO, NO, NO},
    {SYS_lsetxattr,    WRITE_CALL_LINK_ATTRIBUTES,  NO, 0,  NO, NO, NO},
    {SYS_fsetxattr,    WRITE_CALL_ATTRIBUTES,       0,  NO, NO, NO, NO},
    {SYS_removexattr,  WRITE_CALL_ATTRIBUTES,       NO, 0,  NO, NO, NO},
    {SYS_lremovexattr, WRITE_CALL_LINK_ATTRIBUTES,  NO, 0,  NO, NO, NO},
    {SYS_fremovexattr, WRITE_CALL_ATTRIBUTES,       0,  NO, NO, NO, NO},
    {SYS_unlinkat,     WRITE_CALL_REMOVE,           0,  1,  NO, NO, NO},
    {SYS_renameat2,    WRITE_CALL_RENAME,           0,  1,  4,  2,  3},
#ifdef SYS_renameat
    {SYS_renameat,     WRITE_CALL_RENAME,           0,  1,  NO, 2,  3},
#endif
    {SYS_mkdirat,      WRITE_CALL_NAME,             0,  1,  NO, NO, NO},
    {SYS_mknodat,      WRITE_CALL_NAME,             0,  1,  NO, NO, NO},
    {SYS_symlinkat,    WRITE_CALL_NAME,             1,  2,  NO, NO, NO},
    {SYS_linkat,       WRITE_CALL_LINK,             2,  3,  4,  0,  1},
#ifdef __x86_64__
    {SYS_open,         WRITE_CALL_OPEN,             NO, 0,  1,  NO, NO},
    {SYS_creat,        WRITE_CALL_CONTENT,          NO, 0,  NO, NO, NO},
    {SYS_chmod,        WRITE_CALL_ATTRIBUTES,       NO, 0,  NO, NO, NO},
    {SYS_chown,        WRITE_CALL_ATTRIBUTES,       NO, 0,  NO, NO, NO},
    {SYS_lchown,       WRITE_CALL_LINK_ATTRIBUTES,  NO, 0,  NO, NO, NO},
    {SYS_unlink,       WRITE_CALL_REMOVE,           NO, 0,  NO, NO, NO},
    {SYS_rmdir,        WRITE_CALL_REMOVE,           NO, 0,  NO, NO, NO},
    {SYS_rename,       WRITE_CALL_RENAME,           NO, 0,  NO, NO, 1},
    {SYS_mkdir,        WRITE_CALL_NAME,             NO, 0,  NO, NO, NO},
    {SYS_mknod,        WRITE_CALL_NAME,             NO, 0,  NO, NO, NO},
    {SYS_symlink,      WRITE_CALL_NAME,             NO, 1,  NO, NO, NO},
    {SYS_link,         WRITE_CALL_LINK,             NO, 1,  NO, NO, 0},
#endif
#undef NO
};
/* clang-format on */

#endif
