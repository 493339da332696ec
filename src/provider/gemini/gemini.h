/* gemini.h - the halves of the Gemini protocol, and what its reader is made of.
 *
 * One protocol for two hosts: the Gemini API (AI Studio) and Vertex AI. Their JSON is protocol
 * buffers' JSON, so every field may be spelled in camelCase or in snake_case. */
#ifndef KEEL_PROVIDER_GEMINI_H
#define KEEL_PROVIDER_GEMINI_H

#include "provider/protocol.h"

struct body;

/* --- writing --- */

void gemini_write_system(struct body *b);
MUST_USE struct err *gemini_write_contents(struct body *b);

#define GEMINI_MAX_NAME 64
bool gemini_is_function_name(struct str name);

/* Models that take a level for a budget (Gemini 3 and later; unknown ones are new) also demand
 * signatures on calls, take files in results and mix their own tools with ours. */
static inline bool gemini_is_third_generation(const struct model_request *r)
{
    return !r->info || request_can(r, REASONS_BY_LEVEL);
}

/* Models of the second generation refuse an answer of the type JSON beside tools of any kind. */
static inline bool gemini_tells_schema(const struct model_request *r)
{
    bool is_older =
        r->info ? !request_can(r, REASONS_BY_LEVEL) : str_find(r->model, S("gemini-2")) != STR_NONE;

    return r->output_schema && is_older && (r->n_tools || r->web_search || r->web_fetch);
}

/* A cached content brings its own system text and tools; the API refuses others beside it. */
static inline bool gemini_has_cached_content(const struct model_request *r)
{
    return json_has(r->options, "cachedContent");
}

/* --- reading --- */

void gemini_begin(struct decode *d);
bool gemini_is_event(struct str type, const struct json *event);
struct err *gemini_event(struct decode *d, struct str type, const struct json *event);
struct err *gemini_body(struct decode *d, const struct json *body);
struct err *gemini_end(struct decode *d);
struct err *gemini_classify(int status, const struct json *body);

/* A member by its camelCase name, in either spelling; NULL when absent or null. */
const struct json *gemini_get(const struct json *object, const char *key);
struct str gemini_get_text(const struct json *object, const char *key);

/* Arguments of a function call that come in pieces: values, each with a JSON path. */
struct gemini_args {
    struct json *root; /* the object so far; it and all below live in the arena */
    struct json *leaf; /* the string that the last piece left open; NULL if none */
    char *text;        /* its bytes */
    size_t room;       /* for them */
};

void gemini_args_begin(struct gemini_args *g, struct arena *a);
/* An object that came whole, in place of all before it. */
MUST_USE struct err *gemini_args_set(struct gemini_args *g, struct arena *a,
                                     const struct json *args);
/* One element of "partialArgs". ERR_BAD_RESPONSE when its path leads nowhere. */
MUST_USE struct err *gemini_args_add(struct gemini_args *g, struct arena *a,
                                     const struct json *piece);

/* What the reader keeps between events. */
struct gemini_state {
    size_t text; /* the text or thought that the next piece continues; SIZE_MAX: none */
    size_t call; /* the call whose arguments are still coming; SIZE_MAX: none */
    struct gemini_args args;
    bool has_calls;
    bool had_open_piece; /* without a finish reason: the first one with it is the last */
    bool takes_no_calls; /* after a finish reason: old models have text there, but never calls */
};

struct gemini_state *gemini_state_new(struct arena *a) MUST_USE;
/* One part of the candidate's content. */
MUST_USE struct err *gemini_take_part(struct decode *d, const struct json *part);
/* No more arguments will come: settles the open call, if there is one. Not whole: the answer was
 * cut off in the middle of it. */
MUST_USE struct err *gemini_end_call(struct decode *d, bool is_whole);

#endif
