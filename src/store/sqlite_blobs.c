/* sqlite_blobs.c - the directory that holds the payloads of a database, and perhaps of others. */
#include "store/sqlite_store.h"
#include "sys/fs.h"

#include <dirent.h>
#include <string.h>

const char *sqlite_folder(struct arena *a, const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? arena_cstr(a, str_make(path, (size_t)(slash - path) + (slash == path))) : ".";
}

const char *sqlite_blob_dir(struct arena *a, const char *path)
{
    return fs_join(a, sqlite_folder(a, path), "blobs");
}

/* Every database has FILE-locks beside it. */
bool sqlite_has_neighbour(const char *path)
{
    AUTO(arena) struct arena a = {0};
    const char *folder = sqlite_folder(&a, path);
    const char *own =
        arena_format(&a, "%s-locks", strrchr(path, '/') ? strrchr(path, '/') + 1 : path).p;
    DIR *d = opendir(folder);
    struct dirent *entry;
    bool found = false;

    while (d && !found && (entry = readdir(d))) {
        struct str name = str_of(entry->d_name);

        found = str_ends(name, S("-locks")) && !str_is(name, own) &&
                fs_exists(fs_join(&a, folder,
                                  arena_cstr(&a, str_slice(name, 0, name.n - strlen("-locks")))));
    }
    if (d)
        closedir(d);
    return found;
}
