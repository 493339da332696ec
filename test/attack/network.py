"""network.py - attempts to speak to anybody outside."""
import os
import shutil
import socket
import subprocess

from attempt import Attempt, Reach, Send, reached


def own_address():
    """An address of this machine that is not the loopback's."""
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.connect(("198.51.100.1", 9))  # nothing is sent
            return s.getsockname()[0]
    except OSError:
        return "127.0.0.1"


ADDRESS = own_address()


def listener(family, kind, host):
    return lambda stage: stage.listen(family, kind, (host, 0))


tcp = listener(socket.AF_INET, socket.SOCK_STREAM, "0.0.0.0")
udp = listener(socket.AF_INET, socket.SOCK_DGRAM, "0.0.0.0")
tcp6 = listener(socket.AF_INET6, socket.SOCK_STREAM, "::1")
udp6 = listener(socket.AF_INET6, socket.SOCK_DGRAM, "::1")


def at_path(kind, directory):
    def listen(stage):
        top = directory(stage)
        if top:
            path = os.path.join(top, stage.token[-8:] + ".sock")
            stage.listen(socket.AF_UNIX, kind, path)
            stage.closers.append(lambda: os.path.exists(path) and os.unlink(path))
    return listen


def abstract(kind):
    return lambda stage: stage.listen(socket.AF_UNIX, kind, b"\0" + stage.token.encode())


def outside(stage):
    return stage.outside


def workspace(stage):
    return stage.workspace


def in_run(stage):
    return stage.world.run_dir


def in_tmp(_stage):
    return "/tmp"


def linked_socket(stage):
    at_path(socket.SOCK_STREAM, outside)(stage)
    (stage.workspace / "link").symlink_to(stage.vars["SOCKET"])


def inherited_socket(stage):
    """A connection that was open before, as an agent's might be."""
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    theirs.set_inheritable(True)
    stage.closers += [ours.close, theirs.close]
    stage.inherited = (theirs.fileno(),)
    stage.vars["INHERITED"] = theirs.fileno()
    stage.pair = ours


def pair_heard(run):
    try:
        return run.stage.pair.recv(100)
    except BlockingIOError:
        return False


def web_server(stage):
    server = subprocess.Popen(
        [shutil.which("python3"), "-c",
         "import http.server as h\n"
         "class H(h.BaseHTTPRequestHandler):\n"
         "    def do_GET(self):\n"
         "        self.send_response(200); self.end_headers()\n"
         f"        self.wfile.write(b'{stage.secret}')\n"
         "s = h.HTTPServer(('127.0.0.1', 0), H)\n"
         "print(s.server_port, flush=True)\n"
         "s.serve_forever()"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def close():
        server.kill()
        server.communicate()
    stage.closers.append(close)
    stage.vars["PORT"] = server.stdout.readline().strip()


# Raw Unix sockets are datagrams.
PAIRS = (("", int(socket.SOCK_DGRAM)), (" of raw ones", int(socket.SOCK_RAW)))
PLACES = (("outside", outside, {}), ("in the workspace", workspace, {}), ("in /tmp", in_tmp, {}),
          ("in /run", in_run, {"needs": "a directory in /run, which only root can make"}))
FAMILIES = (("the Internet", 2, 1), ("netlink", 16, 3), ("the machine that hosts this one", 40, 1),
            ("the kernel's ciphers", 38, 5))
STREAM, DATAGRAM = socket.SOCK_STREAM, socket.SOCK_DGRAM
ROOT_ONLY = {"who": ("root",), "needs": "the right to"}

ATTEMPTS = [
    Send("TCP to the loopback", '"$PROBE" tcp 127.0.0.1 "$PORT"', prepare=tcp),
    Send("TCP to this machine's address", f'"$PROBE" tcp {ADDRESS} "$PORT"', prepare=tcp),
    Send("TCP by bash", 'echo x >/dev/tcp/127.0.0.1/"$PORT"', prepare=tcp),
    Send("TCP with several paths (MPTCP)", '"$PROBE" mptcp 127.0.0.1 "$PORT"', prepare=tcp,
         needs="MPTCP"),
    Send("TCP by way of SMC", '"$PROBE" smc 127.0.0.1 "$PORT"', prepare=tcp, needs="SMC"),
    Send("TCP by the calls of 32-bit programs", '"$PROBE" tcp32 127.0.0.1 "$PORT"', prepare=tcp,
         needs="calls of 32-bit programs"),
    Send("TCP over IPv6", '"$PROBE" tcp6 ::1 "$PORT"', prepare=tcp6, needs="IPv6"),
    Send("TCP over IPv6 to an IPv4 address", '"$PROBE" tcp6 ::ffff:127.0.0.1 "$PORT"',
         prepare=tcp, needs="IPv6"),
    Send("UDP", '"$PROBE" udp 127.0.0.1 "$PORT"', prepare=udp),
    Send("UDP without connecting", f'"$PROBE" udp-sendto {ADDRESS} "$PORT"', prepare=udp),
    Send("UDP over IPv6", '"$PROBE" udp6 ::1 "$PORT"', prepare=udp6, needs="IPv6"),
    Send("a question to a name server", '"$PROBE" dns 127.0.0.1 "$PORT"', prepare=udp),
    Attempt("network: a page of a server on the loopback",
            'exec 3<>/dev/tcp/127.0.0.1/"$PORT"; printf "GET / HTTP/1.0\\r\\n\\r\\n" >&3; cat <&3',
            lambda run: run.stage.secret in run.out, prepare=web_server),
    Attempt("network: an echo request", f'"$PROBE" ping {ADDRESS}', reached,
            needs="a kernel that lets everybody ping"),
    Attempt("network: an echo request by a raw socket", f'"$PROBE" ping-raw {ADDRESS}', reached,
            **ROOT_ONLY),
    Attempt("network: frames by a packet socket", '"$PROBE" packet', reached, **ROOT_ONLY),
    Attempt("network: the machine that hosts this one (vsock)", '"$PROBE" vsock', reached,
            needs="vsock"),
    Attempt("network: settings of a device by ioctl", '"$PROBE" set-link', reached, **ROOT_ONLY),
    Attempt("network: settings of a device by netlink", '"$PROBE" netlink', reached, **ROOT_ONLY),
    Send("a socket outside, by its path", '"$PROBE" unix-stream "$SOCKET"',
         prepare=at_path(STREAM, outside)),
    Send("a datagram to a socket outside", '"$PROBE" unix-datagram "$SOCKET"',
         prepare=at_path(DATAGRAM, outside)),
    Send("a socket outside, by a symlink", '"$PROBE" unix-stream link', prepare=linked_socket),
    Send("a socket outside, by /proc/self/root", '"$PROBE" unix-stream "/proc/self/root$SOCKET"',
         prepare=at_path(STREAM, outside)),
    Send("a socket like docker's in /run", '"$PROBE" unix-stream "$SOCKET"',
         prepare=at_path(STREAM, in_run), needs="a directory in /run, which only root can make"),
    Send("a socket like an agent's in /tmp", '"$PROBE" unix-stream "$SOCKET"',
         prepare=at_path(STREAM, in_tmp)),
    Send("a socket of a program outside, in the workspace", '"$PROBE" unix-stream "$SOCKET"',
         prepare=at_path(STREAM, workspace)),
    Send("a datagram to a socket in the workspace", '"$PROBE" unix-datagram "$SOCKET"',
         prepare=at_path(DATAGRAM, workspace)),
    Send("an abstract socket", '"$PROBE" abstract-stream "$ABSTRACT"', prepare=abstract(STREAM)),
    Send("a datagram to an abstract socket", '"$PROBE" abstract-datagram "$ABSTRACT"',
         prepare=abstract(DATAGRAM)),
    *[Send(f"a socket {where}, from one of a pair{kind}", f'"$PROBE" pair-sendto "$SOCKET" {number}',
           prepare=at_path(DATAGRAM, directory), **more)
      for where, directory, more in PLACES for kind, number in PAIRS],
    *[Send(f"a socket in the workspace, to which one of a pair{kind} is connected",
           f'"$PROBE" pair-reconnect "$SOCKET" {number}', prepare=at_path(DATAGRAM, workspace))
      for kind, number in PAIRS],
    *[Reach(f"sockets of {name}, by way of a pair", f'"$PROBE" pair-family {family} {number}',
            needs=name) for name, family, number in FAMILIES],
    Attempt("network: a connection that was open before", '"$PROBE" write-fd "$INHERITED"',
            pair_heard, prepare=inherited_socket),
    *[Attempt(f"network: the sockets of others, by {how}", script,
              lambda run: run.stage.vars["ABSTRACT"] in run.out, prepare=abstract(STREAM))
      for how, script in (("/proc/net", 'cat /proc/net/unix'),
                          ("/proc/net of the shell",
                           'while read -r line; do echo "$line"; done </proc/self/net/unix'),
                          ("/proc/net of a thread", 'cat /proc/$$/task/$$/net/unix'))],
    Reach("a job of systemd", 'systemd-run --no-block true && echo REACHED', needs="systemd"),
    Reach("a call over D-Bus", 'dbus-send --system --print-reply --dest=org.freedesktop.DBus / '
          'org.freedesktop.DBus.ListNames && echo REACHED', needs="D-Bus"),
]
