"""The speeds of the proxy's connections over time, and the shortest time that a download can take with them."""

import random

MIB = 1 << 20
DELAY = 0.05
PERIOD = 3.0
COUNT = 8
UNEVEN = [0.5, 1, 1.5, 2, 3, 4, 6, 14]


class Lanes:
    """The rates of several lanes over time. A lane is the path of one connection. `kind` and `seed` decide the rates.

    even: 16 lanes of 8 MiB/s. uneven: eight lanes from 0.5 to 14 MiB/s, in random order. changing: eight lanes, each with a
    new speed every 3 s (log-normal, mean about 4 MiB/s). stalling: as changing, but on average each lane stops in one of seven
    of these periods."""

    def __init__(self, kind, seed):
        self.kind = kind
        self.random = random.Random(f"{kind} {seed}")
        self.count = 16 if kind == "even" else COUNT
        self.order = self.random.sample(UNEVEN, COUNT)
        self.drawn = []

    @property
    def delay(self):
        """The delay in each direction, in seconds."""
        return 0 if self.kind == "even" else DELAY

    def rate(self, lane, time):
        """Returns the rate of a lane in bytes per second. `time` is in seconds since the first connection."""
        if self.kind == "even":
            return 8 * MIB
        if self.kind == "uneven":
            return self.order[lane] * MIB
        period = int(time / PERIOD)
        while len(self.drawn) <= period:
            self.drawn.append([self._draw() for _ in range(COUNT)])
        return self.drawn[period][lane]

    def _draw(self):
        speed = self.random.lognormvariate(0, 0.8) * 3 * MIB
        stands = self.random.random() < 1 / 7
        return 0 if stands and self.kind == "stalling" else speed

    def ideal(self, size):
        """Returns the shortest time for a file in seconds, with all lanes always busy after the earliest first byte."""
        time, step = 4 * self.delay, 0.005
        while size > 0:
            size -= sum(self.rate(lane, time) for lane in range(self.count)) * step
            time += step
        return time
