/* request.h - what a model is asked: neutral, borrowed, built anew for each attempt.
 *
 * Zero means "not set" everywhere: an unset value is not sent, and the provider's default holds.
 * The messages must already be a valid conversation (calls answered, roles in order): encoders
 * translate, they repair nothing. */
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

/* Gives the bytes behind a blob's handle; may wait. */
struct media_loader {
    struct err *(*load)(void *self, struct str handle, struct strbuf *out);
    void *self;
};

struct model_request {
    /* Identity of the profile and its protocol: only parts that both made are sent as they came.
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
    int64_t reasoning_budget; /* tokens; wins over effort where the API takes one */
    bool no_thoughts;         /* the account may not see reasoning, and must not ask for its text */
    int64_t max_output;       /* tokens; 0: the catalogue's, where the API demands one */
    int64_t context_window;   /* that is reckoned with, for servers that make room; 0: theirs */
    const struct json *output_schema; /* the answer must fit this */
    struct str output_name;
    bool stream;
    bool web_search, web_fetch; /* the provider's own */
    /* Domains that its search is limited to, and those that it leaves out: arrays of names; NULL:
     * none. Sent where the API has that, one of both; the caller checks the results. */
    const struct json *search_allowed, *search_blocked;
    enum prompt_cache cache;
    struct str cache_key;       /* ties requests of one session together, where the API has that */
    const struct json *options; /* the profile's, unread: members of the request's body */
    const struct model_info *info;    /* NULL: nothing is known about the model */
    const struct media_loader *media; /* NULL: no blob handles occur */
    int64_t message_tokens; /* that the messages take, where that was estimated; 0: it was not */
    size_t n_settled; /* messages at the beginning that the next request will begin with, too */
    size_t last_user; /* the number of the last message of the user's, from 1; 0: it is not known */
    struct kept_body *kept; /* that its body may begin with; NULL: it is written as a whole */
};

static inline bool request_can(const struct model_request *r, enum model_capability c)
{
    return r->info && (r->info->capabilities & c);
}

/* What to say about the effort: what was asked for, or the nearest of the levels that the model
 * takes. Where nothing was asked for: a medium one if the model would not reason at all without a
 * word, else EFFORT_UNSET, and the vendor's default holds. */
enum effort request_effort(const struct model_request *r);
/* Of two that are equally near, the one nearer to high. `levels` are bits as in model_info; 0: none
 * are known, and what was asked for stays. */
enum effort effort_nearest(unsigned levels, enum effort asked);
/* ERR_VALIDATION when reasoning is to be switched off and the model always reasons. */
MUST_USE struct err *request_check(const struct model_request *r);

/* The output limit to send where one must be sent: asked for, else the catalogue's, else the
 * default. */
int64_t request_max_output(const struct model_request *r);
/* Tokens that an effort stands for where only a budget can be sent: 1024, 20 %, 50 %, 80 %, 90 %
 * and 95 % of the output limit for minimal to max. 0 for none and unset. */
int64_t request_reasoning_budget(const struct model_request *r);

#endif
