/* curl_exchange.h - what the files behind curl.h know of each other.
 *
 * The client drives libcurl's multi handle from the loop: sockets and one timer. libcurl's
 * callbacks put what arrives into the exchange and wake the task that waits for it; they run on
 * the thread's own stack, between tasks. */
#ifndef KEEL_NET_CURL_EXCHANGE_H
#define KEEL_NET_CURL_EXCHANGE_H

#include "net/curl.h"
#include "net/curl_api.h"
#include "net/proxy.h"
#include "net/url.h"
#include "sys/loop.h"

/* libcurl's own: a stream's pieces are small, and thousands of streams run at once. While there are
 * few, each has room for what comes faster than that. */
#define RECEIVE_BUFFER_BYTES 4096
#define LARGE_RECEIVE_BUFFER_BYTES 16384
#define MAX_LARGE_BUFFERS 64
#define SEND_BUFFER_BYTES 16384 /* the least that it takes */

struct curl_client {
    struct http_client http;
    struct curl_api api;
    struct loop *loop;
    CURLM *multi;
    struct loop_timer *timer; /* when libcurl wants to be called, or NULL */
    unsigned n_exchanges;
    struct arena arena; /* holds the strings below */
    struct curl_options options;
    /* what is trusted, once a connection has needed it */
    bool has_ca;
    const char *ca_file, *ca_dir;
    struct strbuf ca_pem; /* trusted besides ca_dir; with it there is no ca_file */
    struct proxy_settings proxies;
};

/* Opens libcurl, if this is the first exchange. */
MUST_USE struct err *curl_client_start(struct curl_client *client);

/* Finds out whom to trust, if this is the first exchange over TLS: it may take a file of hundreds
 * of certificates. */
MUST_USE struct err *curl_client_trust(struct curl_client *client);

/* An exchange's own stages: connecting, connected, head_came, ended. */
struct http_exchange {
    struct curl_client *client;
    CURL *easy;
    bool is_added; /* to the multi handle */
    struct arena arena;
    struct url url;
    const char *proxy, *unix_socket; /* or NULL */
    struct curl_slist *headers, *resolve;
    char detail[CURL_ERROR_SIZE]; /* what libcurl has to say about a failure */

    uint64_t connect_ms, idle_ms, total_ms;
    uint64_t end_ms; /* on the loop's clock; 0: none */
    size_t max_body_bytes, n_to_send;

    bool connected;
    struct http_response response;
    size_t n_head_bytes;
    bool head_came;
    struct strbuf arrived;    /* bytes that nobody has read yet */
    struct strbuf handed_out; /* bytes that the reader has */
    size_t n_body_bytes;
    curl_socket_t fd; /* that the loop watches for it */
    bool is_watched;
    unsigned n_progress_calls;
    uint64_t n_wire_before; /* bytes that the connection had received before this exchange */
    bool has_wire_before;
    bool paused; /* libcurl holds bytes back because the reader is slow */

    bool ended;
    CURLcode result;
    struct err *failure; /* found by our callbacks; goes before `result` */

    struct waker waker;
    bool is_waiting, time_is_up;
};

/* curl_exchange.c */
struct err *exchange_open(struct http_client *c, const struct http_request *request,
                          struct http_exchange **ret_exchange,
                          struct http_response *ret_response) MUST_USE;
struct err *exchange_read(struct http_exchange *x, struct str *ret_bytes) MUST_USE;
void exchange_close(struct http_exchange *x);
void exchange_wake(struct http_exchange *x);
void exchange_fail(struct http_exchange *x, struct err *take_error);

/* curl_wire.c: ends a transfer whose bytes are hardly ever content. */
void exchange_watches(struct http_exchange *x, curl_socket_t fd, bool is_watched);
int exchange_check_wire(void *exchange, curl_off_t n_down, curl_off_t n_now, curl_off_t n_up,
                        curl_off_t n_sent);

/* curl_setup.c: tells the easy handle what to send and how. */
MUST_USE struct err *exchange_setup(struct http_exchange *x, const struct http_request *request);

/* curl_error.c: what went wrong, in words. */
struct err *exchange_error(const struct http_exchange *x) MUST_USE; /* it ended in failure */
struct err *exchange_idle_timeout(const struct http_exchange *x) MUST_USE;
struct err *exchange_total_timeout(const struct http_exchange *x) MUST_USE;

#endif
