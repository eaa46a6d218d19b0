"""How close `--limit-rate` comes to what it says."""

import json
import os
import shutil
import threading
from statistics import median

from measure import run
from registry import case
from workbench import Failed

RATES = [("100 kB/s", 100_000), ("1 MB/s", 1_000_000), ("50 MB/s", 50_000_000), ("500 MB/s", 500_000_000)]


@case("limits", "Bandwidth limits")
def limits(bench, result):
    seconds = bench.seconds(10, 2)
    result.about = (f"After {seconds:.0f} s from exec the download is interrupted; what it has then, by its own count and no more "
                    "than the partial file holds, against rate x time. Limits below 10 MB/s are measured side by side.")
    name = bench.content.sparse(8 << 30)
    errors = {}
    for _ in range(bench.rounds):
        for group in (RATES[:2], RATES[2:3], RATES[3:]):
            _round(bench, name, seconds, group, errors)
    bench.content.drop(name)
    for (title, connections), found in errors.items():
        line = f"{title}, {connections} connection{'s' if connections > 1 else ''}"
        result.figures.append(f"{line}: {median(found):+.1f} % ({min(found):+.1f} to {max(found):+.1f})")
        result.target(f"{line}: error", abs(median(found)), 5, "%")
    result.commands.append(["dlm", "dlm get -q --limit-rate RATE -x 1|8 -o file URL"])


def _round(bench, name, seconds, group, errors):
    """One run of each rate and number of connections: one after the other at high rates, all at once at low ones."""
    jobs = [(title, rate, connections) for title, rate in group for connections in (1, 8)]
    problems = []

    def measure(title, rate, connections):
        try:
            have = _have(bench, name, seconds, rate, connections)
            errors.setdefault((title, connections), []).append((have / (rate * seconds) - 1) * 100)
        except Failed as problem:
            problems.append(problem)

    for batch in [jobs] if len(group) > 1 else [[job] for job in jobs]:
        for title, _, connections in batch:
            errors.setdefault((title, connections), [])
        threads = [threading.Thread(target=measure, args=job) for job in batch]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    if problems:
        raise problems[0]


def _have(bench, name, seconds, rate, connections):
    """The bytes that are here after so many seconds."""
    state = bench.fresh("h")
    folder = os.path.join(state, "out")
    os.makedirs(folder)
    try:
        run(bench, [bench.binary, "get", "-q", "--limit-rate", str(rate), "-x", str(connections), "-o", "file",
                    bench.server.url(name)], folder, state, stop_after=seconds)
        rows = run(bench, [bench.binary, "list", "--json"], folder, state).output.strip().splitlines()
        if len(rows) != 1:
            raise Failed(f"{len(rows)} downloads in the store instead of one")
        held = os.stat(os.path.join(folder, "file.part")).st_blocks * 512
        return min(_bytes(json.loads(rows[0])), held)
    finally:
        shutil.rmtree(state, ignore_errors=True)


def _bytes(row):
    for key in ("bytes", "received", "written", "have"):
        if isinstance(row.get(key), int):
            return row[key]
    raise Failed(f"dlm list --json has no count of bytes: {sorted(row)}")
