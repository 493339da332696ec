/* message.h - one message of a conversation: immutable once built, shared by reference.
 *
 * Build it with message_new() and the functions that add parts; then only read it. The message owns
 * its strings, or holds the message that does. The reference count is not atomic: a message belongs
 * to one loop's thread. */
#ifndef KEEL_MODEL_MESSAGE_H
#define KEEL_MODEL_MESSAGE_H

#include "model/part.h"
#include "model/usage.h"

enum role { ROLE_SYSTEM, ROLE_USER, ROLE_ASSISTANT, ROLE_TOOL };
enum message_state {
    MESSAGE_COMPLETE,
    MESSAGE_INTERRUPTED, /* the user ended it */
    MESSAGE_BROKEN,      /* it ended early by itself: its stream broke, or keel died */
};

/* Why an answer ended, independent of the provider's words. */
enum stop {
    STOP_UNKNOWN,
    STOP_END,        /* the model finished */
    STOP_TOOL_CALLS, /* wants tools run */
    STOP_LENGTH,     /* output limit */
    STOP_FILTERED,   /* the provider withheld the answer */
    STOP_REFUSED,    /* the model declined */
    STOP_PAUSED,     /* the provider wants another request to continue */
    STOP_OVERFLOW,   /* the context window is full: only what fitted came */
    STOP_UNREAD,     /* wants tools run, but its provider could not parse the call */
};

/* Who made an assistant message. `provider` is the profile's identity, not the vendor's name. */
struct origin {
    struct str provider, protocol, model;
    struct str bound; /* hash of everything it answers (request_build.h); empty: unknown */
};

struct message {
    unsigned n_refs;
    struct arena arena;
    struct str id; /* UUID */
    enum role role;
    enum message_state state; /* complete, unless it is the assistant's */
    bool is_error;            /* reports a failure in the assistant's place: never sent again */
    struct part *parts;
    size_t n_parts, parts_room;
    struct message
        *lender;       /* a reference: strings and parts may belong to it; NULL: all are its own */
    bool is_in_lender; /* its memory is the lender's too */
    struct origin origin;
    struct usage usage;
    struct str stop_reason; /* in the provider's words */
    enum stop stop;         /* the meaning of that */
};

struct message *message_new(enum role role, struct str id) MUST_USE;
/* For a message without an id: the run that takes it assigns one. */
void message_set_id(struct message *m, struct str id);
struct message *message_ref(struct message *m);
void message_unref(struct message *m);
DEFINE_AUTO_PTR(message, message_unref)

/* A message made of parts of another one, which it holds: nothing is copied. Its id and origin are
 * the lender's. */
struct message *message_new_from(enum role role, const struct message *lender) MUST_USE;
/* The same in the lender's memory, for a lender of very many messages. */
struct message *message_new_in(enum role role, struct message *lender) MUST_USE;
/* Appends a part whose strings and content belong to the lender or live as long. Without a lender
 * they are copied. */
void message_lend(struct message *m, const struct part *p);
/* Makes the parts writable, even if they were the lender's. */
void message_own_parts(struct message *m);

/* Appends a copy. The message owns the returned part, which may be changed until the message is
 * shared. */
struct part *message_add(struct message *m, const struct part *p);
struct part *message_add_text(struct message *m, struct str text);
struct part *message_add_context(struct message *m, struct str text);
void message_set_origin(struct message *m, struct origin o);
void message_set_usage(struct message *m, const struct usage *u);

const char *role_name(enum role r);
/* "length", "refused", ...; "": a normal end, or an unknown reason. */
const char *stop_name(enum stop s);
enum stop stop_find(struct str name); /* STOP_UNKNOWN: unknown name */

size_t message_n_calls(const struct message *m);
/* Appends all text parts, without context parts. A user's parts (a prompt and piped input) each
 * begin a line; an answer's may continue in the middle of a word. */
void message_text(const struct message *m, struct strbuf *out);
/* Did `provider` make this message's provider blocks with this protocol (empty: any)? Others must
 * not see them. */
bool message_is_native_to(const struct message *m, struct str provider, struct str protocol);

#endif
