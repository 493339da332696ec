/* import_handles.h - names in an imported history that tools must know: stored results and
 * background commands. Private to import.
 *
 * A message may name a result that was too long for it ("out_3") or a command ("bash_2"). Each such
 * name goes to the state of the new session, so that it can be used and is not given again: a
 * result with its text if the file has it, else with a text that says so. */
#ifndef KEEL_TRANSCRIPT_IMPORT_HANDLES_H
#define KEEL_TRANSCRIPT_IMPORT_HANDLES_H

#include "base/secrets.h"
#include "transcript/import_parts.h"

/* --- reading --- */

/* Keeps a result that a log holds whole: a name may refer to it. */
void import_keep_result(struct importing *x, struct imported *s, struct str text);
/* Reads a change of state that gives a result its name. */
void import_take_state(struct importing *x, struct imported *s, struct str key,
                       const struct json *value);

/* --- saving --- */

/* Names that occur in messages. Zeroed is empty. */
struct import_names {
    uint32_t *results; /* their numbers */
    size_t n_results, room;
    uint32_t last_command; /* 0: none */
};
void import_names_done(struct import_names *n);
void import_names_note(struct import_names *n, const struct message *m);

struct import_state {
    struct import *import;
    const struct imported *session;
    const struct import_names *names;
    struct blob_store *blobs; /* where texts of results go */
    const struct secrets *secrets;
    uint64_t *found; /* credentials */
};
/* Adds them to `state`, which lives in `a`. May wait. */
MUST_USE struct err *import_state_add(const struct import_state *from, struct arena *a,
                                      struct json *state);

#endif
