"""The time that passes before the first request."""

import shutil

from background import Background
from contest import Contestant, Hooks, contest
from measure import run
from origin import Origin
from registry import case
from tools import Tools

ROWS = 1000


def _full_store(bench):
    """Returns a home whose store has ROWS queued downloads."""
    names = bench.content.links(ROWS, 1 << 20)
    plain, _ = bench.content.lists([f"slow/{name}" for name in names])
    session = Background(bench, "-j", "1")
    session.needed("get", "-q", "-b", "-i", plain)
    session.close()
    return session.state


@case("start", "Starting up")
def start(bench, result):
    result.about = f"`dlm list` with an empty store, and with one of {ROWS} downloads."
    bare = [
        (Contestant("dlm --version", ["{dlm}", "--version"], "dlm"), None),
        (Contestant("dlm list, empty", ["{dlm}", "list"], "dlm"), bench.fresh("h")),
        (Contestant("dlm list, full", ["{dlm}", "list"], "dlm"), _full_store(bench)),
        (Contestant("curl --version", ["curl", "--version"]), None),
        (Contestant("wget2 --version", ["wget2", "--version"]), None),
        (Contestant("aria2c --version", ["aria2c", "--version"]), None),
        (Contestant("/bin/true", ["/bin/true"], "floor"), None),
    ]
    for turn in range(3 + bench.rounds * 8):
        for one, state in bare:
            done = run(bench, [word.format(dlm=bench.binary) for word in one.command], state or bench.home, state)
            if done.status != 0:
                one.failed, one.failure = one.failed + 1, f"exit status {done.status}"
            elif turn >= 3:
                done.output = ""
                one.runs.append(done)
    for _, state in bare:
        if state:
            shutil.rmtree(state)
    result.add([one for one, _ in bare])
    for mine in ("dlm --version", "dlm list, empty"):
        result.ratio_target(f"wall of {mine} / curl --version", mine, "curl --version", 1.6)


@case("first-byte", "From exec to the first byte of the request")
def first_byte(bench, result):
    result.about = "The moment at which a server reads the first byte; axel and aria2c ask for the head or the like first."
    origin = Origin(1)
    contestants = Tools(bench).one_file(bench.fresh("h"))

    def before(turn):
        origin.first = 0

    def after(done, turn):
        done.extra = (origin.first - done.start) * 1000

    contest(bench, contestants, {"dlm": bench.binary, "url": origin.url("one")}, Hooks(before, None, after),
            rounds=bench.rounds * 4)
    origin.close()
    result.extra = "first byte after ms"
    result.add(contestants)
