"""Checks that no redirect leads to this machine with --no-rpc-private-hosts. Runs in a network namespace of its own, in
which this machine has a public address, too. Usage: private.py DLM (as root)"""

import http.server
import json
import os
import subprocess
import sys
import threading
import urllib.request

# An address of the networks for documentation (RFC 5737), which are not private.
PUBLIC = "203.0.113.7"

if os.geteuid() != 0 or not os.access("/usr/bin/unshare", os.X_OK):
    print("left out: redirects to private networks, because a network namespace needs root")
    sys.exit(0)
if len(sys.argv) < 3:
    script = f"ip link set lo up && ip address add {PUBLIC}/32 dev lo && exec '{sys.executable}' -B '{__file__}' '{sys.argv[1]}' inside"
    sys.exit(subprocess.run(["/usr/bin/unshare", "-n", "/bin/sh", "-c", script]).returncode)

from bench import Bench, Server, wait  # noqa: E402


class Secret(http.server.BaseHTTPRequestHandler):
    """A service that only this machine should reach."""

    asked = []

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        Secret.asked.append(self.path)
        self.send_response(200)
        self.send_header("Content-Length", "6")
        self.end_headers()
        self.wfile.write(b"secret")


class Redirects(http.server.BaseHTTPRequestHandler):
    """/file is a file; /to/URL is a redirect."""

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        if self.path.startswith("/to/"):
            self.send_response(302)
            self.send_header("Location", self.path[4:])
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(200)
        self.send_header("Content-Length", "4")
        self.end_headers()
        self.wfile.write(b"file")


def serve(address, handler):
    server = Server((address, 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


bench = Bench(os.path.abspath(sys.argv[1]))
try:
    hidden, public = serve("127.0.0.1", Secret), serve(PUBLIC, Redirects)

    def call(method, *parameters):
        body = {"id": 1, "method": method, "params": [f"token:{bench.secret}", *parameters]}
        request = urllib.request.Request(bench.address + "/jsonrpc", json.dumps(body).encode())
        with urllib.request.urlopen(request) as answer:
            return json.loads(answer.read())["result"]

    def end_of(url):
        gid = call("aria2.addUri", [url], {"max-tries": "1"})
        def ended():
            status = call("aria2.tellStatus", gid, ["status", "errorMessage"])
            return status if status["status"] in ("complete", "error") else None
        return wait(f"{url} ends", ended)

    local = f"http://127.0.0.1:{hidden}/"
    targets = [f"{local}a", f"http://localhost:{hidden}/b", f"http://[::ffff:127.0.0.1]:{hidden}/c", f"http://2130706433:{hidden}/d"]
    # Without the option, the attack works.
    assert end_of(f"http://{PUBLIC}:{public}/to/{targets[0]}")["status"] == "complete" and Secret.asked == ["/a"]
    bench.stop()
    bench.start("--no-rpc-private-hosts")
    Secret.asked.clear()
    assert end_of(f"http://{PUBLIC}:{public}/file")["status"] == "complete"
    for target in targets:
        for hops in (1, 2):
            url = f"http://{PUBLIC}:{public}/to/" * hops + target + f"?{hops}"
            status = end_of(url)
            assert status["status"] == "error", (url, status)
    assert Secret.asked == [], Secret.asked
    print(f"ok: {2 * len(targets)} redirects from a public address to this machine are refused; {status['errorMessage']}")
finally:
    bench.end()
