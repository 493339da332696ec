/* gemini.h - the parts of the Gemini protocol.
 *
 * One protocol for two hosts: the Gemini API (AI Studio) and Vertex AI. Their JSON is that of
 * protocol buffers, so the name of a field may be in camelCase or in snake_case. */
#ifndef KEEL_PROVIDER_GEMINI_H
#define KEEL_PROVIDER_GEMINI_H

#include "provider/protocol.h"

struct body;

/* --- writing --- */

void gemini_write_system(struct body *b);
MUST_USE struct err *gemini_write_contents(struct body *b);

#define GEMINI_MAX_NAME 64
bool gemini_is_function_name(struct str name);

/* Models with a level instead of a budget (Gemini 3 and later; unknown ones are assumed to be new)
 * also require signatures on calls, accept files in results and can mix their own tools with
 * others. */
static inline bool gemini_is_third_generation(const struct model_request *r)
{
    return !r->info || request_can(r, REASONS_BY_LEVEL);
}

/* Models of the second generation refuse answers of the type JSON together with tools. */
static inline bool gemini_needs_schema_message(const struct model_request *r)
{
    bool is_older =
        r->info ? !request_can(r, REASONS_BY_LEVEL) : str_find(r->model, S("gemini-2")) != STR_NONE;

    return r->output_schema && is_older && (r->n_tools || r->web_search || r->web_fetch);
}

/* A cached content includes system text and tools; the API refuses others beside it. */
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

/* A member by its camelCase name, in either spelling; NULL if absent or null. */
const struct json *gemini_get(const struct json *object, const char *key);
struct str gemini_get_text(const struct json *object, const char *key);

/* Arguments of a function call that arrive in pieces: values, each with a JSON path. */
struct gemini_args {
    struct json *root; /* the object so far, all in the arena */
    struct json *leaf; /* the string that the last piece left open; NULL: none */
    char *text;        /* its bytes */
    size_t room;       /* for them */
};

void gemini_args_begin(struct gemini_args *g, struct arena *a);
/* Replaces everything by a whole object. */
MUST_USE struct err *gemini_args_set(struct gemini_args *g, struct arena *a,
                                     const struct json *args);
/* Adds one element of "partialArgs". ERR_BAD_RESPONSE if its path is invalid. */
MUST_USE struct err *gemini_args_add(struct gemini_args *g, struct arena *a,
                                     const struct json *piece);

/* The state of the reader between events. */
struct gemini_state {
    size_t text; /* the text or thought that the next piece continues; SIZE_MAX: none */
    size_t call; /* the call whose arguments still arrive; SIZE_MAX: none */
    struct gemini_args args;
    bool has_calls;
    bool had_open_piece; /* a piece had no finish reason: the first one that has it is the last */
    bool takes_no_calls; /* a finish reason has come: old models send text after it, but never calls
                          */
};

struct gemini_state *gemini_state_new(struct arena *a) MUST_USE;
/* Takes one part of the candidate's content. */
MUST_USE struct err *gemini_take_part(struct decode *d, const struct json *part);
/* Ends the open call, if there is one. Not whole: the answer was cut off within it. */
MUST_USE struct err *gemini_end_call(struct decode *d, bool is_whole);

#endif
