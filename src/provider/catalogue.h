/* catalogue.h - models that vendors document: constant tables, one file per vendor.
 *
 * A row holds what the vendor's page, or a public price list that copies it, said on the day
 * `last_verified`. An undocumented window is 0, an undocumented price -1. If a price depends on the
 * hour, or is introductory, the row has the higher one: tables outlive offers, and a budget must
 * not be exceeded because of one. A table begins with the newest models and ends with those that
 * are deprecated or gone. */
#ifndef KEEL_PROVIDER_CATALOGUE_H
#define KEEL_PROVIDER_CATALOGUE_H

#include "model/catalogue.h"

/* Dollars per million tokens, in the unit of prices. Rounded, so that 0.0375 is exactly
 * 3,750,000. */
#define USD(dollars) ((int64_t)((double)(dollars) * MICROCENTS_PER_USD + 0.5))
#define UNKNOWN (-1)

#define SOURCE(page, day) .source = (page), .last_verified = (day)
/* If the vendor's own page was not available. */
#define PRICE_LIST(day) SOURCE("https://models.dev", day)

/* All levels between two, both included. */
#define EFFORTS(from, to) ((EFFORT_BIT((to) + 1) - 1) & ~(EFFORT_BIT(from) - 1))

extern const struct catalogue catalogue_anthropic;
extern const struct catalogue catalogue_deepseek;
extern const struct catalogue catalogue_gemini;
extern const struct catalogue catalogue_groq;
extern const struct catalogue catalogue_mistral;
extern const struct catalogue catalogue_openai;
extern const struct catalogue catalogue_xai;

#endif
