"""A private home for dlm, and a server that sends files at the speeds that the tests need."""

import http.server
import os
import shutil
import socketserver
import subprocess
import tempfile
import threading
import time


class Files(http.server.BaseHTTPRequestHandler):
    """Serves files: /slow/* has 4 MB at about 400 kB a second for each connection, /small/* has 1000 bytes, /missing/* does not
    exist until `found` is set, and /busy/* asks to wait for ten minutes."""

    protocol_version = "HTTP/1.1"
    found = False
    seen = []

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        Files.seen.append((self.path, dict(self.headers)))
        if self.path.startswith("/missing") and not Files.found:
            self.send_response(404)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if self.path.startswith("/busy"):
            self.send_response(503)
            self.send_header("Retry-After", "600")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        size = 4_000_000 if self.path.startswith("/slow") else 1000
        start, end = 0, size - 1
        asked = self.headers.get("Range", "")
        if asked.startswith("bytes="):
            first, last = asked[6:].split("-")
            start, end = int(first), min(end, int(last)) if last else end
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{end}/{size}")
        else:
            self.send_response(200)
        self.send_header("ETag", '"one"')
        self.send_header("Content-Length", str(end - start + 1))
        self.end_headers()
        try:
            for offset in range(start, end + 1, 40_000):
                self.wfile.write(b"x" * min(40_000, end + 1 - offset))
                if size > 1000:
                    time.sleep(0.1)
        except OSError:
            pass


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *arguments):
        pass


class Bench:
    def __init__(self, program, home=None, **environment):
        self.program = program
        self.home = home or tempfile.mkdtemp(prefix="dlm-web-")
        os.makedirs(self.home, exist_ok=True)
        self.downloads = self.home + "/downloads"
        os.mkdir(self.downloads)
        self.environment = {
            "HOME": self.home, "XDG_STATE_HOME": self.home + "/state", "XDG_CONFIG_HOME": self.home + "/config",
            "PATH": os.environ["PATH"], "LANG": "C.UTF-8", **environment,
        }
        self.server = Server(("127.0.0.1", 0), Files)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.files = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.port = None
        self.start()

    def run(self, *arguments):
        done = subprocess.run([self.program, *arguments], env=self.environment, capture_output=True, text=True)
        assert done.returncode == 0, (arguments, done.stderr)
        return done.stdout.strip()

    def start(self, *options):
        """Starts the background session, at the same port as before."""
        self.run("daemon", "start", "--rpc", "--rpc-listen", f"127.0.0.1:{self.port or 0}", "--rpc-folders", self.downloads,
                 *options)
        with open(self.home + "/state/dlm/rpc-address") as file:
            self.address = file.read().strip()
        self.port = int(self.address.rsplit(":", 1)[1])
        self.secret = self.run("rpc", "secret")

    def stop(self):
        self.run("daemon", "stop")

    def end(self):
        self.stop()
        self.server.shutdown()
        shutil.rmtree(self.home)


def use_page_files(context, address):
    """With DLM_PAGE=FOLDER, the browser gets the files of the page from this folder instead of those in the program. So a
    changed page can be tested without a build."""
    folder = os.environ.get("DLM_PAGE")
    if not folder:
        return
    types = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml", "json": "application/manifest+json"}
    policy = ("default-src 'self'; img-src 'self' data:; object-src 'none'; frame-ancestors 'none'; base-uri 'none'; "
              "form-action 'none'")

    def answer(route, request):
        name = request.url[len(address):].split("#")[0].lstrip("/") or "index.html"
        with open(f"{folder}/{name}", "rb") as file:
            route.fulfill(body=file.read(), headers={
                "Content-Type": types[name.rsplit(".", 1)[1]] + "; charset=utf-8", "Content-Security-Policy": policy,
                "Referrer-Policy": "no-referrer", "Cache-Control": "no-cache"})

    context.route(lambda url: url.startswith(address) and url[len(address):].split("#")[0].strip("/") in ["", *os.listdir(folder)], answer)


def wait(what, check, seconds=30):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        result = check()
        if result:
            return result
        time.sleep(0.05)
    raise AssertionError(f"not within {seconds} s: {what}")
