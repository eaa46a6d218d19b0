"""One large file: over one connection, to a disk, over TLS."""

import subprocess

from contest import Contestant, Hooks, contest, one_file
from registry import case
from tools import Tools

GIB = 1 << 30


def _values(bench, name, scheme, connections=1):
    from urllib.parse import urlsplit

    url = bench.server.url(name, scheme)
    return {
        "dlm": bench.binary, "url": url, "ca": bench.server.certificate, "floor": bench.compiled("floor"),
        "address": "127.0.0.1", "port": str(urlsplit(url).port), "path": "/" + name,
        "chunk": str(-(-int(name[1:]) // connections))}


def _floor():
    return Contestant("recv+pwrite", ["{floor}", "{address}", "{port}", "{path}", "file"], "floor")


def _large(bench, result, contestants, scheme="http", connections=1, on_disk=False):
    name = bench.content.file(bench.scaled(GIB, 1 << 20))
    values = _values(bench, name, scheme, connections)
    contest(bench, contestants, values, Hooks(verify=one_file(bench, name)), on_disk=on_disk)
    return result.add(contestants)


@case("http-1g", "1 GiB over http, one connection")
def http(bench, result):
    result.about = "To the memory file system. recv+pwrite is Benchmarks/floor.c: the least it can cost."
    _large(bench, result, [*Tools(bench).one_connection(), _floor()])
    result.wall_target("wall / fastest peer", "dlm", result.best_peer(), 0.85)
    result.ratio_target("CPU / bare recv+pwrite", "dlm", "recv+pwrite", 1.25, "cpu")
    result.ratio_target("CPU / curl", "dlm", "curl", 1.0, "cpu")


@case("http-1g-disk", "1 GiB over http, one connection, to a disk")
def http_disk(bench, result):
    result.about = "`sync` before each run. dlm syncs what it calls complete to the disk; the others leave that to the kernel."
    _large(bench, result, [*Tools(bench).one_connection(), _floor()], on_disk=True)


@case("tls-1g", "1 GiB over TLS 1.3, one connection")
def tls(bench, result):
    _large(bench, result, Tools(bench).one_connection(tls=True), "https")
    result.wall_target("wall / curl", "dlm", "curl", 1.0)


@case("tls-1g-4", "1 GiB over TLS 1.3, four connections")
def tls_4(bench, result):
    _large(bench, result, Tools(bench).several_connections(4, tls=True), "https", 4)
    result.wall_target("wall / fastest peer", "dlm", result.best_peer(), 0.9)


@case("http-1g-4", "1 GiB over http, four connections")
def http_4(bench, result):
    _large(bench, result, Tools(bench).several_connections(4), "http", 4)


@case("http3-256m", "256 MiB over HTTP/3, one connection and four")
def http_3(bench, result):
    features = subprocess.run(["curl", "--version"], capture_output=True, text=True, check=True).stdout
    if not bench.server.has_http3 or "HTTP3" not in features:
        result.remarks.append("Not measured: nginx and libcurl must have HTTP/3, as in Debian 13.")
        return
    result.about = "Each connection of dlm is a QUIC connection of its own. curl has one, with one stream."
    name, tools = bench.content.file(bench.scaled(GIB // 4, 1 << 20)), Tools(bench)
    contestants = [
        tools.get("--http3", "-x", "1", "-o", "file", "{url}", tls=True),
        tools.get("--http3", "-x", "4", "-o", "file", "{url}", name="dlm -x 4", tls=True),
        Contestant("curl", ["curl", "-sS", "--cacert", "{ca}", "--http3-only", "-o", "file", "{url}"]),
    ]
    contest(bench, contestants, _values(bench, name, "https"), Hooks(verify=one_file(bench, name)))
    result.add(contestants)
    result.wall_target("wall / curl", "dlm", "curl", 1.0)
