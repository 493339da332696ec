/* request.h - a request to a model: neutral, borrowed, built anew for each attempt.
 *
 * Zero always means "not set": the value is not sent, and the provider's default holds. The
 * messages must be a valid conversation (calls answered, roles in order): encoders translate and do
 * not repair. */
#ifndef KEEL_MODEL_REQUEST_H
#define KEEL_MODEL_REQUEST_H

#include "model/catalogue.h"
#include "model/message.h"
#include "model/tool_def.h"

const char *effort_name(enum effort e);                     /* "" for unset */
bool effort_find(struct str name, enum effort *ret_effort); /* "off" and "none" are the same */

struct maybe_double {
    bool is_set;
    double value;
};

struct sampling {
    struct maybe_double temperature, top_p, frequency_penalty, presence_penalty;
    int64_t top_k; /* 0: not set */
    bool has_seed;
    int64_t seed;
    const struct str *stop; /* stop sequences */
    size_t n_stop;
};

enum prompt_cache { PROMPT_CACHE_OFF, PROMPT_CACHE_SHORT /* 5 min */, PROMPT_CACHE_LONG /* 1 h */ };

/* Reads the bytes of a blob by its handle; may wait. */
struct media_loader {
    struct err *(*load)(void *self, struct str handle, struct strbuf *out);
    void *self;
};

struct model_request {
    /* The identity of the profile and its protocol: only parts made by both are sent unchanged.
     * provider_ask() fills them in. */
    struct str provider, protocol;
    struct str model;
    struct str system;
    const struct message *const *messages;
    size_t n_messages;
    const struct tool_def *const *tools;
    size_t n_tools;
    struct tool_choice tool_choice;
    struct sampling sampling;
    enum effort effort;
    int64_t reasoning_budget; /* tokens; wins over effort if the API takes one */
    bool no_thoughts;         /* the account may not see reasoning, and must not request its text */
    int64_t max_output;       /* tokens; 0: the catalogue's, if the API requires one */
    int64_t context_window; /* assumed window, for servers that reserve memory; 0: their default */
    const struct json *output_schema; /* the answer must match this schema */
    struct str output_name;
    bool stream;
    bool web_search, web_fetch; /* the provider's own */
    /* Domains that its search uses, and those that it omits: arrays of names; NULL: none. Sent if
     * the API supports it, one of both. The caller checks the results. */
    const struct json *search_allowed, *search_blocked;
    enum prompt_cache cache;
    struct str cache_key; /* ties requests of one session together, if the API supports it */
    const struct json
        *options; /* from the profile, not interpreted: members of the request's body */
    const struct model_info *info;    /* NULL: the model is unknown */
    const struct media_loader *media; /* NULL: there are no blob handles */
    int64_t message_tokens;           /* estimated tokens of the messages; 0: unknown */
    size_t n_settled;       /* messages at the beginning that the next request will repeat */
    size_t last_user;       /* number of the user's last message, from 1; 0: unknown */
    struct kept_body *kept; /* a body to begin with; NULL: write it completely */
};

static inline bool request_can(const struct model_request *r, enum model_capability c)
{
    return r->info && (r->info->capabilities & c);
}

/* The effort to send: the requested one, or the nearest level that the model accepts. If none was
 * requested: a medium one for a model that would not reason by default, otherwise EFFORT_UNSET, so
 * that the vendor's default holds. */
enum effort request_effort(const struct model_request *r);
/* Of two equally near levels, the one nearer to high. `levels` are bits as in model_info; 0:
 * unknown, and the requested effort stays. */
enum effort effort_nearest(unsigned levels, enum effort asked);
/* ERR_VALIDATION: reasoning is to be switched off, but the model always reasons. */
MUST_USE struct err *request_check(const struct model_request *r);

/* The output limit to send if one is required: requested, else the catalogue's, else the
 * default. */
int64_t request_max_output(const struct model_request *r);
/* The token budget for an effort, if only a budget can be sent: 1024, 20 %, 50 %, 80 %, 90 % and 95
 * % of the output limit for minimal to max. 0 for none and unset. */
int64_t request_reasoning_budget(const struct model_request *r);

#endif
