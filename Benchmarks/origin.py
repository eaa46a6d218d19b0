"""A server in this process that records when something happens. nginx does not report these times."""

import re
import socket
import threading
import time

TICK = 0.01


class Origin:
    """Answers each request with a range of a file of zeros, at `rate` bytes per second for each connection.

    Each connection has a thread. `first` and `ended` are times of time.monotonic: `first` of the first byte of a request since
    `first` was set to 0, `ended` of the last end of a connection. `open` is the number of open connections."""

    def __init__(self, size, rate=1 << 40):
        self.size = size
        self.rate = rate
        self.first = self.ended = 0.0
        self.open = 0
        self.changed = threading.Condition()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def url(self, name):
        return f"http://127.0.0.1:{self.port}/{name}"

    def wait(self, condition, limit=30):
        """Waits until the condition holds. Returns False if it does not hold within `limit` seconds."""
        with self.changed:
            return self.changed.wait_for(condition, limit)

    def close(self):
        self.listener.close()

    def _accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        with self.changed:
            self.open += 1
            self.changed.notify_all()
        try:
            with connection:
                while self._answer(connection):
                    pass
        except OSError:
            pass
        with self.changed:
            self.open -= 1
            self.ended = time.monotonic()
            self.changed.notify_all()

    def _answer(self, connection):
        request = b""
        while b"\r\n\r\n" not in request:
            piece = connection.recv(65536)
            if not piece:
                return False
            if not self.first:
                with self.changed:
                    self.first = time.monotonic()
                    self.changed.notify_all()
            request += piece
        found = re.search(rb"(?i)\r\nrange: *bytes=(\d+)-(\d*)", request)
        start = int(found.group(1)) if found else 0
        end = int(found.group(2)) if found and found.group(2) else self.size - 1
        part = f"206 Partial Content\r\nContent-Range: bytes {start}-{end}/{self.size}" if found else "200 OK"
        head = (f"HTTP/1.1 {part}\r\nContent-Length: {end - start + 1}\r\nETag: \"zeros\"\r\nAccept-Ranges: bytes\r\n"
                "Content-Type: application/octet-stream\r\n\r\n")
        connection.sendall(head.encode())
        if not request.startswith(b"HEAD"):
            self._body(connection, end - start + 1)
        return True

    def _body(self, connection, left):
        zeros = bytes(1 << 16)
        while left > 0:
            piece = min(left, len(zeros), max(1, int(self.rate * TICK)))
            connection.sendall(zeros[:piece])
            left -= piece
            if left > 0 and piece < len(zeros):
                time.sleep(TICK)
