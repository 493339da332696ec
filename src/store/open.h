/* open.h - opens a store by its name, as settings and the command line give it. */
#ifndef KEEL_STORE_OPEN_H
#define KEEL_STORE_OPEN_H

#include "port/store.h"
#include "sys/dylib.h"

/* What help and errors say about names of stores. */
#define STORE_FORMS "sqlite:FILE, files:DIRECTORY, postgres://USER@HOST/DATABASE, memory:"

struct store_opening; /* a name taken apart: open.c's own */

struct store_kind {
    const char *schemes;           /* separated by blanks */
    const struct library *library; /* that it loads; NULL: none */
    struct err *(*open)(const struct store_opening *o, struct store **ret_store);
};
extern const struct store_kind store_kinds[]; /* ends with NULL schemes */

/* The name is sqlite:FILE, files:DIRECTORY, postgres://... (or postgresql://...), memory:, or the
 * path of an SQLite file. NULL and "" mean sqlite:. Without FILE or DIRECTORY the store is keel.db
 * or sessions in `home`, keel's own directory. "~/" is the user's home directory. The directory
 * that holds the file or directory must exist, unless it belongs to `home`. Links are followed
 * once, here: a store is the same under all names of its place. `timeout_ms` is how long a server
 * may be silent; 0: the store's default. Opens nothing yet: the first call that needs the store
 * reports what is wrong with it. */
MUST_USE struct err *store_from_url(const char *spec, const char *home, uint64_t timeout_ms,
                                    struct store **ret_store);

#endif
