"""usage: proxy.py LISTEN UPSTREAM KIND SEED
Simulates a network in one process: forwards connections from the port LISTEN to the port UPSTREAM, both on loopback, with a
delay in each direction and the speeds of lanes.py. A new connection takes the lane with the fewest connections. Connections
of one lane share its speed, so all connections together have a known limit, however many there are. Bytes that the server
sends faster than that wait in front of the slow part, as in a router."""

import select
import socket
import sys
import time
from collections import deque

from lanes import Lanes

TICK = 0.004
LOOK = 1 << 20


class Way:
    """One direction of a connection. Bytes are read from `source` as the rate allows, and reach `target` after the delay."""

    def __init__(self, source, target, ready):
        self.source = source
        self.target = target
        self.pieces = deque()
        self.ready = ready
        self.ended = False

    def take(self, budget, now, delay):
        """Reads at most `budget` bytes and returns the number of bytes read."""
        if self.ended or budget < 1:
            return 0
        try:
            data = self.source.recv(min(int(budget), LOOK))
        except BlockingIOError:
            return 0
        if not data:
            self.ended = True
        self.pieces.append((max(now, self.ready) + delay, memoryview(data)))
        return len(data)

    def give(self, now):
        """Sends the bytes whose delay is over. An empty piece stands for the end of the stream."""
        while self.pieces and self.pieces[0][0] <= now:
            due, data = self.pieces[0]
            if not data:
                self.target.shutdown(socket.SHUT_WR)
            else:
                try:
                    sent = self.target.send(data)
                except BlockingIOError:
                    return
                if sent < len(data):
                    self.pieces[0] = (due, data[sent:])
                    return
            self.pieces.popleft()


class Connection:
    """A client, its connection to the server, and the two directions between them."""

    def __init__(self, client, upstream, lane, now, delay):
        self.lane = lane
        self.sockets = (client, socket.create_connection(("127.0.0.1", upstream)))
        for s in self.sockets:
            s.setblocking(False)
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # The handshake over loopback takes no time, so the first bytes of the client wait for one round trip.
        self.up = Way(*self.sockets, now + 2 * delay)
        self.down = Way(self.sockets[1], self.sockets[0], now)

    @property
    def gone(self):
        return self.up.ended or (self.down.ended and not self.down.pieces)

    def close(self):
        for s in self.sockets:
            s.close()


class Proxy:
    """All connections. Their bytes are forwarded every few milliseconds."""

    def __init__(self, listen, upstream, lanes):
        self.listener = socket.create_server(("127.0.0.1", listen), backlog=128)
        self.listener.setblocking(False)
        self.upstream = upstream
        self.lanes = lanes
        self.connections = []
        self.budgets = [0.0] * lanes.count
        self.start = None
        self.turn = 0

    def run(self):
        select.select([self.listener], [], [])
        self.start = last = time.monotonic()
        while True:
            now = time.monotonic()
            for lane in range(self.lanes.count):
                self._move(lane, now, now - last)
            for connection in [c for c in self.connections if c.gone]:
                self._drop(connection)
            # Closed connections were dropped above, so their lanes are free for new connections.
            self._accept(now)
            last = now
            time.sleep(max(0, TICK - (time.monotonic() - now)))

    def _accept(self, now):
        while True:
            try:
                client, _ = self.listener.accept()
            except BlockingIOError:
                return
            used = [sum(c.lane == lane for c in self.connections) for lane in range(self.lanes.count)]
            self.connections.append(Connection(client, self.upstream, used.index(min(used)), now, self.lanes.delay))

    def _move(self, lane, now, passed):
        rate = self.lanes.rate(lane, now - self.start)
        self.budgets[lane] = min(self.budgets[lane] + rate * passed, rate * (passed + 0.02))
        sharing = [c for c in self.connections if c.lane == lane]
        self.turn += 1
        first = self.turn % max(1, len(sharing))
        sharing = sharing[first:] + sharing[:first]
        for index, connection in enumerate(sharing):
            try:
                connection.up.take(LOOK, now, self.lanes.delay)
                share = self.budgets[lane] / (len(sharing) - index)
                self.budgets[lane] -= connection.down.take(share, now, self.lanes.delay)
                connection.up.give(now)
                connection.down.give(now)
            except OSError:
                self._drop(connection)

    def _drop(self, connection):
        connection.close()
        self.connections.remove(connection)


if __name__ == "__main__":
    listen, upstream, kind, seed = sys.argv[1:]
    Proxy(int(listen), int(upstream), Lanes(kind, int(seed))).run()
