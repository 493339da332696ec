/* open.h - a store by its name, as settings and the command line give it. */
#ifndef KEEL_STORE_OPEN_H
#define KEEL_STORE_OPEN_H

#include "port/store.h"

/* sqlite:FILE, files:DIRECTORY, postgres://... (or postgresql://...), memory:, or a path, which is
 * that of an SQLite file. Without FILE or DIRECTORY it is keel.db or sessions in `home`, keel's own
 * directory; no name at all, NULL or empty, is sqlite:. "~/" is the user's home directory. The
 * directory that the file or directory is in must exist, unless it belongs to `home`.
 * Links are followed once, here: a store is the same under all names of its place. `timeout_ms` is
 * how long a server may be silent; 0: as long as the store thinks right. Nothing is opened yet: the
 * first call that needs the store tells what is wrong with it. */
MUST_USE struct err *store_from_url(const char *spec, const char *home, uint64_t timeout_ms,
                                    struct store **ret_store);

#endif
