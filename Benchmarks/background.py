"""A background session of dlm with a home of its own, and commands that use the session."""

import os
import subprocess
import time

from measure import run
from workbench import Failed


class Background:
    """A `dlm daemon run` that lasts from the creation of this object to `close`."""

    def __init__(self, bench, *options):
        self.bench = bench
        self.state = bench.fresh("h")
        self.folder = os.path.join(self.state, "out")
        os.makedirs(self.folder)
        self.log = os.path.join(self.state, "log")
        self.process = None
        self.start(*options)

    def start(self, *options):
        with open(self.log, "w") as log:
            self.process = self.bench.spawn(
                [self.bench.binary, "daemon", "run", *options], cwd=self.folder, stderr=log, stdin=subprocess.DEVNULL,
                env=self.bench.environment(self.state))
        for _ in range(500):
            if self.command("daemon", "status").status == 0:
                return
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        with open(self.log) as log:
            raise Failed(f"dlm daemon run: {log.read().strip()[:200]}")

    def command(self, *words, feed=None, limit=600):
        """Runs a dlm command in the home of the session."""
        return run(self.bench, [self.bench.binary, *words], self.folder, self.state, limit, feed=feed)

    def needed(self, *words, feed=None, limit=600):
        """Runs a dlm command as `command` does, and raises Failed unless it succeeds."""
        done = self.command(*words, feed=feed, limit=limit)
        if done.status != 0:
            raise Failed(f"dlm {words[0]}: exit status {done.status}: {done.output.strip()[-200:]}")
        return done

    def peak(self):
        """Returns the peak memory of the session in MiB (`VmHWM`, proc(5))."""
        with open(f"/proc/{self.process.pid}/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024

    def close(self):
        self.bench.end(self.process)
