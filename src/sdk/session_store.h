/* session_store.h - where a project's sessions are kept, and how people name one of them. */
#ifndef KEEL_SDK_SESSION_STORE_H
#define KEEL_SDK_SESSION_STORE_H

#include "port/store.h"
#include "sdk/project.h"
#include "store/open.h" /* how stores are named */

/* `given` as store/open.h takes it; NULL: KEEL_STORE, else the setting, else the default in keel's
 * home. */
struct str session_store_name(const struct project *p, const char *given, struct arena *a);
/* The store of that name, which may be empty, as host_open_store() opens it: host_close_store()
 * closes it. */
MUST_USE struct err *session_store_open(const struct project *p, struct str name,
                                        struct store **ret_store, bool *ret_is_kept);
/* The file or directory of the store of that name; NULL: it has none. In `a`. */
const char *session_store_place(const struct project *p, struct str name, struct arena *a);

/* The same for a caller that looks for sessions: nothing is created. A store that was asked for and
 * does not exist is ERR_VALIDATION, and so is the default without a home. Before its first use the
 * default is empty. */
MUST_USE struct err *session_store_open_existing(const struct project *p, struct str name,
                                                 struct store **ret_store, bool *ret_is_kept);

/* An id, the start of one (8 letters or more), or a name: of a session in `cwd`, or else anywhere.
 * ERR_VALIDATION when there is none, or more than one. */
MUST_USE struct err *session_store_find(struct store *s, struct str cwd, struct str given,
                                        struct arena *a, struct store_summary *ret_summary);
/* The same; *ret_found false, and no error, when there is none. */
MUST_USE struct err *session_store_look(struct store *s, struct str cwd, struct str given,
                                        struct arena *a, struct store_summary *ret_summary,
                                        bool *ret_found);
/* The newest one of that directory; ERR_VALIDATION when it has none. */
MUST_USE struct err *session_store_find_newest(struct store *s, struct str cwd, struct arena *a,
                                               struct store_summary *ret_summary);

#endif
