/* crc32.h - the CRC of gzip (ISO 3309), which event streams of AWS carry. */
#ifndef KEEL_BASE_CRC32_H
#define KEEL_BASE_CRC32_H

#include "base/str.h"

/* `crc` is 0 at first, then the result for the bytes before. */
uint32_t crc32_add(uint32_t crc, struct str bytes);

#endif
