"""Lists of small files, and a file of one byte."""

import os
import shutil

from contest import Contestant, Hooks, contest, one_file
from registry import case
from tools import Tools, list_peers


def _small(bench, result, scheme, count):
    tls = scheme != "http"
    names = bench.content.small_files(bench.scaled(count, 10))
    plain, curl = bench.content.lists(names, scheme)
    contestants = [Tools(bench).get("-i", "{list}", tls=tls), *list_peers(tls)]
    values = {"dlm": bench.binary, "list": plain, "curl_list": curl, "ca": bench.server.certificate}
    contest(bench, contestants, values, Hooks(verify=lambda folder: bench.content.differs(names, folder)))
    return result.add(contestants)


def _small_targets(result):
    result.wall_target("wall / the faster of curl and wget2", "dlm", result.best_peer(among=("curl", "wget2")), 1.0)
    result.ratio_target("CPU / curl", "dlm", "curl", 1.5, "cpu")


@case("small-h1", "5,000 files of 16 KiB over http")
def http(bench, result):
    result.about = "dlm records each file in its store. axel and lftp take no lists of files."
    _small(bench, result, "http", 5000)
    _small_targets(result)


@case("small-h2", "5,000 files of 16 KiB over https with HTTP/2")
def http2(bench, result):
    _small(bench, result, "http2", 5000)
    _small_targets(result)


@case("many-50000", "50,000 files of 16 KiB over http")
def many(bench, result):
    _small(bench, result, "http", 50000)
    _small_targets(result)
    result.target("peak memory", result.value("dlm", "peak"), 48, "MiB")


@case("small-again", "5,000 files of 16 KiB that were fetched before")
def again(bench, result):
    result.about = "As cron asks every night: they are there and current, or (the second row) were deleted since."
    names = bench.content.small_files(bench.scaled(5000, 10))
    homes = {"here": bench.fresh("h"), "gone": bench.fresh("h")}
    folders = {name: os.path.join(bench.fresh("h"), "out") for name in ("here", "gone", "wget", "wget2")}
    get = Tools(bench).get
    contestants = [
        get("-d", "{here}", "-i", "{list}", home=homes["here"]),
        get("-d", "{gone}", "-i", "{list}", name="dlm, deleted", home=homes["gone"]),
        Contestant("wget2", ["wget2", "-q", "--no-hsts", "--no-robots", "--max-threads=8", "-N", "-P", "{wget2}",
                             "-i", "{list}"]),
        Contestant("wget", ["wget", "-q", "--no-hsts", "-N", "-P", "{wget}", "-i", "{list}"]),
    ]

    def differs(_):
        found = [bench.content.differs(names, folder) for folder in folders.values() if os.path.exists(folder)]
        return next((wrong for wrong in found if wrong), None)

    contest(bench, contestants, {"dlm": bench.binary, "list": bench.content.lists(names)[0], **folders},
            # The files of a contestant are checked before the next contestant runs.
            Hooks(before=lambda _: shutil.rmtree(folders["gone"], ignore_errors=True), verify=differs))
    return result.add(contestants)


@case("one-byte", "A file of one byte over http")
def one_byte(bench, result):
    name = bench.content.file(1)
    result.about = "dlm records it. Usually it has a store already; the first start makes one."
    contestants = Tools(bench).one_file(bench.fresh("h"))
    values = {"dlm": bench.binary, "url": bench.server.url(name)}
    contest(bench, contestants, values, Hooks(verify=one_file(bench, name)), rounds=bench.rounds * 4)
    result.add(contestants)
    result.ratio_target("wall / curl", "dlm", "curl", 2.0)
