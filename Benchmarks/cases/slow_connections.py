"""Servers and networks that limit the speed of each connection, where several connections are of use."""

import sys
import time

from contest import Hooks, contest, one_file
from lanes import Lanes
from registry import case
from server import free_ports
from tools import Tools, segmenting_peers
from workbench import HERE

MIB = 1 << 20


def _contestants(bench, count, without=("wget2",)):
    tools = Tools(bench)
    contestants = [tools.get("-x", str(count), "-o", "file", "{url}")]
    if tools.knows_auto:
        contestants.append(tools.get("-x", "auto", "-o", "file", "{url}", name="dlm auto"))
    return contestants + [one for one in segmenting_peers(count) if one.name not in without]


def _note_auto(result):
    if not result.row("dlm auto"):
        result.remarks.append("`-x auto`: this dlm does not know it.")


@case("throttled", "256 MiB, 8 MiB/s for each connection, 16 connections")
def throttled(bench, result):
    name = bench.content.file(bench.scaled(256 * MIB, MIB))
    ideal = int(name[1:]) / (16 * 8 * MIB)
    result.about = (f"nginx's limit_rate. Size / allowed rate is {ideal:.2f} s; nginx gives each request some bytes ahead, "
                    "which counts for whoever asks often. wget2 is left out: its chunks take ten times as long.")
    contestants = _contestants(bench, 16)
    values = {"dlm": bench.binary, "url": bench.server.url("throttled/" + name)}
    contest(bench, contestants, values, Hooks(verify=one_file(bench, name)))
    result.add(contestants)
    wall = result.value("dlm")
    result.target("wall / (size / allowed rate)", wall / ideal if wall else None, 1.02)
    _note_auto(result)


def _network(bench, result, kind, size, count):
    """Runs a contest through the proxy, which is restarted before each run. All runs of a round have the same speeds."""
    name = bench.content.file(bench.scaled(size, MIB))
    (port,), running = free_ports(1), []

    def before(turn):
        for process in running:
            bench.end(process)
        running[:] = [bench.spawn([sys.executable, "-B", f"{HERE}/proxy.py", str(port), str(bench.server.ports["http"]), kind,
                                   str(turn)])]
        _wait_for(port, running[0])

    def after(run, turn):
        run.extra = Lanes(kind, turn).ideal(int(name[1:])) / run.wall

    contestants = _contestants(bench, count, ("wget2", "lftp"))
    values = {"dlm": bench.binary, "url": f"http://127.0.0.1:{port}/{name}"}
    contest(bench, contestants, values, Hooks(before, one_file(bench, name), after))
    for process in running:
        bench.end(process)
    result.remarks.append("wget2 and lftp are left out: their parts are fixed, and the slowest connection decides (a minute).")
    ideals = [f"{Lanes(kind, turn).ideal(int(name[1:])):.1f}" for turn in range(1, bench.rounds + 1)]
    result.figures.append(f"the ideal, round by round: {', '.join(ideals)} s")
    result.extra = "ideal / wall"
    result.add(contestants)


def _wait_for(port, process):
    """Waits until the proxy listens. A connection would start the proxy's clock, so the kernel's table is read instead."""
    wanted = f"0100007F:{port:04X} 00000000:0000 0A"
    while process.poll() is None:
        with open("/proc/net/tcp") as table:
            if wanted in table.read():
                return
        time.sleep(0.005)


@case("throttled-auto", "1 GiB, a network that gives 16 connections 8 MiB/s each")
def throttled_auto(bench, result):
    result.about = "The benchmark's own proxy: no more in all, however many connections, and nothing ahead."
    _network(bench, result, "even", 1024 * MIB, 16)
    auto = result.value("dlm auto", "extra")
    if auto:
        # With `auto`, dlm uses six of the sixteen connections: 0.375 of the ideal, less the time that the probing takes.
        result.target("`auto`, with six connections: ideal / wall", auto, 0.33, at_least=True)
    else:
        _note_auto(result)


def _uneven(bench, result, kind):
    _network(bench, result, kind, 256 * MIB, 8)
    result.target("ideal / wall", result.value("dlm", "extra"), 0.9, at_least=True)
    for peer in ("aria2c", "axel"):
        result.ratio_target(f"wall / {peer}", "dlm", peer, 1.0)
    _note_auto(result)


@case("latency-uneven", "256 MiB over eight connections of uneven speed, 50 ms each way")
def uneven(bench, result):
    result.about = "0.5, 1, 1.5, 2, 3, 4, 6 and 14 MiB/s, in another order each round."
    _uneven(bench, result, "uneven")


@case("latency-changing", "256 MiB over eight connections of changing speed, 50 ms each way")
def changing(bench, result):
    result.about = "Every 3 s another speed for each, log-normal about 4 MiB/s (median 3, sigma 0.8)."
    _uneven(bench, result, "changing")


@case("latency-stalling", "256 MiB over eight connections that change and stall, 50 ms each way")
def stalling(bench, result):
    result.about = "As before, and in one of seven of these times a connection brings nothing."
    _uneven(bench, result, "stalling")
