"""The error of the speed under `--limit-rate`."""

import json
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from statistics import median

from machine import free_memory
from measure import run
from registry import case
from workbench import Failed

RATES = [("100 kB/s", 100_000), ("1 MB/s", 1_000_000), ("50 MB/s", 50_000_000), ("500 MB/s", 500_000_000)]


@case("limits", "Bandwidth limits")
def limits(bench, result):
    result.about = ("Some seconds after exec the download is interrupted; what it has then, by its own count and no more than "
                    "the partial file holds, against rate x time. Limits below 10 MB/s are measured side by side.")
    errors = {}
    for _ in range(bench.rounds):
        for group in (RATES[:2], RATES[2:3], RATES[3:]):
            _round(bench, group, errors)
    for (title, connections), found in errors.items():
        line = f"{title}, {connections} connection{'s' if connections > 1 else ''}"
        spread = [error for error, _ in found]
        between = f"({min(spread):+.1f} to {max(spread):+.1f})"
        result.figures.append(f"{line}: {median(spread):+.1f} % {between} over {found[-1][1]:.0f} s")
        result.target(f"{line}: error", abs(median(spread)), 5, "%")
    result.commands.append(["dlm", "dlm get -q --limit-rate RATE -x 1|8 -o file URL"])


def _round(bench, group, errors):
    """Runs each rate with each number of connections once: one after another at high rates, all at once at low rates."""
    jobs = [(title, rate, connections) for title, rate in group for connections in (1, 8)]
    for batch in [jobs] if len(group) > 1 else [[job] for job in jobs]:
        with ThreadPoolExecutor(len(batch)) as pool:
            for (title, _, connections), found in zip(batch, pool.map(lambda job: _error(bench, *job[1:]), batch)):
                errors.setdefault((title, connections), []).append(found)


def _error(bench, rate, connections):
    """Returns the difference from the bytes that the rate allows, in percent, and the duration of the run in seconds.

    The fetched bytes must fit into a fourth of the free memory, so with little memory the run is shorter."""
    seconds = min(bench.seconds(10, 2), free_memory() / 4 / rate)
    name = bench.content.sparse(max(64 << 20, int(rate * seconds * 1.3)))
    return (_have(bench, name, seconds, rate, connections) / (rate * seconds) - 1) * 100, seconds


def _have(bench, name, seconds, rate, connections):
    """Returns the number of bytes that were fetched after so many seconds."""
    state = bench.fresh("h")
    folder = os.path.join(state, "out")
    os.makedirs(folder)
    try:
        run(bench, [bench.binary, "get", "-q", "--limit-rate", str(rate), "-x", str(connections), "-o", "file",
                    bench.server.url(name)], folder, state, stop_after=seconds)
        rows = run(bench, [bench.binary, "list", "--json"], folder, state).output.strip().splitlines()
        if len(rows) != 1:
            raise Failed(f"{len(rows)} downloads in the store instead of one")
        if not os.path.exists(os.path.join(folder, "file.part")):
            raise Failed(f"at {rate} bytes a second there is no partial file after {seconds:.0f} s")
        held = os.stat(os.path.join(folder, "file.part")).st_blocks * 512
        return min(_bytes(json.loads(rows[0])), held)
    finally:
        shutil.rmtree(state, ignore_errors=True)


def _bytes(row):
    for key in ("bytes", "received", "written", "have"):
        if isinstance(row.get(key), int):
            return row[key]
    raise Failed(f"dlm list --json has no count of bytes: {sorted(row)}")
