"""kernel.py - attempts to gain rights, or parts of the kernel that no command needs."""
import os
import shutil
import stat
import subprocess

from attempt import Attempt, Reach, Write, reached, typed

ROOT_ONLY = {"who": ("root",), "needs": "root that may"}


def terminal(stage):
    stage.open_terminal()


def root_device():
    st = os.stat("/")
    return st.st_dev


def device_path():
    """The block device of the root, if it has a name."""
    number = root_device()
    for entry in os.scandir("/dev"):
        st = entry.stat(follow_symlinks=False)
        if stat.S_ISBLK(st.st_mode) and st.st_rdev == number:
            return entry.path
    return "/dev/no-such-device"


def setuid_program(stage):
    path = stage.outside / "id"
    shutil.copy("/usr/bin/id", path)
    os.chown(path, 0, 0)
    path.chmod(0o4755)


def program_with_capabilities(stage):
    path = stage.outside / "capable"
    shutil.copy(stage.world.probe, path)
    os.chown(path, 0, 0)
    if shutil.which("setcap"):
        subprocess.run(["setcap", "cap_net_raw,cap_dac_override+ep", path], check=False,
                       stderr=subprocess.DEVNULL)


def has_capabilities(names):
    """Any of these capabilities (numbers) among the effective ones."""
    def has(run):
        for line in run.out.splitlines():
            if line.startswith("CapEff:"):
                return any(int(line.split()[1], 16) >> number & 1 for number in names)
        return False
    return has


# CHOWN, DAC_OVERRIDE, DAC_READ_SEARCH, FOWNER, FSETID and those to change ids serve files and
# programs; the others, from 8 (SETPCAP) on, are for the machine. 27 is MKNOD, 31 is SETFCAP.
MACHINE = [n for n in range(41) if n not in (0, 1, 2, 3, 4, 5, 6, 7, 31)]

# Each makes the file "program" in the workspace.
SET_ID_PROGRAMS = [
    ("chmod", 'cp /usr/bin/id program; chmod 4755 program'),
    ("chmod g+s", 'cp /usr/bin/id program; chmod g+s program'),
    ("cp -p of one outside", 'cp -p "$OUT/id" program'),
    ("install", 'install -m 4755 /usr/bin/id program'),
    ("tar", 'tar xpf "$OUT/set-id.tar"'),
    *[(call, f'"$PROBE" set-id-{call} program') for call in (
        "open", "openat2", "creat", "mknod", "tmpfile", "fchmod", "fchmodat2")],
]


def is_set_id(run):
    try:
        return os.stat(run.stage.workspace / "program").st_mode & 0o6000
    except FileNotFoundError:
        return False


def own_set_id_program(stage):
    """One of the person's, beside an archive that has one."""
    path = stage.outside / "id"
    shutil.copy("/usr/bin/id", path)
    stage.person.own(path)
    path.chmod(0o6755)
    subprocess.run(["tar", "cf", stage.outside / "set-id.tar", "-C", stage.outside,
                    "--transform=s/id/program/", "id"], check=True)


def set_id_in_workspace(stage):
    """One of the person's that is to be written."""
    own_set_id_program(stage)
    shutil.move(stage.outside / "id", stage.workspace / "program")


CALLS = [
    ("io-uring", "io_uring", {}),
    ("userfaultfd", "userfaultfd", {"needs": "userfaultfd"}),
    ("perf", "perf_event_open", {"needs": "perf"}),
    ("add-key \"$TOKEN\"", "a key in the keyring (add_key)", {}),
    ("keyctl", "keyctl", {}),
    ("request-key", "request_key", {}),
    ("quotactl", "quotactl", {"needs": "quotas"}),
    ("no-new-privs", "programs that may gain rights", {}),
    ("unshare-user", "a user namespace by unshare", {"needs": "user namespaces"}),
    ("clone-user", "a user namespace by clone", {"needs": "user namespaces"}),
    ("clone3-user", "a user namespace by clone3", {"needs": "user namespaces"}),
    ("bpf", "bpf", {"needs": "the right to"}),
    ("fanotify", "fanotify", ROOT_ONLY),
    ("init-module", "a module", {**ROOT_ONLY, "needs": "loadable modules"}),
    ("reboot", "reboot", ROOT_ONLY),
    ("kexec", "kexec", {**ROOT_ONLY, "needs": "kexec"}),
    ("swapon", "swapon", ROOT_ONLY),
    ("acct", "process accounting", ROOT_ONLY),
    ("settime", "the clock", ROOT_ONLY),
    ("sethostname", "the name of the machine", ROOT_ONLY),
    ("iopl", "ports of devices", {**ROOT_ONLY, "needs": "iopl"}),
    ("fsopen", "a file system by fsopen", ROOT_ONLY),
    ('open-tree "$OUT"', "a copy of a mount by open_tree", ROOT_ONLY),
]

# Written with what they say already, or only opened: outside nothing changes either.
SETTINGS = [
    ("/proc/sys/kernel/core_pattern", "the program that gets core dumps"),
    ("/proc/sys/kernel/domainname", "a setting of the kernel"),
    ("/proc/sys/vm/drop_caches", "a setting of the memory"),
    ("/proc/sysrq-trigger", "the magic keys"),
    ("/sys/kernel/uevent_helper", "the program for device events"),
    ("/sys/power/state", "the power of the machine"),
]

DEVICES = [
    ("/dev/mem", "r", "the memory of the machine"),
    ("/dev/kmsg", "w", "the kernel's log"),
    ("/dev/kvm", "r", "virtual machines"),
    ("/dev/fuse", "r", "file systems of one's own"),
    ("/dev/loop-control", "r", "loop devices"),
    ("/dev/loop0", "r", "a loop device"),
    ("/dev/net/tun", "r", "tunnels"),
    (device_path(), "r", "the disk, for reading"),
    (device_path(), "w", "the disk, for writing"),
]

# What /proc says of others and of the kernel. Ordinary users see nothing in some of them anyway.
TOLD = [
    ("keys", "the keys of others"),
    ("key-users", "who has keys"),
    ("kallsyms", "where the kernel's functions are"),
    ("interrupts", "when devices are used"),
    ("timer_list", "the timers of all processes"),
    ("slabinfo", "what the kernel has allocated"),
    ("vmallocinfo", "where the kernel has allocated memory"),
    ("pagetypeinfo", "how the memory is divided"),
    ("kpageflags", "what each page of the memory is used for"),
    ("kpagecount", "how often each page of the memory is used"),
    ("kpagecgroup", "by whom each page of the memory is used"),
]

# What /sys shows to root alone.
SHOWN = [
    ("/sys/kernel/debug", "the kernel's own data"),
    ("/sys/kernel/tracing", "what all processes do"),
    ("/sys/fs/pstore", "what is left of a crash"),
]

ATTEMPTS = [
    Reach("a setting, by a /proc in the workspace",
          "exec 9<>proc/sys/kernel/core_pattern && echo REACHED", who=("root",),
          around=("unshare", "-m", "bash", "-c", "mkdir proc; mount -t proc none proc && \"$@\"",
                  "UID"),
          needs="a mount, which only root can make"),
    *[Reach(what, f'"$PROBE" {deed}', **more) for deed, what, more in CALLS],
    *[Reach(what, f'{{ exec 3<>{path}; }} && echo REACHED', **ROOT_ONLY)
      for path, what in SETTINGS],
    *[Reach(what, f'"$PROBE" open-device {path} {how}', who=("root",), needs=path)
      for path, how, what in DEVICES],
    *[Reach(f"{what}, in /proc/{name}",
            f'[ "$(head -c 8 /proc/{name} | wc -c)" = 8 ] && echo REACHED',
            needs="a kernel that tells it") for name, what in TOLD],
    *[Reach(f"{what}, in {path}", f'[ "$(ls {path} | head -n 1)" ] && echo REACHED',
            needs="a kernel that shows it", who=("root",)) for path, what in SHOWN],
    Reach("the disk, by a device node in the workspace", f'"$PROBE" mknod node {root_device()}',
          **ROOT_ONLY),
    Reach("a group of processes (cgroup)",
          'd=/sys/fs/cgroup/$TOKEN; mkdir $d && rmdir $d && echo REACHED', who=("root",),
          needs="cgroups"),
    Reach("a tmpfs on the workspace", 'mkdir m; "$PROBE" mount m',
          around_control=("unshare", "-m"), **ROOT_ONLY),
    Reach("a tmpfs in a user namespace", 'mkdir m; unshare -Urm "$PROBE" mount m',
          needs="user namespaces"),
    Write("by mounting the directory into the workspace", 'mkdir m; "$PROBE" bind "$OUT" "$WS/m"',
          around_control=("unshare", "-m"), **ROOT_ONLY),
    Write("by mounting the directory in a user namespace",
          'mkdir m; unshare -Urm "$PROBE" bind "$OUT" "$WS/m"', needs="user namespaces"),
    Write("by making the root writable again", '"$PROBE" remount "$OUT" "$OUT/canary"'),
    Write("by making the root writable again in a user namespace",
          'unshare -Urm "$PROBE" remount "$OUT" "$OUT/canary"', needs="user namespaces"),
    Reach("an overlay over files outside",
          'mkdir -p m o/upper o/work; "$PROBE" overlay "$OUT" "$WS/o" "$WS/m"',
          around_control=("unshare", "-m"), **ROOT_ONLY),
    Reach("an overlay in a user namespace", 'mkdir -p m o/upper o/work; '
          'unshare -Urm "$PROBE" overlay "$OUT" "$WS/o" "$WS/m"', needs="overlays for everybody"),
    Reach("pivot_root", 'mkdir m; "$PROBE" pivot-root "$WS/m"', **ROOT_ONLY),
    Reach("pivot_root in a user namespace",
          'mkdir m; unshare -Urm "$PROBE" pivot-root "$WS/m"', needs="user namespaces"),
    *[Reach(f"the {kind} namespace of a process outside", f'"$PROBE" setns "$VICTIM" {kind}',
            prepare=lambda stage: stage.attack_victim(), **ROOT_ONLY)
      for kind in ("mnt", "net", "ipc", "cgroup")],
    Attempt("kernel: a program that becomes root (set-uid)", '"$OUT/id" -u',
            lambda run: "0" in run.out.splitlines(), prepare=setuid_program, who=("user",),
            needs="a file of root's, which only root can make"),
    Attempt("kernel: a program with capabilities of its own", '"$OUT/capable" capabilities',
            has_capabilities([1, 13]), prepare=program_with_capabilities, who=("user",),
            needs="a file of root's with capabilities, which only root can make"),
    *[Attempt(f"kernel: a set-uid program left behind, by {how}", script, is_set_id,
              prepare=own_set_id_program, alone=True,
              **({"needs": how} if how in ("fchmodat2", "tmpfile") else {}))
      for how, script in SET_ID_PROGRAMS],
    Attempt("kernel: a set-uid program that is written", 'cat /usr/bin/id >program', is_set_id,
            prepare=set_id_in_workspace, alone=True, **ROOT_ONLY),
    Attempt("kernel: capabilities for the machine", '"$PROBE" capabilities',
            has_capabilities(MACHINE), **ROOT_ONLY),
    Attempt("kernel: the rights of root by sudo", 'sudo -n "$PROBE" began && echo REACHED', reached,
            needs="sudo without a password"),
    Attempt("terminal: input by TIOCSTI", '"$PROBE" tiocsti', typed, prepare=terminal,
            needs="a kernel that has TIOCSTI"),
    Attempt("terminal: input by TIOCSTI with a wide number", '"$PROBE" tiocsti-wide', typed,
            prepare=terminal, needs="a kernel that has TIOCSTI"),
    Reach("another line discipline for a terminal (TIOCSETD)", '"$PROBE" line-discipline'),
    Reach("a selection pasted by TIOCLINUX", '"$PROBE" tioclinux', prepare=terminal,
          needs="a virtual console"),
]
