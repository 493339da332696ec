/* curl_error.c - why an exchange failed, and what to do about it. */
#include "net/curl_exchange.h"
#include "net/lookup.h"

#include <errno.h>
#include <netdb.h>

/* CURLE_TOO_LARGE, which older headers lack: of a line, or of newer versions for all lines. */
#define CURLE_HEAD_TOO_LARGE ((CURLcode)100)

/* OpenSSL's results of a verification, whose headers we do not need otherwise. */
enum {
    VERIFY_NOT_YET_VALID = 9,
    VERIFY_EXPIRED = 10,
    VERIFY_SELF_SIGNED = 18,
    VERIFY_SELF_SIGNED_IN_CHAIN = 19,
    VERIFY_ISSUER_UNKNOWN = 20,
    VERIFY_LEAF_ONLY = 21,
};

/* libcurl quotes a proxy that it cannot use, with the password in it. */
static const char *detail(const struct http_exchange *x)
{
    bool may_be_shown = x->detail[0] && !(x->proxy && strstr(x->detail, x->proxy));

    return may_be_shown ? x->detail : x->client->api.easy_strerror(x->result);
}

/* "30 s", "1500 ms" */
static struct str duration(struct arena *a, uint64_t ms)
{
    return ms % 1000 ? arena_format(a, "%llu ms", (unsigned long long)ms)
                     : arena_format(a, "%llu s", (unsigned long long)(ms / 1000));
}

static long get_info(const struct http_exchange *x, CURLINFO info)
{
    long value = 0;

    x->client->api.easy_getinfo(x->easy, info, &value);
    return value;
}

/* host:port, or what we talk to instead of it. */
static struct str peer(struct arena *a, const struct http_exchange *x)
{
    if (x->unix_socket)
        return str_of(x->unix_socket);
    if (x->proxy && !x->connected)
        return arena_format(a, "the proxy %" STR_FMT, STR_ARG(url_redact(a, str_of(x->proxy))));
    return arena_format(a, x->url.is_ipv6 ? "[%" STR_FMT "]:%d" : "%" STR_FMT ":%d",
                        STR_ARG(x->url.host), x->url.port);
}

/* Is there no such name, or did nobody answer? libcurl does not say, so the resolver is asked once
 * more; it knows by now. */
static bool has_no_address(const struct http_exchange *x)
{
    AUTO_FREE char *host = str_dup(x->url.host);
    struct lookup l = {.host = host};
    AUTO(err) struct err *e = lookup_run(&l);

    return !e && l.n == 0 && l.error != EAI_AGAIN && l.error != EAI_SYSTEM;
}

static struct err *resolve_error(const struct http_exchange *x)
{
    struct err *e =
        err_hint(err_new(ERR_NETWORK, "cannot find the address of %" STR_FMT, STR_ARG(x->url.host)),
                 "check the host name, the network, and whether HTTPS_PROXY must be set");

    return has_no_address(x) ? err_final(e) : e;
}

static struct err *resolve_proxy_error(const struct http_exchange *x, struct str at)
{
    return err_hint(err_new(ERR_NETWORK, "cannot use %" STR_FMT ": %s", STR_ARG(at), detail(x)),
                    "check HTTPS_PROXY, HTTP_PROXY and ALL_PROXY");
}

static struct err *connect_error(const struct http_exchange *x, struct str at)
{
    int error = (int)get_info(x, CURLINFO_OS_ERRNO);
    struct err *e =
        error ? err_errno(ERR_NETWORK, error, "cannot connect to %" STR_FMT, STR_ARG(at))
              : err_new(ERR_NETWORK, "cannot connect to %" STR_FMT ": %s", STR_ARG(at), detail(x));

    if (error == ECONNREFUSED && !x->proxy && url_host_is_loopback(x->url.host))
        e = err_final(e); /* nobody but the person can start it */
    if (error == ECONNREFUSED)
        return err_hint(e, "is the server running at %" STR_FMT "?", STR_ARG(at));
    return err_hint(e, "check the network, and whether HTTPS_PROXY must be set");
}

static struct err *connect_timeout(const struct http_exchange *x, struct str at)
{
    AUTO(arena) struct arena a = {0};

    return err_hint(err_new(ERR_TIMEOUT, "connecting to %" STR_FMT " took longer than %" STR_FMT,
                            STR_ARG(at), STR_ARG(duration(&a, x->connect_ms))),
                    "check the network, and whether HTTPS_PROXY must be set");
}

struct err *exchange_idle_timeout(const struct http_exchange *x)
{
    AUTO(arena) struct arena a = {0};

    return err_new(ERR_TIMEOUT, "%" STR_FMT " sent nothing for %" STR_FMT, STR_ARG(x->url.host),
                   STR_ARG(duration(&a, x->idle_ms)));
}

struct err *exchange_total_timeout(const struct http_exchange *x)
{
    AUTO(arena) struct arena a = {0};

    return err_new(ERR_TIMEOUT, "the request to %" STR_FMT " took longer than %" STR_FMT,
                   STR_ARG(x->url.host), STR_ARG(duration(&a, x->total_ms)));
}

static struct err *certificate_error(const struct http_exchange *x, struct str at)
{
    switch (get_info(x, CURLINFO_SSL_VERIFYRESULT)) {
    case VERIFY_SELF_SIGNED:
    case VERIFY_SELF_SIGNED_IN_CHAIN:
    case VERIFY_ISSUER_UNKNOWN:
    case VERIFY_LEAF_ONLY:
        return err_hint(
            err_new(ERR_NETWORK, "the certificate of %" STR_FMT " is from an unknown authority",
                    STR_ARG(at)),
            "let the setting caFile, NODE_EXTRA_CA_CERTS or SSL_CERT_FILE name a file with the "
            "authority's certificate, or install the package ca-certificates");
    case VERIFY_NOT_YET_VALID:
    case VERIFY_EXPIRED:
        return err_hint(err_new(ERR_NETWORK,
                                "the certificate of %" STR_FMT " is not valid at this time",
                                STR_ARG(at)),
                        "check this machine's clock");
    default:
        return err_new(ERR_NETWORK, "the certificate of %" STR_FMT " is not right: %s", STR_ARG(at),
                       detail(x));
    }
}

static struct err *certificates_missing_error(const struct http_exchange *x)
{
    return err_hint(err_new(ERR_CONFIGURATION, "cannot read the trusted certificates in %s",
                            x->client->ca_file ? x->client->ca_file : x->client->ca_dir),
                    "check SSL_CERT_FILE and SSL_CERT_DIR");
}

static struct err *identity_error(const struct http_exchange *x)
{
    return err_hint(
        err_new(ERR_CONFIGURATION, "the client certificate cannot be used: %s", detail(x)),
        "check clientCertificate, clientKey and clientKeyPassphrase of the provider");
}

/* A handshake that breaks off because the connection did is no matter of TLS. */
static struct err *tls_error(const struct http_exchange *x, struct str at)
{
    struct err *e = err_hint(
        err_new(ERR_NETWORK, "cannot agree on TLS with %" STR_FMT ": %s", STR_ARG(at), detail(x)),
        "does the server speak https at this port, and does it ask for a "
        "client certificate?");
    bool broke_off = get_info(x, CURLINFO_OS_ERRNO) || strstr(detail(x), "SYSCALL") ||
                     strstr(detail(x), "reset") || strstr(detail(x), "unexpected eof");

    return broke_off ? e : err_final(e);
}

/* With TLS 1.3 a server refuses a client without a certificate when its first bytes are read. */
static bool is_refusal_of_client(const struct http_exchange *x)
{
    return strstr(x->detail, "certificate required") != NULL ||
           strstr(x->detail, "alert bad certificate") != NULL ||
           strstr(x->detail, "alert unknown ca") != NULL;
}

struct err *exchange_error(const struct http_exchange *x)
{
    AUTO(arena) struct arena a = {0};
    struct str at = peer(&a, x);

    if (x->failure)
        return err_copy(x->failure);
    switch (x->result) {
    case CURLE_COULDNT_RESOLVE_HOST:
        return resolve_error(x);
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_PROXY:
        return resolve_proxy_error(x, at);
    case CURLE_COULDNT_CONNECT:
        return connect_error(x, at);
    case CURLE_OPERATION_TIMEDOUT:
        return connect_timeout(x, at);
    case CURLE_PEER_FAILED_VERIFICATION:
        return err_final(certificate_error(x, at));
    case CURLE_SSL_CACERT_BADFILE:
        return certificates_missing_error(x);
    case CURLE_SSL_CERTPROBLEM:
        return identity_error(x);
    case CURLE_SSL_CONNECT_ERROR:
        return tls_error(x, at);
    case CURLE_GOT_NOTHING:
        return err_new(ERR_NETWORK, "%" STR_FMT " closed the connection without an answer",
                       STR_ARG(at));
    case CURLE_OUT_OF_MEMORY: /* so it calls a line that is longer than it takes */
    case CURLE_HEAD_TOO_LARGE:
        return err_hint(
            err_new(ERR_BAD_RESPONSE, "%" STR_FMT " sent headers that are too long", STR_ARG(at)),
            "check the URL: does it lead to the API?");
    case CURLE_OK: /* libcurl is content with the end of a connection in the middle of headers */
        return err_new(ERR_NETWORK,
                       "%" STR_FMT " closed the connection in the middle of its headers",
                       STR_ARG(at));
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WEIRD_SERVER_REPLY:
        return err_hint(err_new(ERR_BAD_RESPONSE, "%" STR_FMT " did not answer in HTTP/1: %s",
                                STR_ARG(at), detail(x)),
                        "check the URL: does it need https instead of http, or another port?");
    default: /* CURLE_PARTIAL_FILE, CURLE_RECV_ERROR, CURLE_SEND_ERROR and what is rare */
        if (is_refusal_of_client(x))
            return err_final(tls_error(x, at));
        return err_new(ERR_NETWORK, "the connection to %" STR_FMT " broke off: %s", STR_ARG(at),
                       detail(x));
    }
}
