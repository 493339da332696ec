/* image_head_fuzz.c - any bytes as an image: what is read of them stays within them. */
#include "base/image_head.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct image_head head;

    if (!image_head_read(str_make((const char *)data, size), &head))
        return 0;
    BUG_IF(head.state == IMAGE_WHOLE && (head.width == 0 || head.height == 0));
    BUG_IF((head.state == IMAGE_WRONG) != (head.problem != NULL));
    return 0;
}
