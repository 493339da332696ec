/* ca.c - looks for certificates in the environment and in the system. */
#include "net/ca.h"

#include "sys/auto_fd.h"
#include "sys/env.h"
#include "sys/fs.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static void set_ca(struct ca *ca, const char *path, const char *kind)
{
    snprintf(ca->path, sizeof ca->path, "%s", path);
    ca->kind = kind;
}

/* OpenSSL looks a certificate up by its subject's hash: eight hex digits, a dot, a number. */
static bool is_hashed_name(const char *name)
{
    return strspn(name, "0123456789abcdef") == 8 && name[8] == '.' && name[9] &&
           strspn(name + 9, "0123456789") == strlen(name + 9);
}

/* Every second name is one, so reading a few at a time is enough: readdir() would make the kernel
 * sort hundreds. */
static bool has_hashed_names(const char *path)
{
    _Alignas(struct dirent64) char entries[1024];
    AUTO_FD fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool found = false;
    ssize_t n;

    while (fd >= 0 && !found && (n = getdents64(fd, entries, sizeof entries)) > 0)
        for (ssize_t at = 0; at < n && !found;) {
            const struct dirent64 *entry = (const struct dirent64 *)(entries + at);

            found = is_hashed_name(entry->d_name);
            at += entry->d_reclen;
        }
    return found;
}

/* A directory first: a connection reads the one certificate that it needs. A bundle is parsed whole
 * for every connection, which takes longer than the handshake. */
static bool find_in_system(struct ca *ca)
{
    static const char *const directories[] = {"/etc/ssl/certs", "/etc/pki/tls/certs"};
    static const char *const bundles[] = {
        "/etc/ssl/certs/ca-certificates.crt",                /* Debian, Arch */
        "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", /* Fedora */
        "/etc/pki/tls/certs/ca-bundle.crt",                  /* older Fedora */
        "/etc/ssl/ca-bundle.pem",                            /* SUSE */
        "/etc/ssl/cert.pem",                                 /* Alpine */
    };

    for (size_t i = 0; i < ARRAY_LEN(directories); i++)
        if (has_hashed_names(directories[i])) {
            set_ca(ca, directories[i], "directory");
            return true;
        }
    for (size_t i = 0; i < ARRAY_LEN(bundles); i++)
        if (access(bundles[i], R_OK) == 0) {
            set_ca(ca, bundles[i], "bundle");
            return true;
        }
    return false;
}

void ca_find(const struct ca_options *options, struct ca *ret_ca)
{
    const char *file = options->file, *dir = options->dir;

    if (!file && !dir) {
        file = env_find(options->environment, "SSL_CERT_FILE");
        dir = env_find(options->environment, "SSL_CERT_DIR");
    }
    if (file)
        set_ca(ret_ca, file, "file");
    else if (dir)
        set_ca(ret_ca, dir, "directory");
    else if (!find_in_system(ret_ca))
        set_ca(ret_ca, "", "none");
}

/* --- additional certificates --- */

#define MAX_CA_BYTES ((size_t)8 << 20)

static struct err *add_file(const char *path, const char *source, struct strbuf *pem)
{
    size_t before = pem->n;
    struct err *e = fs_read(path, pem, NULL);

    if (!e && str_find(str_skip(strbuf_str(pem), before), S("-----BEGIN ")) == STR_NONE)
        e = err_new(ERR_CONFIGURATION, "%s contains no PEM certificate", path);
    strbuf_add_char(pem, '\n');
    if (!e)
        return NULL;
    e->kind = ERR_CONFIGURATION;
    return err_hint(e, "check %s", source);
}

struct err *ca_read_extra(const struct ca_options *options, const struct ca *ca, struct strbuf *pem)
{
    const char *node = env_find(options->environment, "NODE_EXTRA_CA_CERTS");
    bool is_file = ca->path[0] && strcmp(ca->kind, "directory") != 0;

    strbuf_init(pem, MAX_CA_BYTES);
    if (node)
        TRY(add_file(node, "NODE_EXTRA_CA_CERTS", pem));
    if (options->extra_file)
        TRY(add_file(options->extra_file, "the setting caFile", pem));
    if (pem->n && is_file)
        TRY(add_file(ca->path, "SSL_CERT_FILE", pem));
    return NULL;
}
