/* catalogue.h - models that vendors document: constant tables, one file a vendor.
 *
 * A row holds what the vendor's own page, or a public price list that copies it, said in the copy
 * of the day `last_verified`; a window that is not told is 0, a price -1. Where the price depends
 * on the hour, or is introductory, the row has the dearer one: tables outlive offers, and a budget
 * must not be passed because of one. The first rows of a table are the newest models, the last rows
 * those that are going or gone. */
#ifndef KEEL_PROVIDER_CATALOGUE_H
#define KEEL_PROVIDER_CATALOGUE_H

#include "model/catalogue.h"

/* Dollars a million tokens, as a price is kept. Rounded, so that 0.0375 is exactly 3,750,000. */
#define USD(dollars) ((int64_t)((double)(dollars) * MICROCENTS_PER_USD + 0.5))
#define NOT_TOLD (-1)

#define SOURCE(page, day) .source = (page), .last_verified = (day)
/* Where the vendor's own page was not at hand. */
#define PRICE_LIST(day) SOURCE("https://models.dev", day)

/* All levels between two, both included. */
#define EFFORTS(from, to) ((EFFORT_BIT((to) + 1) - 1) & ~(EFFORT_BIT(from) - 1))

/* The lengths stand here because the vendor table needs constants; a wrong one does not compile. */
extern const struct model_info catalogue_anthropic[15];
extern const struct model_info catalogue_deepseek[4];
extern const struct model_info catalogue_gemini[11];
extern const struct model_info catalogue_groq[4];
extern const struct model_info catalogue_mistral[7];
extern const struct model_info catalogue_openai[24];
extern const struct model_info catalogue_xai[4];

#endif
