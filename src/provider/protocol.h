/* protocol.h - a wire protocol: writes requests and reads answers.
 *
 * A provider is protocol x endpoint x auth x framing. A protocol is pure: bytes and values in,
 * values out; it knows no host, no key and no clock. A vendor of a known protocol is a row in the
 * vendor table; the `dialect` of the row says how it differs from the inventor of the protocol. */
#ifndef KEEL_PROVIDER_PROTOCOL_H
#define KEEL_PROVIDER_PROTOCOL_H

#include "model/message_form.h"
#include "model/reply.h"
#include "model/request.h"
#include "net/http.h"
#include "net/sse.h"

/* The differences between vendors of one protocol. Zero is the behavior of its inventor. */
struct dialect {
    /* openai-chat */
    bool max_tokens_old_name; /* "max_tokens" instead of "max_completion_tokens" */
    bool no_stream_usage;     /* refuses stream_options.include_usage */
    bool no_parallel_switch;  /* refuses parallel_tool_calls */
    bool no_json_schema;      /* only {"type":"json_object"}; the schema goes into a message */
    bool no_strict_tools;     /* refuses "strict" in tools */
    bool no_custom_tools;     /* tools that take free text are sent as functions */
    bool short_call_ids;      /* call ids are nine letters and digits */
    bool developer_role;      /* system text is sent as "developer" */
    bool tool_images;         /* tool results may hold images */
    bool answer_after_tools;  /* refuses a user message right after tool results */
    bool file_urls;           /* accepts URLs of files, not only of images */
    bool takes_top_k;
    enum {
        REASONING_EFFORT_FIELD,    /* "reasoning_effort": "low" */
        REASONING_OBJECT,          /* "reasoning": {"effort": "low"} */
        REASONING_THINKING_TYPE,   /* "thinking": {"type": "enabled"} */
        REASONING_UNSUPPORTED,     /* nothing is sent */
        REASONING_ENABLE_THINKING, /* "enable_thinking": true */
    } reasoning_style;
    enum {
        REPLAY_NO_REASONING,      /* reasoning is never sent back */
        REPLAY_REASONING_CONTENT, /* as "reasoning_content" of the assistant message */
        REPLAY_REASONING_FIELD,   /* as "reasoning" */
        REPLAY_REASONING_DETAILS, /* "reasoning_details", unchanged bytes */
        REPLAY_THINKING_PARTS,    /* as "thinking" parts of the content */
    } reasoning_replay;
    enum effort least_effort, most_effort; /* other levels are refused; unset: up to "xhigh" */
    /* EFFORT_BIT of each level, if some in between are missing; 0: all from least to most. With
     * REASONING_THINKING_TYPE the level is sent beside it, also to models that the catalogue does
     * not know: models without levels ignore it. */
    unsigned efforts;
    /* How to keep the reasoning of earlier turns. */
    enum {
        KEEPS_BY_ITSELF,         /* the default */
        KEEPS_CLEAR_THINKING,    /* "thinking": {"clear_thinking": false} */
        KEEPS_ALL,               /* "thinking": {"keep": "all"} */
        KEEPS_PRESERVE_THINKING, /* "preserve_thinking": true */
    } keeping;
    const char *keeping_models; /* prefix of the names of models that accept it; NULL: all do */
    bool tool_stream;           /* streams the arguments of calls only on request */
    bool has_prompt_cache_key;  /* accepts "prompt_cache_key" */
    bool cache_marks;  /* accepts Anthropic's cache_control, at the top and on content parts */
    bool reports_cost; /* needs "usage": {"include": true} to report the cost */
    bool web_search_options;     /* accepts "web_search_options" */
    const char *blocked_domains; /* the member of a search; NULL: "blocked_domains" */
    unsigned max_search_domains; /* 0: no limit */
    bool inline_tags;            /* may leave <think> and <tool_call> in the text; also Ollama */
    /* openai-responses */
    bool stores_nothing;     /* refuses "store" and "include" */
    bool no_cache_retention; /* has no "prompt_cache_retention" */
    bool thoughts_if_asked;  /* shows the text of its reasoning only on request */
    /* anthropic-messages */
    bool no_top_level_cache; /* cache_control only on blocks */
    bool bedrock;            /* Amazon Bedrock's paths and fields */
    /* anthropic-messages, gemini */
    bool vertex; /* Vertex AI's paths and fields */
    /* openai-chat */
    bool deployments; /* Azure's paths: the model is the name of a deployment */
};

/* The state of reading one answer. Protocols keep their own between events in `state`. */
struct decode {
    struct reply *reply;
    struct arena scratch;          /* cleared before each event */
    const struct dialect *dialect; /* the answering vendor's; NULL: unknown */
    void *state;                   /* allocated by begin() in reply->arena; NULL: none */
    /* The stream has marked its end: nothing that follows belongs to the answer. If only
     * reply->is_complete is set, counts may follow. */
    bool is_over;
};

struct protocol {
    const char *name;         /* "anthropic-messages" */
    const char *api_surface;  /* name in payload records: "anthropic-messages", "responses", ... */
    struct message_form form; /* of the messages for encode() */

    /* The path below the base URL, with a query if needed: "/v1/messages". */
    void (*path)(const struct model_request *r, const struct dialect *d, struct strbuf *out);
    /* POST {"model": NAME} to this path below the base URL describes one model; NULL: the list of
     * models is enough. */
    const char *show_path;
    /* The window to request for unknown models, if the server needs to be told and cuts longer
     * prompts silently. 0: the server knows. */
    int64_t guessed_window;
    /* Further headers beside auth and content type; may be NULL. */
    void (*headers)(const struct model_request *r, const struct dialect *d, struct arena *a,
                    struct http_headers *out);
    /* The body. ERR_VALIDATION if the protocol cannot express the request. */
    struct err *(*encode)(const struct model_request *r, const struct dialect *d,
                          struct strbuf *body);

    /* Reading. begin() may be NULL. event() takes one parsed event of a stream; `type` is the name
     * of the SSE event ("message" if none). body() takes a whole answer. Both return errors that
     * the provider reports inside, classified, and set reply->is_complete when the answer is
     * complete. end() is called once after all bytes of a stream; may be NULL. */
    void (*begin)(struct decode *d);
    /* Does this event belong to the protocol, even if it says nothing? */
    bool (*is_event)(struct str type, const struct json *event);
    struct err *(*event)(struct decode *d, struct str type, const struct json *event);
    struct err *(*body)(struct decode *d, const struct json *body);
    struct err *(*end)(struct decode *d);

    /* Converts the provider's error (from the status, the body of a failed call, or the stream) to
     * an error of keel. `status` is 0 within a stream; `body` is NULL if it is not JSON. */
    struct err *(*classify)(int status, const struct json *body);
};

extern const struct protocol protocol_anthropic_messages;
extern const struct protocol protocol_openai_chat;
extern const struct protocol protocol_openai_responses;
extern const struct protocol protocol_gemini;
extern const struct protocol protocol_ollama;

const struct protocol *protocol_find(struct str name);
/* Its form of messages; NULL: no such protocol. */
const struct message_form *protocol_form(struct str name);
/* All protocols, NULL at the end. */
extern const struct protocol *const protocols[];

#endif
