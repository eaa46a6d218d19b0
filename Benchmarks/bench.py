#!/usr/bin/env python3
"""usage: bench.py BINARY [case ...]: runs the cases, saves the results in .build/bench, and writes the page of all
results, .build/bench/performance.md.

DLM_BENCH_ROUNDS: the runs of each tool in each case. Default: 5.
DLM_BENCH_SCALE: the fraction of the full size. Default: 1. Any other value only tests the benchmark, and has a folder of
its own for its results and its page.
DLM_BENCH_DISK: a folder on a disk. Default: .build/bench."""

import os
import sys
import traceback

import cases  # noqa: F401
import machine
import page
from registry import CASES
from result import Result
from workbench import ROOT, Failed, Workbench


def main(arguments):
    if not arguments:
        sys.exit(__doc__)
    binary, names = os.path.abspath(arguments[0]), arguments[1:] or list(CASES)
    unknown = [name for name in names if name not in CASES]
    if unknown:
        sys.exit(f"no such case: {' '.join(unknown)}; there are: {' '.join(CASES)}")
    rounds, scale = int(os.environ.get("DLM_BENCH_ROUNDS", 5)), float(os.environ.get("DLM_BENCH_SCALE", 1))
    folder = os.path.join(ROOT, ".build", "bench")
    if scale != 1:
        folder = os.path.join(folder, f"scale-{scale}")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "performance.md")
    wrong = []
    bench = Workbench(binary, rounds, scale)
    try:
        facts = machine.describe(binary)
        for name in [name for name in CASES if name in names]:
            if not measure(bench, name, folder):
                wrong.append(name)
            page.write(page.load(folder), CASES, facts, path)
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        bench.close()
    print(f"written: {os.path.relpath(path)}", file=sys.stderr)
    if wrong:
        sys.exit(f"without figures for dlm: {' '.join(wrong)}")


def measure(bench, name, folder):
    """Runs a case and prints its targets. Returns False if dlm failed in the case."""
    title, function = CASES[name]
    print(f"{name}: {title}", file=sys.stderr, flush=True)
    result = Result(name, title)
    before = machine.load_average()
    try:
        function(bench, result)
    except (Failed, OSError) as error:
        if not isinstance(error, Failed):
            traceback.print_exc()
        result.remarks.append(f"Not measured: {error}.")
        print(f"  not measured: {error}", file=sys.stderr)
        return False
    result.save(folder, bench, (before, machine.load_average()))
    for target in result.targets:
        verdict = "met" if target.met else "not met"
        print(f"  {target.what}: {page.number(target.value)} {target.unit} ({page.number(target.limit)}): {verdict}",
              file=sys.stderr)
    failed = [row for row in result.rows if row["failure"]]
    for row in failed:
        print(f"  {row['name']}: {row['failed']} failed: {row['failure']}", file=sys.stderr)
    return not any(row["kind"] == "dlm" for row in failed)


main(sys.argv[1:])
