/* tls_error.c - why TLS failed, and what to do about it. */
#include "net/tls_internal.h"

/* The first error of the queue is the reason; the others follow from it. */
static struct str take_reason(struct arena *a)
{
    const struct tls_api *api = tls_api_get();
    unsigned long code = api->ERR_peek_error();
    const char *reason = code ? api->ERR_reason_error_string(code) : NULL;
    struct str text = reason ? arena_str(a, str_of(reason)) : S("OpenSSL gives no reason");

    api->ERR_clear_error();
    return text;
}

static struct err *certificate_error(const struct tls_wire *t, long result)
{
    switch (result) {
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
        return err_hint(
            err_new(ERR_NETWORK, "the certificate of %s is signed by an unknown authority",
                    t->peer),
            "set caFile in the settings, NODE_EXTRA_CA_CERTS or SSL_CERT_FILE to a file with the "
            "authority's certificate, or install the package ca-certificates");
    case X509_V_ERR_CERT_NOT_YET_VALID:
    case X509_V_ERR_CERT_HAS_EXPIRED:
        return err_hint(
            err_new(ERR_NETWORK, "the certificate of %s has expired or is not valid yet", t->peer),
            "check this machine's clock with date; if it is right, the server needs a new "
            "certificate");
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
        return err_hint(
            err_new(ERR_NETWORK, "the certificate of %s is not valid for this host name", t->peer),
            "check the URL: it must use a host name that the certificate lists");
    default:
        return err_new(ERR_NETWORK, "the certificate of %s is not valid: %s", t->peer,
                       tls_api_get()->X509_verify_cert_error_string(result));
    }
}

static struct err *no_agreement(const struct tls_wire *t, struct str reason)
{
    return err_hint(
        err_new(ERR_NETWORK, "TLS handshake with %s failed: %" STR_FMT, t->peer, STR_ARG(reason)),
        "check that the server uses https on this port, and whether it requires a client "
        "certificate");
}

/* If the connection broke off, TLS did not fail. */
struct err *tls_handshake_error(const struct tls_wire *t)
{
    const struct tls_api *api = tls_api_get();
    AUTO(arena) struct arena a = {0};
    long result = api->SSL_get_verify_result(t->ssl);
    struct str reason = take_reason(&a);

    if (t->lower_ended)
        return no_agreement(t, S("it closed the connection"));
    if (result != X509_V_OK)
        return err_final(certificate_error(t, result));
    return err_final(no_agreement(t, reason));
}

/* With TLS 1.3 a server refuses a client without a certificate when its first bytes are read. */
static bool is_refusal_of_client(struct str reason)
{
    return str_find(reason, S("certificate required")) != STR_NONE ||
           str_find(reason, S("alert bad certificate")) != STR_NONE ||
           str_find(reason, S("alert unknown ca")) != STR_NONE;
}

struct err *tls_broken_error(const struct tls_wire *t)
{
    AUTO(arena) struct arena a = {0};
    struct str reason = take_reason(&a);

    if (is_refusal_of_client(reason))
        return err_final(no_agreement(t, reason));
    return err_new(ERR_NETWORK, "lost the connection to %s: %" STR_FMT, t->peer, STR_ARG(reason));
}

struct err *tls_identity_error(const char *file)
{
    AUTO(arena) struct arena a = {0};
    struct str reason = take_reason(&a);

    return err_hint(err_new(ERR_CONFIGURATION,
                            "the client certificate cannot be used: %s: %" STR_FMT, file,
                            STR_ARG(reason)),
                    "check clientCertificate, clientKey and clientKeyPassphrase of the provider");
}
