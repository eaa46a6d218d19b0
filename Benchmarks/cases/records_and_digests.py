"""The cost of recording downloads, of a digest, and of the search for one."""

import os

from content import digest
from contest import Contestant, Hooks, contest, one_file
from registry import case
from tools import Tools

GIB = 1 << 30


def _ephemeral(bench, result):
    """Returns the tools, or None if this dlm has no `--ephemeral` to compare with."""
    tools = Tools(bench)
    if tools.knows("--ephemeral"):
        return tools
    result.remarks.append("This dlm does not know `--ephemeral`.")
    return None


@case("recording-small", "What recording costs: 5,000 files of 16 KiB")
def small(bench, result):
    tools = _ephemeral(bench, result)
    if not tools:
        return
    names = bench.content.small_files(bench.scaled(5000, 10))
    plain, _ = bench.content.lists(names)
    pair = [tools.get("-i", "{list}"), tools.get("--ephemeral", "-i", "{list}", name="dlm --ephemeral")]
    contest(bench, pair, {"dlm": bench.binary, "list": plain},
            Hooks(verify=lambda folder: bench.content.differs(names, folder)), rounds=bench.rounds * 2)
    result.add(pair)
    result.ratio_target("CPU / --ephemeral", "dlm", "dlm --ephemeral", 1.2, "cpu")


@case("recording-large", "What recording costs: 1 GiB")
def large(bench, result):
    tools = _ephemeral(bench, result)
    if not tools:
        return
    name = bench.content.file(bench.scaled(GIB, 1 << 20))
    pair = [tools.get("-x", "1", "-o", "file", "{url}"),
            tools.get("--ephemeral", "-x", "1", "-o", "file", "{url}", name="dlm --ephemeral")]
    contest(bench, pair, {"dlm": bench.binary, "url": bench.server.url(name)}, Hooks(verify=one_file(bench, name)),
            rounds=bench.rounds * 2)
    result.add(pair)
    result.ratio_target("CPU / --ephemeral", "dlm", "dlm --ephemeral", 1.02, "cpu")


@case("checksum", "1 GiB over http with its SHA-256")
def checksum(bench, result):
    result.about = "The target is the slower of the transfer alone and one core's SHA-256, and 10 % for the noise."
    name = bench.content.file(bench.scaled(GIB, 1 << 20))
    tools = Tools(bench)
    transfers = [
        tools.get("-x", "1", "-o", "file", "--checksum", "sha256:{digest}", "{url}"),
        tools.get("-x", "1", "-o", "file", "{url}", name="dlm without"),
        Contestant("aria2c", ["aria2c", "-q", "--no-conf", "--file-allocation=none", "-x1", "-s1", "-o", "file",
                              "--checksum=sha-256={digest}", "{url}"]),
        Contestant("openssl dgst", ["sh", "-c", "openssl dgst -sha256 -r {source} >file"], "floor"),
    ]
    right = one_file(bench, name)

    def verify(folder):
        wrong = right(folder)
        return None if wrong == "another digest" and _is_digest(folder, bench.content.digest(name)) else wrong

    values = {"dlm": bench.binary, "url": bench.server.url(name), "digest": bench.content.digest(name),
              "source": f"{bench.server.root}/{name}"}
    contest(bench, transfers, values, Hooks(verify=verify))
    result.add(transfers)
    if all(result.row(one) for one in ("dlm", "dlm without", "openssl dgst")):
        slower = max(result.value("dlm without"), result.value("openssl dgst"))
        what = "wall / the slower of transfer and digest"
        result.target(what, result.value("dlm") / slower, 1.1)
        result.floor(what, slower, "dlm without", "openssl dgst")


def _in_folders(bench, name, folders, files):
    """Serves a file under the names `files` in each folder. Returns the lines of a list of their digests."""
    for folder in folders:
        path = os.path.join(bench.server.root, folder)
        os.mkdir(path)
        for file in files:
            os.link(os.path.join(bench.server.root, name), os.path.join(path, file))
    return "".join(f"{bench.content.digest(name)}  {file}\n" for file in files)


@case("proof", "Digests beside the file: 256 MiB with a list, without one, and with a silent server; 20 files of 16 MiB")
def proof(bench, result):
    result.about = "`headers` asks for nothing beside the file. `--checksum` shows what the digest itself costs."
    large, small = bench.content.file(bench.scaled(GIB // 4, 8 << 20)), bench.content.file(bench.scaled(16 << 20, 8 << 20))
    names = [f"{number}.iso" for number in range(20)]
    for folder, lines in (("listed", _in_folders(bench, large, ("listed", "bare", "silent"), ["file.iso"])),
                          ("many", _in_folders(bench, small, ("many",), names))):
        with open(os.path.join(bench.server.root, folder, "SHA256SUMS"), "w") as file:
            file.write(lines)
    tools, headers = Tools(bench), ["--verify", "headers"]
    many, _ = bench.content.lists([f"many/{name}" for name in names])
    values = {"dlm": bench.binary, "many": many, "digest": bench.content.digest(large)}
    values |= {folder: bench.server.url(folder + "/file.iso") for folder in ("listed", "bare", "silent")}
    pairs = [
        tools.get(*headers, "{listed}", name="headers"),
        tools.get("--checksum", "sha256:{digest}", "{listed}", name="--checksum"),
        tools.get("{listed}", name="a list"), tools.get("{bare}", name="no list"),
        tools.get("{silent}", name="a silent server"),
        tools.get(*headers, "-i", "{many}", name="20 files, headers"),
        tools.get("-i", "{many}", name="20 files, a list"),
    ]
    sizes = {1: large, 20: small}

    def verify(folder):
        found = os.listdir(folder)
        if len(found) not in sizes:
            return f"{len(found)} files"
        right = bench.content.digest(sizes[len(found)])
        return None if all(digest(os.path.join(folder, name)) == right for name in found) else "another digest"

    contest(bench, pairs, values, Hooks(verify=verify))
    result.add(pairs)
    result.ratio_target("wall of a list / --checksum", "a list", "--checksum", 1.05)
    result.ratio_target("wall without a list / headers", "no list", "headers", 1.05)
    late = [result.value(name) for name in ("a silent server", "headers")]
    result.target("delay by a silent server", late[0] - late[1] if all(late) else None, 2.1, "s")


def _is_digest(folder, digest):
    with open(f"{folder}/file", "rb") as file:
        return file.read(64).decode(errors="replace") == digest
