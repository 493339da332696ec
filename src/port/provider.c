/* provider.c - what holds for every provider, whatever it is. */
#include "port/provider.h"

const char *payload_kind_name(enum payload_kind k)
{
    static const char *const names[] = {"request", "response", "stream_event"};
    return names[k];
}

struct provider_capabilities provider_capabilities(const struct provider *p,
                                                   const struct model_info *info)
{
    if (p->ops->capabilities)
        return p->ops->capabilities(p, info);
    return (struct provider_capabilities){.can_call_tools = true};
}

static struct err *check_web_tool(const struct provider *p, bool wanted, struct native_web_tool has,
                                  const char *name)
{
    if (!wanted || (has.is_supported && has.is_enabled))
        return NULL;
    return err_hint(err_new(ERR_VALIDATION, "%" STR_FMT " %s its own web %s", STR_ARG(p->id),
                            has.is_supported ? "has not enabled" : "does not have", name),
                    "use keel's own %s tool, or another model", name);
}

struct err *provider_ask(const struct provider *p, const struct model_request *request,
                         const struct provider_call *call, struct reply *reply)
{
    struct provider_capabilities can = provider_capabilities(p, request->info);

    TRY(check_web_tool(p, request->web_search, can.web_search, "search"));
    TRY(check_web_tool(p, request->web_fetch, can.web_fetch, "fetch"));
    if (call->before_send && !p->ops->waits_to_send)
        TRY(call->before_send(call->send_self));
    return p->ops->ask(p, request, call, reply);
}

struct err *provider_list_models(const struct provider *p, const struct provider_call *call,
                                 struct arena *a, struct model_list *ret_models)
{
    if (!p->ops->list_models)
        return err_hint(
            err_new(ERR_CONFIGURATION, "%" STR_FMT " cannot list its models", STR_ARG(p->id)),
            "keel models --all lists the models that keel knows");
    return p->ops->list_models(p, call, a, ret_models);
}

void provider_free(struct provider *p)
{
    if (p)
        p->ops->free(p);
}
