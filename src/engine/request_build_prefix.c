/* request_build_prefix.c - what is built of a request, and what the next one begins with. */
#include "engine/refused_media.h"
#include "engine/request_build_parts.h"

/* --- states --- */

void build_state_begin(struct build_state *s, const struct request_target *t,
                       const struct message *const *messages, size_t n)
{
    *s = (struct build_state){0};
    if (!request_form(t)->binds_reasoning)
        return;
    bound_begin(&s->bound, t);
    for (size_t i = 0; i < n; i++)
        if (messages[i]->role == ROLE_SYSTEM)
            bound_add(&s->bound, messages[i]);
}

static void build_state_done(struct build_state *s)
{
    message_list_done(&s->sent);
    strbuf_done(&s->system);
    arena_done(&s->arena);
    *s = (struct build_state){0};
}

void built_messages_done(struct built_messages *b)
{
    build_state_done(&b->state);
    if (b->prefix)
        b->prefix->is_lent = false;
    *b = (struct built_messages){0};
}

/* --- what the next request begins with --- */

/* Results of a call are looked for up to the next answer, and the other half of a provider's own
 * tool use in the answers next to its own. A system message moves all others. */
size_t request_count_settled(const struct message *const *messages, size_t n)
{
    for (size_t i = n; i-- > 1;) {
        bool is_answer = messages[i]->role == ROLE_ASSISTANT && !messages[i]->is_error;

        if (messages[i]->role == ROLE_SYSTEM)
            return 0;
        if (is_answer && messages[i - 1]->role != ROLE_ASSISTANT)
            return i;
    }
    return 0;
}

/* Only these decide which files a model cannot take. */
static unsigned capabilities_of(const struct request_target *t)
{
    return t->info ? t->info->capabilities : ~0u;
}

static bool is_same_target(const struct built_prefix *p, const struct request_target *t)
{
    struct bound head = {0};

    if (request_form(t)->binds_reasoning)
        bound_begin(&head, t);
    return str_eq(strbuf_str(&p->provider), t->provider) &&
           str_eq(strbuf_str(&p->protocol), t->protocol) && p->capabilities == capabilities_of(t) &&
           p->form == t->form && p->takes_file_urls == t->takes_file_urls &&
           p->refused == refused_media_mark(t->refused) && bound_is_same(&p->head, &head);
}

bool built_prefix_fits(const struct built_prefix *p, const struct request_target *t,
                       const struct message *const *messages, size_t n, size_t n_settled)
{
    if (p->of.n == 0 || !message_list_begins(&p->of, messages, n_settled) || !is_same_target(p, t))
        return false;
    for (size_t i = p->of.n; i < n; i++)
        if (messages[i]->role == ROLE_SYSTEM)
            return false;
    return true;
}

void built_prefix_clear(struct built_prefix *p)
{
    message_list_done(&p->of);
    build_state_done(&p->built);
    strbuf_done(&p->provider);
    strbuf_done(&p->protocol);
    *p = (struct built_prefix){0};
}

void built_prefix_begin(struct built_prefix *p, const struct request_target *t,
                        const struct message *const *messages, size_t n)
{
    built_prefix_clear(p);
    strbuf_add(&p->provider, t->provider);
    strbuf_add(&p->protocol, t->protocol);
    p->capabilities = capabilities_of(t);
    p->form = t->form;
    p->takes_file_urls = t->takes_file_urls;
    p->refused = refused_media_mark(t->refused);
    if (request_form(t)->binds_reasoning)
        bound_begin(&p->head, t);
    build_state_begin(&p->built, t, messages, n);
}

struct built_prefix *built_prefix_new(void)
{
    return mem_alloc(sizeof(struct built_prefix));
}

void built_prefix_free(struct built_prefix *p)
{
    if (!p)
        return;
    BUG_IF(p->is_lent);
    built_prefix_clear(p);
    mem_free(p);
}
