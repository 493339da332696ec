/* listener.c - opens the socket of keel's proxy in the network of a command.
 *
 * A socket stays in the network in which it was created, in any process. So it is created here and
 * passed to keel, which accepts the connections of commands: no process is needed in between, and
 * commands that join the network later find it, too. */
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
