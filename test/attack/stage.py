"""stage.py - where an attempt is made: a person, a home with secrets, a workspace, things outside.

Every attempt gets a stage of its own, made anew and taken down afterwards. What an attempt may want
lies on the stage: a file outside, secrets that are random words, listeners, a process to attack.
Nothing of the machine is touched but directories that the suite has made itself.
"""
import copy
import dataclasses
import fcntl
import os
import pathlib
import pty
import secrets
import select
import shlex
import shutil
import signal
import socket
import stat
import struct
import subprocess
import tempfile
import termios
import threading

HERE = pathlib.Path(__file__).parent
HANG_SECONDS = 300  # only ever ends an attempt that hangs
USER_ID = 61234    # an ordinary user that no machine has
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"  # none of them in a home
KEPT_VARIABLES = ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "KEEL_EXEC")

# The places that the sandbox hides, with a file in each.
SECRET_FILES = (".ssh/id_ed25519", ".aws/credentials", ".gnupg/private.key", ".kube/config",
                ".docker/config.json", ".azure/token", ".config/gh/hosts.yml",
                ".config/gcloud/key.json", ".netrc", ".npmrc", ".git-credentials")

# What every workspace has.
PLAIN_FILES = {
    "README": "a project\n",
    "src/main.c": "int main(void)\n{\n    return 0;\n}\n",
    ".keel/settings.json": "{}\n",
    ".keel/settings.local.json": "{}\n",
    ".claude/settings.json": "{}\n",
    ".robota/settings.json": "{}\n",
    ".mcp.json": "{}\n",
    ".bashrc": "# nothing\n",
}


@dataclasses.dataclass(frozen=True)
class Person:
    name: str
    uid: int

    @property
    def is_root(self):
        return self.uid == 0

    def start(self, command, **how):
        """A process of this person."""
        if os.getuid() != self.uid:
            how.update(user=self.uid, group=self.uid, extra_groups=[])
        return subprocess.Popen(command, **how)

    def own(self, path):
        """Gives a file or a tree to this person."""
        if os.getuid() != self.uid:
            os.chown(path, self.uid, self.uid, follow_symlinks=False)
            for top, directories, files in os.walk(path):
                for name in directories + files:
                    os.chown(os.path.join(top, name), self.uid, self.uid, follow_symlinks=False)


def write(path, text, mode=0o644):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)


def make_repository(path):
    """A repository with one commit and one hook that does nothing."""
    git = ["git", "-C", str(path), "-c", "init.defaultBranch=main"]
    env = {"PATH": PATH, "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}
    path.mkdir(parents=True, exist_ok=True)
    subprocess.run([*git, "init", "-q", "--template="], check=True, env=env)
    with open(path / ".git/config", "a", encoding="utf-8") as config:
        config.write("[user]\n\tname = A\n\temail = a@example.org\n[gc]\n\tauto = 0\n")
    write(path / ".git/hooks/post-checkout", "#!/bin/sh\nexit 0\n", 0o755)
    write(path / "README", "a project\n")
    subprocess.run([*git, "add", "README"], check=True, env=env)
    subprocess.run([*git, "commit", "-q", "-m", "first"], check=True, env=env)


def has_word(pid, word):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as words:
            return word.encode() in words.read()  # the dead have no words
    except OSError:
        return False


def processes_with(word):
    """The processes that have this word on their command line, but for this one."""
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return [pid for pid in pids if pid != os.getpid() and has_word(pid, word)]


def end_processes(pids, word):
    """Ends them, and nobody who may have got such a number since."""
    for pid in pids:
        try:
            fd = os.pidfd_open(pid)
            if has_word(pid, word):
                signal.pidfd_send_signal(fd, signal.SIGKILL)
                select.select([fd], [], [], HANG_SECONDS)  # until it is dead
            os.close(fd)
        except OSError:
            pass


class World:
    """What all stages share: the programs, the template of a workspace, a home of somebody else."""

    def __init__(self, keel):
        self.is_root = os.getuid() == 0
        # Not in /tmp, which a sandbox may replace as a whole: an attempt must find its target.
        self.base = pathlib.Path(tempfile.mkdtemp(prefix="keel-attack-", dir="/var/tmp"))
        self.base.chmod(0o755)
        self.bin = self.base / "bin"
        self.bin.mkdir()
        self.others_home = None
        self.run_dir = None
        try:
            self._build(keel)
        except BaseException:
            self.close()
            raise

    def _build(self, keel):
        self.probe = self.bin / "probe"
        self.has_probe = self._compile()
        self.keel = pathlib.Path(self._reachable(keel))
        self._make_template()
        if self.is_root:
            self.others_home = pathlib.Path(tempfile.mkdtemp(prefix="keel-attack-", dir="/home"))
            self.run_dir = pathlib.Path(tempfile.mkdtemp(prefix="keel-attack-", dir="/run"))
            for directory in (self.others_home, self.run_dir):
                directory.chmod(0o777)

    def _compile(self):
        compiler = os.environ.get("CC") or "cc"
        command = [*shlex.split(compiler), "-std=gnu17", "-D_GNU_SOURCE", "-O1", "-o", self.probe,
                   *sorted(HERE.glob("probe*.c"))]
        try:
            subprocess.run(command, check=True, capture_output=True, text=True)
        except FileNotFoundError:
            return False
        except subprocess.CalledProcessError as error:
            raise SystemExit(f"The probe cannot be compiled:\n{error.stderr}") from error
        return True

    def _reachable(self, keel):
        """keel where an ordinary user can run it too: where it is, or a copy."""
        self.keel_exec = os.environ.get("KEEL_EXEC") or os.path.join(os.path.dirname(keel),
                                                                     "keel-exec")
        if not self.is_root:
            return keel
        try:
            done = Person("user", USER_ID).start([keel, "--version"], cwd="/", env={},
                                                 stdout=subprocess.DEVNULL,
                                                 stderr=subprocess.DEVNULL).wait()
        except PermissionError:
            done = 1
        if done == 0:
            return keel
        self.keel_exec = shutil.copy(self.keel_exec, self.bin / "keel-exec")
        os.environ["KEEL_EXEC"] = str(self.keel_exec)
        return shutil.copy(keel, self.bin / "keel")

    def reachable(self, program):
        """A program of the build where an ordinary user can run it too."""
        return program if self.keel.parent != self.bin else shutil.copy(program, self.bin)

    def _make_template(self):
        """The workspace with repositories, ready to be copied; and what all stages have else."""
        self.secret = secrets.token_hex(12)
        self.template = self.base / "template"
        self._make_workspace(self.template)
        self.furniture = {
            **{"home/" + name: self.secret + "\n" for name in SECRET_FILES},
            "home/.bashrc": "# nothing\n",
            "keel-home/credentials.json": self.secret + "\n",
            "keel-home/settings.json": "{}\n",
            "outside/canary": "canary\n",
            "outside/held": self.secret + "\n",
            **{directory + "/": "" for directory in ("outside/dir", "tmp", "logs", "workspace")},
        }
        self.light_workspace = {"workspace/" + name: text for name, text in PLAIN_FILES.items()}

    @staticmethod
    def _make_workspace(top):
        make_repository(top)
        make_repository(top / "deep/er/nested")
        for name, text in PLAIN_FILES.items():
            write(top / name, text)

    def left_processes(self):
        """Processes of stages that are gone. They are ended."""
        found = processes_with(str(self.base))
        end_processes(found, str(self.base))
        return found

    def close(self):
        for directory in (self.base, self.others_home, self.run_dir):
            if directory:
                subprocess.run(["chmod", "-R", "u+rwX", directory], check=False)
                subprocess.run(["rm", "-rf", directory], check=False)


def picture(top, leave_out=None):
    """All that is known of a tree: names, kinds, owners, times, attributes, contents."""
    seen = {}
    for directory, directories, files in os.walk(top):
        directories[:] = [d for d in directories if os.path.join(directory, d) != str(leave_out)]
        for name in [".", *directories, *files]:
            path = os.path.join(directory, name)
            st = os.lstat(path)
            is_file = stat.S_ISREG(st.st_mode)
            seen[path] = (st.st_mode, st.st_uid, st.st_gid, st.st_nlink, st.st_mtime_ns,
                          st.st_ctime_ns, attributes(path),
                          pathlib.Path(path).read_bytes() if is_file else b"")
    return seen


def attributes(path):
    try:
        names = os.listxattr(path, follow_symlinks=False)
        return tuple((name, os.getxattr(path, name, follow_symlinks=False)) for name in names)
    except OSError:
        return ()


@dataclasses.dataclass
class Run:
    """How an attempt went, as far as its output tells."""
    stage: "Stage"
    status: int
    out: str
    err: str
    hung: bool

    @property
    def began(self):
        return "BEGAN" in self.out

    @property
    def reason(self):
        lines = [line for line in self.err.splitlines() if line.strip()]
        return lines[-1].strip() if lines else f"exit status {self.status}"


def line_of(process):
    """The next line that it prints."""
    if not select.select([process.stdout], [], [], HANG_SECONDS)[0]:
        raise RuntimeError(f"{process.args[1]} says nothing")
    return process.stdout.readline()


class Victim:
    """A process outside, of the same person, with a secret in memory, environment, command line and
    a file."""

    def __init__(self, stage):
        env = {"PATH": PATH, "CANARY": stage.secret}
        self.process = stage.person.start(
            [stage.world.probe, "victim", stage.outside / "held", stage.secret], env=env, cwd="/",
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pid, self.address, self.fd = line_of(self.process).split()
        self.before = self.report()

    def report(self):
        """What it says of itself now; nothing if it is dead. A signal that was sent is in it."""
        try:
            self.process.stdin.write("?\n")
            self.process.stdin.flush()
            return line_of(self.process)
        except OSError:
            return ""

    def close(self):
        self.process.kill()
        self.process.communicate()


class Stage:
    def __init__(self, world, person, place="beside", repositories=False):
        self.world, self.person, self.secret = world, person, world.secret
        self.key = "sk-" + secrets.token_hex(12)
        self.token = "token" + secrets.token_hex(8)
        self.dir = world.base / f"stage-{self.token}"
        self.home = self.dir / "home"
        self.keel_home = self.dir / "keel-home"
        self.outside = self.dir / "outside"
        self.tmp = self.dir / "tmp"
        self.logs = self.dir / "logs"
        self.inherited = ()
        self.stdin = subprocess.DEVNULL
        self.terminal = None
        self.listeners = []
        self.victim = None
        self.victims = []
        self.found = []
        self.closers = []
        self._furnish(place, repositories)
        self.vars = {
            "HOME": self.home, "KEEL_HOME": self.keel_home, "OUT": self.outside,
            "WS": self.workspace, "PROBE": world.probe, "TOKEN": self.token,
            "EVIL": self.outside / "evil.sh", "BIN": world.bin, "KEEL_EXEC": world.keel_exec,
        }

    def _furnish(self, place, repositories):
        self._make({"": ""})
        self._make(self.world.furniture)
        if repositories:
            self.person.start(["cp", "-r", "--preserve=mode", f"{self.world.template}/.",
                               self.dir / "workspace"]).wait()
        else:
            self._make(self.world.light_workspace)
        self.owned(self.outside / "evil.sh", f"#!/bin/sh\ntouch '{self.outside}/evil'\n", 0o755)
        try:
            os.setxattr(self.outside / "canary", "user.canary", b"x")
        except OSError:
            pass
        self.workspace = self._workspace(place)
        if self.workspace not in (self.dir / "workspace", self.home):
            shutil.move(self.dir / "workspace", self.workspace)

    def _make(self, files):
        """Files, and directories (with a slash behind them), of the person."""
        uid = self.person.uid if os.getuid() != self.person.uid else None
        for name, text in files.items():
            path = os.path.join(self.dir, name)
            self._make_directory(os.path.dirname(path), uid)
            if name and not name.endswith("/"):
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
                if uid is not None:
                    os.chown(path, uid, uid)

    def _make_directory(self, path, uid):
        if os.path.isdir(path):
            return
        self._make_directory(os.path.dirname(path), uid)
        os.mkdir(path)
        if uid is not None:
            os.chown(path, uid, uid)

    def _workspace(self, place):
        if place == "home":
            return self.home / "project"
        if place == "dotted":
            return self.home / ".project"
        if place == "whole home":
            return self.home
        if place == "tmp":
            path = pathlib.Path("/tmp", "keel-attack-" + self.token)
            self.closers.append(lambda: shutil.rmtree(path, ignore_errors=True))
            return path
        if place == "odd":
            return self.dir / "a wörkspace, 工作 'quoted'"
        return self.dir / "workspace"

    def view(self):
        """This stage as one of several attempts sees it: with variables and targets of its own."""
        view = copy.copy(self)
        view.token = "token" + secrets.token_hex(8)
        view.vars = {**self.vars, "TOKEN": view.token}
        view.listeners = []
        return view

    # ---- what attempts ask for ----

    def owned(self, path, text, mode=0o644):
        """A file of the person, with the directories above it."""
        write(path, text, mode)
        self.person.own(path)
        for parent in path.parents:
            if parent.parent in (self.dir, self.world.base, pathlib.Path("/")):
                break
            self.person.own(parent)
        return path

    def own(self):
        self.person.own(self.dir)
        self.person.own(self.workspace)

    def attack_victim(self):
        """Attempts that share a stage share it."""
        if not self.victims:
            self.victims.append(Victim(self))
            self.closers.append(self.victims[0].close)
        self.victim = self.victims[0]
        self.vars.update(VICTIM=self.victim.pid, ADDRESS=self.victim.address, FD=self.victim.fd)

    def listen(self, family, kind, address):
        """A listener outside. What comes is kept by the kernel until it is looked at."""
        listener = socket.socket(family, kind)
        self.closers.append(listener.close)
        listener.bind(address)
        listener.setblocking(False)
        if kind == socket.SOCK_STREAM:
            listener.listen(8)
        self.listeners.append(listener)
        name = listener.getsockname()
        if family in (socket.AF_INET, socket.AF_INET6):
            self.vars["PORT"] = name[1]
        elif isinstance(name, str) and name:
            os.chmod(name, 0o777)
            self.vars["SOCKET"] = name
        else:
            self.vars["ABSTRACT"] = os.fsdecode(name[1:])
        return listener

    def heard(self):
        """Did anything at all arrive at a listener?"""
        for listener in self.listeners:
            try:
                if listener.type == socket.SOCK_STREAM:
                    listener.accept()[0].close()
                else:
                    listener.recv(4096)
                return True
            except BlockingIOError:
                pass
        return False

    def accomplice(self, path):
        """A process outside that gives a file away to whoever connects."""
        process = self.person.start([self.world.probe, "give-fd", path, self.outside / "canary"],
                                    stdout=subprocess.PIPE, text=True, cwd="/")

        def close():
            process.kill()
            process.communicate()
        self.closers.append(close)
        line_of(process)
        self.vars["SOCKET"] = path

    def open_terminal(self):
        master, slave = pty.openpty()
        os.chown(os.ttyname(slave), self.person.uid, -1)
        self.terminal = slave
        over = threading.Event()
        drain = threading.Thread(target=self._drain, args=(master, over), daemon=True)
        drain.start()

        def close():
            # Not before nobody reads: the number may soon be that of somebody else's pipe.
            over.set()
            drain.join()
            os.close(slave)
            os.close(master)
        self.closers.append(close)

    @staticmethod
    def _drain(master, over):
        """Nobody reads what the terminal shows, but it must not fill up."""
        while not over.is_set():
            if select.select([master], [], [], 0.05)[0]:
                try:
                    os.read(master, 4096)
                except OSError:
                    return

    def typed(self):
        """Is there input in the terminal that nobody typed?"""
        waiting = fcntl.ioctl(self.terminal, termios.FIONREAD, struct.pack("i", 0))
        return struct.unpack("i", waiting)[0] > 0

    def inherit(self, path, flags):
        """Opens a file that the command inherits, as it would from a careless parent."""
        fd = os.open(path, flags)
        os.set_inheritable(fd, True)
        self.closers.append(lambda: os.close(fd))
        self.inherited = (*self.inherited, fd)
        self.vars["INHERITED"] = fd

    def standard_input(self, path, flags=os.O_RDONLY):
        self.stdin = os.open(path, flags)
        self.closers.append(lambda: os.close(self.stdin))

    # ---- making the attempt ----

    def environment(self):
        env = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
        env.update(PATH=PATH, HOME=str(self.home), KEEL_HOME=str(self.keel_home), LANG="C.UTF-8",
                   TMPDIR=str(self.tmp), ANTHROPIC_API_KEY=self.key)
        # What keel leaks in memory is looked at elsewhere, and takes a third of its time.
        env["ASAN_OPTIONS"] = env.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
        return env

    def script(self, text):
        return "\n".join([*self.exports(), self.began(), text])

    def exports(self):
        return [f"export {name}={shlex.quote(str(value))}" for name, value in self.vars.items()]

    def began(self):
        return '"$PROBE" began || exit 99' if self.world.has_probe else "echo BEGAN"

    def run(self, text, sandbox=(), around=(), as_root=False):
        """Runs a script in the workspace, behind the words that make the sandbox."""
        return self.run_command([*around, *sandbox, "bash", "-c", self.script(text)], as_root)

    def run_many(self, views, texts, sandbox):
        """Runs scripts one after the other behind one start of the sandbox: a Run for each. What
        one leaves in the workspace is removed before the next."""
        # In two halves, as attempts may print the script itself.
        mark = [secrets.token_hex(8), secrets.token_hex(8)]
        known = shlex.quote(" ".join(["", *os.listdir(self.workspace), ""]))
        lines = [f"mark={mark[0]}", *self.exports(), self.began()]
        for view, text in zip(views, texts):
            lines += [f'echo "$mark"{mark[1]}; echo "$mark"{mark[1]} >&2', "(", *view.exports(), text, ")",
                      f'cd "$WS"; for f in * .[!.]*; do case {known} in *" $f "*) ;; '
                      '*) rm -rf -- "$f";; esac; done']
        path = self.dir / "many.sh"
        path.write_text("\n".join(lines))
        whole = self.run_command([*sandbox, "bash", path], as_root=False)
        for view in views:
            view.before = self.before
        outs, errs = whole.out.split("".join(mark)), whole.err.split("".join(mark))
        if whole.hung or len(outs) != len(views) + 1 or len(errs) != len(views) + 1:
            return whole, []
        return whole, [Run(view, whole.status, out, err, False)
                       for view, out, err in zip(views, outs[1:], errs[1:])]

    def run_command(self, command, as_root):
        stdin = self.stdin
        if self.terminal is not None:
            command = ["setsid", "-c", "-w", *command]
            stdin = self.terminal
        self.before = self.look()
        with open(self.logs / "out", "wb") as out, open(self.logs / "err", "wb") as err:
            starter = Person("root", 0) if as_root else self.person
            process = starter.start(
                command, cwd=self.workspace, env=self.environment(), stdin=stdin, stdout=out,
                stderr=err, pass_fds=self.inherited, start_new_session=self.terminal is None)
            try:
                status, hung = process.wait(HANG_SECONDS), False
            except subprocess.TimeoutExpired:
                if self.terminal is None:
                    os.killpg(process.pid, signal.SIGKILL)
                process.kill()
                status, hung = process.wait(), True
        return Run(self, status, (self.logs / "out").read_text(errors="replace"),
                   (self.logs / "err").read_text(errors="replace"), hung)

    def look(self):
        return {**picture(self.outside), **picture(self.home, leave_out=self.workspace)}

    def changed(self):
        """What is different outside, and how."""
        now = self.look()
        return sorted(f"{path}: {self.before.get(path)} -> {now.get(path)}"
                      for path in now.keys() | self.before.keys()
                      if now.get(path) != self.before.get(path))

    def as_person(self, script):
        """Something that the person does afterwards, in the workspace and without a sandbox."""
        env = {**self.environment(), "GIT_CONFIG_NOSYSTEM": "1"}
        return self.person.start(["bash", "-c", script], cwd=self.workspace, env=env,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL).wait(HANG_SECONDS)

    def survivors(self):
        """Processes that carry the token of this stage, apart from the dead."""
        self.found = processes_with(self.token)
        return self.found

    def left_behind(self):
        """What is still there of a command that has ended."""
        return [str(path) for path in self.tmp.iterdir()]

    def close(self):
        if self.workspace.is_dir():
            self.workspace.chmod(0o755)
            (self.workspace / "stop").touch()
        for closer in reversed(self.closers):
            try:
                closer()
            except OSError:
                pass
        end_processes(self.found, self.token)
