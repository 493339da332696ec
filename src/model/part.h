/* part.h - the parts of a message.
 *
 * One struct for all kinds; the comments say which fields a kind uses. Strings live in the arena of
 * the message or reply that holds the part.
 *
 * `native` keeps a provider's own block as received (or as its events spell it, if it was streamed
 * in pieces). Such a block goes back unchanged, and only to the provider that made it. Other
 * providers get the neutral fields, or nothing. Parts that came in one block all hold its bytes. */
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
    PART_CONTEXT,            /* text: from keel or a hook for the model, beside a prompt */
};

#define N_PART_KINDS (PART_CONTEXT + 1)

enum media_source { MEDIA_BYTES, MEDIA_URL, MEDIA_BLOB };

struct media {
    struct str mime; /* "image/png", "application/pdf", ... */
    enum media_source source;
    struct str data; /* the bytes, the URL, or the blob's handle (64 hex digits) */
    struct str name; /* of the file, if known */
};

struct part {
    enum part_kind kind;
    struct str text;
    struct str id, name;
    struct str args;     /* always a valid JSON object, or plain text if is_free_text */
    struct str bad_args; /* the original if it was not a JSON object; args is then {} */
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

/* A copy with its strings and content in `a`. */
struct part part_copy(struct arena *a, const struct part *p);

#endif
