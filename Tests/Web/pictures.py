"""Takes pictures of the page for docs/, and many more to look at. Usage: pictures.py DLM FOLDER DOCUMENTS"""

import http.server
import os
import re
import sys
import threading
import time

from bench import Bench, Server, use_page_files, wait
from playwright.sync_api import sync_playwright

# The last shape is that of a screen of 1280 x 1024 pixels at a zoom of 400 %.
SHAPES = {"desktop": (1280, 800), "phone": (360, 640), "zoomed": (320, 256)}
# By name: the size, the bytes per second, and the state to which the download is brought. Without bytes, the size is the status.
FILES = {
    "debian-13.1.0-amd64-netinst.iso": (790_000_000, 1_500_000, "running"),
    "europe-latest.osm.pbf": (31_000_000_000, 2_500_000, "running"),
    "prices-2026-11.csv.gz": (18_300_000, 40_000_000, "completed"),
    "gutenberg-images.tar": (900_000_000, 2_000_000, "paused"),
    "old-release.zip": (404, 0, "failed"),
    "linux-6.12.tar.xz": (503, 0, "waiting"),
}
WORDS = {"completed": "finished", "waiting": "again in"}
HOST = "http://mirror.example.org/"


class Mirror(http.server.BaseHTTPRequestHandler):
    """Answers as a proxy for every host, so that the addresses in the pictures look like real addresses."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        name = self.path.rsplit("/", 1)[1]
        size, rate, _ = FILES.get(name, (1000, 1_000_000, ""))
        if not rate:
            self.send_response(size)
            self.send_header("Retry-After", "540")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        start, end = 0, size - 1
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if asked:
            start, end = int(asked[1]), min(end, int(asked[2])) if asked[2] else end
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{end}/{size}")
        else:
            self.send_response(200)
        self.send_header("ETag", '"5f3c-61a"')
        self.send_header("Content-Length", str(end - start + 1))
        self.end_headers()
        piece = bytes(64 << 10)
        left = end - start + 1
        try:
            while left > 0:
                self.wfile.write(piece[:left])
                left -= len(piece)
                time.sleep(len(piece) / rate)
        except OSError:
            pass


class Pictures:
    def __init__(self, bench, browser, folder, documents):
        self.bench, self.browser, self.folder, self.documents = bench, browser, folder, documents

    def page(self, shape, scheme):
        width, height = SHAPES[shape]
        context = self.browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce", locale="en-GB")
        use_page_files(context, self.bench.address)
        page = context.new_page()
        page.goto(f"{self.bench.address}/#secret={self.bench.secret}")
        return page

    def take(self, page, name, document=None):
        page.mouse.move(0, 0)
        page.screenshot(path=f"{self.folder}/{name}.png")
        if document:
            if "desktop" in name:
                page.set_viewport_size({"width": 1080, "height": 720})
                page.wait_for_timeout(300)
            page.screenshot(path=f"{self.documents}/web-{document}.png")
            assert os.path.getsize(f"{self.documents}/web-{document}.png") < 130_000, document

    def each(self, name, prepare, documents={}):
        """Takes pictures of a view in both shapes and both colour schemes."""
        for shape in SHAPES:
            for scheme in ("light", "dark"):
                page = self.page(shape, scheme)
                prepare(page)
                self.take(page, f"{name}-{shape}-{scheme}", documents.get((shape, scheme)))
                page.context.close()


def rows(page, least=1):
    wait("rows", lambda: page.locator("#rows tr[data-id]").count() >= least)


def menu(page):
    rows(page, 3)
    page.locator("#rows tr", has_text="europe").focus()
    page.keyboard.press("m")
    page.get_by_role("menu").wait_for()


def busy(page):
    rows(page, 3)
    wait("a speed", lambda: "/s" in page.locator("#speed").inner_text())
    # The chart has some points then.
    page.wait_for_timeout(6000)


def details(page):
    busy(page)
    page.locator("#rows tr", has_text="debian").locator(".name").click()
    page.locator("#details h2", has_text="debian").wait_for()
    page.wait_for_timeout(500)


def adding(page):
    rows(page, 3)
    page.keyboard.press("a")
    page.get_by_label("Addresses, one a line").fill(f"{HOST}a.iso\n{HOST}b.iso")
    page.get_by_text("free").wait_for()


def options(page):
    adding(page)
    page.get_by_text("Options").click()


def removing(page):
    rows(page, 3)
    page.locator("#rows tr", has_text="prices").locator("input").check()
    page.keyboard.press("Delete")
    page.get_by_text("Also delete the file").wait_for()


def main():
    program, folder, documents = (os.path.abspath(path) for path in sys.argv[1:4])
    os.makedirs(folder, exist_ok=True)
    mirror = Server(("127.0.0.1", 0), Mirror)
    threading.Thread(target=mirror.serve_forever, daemon=True).start()
    home = "/home/me" if os.geteuid() == 0 and not os.path.exists("/home/me") else None
    bench = Bench(program, home=home, http_proxy=f"http://127.0.0.1:{mirror.server_address[1]}")
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path="/usr/lib/chromium/chromium", args=["--no-sandbox"])
            pictures = Pictures(bench, browser, folder, documents)
            for shape in SHAPES:
                context = browser.new_context(viewport=dict(zip(("width", "height"), SHAPES[shape])))
                use_page_files(context, bench.address)
                page = context.new_page()
                page.goto(bench.address)
                page.get_by_label("Secret").wait_for()
                pictures.take(page, f"login-{shape}-light")
                page.context.close()
            pictures.each("none", lambda page: page.get_by_text("No downloads yet").wait_for())
            for name, (_, _, state) in FILES.items():
                bench.run("get", "-b", "-q", "-x", "2", "-d", bench.downloads, HOST + name)
            api = pictures.page("desktop", "light")
            for name, (_, _, state) in FILES.items():
                row = api.locator("#rows tr", has_text=name)
                if state == "paused":
                    wait("some bytes", lambda: "%" in row.inner_text() and "0 %" not in row.inner_text(), 60)
                    row.focus()
                    api.keyboard.press("p")
                words = WORDS.get(state, state)
                wait(f"{name} is {words}", lambda: words in row.inner_text(), 60)
            pictures.each("six", busy, {("desktop", "light"): "list", ("phone", "dark"): "phone"})
            pictures.each("menu", menu)
            pictures.each("details", details, {("desktop", "dark"): "details"})
            pictures.each("adding", adding)
            pictures.each("options", options)
            pictures.each("removing", removing)
            pictures.each("failed", lambda page: (rows(page, 3), page.goto(f"{bench.address}/#state=failed"),
                                                  wait("one row", lambda: page.locator("#rows tr[data-id]").count() == 1)))
            pictures.each("keys", lambda page: (rows(page, 3), page.keyboard.press("?"), page.get_by_role("dialog", name="Settings and keys").wait_for()))
            with open(bench.home + "/list", "w") as file:
                file.writelines(f"{HOST}photos/img-{number:05}.jpg\n" for number in range(10_000))
            bench.run("get", "-b", "-q", "--paused", "-d", bench.downloads + "/photos", "-i", bench.home + "/list")
            pictures.each("many", lambda page: (rows(page, 3), wait("all", lambda: int(
                page.locator("[data-count=all]").inner_text().rstrip("+") or 0) > 10_000), page.wait_for_timeout(1500)),
                {("desktop", "light"): "many"})
            opened = {(shape, scheme): pictures.page(shape, scheme) for shape in SHAPES for scheme in ("light", "dark")}
            for page in opened.values():
                rows(page, 3)
                wait("all", lambda: "+" not in page.locator("[data-count=all]").inner_text(), 60)
            bench.stop()
            for (shape, scheme), page in opened.items():
                page.get_by_text("does not answer").wait_for()
                pictures.take(page, f"offline-{shape}-{scheme}", "offline" if (shape, scheme) == ("desktop", "dark") else None)
            bench.start()
            browser.close()
    finally:
        bench.end()
        mirror.shutdown()


main()
