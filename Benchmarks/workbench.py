"""The place where everything happens: private folders, sizes, compiled C programs, processes, and their end."""

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
    """A case cannot give figures; the message says why in one line."""


def _commit():
    """What is checked out, and whether it was changed since."""
    done = subprocess.run(["git", "describe", "--always", "--dirty", "--exclude=*"], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip() or "an unknown commit"


class Workbench:
    """Owns the private folders on the memory file system and on the disk, and every process that was started."""

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
        """A folder of this name in the private one."""
        path = os.path.join(self.folder, name)
        os.makedirs(path, exist_ok=True)
        return path

    def fresh(self, kind="run"):
        """A new empty folder; short, because a socket's path may have 107 bytes."""
        return self.make(f"{kind}{next(self._serial)}")

    def disk(self):
        """A private folder on the disk: of the checkout, or where $DLM_BENCH_DISK says."""
        if self.disk_folder is None:
            base = os.environ.get("DLM_BENCH_DISK") or os.path.join(ROOT, ".build", "bench")
            os.makedirs(base, exist_ok=True)
            self.disk_folder = tempfile.mkdtemp(prefix="disk.", dir=base)
        return self.disk_folder

    def scaled(self, number, least=1):
        """A size or count of the full benchmark, made smaller by $DLM_BENCH_SCALE."""
        return max(least, int(number * self.scale))

    def seconds(self, full, least=1.0):
        """A length of time, made shorter by $DLM_BENCH_SCALE."""
        return max(least, full * self.scale)

    @property
    def server(self):
        if self._server is None:
            from server import Server

            self._server = Server(self)
        return self._server

    def server_cpu(self):
        """The seconds of CPU that the server has used; 0 while there is none."""
        return self._server.cpu() if self._server else 0

    @property
    def content(self):
        if self._content is None:
            from content import Content

            self._content = Content(self)
        return self._content

    def compiled(self, name):
        """The path of a C program of this folder, built when first asked for."""
        path = os.path.join(self.make("bin"), name)
        if not os.path.exists(path):
            source = os.path.join(HERE, name + ".c")
            subprocess.run(["cc", "-O2", "-Wall", "-o", path, source], check=True)
        return path

    def environment(self, state=None):
        """What every tool gets: a home of its own, and nothing of the user's settings, proxies or language."""
        state = state or self.home
        return {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            "HOME": state,
            "XDG_STATE_HOME": os.path.join(state, "s"),
            "XDG_CONFIG_HOME": os.path.join(state, "c"),
            "LC_ALL": "C",
        }

    def spawn(self, command, **options):
        """Starts a process in a group of its own, which does not outlive the benchmark."""
        process = subprocess.Popen(command, start_new_session=True, **options)
        self.processes.append(process)
        return process

    def end(self, process, how=signal.SIGTERM, patience=20):
        """Ends the group of a process that `spawn` started."""
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
        """Ends what still runs, and removes the private folders."""
        for process in list(self.processes):
            self.end(process, patience=3)
        for path in (self.folder, self.disk_folder):
            if path:
                shutil.rmtree(path, ignore_errors=True)
