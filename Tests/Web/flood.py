"""Tests dlm with thousands of connections, slow clients and floods of frames while downloads run. Usage: flood.py DLM"""

import errno
import http.client
import os
import resource
import select
import socket
import sys
import threading
import time

from bench import Bench, wait

CONNECTIONS = 10_000
# The memory, in MiB, and the descriptors that the session may need in addition during the flood.
MEMORY, DESCRIPTORS = 150, 150


def pid_of(bench):
    with open(bench.home + "/state/dlm/sessions/background.lock") as file:
        return int(file.read().split()[0])


def memory(pid):
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS")) / 1024


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def get(port, path, secret=None, timeout=60):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        connection.request("GET", path, headers={"Authorization": f"Bearer {secret}"} if secret else {})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


class Watch:
    """Records the maximum memory and the maximum number of descriptors of the session."""

    def __init__(self, pid):
        self.pid, self.memory, self.descriptors, self.is_over = pid, 0, 0, False
        self.thread = threading.Thread(target=self.look)
        self.thread.start()

    def look(self):
        while not self.is_over:
            self.memory = max(self.memory, memory(self.pid))
            self.descriptors = max(self.descriptors, descriptors(self.pid))
            time.sleep(0.05)

    def end(self):
        self.is_over = True
        self.thread.join()


def slowloris(port, seconds):
    """Opens connections by the thousand, and sends a byte of a request now and then."""
    head = b"POST /jsonrpc HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100000\r\n"
    sockets, ends = [], time.monotonic() + seconds
    for number in range(CONNECTIONS):
        one = socket.socket()
        one.setblocking(False)
        # Several addresses together have more ports than one.
        one.bind((f"127.0.0.{2 + number % 50}", 0))
        code = one.connect_ex(("127.0.0.1", port))
        assert code in (0, errno.EINPROGRESS), os.strerror(code)
        sockets.append(one)
    sent = {one: 0 for one in sockets}
    connected = set()
    while time.monotonic() < ends:
        poll = select.poll()
        for one in sockets:
            if one.fileno() >= 0:
                poll.register(one, select.POLLOUT)
        names = {one.fileno(): one for one in sockets if one.fileno() >= 0}
        for descriptor, event in poll.poll(1000):
            one = names[descriptor]
            try:
                if event & (select.POLLERR | select.POLLHUP):
                    one.close()
                    continue
                one.send(head[sent[one] % len(head):][:1])
                sent[one] += 1
                connected.add(one)
            except OSError:
                one.close()
        time.sleep(0.3)
    for one in sockets:
        one.close()
    return len(connected)


def web_socket(port, fields=""):
    one = socket.create_connection(("127.0.0.1", port), timeout=30)
    one.sendall((f"GET /jsonrpc HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                 f"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n{fields}\r\n").encode())
    head = b""
    while b"\r\n\r\n" not in head:
        piece = one.recv(4096)
        assert piece, head
        head += piece
    return one, head.split(b" ")[1]


def frame(payload, opcode=1, length=None):
    count = len(payload) if length is None else length
    head = bytes([0x80 | opcode])
    if count < 126:
        head += bytes([0x80 | count])
    elif count < 65536:
        head += bytes([0x80 | 126]) + count.to_bytes(2, "big")
    else:
        head += bytes([0x80 | 127]) + count.to_bytes(8, "big")
    return head + bytes(4) + payload


def send_all(one, data, times):
    """Sends until the server closes the connection, or accepts no more bytes for five seconds."""
    one.settimeout(5)
    sent = 0
    try:
        for _ in range(times):
            one.sendall(data)
            sent += len(data)
    except OSError:
        pass
    one.close()
    return sent


def frames(bench):
    ping, call = frame(b"p" * 120, 9), frame(b'{"id":1,"method":"system.listMethods"}')
    threads = []
    for data, times in [(ping, 300_000), (call, 300_000), (frame(b"[" * 1_000_000), 50), (frame(b"", 2, 1 << 40), 1),
                        (frame(b"x" * 10, 1, 500_000), 1), (os.urandom(1000), 100)]:
        one, status = web_socket(bench.port)
        assert status == b"101", status
        threads.append(threading.Thread(target=send_all, args=(one, data, times)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive(), "a flood of frames does not end"


def bodies(bench):
    """Sends requests that are too large, and requests whose answers nobody reads."""
    for head in [b"Content-Length: 99999999999999999999", b"Content-Length: 3000000", b"Transfer-Encoding: chunked"]:
        one = socket.create_connection(("127.0.0.1", bench.port), timeout=30)
        one.sendall(b"POST /jsonrpc HTTP/1.1\r\nHost: 127.0.0.1\r\n" + head + b"\r\n\r\n")
        send_all(one, b"100000\r\n" + b"x" * 0x100000 + b"\r\n", 20)
    one = socket.create_connection(("127.0.0.1", bench.port), timeout=30)
    send_all(one, b"GET /page.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 200_000)


def main():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < CONNECTIONS + 1000:
        print(f"left out: the flood, because this process may not have {CONNECTIONS} connections (ulimit -n)")
        return
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    bench = Bench(os.path.abspath(sys.argv[1]))
    try:
        pid = pid_of(bench)
        before = memory(pid), descriptors(pid)
        bench.run("get", "-b", "-x", "1", "-d", bench.downloads, *[f"{bench.files}/slow/{number}" for number in range(3)])
        watch = Watch(pid)
        flood = []
        thread = threading.Thread(target=lambda: flood.append(slowloris(bench.port, 15)))
        thread.start()
        answered = []
        # The first request waits behind the new connections and may take long, but both must be answered.
        for _ in range(2):
            begun = time.monotonic()
            status, _ = get(bench.port, "/v1/session", bench.secret, 120)
            assert status == 200, status
            answered.append(time.monotonic() - begun)
        thread.join()
        begun = time.monotonic()
        assert get(bench.port, "/v1/session", bench.secret)[0] == 200
        after = time.monotonic() - begun
        print(f"ok: {CONNECTIONS} connections, of which {flood[0]} were accepted and sent bytes slowly: a command was answered "
              f"after {max(answered):.1f} s meanwhile, {after:.2f} s afterwards", flush=True)
        frames(bench)
        print("ok: floods of pings, calls, deep documents, endless frames and noise", flush=True)
        bodies(bench)
        print("ok: endless bodies, and answers that nobody reads", flush=True)
        for number in range(3):
            wait("the downloads finish", lambda: os.path.exists(f"{bench.downloads}/{number}"), 60)
            assert os.path.getsize(f"{bench.downloads}/{number}") == 4_000_000
        print("ok: the downloads that went on meanwhile are whole", flush=True)
        watch.end()
        grown = watch.memory - before[0], watch.descriptors - before[1]
        assert grown[0] < MEMORY and grown[1] < DESCRIPTORS, (before, watch.memory, watch.descriptors)
        print(f"ok: at most {grown[0]:.0f} MiB and {grown[1]} descriptors more than before", flush=True)
    finally:
        bench.end()


main()
