/* saved_catalogue.h - lists of models that providers gave earlier, kept below keel's home. */
#ifndef KEEL_SDK_SAVED_CATALOGUE_H
#define KEEL_SDK_SAVED_CATALOGUE_H

#include "port/provider.h"
#include "provider/vendor.h"

/* HOME/models/VENDOR.json. What the compiled-in catalogue knows and the provider did not say
 * (prices, abilities) is filled in. */
MUST_USE struct err *saved_catalogue_write(const char *home, const struct vendor *v,
                                           struct model_list *models);
/* False when there is none or it cannot be read. Strings live in `a`. */
bool saved_catalogue_read(const char *home, const struct vendor *v, struct arena *a,
                          struct model_list *ret_models, struct str *ret_fetched_at);

#endif
