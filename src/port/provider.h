/* provider.h - the contract of a model provider: asked for one answer, it streams one.
 *
 * A provider is immutable after it was made and may be shared by any number of sessions on one
 * thread: what belongs to a call (sink, credentials, limits, HTTP client) is passed with it. It
 * makes exactly one attempt: retries and fallback are the engine's. */
#ifndef KEEL_PORT_PROVIDER_H
#define KEEL_PORT_PROVIDER_H

#include "model/message_form.h"
#include "model/reply.h"
#include "model/request.h"
#include "net/http.h"
#include "port/credential.h"
#include "port/media.h"

struct provider;

enum payload_kind { PAYLOAD_REQUEST, PAYLOAD_RESPONSE, PAYLOAD_STREAM_EVENT };
const char *payload_kind_name(enum payload_kind k); /* "request", "response", "stream_event" */

/* The provider's own bytes, for replay-grade logs. They live until the callback returns. */
struct native_payload {
    struct str provider;
    struct str api_surface; /* "anthropic-messages", "responses", ... */
    enum payload_kind kind;
    uint64_t sequence; /* from 0 within one call */
    struct str bytes;
    struct str event_type; /* of a stream's event, where only its framing says it; else empty */
    int http_status;       /* for responses */
    const char *hash;      /* SHA-256 of the bytes in hex, where it is known; else NULL */
    /* Of a request that is read from a journal, which does not keep its bytes. */
    struct str sha256;
    uint64_t n_bytes;
};

struct provider_call {
    struct http_client *http;              /* NULL is fine for providers without a network */
    const struct credentials *credentials; /* NULL: none are needed */
    uint64_t idle_ms;                      /* longest silence of the peer; 0: 120 s */
    uint64_t total_ms;                     /* of the whole answer; 0: an hour */
    void (*on_native_payload)(void *self, const struct native_payload *p); /* may be NULL */
    void *self;
    /* The last wait before bytes of the request leave; with an error none do. May be NULL. */
    struct err *(*before_send)(void *send_self);
    void *send_self;
};

#define PROVIDER_DEFAULT_IDLE_MS 120000
#define PROVIDER_DEFAULT_TOTAL_MS 3600000

struct native_web_tool {
    bool is_supported, is_enabled;
};

struct provider_capabilities {
    bool can_call_tools;
    struct native_web_tool web_search, web_fetch;
    bool takes_file_urls;            /* addresses of files too, not only of images */
    struct media_limits media;       /* larger files are made smaller, or told */
    const struct message_form *form; /* of the messages that it is asked with; NULL: any */
};

/* Live catalogue, in the arena that was passed. */
struct model_list {
    struct model_info *items;
    size_t n;
};

struct provider_ops {
    /* Required. Fills `reply` with what arrives, also when it fails. */
    struct err *(*ask)(const struct provider *p, const struct model_request *request,
                       const struct provider_call *call, struct reply *reply);
    /* Does `ask` call before_send by itself, when the request is written? Else provider_ask() calls
     * it first. */
    bool waits_to_send;
    /* NULL: tools yes, native web tools no. */
    struct provider_capabilities (*capabilities)(const struct provider *p,
                                                 const struct model_info *info);
    /* NULL: the provider cannot list its models. */
    struct err *(*list_models)(const struct provider *p, const struct provider_call *call,
                               struct arena *a, struct model_list *ret_models);
    void (*free)(struct provider *p); /* required */
};

/* Adapters embed this first. */
struct provider {
    const struct provider_ops *ops;
    struct str id;       /* the profile's identity */
    struct str protocol; /* "anthropic-messages", "script", ... */
};

/* Refuses a request for native web tools that the provider has not, before anything is sent. */
MUST_USE struct err *provider_ask(const struct provider *p, const struct model_request *request,
                                  const struct provider_call *call, struct reply *reply);
struct provider_capabilities provider_capabilities(const struct provider *p,
                                                   const struct model_info *info);
MUST_USE struct err *provider_list_models(const struct provider *p,
                                          const struct provider_call *call, struct arena *a,
                                          struct model_list *ret_models);
void provider_free(struct provider *p);
DEFINE_AUTO_PTR(provider, provider_free)

#endif
