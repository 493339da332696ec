/* exec_policy_fuzz.c - no bytes make keel-exec read beyond a policy.
 *
 * keel-exec is a program of its own, so its reader is compiled in here. */
#include "exec/policy.c" // NOLINT(bugprone-suspicious-include)

#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd = memfd_create("policy", MFD_CLOEXEC);
    const struct policy_header *p;
    size_t n_seen = 0, n_items = 0;

    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    p = policy_open(fd);
    close(fd);
    if (!p)
        return 0;
    policy_each(item, p)
    {
        n_items++;
        n_seen += sizeof *item + strlen(item->text);
    }
    if (n_items != p->n_items || n_seen > size)
        abort();
    munmap((void *)(uintptr_t)p, size);
    return 0;
}
