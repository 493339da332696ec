/* typed.c - what the person typed: remembered by the session, so that it is not asked about.
 */
#include "sdk/agent/parts.h"

#include "gate/typed.h"
#include "sys/work.h"

struct typed_search {
    struct arena arena;
    const struct agent *agent;
    struct str text;
    struct typed_names names;
};

static struct err *find_typed(void *arg)
{
    struct typed_search *t = arg;

    typed_find(&t->names, &t->arena, t->text, t->agent->session.conversation.state,
               host_environment(t->agent->project->host));
    return NULL;
}

void agent_note_typed(struct agent *a, struct str text)
{
    strbuf_add(&a->typed, text);
    strbuf_add_char(&a->typed, '\n');
}

/* Known secrets are not remembered, as they are not in the prompt that the model reads. */
void agent_remember_typed(struct agent *a)
{
    struct typed_search t = {.agent = a};
    AUTO(strbuf) struct strbuf shown = {0};

    if (a->typed.n == 0)
        return;
    t.text = secrets_hide(a->project->secrets, strbuf_str(&a->typed), &shown, NULL);
    err_ignore(work_run(find_typed, &t), "what was not found is asked about");
    typed_keep(&t.names, a->session.conversation.state);
    arena_done(&t.arena);
    strbuf_clear(&a->typed);
}
