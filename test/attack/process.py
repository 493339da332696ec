"""process.py - attempts on processes outside, and to outlive the command."""
import os

from attempt import Attempt, Hit, WATCHED, reached, survived
from secret import make


def victim(stage):
    stage.attack_victim()


def leaked(run):
    return run.stage.secret in run.out


def Leak(name, script, **more):
    return Attempt("processes: " + name, script, leaked, prepare=victim, **more)


def Survive(name, script, **more):
    """The script starts a process; it ends itself once that process is up."""
    return Attempt("survives: " + name, script, survived, alone=True, **more)


def survived_somewhere(run):
    """One look may fall between the end of a process and the start of the next."""
    return any(survived(run) for _ in range(20))


def left_or_lost(run):
    return reached(run) or "keep running" in run.err


UNTIL_UP = 'until [ -s up ]; do sleep 0.01; done'
OF_HERS = '"$PROBE" stay "$TOKEN"'


def careless_parent(stage):
    stage.inherit(stage.outside / "canary", os.O_RDONLY)


def another_terminal(stage):
    master, slave = os.openpty()
    os.set_blocking(master, False)
    os.chown(os.ttyname(slave), stage.person.uid, -1)
    stage.closers += [lambda: os.close(slave), lambda: os.close(master)]
    stage.other_terminal = master
    stage.vars["TERMINAL"] = os.ttyname(slave)


def other_terminal_shows(run):
    try:
        return os.read(run.stage.other_terminal, 100)
    except BlockingIOError:
        return False


def key(stage):
    stage.vars["KEY"] = int(stage.token[-6:], 16) + 1
    stage.closers.append(lambda: make(stage, "shm-remove", str(stage.vars["KEY"])))


def key_is_there(run):
    with open("/proc/sysvipc/shm", encoding="ascii") as table:
        return any(line.split()[0] == str(run.stage.vars["KEY"]) for line in table)


def queue(stage):
    stage.closers.append(lambda: make(stage, "mq-remove", "/" + stage.token))


def queue_is_there(run):
    return run.stage.person.start(
        [run.stage.world.probe, "mq-read", "/" + run.stage.token], cwd="/", stdout=-3,
        stderr=-3).wait() == 0



# All that is killed lives in a process namespace made around the attempt: on the machine itself
# nobody dares to try this.
AMONG_FEW = ("unshare", "--pid", "--fork", "--mount-proc", "--kill-child", "setpriv", "--reuid",
             "UID", "--regid", "UID", "--clear-groups", "bash", "-c")
KILL_ALL = (*AMONG_FEW, 'sleep 600 & victim=$!; "$@"; kill $victim; wait $victim; '
            '[ $? = 137 ] && echo REACHED', "bash")
RENICE_ALL = (*AMONG_FEW, 'sleep 600 & victim=$!; "$@"; [ $(ps -o ni= -p $victim) = 19 ] && '
              'echo REACHED; kill $victim', "bash")
# It ends with the namespace. One look may fall between two processes.
LEFT = (*AMONG_FEW, '"$@"; for i in {1..20}; do cat /proc/[0-9]*/comm 2>/dev/null; done | '
        'grep -q probe && echo REACHED', "bash")

ATTEMPTS = [
    Hit("a signal by kill", 'kill -USR1 "$VICTIM"'),
    Hit("an end by kill -9", 'kill -9 "$VICTIM"'),
    Hit("a signal to everything that /proc shows",
        'for p in /proc/[0-9]*; do [ $p = "/proc/$VICTIM" ] && kill -USR1 "${p#/proc/}"; done'),
    Hit("a signal by tgkill", '"$PROBE" tgkill "$VICTIM"'),
    Hit("a signal by sigqueue", '"$PROBE" sigqueue "$VICTIM"'),
    Hit("a signal by pidfd_send_signal", '"$PROBE" pidfd-signal "$VICTIM"'),
    Hit("a signal by a directory of /proc", '"$PROBE" proc-signal "$VICTIM"'),
    Hit("a signal by the owner of a pipe", '"$PROBE" sigio "$VICTIM"'),
    Hit("a write to its memory by process_vm_writev", '"$PROBE" vm-write "$VICTIM" "$ADDRESS"'),
    Hit("a write to its memory by /proc", '"$PROBE" mem-write "$VICTIM" "$ADDRESS"'),
    Hit("a limit by prlimit", '"$PROBE" prlimit "$VICTIM"'),
    Hit("a priority by setpriority", '"$PROBE" setpriority "$VICTIM"'),
    Attempt("processes: ptrace by attaching", '"$PROBE" ptrace "$VICTIM"', reached, prepare=victim),
    Attempt("processes: ptrace by seizing", '"$PROBE" seize "$VICTIM"', reached, prepare=victim),
    Leak("its memory by process_vm_readv", '"$PROBE" vm-read "$VICTIM" "$ADDRESS"'),
    Leak("its memory by /proc", '"$PROBE" mem-read "$VICTIM" "$ADDRESS"'),
    Leak("its environment", 'tr "\\0" "\\n" <"/proc/$VICTIM/environ"'),
    Leak("its command line", 'tr "\\0" "\\n" <"/proc/$VICTIM/cmdline"'),
    Leak("the command lines of all", 'cat /proc/[0-9]*/cmdline 2>/dev/null'),
    Leak("its command line, by ps", 'ps -p "$VICTIM" -o args', needs="ps"),
    Leak("its open file, by /proc", 'cat "/proc/$VICTIM/fd/$FD"'),
    Attempt("processes: its open file, by pidfd_getfd", '"$PROBE" pidfd-getfd "$VICTIM" "$FD"',
            reached, prepare=victim),
    Attempt("processes: ptrace of whoever started the command",
            '"$PROBE" seize $PPID; "$PROBE" seize 1; "$PROBE" seize "$VICTIM"', reached,
            prepare=victim),
    Attempt("processes: kill -9 -1", 'kill -9 -1', reached, around=KILL_ALL,
            needs="a process namespace around it, which only root can make"),
    Attempt("processes: the priority of all by setpriority", '"$PROBE" setpriority-all', reached,
            around=RENICE_ALL,
            needs="a process namespace around it, which only root can make"),
    Attempt("processes: a limit for the supervisor of the command", '"$PROBE" prlimit 1', reached,
            around=(*AMONG_FEW, '"$@"', "bash"),
            needs="a process namespace around it, which only root can make"),
    Attempt("processes: descriptors that the command has no use for", '"$PROBE" fds',
            lambda run: "descriptor" in run.out, prepare=careless_parent),
    Attempt("processes: the terminal of somebody else", 'echo x >"$TERMINAL"',
            other_terminal_shows, prepare=another_terminal),
    Survive("in the background", f'{OF_HERS} >up & {UNTIL_UP}'),
    Survive("by nohup", f'nohup {OF_HERS} >up 2>/dev/null & {UNTIL_UP}'),
    Survive("by disown", f'{OF_HERS} >up & disown; {UNTIL_UP}'),
    Survive("by a session of its own", f'setsid {OF_HERS} >up & {UNTIL_UP}'),
    Survive("by two forks", '"$PROBE" daemon "$TOKEN"'),
    Attempt("survives: by forking without end", '"$PROBE" keep-forking "$TOKEN" "$WS/stop"',
            survived_somewhere, alone=True),
    Attempt("survives: by a storm of forks", '"$PROBE" storm >up', left_or_lost, around=LEFT,
            needs="a process namespace around it, which only root can make"),
    Survive("by ending whoever watches",
            f'setsid {OF_HERS} >up & {UNTIL_UP}; kill -9 $PPID 2>/dev/null; true',
            around_control=WATCHED),
    Survive("by stopping whoever watches", f'setsid {OF_HERS} >up & {UNTIL_UP}; '
            '[ "$(cat /proc/$PPID/comm)" = keel-exec ] && kill -STOP $PPID; true'),
    Attempt("survives: shared memory", '"$PROBE" shm-make "$KEY" x', key_is_there, prepare=key,
            alone=True),
    Attempt("survives: a message queue", '"$PROBE" mq-make "/$TOKEN" x', queue_is_there,
            prepare=queue, needs="message queues"),
]
