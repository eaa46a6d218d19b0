#!/usr/bin/env python3
"""A server on loopback that simulates networks and servers which limit, refuse, throttle or cut connections.

Serves one file. A law decides the speed of each connection at each moment, and which connections and requests are refused.
The limits, speeds and times of a law depend on the seed. The server prints the URL of the file. At SIGTERM the server prints
one line of JSON with statistics and ends. A GET of /__stats returns the same line, and does not count as a request."""

import argparse
import asyncio
import email.utils
import json
import math
import random
import re
import signal
import socket
import struct
import time

MIB = 1 << 20
TICK = 0.01
NAME = "three.test"
MODIFIED = email.utils.formatdate(1700000000, usegmt=True)
RESET, SILENCE = "reset", "silence"
LAWS = {}


def content(size):
    """Returns the bytes of the file. They depend on the size only, so that the same digest holds for all laws and seeds."""
    return random.Random(size).randbytes(size)


class Law:
    """The rules of a network. This class limits each connection to `cap` and all connections together to `total`.

    `draw` is the random number generator of the seed. All speeds are in bytes per second, all times in seconds. `limit` is the
    number of connections that the server accepts, for the laws that have such a number."""

    addresses = 1
    life = None
    caps, totals, limits = (1.0, 2.0), (6, 8), (2, 5)

    def __init__(self, draw):
        self.draw = draw
        self.cap = draw.uniform(*self.caps) * MIB
        self.total = self.cap * draw.uniform(*self.totals)
        self.limit = draw.randint(*self.limits)
        self.delay = draw.uniform(0, 0.04)
        self.closes = draw.random() < 0.5

    def __init_subclass__(cls):
        LAWS[re.sub(r"(?<=[a-z])(?=[A-Z0-9])|(?<=[0-9])(?=[A-Z])", "-", cls.__name__).lower()] = cls

    def admit(self, connection, others):
        """Decides at accept. Returns False if the connection is reset at once. `others` are the other open connections."""
        return True

    def answer(self, connection, others):
        """Decides at a request for bytes. Returns None to serve the request, a status and its headers, or SILENCE.

        `others` are the other connections that are being served."""
        return None

    def observe(self, now, connections, recent):
        """Is called once a tick with the open connections and a function that returns the bytes sent in the last seconds."""

    def speed(self, connection, now):
        """Returns the speed of a connection, before all connections share `total`."""
        return self.cap

    def end(self, connection):
        """Returns RESET or "close" if the connection ends now, in the middle of a response, or else None."""
        return None


class CapAndTotal(Law):
    """Each connection has a limit, and all connections together have one."""

    totals = (2.5, 5.5)


class OneTotal(Law):
    """All connections share one limit, so more connections do not help."""

    caps, totals = (4, 8), (1, 1)


class CapFalls(Law):
    """The limit of each connection falls after some seconds."""

    caps, totals = (2, 3.5), (3, 4)

    def __init__(self, draw):
        super().__init__(draw)
        self.moment, self.factor = draw.uniform(1, 3), draw.uniform(0.2, 0.4)

    def speed(self, connection, now):
        return self.cap * (self.factor if now > self.moment else 1)


class CapRises(CapFalls):
    """The limit of each connection rises after some seconds."""

    caps, totals = (0.5, 1), (8, 12)

    def __init__(self, draw):
        super().__init__(draw)
        self.moment, self.factor = draw.uniform(3, 6), draw.uniform(3, 5)


class Lots(Law):
    """Each connection draws its speed by lot. The fastest lot is 13 times the slowest."""

    caps = (0.4, 0.6)
    totals = (26, 40)

    def speed(self, connection, now):
        return self.cap * 13 ** connection.lot


class Stalls(Law):
    """Each third connection sends nothing more after 2 MiB."""

    def speed(self, connection, now):
        return 0 if connection.sent >= 2 * MIB and connection.number % 3 == self.limit % 3 else self.cap


class Resets(Law):
    """Each connection is reset after 1 to 6 MiB."""

    cut, ending = (1, 6), RESET

    def end(self, connection):
        low, high = self.cut
        return self.ending if connection.sent >= (low + (high - low) * connection.lot) * MIB else None


class CollapseByCount(Law):
    """More than `limit` open connections make all slow, to a twentieth for some seconds, again and again.

    A connection that is replaced may overlap with its successor for 0.2 s."""

    def __init__(self, draw):
        super().__init__(draw)
        self.length, self.until, self.above = draw.uniform(7, 9), 0, None

    def observe(self, now, connections, recent):
        self.above = (self.above or now) if len(connections) > self.limit else None
        if self.above is not None and now - self.above > 0.2 and now > self.until:
            self.until = now + self.length

    def speed(self, connection, now):
        return self.cap / (20 if now < self.until else 1)


class CollapseByBytes(Law):
    """All connections are slow, at a tenth, while more than `limit` are open and many bytes were sent in the last seconds."""

    limits = (2, 4)

    def __init__(self, draw):
        super().__init__(draw)
        self.window = draw.uniform(3, 5)
        self.budget = self.cap * self.window * draw.uniform(1.2, 2)
        self.slow = False

    def observe(self, now, connections, recent):
        self.slow = len(connections) > self.limit and recent(self.window) > self.budget

    def speed(self, connection, now):
        return self.cap / (10 if self.slow else 1)


class Refuse429(Law):
    """A request above `limit` is refused with 429, without Retry-After."""

    status, headers = 429, ""

    def answer(self, connection, others):
        return (self.status, self.headers) if len(others) >= self.limit else None


class Refuse503(Refuse429):
    """A request above `limit` is refused with 503. Some seeds ask for a pause of a second."""

    status, limits = 503, (1, 4)

    def __init__(self, draw):
        super().__init__(draw)
        self.headers = draw.choice(["", "Retry-After: 1\r\n"])


class Refuse403Redirect(Refuse429):
    """A redirect to a signed link, which answers 403 while another connection is served."""

    status, limits, caps, life = 403, (1, 1), (4, 7), 3600


class Expiring(Resets):
    """A redirect to a signed link that lives 2 s. Each connection is reset after 3 to 5 MiB."""

    cut, life = (3, 5), 2


class ExpiringSteady(Law):
    """A redirect to a signed link that lives 2 s. Each response ends after at most 8 MiB, by a close of the connection."""

    life = 2

    def end(self, connection):
        return "close" if connection.answered >= 8 * MIB else None


class SlowAddress(Law):
    """The name has three addresses, and one of them has a twentieth of the speed."""

    addresses = 3

    def __init__(self, draw):
        super().__init__(draw)
        # Most clients try the first address first, so the slow address is often the first one.
        self.slow = draw.choices([0, 1, 2], [3, 1, 1])[0]

    def speed(self, connection, now):
        return self.cap / (20 if connection.address == self.slow else 1)


class ResetOnConnect(Law):
    """A new connection above `limit` is reset at once."""

    def admit(self, connection, others):
        return len(others) < self.limit


class SilentNewcomer(Law):
    """A new connection above `limit` is accepted and its request is read, but nothing is ever sent."""

    def answer(self, connection, others):
        return SILENCE if len(others) >= self.limit else None


class Connection(asyncio.Protocol):
    """A connection of a client. `sent` counts its bytes of the file, `answered` those of the response that is being sent."""

    def __init__(self, server, address):
        self.server, self.address = server, address
        self.received = b""
        self.position = self.stop = 0
        self.sent = self.answered = 0
        self.credit = 0.0
        self.busy = self.body = self.silent = False

    def connection_made(self, transport):
        self.transport = transport
        peer = transport.get_extra_info("socket")
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 64 << 10)
        transport.set_write_buffer_limits(0)
        others = set(self.server.open)
        self.number, self.lot = self.server.next_lot()
        self.server.open.add(self)
        if not self.server.law.admit(self, others):
            self.server.count(RESET)
            self.reset()

    def data_received(self, data):
        self.received += data
        self.read()

    def read(self):
        """Handles the next request, if it is complete and no other one is being answered."""
        while not self.busy and b"\r\n\r\n" in self.received and not self.transport.is_closing():
            head, _, self.received = self.received.partition(b"\r\n\r\n")
            line, *fields = head.decode("latin-1").split("\r\n")
            method, target, _ = (line + "  ").split(" ", 2)
            headers = dict((name.strip().lower(), value.strip()) for name, _, value in (f.partition(":") for f in fields))
            self.server.handle(self, method, target, headers)

    def say(self, status, headers="", body=b"", head=False):
        """Sends a whole response."""
        text = f"HTTP/1.1 {status} {REASONS.get(status, '')}\r\n{headers}Content-Length: {len(body)}\r\n\r\n"
        self.transport.write(text.encode() + (b"" if head else body))

    def reset(self):
        peer = self.transport.get_extra_info("socket")
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.server.open.discard(self)
        self.transport.abort()

    def close(self):
        self.server.open.discard(self)
        self.transport.close()

    def connection_lost(self, error):
        self.server.open.discard(self)


REASONS = {200: "OK", 206: "Partial Content", 302: "Found", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
           416: "Range Not Satisfiable", 429: "Too Many Requests", 503: "Service Unavailable"}


class Server:
    """The file, its law, all connections and the statistics."""

    def __init__(self, name, seed, size):
        self.law = LAWS[name](random.Random(f"{name} {seed}"))
        self.stock = memoryview(content(size))
        self.size, self.tag = size, f'"{size}-bytes"'
        self.name, self.seed = name, seed
        self.lots = random.Random(f"lots {name} {seed}")
        self.links = {}
        self.open = set()
        self.accepted = self.requests = self.bytes = self.resets = self.most = 0
        self.refused = {}
        self.started = None
        # Each sample is of one tick: the time, the connections that are being answered, all connections, the bytes sent.
        self.samples = []

    def next_lot(self):
        self.accepted += 1
        return self.accepted, self.lots.random()

    def count(self, what):
        self.refused[what] = self.refused.get(what, 0) + 1

    def refuse(self, connection, status, headers=""):
        self.count(str(status))
        close = self.law.closes or connection.transport.is_closing()
        connection.say(status, headers + ("Connection: close\r\n" if close else ""), b"refused\n")
        if close:
            connection.close()

    def handle(self, connection, method, target, headers):
        path, _, query = target.partition("?")
        if path == "/__stats":
            self.open.discard(connection)
            return connection.say(200, "Content-Type: application/json\r\n", (self.statistics() + "\n").encode())
        self.started = self.started or time.monotonic()
        self.requests += 1
        if method not in ("GET", "HEAD"):
            return self.refuse(connection, 405)
        if path not in ("/file", "/signed"):
            return self.refuse(connection, 404)
        if self.law.life and path == "/file":
            return connection.say(302, f"Location: {self.link()}\r\n")
        if self.law.life and self.links.get(query, 0) < time.monotonic():
            return self.refuse(connection, 403)
        others = [c for c in self.open if c.body and c is not connection]
        refusal = self.law.answer(connection, others) if method == "GET" else None
        if refusal == SILENCE:
            self.count(SILENCE)
            connection.busy = connection.silent = True
        elif refusal:
            self.refuse(connection, *refusal)
        else:
            self.serve(connection, method, headers)

    def link(self):
        """Returns a new signed link. With half of the seeds the link says when it expires."""
        token = f"{self.lots.getrandbits(64):016x}"
        query = f"Expires={math.floor(time.time() + self.law.life)}&Signature={token}" if self.law.closes else f"token={token}"
        self.links[query] = time.monotonic() + self.law.life
        return f"/signed?{query}"

    def serve(self, connection, method, headers):
        """Starts a response with the file or with a range of it."""
        start, stop, status = 0, self.size, 200
        fresh = headers.get("if-range", self.tag) in (self.tag, MODIFIED)
        asked = re.fullmatch(r"bytes=(\d*)-(\d*)", headers.get("range", "")) if fresh and method == "GET" else None
        if asked and (asked[1] or asked[2]):
            start = int(asked[1]) if asked[1] else max(0, self.size - int(asked[2]))
            stop = min(int(asked[2]) + 1, self.size) if asked[1] and asked[2] else self.size
            status = 206
            if start >= stop:
                return connection.say(416, f"Content-Range: bytes */{self.size}\r\n")
        text = (f"HTTP/1.1 {status} {REASONS[status]}\r\nContent-Length: {stop - start}\r\nETag: {self.tag}\r\n"
                f"Last-Modified: {MODIFIED}\r\nAccept-Ranges: bytes\r\nContent-Type: application/octet-stream\r\n")
        if status == 206:
            text += f"Content-Range: bytes {start}-{stop - 1}/{self.size}\r\n"
        connection.busy, connection.body = True, method == "GET"
        connection.position, connection.stop, connection.answered, connection.credit = start, stop, 0, 0.0
        asyncio.get_running_loop().call_later(self.law.delay, self.begin, connection, text + "\r\n")

    def begin(self, connection, head):
        """Sends the head of a response after the delay of the law. The ticks send the body."""
        if connection in self.open:
            connection.transport.write(head.encode())
            connection.begun = True
            if not connection.body:
                connection.busy = False
                connection.read()

    async def run(self):
        """Sends the bytes of all responses, once a tick."""
        last = time.monotonic()
        while True:
            await asyncio.sleep(TICK)
            now = time.monotonic()
            passed, last = now - last, now
            if self.started is None:
                continue
            since = now - self.started
            self.most = max(self.most, len(self.open))
            before = self.bytes
            self.law.observe(since, self.open, lambda seconds: self.recent(since - seconds))
            serving = [c for c in self.open if c.body]
            speeds = [self.law.speed(c, since) for c in serving]
            share = min(1, self.law.total / max(1, sum(speeds)))
            for connection, speed in zip(serving, speeds):
                self.send(connection, speed * share, passed)
            self.samples.append((since, sum(c.busy for c in self.open), len(self.open), self.bytes - before))

    def recent(self, since):
        """Returns the number of bytes sent after a time."""
        total = 0
        for sample in reversed(self.samples):
            if sample[0] < since:
                break
            total += sample[3]
        return total

    def send(self, connection, speed, passed):
        """Sends what a connection may send in this tick. What could not be sent earlier is made up for, up to 0.25 s."""
        if not getattr(connection, "begun", False) or connection.transport.get_write_buffer_size():
            return
        connection.credit = min(connection.credit + speed * passed, speed * 0.25)
        count = min(int(connection.credit), connection.stop - connection.position)
        if count > 0:
            connection.transport.write(self.stock[connection.position:connection.position + count])
            connection.credit -= count
            connection.position += count
            connection.sent += count
            connection.answered += count
            self.bytes += count
        if connection.position == connection.stop:
            connection.busy = connection.body = connection.begun = False
            connection.read()
        elif end := self.law.end(connection):
            self.resets += 1
            connection.reset() if end == RESET else connection.close()

    def statistics(self):
        """Returns the statistics as JSON. The steady state is the second half of the time in which bytes were sent."""
        sent = [index for index, sample in enumerate(self.samples) if sample[3]]
        whole = self.samples[:sent[-1] + 1] if sent else []
        half = [s for s in whole if s[0] >= whole[-1][0] / 2]
        parameters = {name: round(value, 3) if isinstance(value, float) else value
                      for name, value in vars(self.law).items() if name not in ("draw", "until", "above")}
        return json.dumps({
            "law": self.name, "seed": self.seed, "requests": self.requests, "refusals": self.refused,
            "connections": self.accepted, "most": self.most,
            "steady": round(sum(s[1] for s in half) / max(1, len(half)), 2),
            "steady_open": round(sum(s[2] for s in half) / max(1, len(half)), 2),
            "bytes": self.bytes, "cuts": self.resets, "seconds": round(whole[-1][0], 3) if whole else 0,
            "parameters": parameters})


async def main(arguments):
    loop = asyncio.get_running_loop()
    server = Server(arguments.law, arguments.seed, arguments.size)
    port = arguments.port
    for address in range(server.law.addresses):
        listener = await loop.create_server(lambda address=address: Connection(server, address), f"127.0.0.{address + 1}", port)
        port = listener.sockets[0].getsockname()[1]
    host = NAME if server.law.addresses > 1 else "127.0.0.1"
    print(f"http://{host}:{port}/file", flush=True)
    stop = asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, stop.set)
    ticks = asyncio.ensure_future(server.run())
    ended = asyncio.ensure_future(stop.wait())
    await asyncio.wait([ticks, ended], return_when=asyncio.FIRST_COMPLETED)
    if ticks.done():
        ticks.result()
    print(server.statistics(), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("law", nargs="?", choices=list(LAWS), metavar="LAW")
    parser.add_argument("--list", action="store_true", help="Print the laws.")
    parser.add_argument("--seed", type=int, default=1, help="Draw the limits, speeds and times with this seed. Default: 1.")
    parser.add_argument("--size", type=int, default=48 * MIB, help="Serve a file of this size in bytes. Default: 48 MiB.")
    parser.add_argument("--port", type=int, default=0, help="Listen on this port. Default: a free one.")
    given = parser.parse_args()
    if given.list:
        for name, law in LAWS.items():
            print(f"{name:20} {' '.join(law.__doc__.split())}")
    elif given.law:
        asyncio.run(main(given))
    else:
        parser.error("name a law, or give --list")
