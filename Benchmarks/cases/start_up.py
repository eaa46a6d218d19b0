"""What passes before anything happens."""

import os
import shutil

from contest import Contestant
from measure import run
from registry import case


@case("start", "Starting up")
def start(bench, result):
    result.about = "`dlm list` with an empty store."
    bare = [
        Contestant("dlm --version", ["{dlm}", "--version"], "dlm"),
        Contestant("dlm list", ["{dlm}", "list"], "dlm"),
        Contestant("curl --version", ["curl", "--version"]),
        Contestant("wget2 --version", ["wget2", "--version"]),
        Contestant("aria2c --version", ["aria2c", "--version"]),
        Contestant("/bin/true", ["/bin/true"], "floor"),
    ]
    state = bench.fresh("h")
    for turn in range(3 + bench.rounds * 8):
        for one in bare:
            done = run(bench, [word.format(dlm=bench.binary) for word in one.command], state, state)
            if done.status != 0:
                one.failure = f"exit status {done.status}"
            elif turn >= 3:
                one.runs.append(done)
    shutil.rmtree(state)
    result.add(bare)
    for mine in ("dlm --version", "dlm list"):
        result.ratio_target(f"wall of `{mine}` / `curl --version`", mine, "curl --version", 1.6)
