/* sqlite_blobs.c - which directory holds the payloads of a database.
 *
 * FILE-blobs/: one directory for two databases would have each remove what it does not refer to,
 * though the other one may. Only the default database has blobs/, and databases that were made when
 * all had it. Where two of them are side by side nothing is removed from it. */
#include "store/sqlite_store.h"
#include "sys/fs.h"

#include <dirent.h>
#include <string.h>

#define DEFAULT_NAME "keel.db"

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static const char *folder_of(struct arena *a, const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? arena_cstr(a, str_make(path, (size_t)(slash - path) + (slash == path))) : ".";
}

/* FILE-blobs/. The default database has blobs/, as those that were made before had. */
static bool has_own_blobs(struct arena *a, const char *path)
{
    return strcmp(name_of(path), DEFAULT_NAME) != 0 &&
           (!fs_exists(path) || fs_is_dir(arena_format(a, "%s-blobs", path).p));
}

bool sqlite_has_neighbour(struct arena *a, const char *path)
{
    const char *folder = folder_of(a, path);
    DIR *d = opendir(folder);
    struct dirent *entry;
    bool found = false;

    while (d && !found && (entry = readdir(d))) {
        struct str name = str_of(entry->d_name);
        const char *other;

        if (!str_ends(name, S("-locks")))
            continue;
        name = str_slice(name, 0, name.n - strlen("-locks"));
        other = fs_join(a, folder, arena_cstr(a, name));
        found = !str_is(name, name_of(path)) && fs_exists(other) && !has_own_blobs(a, other);
    }
    if (d)
        closedir(d);
    return found;
}

const char *sqlite_blob_dir(struct arena *a, const char *path, bool *ret_own)
{
    *ret_own = has_own_blobs(a, path);
    return *ret_own ? arena_format(a, "%s-blobs", path).p
                    : fs_join(a, folder_of(a, path), SQLITE_SHARED_BLOBS);
}
