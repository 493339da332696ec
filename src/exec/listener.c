/* listener.c - the socket in a command's network where it finds keel's proxy.
 *
 * A socket stays in the network that it was made in, whoever holds it. So this one is made here and
 * handed to keel, which accepts and reads what commands send there by itself: nothing has to run in
 * between, and a command that is joined to the network later finds it as well. */
#include "exec/exec.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 128 };

int listener_open(void)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons(EXEC_PROXY_PORT),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), error;

    if (fd < 0)
        return -1;
    if (bind(fd, (const struct sockaddr *)&address, sizeof address) == 0 &&
        listen(fd, BACKLOG) == 0)
        return fd;
    error = errno;
    close(fd);
    errno = error;
    return -1;
}
