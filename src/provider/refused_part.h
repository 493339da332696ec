/* refused_part.h - which file of a request an error speaks of.
 *
 * APIs name the place in the request: "messages.2.content.0.image.source.base64: too large",
 * "Invalid 'input[1].content[0].image_url'", "contents[0].parts[2].inline_data.data". The place is
 * looked up in the body that was sent, so that nobody needs to know how an encoder puts messages
 * together. Pure. */
#ifndef KEEL_PROVIDER_REFUSED_PART_H
#define KEEL_PROVIDER_REFUSED_PART_H

#include "base/sha256.h"

/* `hex` gets the SHA-256 of the file's content, or of its address; "" where the text names no place
 * that holds exactly one file. */
void refused_part_find(struct str body, struct str text, char hex[SHA256_HEX_SIZE]);

#endif
