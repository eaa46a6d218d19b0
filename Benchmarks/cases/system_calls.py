"""The number of system calls for each MiB and for each file, counted by strace."""

import os
import re
import shutil

from measure import run
from registry import case
from tools import Tools, large_peers, list_peers
from workbench import Failed

SHOWN = 12


def _counts(bench, command, values):
    """Returns the number of calls in one run by their names, for all threads together."""
    state = bench.fresh("h")
    folder, summary = os.path.join(state, "out"), os.path.join(state, "summary")
    os.makedirs(folder)
    try:
        words = [word.format(**values) for word in command]
        done = run(bench, ["strace", "-f", "-c", "-o", summary, *words], folder, state)
        if done.status != 0:
            raise Failed(f"strace {words[0]}: {(done.output.strip().splitlines() or ['no message'])[-1][:200]}")
        with open(summary) as file:
            lines = re.findall(r"^ *[\d.]+ +[\d.]+ +\d+ +(\d+) +(?:\d+ +)?(\w+)$", file.read(), re.MULTILINE)
        return {name: int(calls) for calls, name in lines if name != "total"}
    finally:
        shutil.rmtree(state, ignore_errors=True)


def _tell(bench, result, contestants, values, parts, part):
    """Adds a figure for each tool: the calls for each part of the work, and the most frequent calls by name."""
    for one in contestants:
        counts = _counts(bench, one.command, values)
        often = sorted(counts.items(), key=lambda item: -item[1])[:SHOWN]
        names = ", ".join(f"{name} {calls / parts:.2f}" for name, calls in often)
        result.figures.append(f"{one.name}: {sum(counts.values()) / parts:.1f} for each {part}: {names}")
        result.commands.append([one.name, "strace -f -c " + one.shown()])


@case("calls-large", "System calls of a large file over http")
def large(bench, result):
    size = bench.scaled(256 << 20, 1 << 20)
    result.about = "Under strace everything is slower and waits more often, so these are upper bounds. One run."
    tools = Tools(bench).one_connection()
    values = {"dlm": bench.binary, "url": bench.server.url(bench.content.file(size))}
    _tell(bench, result, [one for one in tools if one.name in ("dlm", "curl", "wget2")], values, size / (1 << 20), "MiB")


@case("calls-small", "System calls of files of 16 KiB over http")
def small(bench, result):
    result.about = "The start of the process, divided by the number of files, is part of it. One run."
    names = bench.content.small_files(bench.scaled(2000, 10))
    plain, curl = bench.content.lists(names)
    tools = [Tools(bench).get("-i", "{list}"), *list_peers()]
    values = {"dlm": bench.binary, "list": plain, "curl_list": curl}
    _tell(bench, result, [one for one in tools if one.name in ("dlm", "curl", "wget2")], values, len(names), "file")
