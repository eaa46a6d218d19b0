"""Several programs at the same work, in turn: A B C, A B C, ..."""

import os
import shutil
from dataclasses import dataclass, field
from statistics import median

from measure import run
from workbench import Failed


@dataclass
class Contestant:
    """A program, its command line with placeholders like {url}, and what its runs cost."""

    name: str
    command: list
    kind: str = "peer"
    runs: list = field(default_factory=list)
    failure: str = ""
    first_byte: list = field(default_factory=list)

    def shown(self):
        """The command line for people: placeholders in capitals, no path of this machine."""
        words = [word.replace("{", "").replace("}", "").upper() if word.startswith("{") else _shown(word)
                 for word in self.command]
        return " ".join(words)

    def middle(self, what):
        return median(getattr(r, what) for r in self.runs)


def _shown(word):
    import re

    word = re.sub(r"\{(\w+)\}", lambda match: match.group(1).upper(), word)
    return f"'{word}'" if " " in word or ";" in word else word


def contest(bench, contestants, values, verify=None, rounds=None, warm=1, limit=300, on_disk=False, prepare=None):
    """Lets each contestant run once a round, each time in a new folder and with a new home. The first round only warms up.

    `values` fills the placeholders; `verify(folder)` says what is wrong with the result. Who fails is out.
    `prepare()` comes before each run, outside the measured time."""
    for turn in range(warm + (rounds or bench.rounds)):
        for one in contestants:
            if one.failure:
                continue
            result = _once(bench, one, values, verify, limit, on_disk, prepare)
            if turn >= warm and result:
                one.runs.append(result)
    return contestants


def _once(bench, one, values, verify, limit, on_disk, prepare):
    state = bench.fresh("h")
    folder = os.path.join(bench.disk(), "out") if on_disk else os.path.join(state, "out")
    os.makedirs(folder)
    try:
        if on_disk:
            os.sync()
        if prepare:
            prepare()
        result = run(bench, [word.format(**values) for word in one.command], folder, state, limit)
        if result.status != 0:
            last = (result.output.strip().splitlines() or ["no message"])[-1]
            raise Failed(f"exit status {result.status}: {last[:200]}")
        wrong = verify(folder) if verify else None
        if wrong:
            raise Failed(f"wrong result: {wrong}")
        result.output = ""
        return result
    except Failed as error:
        one.failure = str(error).replace(bench.folder, "")
        one.runs = []
        return None
    finally:
        shutil.rmtree(state, ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)


def one_file(bench, name):
    """A check for `contest`: the folder has one file, with the digest of the content of this name."""
    from content import digest

    def verify(folder):
        found = os.listdir(folder)
        if len(found) != 1:
            return f"{len(found)} files"
        if digest(os.path.join(folder, found[0])) != bench.content.digest(name):
            return "another digest"
        return None

    return verify
