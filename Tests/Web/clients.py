"""Tests dlm with clients for aria2 from PyPI, and with the XML-RPC client of Python.

Usage: clients.py PROGRAM [NAME...]
The program is dlm, or aria2c: then the same calls go to aria2 itself, which shows that the tests ask for what aria2 does.
With names, only these clients run."""

import asyncio
import dataclasses
import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import urllib.error
import urllib.request
import xmlrpc.client

from bench import Bench, Files, Server, wait

# Checks that fail only sometimes.
SOMETIMES = {
    "the size is known when there are bytes": "right after the start, completedLength is above 0 while totalLength is still 0",
}

# The names of the methods in the clients that use other names than aria2.
NAMES = {
    "ztj": {
        "addMetalink": "add_meta_link", "unpause": "un_pause", "removeDownloadResult": "remove_result",
    },
    "aria2jrpc": {
        "tellStatus": "tel_status", "tellActive": "tel_active", "tellWaiting": "tel_waiting", "tellStopped": "tel_stopped",
    },
    "rust": {
        "multicall": "system_multicall", "listMethods": "system_list_methods", "listNotifications": "system_list_notifications",
    },
}


class Missing(Exception):
    """The client has no such function."""


class Aria2Bench:
    """aria2 itself, in place of dlm."""

    def __init__(self, program):
        self.home = tempfile.mkdtemp(prefix="aria2-web-")
        self.downloads = self.home + "/downloads"
        os.mkdir(self.downloads)
        self.environment = {"HOME": self.home, "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        self.server = Server(("127.0.0.1", 0), Files)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.files = f"http://127.0.0.1:{self.server.server_address[1]}"
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            self.port = listener.getsockname()[1]
        self.address, self.secret = f"http://127.0.0.1:{self.port}", "0123456789abcdef0123456789abcdef"
        self.process = subprocess.Popen([
            program, "--no-conf", "--enable-rpc", f"--rpc-listen-port={self.port}", f"--rpc-secret={self.secret}",
            f"--dir={self.downloads}", "--quiet", "--file-allocation=none", "--max-concurrent-downloads=16"],
            stdout=subprocess.DEVNULL)
        wait("aria2 listens", self.listens)

    def listens(self):
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", self.port)) == 0

    def end(self):
        self.process.terminate()
        self.process.wait()
        self.server.shutdown()
        shutil.rmtree(self.home)


class Report:
    """Counts the checks, and compares them with the expected failures."""

    def __init__(self, aria2):
        self.aria2 = aria2
        self.passed, self.failed, self.known, self.left_out = 0, [], [], []

    def check(self, client, what, ask):
        """Runs one check. A check fails if `ask` raises an error or returns False."""
        name = f"{client}: {what}"
        try:
            result = ask()
            problem = "False" if result is False else None
        except Missing:
            self.left_out.append(name)
            return None
        except Exception as error:  # noqa: BLE001, a client may raise anything
            result, problem = None, f"{type(error).__name__}: {str(error)[:300]}"
        reason = None if self.aria2 else SOMETIMES.get(what)
        if problem is None:
            self.passed += 1
        elif reason:
            self.known.append(name)
            print(f"known: {name}: {problem} ({reason})", flush=True)
        else:
            self.failed.append(name)
            print(f"FAILED: {name}: {problem}", flush=True)
        return result

    def end(self):
        print(f"{len(self.left_out)} checks left out, because the client has no such function; {len(self.known)} known failures")
        print(f"{self.passed} passed, {len(self.failed)} failed")
        return 1 if self.failed else 0


def equal(found, wanted):
    if found != wanted:
        raise AssertionError(f"{found!r} instead of {wanted!r}")


def holds(condition, found):
    if not condition:
        raise AssertionError(f"unexpected: {found!r}")


def snake(name):
    return re.sub("[A-Z]", lambda match: "_" + match.group().lower(), name)


def plain(value):
    """Returns dataclasses as the objects that the server sent, without fields that are not there."""
    if dataclasses.is_dataclass(value):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return {re.sub("_([a-z])", lambda match: match.group(1).upper(), key): plain(child)
                for key, child in fields.items() if child is not None}
    if isinstance(value, list):
        return [plain(child) for child in value]
    return value


class Client:
    """Calls the functions of a package by the names of aria2's methods."""

    # The package has no parameter for the keys of a status.
    no_keys = False
    # The package sends the secret in front of the list of calls. aria2 and dlm answer «The parameter at 0 has wrong type.»
    multicall_fails = False
    is_xml = False
    # The error of the package, if it does not show the message of the server.
    error = None

    def __init__(self, name, package, names=None, style=str):
        self.name, self.package, self.names, self.style = name, package, names or {}, style
        self.heard = []

    def call(self, method, *parameters):
        function = getattr(self.package, self.names.get(method, self.style(method)), None)
        if function is None:
            raise Missing
        return plain(function(*parameters))

    def close(self):
        pass


class AsyncClient(Client):
    """A client whose functions are coroutines."""

    def __init__(self, name, make, names=None, style=str):
        self.loop = asyncio.new_event_loop()
        super().__init__(name, self.loop.run_until_complete(make()), names, style)

    def run(self, awaitable):
        return self.loop.run_until_complete(asyncio.wait_for(awaitable, 30))

    def call(self, method, *parameters):
        function = getattr(self.package, self.names.get(method, self.style(method)), None)
        if function is None:
            raise Missing
        return plain(self.run(function(*parameters)))

    def close(self):
        self.run(self.package.close())
        self.loop.close()


def aioaria2_http(bench, secret):
    import aioaria2

    async def make():
        return aioaria2.Aria2HttpClient(bench.address + "/jsonrpc", token=secret)
    return AsyncClient("aioaria2 over HTTP", make)


def aioaria2_websocket(bench, secret):
    import aioaria2

    heard = []

    async def make():
        client = await aioaria2.Aria2WebsocketClient.new(bench.address.replace("http", "ws") + "/jsonrpc", token=secret)
        for event in ("Start", "Pause", "Stop", "Complete", "Error"):
            async def record(_, data, event=event):
                heard.append((event, data["params"][0]["gid"]))
            client.register(record, f"aria2.onDownload{event}")
        return client
    client = AsyncClient("aioaria2 over WebSocket", make)
    client.heard = heard
    return client


def rust(scheme):
    def make_client(bench, secret):
        import aria2_rust_client

        async def make():
            return aria2_rust_client.Aria2Client(bench.address.replace("http", scheme) + "/jsonrpc", token=secret)
        name = "aria2-rust over " + {"http": "HTTP", "ws": "WebSocket"}[scheme]
        client = AsyncClient(name, make, NAMES["rust"], snake)
        client.multicall_fails = True
        return client
    return make_client


def aria2jrpc(bench, secret):
    import aria2jrpc as package

    class Fixed(package.Aria2JRPC):
        """The package sends Python's function `id` as the id of some calls, and cannot write it as JSON."""

        def _get(self, method, params=[], id=None):
            return super()._get(method, params, None if callable(id) else id)

        def add_uri(self, uris, options):
            return self._get("aria2.addUri", [uris, options])["result"]

        def change_option(self, gid, options):
            return self._get("aria2.changeOption", [gid, options])["result"]

        change_position = change_uri = get_version = get_session_info = None

        # The constructor sends all global options that the server has given back to it.
        def change_global_option(self, options, id=None):
            if isinstance(options, dict):
                return self._get("aria2.changeGlobalOption", [{**self.get_global_option(), **options}])["result"]
            return super().change_global_option(options, id)
    client = Client("aria2jrpc", Fixed(bench.address, secret), NAMES["aria2jrpc"], snake)
    # The functions for lists have no parameter for keys.
    original = client.call
    client.call = lambda method, *parameters: original(method, *(
        parameters[:{"tellStatus": 1, "tellActive": 0, "tellWaiting": 2, "tellStopped": 2}.get(method, len(parameters))]))
    client.no_keys = True
    return client


def ariarpc(kind):
    def make_client(bench, secret):
        import ariarpc as package

        class Calls:
            def __getattr__(self, method):
                place = "system" if method in ("multicall", "listMethods", "listNotifications") else "aria2"
                token = [f"token:{secret}"] if place == "aria2" else []
                if kind == "XML":
                    proxy = package.AriaXMLRPC(bench.address + "/rpc")
                    return lambda *parameters: getattr(getattr(proxy, place), method)(*token, *parameters)

                def call(*parameters):
                    return getattr(getattr(package.AriaRPC("", bench.address + "/jsonrpc"), place), method)(
                        *token, *parameters)["result"]
                return call
        client = Client(f"ariarpc with {kind}", Calls())
        client.error = "400 Bad Request" if kind == "JSON" else None
        return client
    return make_client


def aria2rpc(bench, secret):
    import aria2rpc as package

    class Both:
        """The package has two classes, and takes all parameters by their names."""

        names = {
            "addUri": ("uris", "options", "position"), "tellStatus": ("gid", "keys"), "tellActive": ("keys",),
            "tellWaiting": ("offset", "num", "keys"), "tellStopped": ("offset", "num", "keys"),
            "changePosition": ("gid", "pos", "how"), "changeOption": ("gid", "options"), "changeGlobalOption": ("options",),
            "multicall": ("methods",),
        }

        def __getattr__(self, method):
            place = package.system_rpc_api if method in ("multicall", "listMethods", "listNotifications") else package.aria2_rpc_api
            if not hasattr(place, method):
                raise AttributeError(method)
            function = getattr(place("127.0.0.1", bench.port, secret), method)
            return lambda *parameters: function(**dict(zip(self.names.get(method, ("gid",)), parameters)))
    client = Client("aria2rpc", Both())
    # The package refuses an offset of 0.
    original = client.call

    def call(method, *parameters):
        if method in ("tellWaiting", "tellStopped"):
            parameters = (-1, *parameters[1:])
        if method == "changePosition":
            raise Missing  # It leaves out a position of 0.
        return original(method, *parameters)
    client.call = call
    return client


def aria2_rpc_client(bench, secret):
    import aria2_rpc_client as package

    client = package.DefaultClient(package.DefaultConnection("127.0.0.1", str(bench.port), secret))

    class Calls:
        """The package adds options by functions, and has no keys."""

        def add_uri(self, uris, options):
            chosen = package.FileDownloadOptions()
            for key, value in options.items():
                if key == "dir":
                    chosen.set_dir(value)
                elif key == "out":
                    chosen.set_filename(value)
                elif key == "header":
                    for line in value:
                        chosen.add_header(*line.split(": ", 1))
                else:
                    chosen._options[key] = value
            return client.add_uri(uris, chosen)

        def tell_status(self, gid, keys=None):
            return client.tell_status(gid)

        def tell_active(self, keys=None):
            return client.tell_active()

        def __getattr__(self, name):
            return getattr(client, name)
    found = Client("aria2-rpc-client", Calls(), {}, snake)
    found.no_keys = True
    return found


def ztj(bench, secret):
    import ZtjAria2Rpc

    client = Client("py-ztj-aria2rpc", ZtjAria2Rpc.Aria2Rpc(bench.address + "/rpc", secret), NAMES["ztj"], snake)
    original = client.call

    def call(method, *parameters):
        if method == "tellStatus" and len(parameters) > 1:
            raise Missing
        return original(method, *parameters)
    client.call = call
    return client


def pyaria2(bench, secret):
    import pyaria2 as package

    client = Client("pyaria2", package.Aria2RPC(bench.address + "/rpc", secret))
    client.no_keys = client.multicall_fails = True
    return client


def aria2_json_rpc(bench, secret):
    import aria2_rpc as package

    client = Client("aria2-json-rpc", package.Aria2RPC("127.0.0.1", bench.port, secret))
    client.multicall_fails = True
    return client


def python_xml(bench, secret):
    class Calls:
        def __getattr__(self, method):
            place = "system" if method in ("multicall", "listMethods", "listNotifications") else "aria2"
            token = [f"token:{secret}"] if place == "aria2" else []
            proxy = xmlrpc.client.ServerProxy(bench.address + "/rpc")
            return lambda *parameters: getattr(proxy, f"{place}.{method}")(*token, *parameters)
    return Client("xmlrpc.client", Calls())


JSON_CLIENTS = [aioaria2_http, aioaria2_websocket, rust("http"), rust("ws"), aria2jrpc, ariarpc("JSON")]
XML_CLIENTS = [python_xml, pyaria2, aria2_json_rpc, aria2rpc, aria2_rpc_client, ztj, ariarpc("XML")]


def is_gid(value):
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{16}", value) is not None


def digits(value):
    return isinstance(value, str) and re.fullmatch("[0-9]+", value) is not None


def refused(ask, *words):
    """Checks that a call fails, with one of the texts in the message."""
    try:
        result = ask()
    except Missing:
        raise
    except Exception as error:  # noqa: BLE001
        text = str(error)
        if any(word in text for word in words):
            return True
        raise AssertionError(f"another error: {text[:200]}") from None
    raise AssertionError(f"no error, but {result!r}")


class Session:
    """The life of a few downloads, as one client sees it."""

    def __init__(self, report, bench, client, number):
        self.report, self.bench, self.client, self.number = report, bench, client, number
        self.folder = f"{bench.downloads}/client{number}"

    def check(self, what, ask):
        return self.report.check(self.client.name, what, ask)

    def call(self, method, *parameters):
        return self.client.call(method, *parameters)

    def refused(self, ask, *words):
        return refused(ask, self.client.error or words[0], *words[1:])

    def status(self, gid):
        return self.call("tellStatus", gid)

    def until(self, gid, *states, bytes=0):
        def reached():
            status = self.status(gid)
            return status["status"] in states and int(status["completedLength"]) >= bytes and status
        return wait(f"{gid} is {states}", reached)

    def url(self, kind, name):
        return f"{self.bench.files}/{kind}/{self.number}-{name}"

    def add(self, kind, name, **options):
        return self.call("addUri", [self.url(kind, name)], {"dir": self.folder, **options})

    def run(self):
        self.server()
        gid = self.check("addUri", lambda: self.add(
            "slow", "one", out="one name.bin", split="2", header=["X-Test: one", "Cookie: a=b; c=d"], referer="http://r.example/"))
        if not gid:
            return
        self.check("a GID has 16 digits", lambda: is_gid(gid))
        self.running(gid)
        self.pausing(gid)
        self.order()
        self.ends(gid)
        self.events(gid)
        self.results()

    def server(self):
        def version():
            found = self.call("getVersion")
            holds(isinstance(found["version"], str) and isinstance(found["enabledFeatures"], list), found)
            holds(tuple(map(int, found["version"].split("."))) >= (1, 34, 0), found)
        self.check("getVersion", version)

        def session():
            found = self.call("getSessionInfo")
            holds(re.fullmatch("[0-9a-f]{40}", found["sessionId"]), found)
        self.check("getSessionInfo", session)
        self.check("listMethods", lambda: {"aria2.addUri", "system.multicall"} <= set(self.call("listMethods")))
        self.check("listNotifications", lambda: "aria2.onDownloadStart" in self.call("listNotifications"))
        self.check("getGlobalStat", lambda: holds(
            all(map(digits, self.stat().values())) and set(self.stat()) >= {
                "downloadSpeed", "uploadSpeed", "numActive", "numWaiting", "numStopped", "numStoppedTotal"}, self.stat()))
        self.check("getGlobalOption has texts", lambda: holds(
            all(isinstance(value, str) for value in self.call("getGlobalOption").values()), self.call("getGlobalOption")))

        def change():
            equal(self.call("changeGlobalOption", {"max-overall-download-limit": "2M"}), "OK")
            equal(self.call("getGlobalOption")["max-overall-download-limit"], "2097152")
            equal(self.call("changeGlobalOption", {"max-overall-download-limit": "0"}), "OK")
            equal(self.call("getGlobalOption")["max-overall-download-limit"], "0")
        self.check("changeGlobalOption", change)

        def unchanged():
            options = self.call("getGlobalOption")
            equal(self.call("changeGlobalOption", options), "OK")
        self.check("changeGlobalOption takes what getGlobalOption gives", unchanged)

    def stat(self):
        return self.call("getGlobalStat")

    def keys(self):
        if self.client.no_keys:
            raise Missing
        return ["gid", "status", "nothing"]

    def running(self, gid):
        status = self.check("it runs", lambda: self.until(gid, "active", bytes=1))
        self.check("the size is known when there are bytes", lambda: equal(status["totalLength"], "4000000"))
        status = wait("the size is known", lambda: self.status(gid)["totalLength"] != "0" and self.status(gid))
        sent = [headers for path, headers in Files.seen if path == f"/slow/{self.number}-one"]
        self.check("header and referer are sent", lambda: equal(
            [sent[0].get(name) for name in ("X-Test", "Cookie", "Referer")], ["one", "a=b; c=d", "http://r.example/"]))

        def shape():
            equal(status["dir"], self.folder)
            equal(status["files"][0]["path"], self.folder + "/one name.bin")
            equal(status["totalLength"], "4000000")
            for key in ("totalLength", "completedLength", "uploadLength", "downloadSpeed", "uploadSpeed", "pieceLength", "numPieces",
                        "connections"):
                holds(digits(status[key]), (key, status[key]))
            holds(re.fullmatch("[0-9a-f]+", status.get("bitfield", "0")), status)
            entry = status["files"][0]
            equal((entry["index"], entry["selected"], entry["length"]), ("1", "true", "4000000"))
            holds(entry["uris"][0]["uri"] == self.url("slow", "one") and entry["uris"][0]["status"] in ("used", "waiting"), entry)
        self.check("tellStatus has what clients read", shape)
        self.check("tellStatus with keys", lambda: equal(
            self.call("tellStatus", gid, self.keys()), {"gid": gid, "status": "active"}))
        self.check("tellActive with keys", lambda: holds(
            {"gid": gid, "status": "active"} in self.call("tellActive", self.keys()), self.call("tellActive", self.keys())))
        self.check("getFiles", lambda: equal(self.call("getFiles", gid)[0]["path"], self.folder + "/one name.bin"))
        self.check("getUris", lambda: holds(
            self.call("getUris", gid)[0]["uri"] == self.url("slow", "one"), self.call("getUris", gid)))
        self.check("getServers", lambda: holds(
            self.call("getServers", gid)[0]["servers"][0]["currentUri"] == self.url("slow", "one"), self.call("getServers", gid)))

        def options():
            found = self.call("getOption", gid)
            holds(all(isinstance(value, str) for value in found.values()), found)
            wanted = {"dir": self.folder, "out": "one name.bin", "split": "2", "referer": "http://r.example/"}
            equal({key: found.get(key) for key in wanted}, wanted)
            holds("X-Test: one" in found.get("header", ""), found)
        self.check("getOption has the options of addUri", options)
        self.check("getOption has the defaults", lambda: holds(
            {"continue", "max-tries", "timeout", "allow-overwrite", "max-connection-per-server"} <= set(self.call("getOption", gid)),
            sorted(self.call("getOption", gid))))

        def change():
            equal(self.call("changeOption", gid, {"max-download-limit": "300K"}), "OK")
            equal(self.call("getOption", gid)["max-download-limit"], "307200")
        self.check("changeOption", change)
        self.check("changeOption with a bad value", lambda: self.refused(
            lambda: self.call("changeOption", gid, {"max-download-limit": "x"}), "max-download-limit", "We encountered a problem"))

        def many():
            client = self.client
            if client.multicall_fails:
                raise Missing
            token = [] if client.name.startswith("aioaria2") else [f"token:{self.bench.secret}"]
            found = self.call("multicall", [
                {"methodName": "aria2.tellStatus", "params": [*token, gid, ["gid"]]},
                {"methodName": "aria2.tellStatus", "params": [*token, "0000000000000001"]},
                {"methodName": "aria2.nothing", "params": [*token]}])
            equal(found[0], [{"gid": gid}])
            for one in found[1:]:
                equal(set(one), {"faultCode", "faultString"} if client.is_xml else {"code", "message"})
        self.check("multicall", many)

    def pausing(self, gid):
        def pause():
            equal(self.call("pause", gid), gid)
            self.until(gid, "paused")
        self.check("pause", pause)
        self.check("tellWaiting", lambda: holds(
            any(one["gid"] == gid and one["status"] == "paused" for one in self.call("tellWaiting", 0, 100)),
            self.call("tellWaiting", 0, 100)))
        self.check("tellWaiting with keys", lambda: holds(
            {"gid": gid, "status": "paused"} in self.call("tellWaiting", 0, 100, self.keys()),
            self.call("tellWaiting", 0, 100, self.keys())))
        self.check("pause again", lambda: self.refused(lambda: self.call("pause", gid), "cannot be paused now"))

        def change():
            equal(self.call("changeOption", gid, {"split": "3", "max-connection-per-server": "3"}), "OK")
            found = self.call("getOption", gid)
            equal((found.get("split"), found.get("max-connection-per-server")), ("3", "3"))
        self.check("changeOption of a paused one", change)

        def unpause():
            equal(self.call("unpause", gid), gid)
            self.until(gid, "active")
        self.check("unpause", unpause)

        def force():
            equal(self.call("forcePause", gid), gid)
            self.until(gid, "paused")
            equal(self.call("unpauseAll"), "OK")
            self.until(gid, "active")
        self.check("forcePause and unpauseAll", force)

        def every():
            equal(self.call("pauseAll"), "OK")
            self.until(gid, "paused")
            equal(self.call("unpauseAll"), "OK")
            self.until(gid, "active")
        self.check("pauseAll and unpauseAll", every)

    def order(self):
        gids = [self.check(f"addUri with pause {number}", lambda: self.add("small", f"held{number}", pause="true"))
                for number in range(3)]
        if not all(gids):
            return
        self.check("they are paused", lambda: [self.until(gid, "paused") for gid in gids])

        def move():
            equal(self.call("changePosition", gids[2], 0, "POS_SET"), 0)
            found = [one["gid"] for one in self.call("tellWaiting", 0, 100)]
            equal([gid for gid in found if gid in gids], [gids[2], gids[0], gids[1]])
        self.check("changePosition", move)

        def position():
            first = self.call("addUri", [self.url("small", "front")], {"dir": self.folder, "pause": "true"}, 0)
            equal(self.call("tellWaiting", 0, 1)[0]["gid"], first)
            self.call("remove", first)
        if self.client.name not in ("pyaria2", "aria2-json-rpc", "aria2-rpc-client", "aria2jrpc", "aria2rpc"):
            self.check("addUri with a position", position)

        def uris():
            more = [self.url("small", "mirror")]
            equal(list(map(int, self.call("changeUri", gids[0], 1, [], more))), [0, 1])
            equal([one["uri"] for one in self.call("getUris", gids[0])], [self.url("small", "held0"), *more])
        if self.client.name != "aria2rpc":
            self.check("changeUri", uris)

        def remove():
            for gid in gids:
                equal(self.call("remove", gid), gid)
            holds(not {one["gid"] for one in self.call("tellWaiting", 0, 100)} & set(gids), gids)
        self.check("remove of paused ones", remove)

    def ends(self, gid):
        def remove():
            equal(self.call("remove", gid), gid)
            status = self.until(gid, "removed")
            equal(status["errorCode"], "31")
        self.check("remove", remove)
        self.small = self.check("a small file", lambda: self.add("small", "two", out="two.bin"))

        def complete():
            status = self.until(self.small, "complete")
            equal((status["errorCode"], status["completedLength"], status["totalLength"]), ("0", "1000", "1000"))
            equal(os.path.getsize(self.folder + "/two.bin"), 1000)
        self.check("it completes", complete)

        def folder():
            found = self.add("small", "folder", out="below/name.bin", pause="true")
            status = self.status(found)
            equal((status["dir"], status["files"][0]["path"]), (self.folder, self.folder + "/below/name.bin"))
            equal(self.call("getOption", found)["out"], "below/name.bin")
            self.call("remove", found)
        self.check("out with a folder", folder)
        self.missing = self.check("a missing file", lambda: self.add("missing", "three"))

        def fail():
            status = self.until(self.missing, "error")
            holds(status["errorCode"] == "3" and status["errorMessage"], status)
        self.check("it fails", fail)
        self.check("an unknown GID", lambda: self.refused(lambda: self.status("0000000000000001"), "is not found"))

        def raw_values():
            # aria2 ignores values that are neither texts nor lists: webui-aria2 sends such values.
            found = self.call("addUri", [self.url("small", "raw")], {"dir": self.folder, "split": 3, "check-certificate": True})
            self.until(found, "complete")
        if self.client.name not in ("aria2-rpc-client",):
            self.check("options that are numbers and truths", raw_values)

    def events(self, gid):
        heard = self.client.heard
        if not self.client.name.startswith("aioaria2 over WebSocket"):
            return
        wanted = [("Start", gid), ("Pause", gid), ("Stop", gid), ("Complete", self.small), ("Error", self.missing)]

        def all_heard():
            self.call("getVersion")  # The client reads events while it waits for an answer.
            return set(wanted) <= set(heard)
        self.check("notifications", lambda: wait(f"{wanted} in {heard}", all_heard, 10))

    def results(self):
        self.check("tellStopped with keys", lambda: holds(
            {"gid": self.small, "status": "complete"} in self.call("tellStopped", 0, 100, self.keys()),
            self.call("tellStopped", 0, 100, self.keys())))
        self.check("tellStopped", lambda: holds(
            {self.small, self.missing} <= {one["gid"] for one in self.call("tellStopped", 0, 100)}, self.small))

        def forget():
            equal(self.call("removeDownloadResult", self.small), "OK")
            self.refused(lambda: self.status(self.small), "is not found")
        self.check("removeDownloadResult", forget)

        def purge():
            equal(self.call("purgeDownloadResult"), "OK")
            self.refused(lambda: self.status(self.missing), "is not found")
            equal(self.stat()["numStopped"], "0")
        # The function of py-ztj-aria2rpc wants a GID, which aria2's method has not.
        if self.client.name != "py-ztj-aria2rpc":
            self.check("purgeDownloadResult", purge)


def wrong_secret(report, bench, make, good):
    """The wrong secret is refused, and clearly."""
    def ask():
        client = make(bench, "wrong")
        try:
            client.call("getGlobalStat" if client.name != "py-ztj-aria2rpc" else "getVersion")
        finally:
            client.close()
    report.check(good.name, "a wrong secret", lambda: refused(ask, good.error or "Unauthorized"))


def rust_events(report, bench):
    """aria2-rust waits for the end of a download by a WebSocket of its own, which never sends a secret."""
    import aria2_rust_client

    async def walk():
        async with aria2_rust_client.Aria2Client(bench.address + "/jsonrpc", token=bench.secret) as client:
            async with await client.subscribe_events() as events:
                waiting = []
                gid = await client.add_uri([bench.files + "/slow/rust"], {"split": "6", "max-connection-per-server": "6"})
                waiting.append((await asyncio.wait_for(events.wait_for_terminal(gid, timeout=30), 40)))
                equal(waiting[0].gid, gid)
                holds("complete" in str(waiting[0].event_type).lower(), waiting)
                await client.purge_download_result()
    report.check("aria2-rust", "it waits for the end of a download", lambda: asyncio.run(walk()))


def command_lines(report, bench):
    """The command lines of a2rpc and aria2cli-agent."""
    folder = os.path.dirname(sys.executable)
    environment = dict(bench.environment, ARIA2_AGENT_HOME=bench.home + "/agent")

    def run(*command):
        done = subprocess.run([sys.executable, folder + "/" + command[0], *command[1:]], env=environment, capture_output=True,
                              text=True, timeout=60)
        holds(done.returncode == 0, (command[3:], done.stdout[-300:], done.stderr[-300:]))
        return done.stdout

    def a2rpc(*arguments):
        return run("a2rpc", "--rpc-url", bench.address + "/jsonrpc", "--rpc-secret", bench.secret, *arguments)

    def agent(*arguments):
        return json.loads(run("aria2-agent", "--rpc-url", bench.address + "/jsonrpc", "--secret", bench.secret, *arguments))
    check = report.check
    gid = check("a2rpc", "add", lambda: a2rpc(
        "add", "-d", bench.downloads, "-o", "a2rpc.bin", "-s", "split=1", bench.files + "/slow/a2rpc").split()[-1])
    check("a2rpc", "list", lambda: holds(f"[{gid}]" in a2rpc("list") and "a2rpc.bin" in a2rpc("list"), a2rpc("list")))
    check("a2rpc", "pause", lambda: gid in a2rpc("pause", gid))
    check("a2rpc", "resume", lambda: wait("it can be resumed", lambda: gid in a2rpc("resume", gid)))
    check("a2rpc", "remove", lambda: gid in a2rpc("remove", gid))
    check("aria2cli-agent", "version", lambda: holds(agent("version")["ok"], agent("version")))
    check("aria2cli-agent", "add and wait", lambda: holds(
        agent("add", "--dir", bench.downloads, "--out", "agent.bin", "--wait", bench.files + "/small/agent")["complete"], "no"))
    held = check("aria2cli-agent", "add with options", lambda: agent(
        "add", "--dir", bench.downloads, "--options", '{"max-download-limit": "50K"}', bench.files + "/slow/agent")["gid"])
    check("aria2cli-agent", "status", lambda: holds(agent("status", held)["status"] in ("active", "waiting"), agent("status", held)))
    check("aria2cli-agent", "pause", lambda: holds(agent("pause", held)["result"] == held, held))
    check("aria2cli-agent", "resume", lambda: wait("it can be resumed", lambda: agent("resume", held)["result"] == held))
    check("aria2cli-agent", "list", lambda: holds(isinstance(agent("list")["tasks"], list), agent("list")))
    check("aria2cli-agent", "remove", lambda: holds(agent("remove", held)["ok"], held))


def post(bench, body, **fields):
    """Posts a document to /rpc. Returns the status, the content type and the text of the answer."""
    request = urllib.request.Request(bench.address + "/rpc", data=body.encode() if isinstance(body, str) else body, method="POST",
                                     headers={"Content-Type": "text/xml", **fields})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.headers.get("Content-Type"), answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.headers.get("Content-Type"), error.read().decode()


def document(bench, method, *values, token=True):
    """Returns a call whose values are written as XML by the caller."""
    first = [f"<string>token:{bench.secret}</string>"] if token else []
    rows = "".join(f"<param><value>{value}</value></param>" for value in [*first, *values])
    return f'<?xml version="1.0"?><methodCall><methodName>{method}</methodName><params>{rows}</params></methodCall>'


def xml_values(report, bench):
    """Values of every type of XML-RPC, and documents that are none."""
    def check(what, ask):
        report.check("XML", what, ask)

    def result(*arguments, **fields):
        status, kind, text = post(bench, document(bench, *arguments, **fields))
        equal(status, 200)
        holds((kind or "").startswith("text/xml"), kind)
        return xmlrpc.client.loads(text)[0][0]

    def fault(*arguments, **fields):
        try:
            found = result(*arguments, **fields)
        except xmlrpc.client.Fault as error:
            return error
        raise AssertionError(f"no fault, but {found!r}")
    url = bench.files + "/small/xml"
    uris = f"<array><data><value><string>{url}</string></value></data></array>"

    def options(name, value):
        return f"<struct><member><name>{name}</name><value>{value}</value></member></struct>"
    paused = "<struct><member><name>pause</name><value><string>true</string></value></member></struct>"
    for integer in ("int", "i4"):
        check(f"<{integer}>", lambda: equal(  # noqa: B023, the check runs at once
            result("aria2.tellWaiting", f"<{integer}>0</{integer}>", f"<{integer}>10</{integer}>"), []))
    check("a negative <int>", lambda: equal(result("aria2.tellStopped", "<int>-1</int>", "<int>10</int>"), []))
    check("a value without a type is a text", lambda: is_gid(result(
        "aria2.addUri", f"<array><data><value>{url}1</value></data></array>", paused)))
    check("white space between elements", lambda: is_gid(result(
        "aria2.addUri", f"\n <array>\n  <data>\n <value> <string>{url}2</string> </value>\n </data> </array>\n", f" {paused}\n")))
    check("<boolean> as the value of an option", lambda: is_gid(result("aria2.addUri", uris, options(
        "pause", "<boolean>1</boolean>"))))
    # aria2 reads types that it does not know as texts, or as no value. Both are an answer.
    check("<double> as the value of an option", lambda: answered(lambda: result("aria2.addUri", uris, options(
        "split", "<double>1.5</double>")), "--split"))
    check("<i8>", lambda: answered(lambda: result("aria2.tellWaiting", "<i8>0</i8>", "<i8>1</i8>"), "parameter at 0"))

    def metalink():
        import base64
        text = (f'<metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="meta.bin"><size>1000</size><url>{url}</url>'
                '</file></metalink>')
        found = result("aria2.addMetalink", f"<base64>{base64.b64encode(text.encode()).decode()}</base64>", paused)
        holds(isinstance(found, list) and len(found) == 1 and is_gid(found[0]), found)
    check("<base64>", metalink)
    check("the empty <base64>", lambda: fault("aria2.addMetalink", "<base64></base64>") is not None)
    # Clients send <nil/> for a parameter that they leave out. aria2 skips it.
    check("<nil/> in place of the options", lambda: is_gid(result("aria2.addUri", uris.replace("/xml", "/xml4"), "<nil/>")))
    check("<nil/> in place of the position", lambda: is_gid(result("aria2.addUri", uris.replace("/xml", "/xml5"), paused, "<nil/>")))
    check("<nil/> in place of the keys", lambda: isinstance(result("aria2.tellActive", "<nil/>"), list))
    check("answers have no nil", lambda: holds("<nil" not in post(bench, document(
        bench, "aria2.tellWaiting", "<int>0</int>", "<int>100</int>"))[2], "nil"))
    check("characters", lambda: equal(
        os.path.basename(result("aria2.tellStatus", f"<string>" + result("aria2.addUri", uris.replace("/xml", "/xml3"), options(
            "out", "<string>ä &amp; &lt;b&gt; &#x20AC;.bin</string>")) + "</string>")["files"][0]["path"]), "ä & <b> €.bin"))
    check("CDATA", lambda: is_gid(result("aria2.addUri", f"<array><data><value><string><![CDATA[{url}?a=1&b=2]]></string></value>"
                                         "</data></array>", paused)))
    check("no params element", lambda: holds("aria2.addUri" in xmlrpc.client.loads(post(
        bench, "<methodCall><methodName>system.listMethods</methodName></methodCall>")[2])[0][0], "no"))
    check("system.multicall", lambda: multicall(result, bench))

    check("fault for an unknown GID", lambda: equal(
        (fault("aria2.tellStatus", "<string>0000000000000001</string>").faultCode), 1))
    check("the text of the fault", lambda: holds(
        "is not found" in fault("aria2.tellStatus", "<string>0000000000000001</string>").faultString, "no"))
    check("fault for a method", lambda: holds("No such method" in fault("aria2.nothing").faultString, "no"))
    check("fault without the secret", lambda: equal(fault("aria2.getVersion", token=False).faultString, "Unauthorized"))
    check("fault for a missing parameter", lambda: holds("required" in fault("aria2.tellStatus").faultString, "no"))
    check("fault for a wrong type", lambda: holds("wrong type" in fault("aria2.tellStatus", "<int>5</int>").faultString, "no"))

    for what, text in {
        "not XML": "nonsense", "no end": "<methodCall><methodName>system.listMethods</methodName>",
        "crossed elements": "<methodCall><methodName>aria2.getVersion</methodCall></methodName>",
        "another root": "<html></html>", "nothing": " ", "two roots": "<methodCall/><methodCall/>",
    }.items():
        check(f"malformed: {what}", lambda: refusal(bench, text))
    check("<int> without digits", lambda: refusal(bench, document(
        bench, "aria2.tellWaiting", "<int>x</int>", "<int>1</int>")))
    check("an entity bomb", lambda: refusal(bench, bomb(bench)))
    check("an external entity", lambda: external(bench))
    check("deep nesting", lambda: refusal(bench, document(
        bench, "aria2.addUri", "<array><data><value>" * 20000 + "</value></data></array>" * 20000)))
    check("3 MiB", lambda: too_long(bench))
    check("it still answers", lambda: holds(result("aria2.getVersion")["version"], "no"))
    check("GET", lambda: holds(get(bench) in (400, 404, 405), get(bench)))


def answered(ask, text):
    """Checks that there is a result, or a fault whose message has the text."""
    try:
        return ask() is not None
    except xmlrpc.client.Fault as error:
        return text in error.faultString


def multicall(result, bench):
    inner = "".join(
        f"<value><struct><member><name>methodName</name><value>{method}</value></member><member><name>params</name><value><array>"
        f"<data><value>token:{bench.secret}</value>{more}</data></array></value></member></struct></value>"
        for method, more in (("aria2.getVersion", ""), ("aria2.tellStatus", "<value>0000000000000001</value>"),
                             ("system.multicall", "<value><array><data/></array></value>")))
    found = result("system.multicall", f"<array><data>{inner}</data></array>", token=False)
    holds(found[0][0]["version"], found)
    equal([set(one) for one in found[1:]], [{"faultCode", "faultString"}] * 2)
    equal(found[1]["faultCode"], 1)


def refusal(bench, text):
    """A document is refused by a status of 4xx, or by a fault."""
    status, _, answer = post(bench, text)
    if 400 <= status < 500:
        return
    equal(status, 200)
    try:
        found = xmlrpc.client.loads(answer)
    except xmlrpc.client.Fault:
        return
    raise AssertionError(f"accepted: {found!r}")


def bomb(bench):
    entities = "".join(f'<!ENTITY e{level} "{f"&e{level - 1};" * 10}">' for level in range(1, 10))
    return (f'<?xml version="1.0"?><!DOCTYPE methodCall [<!ENTITY e0 "0123456789">{entities}]><methodCall><methodName>aria2.tellStatus'
            f"</methodName><params><param><value>token:{bench.secret}</value></param><param><value>&e9;</value></param></params>"
            "</methodCall>")


def external(bench):
    path = bench.home + "/outside"
    with open(path, "w") as file:
        file.write("0000000000000abc")
    status, _, answer = post(bench, f'<?xml version="1.0"?><!DOCTYPE m [<!ENTITY x SYSTEM "file://{path}">]><methodCall><methodName>'
                             f"aria2.tellStatus</methodName><params><param><value>token:{bench.secret}</value></param><param><value>"
                             "&x;</value></param></params></methodCall>")
    holds("0000000000000abc" not in answer and "abc" not in answer, answer)
    holds(status == 200 or 400 <= status < 500, status)


def too_long(bench):
    """aria2's limit is 2 MiB. The server may close the connection before it has read everything."""
    connection = http.client.HTTPConnection("127.0.0.1", bench.port, timeout=30)
    body = document(bench, "aria2.tellStatus", "<string>" + "x" * (3 << 20) + "</string>")
    try:
        connection.request("POST", "/rpc", body, {"Content-Type": "text/xml"})
        status = connection.getresponse().status
    except OSError:
        return
    finally:
        connection.close()
    holds(400 <= status < 500, status)


def get(bench):
    try:
        return urllib.request.urlopen(bench.address + "/rpc", timeout=30).status
    except urllib.error.HTTPError as error:
        return error.code


def main():
    program = os.path.abspath(sys.argv[1])
    only = sys.argv[2:]
    aria2 = os.path.basename(program) == "aria2c"
    bench = Aria2Bench(program) if aria2 else Bench(program)
    report = Report(aria2)
    try:
        Files.found = False
        makers = JSON_CLIENTS
        if post(bench, document(bench, "aria2.getVersion"))[0] == 404:
            print("left out: XML-RPC, because POST /rpc is answered 404")
        else:
            makers = JSON_CLIENTS + XML_CLIENTS
            if not only or "xml" in only:
                xml_values(report, bench)
                # The downloads of the values are not part of what follows.
                proxy = python_xml(bench, bench.secret)
                for one in proxy.call("tellWaiting", 0, 1000):
                    proxy.call("remove", one["gid"])
        for number, make in enumerate(makers):
            client = report.check("start", f"client {number}", lambda: make(bench, bench.secret))
            if client is None:
                continue
            if only and client.name not in only:
                client.close()
                continue
            client.is_xml = make in XML_CLIENTS
            before = report.passed, len(report.failed), len(report.known)
            Session(report, bench, client, number).run()
            client.close()
            wrong_secret(report, bench, make, client)
            after = report.passed, len(report.failed), len(report.known)
            print("{}: {} passed, {} failed, {} known".format(client.name, *[b - a for a, b in zip(before, after)]), flush=True)
        if not only:
            rust_events(report, bench)
            command_lines(report, bench)
        return report.end()
    finally:
        bench.end()


if __name__ == "__main__":
    sys.exit(main())
