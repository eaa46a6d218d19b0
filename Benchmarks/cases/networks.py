"""One file from servers that limit, throttle, refuse or cut connections, or whose links expire (laws.py)."""

import hashlib
import json
import os
import signal
import subprocess
import sys
from statistics import mean, median

import laws
from content import digest
from contest import Contestant
from measure import run
from registry import case
from workbench import HERE, Failed

MIB = 1 << 20
LIMIT = 90
FIXED = [1, 2, 4, 6, 8, 16]


def _contestants():
    dlm = ["{dlm}", "get", "-q", "-o", "file", "{url}"]
    named = [("dlm auto", dlm), ("dlm auto:16", [*dlm, "-x", "auto:16"])]
    named += [(f"dlm -x {count}", [*dlm, "-x", str(count)]) for count in FIXED]
    aria2 = ["aria2c", "-q", "--no-conf", "--file-allocation=none", "-k1M", "-o", "file", "{url}"]
    named += [(f"aria2c -x{count}", [*aria2, f"-x{count}", f"-s{count}"]) for count in (4, 16)]
    named += [
        ("axel", ["axel", "-q", "-n", "8", "-o", "file", "{url}"]),
        ("lftp", ["lftp", "-c", "pget -n 8 {url} -o file"]),
        ("curl", ["curl", "-sSL", "-o", "file", "{url}"])]
    chosen = os.environ.get("DLM_BENCH_CLIENTS")
    return [Contestant(name, command, "dlm" if name.startswith("dlm") else "peer") for name, command in named
            if not chosen or name in chosen.split(",")]


def _run(bench, law, seed, size, one):
    """Runs a program once. Returns its seconds, or what went wrong, and the server's statistics."""
    server = subprocess.Popen(
        [sys.executable, "-B", os.path.join(HERE, "laws.py"), law, "--seed", str(seed), "--size", str(size)],
        stdout=subprocess.PIPE, text=True)
    try:
        url = server.stdout.readline().strip()
        command = [word.format(dlm=bench.binary, url=url) for word in one.command]
        if laws.NAME in url:
            if one.name.split()[0] not in ("dlm", "curl"):
                return "cannot name addresses", {}
            port = url.split(":")[2].split("/")[0]
            addresses = [f"127.0.0.{number + 1}" for number in range(3)]
            command += ["--resolve", f"{laws.NAME}:{port}:{','.join(addresses)}"]
        folder, state = bench.fresh("n"), bench.fresh("h")
        try:
            done = run(bench, command, folder, state, LIMIT)
        except Failed:
            done = None
        server.send_signal(signal.SIGTERM)
        found = json.loads(server.stdout.readline())
        if done is None:
            return f"over {LIMIT} s", found
        if done.status != 0:
            return f"status {done.status}", found
        right = hashlib.sha256(laws.content(size)).hexdigest()
        return (done.wall if digest(os.path.join(folder, "file")) == right else "wrong"), found
    finally:
        server.kill()
        server.wait()


def _cells(runs):
    """Returns the cells of a row: the median time or the failures, and the medians of the server's counts."""
    times = [took for took, _ in runs if isinstance(took, float)]
    failures = sorted({took for took, _ in runs if not isinstance(took, float)})
    counts = [found for _, found in runs if found]
    cells = [f"{median(times):.1f}" if times else "", ", ".join(failures)]
    for count in ("steady", "requests"):
        cells.append(f"{median(found[count] for found in counts):g}" if counts else "")
    return cells + [f"{median(sum(found['refusals'].values()) for found in counts):g}" if counts else ""]


def _share(law, name, best):
    """Returns the time of the best of the programs divided by the time of the named one, for each seed."""
    shares = []
    for index, (took, _) in enumerate(law[name]):
        fastest = min((law[other][index][0] for other in best if isinstance(law[other][index][0], float)), default=None)
        shares.append(fastest / took if fastest and isinstance(took, float) else 0)
    return shares


@case("networks", "48 MiB from servers with laws of their own")
def networks(bench, result):
    result.about = ("Each law limits, throttles, refuses or cuts connections, and has other numbers for each seed. The share is "
                    "the time of the best fixed number of dlm divided by that of `auto`.")
    chosen = os.environ.get("DLM_BENCH_LAWS", "").split(",")
    size = bench.scaled(48 * MIB, 8 * MIB)
    programs = _contestants()
    fixed = [one.name for one in programs if one.name in ("dlm -x 1", "dlm -x 2", "dlm -x 4", "dlm -x 6")]
    shares, tables = [], []
    for name in [name for name in laws.LAWS if chosen == [""] or name in chosen]:
        law = {one.name: [_run(bench, name, seed, size, one) for seed in range(1, bench.rounds + 1)] for one in programs}
        print(f"  {name}", file=sys.stderr, flush=True)
        text = " ".join(laws.LAWS[name].__doc__.split())
        lines = ["| | wall s | failures | connections | requests | refusals |", "|---|---|---|---|---|---|"]
        lines += ["| " + " | ".join([program, *_cells(runs)]) + " |" for program, runs in law.items()]
        tables.append(f"**{name}**: {text}\n\n" + "\n".join(lines))
        if fixed and "dlm auto" in law:
            found = _share(law, "dlm auto", fixed)
            shares.append((name, found))
            result.figures.append(f"{name}: share {mean(found):.2f}, worst {min(found):.2f}")
    result.remarks += tables
    if shares:
        result.target("`auto`: mean share of the best of 1, 2, 4 and 6", mean(mean(found) for _, found in shares), 0.9,
                      at_least=True)
        result.target("`auto`: worst share", min(min(found) for _, found in shares), 0.65, at_least=True)
