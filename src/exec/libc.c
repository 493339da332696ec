/* libc.c - the few functions of the C library that keel-exec uses, and its entry.
 *
 * It is started for every command, and a C library takes longer to start than all the rest of it:
 * a static one asks the processor what it can do (CPUID, which virtual machines must answer
 * themselves) and relocates itself, 0.4 ms before main(). Here nothing happens before main(). The
 * prototypes are those of the system's headers, so the same sources can be linked with the system's
 * own library, as builds with sanitizers are.
 *
 * What is here is what is used: no threads, no locale, no cancellation, no buffers. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { KERNEL_SIGSET_BYTES = 8 };

/* --- system calls --- */

#if defined(__x86_64__)
static inline long call(long n, long a, long b, long c, long d, long e, long f)
{
    register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

__asm__(".text\n"
        ".globl _start\n"
        "_start:\n"
        "    xor %ebp, %ebp\n"
        "    mov %rsp, %rdi\n"
        "    and $-16, %rsp\n"
        "    call enter\n");

/* The return address would be lost on the stack that parent and child share. */
__asm__(".text\n"
        ".globl vfork\n"
        "vfork:\n"
        "    pop %rdx\n"
        "    mov $58, %eax\n" /* SYS_vfork */
        "    syscall\n"
        "    push %rdx\n"
        "    mov %rax, %rdi\n"
        "    jmp note_fork\n");
#elif defined(__aarch64__)
static inline long call(long n, long a, long b, long c, long d, long e, long f)
{
    register long x8 __asm__("x8") = n, x0 __asm__("x0") = a, x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c, x3 __asm__("x3") = d, x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;

    __asm__ volatile("svc #0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
}

__asm__(".text\n"
        ".globl _start\n"
        "_start:\n"
        "    mov x29, #0\n"
        "    mov x30, #0\n"
        "    mov x0, sp\n"
        "    bl enter\n");

__asm__(".text\n"
        ".globl vfork\n"
        "vfork:\n"
        "    mov x8, #220\n"    /* SYS_clone */
        "    mov x0, #0x4111\n" /* CLONE_VM | CLONE_VFORK | SIGCHLD */
        "    mov x1, #0\n"
        "    svc #0\n"
        "    b note_fork\n");
#else
#error "keel-exec does not know how system calls are made on this machine: add it here"
#endif

static int error_number;

int *__errno_location(void)
{
    return &error_number;
}

static long checked(long result)
{
    if (result < 0 && result > -4096) {
        error_number = (int)-result;
        return -1;
    }
    return result;
}

/* The end of vfork(), without a frame of its own. */
__attribute__((used)) pid_t note_fork(long result);
pid_t note_fork(long result)
{
    return (pid_t)checked(result);
}

#define CALL_WITH(n, a, b, c, d, e, f, ...)                                                        \
    checked(call(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f)))
/* CALL(name, arguments), of which there must be at least one. */
#define CALL(name, ...) CALL_WITH(SYS_##name, __VA_ARGS__, 0, 0, 0, 0, 0, 0)

/* --- entry and exit --- */

char **environ;
int main(int argc, char **argv);

/* The stack protector's; the kernel gives every program sixteen random bytes. */
uintptr_t __stack_chk_guard;
_Noreturn void __stack_chk_fail(void);
_Noreturn void enter(long *stack);

_Noreturn void _exit(int status)
{
    for (;;)
        CALL(exit_group, status);
}

_Noreturn void __stack_chk_fail(void)
{
    static const char text[] = "keel-exec: stack smashed\n";

    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    for (;;)
        __builtin_trap();
}

/* On the stack: argc, argv, NULL, environ, NULL, pairs of the auxiliary vector. */
__attribute__((used, no_stack_protector)) _Noreturn void enter(long *stack)
{
    int argc = (int)stack[0];
    char **argv = (char **)(stack + 1), **at = argv + argc + 1;

    environ = at;
    while (*at)
        at++;
    for (const long *pair = (const long *)(at + 1); pair[0] != AT_NULL; pair += 2)
        if (pair[0] == AT_RANDOM)
            memcpy(&__stack_chk_guard, (const void *)pair[1], sizeof __stack_chk_guard);
    _exit(main(argc, argv));
}

/* --- memory and text --- */

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
    char *t = to;

    for (const char *f = from; n > 0; n--)
        *t++ = *f++;
    return to;
}

void *memset(void *memory, int byte, size_t n)
{
    for (char *at = memory; n > 0; n--)
        *at++ = (char)byte;
    return memory;
}

void *memchr(const void *memory, int byte, size_t n)
{
    for (const char *at = memory; n > 0; n--, at++)
        if (*at == (char)byte)
            return (void *)(uintptr_t)at;
    return NULL;
}

size_t strlen(const char *text)
{
    size_t n = 0;

    while (text[n])
        n++;
    return n;
}

int strncmp(const char *a, const char *b, size_t n)
{
    for (; n > 0; n--, a++, b++)
        if (*a != *b || !*a)
            return (unsigned char)*a - (unsigned char)*b;
    return 0;
}

int strcmp(const char *a, const char *b)
{
    return strncmp(a, b, SIZE_MAX);
}

char *strchr(const char *text, int byte)
{
    for (; *text != (char)byte; text++)
        if (!*text)
            return NULL;
    return (char *)(uintptr_t)text;
}

char *strrchr(const char *text, int byte)
{
    const char *found = NULL;

    for (; (text = strchr(text, byte)); text++)
        found = text;
    return (char *)(uintptr_t)found;
}

/* --- files --- */

int openat(int dir, const char *path, int flags, ...)
{
    va_list args;
    mode_t mode = 0;

    va_start(args, flags);
    if (flags & O_CREAT)
        mode = va_arg(args, mode_t);
    va_end(args);
    return (int)CALL(openat, dir, path, flags, mode);
}

int open(const char *path, int flags, ...)
{
    va_list args;
    mode_t mode = 0;

    va_start(args, flags);
    if (flags & O_CREAT)
        mode = va_arg(args, mode_t);
    va_end(args);
    return openat(AT_FDCWD, path, flags, mode);
}

int fcntl(int fd, int command, ...)
{
    va_list args;
    long arg;

    va_start(args, command);
    arg = va_arg(args, long);
    va_end(args);
    return (int)CALL(fcntl, fd, command, arg);
}

int ioctl(int fd, unsigned long request, ...)
{
    va_list args;
    long arg;

    va_start(args, request);
    arg = va_arg(args, long);
    va_end(args);
    return (int)CALL(ioctl, fd, request, arg);
}

int close(int fd)
{
    return (int)CALL(close, fd);
}

ssize_t read(int fd, void *buffer, size_t n)
{
    return CALL(read, fd, buffer, n);
}

ssize_t write(int fd, const void *buffer, size_t n)
{
    return CALL(write, fd, buffer, n);
}

off_t lseek(int fd, off_t offset, int from)
{
    return CALL(lseek, fd, offset, from);
}

int dup2(int from, int to)
{
    return from == to ? (int)CALL(fcntl, from, F_GETFD) < 0 ? -1 : to
                      : (int)CALL(dup3, from, to, 0);
}

int pipe2(int ends[2], int flags)
{
    return (int)CALL(pipe2, ends, flags);
}

int fstat(int fd, struct stat *ret)
{
    return (int)CALL(fstat, fd, ret);
}

int stat(const char *restrict path, struct stat *restrict ret)
{
    return (int)CALL(newfstatat, AT_FDCWD, path, ret, 0);
}

int lstat(const char *restrict path, struct stat *restrict ret)
{
    return (int)CALL(newfstatat, AT_FDCWD, path, ret, AT_SYMLINK_NOFOLLOW);
}

ssize_t getdents64(int fd, void *buffer, size_t n)
{
    return CALL(getdents64, fd, buffer, n);
}

int mkdirat(int dir, const char *path, mode_t mode)
{
    return (int)CALL(mkdirat, dir, path, mode);
}

int mkdir(const char *path, mode_t mode)
{
    return mkdirat(AT_FDCWD, path, mode);
}

mode_t umask(mode_t mask)
{
    return (mode_t)CALL(umask, mask);
}

char *getcwd(char *buffer, size_t n)
{
    return CALL(getcwd, buffer, n) < 0 ? NULL : buffer;
}

int chdir(const char *path)
{
    return (int)CALL(chdir, path);
}

int fchdir(int fd)
{
    return (int)CALL(fchdir, fd);
}

void *mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
    return (void *)CALL(mmap, at, n, protection, flags, fd, offset);
}

int munmap(void *memory, size_t n)
{
    return (int)CALL(munmap, memory, n);
}

int poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
    struct timespec limit = {timeout_ms / 1000, timeout_ms % 1000 * 1000000L};

    return (int)CALL(ppoll, fds, n, timeout_ms < 0 ? NULL : &limit, NULL);
}

/* --- mounts and namespaces --- */

int mount(const char *source, const char *target, const char *type, unsigned long flags,
          const void *data)
{
    return (int)CALL(mount, source, target, type, flags, data);
}

int open_tree(int dir, const char *path, unsigned flags)
{
    return (int)CALL(open_tree, dir, path, flags);
}

int move_mount(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
    return (int)CALL(move_mount, from_dir, from, to_dir, to, flags);
}

int mount_setattr(int dir, const char *path, unsigned flags, struct mount_attr *attr, size_t n)
{
    return (int)CALL(mount_setattr, dir, path, flags, attr, n);
}

int fsopen(const char *type, unsigned flags)
{
    return (int)CALL(fsopen, type, flags);
}

int fsconfig(int fd, unsigned command, const char *key, const void *value, int number)
{
    return (int)CALL(fsconfig, fd, command, key, value, number);
}

int fsmount(int fd, unsigned flags, unsigned attributes)
{
    return (int)CALL(fsmount, fd, flags, attributes);
}

int unshare(int flags)
{
    return (int)CALL(unshare, flags);
}

int setns(int fd, int type)
{
    return (int)CALL(setns, fd, type);
}

/* --- processes --- */

int execve(const char *path, char *const argv[], char *const environment[])
{
    return (int)CALL(execve, path, argv, environment);
}

pid_t waitpid(pid_t pid, int *ret_status, int options)
{
    return (pid_t)CALL(wait4, pid, ret_status, options, NULL);
}

pid_t getpid(void)
{
    return (pid_t)CALL(getpid, 0);
}

pid_t getppid(void)
{
    return (pid_t)CALL(getppid, 0);
}

uid_t geteuid(void)
{
    return (uid_t)CALL(geteuid, 0);
}

gid_t getegid(void)
{
    return (gid_t)CALL(getegid, 0);
}

pid_t setsid(void)
{
    return (pid_t)CALL(setsid, 0);
}

int prctl(int option, ...)
{
    va_list args;
    long arg[4];

    va_start(args, option);
    for (int i = 0; i < 4; i++)
        arg[i] = va_arg(args, long);
    va_end(args);
    return (int)CALL(prctl, option, arg[0], arg[1], arg[2], arg[3]);
}

long syscall(long n, ...)
{
    va_list args;
    long arg[6];

    va_start(args, n);
    for (int i = 0; i < 6; i++)
        arg[i] = va_arg(args, long);
    va_end(args);
    return checked(call(n, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]));
}

int clock_gettime(clockid_t clock, struct timespec *ret)
{
    return (int)CALL(clock_gettime, clock, ret);
}

/* --- signals --- */

int sigemptyset(sigset_t *set)
{
    memset(set, 0, sizeof *set);
    return 0;
}

int sigfillset(sigset_t *set)
{
    memset(set, 0xff, sizeof *set);
    return 0;
}

int sigaddset(sigset_t *set, int signal)
{
    ((uint64_t *)set)[0] |= 1ull << (signal - 1);
    return 0;
}

int sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict ret_old)
{
    return (int)CALL(rt_sigprocmask, how, set, ret_old, KERNEL_SIGSET_BYTES);
}

int sigwaitinfo(const sigset_t *restrict set, siginfo_t *restrict ret)
{
    return (int)CALL(rt_sigtimedwait, set, ret, NULL, KERNEL_SIGSET_BYTES);
}

int signalfd(int fd, const sigset_t *set, int flags)
{
    return (int)CALL(signalfd4, fd, set, KERNEL_SIGSET_BYTES, flags);
}

int kill(pid_t pid, int signal)
{
    return (int)CALL(kill, pid, signal);
}

int pidfd_open(pid_t pid, unsigned flags)
{
    return (int)CALL(pidfd_open, pid, flags);
}

int pidfd_send_signal(int fd, int signal, siginfo_t *info, unsigned flags)
{
    return (int)CALL(pidfd_send_signal, fd, signal, info, flags);
}

/* --- sockets --- */

/* Macros, but not in builds that do not optimize. */
uint16_t(htons)(uint16_t n)
{
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? n : __builtin_bswap16(n);
}

uint32_t(htonl)(uint32_t n)
{
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? n : __builtin_bswap32(n);
}

int socket(int family, int type, int protocol)
{
    return (int)CALL(socket, family, type, protocol);
}

int bind(int fd, const struct sockaddr *address, socklen_t n)
{
    return (int)CALL(bind, fd, address, n);
}

int listen(int fd, int backlog)
{
    return (int)CALL(listen, fd, backlog);
}

ssize_t send(int fd, const void *bytes, size_t n, int flags)
{
    return CALL(sendto, fd, bytes, n, flags, NULL, 0);
}

ssize_t recv(int fd, void *buffer, size_t n, int flags)
{
    return CALL(recvfrom, fd, buffer, n, flags, NULL, NULL);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    return CALL(sendmsg, fd, message, flags);
}
