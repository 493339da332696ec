/* lookup_test.c - whose addresses are. */
#include "net/lookup.h"

#include "sys/auto_fd.h"
#include "test.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define PUBLIC "93.184.216.34"

enum { IS_PUBLIC, IS_OWN, NO_NETWORK };

static bool set_address(int fd, const char *interface, const char *address)
{
    struct sockaddr_in in = {.sin_family = AF_INET};
    struct ifreq request = {0};

    strcpy(request.ifr_name, interface);
    assert_int_equal(inet_pton(AF_INET, address, &in.sin_addr), 1);
    memcpy(&request.ifr_addr, &in, sizeof in);
    if (ioctl(fd, SIOCSIFADDR, &request) < 0)
        return false;
    request.ifr_flags = IFF_UP;
    return ioctl(fd, SIOCSIFFLAGS, &request) == 0;
}

/* A machine whose address is one of the Internet's. */
static int look_from_there(void)
{
    AUTO_FD fd = -1;

    if (unshare(geteuid() == 0 ? CLONE_NEWNET : CLONE_NEWUSER | CLONE_NEWNET) < 0)
        return NO_NETWORK;
    fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || !set_address(fd, "lo", "127.0.0.1") || !set_address(fd, "lo:1", PUBLIC))
        return NO_NETWORK;
    return lookup_is_public(PUBLIC) ? IS_PUBLIC : IS_OWN;
}

TEST(an_address_of_this_machine_is_not_public)
{
    pid_t pid = fork();
    int status;

    if (pid == 0)
        _exit(look_from_there());
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == NO_NETWORK)
        skip();
    assert_int_equal(WEXITSTATUS(status), IS_OWN);
}

TEST(an_address_of_the_internet_is_public_and_a_private_one_is_not)
{
    assert_true(lookup_is_public(PUBLIC));
    assert_true(lookup_is_public("2606:4700::1111"));
    assert_false(lookup_is_public("10.0.0.1"));
    assert_false(lookup_is_public("fd00::1"));
    assert_false(lookup_is_public("no address"));
}

TEST(an_ipv4_address_in_ipv6_is_found_as_the_ipv4_address)
{
    struct lookup l = {.host = "::ffff:93.184.216.34"};

    lookup_block(&l);
    assert_int_equal(l.error, 0);
    assert_int_equal(l.n, 1);
    assert_string_equal(l.addresses[0], PUBLIC);
}

RUN_TESTS(UNIT(an_address_of_this_machine_is_not_public),
          UNIT(an_address_of_the_internet_is_public_and_a_private_one_is_not),
          UNIT(an_ipv4_address_in_ipv6_is_found_as_the_ipv4_address))
