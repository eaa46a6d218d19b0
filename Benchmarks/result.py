"""What a case found out, as it is kept between runs and shown on the page."""

import json
import os
import time
from dataclasses import asdict, dataclass, field
from statistics import median


@dataclass
class Target:
    """One line of the goals: a figure, what it must be, and whether it is."""

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
    """A table of contestants (with a column named `extra`, if any), some lines of figures, and targets."""

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
        """Takes over a table's rows and the command lines."""
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
        """The row of a contestant that has figures, or nothing."""
        return next((r for r in self.rows if r["name"] == name and "wall" in r), None)

    def value(self, name, what="wall"):
        row = self.row(name)
        return row[what]["median"] if row else None

    def best_peer(self, what="wall"):
        """The name of the peer with the smallest figure, or nothing."""
        peers = [r for r in self.rows if r["kind"] == "peer" and "wall" in r]
        return min(peers, key=lambda r: r[what]["median"])["name"] if peers else None

    def target(self, what, value, limit, unit="", at_least=False):
        """Adds a target when there is a figure for it."""
        if value is None:
            self.remarks.append(f"No figure for: {what}.")
        else:
            self.targets.append(Target(what, value, limit, unit, at_least))

    def ratio_target(self, what, mine, other, limit, figure="wall"):
        """A target for the ratio of two contestants."""
        a, b = self.value(mine, figure), self.value(other, figure) if other else None
        self.target(what, a / b if a is not None and b else None, limit)

    def wall_target(self, what, mine, other, limit):
        """A target for a ratio of times, and the least that it could be with what the cheapest tool costs."""
        self.ratio_target(what, mine, other, limit)
        costs = {r["name"]: r["cpu"]["median"] + r["server"]["median"] for r in self.rows if "wall" in r}
        reference = self.value(other) if other else None
        if reference and self.value(mine):
            self.floor(what, reference, min(costs, key=costs.get))

    def floor(self, what, reference, *names):
        """How small a ratio of times can be on this machine: work takes at least its CPU, and the server's, divided by the
        number of cores. The work is that of these rows together; `reference` is what the ratio divides by, in seconds."""
        cores = len(os.sched_getaffinity(0))
        work = sum(self.value(name, key) for name in names for key in ("cpu", "server"))
        self.floors.append(
            f"{what}: {work / cores / reference:.2f} at the least here: {' and '.join(names)} and the server take {work:.3f} s "
            f"of CPU, with {cores} cores.")

    def save(self, folder, bench, load):
        """Keeps it for the page, with the moment, the load, and what was measured with what."""
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
