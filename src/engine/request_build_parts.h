/* request_build_parts.h - the pieces of request_build.c: ids of calls, files, and a hash of what
 * was built. Pure. */
#ifndef KEEL_ENGINE_REQUEST_BUILD_PARTS_H
#define KEEL_ENGINE_REQUEST_BUILD_PARTS_H

#include "engine/request_build.h"

/* --- ids --- */

/* How the call at a part's place is sent. */
struct sent_call {
    struct str id, name;
    unsigned nth; /* of those with the same id in the message, from 0 */
};

/* By part: only those of calls are filled in. No id occurs twice in a request: providers repeat
 * them, within an answer and over answers, and others refuse that. The ids of an answer depend on
 * nothing that comes after it. `a` lives as long as the ids, what is returned as `scratch`. */
struct sent_call *call_ids_give(struct call_ids *ids, struct arena *a, struct arena *scratch,
                                const struct message *m);

/* --- files --- */

enum file_place { FILE_IN_PROMPT, FILE_IN_RESULT, FILE_IN_ANSWER };

/* The file with its type in the plain form that APIs know, and without a name that is only blanks.
 */
struct media request_media(struct arena *a, const struct media *m);
/* Can its protocol carry it there? */
bool request_takes_media(const struct request_target *t, const struct media *m,
                         enum file_place place);
/* The text in its place. */
struct str request_name_media(struct arena *a, const struct request_target *t,
                              const struct media *m);
/* The same for a file that the provider has refused. */
struct str request_name_refused(struct arena *a, const struct media *m, struct str reason);

/* --- what precedes an answer --- */

/* The target's form, or that of one that takes everything. */
const struct message_form *request_form(const struct request_target *t);
void bound_begin(struct bound *b, const struct request_target *t);
void bound_add(struct bound *b, const struct message *m);
void bound_format(const struct bound *b, char hex[SHA256_HEX_SIZE]); /* "" where it is not wanted */

bool bound_is_same(const struct bound *a, const struct bound *b);

/* --- what is kept --- */

struct built_prefix {
    struct message_list of; /* that it is built of */
    struct build_state built;
    /* for whom */
    struct strbuf provider, protocol;
    unsigned capabilities;
    const struct message_form *form;
    bool takes_file_urls;
    uint64_t refused;  /* files that it would not take */
    struct bound head; /* of what precedes the messages */
    bool is_lent;
};

/* With system messages, which are sent before all others. */
void build_state_begin(struct build_state *s, const struct request_target *t,
                       const struct message *const *messages, size_t n);

/* How many messages at the beginning are sent in the same way whatever follows. */
size_t request_count_settled(const struct message *const *messages, size_t n);
/* Is it the beginning of that request? `n_settled` of its messages may be in the prefix. */
bool built_prefix_fits(const struct built_prefix *p, const struct request_target *t,
                       const struct message *const *messages, size_t n, size_t n_settled);
void built_prefix_begin(struct built_prefix *p, const struct request_target *t,
                        const struct message *const *messages, size_t n);

/* --- text --- */

/* Nothing but what Unicode calls white space: providers refuse such text. */
bool request_is_blank(struct str text);

#endif
