/* curl.h - the HTTP client on libcurl's multi_socket interface.
 *
 * libcurl is opened on first use: programs that make no request do not pay for it. Proxies come
 * from HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY; certificates from SSL_CERT_FILE, else
 * SSL_CERT_DIR, else the system's hashed directory, else its bundle; those of NODE_EXTRA_CA_CERTS
 * and extra_ca_file are trusted besides. They are read for the first exchange over TLS. A library
 * or certificates that are missing are ERR_CONFIGURATION.
 *
 * HTTP/1.1 only. Nothing is asked to be compressed and nothing is decompressed. A waiting exchange
 * over plain HTTP takes about 30 KB, its task included; one whose reader is slow holds at most
 * two buffers of 16 KB more. libcurl's own timers (connecting) run by the machine's clock. */
#ifndef KEEL_NET_CURL_H
#define KEEL_NET_CURL_H

#include "net/http.h"

struct curl_options {
    const char *ca_file, *ca_dir; /* NULL: from the environment, then the system */
    const char *extra_ca_file;    /* certificates to trust besides; NULL: none */
    /* where the variables above are read; NULL: environ. It must live as long as the client. */
    const char *const *environment;
    const char *user_agent; /* NULL: keel/VERSION */
};

/* Loads the library, which the first exchange would do otherwise, and which takes milliseconds: a
 * worker can do it meanwhile. */
MUST_USE struct err *curl_load(void);

/* For the loop of the current task. */
MUST_USE struct err *curl_client_new(const struct curl_options *options,
                                     struct http_client **ret_client);

/* Where certificates would be taken from, for `keel doctor`: a path and what it is. */
struct curl_ca {
    char path[4096];
    const char *kind; /* "file", "directory", "bundle" or "none" */
};
void curl_find_ca(const struct curl_options *options, struct curl_ca *ret_ca);
/* All certificates to trust besides a directory of them, as one PEM text; empty: there are none
 * besides what curl_find_ca() found. */
MUST_USE struct err *curl_read_extra_ca(const struct curl_options *options,
                                        const struct curl_ca *ca, struct strbuf *pem);

#endif
