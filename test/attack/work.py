"""work.py - what people do all day. A sandbox in which this fails is switched off."""
import shutil

from attempt import Attempt, Work, MODES

# Without namespaces, chmod is refused altogether (so a linker's output is no program), /dev/shm is
# everybody's and not writable, what lies above a hidden place cannot be listed, and /proc shows no
# processes.
NAMESPACES = (next(iter(MODES)),)


def many_files(stage):
    for number in range(1000):
        (stage.workspace / f"f{number}").write_text("x")
    stage.own()


def group_directory(stage):
    (stage.workspace / "d").mkdir()
    stage.own()
    (stage.workspace / "d").chmod(0o2775)


def needs(program):
    return {"needs": program} if not shutil.which(program) else {}


ATTEMPTS = [
    Work("git status, add, commit, log", 'echo x >new; git status >/dev/null; git add new; '
         'git commit -q -m second; git log --oneline | grep -q second; git diff HEAD~1 >/dev/null'),
    Work("git branch, checkout, stash, merge, tag",
         'git checkout -q -b b; echo x >n; git add n; git commit -qm n; git checkout -q main; '
         'git merge -q b; echo y >>n; git stash -q; git stash pop -q; git tag t; git gc -q'),
    Work("git in a nested repository", 'cd deep/er/nested; echo x >n; git add n; git commit -qm n'),
    Work("cc makes objects", 'cc -c -o main.o src/main.c; [ -s main.o ]', **needs("cc")),
    Work("cc makes programs", 'cc -o main src/main.c; ./main', modes=NAMESPACES, **needs("cc")),
    Work("make", 'printf "all: out\\nout: README\\n\\tcp README out\\n" >Makefile; make -s; '
         '[ -f out ]', **needs("make")),
    Work("python", 'echo "import json, os, tempfile, subprocess; '
         'tempfile.TemporaryFile().write(b\'x\'); subprocess.run([\'true\'], check=True)" >p.py; '
         'python3 p.py'),
    Work("python's worker processes", 'printf "import multiprocessing as m\\n'
         'if __name__ == \'__main__\':\\n    with m.Pool(2) as p: p.map(abs, [-1])\\n" >p.py; '
         'python3 p.py', modes=NAMESPACES),
    Work("a list of the root", 'ls / >/dev/null; ls "$HOME" >/dev/null', modes=NAMESPACES),
    Work("python modules compiled beside their source",
         'echo "x = 1" >mod.py; python3 -c "import mod"; [ -d __pycache__ ]'),
    Work("node", 'node -e "require(\'fs\').writeFileSync(\'n\', \'x\'); '
         'require(\'child_process\').execSync(\'true\')"', **needs("node")),
    Work("a tree like npm's", 'for i in 1 2 3 4 5 6 7 8 9; do mkdir -p node_modules/p$i/dist; '
         'echo "{}" >node_modules/p$i/package.json; mkdir -p node_modules/.bin; '
         'ln -s ../p$i/dist node_modules/.bin/p$i; done; mv node_modules/p1 node_modules/q1; '
         'rm -rf node_modules'),
    Work("tar", 'tar cf a.tar src; mkdir x; tar xf a.tar -C x --no-same-permissions --touch; '
         '[ -f x/src/main.c ]', modes=NAMESPACES),
    Work("chmod, touch and links in the workspace", 'chmod 700 src; touch -d 2000-01-01 README; '
         'ln README hard; ln -s README soft; cat soft >/dev/null', modes=NAMESPACES),
    Work("links, renames and removal in the workspace", 'ln README hard; ln -s README soft; '
         'cat soft >/dev/null; mkdir d; mv README d/; mv d e; rm -r e'),
    Work("TMPDIR", 'f=$(mktemp); echo x >"$f"; cat "$f" >/dev/null; d=$(mktemp -d); '
         '[ -n "$TMPDIR" ]; case "$d" in "$TMPDIR"/*) ;; *) exit 1;; esac'),
    Work("TMPDIR of a workspace in /tmp", 'f=$(mktemp); echo x >"$f"; echo x >here', place="tmp"),
    Work("programs started from TMPDIR", 'f=$(mktemp -d); cp /bin/true "$f/t"; "$f/t"'),
    Work("pipes", 'seq 1000 | sort -rn | head -1 | grep -q 1000'),
    Work("jobs in the background", 'sleep 0 & wait; (sleep 0; echo x >bg) & wait $!; [ -f bg ]'),
    Work("here-documents", 'cat <<EOF >here\nx\nEOF\ncat <<<x >/dev/null'),
    Work("process substitution", 'diff <(echo x) <(echo x)'),
    Work("/dev/null, zero, urandom, full", 'echo x >/dev/null; head -c 9 /dev/zero >z; '
         'head -c 9 /dev/urandom >u; [ "$(wc -c <u)" = 9 ]'),
    Work("/dev/stdin, stdout, stderr, fd", 'echo x | cat /dev/stdin >/dev/null; '
         '{ echo x >/dev/stderr; echo y >/dev/stdout; } 2>&1 | grep -q y; '
         'cat /dev/fd/0 </dev/null'),
    Work("ps shows the command itself", 'ps >p; ps aux >>p; grep -q ps p', modes=NAMESPACES,
         **needs("ps")),
    Work("/proc/self", 'cat /proc/self/status >/dev/null; '
         'cat /proc/self/maps /proc/mounts >/dev/null', modes=NAMESPACES),
    Work("/proc/self of the shell", 'read -r line </proc/self/status; read -r line </proc/self/maps; '
         'read -r line </proc/mounts; [ "$(readlink /proc/self/cwd)" = "$WS" ]'),
    Work("what /proc says of the machine", 'cat /proc/meminfo /proc/cpuinfo /proc/stat '
         '/proc/loadavg /proc/uptime /proc/version /proc/filesystems >/dev/null; '
         'cat /proc/sys/kernel/random/uuid /proc/sys/vm/overcommit_memory >/dev/null'),
    Work("java", 'echo "public class J { public static void main(String[] a) throws Exception { '
         'Thread t = new Thread(() -> {}); t.start(); t.join(); '
         'new ProcessBuilder(\\"true\\").start().waitFor(); } }" >J.java; java J.java',
         **needs("java")),
    Work("signals and process groups of its own", 'sleep 60 & kill $!; ! wait $!'),
    Work("names of users", 'getent passwd root >/dev/null; id >/dev/null; '
         '[ "$(id -u)" = "$WANTED_ID" ]'),
    Work("a locale", '[ "$LANG" = C.UTF-8 ]; printf "äö\\n" | grep -q ö'),
    Work("/etc and /usr for reading", 'cat /etc/passwd >/dev/null; ls /usr/bin >/dev/null; '
         'ls /usr/include >/dev/null'),
    Work("other files of the home for reading", 'cat ~/.bashrc >/dev/null'),
    Work("a workspace with spaces and other letters in its name",
         'echo x >f; git add f; git commit -qm f; [ "$(pwd)" = "$WS" ]; cat "$WS/f" >/dev/null',
         place="odd"),
    Work("a workspace in the home", 'echo x >f; cat f; cat ../.bashrc', place="home"),
    Work("a thousand files", 'for i in $(seq 1000); do echo x >n$i; done; rm f* n*',
         prepare=many_files),
    Work("a file of 20 MB", 'head -c 20000000 /dev/zero >big; [ "$(stat -c %s big)" = 20000000 ]'),
    Work("sockets of a pair", 'python3 -c "import socket; a, b = socket.socketpair(); '
         'a.send(b\'x\'); assert b.recv(1) == b\'x\'"'),
    Work("threads", 'python3 -c "import threading; t = threading.Thread(target=print); t.start(); '
         't.join()"'),
    Work("a terminal of its own", 'script -qec "tty; stty size" /dev/null | grep -q /dev/pts',
         modes=NAMESPACES, **needs("script")),
    # not by pty.spawn(), which Python 3.13 does not always return from
    Work("a terminal for python", 'python3 -c "import os, subprocess; m, s = os.openpty(); '
         'subprocess.run([\'stty\', \'-a\'], stdin=s, stdout=s, check=True); '
         'assert b\'speed\' in os.read(m, 4096)"', modes=NAMESPACES),
    Work("attributes of files", 'lsattr -d . >/dev/null', **needs("lsattr")),
    Work("copies that share their blocks where they can", 'cp --reflink=auto README copy; '
         'cmp README copy'),
    Work("copies of directories that give their group to files", 'mkdir d/e; echo x >d/e/f; '
         'cp -r d copy; cmp d/e/f copy/e/f', prepare=group_directory),
    Work("an archive that is packed and unpacked", 'tar cf a.tar src; mkdir x; tar xf a.tar -C x; '
         '[ -f x/src/main.c ]', modes=NAMESPACES),
    Work("interfaces of the network", 'python3 -c "import socket, fcntl; '
         's = socket.socket(); assert b\'lo\' in fcntl.ioctl(s, 0x8933, b\'lo\' + bytes(38)); '
         'socket.if_nameindex()"', modes=NAMESPACES),
    Work("a server on the loopback", 'python3 -c "import socket; s = socket.create_server('
         '(\'127.0.0.1\', 0)); c = socket.create_connection(s.getsockname()); c.send(b\'x\'); '
         'assert s.accept()[0].recv(1) == b\'x\'"', modes=NAMESPACES),
    Work("npm without a network", "echo '{\"name\": \"a\", \"version\": \"1.0.0\"}' >package.json; "
         'HOME=$TMPDIR npm pack --offline --silent >/dev/null; [ -s a-1.0.0.tgz ]',
         modes=NAMESPACES, **needs("npm")),
    Work("a lock", 'flock lock true; sed -i s/project/thing/ README; grep -q thing README'),
    Work("the status of the command is handed on", 'bash -c "exit 7" || [ $? = 7 ]'),
    Attempt("works: exit status 42", 'exit 42', lambda run: run.status == 42, must_work=True),
    Attempt("works: sudo fails and says so", 'sudo -n true; echo "ended $?"',
            lambda run: "ended 0" not in run.out and "ended" in run.out, must_work=True,
            needs="a sudo that asks for a password"),
    Attempt("works: what has a terminal keeps it", '[ -t 0 ] && stty size && echo WORKED',
            lambda run: "WORKED" in run.out, prepare=lambda stage: stage.open_terminal(),
            must_work=True),
    Attempt("works: the person is told of a protected file that was put back",
            'echo "[]" >.mcp.json',
            lambda run: not run.stage.sandboxed or ".mcp.json" in run.err, must_work=True,
            modes=tuple(MODES)[1:]),
]
