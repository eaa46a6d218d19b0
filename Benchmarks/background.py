"""A background session of dlm with a home of its own, and commands that speak to it."""

import os
import subprocess
import time

from measure import run
from workbench import Failed


class Background:
    """`dlm daemon run` from here to `close`."""

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
        """Runs a command of dlm in the same home."""
        return run(self.bench, [self.bench.binary, *words], self.folder, self.state, limit, feed=feed)

    def needed(self, *words, feed=None, limit=600):
        """The same, which must succeed."""
        done = self.command(*words, feed=feed, limit=limit)
        if done.status != 0:
            raise Failed(f"dlm {words[0]}: exit status {done.status}: {done.output.strip()[-200:]}")
        return done

    def peak(self):
        """The most memory the session had, in MiB."""
        with open(f"/proc/{self.process.pid}/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024

    def close(self):
        self.bench.end(self.process)
