/* seccomp_test.c - which system calls the filter allows, by running it here instead of in the
 * kernel.
 *
 * keel-exec is a program of its own, so its sources are compiled in. */
#include "exec/filter.c"  // NOLINT(bugprone-suspicious-include)
#include "exec/seccomp.c" // NOLINT(bugprone-suspicious-include)

#include "exec/run_filter.h"
#include "test.h"

#include <linux/btrfs.h>
#include <linux/fscrypt.h>
#include <linux/if_vlan.h>
#include <linux/loop.h>
#include <string.h>

enum { NEWEST_LANDLOCK = 7, ANY = -1 };

struct way {
    const char *name;
    uint32_t flags;
    int landlock_abi;
};

static const struct way ways[] = {
    {"namespaces", POLICY_NAMESPACES, NEWEST_LANDLOCK},
    {"namespaces, no Landlock", POLICY_NAMESPACES, 0},
    {"Landlock", 0, NEWEST_LANDLOCK},
    {"old Landlock", 0, 1},
};

/* What the call gets: 0 or an errno. */
static int answer(const struct way *way, struct seccomp_data data)
{
    struct policy_header policy = {.flags = way->flags};
    struct filter f = {0};
    uint32_t action;

    assert_true(build(&f, &policy, way->landlock_abi));
    if (!data.arch)
        data.arch = NATIVE_ARCH;
    action = run_filter(&f, &data);
    return action == SECCOMP_RET_ALLOW ? 0 : (int)(action & SECCOMP_RET_DATA);
}

#define CALL(name, ...)                                                                            \
    {                                                                                              \
        SYS_##name,                                                                                \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

struct expected {
    struct {
        int call;
        uint64_t args[6];
    } what;
    int with, without; /* namespaces: 0, an errno, or ANY that is not 0 */
};

static void check(const struct expected *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t w = 0; w < ARRAY_LEN(ways); w++) {
            struct seccomp_data data = {.nr = list[i].what.call};
            int want = ways[w].flags & POLICY_NAMESPACES ? list[i].with : list[i].without, got;

            memcpy(data.args, list[i].what.args, sizeof list[i].what.args);
            got = answer(&ways[w], data);
            if (want == ANY ? got == 0 : got != want)
                fail_msg("%s, line %zu of the list: %d, not %d", ways[w].name, i + 1, got, want);
        }
}
#define assert_calls(list) check(list, ARRAY_LEN(list))

TEST(socket_pairs_are_streams_or_packets_of_unix)
{
    static const struct expected list[] = {
        {CALL(socketpair, AF_UNIX, SOCK_STREAM), 0, 0},
        {CALL(socketpair, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK), 0, 0},
        {CALL(socketpair, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC), 0, 0},
        {CALL(socketpair, AF_UNIX, SOCK_DGRAM), EPERM, EPERM},
        {CALL(socketpair, AF_UNIX, SOCK_RAW), EPERM, EPERM},
        {CALL(socketpair, AF_UNIX, SOCK_RAW | SOCK_CLOEXEC), EPERM, EPERM},
        {CALL(socketpair, AF_UNIX, SOCK_RDM), EPERM, EPERM},
        {CALL(socketpair, AF_UNIX, 0xffffffff00000000 | SOCK_RAW), EPERM, EPERM},
    };

    assert_calls(list);
    for (uint64_t family = 0; family < 64; family++)
        for (uint64_t type = 0; type < 16; type++) {
            struct expected any[] = {{CALL(socketpair, family, type), EPERM, EPERM}};

            if (family != AF_UNIX)
                assert_calls(any);
        }
}

TEST(sockets_are_tcp_udp_and_questions_about_interfaces)
{
    static const struct expected list[] = {
        {CALL(socket, AF_INET, SOCK_STREAM), 0, EPERM},
        {CALL(socket, AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP), 0, EPERM},
        {CALL(socket, AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK, IPPROTO_UDP), 0, EPERM},
        {CALL(socket, AF_INET, SOCK_STREAM, MPTCP), 0, EPERM},
        {CALL(socket, AF_NETLINK, SOCK_RAW, NETLINK_ROUTE), 0, EPERM},
        {CALL(socket, AF_NETLINK, SOCK_RAW, NETLINK_AUDIT), EPERM, EPERM},
        {CALL(socket, AF_INET, SOCK_RAW, IPPROTO_TCP), EPERM, EPERM},
        {CALL(socket, AF_INET, SOCK_PACKET), EPERM, EPERM},
        {CALL(socket, AF_INET, SOCK_SEQPACKET, IPPROTO_SCTP), EPERM, EPERM},
        {CALL(socket, AF_INET, SOCK_STREAM, IPPROTO_SCTP), EPERM, EPERM},
        {CALL(socket, AF_INET, SOCK_DCCP, IPPROTO_DCCP), EPERM, EPERM},
        {CALL(socket, AF_UNIX, SOCK_STREAM), EPERM, EPERM},
        {CALL(socket, AF_UNIX, SOCK_RAW), EPERM, EPERM},
        {CALL(socket, AF_ALG, SOCK_SEQPACKET), EPERM, EPERM},
        {CALL(socket, AF_VSOCK, SOCK_STREAM), EPERM, EPERM},
        {CALL(socket, AF_PACKET, SOCK_RAW), EPERM, EPERM},
    };

    assert_calls(list);
}

TEST(no_call_makes_a_program_set_user_id)
{
    static const struct expected list[] = {
        {CALL(fchmod, 3, 0755), 0, EPERM},
        {CALL(fchmod, 3, 04755), EPERM, EPERM},
        {CALL(fchmod, 3, 01777), 0, EPERM},
        {CALL(fchmodat, 3, 0, 02755), EPERM, EPERM},
        {{FCHMODAT2, {3, 0, 06755}}, EPERM, EPERM},
        {CALL(mknodat, 3, 0, S_IFREG | 0755), 0, 0},
        {CALL(mknodat, 3, 0, S_IFREG | 04755), EPERM, EPERM},
        {CALL(openat, 3, 0, O_CREAT | O_WRONLY, 0755), 0, 0},
        {CALL(openat, 3, 0, O_CREAT | O_WRONLY, 04755), EPERM, EPERM},
        {CALL(openat, 3, 0, O_TMPFILE | O_WRONLY, 02755), EPERM, EPERM},
        {CALL(openat, 3, 0, O_RDONLY, 04755), 0, 0}, /* there is no mode, and no third argument */
        {CALL(openat, 3, 0, O_RDONLY | O_DIRECTORY, 04755), 0, 0},
        {CALL(openat2, 3), ENOSYS, ENOSYS},
        {CALL(mkdirat, 3, 0, 02755), 0, 0}, /* the kernel drops it */
#ifdef __x86_64__
        {CALL(chmod, 0, 04755), EPERM, EPERM},
        {CALL(chmod, 0, 0755), 0, EPERM},
        {CALL(creat, 0, 04755), EPERM, EPERM},
        {CALL(creat, 0, 0755), 0, 0},
        {CALL(mknod, 0, 02755), EPERM, EPERM},
        {CALL(open, 0, O_CREAT | O_RDWR, 06755), EPERM, EPERM},
        {CALL(open, 0, O_CREAT | O_RDWR, 0666), 0, 0},
        {CALL(open, 0, O_RDONLY, 06755), 0, 0},
#endif
    };

    assert_calls(list);
}

TEST(a_file_open_for_reading_is_not_cut_short_where_landlock_is_too_old)
{
    struct seccomp_data cut = {.nr = SYS_openat, .args = {3, 0, O_RDONLY | O_TRUNC}};
    struct seccomp_data cut_by_name = {.nr = SYS_truncate};

    for (size_t w = 0; w < ARRAY_LEN(ways); w++) {
        bool is_old = !(ways[w].flags & POLICY_NAMESPACES) && ways[w].landlock_abi < 3;

        assert_int_equal(answer(&ways[w], cut), is_old ? EPERM : 0);
        assert_int_equal(answer(&ways[w], cut_by_name), is_old ? EPERM : 0);
    }
}

TEST(requests_are_those_of_terminals_files_and_interfaces)
{
    static const struct expected list[] = {
        {CALL(ioctl, 0, TCGETS), 0, 0},
        {CALL(ioctl, 0, TIOCGWINSZ), 0, 0},
        {CALL(ioctl, 0, FIONREAD), 0, 0},
        {CALL(ioctl, 0, FIONBIO), 0, 0},
        {CALL(ioctl, 0, FIOCLEX), 0, 0},
        {CALL(ioctl, 0, TIOCGPTPEER), 0, 0},
        {CALL(ioctl, 0, FICLONE), 0, 0},
        {CALL(ioctl, 0, FS_IOC_GETFLAGS), 0, 0},
        {CALL(ioctl, 0, SIOCGIFCONF), 0, 0},
        {CALL(ioctl, 0, FS_IOC_SETFLAGS), 0, EPERM},
        {CALL(ioctl, 0, FS_IOC_FSSETXATTR), 0, EPERM},
        {CALL(ioctl, 0, TIOCSTI), EPERM, EPERM},
        {CALL(ioctl, 0, 0xffffffff00000000 | TIOCSTI), EPERM, EPERM},
        {CALL(ioctl, 0, TIOCLINUX), EPERM, EPERM},
        {CALL(ioctl, 0, TIOCSETD), EPERM, EPERM},
        {CALL(ioctl, 0, BTRFS_IOC_SNAP_CREATE), ANY, ANY},
        {CALL(ioctl, 0, BTRFS_IOC_SNAP_CREATE_V2), ANY, ANY},
        {CALL(ioctl, 0, BTRFS_IOC_SUBVOL_CREATE), ANY, ANY},
        {CALL(ioctl, 0, BTRFS_IOC_SUBVOL_CREATE_V2), ANY, ANY},
        {CALL(ioctl, 0, BTRFS_IOC_SEND), ANY, ANY},
        {CALL(ioctl, 0, BTRFS_IOC_SET_RECEIVED_SUBVOL), ANY, ANY},
        {CALL(ioctl, 0, BTRFS_IOC_TREE_SEARCH), ANY, ANY},
        {CALL(ioctl, 0, BTRFS_IOC_TREE_SEARCH_V2), ANY, ANY},
        {CALL(ioctl, 0, BTRFS_IOC_INO_LOOKUP), ANY, ANY},
        {CALL(ioctl, 0, BTRFS_IOC_DEFAULT_SUBVOL), ANY, ANY},
        {CALL(ioctl, 0, BTRFS_IOC_LOGICAL_INO), ANY, ANY},
        {CALL(ioctl, 0, BTRFS_IOC_ENCODED_READ), ANY, ANY},
        {CALL(ioctl, 0, FS_IOC_ADD_ENCRYPTION_KEY), ANY, ANY},
        {CALL(ioctl, 0, FIFREEZE), ANY, ANY},
        {CALL(ioctl, 0, _IOWR('X', 59, char[192])), ANY, ANY}, /* FS_IOC_GETFSMAP */
        {CALL(ioctl, 0, _IOWR('X', 107, char[48])), ANY, ANY}, /* XFS_IOC_OPEN_BY_HANDLE */
        {CALL(ioctl, 0, _IOW(0xbc, 16, char[32])), ANY, ANY},  /* a subvolume of bcachefs */
        {CALL(ioctl, 0, _IO(0xb7, 1)), ANY, ANY},              /* a namespace above */
        {CALL(ioctl, 0, LOOP_SET_FD), ANY, ANY},
        {CALL(ioctl, 0, SIOCBRADDBR), ANY, ANY},
        {CALL(ioctl, 0, SIOCGIFVLAN), ANY, ANY},
        {CALL(ioctl, 0, SIOCSIFFLAGS), ANY, ANY},
    };

    assert_calls(list);
}

TEST(a_socket_sends_no_signal_to_others_where_landlock_is_too_old)
{
    struct seccomp_data owner = {.nr = SYS_ioctl, .args = {3, FIOSETOWN}};

    for (size_t w = 0; w < ARRAY_LEN(ways); w++)
        assert_int_equal(answer(&ways[w], owner),
                         ways[w].flags & POLICY_NAMESPACES || ways[w].landlock_abi >= 6 ? 0
                                                                                        : EPERM);
}

TEST(limits_are_not_set_for_the_supervisor_nor_for_others)
{
    static const struct expected list[] = {
        {CALL(prlimit64, 0, RLIMIT_CPU, 0x1000), 0, 0},
        {CALL(prlimit64, 1, RLIMIT_CPU, 0), 0, 0},
        {CALL(prlimit64, 1, RLIMIT_CPU, 0x1000), EPERM, EPERM},
        {CALL(prlimit64, 1, RLIMIT_CPU, 0x100000000), EPERM, EPERM},
        {CALL(prlimit64, 2, RLIMIT_CPU, 0x1000), 0, EPERM},
    };

    assert_calls(list);
}

TEST(no_lease_keeps_others_from_a_file)
{
    static const struct expected list[] = {
        {CALL(fcntl, 3, F_SETLEASE, F_RDLCK), EPERM, EPERM},
        {CALL(fcntl, 3, F_SETFD, FD_CLOEXEC), 0, 0},
        {CALL(fcntl, 3, F_SETLK, 0x1000), 0, 0},
    };

    assert_calls(list);
}

TEST(what_the_list_does_not_know_does_not_exist)
{
    static const struct expected list[] = {
        {CALL(read, 0), 0, 0},
        {CALL(execve, 0), 0, 0},
        {CALL(clone, 0x11), 0, 0}, /* SIGCHLD: a fork */
        {CALL(clone, CLONE_NEWUSER), EPERM, EPERM},
        {CALL(unshare, CLONE_NEWTIME), EPERM, EPERM},
        {CALL(clone3, 0), ENOSYS, ENOSYS},
        {CALL(mount, 0), EPERM, EPERM},
        {CALL(io_uring_setup, 1), EPERM, EPERM},
        {CALL(setxattr, 0), 0, EPERM},
        {{463, {0}}, ENOSYS, ENOSYS}, /* setxattrat */
        {{469, {0}}, ENOSYS, ENOSYS}, /* file_setattr */
        {{1000, {0}}, ENOSYS, ENOSYS},
    };
    struct seccomp_data foreign = {.nr = 1, .arch = AUDIT_ARCH_I386};

    assert_calls(list);
    for (size_t w = 0; w < ARRAY_LEN(ways); w++)
        assert_int_equal(answer(&ways[w], foreign), EPERM);
}

RUN_TESTS(UNIT(socket_pairs_are_streams_or_packets_of_unix),
          UNIT(sockets_are_tcp_udp_and_questions_about_interfaces),
          UNIT(no_call_makes_a_program_set_user_id),
          UNIT(a_file_open_for_reading_is_not_cut_short_where_landlock_is_too_old),
          UNIT(requests_are_those_of_terminals_files_and_interfaces),
          UNIT(a_socket_sends_no_signal_to_others_where_landlock_is_too_old),
          UNIT(limits_are_not_set_for_the_supervisor_nor_for_others),
          UNIT(no_lease_keeps_others_from_a_file), UNIT(what_the_list_does_not_know_does_not_exist))
