"""Many downloads at once, and a long queue of downloads."""

import os
from statistics import median

from background import Background
from contest import Contestant, Hooks, contest
from registry import case
from tools import ARIA2, Tools
from workbench import Failed


@case("slow-1000", "1,000 slow downloads at once")
def slow(bench, result):
    count, rate = bench.scaled(1000, 10), 20 * 1024
    seconds = bench.seconds(20, 2)
    names = bench.content.links(count, int(rate * seconds))
    plain, _ = bench.content.lists([f"slow/{name}" for name in names])
    result.about = ("20 KiB/s each, for 20 s. curl is left out: it does 300 at most. CPU of the whole run, start and end too, "
                    "divided by these 20 s.")
    many = str(count)
    contestants = [
        Tools(bench).get("-j", many, "--max-per-host", many, "-i", "{list}"),
        Contestant("aria2c", [*ARIA2, f"-j{many}", "-x1", "-s1", "-i", "{list}"]),
        Contestant("wget2", ["wget2", "-q", "--no-hsts", "--no-robots", f"--max-threads={many}", "-i", "{list}"]),
    ]

    def after(done, turn):
        done.extra = done.cpu / seconds * 100

    hooks = Hooks(None, lambda folder: bench.content.differs(names, folder), after)
    contest(bench, contestants, {"dlm": bench.binary, "list": plain}, hooks)
    result.extra = "% of a core"
    result.add(contestants)
    result.target("CPU", result.value("dlm", "extra"), 10, "% of a core")
    result.target("peak memory", result.value("dlm", "peak"), 64, "MiB")


@case("million", "A queue of 1,000,000 downloads")
def million(bench, result):
    result.about = ("Added from standard input to a background session that runs one slow download. "
                    "Repeated while it takes less than a minute.")
    count = bench.scaled(1000000, 100)
    feed = os.path.join(bench.make("lists"), "million.txt")
    slow = bench.server.url("slow/" + bench.content.file(bench.scaled(256 << 20, 1 << 20)))
    with open(feed, "w") as file:
        file.write(slow + "\n")
        file.writelines(f"{bench.server.url('none')}/f{i:07}.bin\n" for i in range(1, count))
    adds, peaks, lists = [], [], []
    for _ in range(bench.rounds):
        session = Background(bench, "-j", "1")
        added = session.needed("get", "-q", "-b", "-i", "-", feed=feed, limit=900)
        last = [session.needed("list", "--limit", "20") for _ in range(5)]
        if last[-1].output.count("\n") < 20:
            raise Failed("dlm list does not show what was added")
        adds.append(added.wall)
        peaks.append(max(added.peak, session.peak(), *(one.peak for one in last)))
        lists.append(median(one.wall for one in last))
        session.close()
        if added.wall > 60:
            break
    result.figures.append(f"{count:,} rows, {len(adds)} times")
    result.commands += [["add", "dlm get -q -b -i - <LIST"], ["list", "dlm list --limit 20"]]
    result.target("time to add", median(adds), 10, "s")
    result.target("peak memory, of the larger process", median(peaks), 64, "MiB")
    result.target("time of `dlm list --limit 20`", median(lists), 0.1, "s")
