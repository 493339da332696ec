/* models.h - what `keel models` has gathered, and its two forms. */
#ifndef KEEL_CLI_MODELS_MODELS_H
#define KEEL_CLI_MODELS_MODELS_H

#include "cli/args.h"
#include "config/saved_catalogue.h"
#include "sdk/project.h"

struct listing {
    const struct vendor *vendor;
    enum catalogue_status status;
    struct model_list models;
    struct str fetched_at; /* for generated ones */
    struct err *problem;
};

struct models {
    const struct args *args;
    struct project *project;
    struct arena arena;
    struct listing *listings;
    size_t n;
};

/* Is there a key or a profile for it? */
bool models_is_set_up(const struct models *m, const struct vendor *v);
bool models_shows(const struct models *m, const struct model_info *info); /* is it listed? */
bool model_is_default(const struct vendor *v, const struct model_info *info);

void models_add_text(const struct models *m, struct strbuf *out);
void models_add_json(const struct models *m, struct strbuf *out);

#endif
