/* request_build_parts.h - the pieces of request_build.c: ids of calls, files, and a hash of what
 * was built. Pure. */
#ifndef KEEL_ENGINE_REQUEST_BUILD_PARTS_H
#define KEEL_ENGINE_REQUEST_BUILD_PARTS_H

#include "engine/request_build.h"

/* --- ids --- */

/* The ids that a request has used so far. Zeroed is empty; memory is the arena's. */
struct call_ids {
    struct used_id *slots;
    size_t n, room;
};

/* How the call at a part's place is sent. */
struct sent_call {
    struct str id, name;
    unsigned nth; /* of those with the same id in the message, from 0 */
};

/* By part: only those of calls are filled in. No id occurs twice in a request: providers repeat
 * them, within an answer and over answers, and others refuse that. What an answer is given depends
 * on nothing that comes after it. */
struct sent_call *call_ids_give(struct call_ids *ids, struct arena *a, const struct message *m);

/* --- files --- */

enum file_place { FILE_IN_PROMPT, FILE_IN_RESULT, FILE_IN_ANSWER };

/* The file with its type in the plain form that APIs know, and without a name that is only blanks.
 */
struct media request_media(struct arena *a, const struct media *m);
/* Can this protocol carry it there? All can, of a protocol that is not known. */
bool request_takes_media(const struct request_target *t, const struct media *m,
                         enum file_place place);
/* What stands in its place. */
struct str request_name_media(struct arena *a, const struct request_target *t,
                              const struct media *m);
/* The same for a file that the provider has refused. */
struct str request_name_refused(struct arena *a, const struct media *m, struct str reason);

/* --- what stands before an answer --- */

/* Zeroed it is not wanted. */
struct bound {
    bool is_wanted;
    struct sha256 hash;
};
void bound_begin(struct bound *b, const struct request_target *t);
void bound_add(struct bound *b, const struct message *m);
void bound_tell(const struct bound *b, char hex[SHA256_HEX_SIZE]); /* "" where it is not wanted */

/* --- text --- */

/* Nothing but what Unicode calls white space: providers refuse such text. */
bool request_is_blank(struct str text);

#endif
