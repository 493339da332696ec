/* guess.c - compares the missing parts of a path with existing names. */
#include "tool/file/guess.h"

#include "base/looks.h"
#include "sys/fs.h"
#include "sys/spot.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#define MAX_ENTRIES 10000 /* of a directory */
#define MAX_NAME 64       /* longer names are compared by their stems only */
#define MAX_DISTANCE 3

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

/* The edit distance: characters to insert, delete or change, ignoring case. */
static unsigned distance(struct str a, struct str b)
{
    unsigned char row[MAX_NAME + 1];

    for (size_t j = 0; j <= b.n; j++)
        row[j] = (unsigned char)j;
    for (size_t i = 0; i < a.n; i++) {
        unsigned diagonal = row[0];

        row[0] = (unsigned char)(i + 1);
        for (size_t j = 0; j < b.n; j++) {
            unsigned best = diagonal + (lower(a.p[i]) != lower(b.p[j]));

            best = MIN(best, row[j] + 1u);
            best = MIN(best, row[j + 1] + 1u);
            diagonal = row[j + 1];
            row[j + 1] = (unsigned char)best;
        }
    }
    return row[b.n];
}

static struct str stem(struct str name)
{
    size_t dot = str_rfind_char(name, '.');

    return dot == STR_NONE || dot == 0 ? name : str_slice(name, 0, dot);
}

#define NOT_ALIKE 100

/* Smaller is more alike. */
static unsigned unlikeness(struct str wanted, struct str name)
{
    unsigned d;

    if (str_eq(wanted, name))
        return 0;
    if (str_eq_nocase(wanted, name) || looks_same(wanted, name))
        return 1;
    if (str_eq_nocase(stem(wanted), stem(name)))
        return 2;
    if (wanted.n > MAX_NAME || name.n > MAX_NAME || wanted.n > name.n + MAX_DISTANCE ||
        name.n > wanted.n + MAX_DISTANCE)
        return NOT_ALIKE;
    d = distance(wanted, name);
    return d <= MAX_DISTANCE && d <= wanted.n / 3 ? 2 + d : NOT_ALIKE;
}

static bool is_hidden_in(const char *dir, const struct dirent *entry,
                         const struct path_filter *hidden)
{
    AUTO(arena) struct arena a = {0};

    return hidden && hidden->is_hidden(hidden->self, str_of(fs_join(&a, dir, entry->d_name)),
                                       entry->d_type == DT_DIR);
}

/* The entry of the directory that is most like `name`, in `a`; NULL: none is. `dir` is its path. */
static const char *find_alike(struct arena *a, DIR *entries, const char *dir, struct str name,
                              const struct path_filter *hidden)
{
    unsigned best = NOT_ALIKE, n_left = MAX_ENTRIES;
    const char *found = NULL;
    struct dirent *entry;

    while (n_left-- && (entry = readdir(entries))) {
        unsigned u = unlikeness(name, str_of(entry->d_name));

        if (u >= best || strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            is_hidden_in(dir, entry, hidden))
            continue;
        best = u;
        found = arena_cstr(a, str_of(entry->d_name));
    }
    return found;
}

static DIR *open_dir(int dir_fd, const char *name)
{
    int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *entries = fd < 0 ? NULL : fdopendir(fd);

    if (fd >= 0 && !entries)
        close(fd);
    return entries;
}

/* The path without its last n bytes and the slash before them, in `a`. */
static const char *without_end(struct arena *a, const char *path, size_t n)
{
    size_t n_kept = strlen(path) - n;

    return n_kept <= 1 ? "/" : arena_cstr(a, str_make(path, n_kept - 1));
}

struct path_guess path_guess(struct arena *a, const char *absolute_path, const char *target,
                             const struct path_filter *hidden)
{
    AUTO(spot) struct spot spot = SPOT_NONE;
    AUTO(err) struct err *e = spot_find(target, target, &spot);
    struct path_guess guess = {.has_dir = true};
    const char *dir, *given;
    struct str rest, name;
    DIR *entries;

    if (e)
        return guess;
    rest = str_of(spot.name);
    guess.has_dir = str_find_char(rest, '/') == STR_NONE;
    dir = without_end(a, target, rest.n);
    given = str_ends(str_of(absolute_path), rest) ? without_end(a, absolute_path, rest.n) : dir;
    entries = open_dir(spot.dir_fd, ".");
    while (entries && str_split(&rest, '/', &name)) {
        const char *alike = find_alike(a, entries, dir, name, hidden);
        DIR *below = alike && rest.n ? open_dir(dirfd(entries), alike) : NULL;

        closedir(entries);
        entries = below;
        if (!alike || (rest.n && !below))
            break;
        dir = fs_join(a, dir, alike);
        given = fs_join(a, given, alike);
        *(rest.n ? &guess.dir : &guess.path) = given;
    }
    return guess;
}
