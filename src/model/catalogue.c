/* catalogue.c - names for facts about models. */
#include "model/catalogue.h"

#include <stdio.h>

int64_t model_max_prompt(const struct model_info *m)
{
    return m->max_input ? m->max_input : m->context_window;
}

const char *lifecycle_name(enum model_lifecycle l)
{
    static const char *const names[] = {"active", "preview", "deprecated", "retired"};
    return names[l];
}

const char *catalogue_status_name(enum catalogue_status s)
{
    static const char *const names[] = {"live", "generated", "fallback", "unavailable"};
    return names[s];
}

void capability_names(unsigned capabilities, struct strbuf *out)
{
    static const struct {
        unsigned bit;
        const char *name;
    } labels[] = {
        {CAN_TOOLS, "tools"},           {CAN_SEE_IMAGES, "images"},
        {CAN_READ_PDF, "pdf"},          {CAN_HEAR_AUDIO, "audio"},
        {CAN_REASON, "reasoning"},      {CAN_FOLLOW_SCHEMA, "structured-output"},
        {CAN_SEARCH_WEB, "web-search"}, {CAN_FETCH_WEB, "web-fetch"},
        {CAN_CACHE_PROMPT, "caching"},  {CAN_MAKE_IMAGES, "image-output"},
    };
    size_t before = out->n;

    for (size_t i = 0; i < ARRAY_LEN(labels); i++)
        if (capabilities & labels[i].bit)
            strbuf_addf(out, "%s%s", out->n > before ? " " : "", labels[i].name);
}

void token_count_format(int64_t n_tokens, char out[16])
{
    double value = (double)n_tokens;
    const char *unit = "";

    if (n_tokens >= 1000000) {
        value /= 1000000;
        unit = "M";
    } else if (n_tokens >= 1000) {
        value /= 1000;
        unit = "K";
    }
    if (value == (double)(int64_t)value)
        snprintf(out, 16, "%lld%s", (long long)value, unit);
    else
        snprintf(out, 16, "%.1f%s", value, unit);
}
