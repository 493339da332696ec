/* part.h - what a message is made of.
 *
 * One struct for all kinds; the comments say which fields a kind uses. Strings live in the arena
 * of the message or reply that holds the part.
 *
 * `native` keeps a provider's own block as the bytes that came (or as its events spell it, when it
 * was streamed in pieces). Such a block goes back unchanged, and only to the provider that made
 * it; everyone else gets what the neutral fields say, or nothing. Parts that came in one block all
 * hold its bytes. */
#ifndef KEEL_MODEL_PART_H
#define KEEL_MODEL_PART_H

#include "base/arena.h"

enum part_kind {
    PART_TEXT,               /* text; signature where the API signs text; native */
    PART_MEDIA,              /* media; signature likewise */
    PART_TOOL_CALL,          /* id, name, args, bad_args, is_free_text, signature, native */
    PART_TOOL_RESULT,        /* id, name, content, is_error */
    PART_REASONING,          /* text, signature, data (redacted or encrypted), native */
    PART_SERVER_TOOL_USE,    /* id, name, args, native: run by the provider itself */
    PART_SERVER_TOOL_RESULT, /* id, name, native */
    PART_CITATION,           /* text (what is cited), url, title, native */
    PART_REFUSAL,            /* text, native */
    PART_CONTEXT,            /* text: what keel or a hook tells the model beside a prompt */
};

#define N_PART_KINDS (PART_CONTEXT + 1)

enum media_source { MEDIA_BYTES, MEDIA_URL, MEDIA_BLOB };

struct media {
    struct str mime; /* "image/png", "application/pdf", ... */
    enum media_source source;
    struct str data; /* the bytes themselves, the URL, or the blob's handle (64 hex digits) */
    struct str name; /* of the file, where one is known */
};

struct part {
    enum part_kind kind;
    struct str text;
    struct str id, name;
    struct str args;     /* always one valid JSON object, or plain text when is_free_text */
    struct str bad_args; /* what came instead, when it was not a JSON object; args is then {} */
    bool is_free_text;   /* a custom tool that takes text instead of JSON */
    bool is_error;
    struct media media;
    struct part *content; /* of a tool result: text and media */
    size_t n_content;
    struct str signature;
    struct str data;
    struct str url, title;
    struct str native;
};

const char *part_kind_name(enum part_kind kind);

/* A copy whose strings and content live in `a`. */
struct part part_copy(struct arena *a, const struct part *p);

#endif
