/* unknown_name.c - names that keel does not know: what was meant. */
#include "config/unknown_name.h"

#include "base/alike.h"
#include "provider/protocol.h"
#include "provider/vendor.h"

struct err *unknown_vendor(const struct json *profiles, struct str text)
{
    size_t slash = str_find_char(text, '/');
    struct str name = str_slice(text, 0, slash), model = str_skip(text, slash + 1);
    struct alike near = {.word = name};
    AUTO(strbuf) struct strbuf all = {0};
    struct err *e;

    if (name.n == 0)
        return err_hint(err_new(ERR_VALIDATION, "no vendor before the slash of \"%" STR_FMT "\"",
                                STR_ARG(text)),
                        "use VENDOR/MODEL; keel models lists the known models");
    e = err_new(ERR_VALIDATION, "unknown vendor or profile \"%" STR_FMT "\"", STR_ARG(name));
    for (const struct vendor *v = vendors; v->name; v++)
        alike_try(&near, str_of(v->name));
    json_each (profile, profiles)
        alike_try(&near, profile->key);
    if (near.best.n)
        return err_hint(e, "did you mean %" STR_FMT "/%" STR_FMT "?", STR_ARG(near.best),
                        STR_ARG(model));
    json_each (profile, profiles)
        strbuf_addf(&all, "%" STR_FMT ", ", STR_ARG(profile->key));
    vendor_list_names(&all);
    return err_hint(e, "one of: %s", strbuf_cstr(&all));
}

struct err *unknown_name(struct str name)
{
    struct alike near = {.word = name};
    struct err *e =
        err_new(ERR_VALIDATION, "unknown vendor or model \"%" STR_FMT "\"", STR_ARG(name));

    for (const struct vendor *v = vendors; v->name; v++) {
        alike_try(&near, str_of(v->name));
        for (size_t i = 0; i < v->catalogue->n; i++)
            alike_try(&near, str_of(v->catalogue->models[i].id));
    }
    if (near.best.n)
        return err_hint(e, "did you mean %" STR_FMT "?", STR_ARG(near.best));
    return err_hint(e, "use --model VENDOR/MODEL; keel models lists the known models");
}

/* The vendor's own models come first, then those of others. */
static void add_guess(const struct profile *p, struct strbuf *out)
{
    const struct model_info *guess = vendor_guess_model(p->vendor, p->model);

    if (guess)
        strbuf_addf(out, "did you mean %s?", guess->id);
    for (const struct vendor *v = vendors; v->name && !out->n; v++)
        if ((guess = vendor_guess_model(v, p->model)))
            strbuf_addf(out, "did you mean %s/%s?", v->name, guess->id);
    if (!out->n)
        strbuf_addf(out, "keel models %s --refresh lists its models.", p->vendor->name);
}

struct err *unknown_model(const struct profile *p)
{
    struct str word = vendor_guess_family(p->vendor, p->model);
    bool is_its_own = p->vendor->base_url && str_is(p->base_url, p->vendor->base_url);
    AUTO(strbuf) struct strbuf hint = {0};

    if (is_its_own)
        add_guess(p, &hint);
    else
        strbuf_addf(&hint, "did you mean %" STR_FMT "?", STR_ARG(word));
    return err_hint(err_new(ERR_VALIDATION, "%s has no model \"%" STR_FMT "\" in keel's catalogue",
                            p->vendor->display_name, STR_ARG(p->model)),
                    "%s For a %s, use --model %" STR_FMT "/%" STR_FMT, strbuf_cstr(&hint),
                    is_its_own ? "new model" : "model of this name", STR_ARG(p->id),
                    STR_ARG(p->model));
}

struct err *unknown_current(const struct settings *settings, const struct json *profiles,
                            struct str name)
{
    struct setting_origin origin = settings_origin(settings, "currentProvider");
    struct alike near = {.word = name};
    struct err *e = err_new(ERR_CONFIGURATION,
                            "currentProvider is \"%" STR_FMT "\"%s%" STR_FMT
                            "%s, which is neither a profile nor a vendor",
                            STR_ARG(name), origin.file.n ? " (" : "", STR_ARG(origin.file),
                            origin.file.n ? ")" : "");

    for (const struct vendor *v = vendors; v->name; v++)
        alike_try(&near, str_of(v->name));
    json_each (profile, profiles)
        alike_try(&near, profile->key);
    if (near.best.n)
        return err_hint(e, "did you mean \"%" STR_FMT "\"?", STR_ARG(near.best));
    return err_hint(e, "add it under \"providers\" in settings.json, or use a vendor's name");
}

static struct err *type_error(const struct settings *settings, struct str id, struct str type)
{
    AUTO(strbuf) struct strbuf path = {0};
    struct setting_origin origin;

    strbuf_addf(&path, "providers.%" STR_FMT "%s", STR_ARG(id), type.n ? ".type" : "");
    origin = settings_origin(settings, strbuf_cstr(&path));
    return err_new(ERR_CONFIGURATION,
                   "profile \"%" STR_FMT "\": unknown type \"%" STR_FMT "\"%s%" STR_FMT "%s",
                   STR_ARG(id), STR_ARG(type), origin.file.n ? " (" : "", STR_ARG(origin.file),
                   origin.file.n ? ")" : "");
}

struct err *unknown_type(const struct settings *settings, struct str id, struct str type)
{
    struct err *e = type_error(settings, id, type);
    struct alike near = {.word = type};
    AUTO(strbuf) struct strbuf names = {0};

    for (const struct vendor *v = vendors; v->name; v++)
        alike_try(&near, str_of(v->name));
    for (size_t i = 0; protocols[i]; i++)
        alike_try(&near, str_of(protocols[i]->name));
    if (near.best.n)
        return err_hint(e, "did you mean \"%" STR_FMT "\"?", STR_ARG(near.best));
    vendor_list_names(&names);
    for (size_t i = 0; protocols[i]; i++)
        if (!vendor_find(str_of(protocols[i]->name)))
            strbuf_addf(&names, ", %s", protocols[i]->name);
    return err_hint(e, "one of: %s", strbuf_cstr(&names));
}
