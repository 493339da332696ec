/* ca.h - finds trusted certificates: SSL_CERT_FILE, else SSL_CERT_DIR, else the system's hashed
 * directory, else its bundle. NODE_EXTRA_CA_CERTS and extra_file add to them. */
#ifndef KEEL_NET_CA_H
#define KEEL_NET_CA_H

#include "base/strbuf.h"

struct ca_options {
    const char *file, *dir;         /* instead of the variables; NULL: they decide */
    const char *extra_file;         /* additional certificates to trust; NULL: none */
    const char *const *environment; /* NULL: environ */
};

struct ca {
    char path[4096];
    const char *kind; /* "file", "directory", "bundle" or "none" */
};
void ca_find(const struct ca_options *options, struct ca *ret_ca);
/* Reads all certificates to trust besides a directory, as one PEM text. Empty: only those that
 * ca_find() found. A missing file is ERR_CONFIGURATION. */
MUST_USE struct err *ca_read_extra(const struct ca_options *options, const struct ca *ca,
                                   struct strbuf *pem);

#endif
