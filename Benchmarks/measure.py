"""One run of one program, and its cost as launch.c reports it."""

import os
import signal
import subprocess
from dataclasses import dataclass

from workbench import Failed


@dataclass
class Run:
    """The cost of one run: times in seconds, peak memory in MiB, and the number of context switches, voluntary or not.

    `server` is the CPU time of the server in seconds. A case may add one more figure as `extra`."""

    start: float
    wall: float
    cpu: float
    peak: float
    switches: int
    status: int
    output: str
    extra: float = 0
    server: float = 0


def run(bench, command, folder, state=None, limit=300, stop_after=None, feed=None):
    """Runs a command in `folder` until it ends. With `stop_after`, sends SIGINT after that many seconds.

    `feed` is a file for standard input."""
    report = os.path.join(bench.fresh("m"), "report")
    output = os.path.join(os.path.dirname(report), "output")
    with open(output, "w+b") as out, open(feed or os.devnull, "rb") as standard_input:
        process = bench.spawn(
            [bench.compiled("launch"), report, *command], cwd=folder, env=bench.environment(state),
            stdin=standard_input, stdout=out, stderr=out)
        try:
            process.wait(stop_after or limit)
        except subprocess.TimeoutExpired:
            if stop_after:
                bench.end(process, signal.SIGINT, 30)
        if process.poll() != 0:
            bench.end(process, signal.SIGKILL)
            raise Failed(f"no end after {limit} s" if not stop_after else "no end after SIGINT")
        bench.end(process)
        out.seek(0)
        text = out.read().decode(errors="replace")
    with open(report) as file:
        start, end, user, system, peak, voluntary, involuntary, status = map(int, file.read().split())
    return Run(start / 1e9, (end - start) / 1e9, (user + system) / 1e6, peak / 1024, voluntary + involuntary, status, text)
