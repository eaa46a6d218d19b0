"""The result of a case, in the form in which it is saved between runs and shown on the page."""

import json
import os
import time
from dataclasses import asdict, dataclass, field
from statistics import median


@dataclass
class Target:
    """A target: a figure, its limit, and whether the figure meets the limit."""

    what: str
    value: float
    limit: float
    unit: str = ""
    at_least: bool = False

    @property
    def met(self):
        return self.value >= self.limit if self.at_least else self.value <= self.limit


@dataclass
class Result:
    """A table of contestants, lines of figures, and targets. `extra` is the heading of an additional column, or empty."""

    case: str
    title: str
    about: str = ""
    extra: str = ""
    rows: list = field(default_factory=list)
    figures: list = field(default_factory=list)
    targets: list = field(default_factory=list)
    floors: list = field(default_factory=list)
    remarks: list = field(default_factory=list)
    commands: list = field(default_factory=list)
    stamp: dict = field(default_factory=dict)

    def add(self, contestants):
        """Adds a row and a command line for each contestant."""
        for one in contestants:
            row = {"name": one.name, "kind": one.kind, "failure": one.failure, "failed": one.failed}
            if one.runs:
                for key in ("wall", "cpu", "peak", "switches", "extra", "server"):
                    numbers = [getattr(r, key) for r in one.runs]
                    row[key] = {"median": median(numbers), "min": min(numbers), "max": max(numbers)}
            self.rows.append(row)
            self.commands.append([one.name, one.shown()])
        return self

    def row(self, name):
        """Returns the row of a contestant, or None if it has no figures."""
        return next((r for r in self.rows if r["name"] == name and "wall" in r), None)

    def value(self, name, what="wall"):
        row = self.row(name)
        return row[what]["median"] if row else None

    def best_peer(self, what="wall", among=None):
        """Returns the name of the peer with the smallest figure, or None if there is no peer with figures."""
        peers = [r for r in self.rows if r["kind"] == "peer" and "wall" in r and (among is None or r["name"] in among)]
        return min(peers, key=lambda r: r[what]["median"])["name"] if peers else None

    def target(self, what, value, limit, unit="", at_least=False):
        """Adds a target if there is a figure for it, else a remark."""
        if value is None:
            self.remarks.append(f"No figure for: {what}.")
        else:
            self.targets.append(Target(what, value, limit, unit, at_least))

    def ratio_target(self, what, mine, other, limit, figure="wall"):
        """Adds a target for the ratio of two contestants."""
        a, b = self.value(mine, figure), self.value(other, figure) if other else None
        self.target(what, a / b if a is not None and b else None, limit)

    def wall_target(self, what, mine, other, limit):
        """Adds a target for a ratio of times, and the smallest ratio possible with the CPU time of the cheapest tool."""
        self.ratio_target(what, mine, other, limit)
        costs = {r["name"]: r["cpu"]["median"] + r["server"]["median"] for r in self.rows if "wall" in r}
        reference = self.value(other) if other else None
        if reference and self.value(mine):
            self.floor(what, reference, min(costs, key=costs.get))

    def floor(self, what, reference, *names):
        """Adds the smallest ratio of times that is possible on this machine.

        The work of the named rows takes at least its CPU time and the server's, divided by the number of cores.
        `reference` is the denominator of the ratio, in seconds."""
        cores = len(os.sched_getaffinity(0))
        work = sum(self.value(name, key) for name in names for key in ("cpu", "server"))
        self.floors.append(
            f"{what}: {work / cores / reference:.2f} at the least here: {' and '.join(names)} and the server take {work:.3f} s "
            f"of CPU, with {cores} cores.")

    def save(self, folder, bench, load):
        """Saves the result for the page, with the date, the load averages, the commit, the rounds and the scale."""
        self.stamp = {
            "date": time.strftime("%Y-%m-%d %H:%M", time.gmtime()), "load": load, "rounds": bench.rounds,
            "scale": bench.scale, "commit": bench.commit}
        document = asdict(self)
        document["targets"] = [asdict(t) | {"met": t.met} for t in self.targets]
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, self.case + ".json")
        with open(path + ".new", "w") as file:
            json.dump(document, file, indent=1)
        os.replace(path + ".new", path)
