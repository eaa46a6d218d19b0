"""How fast the proxy's connections are, from moment to moment, and the best time that allows."""

import random

MIB = 1 << 20
DELAY = 0.05
PERIOD = 3.0
COUNT = 8
UNEVEN = [0.5, 1, 1.5, 2, 3, 4, 6, 14]


class Lanes:
    """The rates of so many connections over time, decided by a kind and a seed.

    even: 16 lanes of 8 MiB/s. uneven: eight from 0.5 to 14 MiB/s, in any order. changing: eight that take another speed
    (log-normal about 4 MiB/s) every 3 s. stalling: changing, and each stands still in one of seven of these times."""

    def __init__(self, kind, seed):
        self.kind = kind
        self.random = random.Random(f"{kind} {seed}")
        self.count = 16 if kind == "even" else COUNT
        self.order = self.random.sample(UNEVEN, COUNT)
        self.drawn = []

    @property
    def delay(self):
        """Seconds each way."""
        return 0 if self.kind == "even" else DELAY

    def rate(self, lane, time):
        """Bytes per second of a lane, so many seconds after the first connection."""
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
        """The least seconds for a file: all lanes always busy, from the first byte that can come at all."""
        time, step = 4 * self.delay, 0.005
        while size > 0:
            size -= sum(self.rate(lane, time) for lane in range(self.count)) * step
            time += step
        return time
