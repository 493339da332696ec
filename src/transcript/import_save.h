/* import_save.h - makes a session of the store from one that was read.
 *
 * Its stream begins with session_init and holds the history as a copy ("fork-base"), with the
 * original times. Long histories are appended piece by piece. An incomplete one is a draft
 * (port/draft.h), so a session exists as a whole, or not at all. */
#ifndef KEEL_TRANSCRIPT_IMPORT_SAVE_H
#define KEEL_TRANSCRIPT_IMPORT_SAVE_H

#include "base/secrets.h"
#include "port/store.h"
#include "sys/random.h"
#include "transcript/import.h"

struct import_place {
    struct store *store;
    struct str cwd;                /* if the file does not say */
    struct str name;               /* replaces its own; may be empty */
    const struct secrets *secrets; /* removed from all texts; may be NULL */
    const struct random *random;   /* for ids; NULL: the system's */
    /* Messages written, of all. May be NULL. */
    void (*on_progress)(void *self, uint64_t n, uint64_t n_all);
    void *self;
};

/* Texts live in the import's arena. */
struct saved_session {
    struct str id;
    bool has_new_id;    /* its own was taken, or unusable for a store */
    struct str preview; /* the start of the first prompt */
    size_t n_messages;  /* including those of replaced histories */
};

/* Saves all sessions of the file, children below their parents, or none of them. `ret_saved` has
 * room for one each; `ret_found` says which credentials were found. May wait. */
MUST_USE struct err *import_save(struct import *i, const struct import_place *place,
                                 struct saved_session *ret_saved, uint64_t *ret_found);

#endif
