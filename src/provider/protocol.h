/* protocol.h - a wire protocol: how a request is written and an answer is read.
 *
 * A provider is protocol x endpoint x auth x framing. A protocol is pure: bytes and values in,
 * values out; it knows no host, no key and no clock. A vendor of a known protocol is a row in the
 * vendor table, and where it differs from the protocol's inventor, its row says so in `dialect`. */
#ifndef KEEL_PROVIDER_PROTOCOL_H
#define KEEL_PROVIDER_PROTOCOL_H

#include "model/message_form.h"
#include "model/reply.h"
#include "model/request.h"
#include "net/http.h"
#include "net/sse.h"

/* What vendors of one protocol do differently. Zero is what the protocol's inventor does. */
struct dialect {
    /* openai-chat */
    bool max_tokens_old_name; /* "max_tokens" instead of "max_completion_tokens" */
    bool no_stream_usage;     /* does not take stream_options.include_usage */
    bool no_parallel_switch;  /* does not take parallel_tool_calls */
    bool no_json_schema;      /* only {"type":"json_object"}; the schema is told in a message */
    bool no_strict_tools;     /* refuses "strict" in tools */
    bool no_custom_tools;     /* a tool that takes free text goes out as a function */
    bool short_call_ids;      /* call ids are nine letters and digits */
    bool developer_role;      /* system text goes out as "developer" */
    bool tool_images;         /* tool results may hold images */
    bool answer_after_tools;  /* refuses a user message right behind tool results */
    bool file_urls;           /* takes addresses of files, not only of images */
    bool takes_top_k;
    enum {
        REASONING_EFFORT_FIELD,    /* "reasoning_effort": "low" */
        REASONING_OBJECT,          /* "reasoning": {"effort": "low"} */
        REASONING_THINKING_TYPE,   /* "thinking": {"type": "enabled"} */
        REASONING_UNSUPPORTED,     /* nothing is sent */
        REASONING_ENABLE_THINKING, /* "enable_thinking": true */
    } reasoning_style;
    enum {
        REPLAY_NO_REASONING,      /* reasoning never goes back */
        REPLAY_REASONING_CONTENT, /* as "reasoning_content" of the assistant message */
        REPLAY_REASONING_FIELD,   /* as "reasoning" */
        REPLAY_REASONING_DETAILS, /* "reasoning_details", bytes as they came */
        REPLAY_THINKING_PARTS,    /* as "thinking" parts of the content */
    } reasoning_replay;
    enum effort least_effort, most_effort; /* words outside are refused; unset: up to "xhigh" */
    /* EFFORT_BIT of each level, where some between are missing; 0: all from least to most. With
     * REASONING_THINKING_TYPE they are sent beside it, also to models that the catalogue does not
     * know: who takes none ignores them. */
    unsigned efforts;
    /* Forgets the reasoning of earlier turns unless it is told not to. */
    enum {
        KEEPS_BY_ITSELF,         /* nothing needs to be said */
        KEEPS_CLEAR_THINKING,    /* "thinking": {"clear_thinking": false} */
        KEEPS_ALL,               /* "thinking": {"keep": "all"} */
        KEEPS_PRESERVE_THINKING, /* "preserve_thinking": true */
    } keeping;
    const char *keeping_models; /* what the names of those begin with that take it; NULL: all do */
    bool tool_stream;           /* sends the arguments of a call in pieces only if it is told to */
    bool has_prompt_cache_key;  /* takes "prompt_cache_key" */
    bool cache_marks;        /* takes Anthropic's cache_control, at the top and on content parts */
    bool reports_cost;       /* wants "usage": {"include": true} to report the cost */
    bool web_search_options; /* takes "web_search_options" */
    const char *blocked_domains; /* of a search: its word for them; NULL: "blocked_domains" */
    unsigned max_search_domains; /* 0: as many as there are */
    bool inline_tags;            /* may leave <think> and <tool_call> in the text; Ollama, too */
    /* openai-responses */
    bool stores_nothing;     /* refuses "store" and "include" */
    bool no_cache_retention; /* keeps prompts as long as it likes */
    bool thoughts_if_asked;  /* shows the text of its reasoning only if it is told to */
    /* anthropic-messages */
    bool no_top_level_cache; /* cache_control only on blocks */
    bool bedrock;            /* Amazon Bedrock's paths and fields */
    /* anthropic-messages, gemini */
    bool vertex; /* Vertex AI's paths and fields */
    /* openai-chat */
    bool deployments; /* Azure's paths: the model is the name of a deployment */
};

/* State of one answer being read. Protocols keep what they need between events in `state`. */
struct decode {
    struct reply *reply;
    struct arena scratch;          /* cleared before each event */
    const struct dialect *dialect; /* of who answers; NULL: not known */
    void *state; /* allocated by begin() in reply->arena; NULL if the protocol needs none */
    /* The stream's own mark of its end has come: nothing that follows is part of the answer. Where
     * reply->is_complete alone is set, counts may still come. */
    bool is_over;
};

struct protocol {
    const char *name;         /* "anthropic-messages" */
    const char *api_surface;  /* name in payload records: "anthropic-messages", "responses", ... */
    struct message_form form; /* of the messages that encode() is given */

    /* Path below the base URL, with a query if one is needed: "/v1/messages". */
    void (*path)(const struct model_request *r, const struct dialect *d, struct strbuf *out);
    /* POST {"model": NAME} below the base URL tells about one model; NULL: its list tells enough.
     */
    const char *show_path;
    /* Of a model that is not known, where the server makes room for what it is told and cuts the
     * rest in silence: the window to tell it. 0: it knows its own. */
    int64_t guessed_window;
    /* Headers beside auth and content type; may be NULL. */
    void (*headers)(const struct model_request *r, const struct dialect *d, struct arena *a,
                    struct http_headers *out);
    /* The body. ERR_VALIDATION when the request cannot be said in this protocol. */
    struct err *(*encode)(const struct model_request *r, const struct dialect *d,
                          struct strbuf *body);

    /* Reading. begin() may be NULL. event() takes one event of a stream, already parsed;
     * `type` is the SSE event's name ("message" if none). body() takes a whole answer. An error
     * that the provider reports inside is returned, classified. Both set reply->is_complete when
     * the provider has said its last word. end() is called once after all bytes of a stream;
     * NULL: nothing to do. */
    void (*begin)(struct decode *d);
    /* Is this an event as the protocol has them, one that says nothing included? */
    bool (*is_event)(struct str type, const struct json *event);
    struct err *(*event)(struct decode *d, struct str type, const struct json *event);
    struct err *(*body)(struct decode *d, const struct json *body);
    struct err *(*end)(struct decode *d);

    /* The provider's error object (found anywhere: status, body of a failed call, or mid-stream)
     * as one of our kinds. `status` is 0 in mid-stream; `body` is NULL when it is not JSON. */
    struct err *(*classify)(int status, const struct json *body);
};

extern const struct protocol protocol_anthropic_messages;
extern const struct protocol protocol_openai_chat;
extern const struct protocol protocol_openai_responses;
extern const struct protocol protocol_gemini;
extern const struct protocol protocol_ollama;

const struct protocol *protocol_find(struct str name);
/* What it wants of messages; NULL: there is no such protocol. */
const struct message_form *protocol_form(struct str name);
/* All of them, NULL at the end. */
extern const struct protocol *const protocols[];

#endif
