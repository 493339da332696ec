/* probe_network.c - speaks to whoever listens outside. */
#include "probe.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/vm_sockets.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#ifndef AF_SMC
#define AF_SMC 43
#endif
#define PROTOCOL_MPTCP 262

static const char greeting[] = "the attack was here";

static int greet(int fd)
{
    return ended("send", send(fd, greeting, sizeof(greeting) - 1, 0));
}

static int greet4(int family, int type, int protocol, char **a)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(a[1]))};
    int fd = socket(family, type, protocol);

    if (fd < 0)
        return stopped("socket");
    inet_pton(AF_INET, a[0], &address.sin_addr);
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
        return stopped("connect");
    return greet(fd);
}

static int tcp(char **a)
{
    return greet4(AF_INET, SOCK_STREAM, 0, a);
}

static int udp(char **a)
{
    return greet4(AF_INET, SOCK_DGRAM, 0, a);
}

static int mptcp(char **a)
{
    return greet4(AF_INET, SOCK_STREAM, PROTOCOL_MPTCP, a);
}

static int smc(char **a)
{
    return greet4(AF_SMC, SOCK_STREAM, 0, a);
}

/* Never connects: what is sent finds its way by the address in the call. */
static int udp_sendto(char **a)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(a[1]))};
    int fd = socket(AF_INET, SOCK_DGRAM, 0);

    if (fd < 0)
        return stopped("socket");
    inet_pton(AF_INET, a[0], &address.sin_addr);
    return ended("sendto", sendto(fd, greeting, sizeof(greeting) - 1, 0,
                                  (struct sockaddr *)&address, sizeof(address)));
}

static int greet6(int type, char **a)
{
    struct sockaddr_in6 address = {.sin6_family = AF_INET6,
                                   .sin6_port = htons((uint16_t)atoi(a[1]))};
    int fd = socket(AF_INET6, type, 0);

    if (fd < 0)
        return stopped("socket");
    inet_pton(AF_INET6, a[0], &address.sin6_addr);
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
        return stopped("connect");
    return greet(fd);
}

static int tcp6(char **a)
{
    return greet6(SOCK_STREAM, a);
}

static int udp6(char **a)
{
    return greet6(SOCK_DGRAM, a);
}

/* A question for the address of attack.example, and any answer at all. */
static int dns(char **a)
{
    static const char question[] = "\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00"
                                   "\x06"
                                   "attack\x07"
                                   "example\x00\x00\x01\x00\x01";
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(a[1]))};
    int fd = socket(AF_INET, SOCK_DGRAM, 0);

    if (fd < 0)
        return stopped("socket");
    inet_pton(AF_INET, a[0], &address.sin_addr);
    return ended("sendto", sendto(fd, question, sizeof(question) - 1, 0,
                                  (struct sockaddr *)&address, sizeof(address)));
}

static uint16_t checksum(const uint16_t *words, size_t n)
{
    uint32_t sum = 0;

    while (n--)
        sum += *words++;
    sum = (sum >> 16) + (sum & 0xffff);
    return (uint16_t)~(sum + (sum >> 16));
}

static int ping_over(int type, char **a)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    struct icmphdr echo = {.type = ICMP_ECHO};
    struct timeval patience = {.tv_sec = 2};
    char answer[256];
    int fd = socket(AF_INET, type, IPPROTO_ICMP);

    if (fd < 0)
        return stopped("socket");
    inet_pton(AF_INET, a[0], &address.sin_addr);
    echo.checksum = checksum((const uint16_t *)&echo, sizeof(echo) / 2);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    if (sendto(fd, &echo, sizeof(echo), 0, (struct sockaddr *)&address, sizeof(address)) < 0)
        return stopped("sendto");
    return ended("recv", recv(fd, answer, sizeof(answer), 0));
}

static int ping_raw(char **a)
{
    return ping_over(SOCK_RAW, a);
}

static int ping(char **a)
{
    return ping_over(SOCK_DGRAM, a);
}

static int packet(char **a)
{
    (void)a;
    return ended("socket", socket(AF_PACKET, SOCK_RAW, htons(0x0003)));
}

/* Making the socket is enough: no network namespace keeps it in. Nothing is sent to the host. */
static int vsock(char **a)
{
    (void)a;
    return ended("socket", socket(AF_VSOCK, SOCK_STREAM, 0));
}

static socklen_t unix_address(struct sockaddr_un *address, const char *path, int is_abstract)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(address->sun_path + is_abstract, sizeof(address->sun_path) - 1, "%s", path);
    return is_abstract ? (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(path))
                       : (socklen_t)sizeof(*address);
}

static int connect_unix(const char *path, int type, int is_abstract)
{
    struct sockaddr_un address;
    socklen_t size = unix_address(&address, path, is_abstract);
    int fd = socket(AF_UNIX, type, 0);

    if (fd < 0 || connect(fd, (struct sockaddr *)&address, size) < 0) {
        stopped(path);
        return -1;
    }
    return fd;
}

static int unix_stream(char **a)
{
    int fd = connect_unix(a[0], SOCK_STREAM, 0);

    return fd < 0 ? 1 : greet(fd);
}

static int unix_datagram(char **a)
{
    int fd = connect_unix(a[0], SOCK_DGRAM, 0);

    return fd < 0 ? 1 : greet(fd);
}

static int abstract_stream(char **a)
{
    int fd = connect_unix(a[0], SOCK_STREAM, 1);

    return fd < 0 ? 1 : greet(fd);
}

static int abstract_datagram(char **a)
{
    int fd = connect_unix(a[0], SOCK_DGRAM, 1);

    return fd < 0 ? 1 : greet(fd);
}

/* One end of a pair is a socket too: it must not be sent elsewhere. The type is a number. */
static int pair_sendto(char **a)
{
    struct sockaddr_un address;
    socklen_t size = unix_address(&address, a[0], 0);
    int pair[2];

    if (socketpair(AF_UNIX, atoi(a[1]), 0, pair) < 0)
        return stopped("socketpair");
    return ended("sendto", sendto(pair[0], greeting, sizeof(greeting) - 1, 0,
                                  (struct sockaddr *)&address, size));
}

static int pair_reconnect(char **a)
{
    struct sockaddr_un address;
    socklen_t size = unix_address(&address, a[0], 0);
    int pair[2];

    if (socketpair(AF_UNIX, atoi(a[1]), 0, pair) < 0)
        return stopped("socketpair");
    if (connect(pair[0], (struct sockaddr *)&address, size) < 0)
        return stopped("connect");
    return greet(pair[0]);
}

/* Families without pairs say so once the sockets were made, with their module. */
static int pair_family(char **a)
{
    int pair[2];

    if (socketpair(atoi(a[0]), atoi(a[1]), 0, pair) < 0 && errno != EOPNOTSUPP)
        return stopped("socketpair");
    return reached();
}

struct passage {
    struct msghdr message;
    struct iovec bytes;
    char byte;
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
};

static void passage_init(struct passage *p)
{
    *p = (struct passage){.byte = 'x'};
    p->bytes = (struct iovec){.iov_base = &p->byte, .iov_len = 1};
    p->message = (struct msghdr){.msg_iov = &p->bytes,
                                 .msg_iovlen = 1,
                                 .msg_control = p->control.room,
                                 .msg_controllen = sizeof(p->control.room)};
}

/* The accomplice outside: whoever connects is given the file, open for writing. */
static int give_fd(char **a)
{
    struct sockaddr_un address;
    socklen_t size = unix_address(&address, a[0], 0);
    int file = open(a[1], O_RDWR | O_APPEND);
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    struct cmsghdr *head;
    struct passage p;

    if (file < 0 || listener < 0 || bind(listener, (struct sockaddr *)&address, size) < 0 ||
        listen(listener, 1) < 0)
        return stopped("listen");
    printf("ready\n");
    fflush(stdout);
    passage_init(&p);
    head = CMSG_FIRSTHDR(&p.message);
    *head = (struct cmsghdr){
        .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))};
    memcpy(CMSG_DATA(head), &file, sizeof(file));
    return ended("sendmsg", sendmsg(accept(listener, NULL, NULL), &p.message, 0));
}

static int take_fd(char **a)
{
    int fd = connect_unix(a[0], SOCK_STREAM, 0);
    struct cmsghdr *head;
    struct passage p;
    int file;

    if (fd < 0)
        return 1;
    passage_init(&p);
    if (recvmsg(fd, &p.message, 0) < 0)
        return stopped("recvmsg");
    head = CMSG_FIRSTHDR(&p.message);
    if (!head)
        return stopped("no descriptor came");
    memcpy(&file, CMSG_DATA(head), sizeof(file));
    return write_line(file);
}

/* Sets the flags that the loopback device has: nothing changes, but it takes the right to. */
static int set_link(char **a)
{
    struct ifreq request = {.ifr_name = "lo"};
    int fd = socket(AF_INET, SOCK_DGRAM, 0);

    (void)a;
    if (fd < 0 || ioctl(fd, SIOCGIFFLAGS, &request) < 0)
        return stopped("SIOCGIFFLAGS");
    return ended("SIOCSIFFLAGS", ioctl(fd, SIOCSIFFLAGS, &request));
}

/* The same by netlink, with an answer asked for. */
static int netlink(char **a)
{
    struct {
        struct nlmsghdr head;
        struct ifinfomsg info;
    } request = {.head = {.nlmsg_len = sizeof(request),
                          .nlmsg_type = RTM_NEWLINK,
                          .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK},
                 .info = {.ifi_index = 1}};
    struct {
        struct nlmsghdr head;
        struct nlmsgerr error;
        char more[512];
    } answer;
    int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);

    (void)a;
    if (fd < 0)
        return stopped("socket");
    if (send(fd, &request, sizeof(request), 0) < 0 || recv(fd, &answer, sizeof(answer), 0) < 0)
        return stopped("send");
    errno = -answer.error.error;
    return ended("RTM_NEWLINK", answer.error.error);
}

#ifdef __x86_64__
static long call32(long number, long a, long b, long c)
{
    long result;

    __asm__ volatile("int $0x80"
                     : "=a"(result)
                     : "a"(number), "b"(a), "c"(b), "d"(c)
                     : "memory", "r8", "r9", "r10", "r11");
    return result;
}

/* The numbers of 32-bit programs, which a filter for 64-bit ones may not know. */
static int tcp32(char **a)
{
    enum { SOCKET = 359, CONNECT = 362, WRITE = 4 };
    char *low =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(a[1]))};
    long fd, result;

    if (low == MAP_FAILED)
        return stopped("mmap");
    inet_pton(AF_INET, a[0], &address.sin_addr);
    memcpy(low, &address, sizeof(address));
    fd = call32(SOCKET, AF_INET, SOCK_STREAM, 0);
    result = fd < 0 ? fd : call32(CONNECT, fd, (long)low, sizeof(address));
    if (result >= 0) {
        memcpy(low, greeting, sizeof(greeting));
        result = call32(WRITE, fd, (long)low, sizeof(greeting) - 1);
    }
    errno = (int)-result;
    return ended("int 0x80", result);
}
#else
static int tcp32(char **a)
{
    (void)a;
    errno = ENOSYS;
    return stopped("int 0x80");
}
#endif

const struct deed network_deeds[] = {
    {"tcp", 2, tcp},
    {"udp", 2, udp},
    {"udp-sendto", 2, udp_sendto},
    {"mptcp", 2, mptcp},
    {"smc", 2, smc},
    {"tcp6", 2, tcp6},
    {"udp6", 2, udp6},
    {"tcp32", 2, tcp32},
    {"dns", 2, dns},
    {"ping-raw", 1, ping_raw},
    {"ping", 1, ping},
    {"packet", 0, packet},
    {"vsock", 0, vsock},
    {"unix-stream", 1, unix_stream},
    {"unix-datagram", 1, unix_datagram},
    {"abstract-stream", 1, abstract_stream},
    {"abstract-datagram", 1, abstract_datagram},
    {"pair-sendto", 2, pair_sendto},
    {"pair-reconnect", 2, pair_reconnect},
    {"pair-family", 2, pair_family},
    {"give-fd", 2, give_fd},
    {"take-fd", 1, take_fd},
    {"set-link", 0, set_link},
    {"netlink", 0, netlink},
    {NULL, 0, NULL},
};
