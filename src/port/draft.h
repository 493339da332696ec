/* draft.h - sessions that are made in several steps, such as a copy or an import.
 *
 * A note in keel's home says which are not whole yet. It is locked as long as its process lives;
 * when that is killed, the next keel that uses the store removes the sessions, with all below them.
 * So they are there as a whole or not at all. Where no note can be written, they are made all the
 * same. All of it may wait: in a task. */
#ifndef KEEL_PORT_DRAFT_H
#define KEEL_PORT_DRAFT_H

#include "port/store.h"

struct draft {
    char *path; /* NULL: there is no note */
    int fd;
};
#define DRAFT_NONE ((struct draft){.fd = -1})

/* Before the session is made, whose id must be free. A session that has another time is another's
 * and is never removed. ERR_STORAGE: another process is making a session with this id. */
MUST_USE struct err *draft_begin(struct draft *d, const struct store *s, struct str id,
                                 int64_t created_ms);
void draft_add(struct draft *d, struct str id, int64_t created_ms); /* one more */
void draft_end(struct draft *d);                                    /* they are whole, or gone */
void draft_done(struct draft *d); /* without an end: the next keel removes them */
DEFINE_AUTO_VAL(draft, draft_done)

/* Notes of this store are in keel's home `home`; `place` is what tells it from others. */
void drafts_keep_in(struct store *s, const char *home, struct str place);
/* Removes what killed processes have begun in this store. Cheap where there is nothing. */
void drafts_sweep(struct store *s);

#endif
