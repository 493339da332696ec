/* git_state_fuzz.c - whatever the files of a repository hold, what is told of it is one short line
 * of known words and of names that git would take.
 *
 * The input is the files of files[], in that order, with a byte 0x1E between them. */
#include "sdk/prompt/git_state.h"

#include "base/strbuf.h"
#include "base/utf8.h"
#include "sys/fs.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SEPARATOR '\x1E'
#define MAX_TOLD 700 /* two names and the words around them */

static const char *const files[] = {
    "top/.git/HEAD",        "top/.git/commondir", "top/.git/refs/remotes/origin/HEAD",
    "top/.git/packed-refs", "tree/.git",
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char root[256];

static int remove_entry(const char *path, const struct stat *s, int type, struct FTW *f)
{
    return remove(path);
}

static void remove_root(void)
{
    nftw(root, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static void make_root(struct arena *a)
{
    const char *tmp = getenv("TMPDIR");

    if (root[0])
        return;
    snprintf(root, sizeof root, "%s/keel-fuzz-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    BUG_IF(!mkdtemp(root));
    atexit(remove_root);
    err_ignore(fs_make_dirs(fs_join(a, root, "top/.git/refs/remotes/origin"), 0700), "see below");
    err_ignore(fs_make_dirs(fs_join(a, root, "top/.git/refs/heads"), 0700), "see below");
    err_ignore(fs_make_dirs(fs_join(a, root, "tree"), 0700), "a file in it cannot be made then");
}

/* Most inputs differ from the one before in one file only. A file that is cut to nothing and
 * written anew would be written to the disk, by ext4's leave. */
static void write_file(const char *path, struct str bytes, struct strbuf *written)
{
    int fd;

    if (written->n && str_eq(bytes, strbuf_str(written)))
        return;
    strbuf_clear(written);
    strbuf_add(written, bytes);
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    BUG_IF(fd < 0 || write(fd, bytes.p, bytes.n) != (ssize_t)bytes.n ||
           ftruncate(fd, (off_t)bytes.n) != 0);
    close(fd);
}

/* A model reads it behind keel's own words. */
static void check(struct str told)
{
    BUG_IF(told.n > MAX_TOLD || !utf8_is_valid(told));
    for (size_t i = 0; i < told.n; i++)
        BUG_IF((unsigned char)told.p[i] < ' ' || told.p[i] == 127 || told.p[i] == '<' ||
               told.p[i] == '>');
    BUG_IF(told.n && !str_starts(told, S("on branch ")) &&
           !str_starts(told, S("HEAD is detached at ")) && !str_starts(told, S("main branch: ")) &&
           !str_starts(told, S("a ")));
    if (str_starts(told, S("HEAD is detached at ")))
        for (size_t i = 20; i < 30; i++)
            BUG_IF(i >= told.n || !strchr("0123456789abcdef", told.p[i]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct strbuf written[ARRAY_LEN(files)];
    AUTO(arena) struct arena a = {0};
    struct str rest = str_make((const char *)data, size), bytes;

    make_root(&a);
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        if (!str_split(&rest, SEPARATOR, &bytes))
            bytes = (struct str){0};
        write_file(fs_join(&a, root, files[i]), bytes, &written[i]);
    }
    check(git_state_describe(&a, fs_join(&a, root, "top")));
    check(git_state_describe(&a, fs_join(&a, root, "tree")));
    return 0;
}
