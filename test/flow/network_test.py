"""network_test.py - network by domain: real programs in the sandbox, real servers outside.

The servers are on a second loopback address of this machine. Seen from the sandbox that address is
its own, and nobody listens there: what arrives has come through keel's proxy.
"""
import base64
import hashlib
import http.server
import io
import json
import os
import pathlib
import shutil
import socket
import ssl
import subprocess
import sys
import tarfile
import threading
import unittest
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "cli"))

import keel_test  # noqa: E402
from keel_test import HANG_SECONDS, KeelTest  # noqa: E402

HOST = "127.0.0.2"
PROXY_PORT = 3128


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        self.server.seen.append((self.command, self.path, dict(self.headers), body))
        if self.path.startswith("/git/"):
            return self.run_git(body)
        content = self.server.files.get(self.path.partition("?")[0])
        if callable(content):
            content = content(self)
        self.reply(404 if content is None else 200, content or b"nothing here\n")

    do_GET = do_POST = do_PUT = do_HEAD = answer

    def reply(self, status, content, content_type="application/octet-stream"):
        if self.path.endswith("/"):
            content_type = "text/html"
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def run_git(self, body):
        path, _, query = self.path.partition("?")
        env = {"PATH": os.environ["PATH"], "GIT_PROJECT_ROOT": str(self.server.git_root),
               "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": path.removeprefix("/git"),
               "QUERY_STRING": query, "REQUEST_METHOD": self.command, "REMOTE_ADDR": "127.0.0.1",
               "CONTENT_TYPE": self.headers.get("content-type", ""),
               "CONTENT_LENGTH": str(len(body)),
               "HTTP_CONTENT_ENCODING": self.headers.get("content-encoding", ""),
               "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory",
               "GIT_CONFIG_VALUE_0": "*"}
        result = subprocess.run(["git", "http-backend"], input=body, env=env, capture_output=True,
                                check=True).stdout
        head, _, content = result.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        self.reply(int(headers.get("Status", "200").split()[0]), content, headers["Content-Type"])

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, host=HOST, context=None):
        super().__init__((host, 0), Handler)
        self.files, self.seen, self.git_root = {}, [], None
        self.scheme = "http"
        if context:
            self.socket = context.wrap_socket(self.socket, server_side=True)
            self.scheme = "https"
        self.place = f"{host}:{self.server_port}"
        self.url = f"{self.scheme}://{self.place}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_):
        pass


@unittest.skipUnless(keel_test.has_namespaces(), "namespaces cannot be made here")
class NetworkTest(KeelTest):
    def setUp(self):
        super().setUp()
        self.server = self.serve()
        self.server.files["/hello"] = b"hello from outside\n"

    def environment(self, more=None):
        """Programs in a person's home are not there in the sandbox."""
        return super().environment({"PATH": "/usr/local/bin:/usr/bin:/bin", **(more or {})})

    def serve(self, **options):
        server = Server(**options)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server

    def serve_tls(self):
        certificate, key = self.dir / "certificate.pem", self.dir / "key.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                        "-subj", f"/CN={HOST}", "-addext", f"subjectAltName=IP:{HOST}",
                        "-keyout", key, "-out", certificate], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        shutil.copy(certificate, self.project / "ca.pem")
        server = self.serve(context=context)
        server.files["/hello"] = b"hello over TLS\n"
        return server

    def sandbox(self, *command, allow=None, env=None, domains=()):
        """With the servers in `allow`, or the usual one, as private hosts."""
        places = [s.place for s in (allow if allow is not None else [self.server])]
        options = [word for place in places for word in ("--allow-private", place)]
        options += [word for domain in domains for word in ("--allow-domain", domain)]
        return self.keel("sandbox", *options, "--", *command, env=env)

    def shell(self, script, **options):
        return self.sandbox("bash", "-c", script, **options)

    def needs(self, *command):
        if self.keel("sandbox", "--", *command).status != 0:
            self.skipTest(f"{' '.join(command)} does not run here")


class Programs(NetworkTest):
    def test_curl_speaks_http_and_https(self):
        result = self.sandbox("curl", "-sSf", f"{self.server.url}/hello")
        self.assert_fine(result)
        self.assertEqual(result.out, "hello from outside\n")
        tls = self.serve_tls()
        result = self.sandbox("curl", "-sSf", "--cacert", "ca.pem", f"{tls.url}/hello", allow=[tls])
        self.assert_fine(result)
        self.assertEqual(result.out, "hello over TLS\n")

    def test_a_server_sees_what_was_asked_and_nothing_of_the_proxy(self):
        self.assert_fine(self.sandbox("curl", "-sSf", "-d", "a body", "-H", "X-Mine: yes",
                                      f"{self.server.url}/hello?x=y"))
        [(method, path, headers, body)] = self.server.seen
        self.assertEqual((method, path, body), ("POST", "/hello?x=y", b"a body"))
        self.assertEqual(headers["Host"], self.server.place)
        self.assertEqual(headers["X-Mine"], "yes")
        self.assertNotIn("Proxy-Connection", headers)

    def test_much_is_sent_and_received_whole(self):
        data = os.urandom(5_000_000)
        self.server.files["/data"] = data
        (self.project / "data").write_bytes(data)
        result = self.shell(f"curl -sSf {self.server.url}/data | cmp - data && "
                            f"curl -sSf -T data {self.server.url}/hello && "
                            f"curl -sSf --http1.0 {self.server.url}/data | cmp - data")
        self.assert_fine(result)
        self.assertEqual(self.server.seen[1][3], data)

    def make_repository(self, server):
        root = self.dir / "git"
        work = root / "work"
        work.mkdir(parents=True)
        (work / "file").write_text("from the repository\n" * 1000)
        git = ["git", "-C", str(work), "-c", "user.name=x", "-c", "user.email=x@x"]
        for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
            subprocess.run([*git, *words], check=True, env=self.environment())
        subprocess.run(["git", "clone", "-q", "--bare", str(work), str(root / "it.git")], check=True,
                       env=self.environment())
        server.git_root = root

    def test_git_clones_over_http_and_https(self):
        self.make_repository(self.server)
        result = self.shell(f"git clone -q {self.server.url}/git/it.git it && head -1 it/file")
        self.assert_status(result, 0)
        self.assertEqual(result.out, "from the repository\n")
        tls = self.serve_tls()
        tls.git_root = self.server.git_root
        result = self.shell(f"git -c http.sslCAInfo=$PWD/ca.pem clone -q {tls.url}/git/it.git tls "
                            "&& head -1 tls/file", allow=[tls])
        self.assert_status(result, 0)
        self.assertEqual(result.out, "from the repository\n")

    def test_npm_installs_from_a_registry(self):
        self.needs("npm", "--version")
        archive = io.BytesIO()
        with tarfile.open(fileobj=archive, mode="w:gz") as tar:
            for name, text in (("package.json", json.dumps({"name": "tiny", "version": "1.0.0"})),
                               ("index.js", "module.exports = 'tiny works'\n")):
                info = tarfile.TarInfo(f"package/{name}")
                info.size = len(text)
                tar.addfile(info, io.BytesIO(text.encode()))
        data = archive.getvalue()
        integrity = "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode()
        self.server.files["/tiny/-/tiny-1.0.0.tgz"] = data
        self.server.files["/tiny"] = json.dumps({
            "name": "tiny", "dist-tags": {"latest": "1.0.0"},
            "versions": {"1.0.0": {"name": "tiny", "version": "1.0.0", "dist": {
                "tarball": f"{self.server.url}/tiny/-/tiny-1.0.0.tgz", "integrity": integrity}}},
        }).encode()
        result = self.shell(f"npm install --cache $TMPDIR/npm --no-audit --no-fund --no-progress "
                            f"--registry {self.server.url} tiny >&2 && "
                            "node -p 'require(\"tiny\")'")
        self.assert_status(result, 0)
        self.assertEqual(result.out, "tiny works\n")

    def test_pip_installs_from_an_index(self):
        self.needs("python3", "-m", "pip", "--version")
        wheel = io.BytesIO()
        with zipfile.ZipFile(wheel, "w") as archive:
            for name, text in (
                    ("tiny.py", "print('tiny works')\n"),
                    ("tiny-1.0.dist-info/METADATA",
                     "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n"),
                    ("tiny-1.0.dist-info/WHEEL",
                     "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"),
                    ("tiny-1.0.dist-info/RECORD",
                     "tiny.py,,\ntiny-1.0.dist-info/METADATA,,\ntiny-1.0.dist-info/WHEEL,,\n"
                     "tiny-1.0.dist-info/RECORD,,\n")):
                archive.writestr(name, text)
        self.server.files["/simple/tiny/tiny-1.0-py3-none-any.whl"] = wheel.getvalue()
        self.server.files["/simple/tiny/"] = \
            b'<a href="tiny-1.0-py3-none-any.whl">tiny-1.0-py3-none-any.whl</a>'
        result = self.shell("python3 -m pip install -q --disable-pip-version-check --no-cache-dir "
                            f"--root-user-action=ignore --index-url {self.server.url}/simple "
                            f"--trusted-host {HOST} --target lib tiny >&2 && "
                            "PYTHONPATH=lib python3 -m tiny")
        self.assert_status(result, 0)
        self.assertEqual(result.out, "tiny works\n")

    def test_python_finds_the_proxy_by_itself(self):
        self.needs("python3", "--version")
        script = f"import urllib.request as r; print(r.urlopen('{self.server.url}/hello').read())"
        result = self.sandbox("python3", "-c", script)
        self.assert_fine(result)
        self.assertEqual(result.out, "b'hello from outside\\n'\n")

    def test_a_server_of_the_command_itself_is_reached_directly(self):
        self.needs("python3", "--version")
        (self.project / "own").write_text("of its own\n")
        result = self.shell("exec 3< <(exec python3 -u -m http.server -b 127.0.0.1 8000 2>&1)\n"
                            "read -u 3 line && curl -sSf http://127.0.0.1:8000/own "
                            "http://localhost:8000/own; kill $!")
        self.assertEqual(result.out, "of its own\n" * 2)
        self.assertEqual(self.server.seen, [])


class Loopback(NetworkTest):
    """A server of the person's own, on the machine that keel runs on."""

    def setUp(self):
        super().setUp()
        self.server = self.serve(host="127.0.0.1")
        self.server.files["/hello"] = b"hello from here\n"
        self.port = self.server.server_port

    def curl(self, host, **options):
        return self.sandbox("curl", "-sS", f"http://{host}:{self.port}/hello", **options)

    def allowing(self, *hosts):
        return [type("", (), {"place": f"{host}:{self.port}"}) for host in hosts]

    def test_is_reached_where_it_is_allowed(self):
        for host in ("localhost", "127.0.0.1"):
            with self.subTest(host):
                result = self.curl(host, allow=self.allowing(host))
                self.assertEqual((result.out, result.err), ("hello from here\n", ""))
        self.assertEqual(len(self.server.seen), 2)

    def test_is_reached_by_its_address_of_version_6(self):
        class Server6(Server):
            address_family = socket.AF_INET6
        try:
            server = Server6(host="::1")
        except OSError:
            self.skipTest("this machine has no ::1")
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        server.files["/hello"] = b"hello from here\n"
        self.port = server.server_port
        result = self.curl("[::1]", allow=self.allowing("[::1]"))
        self.assertEqual((result.out, result.err), ("hello from here\n", ""))

    def test_is_reached_where_a_setting_allows_it(self):
        self.user_settings({"network": {"allowPrivate": [f"localhost:{self.port}"]}})
        result = self.curl("localhost", allow=[])
        self.assertEqual((result.out, result.err), ("hello from here\n", ""))

    def test_is_reached_directly_although_the_person_has_a_proxy(self):
        env = {"http_proxy": "http://127.0.0.2:9", "HTTP_PROXY": "http://127.0.0.2:9"}
        result = self.curl("localhost", allow=self.allowing("localhost"), env=env)
        self.assertEqual(result.out, "hello from here\n", result)

    def test_is_not_reached_otherwise(self):
        for domains in ((), ("example.com",), ("*",)):
            self.assert_status(self.curl("localhost", allow=[], domains=domains), 7)
        result = self.shell(f"curl -sS http://localhost:{self.port + 1}/hello",
                            allow=self.allowing("localhost"))
        self.assertIn(f"to allow it, add --allow-private localhost:{self.port + 1}", result.out)
        self.assertIn("a server that a command started is at 127.0.0.1", result.out)
        result = self.curl("localhost", allow=[], domains=[f"localhost:{self.port}"])
        self.assertIn("is not on the public Internet", result.out)
        self.assertIn(f"to allow it, add --allow-private localhost:{self.port}", result.out)
        self.assertEqual(self.server.seen, [])

    def test_leaves_the_sandbox_its_own_by_another_name(self):
        (self.project / "own").write_text("of its own\n")
        result = self.shell("exec 3< <(exec python3 -u -m http.server -b 127.0.0.1 8000 2>&1)\n"
                            "read -u 3 line && curl -sSf http://127.0.0.1:8000/own "
                            f"http://localhost:{self.port}/hello; kill $!",
                            allow=self.allowing("localhost"))
        self.assertEqual(result.out, "of its own\nhello from here\n")


class Refusals(NetworkTest):
    def assert_forbidden(self, result, *texts):
        self.assertIn("HTTP/1.1 403 Forbidden by keel", result.out, f"\n{result}")
        for text in texts:
            self.assertIn(text, result.out, f"\n{result}")

    def get(self, url, **options):
        """Through the proxy, even where programs would not."""
        return self.shell(f'curl -sSi --noproxy "" {url}', **options)

    def test_another_host_is_refused_and_the_person_told(self):
        result = self.shell("curl -sSi http://example.org/; curl -sSi http://example.org/again")
        self.assert_forbidden(result, "commands may not connect to example.org",
                              "to allow it, add --allow-domain example.org")
        self.assertEqual(result.err.count("\n"), 1, result.err)  # told once
        self.assertIn("to allow it, add --allow-domain example.org\n", result.err)
        result = self.sandbox("curl", "-sS", "https://example.org/")
        self.assert_status(result, 56)
        self.assertIn("403", result.err)

    def test_another_port_is_refused(self):
        other = self.serve()
        self.assert_forbidden(self.get(f"{other.url}/"))
        self.assertEqual(other.seen, [])

    def test_a_private_address_needs_its_own_permission(self):
        for domain in (self.server.place, f"*:{self.server.server_port}"):
            result = self.get(f"{self.server.url}/hello", allow=[], domains=[domain])
            self.assert_forbidden(result)
        self.assertEqual(self.server.seen, [])

    def test_a_name_of_a_private_address_is_refused(self):
        server = self.serve(host="127.0.0.1")
        for domain in (f"localhost:{server.server_port}", f"*:{server.server_port}"):
            result = self.get(f"http://localhost:{server.server_port}/", allow=[], domains=[domain])
            self.assert_forbidden(result, "localhost", "is not on the public Internet")
        self.assertEqual(server.seen, [])
        # Listed by that name it is what the person wants.
        result = self.keel("sandbox", "--allow-private", f"localhost:{server.server_port}", "sh",
                           "-c", f"curl -sSi --noproxy '' http://localhost:{server.server_port}/")
        self.assertIn("404", result.out)

    def test_addresses_are_refused_however_they_are_written(self):
        port = self.server.server_port
        for host in ("127.0.0.2", "2130706434", "0x7f.2", "0177.0.0.2", "[::ffff:127.0.0.2]",
                     "169.254.169.254", "10.0.0.1", "[::1]", "[fe80::1]", "0.0.0.0",
                     "100.64.0.1", "[64:ff9b::7f00:2]"):
            request = f"GET http://{host}:{port}/hello HTTP/1.1\\r\\n\\r\\n"
            result = self.shell(f"exec 3<>/dev/tcp/127.0.0.1/{PROXY_PORT}; "
                                f"printf '{request}' >&3; cat <&3",
                                allow=[], domains=[f"*:{port}", "*"])
            self.assertRegex(result.out, "^HTTP/1.1 (403|400) ", f"{host}\n{result}")
        self.assertEqual(self.server.seen, [])

    def test_there_is_no_other_way_out(self):
        address = self.own_address()
        with socket.create_server((address, 0)) as tcp, \
                socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
            udp.bind((address, 0))
            ports = tcp.getsockname()[1], udp.getsockname()[1]
            result = self.shell(
                f"(echo x >/dev/tcp/{address}/{ports[0]}) && echo OUT; "
                f"(echo x >/dev/udp/{address}/{ports[1]}) && echo OUT; "
                "(echo x >/dev/udp/8.8.8.8/53) && echo OUT; "
                f"(exec 3<>/dev/tcp/{HOST}/{self.server.server_port}) && echo OUT; "
                f"curl -sS --noproxy '*' {self.server.url}/hello && echo OUT; "
                "getent ahosts example.com && echo OUT; exit 7")
            self.assert_status(result, 7)
            self.assertNotIn("OUT", result.out)
            for listener in (tcp, udp):
                listener.setblocking(False)
            self.assertRaises(BlockingIOError, tcp.accept)
            self.assertRaises(BlockingIOError, udp.recv, 1)
        self.assertEqual(self.server.seen, [])

    def own_address(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            try:
                s.connect(("198.51.100.1", 9))  # nothing is sent
                return s.getsockname()[0]
            except OSError:
                return HOST

    def test_without_namespaces_the_command_does_not_run(self):
        result = self.keel("sandbox", "--no-namespaces", "--allow-domain", "example.com", "echo",
                           "ran")
        self.assert_refused(result, 2, "network access by domain needs namespaces")

    def test_what_is_no_domain_is_told(self):
        result = self.keel("sandbox", "--allow-domain", "https://example.com/", "true")
        self.assert_refused(result, 2, "--allow-domain", "is not a domain")

    def test_the_person_s_own_proxy_is_used_and_hidden(self):
        proxy = self.serve()
        proxy.files["http://example.org/x"] = b"by the other proxy\n"
        env = {"HTTP_PROXY": f"http://me:secret@{proxy.place}"}
        result = self.shell("curl -sSf http://example.org/x; env", allow=[], env=env,
                            domains=["example.org"])
        self.assert_status(result, 0)
        self.assertIn("by the other proxy\n", result.out)
        self.assertNotIn("secret", result.out)
        [(_, target, headers, _)] = proxy.seen
        self.assertEqual(target, "http://example.org/x")
        self.assertEqual(headers["Proxy-Authorization"], "Basic bWU6c2VjcmV0")


class Hostility(NetworkTest):
    def send(self, text, **options):
        return self.shell(f"exec 3<>/dev/tcp/127.0.0.1/{PROXY_PORT}; printf '{text}' >&3; cat <&3",
                          **options)

    def test_what_is_no_request_is_refused(self):
        for text in (r"\r\n\r\n", r"GET /hello HTTP/1.1\r\n\r\n", r"\026\003\001\r\n\r\n",
                     rf"GET {self.server.url}/ HTTP/1.1\r\nHost: evil.test\r\n\r\n",
                     rf"GET {self.server.url}/ HTTP/1.1\r\nX: y\r\n z\r\n\r\n",
                     rf"POST {self.server.url}/ HTTP/1.1\r\nContent-Length: 1\r\n"
                     r"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                     rf"GET http://u@{self.server.place}/ HTTP/1.1\r\n\r\n"):
            result = self.send(text)
            self.assertIn("HTTP/1.1 400 Bad Request", result.out, f"{text}\n{result}")
        self.assertEqual(self.server.seen, [])

    def test_a_second_request_on_the_same_connection_is_not_passed_on(self):
        result = self.send(rf"GET {self.server.url}/hello HTTP/1.1\r\n\r\n"
                           rf"GET {self.server.url}/second HTTP/1.1\r\nHost: evil.test\r\n\r\n")
        self.assertIn("hello from outside", result.out)
        self.assertEqual([path for _, path, _, _ in self.server.seen], ["/hello"])

    def test_a_flood_of_connections_is_survived(self):
        script = (f"for i in {{1..150}}; do exec {{fd}}<>/dev/tcp/127.0.0.1/{PROXY_PORT}; "
                  "fds+=($fd); done; for fd in ${fds[@]}; do exec {fd}>&-; done; "
                  f"curl -sSf {self.server.url}/hello")
        result = self.shell(script)
        self.assert_fine(result)
        self.assertEqual(result.out, "hello from outside\n")

    def test_an_answer_says_that_the_connection_ends(self):
        """The server does not say so. A program that does not know sends its next request there."""
        result = self.send(rf"GET {self.server.url}/hello HTTP/1.1\r\n\r\n")
        head, _, body = result.out.partition("\r\n\r\n")
        self.assertIn("Connection: close", head.splitlines())
        self.assertEqual(body, "hello from outside\n")

    def test_many_at_once_are_all_served(self):
        result = self.shell(f'curl -sSf -Z --parallel-max 100 "{self.server.url}/hello?[1-200]"')
        self.assert_status(result, 0)
        self.assertEqual(result.out, "hello from outside\n" * 200)

    def test_connections_end_with_the_command(self):
        ended = threading.Event()

        def wait_for_end(handler):
            ended.connection = handler.connection
            handler.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
            handler.connection.recv(1)  # there is none: it ends
            ended.set()
            return b""

        self.server.files["/wait"] = wait_for_end
        result = self.shell(f"exec 3<>/dev/tcp/127.0.0.1/{PROXY_PORT}; printf 'GET "
                            f"{self.server.url}/wait HTTP/1.1\\r\\n\\r\\n' >&3; read -u 3 line; "
                            "echo \"$line\"")
        self.assertEqual(result.out.strip(), "HTTP/1.1 200 OK")
        self.assertTrue(ended.wait(HANG_SECONDS))

    def test_the_port_of_the_proxy_is_taken(self):
        self.needs("python3", "--version")
        script = ("import socket\nfor host in ('127.0.0.1', '0.0.0.0'):\n"
                  " s = socket.socket()\n s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)\n"
                  " s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)\n"
                  f" try: s.bind((host, {PROXY_PORT})); s.listen(); print('taken over')\n"
                  " except OSError as e: print(e.strerror)\n")
        result = self.sandbox("python3", "-c", script)
        self.assertEqual(result.out, "Address already in use\n" * 2)


if __name__ == "__main__":
    keel_test.main()
