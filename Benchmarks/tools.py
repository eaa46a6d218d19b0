"""The command lines of all tools, for each kind of work, with options that give each tool a fair chance."""

import subprocess

from contest import Contestant


class Tools:
    """The dlm that is measured, and the options that it knows."""

    def __init__(self, bench):
        self.dlm = bench.binary
        help_text = subprocess.run([self.dlm, "get", "--help-all"], capture_output=True, text=True, check=True,
                                   env=bench.environment()).stdout
        self.knows = lambda word: word in help_text
        self.knows_auto = "auto" in help_text.split("--connections", 1)[-1].split("--", 1)[0]
        self.trust = ["--ca-certificate", "{ca}"] if self.knows("--ca-certificate") else ["-k"]

    def get(self, *words, name="dlm", tls=False, home=""):
        """Returns `dlm get` with these options."""
        return Contestant(name, ["{dlm}", "get", "-q", *(self.trust if tls else []), *words], "dlm", home)

    def one_file(self, home):
        """Returns the tools for one small file: dlm with an existing store, dlm at its first start, and all peers."""
        return [self.get("-o", "file", "{url}", home=home), self.get("-o", "file", "{url}", name="dlm, first start"),
                *large_peers()]

    def one_connection(self, tls=False):
        """Returns the tools for one large file over one connection: dlm and all peers."""
        return [self.get("-x", "1", "-o", "file", "{url}", tls=tls), *large_peers(tls)]

    def several_connections(self, count, tls=False):
        """Returns the tools for one large file over several connections: dlm and the peers that can use several."""
        return [self.get("-x", str(count), "-o", "file", "{url}", tls=tls), *segmenting_peers(count, tls)]


def large_peers(tls=False):
    trust = _trust(tls)
    return [
        Contestant("curl", ["curl", "-sS", *trust["curl"], "-o", "file", "{url}"]),
        Contestant("wget2", ["wget2", "-q", "--no-hsts", *trust["wget"], "-O", "file", "{url}"]),
        Contestant("wget", ["wget", "-q", "--no-hsts", *trust["wget"], "-O", "file", "{url}"]),
        Contestant("aria2c", [*ARIA2, *trust["aria2c"], "-x1", "-s1", "-o", "file", "{url}"]),
        Contestant("axel", ["axel", "-q", *trust["axel"], "-n", "1", "-o", "file", "{url}"]),
        Contestant("lftp", ["lftp", "-c", trust["lftp"] + "get {url} -o file"]),
    ]


def segmenting_peers(count, tls=False):
    """Returns the peers that can use several connections. curl and wget cannot; wget2 divides a file by the size of chunks."""
    trust = _trust(tls)
    return [
        Contestant("aria2c", [*ARIA2, *trust["aria2c"], f"-x{count}", f"-s{count}", "-k1M", "-o", "file", "{url}"]),
        Contestant("axel", ["axel", "-q", *trust["axel"], "-n", str(count), "-o", "file", "{url}"]),
        Contestant("lftp", ["lftp", "-c", trust["lftp"] + f"pget -n {count} {{url}} -o file"]),
        Contestant("wget2", ["wget2", "-q", "--no-hsts", *trust["wget"], "--chunk-size={chunk}",
                             f"--max-threads={count}", "-O", "file", "{url}"]),
    ]


def list_peers(tls=False, streams=32):
    """Returns the peers for a list of small files. axel and lftp take no lists.

    Each tool has the number of connections with which it was fastest."""
    trust, threads = _trust(tls), 16 if tls else 8
    return [
        Contestant("curl", ["curl", "-sS", *trust["curl"], "--parallel", "--parallel-max", str(streams),
                            "--remote-name-all", "-K", "{curl_list}"]),
        Contestant("wget2", ["wget2", "-q", "--no-hsts", "--no-robots", *trust["wget"], f"--max-threads={threads}",
                             "-i", "{list}"]),
        Contestant("aria2c", [*ARIA2, *trust["aria2c"], f"-j{streams}", "-x1", "-s1", "-i", "{list}"]),
        Contestant("wget", ["wget", "-q", "--no-hsts", *trust["wget"], "-i", "{list}"]),
    ]


ARIA2 = ["aria2c", "-q", "--no-conf", "--file-allocation=none"]


def _trust(tls):
    """Returns the options by which each tool trusts the test certificate. axel has none, so it does not verify."""
    if not tls:
        return {"curl": [], "wget": [], "aria2c": [], "axel": [], "lftp": ""}
    return {
        "curl": ["--cacert", "{ca}"], "wget": ["--ca-certificate={ca}"], "aria2c": ["--ca-certificate={ca}"],
        "axel": ["-k"], "lftp": "set ssl:ca-file {ca}; "}
