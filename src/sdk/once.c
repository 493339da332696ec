/* once.c - a directory of digests. */
#include "sdk/once.h"

#include "base/arena.h"
#include "base/sha256.h"
#include "sys/fs.h"

bool once_begin(struct str keel_home, struct str text)
{
    AUTO(arena) struct arena a = {0};
    AUTO(err) struct err *e = NULL; /* where it cannot be kept, it is said again */
    char digest[SHA256_HEX_SIZE];
    const char *dir, *file;

    if (keel_home.n == 0)
        return true;
    sha256_hex(text, digest);
    dir = fs_join(&a, arena_cstr(&a, keel_home), "said");
    file = fs_join(&a, dir, digest);
    if (fs_exists(file))
        return false;
    e = fs_make_dirs(dir, 0700);
    if (!e)
        e = fs_write_atomic(file, (struct str){0}, 0600);
    return true;
}
