"""The environment of a benchmark: private folders, sizes, compiled C programs and processes."""

import itertools
import os
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)


class Failed(Exception):
    """A case cannot be measured. The message says why, in one line."""


def _commit():
    """Returns the commit that is checked out, with a mark if files were changed since."""
    done = subprocess.run(["git", "describe", "--always", "--dirty", "--exclude=*"], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip() or "an unknown commit"


class Workbench:
    """Owns the private folders on the memory file system and on the disk, and all processes that were started."""

    def __init__(self, binary, rounds, scale):
        self.binary = binary
        self.rounds = rounds
        self.scale = scale
        self.commit = _commit()
        self.processes = []
        self.folder = tempfile.mkdtemp(prefix="dlm-bench.", dir="/dev/shm")
        self.disk_folder = None
        self.home = self.make("home")
        self._server = None
        self._content = None
        self._serial = itertools.count(1)
        for name in ("SIGTERM", "SIGHUP"):
            signal.signal(getattr(signal, name), lambda *_: sys.exit(1))

    def make(self, name):
        """Returns the folder of this name in the private folder, and creates it if needed."""
        path = os.path.join(self.folder, name)
        os.makedirs(path, exist_ok=True)
        return path

    def fresh(self, kind="run"):
        """Returns a new empty folder. Its name is short, because the path of a Unix socket has at most 107 bytes (unix(7))."""
        return self.make(f"{kind}{next(self._serial)}")

    def disk(self):
        """Returns a private folder on a disk: in $DLM_BENCH_DISK, or else in the checkout."""
        if self.disk_folder is None:
            base = os.environ.get("DLM_BENCH_DISK") or os.path.join(ROOT, ".build", "bench")
            os.makedirs(base, exist_ok=True)
            self.disk_folder = tempfile.mkdtemp(prefix="disk.", dir=base)
        return self.disk_folder

    def scaled(self, number, least=1):
        """Returns a size or count of the full benchmark, multiplied by $DLM_BENCH_SCALE, but at least `least`."""
        return max(least, int(number * self.scale))

    def seconds(self, full, least=1.0):
        """Returns a duration in seconds, multiplied by $DLM_BENCH_SCALE, but at least `least`."""
        return max(least, full * self.scale)

    @property
    def server(self):
        if self._server is None:
            from server import Server

            self._server = Server(self)
        return self._server

    def server_cpu(self):
        """Returns the CPU time of the server in seconds, or 0 while there is no server."""
        return self._server.cpu() if self._server else 0

    @property
    def content(self):
        if self._content is None:
            from content import Content

            self._content = Content(self)
        return self._content

    def compiled(self, name):
        """Returns the path of a C program of this folder. The program is built at the first call."""
        path = os.path.join(self.make("bin"), name)
        if not os.path.exists(path):
            source = os.path.join(HERE, name + ".c")
            subprocess.run(["cc", "-O2", "-Wall", "-o", path, source], check=True)
        return path

    def environment(self, state=None):
        """Returns the environment of every tool: a home of its own, without the user's settings, proxies and language."""
        state = state or self.home
        return {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            "HOME": state,
            "XDG_STATE_HOME": os.path.join(state, "s"),
            "XDG_CONFIG_HOME": os.path.join(state, "c"),
            "LC_ALL": "C",
        }

    def spawn(self, command, **options):
        """Starts a process in a process group of its own, which ends with the benchmark at the latest."""
        process = subprocess.Popen(command, start_new_session=True, **options)
        self.processes.append(process)
        return process

    def end(self, process, how=signal.SIGTERM, patience=20):
        """Ends the process group of a process that `spawn` started. Sends SIGKILL after `patience` seconds."""
        if process.poll() is None:
            try:
                os.killpg(process.pid, how)
                process.wait(patience)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            except ProcessLookupError:
                process.wait()
        if process in self.processes:
            self.processes.remove(process)

    def close(self):
        """Ends all processes that still run, and removes the private folders."""
        for process in list(self.processes):
            self.end(process, patience=3)
        for path in (self.folder, self.disk_folder):
            if path:
                shutil.rmtree(path, ignore_errors=True)
