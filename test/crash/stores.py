"""stores.py - the places where the sessions of the crash tests live, read without keel."""
import atexit
import collections
import ctypes
import glob
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import threading

SEQ_BITS = 40  # of a record's key in SQLite; the rest is its session's number
NOBODY = 65534
PR_SET_PDEATHSIG = 1

Record = collections.namedtuple("Record", "seq n type body")


class Sqlite:
    name = "sqlite"
    kinds = {"open", "pwrite", "fdatasync", "unlink", "mkdir", "rename", "write", "syncfs",
             "ftruncate"}

    def prepare(self, case):
        case.store_dir.mkdir()

    def clean(self, case):
        pass

    def close(self):
        pass

    def pass_time(self, case):
        """Until the lease of a killed process is free."""

    def url(self, case):
        return f"sqlite:{case.store_dir}/keel.db"

    def places(self, case):
        return [case.store_dir]

    def records(self, case):
        """From a copy: whoever opens a database repairs it, and that is for keel to do."""
        path = case.store_dir / "keel.db"
        if not path.exists():
            return []
        with tempfile.TemporaryDirectory(dir=case.dir) as copy:
            for suffix in ("", "-wal"):
                if (file := path.with_name(f"keel.db{suffix}")).exists():
                    shutil.copy(file, copy)
            return self.read(f"{copy}/keel.db", case.session)

    def read(self, path, session):
        db = sqlite3.connect(path)
        try:
            return [Record(*row) for row in db.execute(
                "select key & ?, n, type, body from journal join sessions on key >> ? = number "
                "where id = ? order by key", ((1 << SEQ_BITS) - 1, SEQ_BITS, session))]
        except sqlite3.OperationalError as e:
            if "no such table" not in str(e):
                raise
            return []
        finally:
            db.close()


class Files:
    name = "files"
    kinds = {"open", "write", "fdatasync", "fsync", "unlink", "mkdir", "rename", "syncfs",
             "ftruncate", "pwrite"}

    def prepare(self, case):
        pass

    def clean(self, case):
        pass

    def close(self):
        pass

    def pass_time(self, case):
        pass

    def url(self, case):
        return f"files:{case.store_dir}"

    def places(self, case):
        return [case.store_dir]

    def log(self, case):
        return case.store_dir / f"{case.session}.jsonl"

    def records(self, case):
        """Whole lines; what stands behind the last one was torn."""
        path, records = self.log(case), []
        if not path.exists():
            return []
        for line in path.read_bytes().split(b"\n")[:-1]:
            value = json.loads(line)
            if "seq" in value:
                records.append(Record(value["seq"], value.get("n", 1), value["event"], line))
        return records


def as_nobody():
    """In the child: PostgreSQL does not run as root, and must not outlive the test."""
    if os.getuid() == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGQUIT)


class Postgres:
    """A server of its own behind a socket; every case has a schema of its own in it."""

    name = "postgres"
    kinds = {"send"}

    @staticmethod
    def programs():
        found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))
        return pathlib.Path(found[-1]).parent if found else None

    def __init__(self, directory):
        self.bin, self.dir, self.lock = self.programs(), directory / "pg", threading.Lock()
        directory.chmod(0o755)
        self.dir.mkdir(mode=0o700)
        if os.getuid() == 0:
            os.chown(self.dir, NOBODY, NOBODY)
        self.run("initdb", "-D", "data", "-U", "keel", "--auth=trust", "-E", "UTF8", "--no-sync",
                 "--locale=C")
        self.server = self.start(
            "postgres", "-D", "data", "-c", "listen_addresses=", "-c",
            f"unix_socket_directories={self.dir}", "-c", "fsync=off", "-c", "max_connections=100",
            "-c", "shared_buffers=8MB", "-c", "autovacuum=off")
        atexit.register(self.close)
        while self.start("pg_isready", "-q", "-h", self.dir).wait():
            if self.server.poll() is not None:
                raise RuntimeError("PostgreSQL does not start")
        self.psql = self.start("psql", "-h", self.dir, "-U", "keel", "-d", "postgres", "-qAt",
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def start(self, name, *arguments, **streams):
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL,
                   "stderr": subprocess.DEVNULL, **streams}
        return subprocess.Popen([self.bin / name, *arguments], cwd=self.dir, preexec_fn=as_nobody,
                                env={"LANG": "C.UTF-8", "HOME": str(self.dir)}, **streams)

    def run(self, name, *arguments):
        if self.start(name, *arguments).wait():
            raise RuntimeError(f"{name} has failed")

    def close(self):
        if self.server.poll() is None:
            self.server.send_signal(signal.SIGQUIT)
            self.server.wait()

    def ask(self, sql):
        """Lines of JSON; an error is an empty answer."""
        with self.lock:
            self.psql.stdin.write(f"{sql};\n\\echo end\n")
            self.psql.stdin.flush()
            lines = []
            while (line := self.psql.stdout.readline()) and line != "end\n":
                lines.append(line)
            return lines

    def schema(self, case):
        return f"s_{case.name}"

    def prepare(self, case):
        self.ask(f"CREATE SCHEMA {self.schema(case)}")

    def clean(self, case):
        self.ask(f"DROP SCHEMA {self.schema(case)} CASCADE")

    def pass_time(self, case):
        """What it had sent is done, and its time is over."""
        while self.ask("SELECT 1 FROM pg_stat_activity WHERE application_name = "
                       f"'{self.schema(case)}'"):
            pass
        self.ask(f"UPDATE {self.schema(case)}.keel_sessions SET until = until - interval '6 s'")

    def url(self, case):
        return (f"postgresql:///postgres?host={self.dir}&user=keel&options=-csearch_path%3D"
                f"{self.schema(case)}&application_name={self.schema(case)}")

    def places(self, case):
        return [self.dir]

    def records(self, case):
        schema = self.schema(case)
        return [Record(*json.loads(line)) for line in self.ask(
            f"SELECT json_build_array(seq, n, type, body) FROM {schema}.keel_records "
            f"JOIN {schema}.keel_sessions ON number = stream WHERE id = '{case.session}' "
            "ORDER BY seq")]
