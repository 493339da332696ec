/* models.h - what `keel models` has gathered and prints. */
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
MUST_USE struct err *models_print(const struct models *m);

#endif
