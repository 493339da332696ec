/* tls_session.c - sessions that a later connection to the same server resumes. */
#include "net/tls_internal.h"

#define MAX_SESSIONS 32

struct tls_session {
    struct tls_session *next;
    char *name;
    SSL_SESSION *session;
};

static void session_free(struct tls_session *s)
{
    tls_api_get()->SSL_SESSION_free(s->session);
    mem_free(s->name);
    mem_free(s);
}

static struct tls_session **find_link(struct tls_session **link, const char *name)
{
    while (*link && strcmp((*link)->name, name) != 0)
        link = &(*link)->next;
    return link;
}

static void drop_oldest(struct tls_context *c)
{
    struct tls_session **link = &c->sessions;
    size_t n = 0;

    for (; *link && n < MAX_SESSIONS; n++)
        link = &(*link)->next;
    if (*link)
        session_free(TAKE(*link));
}

/* TLS 1.3 delivers a session with the first bytes after the handshake. */
void tls_session_keep(struct tls_wire *t)
{
    struct tls_context *c = t->context;
    SSL_SESSION *session = tls_api_get()->SSL_get1_session(t->ssl);
    struct tls_session **link = find_link(&c->sessions, t->session_name), *s = *link;

    if (!session || !tls_api_get()->SSL_SESSION_is_resumable(session)) {
        tls_api_get()->SSL_SESSION_free(session);
        return;
    }
    if (s) {
        *link = s->next;
        session_free(s);
    }
    s = mem_alloc(sizeof *s);
    s->name = mem_strdup(t->session_name);
    s->session = session;
    s->next = c->sessions;
    c->sessions = s;
    drop_oldest(c);
}

SSL_SESSION *tls_session_find(struct tls_context *c, const char *name)
{
    struct tls_session *s = *find_link(&c->sessions, name);

    return s ? s->session : NULL;
}

void tls_sessions_free(struct tls_context *c)
{
    while (c->sessions) {
        struct tls_session *s = c->sessions;

        c->sessions = s->next;
        session_free(s);
    }
}
