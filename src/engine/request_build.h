/* request_build.h - the messages of a request, made from the history. Pure.
 *
 * Whatever happened to the conversation (an interrupt, a crash, a compaction, a fork, another model
 * or vendor, tools that were denied or are unknown), the result is what strict providers accept:
 *
 * - every tool call is followed by its results, in the order of the calls, before anything else;
 *   a call without one gets a result that says so, a result without a call is omitted;
 * - call ids are unique in the request (providers may repeat them), in calls and results alike;
 * - calls have names that a tool could have, whatever the model invented;
 * - the first message is a user's and the last one is not the assistant's, unless its provider
 *   paused there and wants to continue;
 * - no message, no text and no result is empty; messages that only report an error to people are
 *   omitted;
 * - parts that only their provider understands go to no other, and only in pairs if it wants
 *   pairs; reasoning only if nothing before it has changed since it was made, where its provider
 *   checks that;
 * - an answer that was interrupted or broke off says so at its end;
 * - media that the model or its protocol cannot take, or that its provider has refused before, are
 *   named instead of sent;
 * - system messages become the system text.
 *
 * The same history gives the same messages, and a longer one begins with those of the shorter: so
 * prompt caches hold. Synthetic instructions are overlays: they are at the end of one request and
 * never in the history. */
#ifndef KEEL_ENGINE_REQUEST_BUILD_H
#define KEEL_ENGINE_REQUEST_BUILD_H

#include "base/sha256.h"
#include "model/history.h"
#include "model/message_form.h"
#include "model/message_list.h"
#include "model/request.h"
#include "port/tool_state.h"

#define INTERRUPTED_NOTE "[This response was interrupted by the user]"
#define BROKEN_NOTE "[This response broke off before it was complete]"

struct request_target {
    struct str provider, protocol;    /* whose native parts may go along */
    const struct model_info *info;    /* NULL: nothing is known, so it is taken to see and hear */
    const struct message_form *form;  /* its protocol's; NULL: it takes everything */
    bool takes_file_urls;             /* addresses of files too, not only of images */
    const struct tool_state *refused; /* knows files that it has refused; NULL: none */
    /* What precedes the messages: model, system text, tools. */
    struct str model, authored;
    const struct tool_def *const *tools;
    size_t n_tools;
};

/* The ids that a request has used so far. Zeroed is empty. */
struct call_ids {
    struct used_id *slots; /* in the arena of who fills it */
    size_t n, room;
    const struct call_ids *base; /* NULL, or others that are used as well, and stay as they are */
};

/* A hash of what precedes an answer. Zeroed, it is not wanted. */
struct bound {
    bool is_wanted;
    struct sha256 hash;
};

/* How far a request is built. */
struct build_state {
    struct arena arena;
    struct message_list sent;
    struct call_ids ids;
    struct bound bound; /* of what is in `sent` */
    int64_t tokens;     /* that it takes, estimated */
    size_t last_user;   /* in it, from 1 */
    struct strbuf system;
};

/* The result: references are held by it until built_messages_done(). */
struct built_messages {
    struct message **items;
    size_t n;
    struct str system;
    int64_t tokens;   /* that the messages take, estimated */
    size_t n_settled; /* of the messages: the next request begins with them, too */
    size_t last_user; /* the number of the last one of the user's, from 1 */
    /* Of all that is sent, beginning with what precedes the messages. An answer keeps it
     * (struct origin), so that its reasoning can be omitted when anything before it has changed. */
    char bound[SHA256_HEX_SIZE];
    struct build_state state;    /* private */
    struct built_prefix *prefix; /* that it begins with, or NULL */
};
void built_messages_done(struct built_messages *b);
DEFINE_AUTO_VAL(built_messages, built_messages_done)

/* What was built of the beginning of a history, so that the next request begins with it instead of
 * building it again. It need not hear what happens to the history: messages never change, it
 * holds those that it was built of, and it begins anew when a history does not begin with them or
 * goes to another target. One request at a time uses it, until built_messages_done(); others are
 * meanwhile built without. */
struct built_prefix *built_prefix_new(void) MUST_USE;
void built_prefix_clear(struct built_prefix *p); /* not while it is used */
void built_prefix_free(struct built_prefix *p);

/* `overlays` are texts that become user messages at the end. */
void request_build(const struct message *const *messages, size_t n_messages,
                   const struct request_target *target, const struct str *overlays,
                   size_t n_overlays, struct built_messages *ret);
/* The same; `prefix` may be NULL. */
void request_build_on(struct built_prefix *prefix, const struct message *const *messages,
                      size_t n_messages, const struct request_target *target,
                      const struct str *overlays, size_t n_overlays, struct built_messages *ret);

#endif
