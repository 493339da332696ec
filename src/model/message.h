/* message.h - one message of a conversation: immutable once made, shared by reference.
 *
 * Made with a builder: message_new(), add parts, then only read. The message owns all its
 * strings, or holds the message that does. Counting references is not atomic: a message belongs to
 * one loop's thread. */
#ifndef KEEL_MODEL_MESSAGE_H
#define KEEL_MODEL_MESSAGE_H

#include "model/part.h"
#include "model/usage.h"

enum role { ROLE_SYSTEM, ROLE_USER, ROLE_ASSISTANT, ROLE_TOOL };
enum message_state {
    MESSAGE_COMPLETE,
    MESSAGE_INTERRUPTED, /* the user ended it */
    MESSAGE_BROKEN,      /* it ended by itself before it was whole: its stream broke, keel died */
};

/* Why an answer ended, whatever its provider calls it. */
enum stop {
    STOP_UNKNOWN,
    STOP_END,        /* said all it had to say */
    STOP_TOOL_CALLS, /* wants tools run */
    STOP_LENGTH,     /* output limit */
    STOP_FILTERED,   /* the provider withheld the answer */
    STOP_REFUSED,    /* the model declined */
    STOP_PAUSED,     /* the provider wants to be asked again to go on */
    STOP_OVERFLOW,   /* the context window is full: what came is what fitted */
    STOP_UNREAD,     /* wants tools run, but its provider could not read the call */
};

/* Who made an assistant message. `provider` is the profile's identity, not the vendor's name. */
struct origin {
    struct str provider, protocol, model;
    struct str bound; /* hash of all that it answers to (request_build.h); empty: not known */
};

struct message {
    unsigned n_refs;
    struct arena arena;
    struct str id; /* UUID */
    enum role role;
    enum message_state state; /* complete, unless it is the assistant's */
    bool is_error;            /* an assistant message that tells of a failure: never sent again */
    struct part *parts;
    size_t n_parts, parts_room;
    struct message *lender; /* a reference: strings and parts may be its; NULL: all are its own */
    bool is_in_lender;      /* its own memory is the lender's, too */
    struct origin origin;
    struct usage usage;
    struct str stop_reason; /* in the provider's words */
    enum stop stop;         /* what they mean */
};

struct message *message_new(enum role role, struct str id) MUST_USE;
/* For one that was made without an id: the run that takes it in gives it one. */
void message_set_id(struct message *m, struct str id);
struct message *message_ref(struct message *m);
void message_unref(struct message *m);
DEFINE_AUTO_PTR(message, message_unref)

/* A message made of parts of another one, which is held as long as it lives: nothing of it is
 * copied. Its id and origin are the lender's. */
struct message *message_new_from(enum role role, const struct message *lender) MUST_USE;
/* The same in the lender's memory, for a lender of very many. */
struct message *message_new_in(enum role role, struct message *lender) MUST_USE;
/* Appends a part whose strings and content are the lender's, or live as long. Without a lender they
 * are copied. */
void message_lend(struct message *m, const struct part *p);
/* Parts that may be changed, though they were the lender's. */
void message_own_parts(struct message *m);

/* Appends a copy; the returned part is owned by the message and may be changed until it is shared.
 */
struct part *message_add(struct message *m, const struct part *p);
struct part *message_add_text(struct message *m, struct str text);
struct part *message_add_context(struct message *m, struct str text);
void message_set_origin(struct message *m, struct origin o);
void message_set_usage(struct message *m, const struct usage *u);

const char *role_name(enum role r);
/* "length", "refused", ...; "": it ended as answers do, or the reason is unknown. */
const char *stop_name(enum stop s);
enum stop stop_find(struct str name); /* STOP_UNKNOWN: there is no such name */

size_t message_n_calls(const struct message *m);
/* All text parts, one after the other; not what was told beside them. Those of a user, a prompt and
 * what was piped in, begin a line each; an answer's may go on in the middle of a word. */
void message_text(const struct message *m, struct strbuf *out);
/* Were this message's provider blocks made by `provider` in this protocol (empty: any)? Others must
 * not see them. */
bool message_is_native_to(const struct message *m, struct str provider, struct str protocol);

#endif
