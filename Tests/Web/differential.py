"""Makes the same calls to aria2c and to dlm, and compares the shapes of their answers. Usage: differential.py DLM"""

import base64
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

from bench import Bench, Files, wait

ARIA2 = "/usr/bin/aria2c"
SECRET = "0123456789abcdef0123456789abcdef"

# The cases in which dlm differs from aria2 on purpose, with the reasons that docs/aria2.md gives.
DIFFERENT = {
    "GET with a method": "there is no GET: a link on any web page could call it",
    "OPTIONS": "a preflight is answered 204 without a body",
    "a torrent": "BitTorrent is not supported",
    "saveSession": "everything is on disk already; aria2 refuses without a file",
    'document {"a":01}': "01 is no number of JSON (RFC 8259), and aria2 reads it as one",
    "and again": "aria2 says that there is no URI; dlm says that the GID is not unique",
}
# Fields that dlm does not have, because they are BitTorrent's.
LEFT_OUT = {"infoHash", "numSeeders", "seeder", "followedBy", "following", "belongsTo", "bittorrent"}


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Server:
    """One of the two servers, with its GIDs for the downloads of this run."""

    def __init__(self, name, address, secret):
        self.name, self.address, self.secret = name, address, secret
        self.names = {}

    def ask(self, method="POST", path="/jsonrpc", body=b""):
        request = urllib.request.Request(self.address + path, data=body or None, method=method)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                status, text = answer.status, answer.read()
        except urllib.error.HTTPError as error:
            status, text = error.code, error.read()
        try:
            return status, json.loads(text)
        except ValueError:
            return status, None

    def call(self, method, *parameters, token=True, **fields):
        first = [f"token:{self.secret}"] if token else []
        document = {"jsonrpc": "2.0", "id": "x", "method": method, "params": first + list(parameters), **fields}
        return self.ask(body=json.dumps(document).encode())

    def result(self, method, *parameters):
        return self.call(method, *parameters)[1].get("result")


def shape(value):
    """Returns the kind of a value. Numbers in texts, and GIDs, count without their values. A list has the kinds of its elements."""
    if isinstance(value, dict):
        return {key: shape(child) for key, child in sorted(value.items()) if key not in LEFT_OUT}
    if isinstance(value, list):
        return sorted({json.dumps(shape(child), sort_keys=True) for child in value})
    if isinstance(value, str):
        for name, pattern in [("gid", r"[0-9a-f]{16}"), ("session", r"[0-9a-f]{40}"), ("number", r"\d+"), ("truth", "true|false")]:
            if re.fullmatch(pattern, value):
                return name
        return "hexadecimal" if re.fullmatch("[0-9a-f]+", value) else "text"
    return type(value).__name__


def outline(answer):
    """Returns the parts of an answer that clients look at."""
    status, document = answer
    if isinstance(document, list):
        return status, [outline((None, one)) for one in document]
    if not isinstance(document, dict):
        return status, shape(document)
    parts = {"id": document.get("id"), "jsonrpc": document.get("jsonrpc")}
    if "error" in document:
        message = re.sub(r"[0-9a-f]{16}|(?<=GID )\S+", "GID", document["error"]["message"])
        # aria2 says which text it could not read; dlm says what to do.
        message = re.sub(r"(option '--[a-z-]+'\.).*", r"\1", message)
        parts["error"] = (document["error"]["code"], message)
    else:
        parts["result"] = shape(document.get("result"))
    return status, parts


class Comparison:
    def __init__(self, servers):
        self.servers = servers
        self.count, self.problems = 0, []

    def same(self, what, ask, view=outline):
        """Asks both servers, and compares the results of `view` for the two answers."""
        answers = [view(ask(server)) for server in self.servers]
        self.count += 1
        if answers[0] != answers[1] and what not in DIFFERENT:
            self.problems.append(f"{what}:\n    aria2 {answers[0]}\n    dlm   {answers[1]}")

    def holds(self, what, ask):
        """Asks both servers for an object, and checks that dlm has all fields of aria2, of the same kinds."""
        aria2, dlm = [shape(ask(server)) for server in self.servers]
        self.count += 1
        if not isinstance(aria2, dict) or not isinstance(dlm, dict):
            return self.problems.append(f"{what}: {aria2} {dlm}")
        for key, kind in aria2.items():
            if dlm.get(key) != kind and {kind, dlm.get(key)} != {"number", "hexadecimal"}:
                self.problems.append(f"{what}: {key} is {kind} in aria2, {dlm.get(key)} in dlm")


def documents(compare):
    for text in ["", "{", "3", '{"a":01}', "[]", "[3]", '{"method":"aria2.getVersion"}', '{"id":1}', '{"id":1,"method":3}',
                 '{"jsonrpc":"2.0","id":"a","method":"aria2.getVersion","params":{}}', '{"id":0,"method":"system.listMethods"}',
                 '{"id":null,"method":"system.listNotifications","params":[]}', '{"id":[1],"method":"aria2.nope","params":[]}']:
        # The names of methods are compared below.
        view = (lambda answer: (answer[0], (answer[1] or {}).get("id"))) if "system" in text else outline
        compare.same(f"document {text}", lambda server: server.ask(body=text.encode()), view)
    compare.same("an empty POST", lambda server: server.ask(body=b" "))
    compare.same("another path", lambda server: server.ask("GET", "/nothing"), lambda answer: answer[0])
    compare.same("OPTIONS", lambda server: server.ask("OPTIONS"), lambda answer: answer[0])
    compare.same("GET with a method", lambda server: server.ask("GET", "/jsonrpc?method=system.listMethods&id=1"), lambda answer: answer[0])
    compare.same("no token", lambda server: server.call("aria2.getVersion", token=False))
    compare.same("a wrong token", lambda server: server.call("aria2.getVersion", "token:wrong", token=False))
    compare.same("no such method", lambda server: server.call("aria2.nope"))
    compare.same("a batch", lambda server: server.ask(body=json.dumps([
        {"id": 1, "method": "aria2.getSessionInfo", "params": [f"token:{server.secret}"]}, 7,
        {"id": 2, "method": "aria2.tellStatus", "params": [f"token:{server.secret}", "zz"]}]).encode()))
    compare.same("multicall", lambda server: server.call("system.multicall", [
        {"methodName": "aria2.getSessionInfo", "params": [f"token:{server.secret}"]},
        {"methodName": "aria2.tellStatus", "params": [f"token:{server.secret}", "0000000000000001"]},
        {"methodName": "system.multicall", "params": [[]]}, {"foo": 1}], token=False))
    methods = [set(server.ask(body=b'{"id":1,"method":"system.listMethods"}')[1]["result"]) for server in compare.servers]
    compare.count += 1
    if not methods[0] <= methods[1]:
        compare.problems.append(f"methods that dlm lacks: {methods[0] - methods[1]}")
    told = [set(server.ask(body=b'{"id":1,"method":"system.listNotifications"}')[1]["result"]) for server in compare.servers]
    compare.count += 1
    if told[0] - told[1] != {"aria2.onBtDownloadComplete"}:
        compare.problems.append(f"notifications: {told}")


def failures(compare):
    for method, *parameters in [
            ("addUri",), ("addUri", "x"), ("addUri", []), ("addUri", ["http://127.0.0.1:9/"], 5),
            ("addUri", ["http://127.0.0.1:9/"], {}, -1), ("addUri", ["http://127.0.0.1:9/"], {"split": "x"}),
            ("addUri", ["http://127.0.0.1:9/"], {"gid": "12"}),
            ("tellStatus",), ("tellStatus", "zz"), ("tellStatus", 5), ("tellStatus", "0000000000000001"),
            ("tellWaiting", 0), ("tellWaiting", "0", 3), ("tellStopped",), ("getFiles", "0000000000000001"),
            ("getUris", "0000000000000001"), ("getServers", "0000000000000001"), ("getOption", "0000000000000001"),
            ("pause", "0000000000000001"), ("unpause", "0000000000000001"), ("remove", "0000000000000001"),
            ("forceRemove", "0000000000000001"), ("removeDownloadResult", "0000000000000001"),
            ("changeOption", "0000000000000001", {}), ("changePosition", "0000000000000001", 0, "POS_SET"),
            ("changeGlobalOption", 3), ("changeGlobalOption", {"max-concurrent-downloads": "0"}),
            ("changeUri", "0000000000000001", 1, [], [])]:
        compare.same(f"{method} {parameters}", lambda server: server.call(f"aria2.{method}", *parameters), lambda answer: (
            answer[0], answer[1]["error"]["code"]))
    compare.same("a torrent", lambda server: server.call("aria2.addTorrent", base64.b64encode(b"x").decode()))
    compare.same("saveSession", lambda server: server.call("aria2.saveSession"))


def life(compare, files):
    def gid(name):
        return lambda server: server.names[name]

    def add(name, url, **options):
        def ask(server):
            answer = server.call("aria2.addUri", [files + url], {"split": "1", **options})
            server.names[name] = answer[1]["result"]
            return answer
        return ask

    def status(server, name, *keys):
        return server.result("aria2.tellStatus", server.names[name], *([list(keys)] if keys else []))

    def until(name, state):
        for server in compare.servers:
            wait(f"{name} is {state} in {server.name}", lambda: status(server, name)["status"] == state)

    def with_gid(method, name, *parameters):
        return lambda server: server.call(f"aria2.{method}", server.names[name], *parameters)

    compare.same("addUri", add("slow", "/slow/one"))
    until("slow", "active")
    for server in compare.servers:
        wait("bytes", lambda: int(status(server, "slow")["completedLength"]) > 0 and status(server, "slow")["downloadSpeed"] != "0")
    compare.holds("tellStatus of an active one", lambda server: status(server, "slow"))
    compare.holds("its file", lambda server: status(server, "slow")["files"][0])
    compare.same("tellStatus with keys", lambda server: status(server, "slow", "gid", "status", "nothing"), shape)
    compare.same("tellActive", lambda server: server.call("aria2.tellActive", ["gid", "status", "dir"]))
    compare.same("getServers", with_gid("getServers", "slow"))
    compare.same("getUris", lambda server: shape(server.result("aria2.getUris", server.names["slow"])[0]), lambda value: value)
    compare.same("getFiles", lambda server: sorted(server.result("aria2.getFiles", server.names["slow"])[0]), lambda value: value)
    compare.same("unpause of an active one", with_gid("unpause", "slow"))
    compare.same("removeDownloadResult of an active one", with_gid("removeDownloadResult", "slow"))
    compare.same("changeOption", with_gid("changeOption", "slow", {"max-download-limit": "1M"}))
    compare.same("a bad value", with_gid("changeOption", "slow", {"max-download-limit": "x"}))
    compare.same("its option", lambda server: server.result("aria2.getOption", server.names["slow"])["max-download-limit"], str)
    compare.same("options are texts", lambda server: {
        type(value).__name__ for value in server.result("aria2.getOption", server.names["slow"]).values()}, sorted)
    compare.same("pause", with_gid("pause", "slow"))
    until("slow", "paused")
    compare.same("pause again", with_gid("pause", "slow"))
    compare.same("getServers of a paused one", with_gid("getServers", "slow"))
    compare.same("a beginning of a GID", lambda server: server.call("aria2.tellStatus", server.names["slow"][:8], ["status"]))
    for number in range(3):
        compare.same("addUri paused", add(f"held{number}", f"/small/held{number}", pause="true"))
    def order(server):
        names = {gid: name for name, gid in server.names.items()}
        return [names[one["gid"]] for one in server.result("aria2.tellWaiting", 0, 100, ["gid"]) if names[one["gid"]] != "slow"]
    compare.same("the order", order, list)
    compare.same("tellWaiting from the end", lambda server: server.call("aria2.tellWaiting", -1, 2, ["gid"]))
    compare.same("tellWaiting beyond the end", lambda server: server.call("aria2.tellWaiting", 100, 2, ["gid"]))
    compare.same("changePosition", with_gid("changePosition", "held2", 0, "POS_SET"))
    compare.same("changePosition to the end", with_gid("changePosition", "held0", 0, "POS_END"))
    compare.same("changePosition somewhere", with_gid("changePosition", "held0", 0, "FOO"))
    compare.same("the new order", order, lambda names: [name for name in names if name != "slow"])
    compare.same("changeUri", with_gid("changeUri", "held1", 1, [files + "/small/held1"], [files + "/small/b", files + "/small/c"]))
    compare.same("its URIs", lambda server: [one["uri"] for one in server.result("aria2.getUris", server.names["held1"])], list)
    compare.same("a mirror less", with_gid("changeUri", "held1", 1, [files + "/small/c", "http://x/"], []))
    compare.same("a GID of one's own", add("own", "/small/own", gid="00000000deadbeef", pause="true"))
    compare.same("and again", lambda server: server.call("aria2.addUri", [files + "/small/x"], {"gid": "00000000deadbeef"}))
    compare.same("remove of one that waits", with_gid("remove", "held2"), lambda answer: answer[0])
    compare.same("it is gone", with_gid("tellStatus", "held2"), lambda answer: answer[0])
    compare.same("a small file", add("small", "/small/two", out="two.bin"))
    until("small", "complete")
    compare.holds("tellStatus of a complete one", lambda server: status(server, "small"))
    compare.same("its numbers", lambda server: [status(server, "small")[key] for key in (
        "totalLength", "completedLength", "errorCode", "numPieces", "bitfield", "connections", "downloadSpeed")], list)
    compare.same("pause of a complete one", with_gid("pause", "small"))
    compare.same("remove of a complete one", with_gid("remove", "small"))
    compare.same("one that is not there", add("missing", "/missing/three"))
    until("missing", "error")
    compare.same("its error", lambda server: status(server, "missing", "errorCode", "status")["errorCode"], str)
    compare.holds("tellStatus of a failed one", lambda server: status(server, "missing"))
    compare.same("tellStopped", lambda server: server.call("aria2.tellStopped", -1, 1000, ["gid", "status", "errorCode"]))
    compare.same("unpause", with_gid("unpause", "slow"))
    until("slow", "active")
    compare.same("forceRemove", with_gid("forceRemove", "slow"))
    until("slow", "removed")
    compare.same("its code", lambda server: status(server, "slow", "errorCode")["errorCode"], str)
    compare.same("getGlobalStat", lambda server: server.result("aria2.getGlobalStat"), lambda value: shape(value))
    compare.same("removeDownloadResult", with_gid("removeDownloadResult", "small"))
    compare.same("purgeDownloadResult", lambda server: server.call("aria2.purgeDownloadResult"))
    compare.same("nothing is left of the ended ones", lambda server: server.call("aria2.tellStopped", 0, 100))
    compare.same("pauseAll", lambda server: server.call("aria2.pauseAll"))
    compare.same("forcePauseAll", lambda server: server.call("aria2.forcePauseAll"))
    compare.same("unpauseAll", lambda server: server.call("aria2.unpauseAll"))
    compare.same("getVersion", lambda server: sorted(server.result("aria2.getVersion")))
    compare.same("changeGlobalOption", lambda server: server.call("aria2.changeGlobalOption", {"max-overall-download-limit": "2M"}))
    compare.same("it holds", lambda server: server.result("aria2.getGlobalOption")["max-overall-download-limit"], str)
    compare.same("global options are texts", lambda server: {
        type(value).__name__ for value in server.result("aria2.getGlobalOption").values()}, sorted)
    compare.same("shutdown", lambda server: server.call("aria2.shutdown"))


def main():
    if not os.access(ARIA2, os.X_OK):
        print(f"left out: the comparison with aria2, because {ARIA2} is not installed")
        return 0
    bench = Bench(os.path.abspath(sys.argv[1]))
    folder = tempfile.mkdtemp(prefix="aria2-")
    port = free_port()
    aria2 = subprocess.Popen([
        ARIA2, "--no-conf", "--enable-rpc", f"--rpc-listen-port={port}", f"--rpc-secret={SECRET}", f"--dir={folder}", "--quiet",
        "--file-allocation=none"], stdout=subprocess.DEVNULL)
    try:
        servers = [Server("aria2", f"http://127.0.0.1:{port}", SECRET), Server("dlm", bench.address, bench.secret)]
        def listens():
            try:
                return servers[0].ask(body=b'{"id":1,"method":"system.listMethods"}')
            except OSError:
                return None
        wait("aria2 listens", listens)
        Files.found = False
        compare = Comparison(servers)
        documents(compare)
        failures(compare)
        life(compare, bench.files)
        for problem in compare.problems:
            print(problem)
        print(f"{compare.count} answers compared, {len(compare.problems)} differ; {len(DIFFERENT)} differ on purpose")
        return 1 if compare.problems else 0
    finally:
        aria2.terminate()
        aria2.wait()
        shutil.rmtree(folder)
        bench.end()


if __name__ == "__main__":
    sys.exit(main())
