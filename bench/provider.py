"""provider.py - the server that agents are measured against, and what it noted of them."""
import json
import socket
import subprocess
import tempfile
import time


class Provider:
    """bench-server, or another program that is started and logs in the same way.

    One whose log tells the time of day instead of the monotonic clock says so."""

    def __init__(self, *command, has_unix_times=False):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.offset_ms = (time.time() - time.monotonic()) * 1000 if has_unix_times else 0
        self.log = tempfile.NamedTemporaryFile("r", suffix=".log")
        self.rest = ""  # of a line that is not complete yet
        self.process = subprocess.Popen([*map(str, command), str(self.port), self.log.name])
        self.read(1)

    def read(self, n):
        """Waits until n more lines are there; returns all that are."""
        lines = []
        until = time.monotonic() + 10
        while len(lines) < n:
            if time.monotonic() > until:
                raise SystemExit(f"bench: {n} requests were expected, {len(lines)} came")
            time.sleep(0.001)
            *whole, self.rest = (self.rest + self.log.read()).split("\n")
            lines += map(json.loads, whole)
        return lines

    def requests(self, n):
        """What came since the last time, n requests at least, times in ms."""
        return [{**q, **{key: q[key] - self.offset_ms for key in ("t", "tbody", "tend")}}
                for q in self.read(n) if "tbody" in q]

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.terminate()
        self.process.wait()
        self.log.close()
