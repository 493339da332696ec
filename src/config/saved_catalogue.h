/* saved_catalogue.h - lists of models that providers gave earlier, kept below keel's home.
 *
 * HOME/models/VENDOR.json is a cache: whatever is wrong with it, it is as if it were not there, and
 * the next list replaces it. These calls touch the disk and block. */
#ifndef KEEL_CONFIG_SAVED_CATALOGUE_H
#define KEEL_CONFIG_SAVED_CATALOGUE_H

#include "port/provider.h"
#include "provider/vendor.h"

/* What the compiled-in catalogue knows and the provider did not say (prices, abilities) is filled
 * in, also into `models`. Without a home nothing is kept. */
MUST_USE struct err *saved_catalogue_write(const char *home, const struct vendor *v,
                                           struct model_list *models);
/* False when there is none or it cannot be read; the results are then untouched. Strings live in
 * `a`. */
bool saved_catalogue_read(const char *home, const struct vendor *v, struct arena *a,
                          struct model_list *ret_models, struct str *ret_fetched_at);

/* What a server has told about one of its models that no catalogue knows. */
struct learned_model {
    int64_t window, max_output; /* tokens; max_output 0: it does not tell */
    int64_t unix_ms;            /* when */
};
/* Keeps it, for this address of a server, in HOME/models/learned.json: the last
 * SAVED_LEARNED_MAX of them. */
#define SAVED_LEARNED_MAX 200
MUST_USE struct err *saved_catalogue_learn(const char *home, struct str base_url, struct str model,
                                           const struct learned_model *learned);
/* False: nothing is known, or nothing that can be meant. */
bool saved_catalogue_recall(const char *home, struct str base_url, struct str model,
                            struct learned_model *ret_learned);
/* Servers may say anything: can a model have such a window? What `max_output` says is dropped where
 * it cannot be. */
bool learned_model_check(struct learned_model *m);

#endif
