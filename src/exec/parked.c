/* parked.c - waits for a command: keel-exec was started before there is one.
 *
 * The order brings what keel would have passed at the start: descriptors, arguments, environment, a
 * policy. They are put where they would have been, so that the rest of the program sees no
 * difference, except for mounts that an expected policy has already built. */
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

/* Besides the command's descriptors: a policy, the texts, perhaps rules, a network, and one
 * more. */
static bool is_sound(const struct exec_order *o, const struct came *came)
{
    unsigned n_needed = o->n_fds + 2 + (o->flags & EXEC_ORDER_RULES ? 1 : 0) +
                        (o->flags & EXEC_ORDER_NETWORK ? 1 : 0);

    return o->version == EXEC_PROTOCOL_VERSION && o->kind == EXEC_ORDER &&
           o->n_fds > STDERR_FILENO && o->n_fds < EXEC_ORDER_MAX_FDS && o->n_arguments > 0 &&
           o->n_arguments < MAX_TEXT_BYTES && o->n_variables < MAX_TEXT_BYTES &&
           came->n >= n_needed && came->n <= n_needed + 1;
}

/* The first descriptor has at least the number 3, and each following a greater one: so none is
 * overwritten before its turn, and the number after the command's is free for the channel. */
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

/* Makes lists of these numbers of texts, each with a NULL at the end; false: too few texts. */
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

/* --- before the command --- */

/* Descriptors that are opened now get numbers above those of the command. */
static bool occupy_low_fds(void)
{
    for (int fd = STDERR_FILENO + 1; fd < PARKED_FIRST_FD; fd++)
        if (fcntl(fd, F_GETFD) < 0 && dup3(STDERR_FILENO, fd, O_CLOEXEC) < 0)
            return false;
    return true;
}

static void free_low_fds(void)
{
    for (int fd = STDERR_FILENO + 1; fd < PARKED_FIRST_FD; fd++)
        close(fd);
}

static bool is_expectation(const struct exec_order *o, const struct came *came)
{
    return o->version == EXEC_PROTOCOL_VERSION && o->kind == EXEC_EXPECT &&
           came->n == 1u + (o->flags & EXEC_ORDER_NETWORK ? 1 : 0);
}

/* False: the order of keel is invalid. If the sandbox cannot be built, the command reports it
 * later. */
static bool build_ahead(const struct options *o, struct exec_place *place,
                        const struct exec_order *order, const struct came *came)
{
    bool has_network = order->flags & EXEC_ORDER_NETWORK;
    struct options ahead = *o;

    ahead.user_fd = -1; /* it was joined */
    if (has_network)    /* closed when it was joined: its number must not be a low one */
        ahead.network_fd = fcntl(came->fd[1], F_DUPFD_CLOEXEC, PARKED_FIRST_FD);
    place->policy = policy_open(came->fd[0]);
    if (!place->policy || !(place->policy->flags & POLICY_NAMESPACES) ||
        (ahead.network_fd < 0 && !(place->policy->flags & POLICY_NETWORK)) || !occupy_low_fds())
        return false;
    namespace_build_ahead(&ahead, place);
    free_low_fds();
    return true;
}

static bool is_refused(const struct options *o, const struct exec_place *place,
                       const struct exec_order *order)
{
    static const struct fault not_built = {ESTALE, EXEC_STEP_CHANGED, 0};
    bool is_refused = !(order->flags & EXEC_ORDER_BUILT) != !place->is_built;

    if (is_refused)
        report_fault(o->control, &not_built);
    return is_refused;
}

bool parked_wait(struct options *o, struct exec_place *place)
{
    int control = fcntl(o->control, F_DUPFD_CLOEXEC, PARKED_FIRST_FD);
    struct came came = {.n = 0};
    struct exec_order order;
    ssize_t n;

    if (control < 0)
        return false;
    free_low_fds();
    o->control = control;
    n = receive(control, &order, &came);
    if (n == (ssize_t)sizeof order && is_expectation(&order, &came)) {
        if (!build_ahead(o, place, &order, &came))
            return false;
        came.n = 0;
        n = receive(control, &order, &came);
    }
    return n == (ssize_t)sizeof order && is_sound(&order, &came) && !is_refused(o, place, &order) &&
           take_order(o, &order, &came);
}
