/* protocol.c - the protocols that keel speaks. */
#include "provider/protocol.h"

const struct protocol *const protocols[] = {
    &protocol_anthropic_messages,
    &protocol_openai_chat,
    &protocol_openai_responses,
    &protocol_gemini,
    &protocol_ollama,
    NULL,
};

const struct protocol *protocol_find(struct str name)
{
    for (size_t i = 0; protocols[i]; i++)
        if (str_is(name, protocols[i]->name))
            return protocols[i];
    return NULL;
}

const struct message_form *protocol_form(struct str name)
{
    const struct protocol *p = protocol_find(name);

    return p ? &p->form : NULL;
}
