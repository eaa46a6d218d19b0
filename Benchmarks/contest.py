"""Several programs that do the same work in turn: A B C, A B C, ..."""

import os
import re
import shutil
from dataclasses import dataclass, field
from statistics import median

from content import digest
from measure import run
from workbench import Failed


@dataclass
class Contestant:
    """A program, its command line with placeholders like {url}, and the costs of its runs.

    All runs share the folder `home` if it is given. Otherwise each run has a new home."""

    name: str
    command: list
    kind: str = "peer"
    home: str = ""
    runs: list = field(default_factory=list)
    failure: str = ""
    failed: int = 0

    def shown(self):
        """Returns the command line for the page: placeholders in capitals, no paths of this machine."""
        return " ".join(_shown(word) for word in self.command)

    def middle(self, what):
        return median(getattr(r, what) for r in self.runs)


def _shown(word):
    if word in ("{dlm}", "{floor}"):
        return word.strip("{}")
    word = re.sub(r"\{(\w+)\}", lambda match: match.group(1).upper(), word)
    return f"'{word}'" if " " in word or ";" in word else word


@dataclass
class Hooks:
    """Functions that are called around each run, outside the measured time.

    `before(turn)` prepares the run. `verify(folder)` returns what is wrong with the result, or None. `after(run, turn)` adds a
    figure to the run."""

    before: object = None
    verify: object = None
    after: object = None


def contest(bench, contestants, values, hooks=Hooks(), rounds=None, limit=300, on_disk=False):
    """Runs each contestant once a round, each time in a new folder. The first round is a warm-up and does not count.

    `values` fills the placeholders. Runs that fail do not count. A contestant whose first counted run fails, or that fails
    three times, is not run again."""
    for turn in range(1 + (rounds or bench.rounds)):
        for one in contestants:
            if one.failed >= 3 or (one.failed and not one.runs and turn > 1):
                continue
            result = _once(bench, one, values, hooks, turn, limit, on_disk)
            if turn > 0 and result:
                one.runs.append(result)
    return contestants


def _once(bench, one, values, hooks, turn, limit, on_disk):
    state = bench.fresh("h")
    folder = os.path.join(bench.disk() if on_disk else state, "out")
    os.makedirs(folder)
    try:
        if on_disk:
            os.sync()
        if hooks.before:
            hooks.before(turn)
        served = bench.server_cpu()
        result = run(bench, [word.format(**values) for word in one.command], folder, one.home or state, limit)
        result.server = bench.server_cpu() - served
        if result.status != 0:
            last = (result.output.strip().splitlines() or ["no message"])[-1]
            raise Failed(f"exit status {result.status}: {last[:200]}")
        wrong = hooks.verify(folder) if hooks.verify else None
        if wrong:
            raise Failed(f"exit status 0, but {wrong}")
        if hooks.after:
            hooks.after(result, turn)
        result.output = ""
        return result
    except Failed as error:
        one.failed += 1
        one.failure = str(error).replace(bench.folder, "")
        return None
    finally:
        shutil.rmtree(state, ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)


def one_file(bench, name):
    """Returns a `verify` function: the folder must have one file, with the digest of the content of this name."""
    def verify(folder):
        found = os.listdir(folder)
        if len(found) != 1:
            return f"{len(found)} files"
        if digest(os.path.join(folder, found[0])) != bench.content.digest(name):
            return "another digest"
        return None

    return verify
