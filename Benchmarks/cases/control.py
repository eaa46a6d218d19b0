"""The time that a session takes to follow a command."""

import time
from statistics import median

from background import Background
from origin import Origin
from registry import case
from workbench import Failed

DOWNLOADS = 8


@case("pause-resume", "Pausing and resuming eight running downloads")
def pause_resume(bench, result):
    result.about = (f"{DOWNLOADS} downloads of 4 MiB/s run in the background. Paused is when `dlm pause --all` has returned "
                    "and the server has seen every connection close; resumed is when it reads the first new request.")
    origin = Origin(1 << 30, 4 << 20)
    session = Background(bench)
    session.needed("get", "-q", "-b", *(origin.url(f"f{i}") for i in range(DOWNLOADS)))
    _until(origin, lambda: origin.open == DOWNLOADS, "start")
    paused, resumed, whole = [], [], []
    for _ in range(bench.rounds * 2):
        time.sleep(0.7)
        done = session.needed("pause", "--all")
        _until(origin, lambda: origin.open == 0, "stop")
        paused.append(max(done.wall, origin.ended - done.start))
        origin.first = 0
        done = session.needed("resume", "--all", "--background")
        _until(origin, lambda: origin.first > 0 and origin.open == DOWNLOADS, "go on")
        resumed.append(origin.first - done.start)
        whole.append(done.wall)
    session.close()
    origin.close()
    for what, times in (("paused after", paused), ("first new request after", resumed), ("`dlm resume` took", whole)):
        result.figures.append(f"{what} {median(times) * 1000:.0f} ms ({min(times) * 1000:.0f}-{max(times) * 1000:.0f})")
    result.commands += [["pause", "dlm pause --all"], ["resume", "dlm resume --all --background"]]


def _until(origin, condition, what):
    if not origin.wait(condition):
        raise Failed(f"the downloads do not {what}")
