/* server.h - a small HTTP server for tests. It runs beside the test in threads of its own.
 *
 * Every connection is a thread that runs a function of the test; server_play() is one that sends
 * given bytes. Such functions must not use cmocka: they look and send, the test asserts. */
#ifndef KEEL_TEST_UNIT_NET_SERVER_H
#define KEEL_TEST_UNIT_NET_SERVER_H

#include "base/strbuf.h"

struct server;
struct server_connection;
typedef void (*server_fn)(struct server_connection *c, void *arg);

/* Listens on 127.0.0.1, or on a Unix socket at `path`. */
struct server *server_start(server_fn fn, void *arg);
struct server *server_start_unix(const char *path, server_fn fn, void *arg);
void server_stop(struct server *s); /* breaks all connections off and joins their threads */
DEFINE_AUTO_PTR(server, server_stop)

int server_port(const struct server *s);
const char *server_url(const struct server *s); /* "http://127.0.0.1:PORT" */
unsigned server_n_connections(const struct server *s);
unsigned server_n_requests(const struct server *s);
size_t server_n_sent_bytes(const struct server *s);
/* A send has waited for a good while, because nobody takes the bytes. */
bool server_is_stuck(const struct server *s);
/* The last request as it came, head and body. The caller frees it. */
char *server_take_request(struct server *s) MUST_USE;
char *server_copy_request(struct server *s) MUST_USE; /* and leaves it there */

/* --- for the functions --- */

bool server_read_request(struct server_connection *c); /* false when the peer is gone */
/* So many bytes of whatever comes; into `ret_bytes`, unless it is NULL. */
bool server_read_raw(struct server_connection *c, char *ret_bytes, size_t n);
/* `step` bytes at a time; 0: all at once. False when the peer is gone. */
bool server_send(struct server_connection *c, struct str bytes, size_t step);
int server_fd(const struct server_connection *c);
void server_wait_for_close(struct server_connection *c);

enum server_then { SERVER_CLOSES, SERVER_GOES_ON /* with the next request */, SERVER_STALLS };

/* Answers every request with the same bytes. */
struct server_script {
    struct str response;
    size_t step;
    enum server_then then;
};
void server_play(struct server_connection *c, void *script);

#endif
