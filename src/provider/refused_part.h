/* refused_part.h - finds the file of a request that an error is about.
 *
 * APIs name the place in the request: "messages.2.content.0.image.source.base64: too large",
 * "Invalid 'input[1].content[0].image_url'", "contents[0].parts[2].inline_data.data". The place is
 * looked up in the body that was sent, which needs no knowledge of the encoder. Pure. */
#ifndef KEEL_PROVIDER_REFUSED_PART_H
#define KEEL_PROVIDER_REFUSED_PART_H

#include "base/sha256.h"

/* `hex` gets the SHA-256 of the content of the file, or of its address; "" if the text does not
 * name a place with exactly one file. */
void refused_part_find(struct str body, struct str text, char hex[SHA256_HEX_SIZE]);

#endif
