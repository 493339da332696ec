/* parked.c - waits for a command: keel-exec is started before there is one.
 *
 * What comes is what keel would have given it at its start: descriptors, arguments, environment, a
 * policy. They are put where they would have been, and nothing after this knows the difference. */
#include "exec/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_TEXT_BYTES = 64 << 20 };

struct came {
    int fd[EXEC_ORDER_MAX_FDS];
    unsigned n;
};

static ssize_t receive(int control, struct exec_order *order, struct came *came)
{
    union {
        char bytes[CMSG_SPACE(sizeof came->fd)];
        struct cmsghdr align;
    } data;
    struct iovec part = {order, sizeof *order};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = data.bytes,
                             .msg_controllen = sizeof data.bytes};
    struct cmsghdr *header;
    ssize_t n;

    do
        n = recvmsg(control, &message, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    header = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
        !(message.msg_flags & MSG_CTRUNC)) {
        came->n = (unsigned)((header->cmsg_len - CMSG_LEN(0)) / sizeof came->fd[0]);
        memcpy(came->fd, CMSG_DATA(header), came->n * sizeof came->fd[0]);
    }
    return n;
}

/* Besides the command's own: a policy, the texts, perhaps rules, a network, and one more. */
static bool is_sound(const struct exec_order *o, const struct came *came)
{
    unsigned n_needed = o->n_fds + 2 + (o->flags & EXEC_ORDER_RULES ? 1 : 0) +
                        (o->flags & EXEC_ORDER_NETWORK ? 1 : 0);

    return o->version == EXEC_PROTOCOL_VERSION && o->kind == EXEC_ORDER &&
           o->n_fds > STDERR_FILENO && o->n_fds < EXEC_ORDER_MAX_FDS && o->n_arguments > 0 &&
           o->n_arguments < MAX_TEXT_BYTES && o->n_variables < MAX_TEXT_BYTES &&
           came->n >= n_needed && came->n <= n_needed + 1;
}

/* The first that came has at least the number 3, and each after it a greater one: so none is
 * overwritten before its turn, and the number behind the command's is free for the channel. */
static bool place_fds(struct options *o, const struct exec_order *order, const struct came *came)
{
    int n = (int)order->n_fds;

    for (int i = 0; i < n; i++)
        if (came->fd[i] < i + STDERR_FILENO + 1 || dup2(came->fd[i], i) < 0)
            return false;
    if (dup3(o->control, n, O_CLOEXEC) < 0)
        return false;
    close(o->control);
    o->control = n;
    for (int i = 0; i < n; i++)
        if (came->fd[i] > n)
            close(came->fd[i]);
    return true;
}

static char *next_text(char *text, const char *end)
{
    char *nul = text < end ? memchr(text, 0, (size_t)(end - text)) : NULL;

    return nul ? nul + 1 : NULL;
}

/* Lists of so many texts each, with a NULL behind them; false: there are not as many. */
static bool list_texts(struct options *o, const struct exec_order *order, char *text,
                       const char *end)
{
    size_t n_slots = (size_t)order->n_arguments + order->n_variables + 2;
    char **list = mmap(NULL, n_slots * sizeof *list, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (list == MAP_FAILED)
        return false;
    o->program = text;
    o->argv = list;
    environ = list + order->n_arguments + 1;
    text = next_text(text, end);
    for (uint32_t i = 0; text && i < order->n_arguments; i++) {
        o->argv[i] = text;
        text = next_text(text, end);
    }
    for (uint32_t i = 0; text && i < order->n_variables; i++) {
        environ[i] = text;
        text = next_text(text, end);
    }
    return text == end;
}

static bool read_texts(struct options *o, const struct exec_order *order, int fd)
{
    struct stat st;
    char *text;

    if (fstat(fd, &st) < 0 || st.st_size <= 0 || st.st_size > MAX_TEXT_BYTES)
        return false;
    text = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    return text != MAP_FAILED && list_texts(o, order, text, text + st.st_size);
}

static bool take_order(struct options *o, const struct exec_order *order, const struct came *came)
{
    unsigned at = order->n_fds;
    int texts;

    if (!place_fds(o, order, came))
        return false;
    o->grace_ms = order->grace_ms;
    o->tty = order->flags & EXEC_ORDER_TTY;
    o->is_held = order->flags & EXEC_ORDER_HELD;
    o->has_notices = order->flags & EXEC_ORDER_NOTICES;
    o->user_fd = -1; /* it was joined */
    o->policy_fd = came->fd[at++];
    texts = came->fd[at++];
    if (order->flags & EXEC_ORDER_RULES)
        o->rules_fd = came->fd[at++];
    if (order->flags & EXEC_ORDER_NETWORK)
        o->network_fd = came->fd[at];
    return read_texts(o, order, texts);
}

bool parked_wait(struct options *o)
{
    int control = fcntl(o->control, F_DUPFD_CLOEXEC, PARKED_FIRST_FD);
    struct came came = {.n = 0};
    struct exec_order order;

    if (control < 0)
        return false;
    for (int fd = STDERR_FILENO + 1; fd < PARKED_FIRST_FD; fd++)
        close(fd);
    o->control = control;
    return receive(control, &order, &came) == (ssize_t)sizeof order && is_sound(&order, &came) &&
           take_order(o, &order, &came);
}
