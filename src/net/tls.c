/* tls.c - OpenSSL between two wires. */
#include "net/tls_internal.h"

#include "net/url.h"

#define MAX_OUT_BYTES ((size_t)64 << 10) /* how much is encrypted before the peer takes it */
#define MAX_WRITE_BYTES 16384            /* in one record */

/* --- how OpenSSL reaches the wire below --- */

static int tls_bio_read(BIO *bio, char *bytes, int size)
{
    const struct tls_api *api = tls_api_get();
    struct tls_wire *t = api->BIO_get_data(bio);
    size_t n = 0;

    api->BIO_clear_flags(bio, BIO_FLAGS_RWS | BIO_FLAGS_SHOULD_RETRY);
    if (t->lower_ended || t->lower_error)
        return 0;
    t->lower_error = t->lower->ops->read(t->lower, bytes, (size_t)size, &n);
    if (t->lower_error)
        return -1;
    if (n)
        return (int)n;
    t->read_wants = t->lower->wants;
    t->lower_ended = t->lower->wants == 0;
    if (t->lower_ended)
        return 0;
    api->BIO_set_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY);
    return -1;
}

/* Collects records, which are sent together. */
static int tls_bio_write(BIO *bio, const char *bytes, int n)
{
    const struct tls_api *api = tls_api_get();
    struct tls_wire *t = api->BIO_get_data(bio);

    api->BIO_clear_flags(bio, BIO_FLAGS_RWS | BIO_FLAGS_SHOULD_RETRY);
    if (t->out.n >= MAX_OUT_BYTES) {
        api->BIO_set_flags(bio, BIO_FLAGS_WRITE | BIO_FLAGS_SHOULD_RETRY);
        return -1;
    }
    strbuf_add(&t->out, str_make(bytes, (size_t)n));
    return n;
}

static long tls_bio_control(BIO *bio, int what, long number, void *pointer)
{
    const struct tls_wire *t = tls_api_get()->BIO_get_data(bio);

    if (what == BIO_CTRL_EOF)
        return t->lower_ended;
    return what == BIO_CTRL_FLUSH;
}

BIO_METHOD *tls_method_new(void)
{
    const struct tls_api *api = tls_api_get();
    BIO_METHOD *method = api->BIO_meth_new(BIO_TYPE_SOURCE_SINK, "keel wire");

    if (!method)
        BUG("out of memory in OpenSSL");
    api->BIO_meth_set_read(method, tls_bio_read);
    api->BIO_meth_set_write(method, tls_bio_write);
    api->BIO_meth_set_ctrl(method, tls_bio_control);
    return method;
}

/* --- moving bytes --- */

/* Sets `wants` to what the wire below waits for, if it has not taken everything. */
static struct err *flush(struct tls_wire *t)
{
    t->wire.wants = 0;
    while (t->out.n) {
        struct iovec part = {.iov_base = t->out.p, .iov_len = t->out.n};
        size_t n;

        TRY(t->lower->ops->write(t->lower, &part, 1, &n));
        strbuf_drop_front(&t->out, n);
        t->wire.wants = t->lower->wants;
        if (t->wire.wants)
            return NULL;
    }
    if (t->out.room > MAX_WRITE_BYTES / 2)
        strbuf_done(&t->out); /* a stream waits most of its life */
    return NULL;
}

/* After a call of OpenSSL that moved nothing. *ret_result is one of SSL_ERROR_. Sends what OpenSSL
 * has written, and sets `wants` to what it waits for. */
static struct err *after_nothing(struct tls_wire *t, int returned, int *ret_result)
{
    int result = tls_api_get()->SSL_get_error(t->ssl, returned);

    *ret_result = result;
    if (t->lower_error)
        return err_copy(t->lower_error);
    if (result != SSL_ERROR_WANT_READ && result != SSL_ERROR_WANT_WRITE) {
        err_ignore(flush(t), "an alert; the connection ends anyhow");
        t->wire.wants = 0;
        return NULL;
    }
    TRY(flush(t));
    if (result == SSL_ERROR_WANT_READ)
        t->wire.wants |= t->read_wants;
    return NULL;
}

static struct err *tls_read_some(struct wire *w, char *bytes, size_t size, size_t *ret_n)
{
    struct tls_wire *t = (struct tls_wire *)w;
    const struct tls_api *api = tls_api_get();
    int n, result;

    *ret_n = 0;
    do {
        api->ERR_clear_error();
        n = api->SSL_read(t->ssl, bytes, (int)MIN(size, (size_t)1 << 30));
        if (n > 0) {
            *ret_n = (size_t)n;
            if (!t->has_kept_session)
                tls_session_keep(t);
            t->has_kept_session = true;
            return t->out.n ? flush(t) : NULL;
        }
        TRY(after_nothing(t, n, &result));
    } while (result == SSL_ERROR_WANT_WRITE && !w->wants);
    if (w->wants || result == SSL_ERROR_ZERO_RETURN)
        return NULL;
    if (!t->lower_ended)
        return tls_broken_error(t);
    w->was_cut = true;
    api->ERR_clear_error();
    return NULL;
}

/* Encrypts as much as the limit allows. */
static struct err *encrypt(struct tls_wire *t, const struct iovec *part, size_t *n_taken,
                           bool *ret_is_full)
{
    const struct tls_api *api = tls_api_get();
    size_t at = 0;

    while (at < part->iov_len && !*ret_is_full) {
        int result, n;

        api->ERR_clear_error();
        n = api->SSL_write(t->ssl, (const char *)part->iov_base + at,
                           (int)MIN(part->iov_len - at, (size_t)MAX_WRITE_BYTES));
        if (n > 0) {
            at += (size_t)n;
            *n_taken += (size_t)n;
            continue;
        }
        TRY(after_nothing(t, n, &result));
        *ret_is_full = true;
        if (result != SSL_ERROR_WANT_READ && result != SSL_ERROR_WANT_WRITE)
            return tls_broken_error(t);
    }
    return NULL;
}

static struct err *tls_write_some(struct wire *w, const struct iovec *parts, int n_parts,
                                  size_t *ret_n)
{
    struct tls_wire *t = (struct tls_wire *)w;
    bool is_full = false;

    *ret_n = 0;
    TRY(flush(t));
    if (w->wants)
        return NULL;
    for (int i = 0; i < n_parts && !is_full; i++)
        TRY(encrypt(t, &parts[i], ret_n, &is_full));
    return flush(t);
}

/* Announces the end to the peer, if it takes the few bytes now. */
static void tls_wire_free(struct wire *w)
{
    struct tls_wire *t = (struct tls_wire *)w;
    const struct tls_api *api = tls_api_get();

    if (t->ssl && t->is_set_up && !t->lower_error) {
        api->SSL_shutdown(t->ssl);
        err_ignore(flush(t), "the connection is closed anyway");
    }
    if (t->ssl)
        api->SSL_free(t->ssl);
    api->ERR_clear_error();
    wire_free(t->lower);
    err_free(t->lower_error);
    strbuf_done(&t->out);
    mem_free(t->session_name);
    mem_free(t->peer);
    mem_free(t);
}

/* --- the handshake --- */

/* Addresses are compared with addresses, and are not sent as server names. A name that OpenSSL does
 * not accept would go unverified. */
static struct err *set_name(struct tls_wire *t, struct str host)
{
    const struct tls_api *api = tls_api_get();
    AUTO_FREE char *name = str_dup(host);
    bool is_set;

    if (url_host_is_address(host)) {
        is_set = api->X509_VERIFY_PARAM_set1_ip_asc(api->SSL_get0_param(t->ssl), name) == 1;
    } else {
        api->SSL_set_hostflags(t->ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
        is_set = api->SSL_set1_host(t->ssl, name) == 1 &&
                 api->SSL_ctrl(t->ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                               name) == 1;
    }
    if (is_set)
        return NULL;
    api->ERR_clear_error();
    return err_final(
        err_hint(err_new(ERR_NETWORK, "the name of %s cannot be verified", t->peer),
                 "check the URL: a host name has at most 255 characters and no unusual ones"));
}

static struct err *set_up(struct tls_wire *t, struct str host)
{
    static const unsigned char protocols[] = "\x08http/1.1";
    const struct tls_api *api = tls_api_get();
    SSL_SESSION *session = tls_session_find(t->context, t->session_name);
    BIO *bio = api->BIO_new(t->context->method);

    t->ssl = api->SSL_new(t->context->ctx);
    if (!bio || !t->ssl)
        BUG("out of memory in OpenSSL");
    api->BIO_set_data(bio, t);
    api->BIO_set_init(bio, 1);
    api->SSL_set_bio(t->ssl, bio, bio);
    api->SSL_set_alpn_protos(t->ssl, protocols, sizeof protocols - 1);
    if (session)
        api->SSL_set_session(t->ssl, session);
    api->SSL_set_connect_state(t->ssl);
    return set_name(t, host);
}

static struct err *handshake(struct tls_wire *t, struct socket *bottom)
{
    const struct tls_api *api = tls_api_get();

    for (;;) {
        int returned, result;

        api->ERR_clear_error();
        returned = api->SSL_do_handshake(t->ssl);
        if (returned == 1)
            break;
        TRY(after_nothing(t, returned, &result));
        if (!t->wire.wants && result != SSL_ERROR_WANT_WRITE)
            return tls_handshake_error(t);
        if (t->wire.wants)
            TRY(socket_wait(bottom, t->wire.wants));
    }
    t->is_set_up = true;
    return flush(t);
}

struct err *tls_open(struct tls_context *c, struct wire *take_lower, struct socket *bottom,
                     struct str host, int port, const char *peer, struct wire **ret_wire)
{
    static const struct wire_ops ops = {
        .read = tls_read_some, .write = tls_write_some, .free = tls_wire_free};
    struct tls_wire *t = mem_alloc(sizeof *t);
    AUTO(arena) struct arena a = {0};
    struct err *e;

    t->wire.ops = &ops;
    t->context = c;
    t->lower = take_lower;
    t->peer = mem_strdup(peer);
    t->session_name = str_dup(arena_format(&a, "%" STR_FMT ":%d", STR_ARG(host), port));
    e = set_up(t, host);
    if (!e)
        e = handshake(t, bottom);
    if (e) {
        wire_free(&t->wire);
        return e;
    }
    *ret_wire = &t->wire;
    return NULL;
}
