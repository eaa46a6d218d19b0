"""Replays what AriaNg, webui-aria2 and browser extensions send, and checks the answers for what these programs read.

Usage: ariang.py PROGRAM [NAME...]
The program is dlm, or aria2c: then the same steps go to aria2 itself. With names, only these sessions run.

The sessions are data. The calls, their parameters and the lists of keys are those of AriaNg (src/scripts/services/
aria2RpcService.js and aria2TaskService.js), of webui-aria2 109903f (src/js/services/rpc and src/js/ctrls) and of aria2.js.
A session has a name, the transports over which it runs, and steps. A step has:

    do          What the person does, or what the program does by itself.
    call        A method, or "multicall" for a system.multicall as AriaNg and webui-aria2 send it.
    params      The parameters without the secret, which the runner adds. For a multicall: a list of [method, parameters...].
    secret      false: the runner adds no secret.
    batch       A list of calls that are sent as one JSON array (aria2.js).
    fields      Fields of the request that differ: another id or jsonrpc; null removes the field.
    want        The shape of the result.
    error       The text that the error message contains. The code is 1, and the HTTP status 400.
    until       Paths in the result, with the values that must be reached. The call is repeated until then.
    save        Names for parts of the result. "$name" in later parameters and shapes stands for that part.
    event       Waits for a notification, as [name, GID]. Over HTTP, there are none, and the step is left out.
    heard       A notification that must have come already, as [name, GID]. Left out over HTTP, too.
    bench       Something that the test bench does: "found" and "lost" for the files below /missing, "restart" for the server,
                "reconnect" for the WebSocket.
    known       Why this step fails with dlm today. It does not count as a failure.

A shape is an object of shapes, a list with one shape for all elements (an empty list: the result is empty), or a text:
"gid", "digits", "hex", "text", "texts" (an object of texts), "number", "any", "=VALUE", "~REGULAR EXPRESSION".
A name in an object that ends in "?" may be absent, and one that starts with "!" must be absent. With "only", the object has no
other names."""

import json
import os
import re
import sys
import urllib.error
import urllib.request

import websocket

from bench import Bench, Files, wait
from clients import Aria2Bench

SESSIONS = json.loads(r"""
[
  {
    "name": "AriaNg: the lists", "over": ["http", "ws"],
    "steps": [
      {"do": "AriaNg polls before it knows the secret", "call": "aria2.getGlobalStat", "secret": false, "error": "Unauthorized"},
      {"do": "the status bar", "call": "aria2.getGlobalStat", "want": {"downloadSpeed": "digits", "uploadSpeed": "digits",
        "numActive": "digits", "numWaiting": "digits", "numStopped": "digits", "numStoppedTotal": "digits", "only": true}},
      {"do": "the page «aria2 status»", "call": "aria2.getVersion", "want": {"version": "~[0-9]+[.][0-9]+[.][0-9]+",
        "enabledFeatures": ["text"]}},
      {"do": "one that runs", "call": "aria2.addUri", "params": [["$files/slow/$n-list"], {"dir": "$dir", "split": "2"}],
        "want": "gid", "save": {"run": ""}},
      {"do": "one that waits", "call": "aria2.addUri", "params": [["$files/small/$n-paused", "$files/small/$n-mirror"],
        {"dir": "$dir", "pause": "true"}], "want": "gid", "save": {"held": ""}},
      {"do": "one that ends", "call": "aria2.addUri", "params": [["$files/small/$n-done"], {"dir": "$dir", "out": "done $n.bin"}],
        "want": "gid", "save": {"done": ""}},
      {"do": "one that fails", "call": "aria2.addUri", "params": [["$files/missing/$n-not"], {"dir": "$dir"}], "want": "gid",
        "save": {"bad": ""}},
      {"do": "wait", "call": "aria2.tellStatus", "params": ["$done"], "until": {"status": "complete"}},
      {"do": "wait", "call": "aria2.tellStatus", "params": ["$bad"], "until": {"status": "error"}},
      {"do": "wait", "call": "aria2.tellStatus", "params": ["$run"], "until": {"status": "active", "totalLength": "4000000"}},
      {"do": "the list «downloading», complete", "call": "aria2.tellActive", "params": ["$full"], "want": [{"gid": "=$run",
        "status": "=active", "totalLength": "=4000000", "completedLength": "digits", "downloadSpeed": "digits",
        "uploadSpeed": "digits", "connections": "~[1-9][0-9]*", "errorCode?": "=0", "!verifiedLength": "", "!bittorrent": "",
        "!verifyIntegrityPending": "", "numSeeders?": "digits", "seeder?": "~true|false", "files": [{"index": "=1",
        "path": "=$dir/$n-list", "length": "=4000000", "completedLength": "digits", "selected": "=true",
        "uris": [{"uri": "=$files/slow/$n-list", "status": "~used|waiting"}], "only": true}], "only": true}]},
      {"do": "the list «downloading», refreshed", "call": "aria2.tellActive", "params": ["$basic"], "want": [{"gid": "=$run",
        "status": "=active", "totalLength": "=4000000", "completedLength": "digits", "downloadSpeed": "digits",
        "uploadSpeed": "digits", "connections": "digits", "errorCode?": "=0", "numSeeders?": "digits", "seeder?": "text",
        "only": true}]},
      {"do": "the list «waiting»", "call": "aria2.tellWaiting", "params": [0, 1000, "$full"], "want": [{"gid": "=$held",
        "status": "=paused", "totalLength": "digits", "completedLength": "=0", "downloadSpeed": "=0", "uploadSpeed": "=0",
        "connections": "=0", "files": [{"index": "=1", "path": "text", "length": "digits", "completedLength": "=0",
        "selected": "=true", "uris": [{"uri": "~http.*", "status": "=waiting"}]}]}]},
      {"do": "the list «finished», newest first", "call": "aria2.tellStopped", "params": [-1, 1000, "$full"], "want": [{"gid": "gid",
        "status": "~complete|error", "totalLength": "digits", "completedLength": "digits", "downloadSpeed": "=0",
        "uploadSpeed": "=0", "connections": "=0", "errorCode": "~0|3", "files": [{"path": "text", "uris": ["any"]}]}]},
      {"do": "the count in the menu", "call": "aria2.getGlobalStat", "want": {"numActive": "=1", "numWaiting": "=1",
        "numStopped": "=2"}},
      {"do": "remove all", "call": "aria2.forceRemove", "params": ["$run"], "want": "=$run"},
      {"do": "remove all", "call": "aria2.forceRemove", "params": ["$held"], "want": "=$held"},
      {"do": "wait", "call": "aria2.tellStatus", "params": ["$run"], "until": {"status": "removed"}},
      {"do": "clear the finished ones", "call": "aria2.purgeDownloadResult", "want": "=OK"},
      {"do": "the list is empty", "call": "aria2.tellStopped", "params": [-1, 1000, "$full"], "want": []}
    ]
  },
  {
    "name": "AriaNg: a new task with all options of the form", "over": ["http", "ws"],
    "steps": [
      {"do": "press «download now»", "call": "aria2.addUri", "params": [["$files/slow/$n-form"], {"dir": "$dir", "out": "form $n.bin",
        "allow-overwrite": "true", "max-download-limit": "1M", "split": "4", "min-split-size": "1M",
        "max-connection-per-server": "4", "lowest-speed-limit": "0", "stream-piece-selector": "inorder", "http-user": "someone",
        "http-passwd": "secret", "all-proxy": "", "all-proxy-user": "", "all-proxy-passwd": "", "continue": "true",
        "referer": "http://r.example/", "header": ["X-Form: one", "Cookie: a=b"], "conditional-get": "false",
        "check-integrity": "true", "file-allocation": "none", "parameterized-uri": "false", "force-save": "true"}],
        "want": "gid", "save": {"gid": ""}},
      {"do": "press «download later»", "call": "aria2.addUri", "params": [["$files/small/$n-later"], {"dir": "$dir", "pause": "true"}],
        "want": "gid", "save": {"later": ""}},
      {"do": "wait", "call": "aria2.tellStatus", "params": ["$gid"], "until": {"status": "active", "totalLength": "4000000"}},
      {"do": "the details", "call": "multicall", "params": [["aria2.tellStatus", "$gid"]], "want": [[{"gid": "=$gid",
        "status": "=active", "dir": "=$dir", "bitfield": "hex", "numPieces": "digits", "pieceLength": "digits",
        "uploadLength": "=0", "connections": "digits", "totalLength": "=4000000", "files": [{"path": "=$dir/form $n.bin"}],
        "!bittorrent": "", "!verifiedLength": ""}]]},
      {"do": "the tab «options» of a running task", "call": "aria2.getOption", "params": ["$gid"], "want": "texts",
        "save": {"options": ""}},
      {"do": "its values", "call": "aria2.getOption", "params": ["$gid"], "want": {"max-download-limit": "=1048576", "split": "=4",
        "max-connection-per-server": "=4", "dir": "=$dir", "out": "=form $n.bin", "referer": "=http://r.example/"}},
      {"do": "its values without an effect in dlm", "call": "aria2.getOption", "params": ["$gid"], "want": {
        "force-save": "=true", "continue": "=true", "file-allocation": "=none", "check-integrity": "=true"}},
      {"do": "a size is shown in bytes", "call": "aria2.getOption", "params": ["$gid"], "want": {"min-split-size": "=1048576"},
        "known": "the size of an option without an effect is shown as it was given"},
      {"do": "the defaults that the form shows", "call": "aria2.getOption", "params": ["$later"], "want": {
        "max-download-limit": "=0", "max-upload-limit": "=0", "split": "digits", "min-split-size": "digits",
        "max-connection-per-server": "digits", "force-save": "=false"}},
      {"do": "change one value", "call": "aria2.changeOption", "params": ["$gid", {"max-download-limit": "500K"}], "want": "=OK"},
      {"do": "change one value", "call": "aria2.changeOption", "params": ["$gid", {"max-upload-limit": "0"}], "want": "=OK"},
      {"do": "change one value", "call": "aria2.changeOption", "params": ["$gid", {"force-save": "true"}], "want": "=OK"},
      {"do": "it still runs", "call": "aria2.tellStatus", "params": ["$gid"], "until": {"status": "active"}},
      {"do": "change a paused one", "call": "aria2.changeOption", "params": ["$later", {"split": "3"}], "want": "=OK"},
      {"do": "change a paused one", "call": "aria2.changeOption", "params": ["$later", {"min-split-size": "2M"}], "want": "=OK"},
      {"do": "change a paused one", "call": "aria2.changeOption", "params": ["$later", {"max-connection-per-server": "2"}],
        "want": "=OK"},
      {"do": "the new values", "call": "aria2.getOption", "params": ["$later"], "want": {"split": "=3",
        "max-connection-per-server": "=2"}},
      {"do": "a bad value", "call": "aria2.changeOption", "params": ["$later", {"split": "x"}], "error": "split"},
      {"do": "remove", "call": "aria2.forceRemove", "params": ["$gid"], "want": "=$gid"},
      {"do": "remove", "call": "aria2.forceRemove", "params": ["$later"], "want": "=$later"},
      {"do": "wait", "call": "aria2.tellStatus", "params": ["$gid"], "until": {"status": "removed"}},
      {"do": "clear", "call": "aria2.purgeDownloadResult", "want": "=OK"}
    ]
  },
  {
    "name": "AriaNg: pause, resume, order, remove", "over": ["http", "ws"],
    "steps": [
      {"do": "add", "call": "aria2.addUri", "params": [["$files/slow/$n-p"], {"dir": "$dir", "split": "1"}], "want": "gid",
        "save": {"a": ""}},
      {"event": ["aria2.onDownloadStart", "$a"]},
      {"do": "wait", "call": "aria2.tellStatus", "params": ["$a"], "until": {"status": "active", "totalLength": "4000000"}},
      {"do": "select, press «pause»", "call": "aria2.forcePause", "params": ["$a"], "want": "=$a"},
      {"event": ["aria2.onDownloadPause", "$a"]},
      {"do": "wait", "call": "aria2.tellStatus", "params": ["$a"], "until": {"status": "paused"}},
      {"do": "press «pause» again", "call": "aria2.forcePause", "params": ["$a"], "error": "cannot be paused now"},
      {"do": "its details while it is paused", "call": "multicall", "params": [["aria2.tellStatus", "$a"]], "want": [[{
        "status": "=paused", "bitfield": "hex", "numPieces": "~[1-9].*", "pieceLength": "~[1-9].*", "totalLength": "=4000000",
        "downloadSpeed": "digits", "connections": "=0"}]]},
      {"do": "add b", "call": "aria2.addUri", "params": [["$files/small/$n-b"], {"dir": "$dir", "pause": "true"}], "want": "gid",
        "save": {"b": ""}},
      {"do": "add c", "call": "aria2.addUri", "params": [["$files/small/$n-c"], {"dir": "$dir", "pause": "true"}], "want": "gid",
        "save": {"c": ""}},
      {"do": "the list before", "call": "aria2.tellWaiting", "params": [0, 1000, "$basic"], "until": {"0.gid": "$a", "1.gid": "$b",
        "2.gid": "$c"}},
      {"do": "drag c to the front", "call": "aria2.changePosition", "params": ["$c", 0, "POS_SET"], "want": "=0"},
      {"do": "the list after", "call": "aria2.tellWaiting", "params": [0, 1000, "$basic"], "until": {"0.gid": "$c", "1.gid": "$a",
        "2.gid": "$b"}},
      {"do": "drag c to the end", "call": "aria2.changePosition", "params": ["$c", 2, "POS_SET"], "want": "=2"},
      {"do": "webui-aria2: move up", "call": "aria2.changePosition", "params": ["$c", -1, "POS_CUR"], "want": "=1"},
      {"do": "webui-aria2: move down", "call": "aria2.changePosition", "params": ["$c", 1, "POS_CUR"], "want": "=2"},
      {"do": "less than no elements", "call": "aria2.tellWaiting", "params": [0, -1], "error": "must be greater than or equal to 0",
        "known": "the answer is an empty list"},
      {"do": "beyond the end", "call": "aria2.changePosition", "params": ["$a", 99, "POS_SET"], "want": "=2"},
      {"do": "press «start»", "call": "aria2.unpause", "params": ["$a"], "want": "=$a"},
      {"do": "wait", "call": "aria2.tellStatus", "params": ["$a"], "until": {"status": "active"}},
      {"do": "drag an active one", "call": "aria2.changePosition", "params": ["$a", 0, "POS_SET"],
        "error": "not found in the waiting queue"},
      {"do": "remove an active one", "call": "aria2.forceRemove", "params": ["$a"], "want": "=$a"},
      {"event": ["aria2.onDownloadStop", "$a"]},
      {"do": "wait", "call": "aria2.tellStatus", "params": ["$a"], "until": {"status": "removed", "errorCode": "31"}},
      {"do": "remove a paused one", "call": "aria2.forceRemove", "params": ["$b"], "want": "=$b"},
      {"do": "it has no result", "call": "aria2.tellStatus", "params": ["$b"], "error": "is not found"},
      {"do": "remove a paused one", "call": "aria2.forceRemove", "params": ["$c"], "want": "=$c"},
      {"do": "remove the removed one", "call": "aria2.removeDownloadResult", "params": ["$a"], "want": "=OK"},
      {"do": "again", "call": "aria2.removeDownloadResult", "params": ["$a"], "error": "is not found"},
      {"do": "pause all", "call": "aria2.forcePauseAll", "want": "=OK"},
      {"do": "start all", "call": "aria2.unpauseAll", "want": "=OK"}
    ]
  },
  {
    "name": "AriaNg: retry", "over": ["http", "ws"],
    "steps": [
      {"bench": "lost"},
      {"do": "one that fails", "call": "aria2.addUri", "params": [["$files/missing/$n-retry"], {"dir": "$dir",
        "out": "retry $n.bin", "header": ["X-Retry: one", "X-More: two"], "max-download-limit": "2M", "split": "2"}],
        "want": "gid", "save": {"old": ""}},
      {"event": ["aria2.onDownloadError", "$old"]},
      {"heard": ["aria2.onDownloadStart", "$old"]},
      {"do": "wait", "call": "aria2.tellStatus", "params": ["$old"], "until": {"status": "error", "errorCode": "3"}},
      {"do": "the error in words", "call": "aria2.tellStatus", "params": ["$old"], "want": {"errorMessage": "~.+",
        "totalLength": "=0", "files": [{"path": "text"}]}},
      {"bench": "found"},
      {"do": "press «retry»", "call": "multicall", "params": [["aria2.tellStatus", "$old"], ["aria2.getOption", "$old"]],
        "want": [["any"]], "save": {"uris": "0.0.files.0.uris.*.uri", "options": "1.0"}},
      {"do": "the options are texts", "call": "aria2.getOption", "params": ["$old"], "want": "texts"},
      {"do": "add again with the options of the old one", "call": "aria2.addUri", "params": ["$uris", "$options"], "want": "gid",
        "save": {"new": ""}},
      {"do": "remove the old result", "call": "aria2.removeDownloadResult", "params": ["$old"], "want": "=OK"},
      {"event": ["aria2.onDownloadComplete", "$new"]},
      {"do": "wait", "call": "aria2.tellStatus", "params": ["$new"], "until": {"status": "complete"}},
      {"do": "it has the name of the old one", "call": "aria2.tellStatus", "params": ["$new"], "want": {"dir": "=$dir",
        "files": [{"path": "=$dir/retry $n.bin"}], "errorCode": "=0"}},
      {"bench": "headers of /missing/$n-retry: X-Retry=one X-More=two"},
      {"do": "the old one is gone", "call": "aria2.tellStatus", "params": ["$old"], "error": "is not found"},
      {"do": "one URI twice", "call": "aria2.addUri", "params": [["$files/small/$n-u", "$files/small/$n-u"], {"dir": "$dir"}],
        "want": "gid", "save": {"u": ""}},
      {"do": "wait", "call": "aria2.tellStatus", "params": ["$u"], "until": {"status": "complete"}},
      {"do": "clear", "call": "aria2.purgeDownloadResult", "want": "=OK"},
      {"bench": "lost"}
    ]
  },
  {
    "name": "AriaNg: settings of aria2", "over": ["http", "ws"],
    "steps": [
      {"do": "open a page of settings", "call": "aria2.getGlobalOption", "want": "texts"},
      {"do": "the user agent before it was changed", "call": "aria2.getGlobalOption", "want": {"user-agent": "~.+"},
        "known": "getGlobalOption leaves out user-agent until it was set"},
      {"do": "the values that the pages show", "call": "aria2.getGlobalOption", "want": {"dir": "~/.*",
        "max-concurrent-downloads": "digits", "continue": "~true|false", "check-certificate": "~true|false",
        "connect-timeout": "digits", "max-connection-per-server": "digits", "max-tries": "digits", "retry-wait": "digits",
        "split": "digits", "timeout": "digits", "allow-overwrite": "~true|false",
        "auto-file-renaming": "~true|false", "conditional-get": "~true|false", "max-overall-download-limit": "digits",
        "max-download-limit": "digits", "remote-time": "~true|false", "http-accept-gzip": "~true|false",
        "follow-metalink": "~true|false|mem", "min-tls-version": "~TLSv1.*"}},
      {"do": "values without an effect in dlm", "call": "aria2.getGlobalOption", "want": {"min-split-size": "digits",
        "file-allocation": "text", "lowest-speed-limit": "digits", "max-overall-upload-limit": "digits", "disk-cache": "digits",
        "check-integrity": "~true|false", "always-resume": "~true|false", "uri-selector": "text", "log-level": "text",
        "stream-piece-selector": "text", "max-download-result": "digits"}},
      {"do": "change one", "call": "aria2.changeGlobalOption", "params": [{"max-concurrent-downloads": "5"}], "want": "=OK"},
      {"do": "the limit in the menu", "call": "aria2.changeGlobalOption", "params": [{"max-overall-download-limit": "1M"}],
        "want": "=OK"},
      {"do": "change one", "call": "aria2.changeGlobalOption", "params": [{"split": "4"}], "want": "=OK"},
      {"do": "change one", "call": "aria2.changeGlobalOption", "params": [{"max-connection-per-server": "4"}], "want": "=OK"},
      {"do": "change one", "call": "aria2.changeGlobalOption", "params": [{"user-agent": "Mozilla/5.0 test"}], "want": "=OK"},
      {"do": "change one", "call": "aria2.changeGlobalOption", "params": [{"max-tries": "3"}], "want": "=OK"},
      {"do": "change one", "call": "aria2.changeGlobalOption", "params": [{"dir": "$dir"}], "want": "=OK"},
      {"do": "change one", "call": "aria2.changeGlobalOption", "params": [{"file-allocation": "none"}], "want": "=OK"},
      {"do": "change one", "call": "aria2.changeGlobalOption", "params": [{"header": ["X-Global: one"]}], "want": "=OK"},
      {"do": "change one", "call": "aria2.changeGlobalOption", "params": [{"all-proxy": ""}], "want": "=OK"},
      {"do": "a bad value", "call": "aria2.changeGlobalOption", "params": [{"max-concurrent-downloads": "x"}],
        "error": "max-concurrent-downloads"},
      {"do": "the page shows them", "call": "aria2.getGlobalOption", "want": {"max-concurrent-downloads": "=5",
        "max-overall-download-limit": "=1048576", "split": "=4", "max-connection-per-server": "=4", "max-tries": "=3",
        "user-agent": "=Mozilla/5.0 test", "dir": "=$dir"}},
      {"do": "a new one follows them", "call": "aria2.addUri", "params": [["$files/small/$n-global"], {"out": "global $n.bin"}],
        "want": "gid", "save": {"gid": ""}},
      {"do": "wait", "call": "aria2.tellStatus", "params": ["$gid"], "until": {"status": "complete",
        "files.0.path": "$dir/global $n.bin"}},
      {"bench": "headers of /small/$n-global: User-Agent=Mozilla/5.0_test X-Global=one"},
      {"do": "its options", "call": "aria2.getOption", "params": ["$gid"], "want": {"dir": "=$dir", "out": "=global $n.bin"}},
      {"do": "its options that come from the settings", "call": "aria2.getOption", "params": ["$gid"], "want": {"split": "=4",
        "max-tries": "=3"}},
      {"do": "a number, which aria2 ignores", "call": "aria2.changeGlobalOption", "params": [{"max-concurrent-downloads": 5}],
        "want": "=OK"},
      {"do": "an option that only a download has, which aria2 ignores", "call": "aria2.changeGlobalOption", "params": [{
        "out": "x", "max-tries": "3"}], "want": "=OK", "known": "out, gid and checksum are errors in changeGlobalOption"},
      {"do": "a size is shown in bytes", "call": "aria2.changeGlobalOption", "params": [{"min-split-size": "2M",
        "max-download-limit": "1K"}], "want": "=OK"},
      {"do": "a size is shown in bytes", "call": "aria2.getGlobalOption", "want": {"min-split-size": "=2097152",
        "max-download-limit": "=1024"}, "known": "the size of an option without an effect is shown as it was given"},
      {"do": "set back", "call": "aria2.changeGlobalOption", "params": [{"max-download-limit": "0"}], "want": "=OK"},
      {"do": "set back", "call": "aria2.changeGlobalOption", "params": [{"max-concurrent-downloads": "16",
        "max-overall-download-limit": "0", "header": ""}], "want": "=OK"},
      {"do": "clear", "call": "aria2.purgeDownloadResult", "want": "=OK"}
    ]
  },
  {
    "name": "AriaNg: a lost connection", "over": ["ws"],
    "steps": [
      {"do": "add", "call": "aria2.addUri", "params": [["$files/slow/$n-lost"], {"dir": "$dir", "split": "6",
        "max-connection-per-server": "6"}], "want": "gid", "save": {"gid": ""}},
      {"bench": "reconnect"},
      {"do": "AriaNg's reconnect", "call": "aria2.", "error": "No such method: aria2."},
      {"do": "it is still there", "call": "aria2.tellActive", "params": ["$full"], "want": [{"gid": "=$gid"}]},
      {"event": ["aria2.onDownloadComplete", "$gid"]},
      {"do": "the text of the notice", "call": "aria2.tellStatus", "params": ["$gid"], "want": {"status": "=complete",
        "files": [{"path": "=$dir/$n-lost"}]}},
      {"do": "one that is paused", "call": "aria2.addUri", "params": [["$files/small/$n-kept"], {"dir": "$dir", "pause": "true",
        "out": "kept.bin", "header": ["X-Kept: one"]}], "want": "gid", "save": {"kept": ""}},
      {"bench": "restart"},
      {"do": "the same GID after a restart", "call": "aria2.tellWaiting", "params": [0, 1000, "$full"], "want": [{"gid": "=$kept",
        "status": "=paused"}]},
      {"do": "its options after a restart", "call": "aria2.getOption", "params": ["$kept"], "want": {"dir": "=$dir",
        "out": "=kept.bin", "header": "~X-Kept: one\\n?"}},
      {"do": "the finished ones after a restart", "call": "aria2.tellStopped", "params": [-1, 1000, "$full"], "want": [{
        "gid": "=$gid", "status": "=complete"}]},
      {"do": "remove", "call": "aria2.forceRemove", "params": ["$kept"], "want": "=$kept"},
      {"do": "clear", "call": "aria2.purgeDownloadResult", "want": "=OK"}
    ]
  },
  {
    "name": "webui-aria2", "over": ["http", "ws"], "fields": {"jsonrpc": 2},
    "steps": [
      {"do": "the first call, with everything", "call": "multicall", "params": [["aria2.getVersion"], ["aria2.tellActive"],
        ["aria2.tellWaiting", 0, 1000], ["aria2.tellStopped", 0, 1000], ["aria2.getGlobalStat"]], "want": [["any"]]},
      {"do": "add two lines", "call": "multicall", "params": [["aria2.addUri", ["$files/slow/$n-web"], {"dir": "$dir",
        "split": "2", "max-connection-per-server": "2", "out": "web $n.bin"}], ["aria2.addUri", ["$files/small/$n-web2",
        "$files/small/$n-web3"], {"dir": "$dir", "check-integrity": "true", "pause": "true"}]], "want": [["gid"]],
        "save": {"a": "0.0", "b": "1.0"}},
      {"do": "wait", "call": "aria2.tellStatus", "params": ["$a"], "until": {"status": "active", "totalLength": "4000000"}},
      {"do": "a refresh", "call": "multicall", "params": [["aria2.tellActive"]], "want": [[[{"gid": "=$a", "status": "=active",
        "dir": "=$dir", "numPieces": "digits", "connections": "digits", "bitfield": "hex", "totalLength": "digits",
        "completedLength": "digits", "uploadLength": "digits", "pieceLength": "digits", "downloadSpeed": "digits",
        "uploadSpeed": "digits", "!verifiedLength": "", "!verifyIntegrityPending": "", "!bittorrent": "", "!followedBy": "",
        "files": [{"index": "=1", "path": "=$dir/web $n.bin", "length": "digits", "selected": "=true",
        "uris": [{"uri": "~http.*"}]}]}]]]},
      {"do": "a call that fails in the middle", "call": "multicall", "params": [["aria2.getGlobalStat"],
        ["aria2.tellStatus", "0000000000000001"]], "until": {"1.code": 1, "1.message": "GID 0000000000000001 is not found"}},
      {"do": "pause", "call": "multicall", "params": [["aria2.forcePause", "$a"]], "until": {"0.0": "$a"}},
      {"do": "wait", "call": "aria2.tellStatus", "params": ["$a"], "until": {"status": "paused"}},
      {"do": "open the settings of a paused one", "call": "multicall", "params": [["aria2.getOption", "$a"]], "want": [["texts"]]},
      {"do": "save them: values that the server did not give are numbers and truths", "call": "multicall", "params": [
        ["aria2.changeOption", "$a", {"all-proxy": "", "all-proxy-passwd": "", "all-proxy-user": "", "allow-overwrite": false,
        "allow-piece-length-change": false, "always-resume": true, "async-dns": true, "auto-file-renaming": true,
        "bt-max-peers": 55, "bt-request-peer-speed-limit": "50K", "check-certificate": true, "check-integrity": false,
        "conditional-get": false, "connect-timeout": 60, "continue": true, "dir": "$dir", "enable-http-keep-alive": true,
        "enable-mmap": false, "ftp-passwd": "ARIA2USER@", "ftp-pasv": true, "ftp-type": "binary", "ftp-user": "anonymous",
        "header": "", "http-accept-gzip": false, "http-no-cache": true, "http-passwd": "", "http-proxy": "", "http-user": "",
        "lowest-speed-limit": "0", "max-connection-per-server": 1, "max-download-limit": "0", "max-file-not-found": 0,
        "max-tries": 0, "min-split-size": "20M", "no-proxy": "", "out": "web $n.bin", "proxy-method": "get", "quiet": false,
        "referer": "", "remote-time": false, "retry-wait": 0, "reuse-uri": true, "seed-ratio": 0, "seed-time": 0, "split": 5,
        "stream-piece-selector": "default", "timeout": 60, "use-head": false, "user-agent": "aria2/1.37.0"}]],
        "want": [["=OK"]], "known": "options that only a new download can have are errors"},
      {"do": "save them: all values are texts", "call": "multicall", "params": [
        ["aria2.changeOption", "$a", {"allow-overwrite": "true", "auto-file-renaming": "true", "check-certificate": "true",
        "conditional-get": "false", "connect-timeout": "60", "continue": "true", "dir": "$dir", "max-connection-per-server": "2",
        "max-tries": "5", "out": "web $n.bin", "remote-time": "false", "retry-wait": "0", "split": "5", "timeout": "60"}]],
        "want": [["=OK"]], "known": "options that only a new download can have are errors"},
      {"do": "its options", "call": "aria2.getOption", "params": ["$a"], "want": "texts", "save": {"same": ""}},
      {"do": "save them without a change", "call": "aria2.changeOption", "params": ["$a", "$same"], "want": "=OK"},
      {"do": "resume", "call": "multicall", "params": [["aria2.unpause", "$a"]], "until": {"0.0": "$a"}},
      {"do": "wait", "call": "aria2.tellStatus", "params": ["$a"], "until": {"status": "active"}},
      {"do": "the settings of a running one", "call": "multicall", "params": [["aria2.changeOption", "$a", {"bt-max-peers": "55",
        "bt-request-peer-speed-limit": "51200", "bt-remove-unselected-file": "false", "max-download-limit": "0",
        "max-upload-limit": "0"}]], "want": [["=OK"]]},
      {"do": "remove", "call": "multicall", "params": [["aria2.remove", "$a"], ["aria2.remove", "$b"]], "want": [["gid"]]},
      {"do": "wait", "call": "aria2.tellStatus", "params": ["$a"], "until": {"status": "removed"}},
      {"do": "restart the removed one: its options", "call": "multicall", "params": [["aria2.getOption", "$a"],
        ["aria2.getFiles", "$a"]], "want": [["any"]], "save": {"options": "0.0", "uris": "1.0.0.uris.*.uri"}},
      {"do": "restart: remove it", "call": "multicall", "params": [["aria2.removeDownloadResult", "$a"]], "want": [["=OK"]]},
      {"do": "restart: add it", "call": "multicall", "params": [["aria2.addUri", "$uris", "$options"]], "want": [["gid"]],
        "save": {"again": "0.0"}},
      {"do": "wait", "call": "aria2.tellStatus", "params": ["$again"], "until": {"status": "active", "files.0.path": "$dir/web $n.bin"}},
      {"do": "the global settings", "call": "multicall", "params": [["aria2.getGlobalOption"]], "want": [["texts"]]},
      {"do": "save changed ones", "call": "multicall", "params": [["aria2.changeGlobalOption", {"max-concurrent-downloads": "7",
        "max-overall-download-limit": "0", "max-overall-upload-limit": "0", "log-level": "notice"}]], "want": [["=OK"]]},
      {"do": "save nothing", "call": "multicall", "params": [["aria2.changeGlobalOption", {}]], "want": [["=OK"]]},
      {"do": "pause all", "call": "multicall", "params": [["aria2.forcePauseAll"]], "want": [["=OK"]]},
      {"do": "wait", "call": "aria2.tellStatus", "params": ["$again"], "until": {"status": "paused"}},
      {"do": "resume all", "call": "multicall", "params": [["aria2.unpauseAll"]], "want": [["=OK"]]},
      {"do": "wait", "call": "aria2.tellStatus", "params": ["$again"], "until": {"status": "active"}},
      {"do": "remove", "call": "multicall", "params": [["aria2.remove", "$again"]], "want": [["gid"]]},
      {"do": "wait", "call": "aria2.tellStatus", "params": ["$again"], "until": {"status": "removed"}},
      {"do": "purge", "call": "multicall", "params": [["aria2.purgeDownloadResult"]], "want": [["=OK"]]}
    ]
  },
  {
    "name": "browser extensions", "over": ["http", "ws"], "fields": {"jsonrpc": null},
    "steps": [
      {"do": "the first id is 0", "call": "aria2.getVersion", "fields": {"id": 0}, "want": {"version": "text"}},
      {"do": "RossWang's extension", "call": "aria2.addUri", "params": [["$files/slow/$n-ext?token=a%20b&x=1"], {
        "out": "a file.bin", "dir": "$dir", "parameterized-uri": "false", "referer": "http://r.example/page", "split": "2",
        "header": ["User-Agent: Mozilla/5.0", "Cookie: session=1; other=2", "Referer: http://r.example/page"]}],
        "want": "gid", "save": {"gid": ""}},
      {"do": "wait", "call": "aria2.tellStatus", "params": ["$gid", ["gid", "status", "totalLength", "files"]], "until": {
        "status": "active", "totalLength": "4000000", "files.0.uris.0.uri": "$files/slow/$n-ext?token=a%20b&x=1"}},
      {"bench": "headers of /slow/$n-ext?token=a%20b&x=1: User-Agent=Mozilla/5.0 Referer=http://r.example/page"},
      {"do": "the popup of Aria2-Explorer", "call": "aria2.tellActive", "params": [["gid", "status", "totalLength",
        "completedLength", "downloadSpeed", "files"]], "want": [{"gid": "=$gid", "downloadSpeed": "digits", "files": [{
        "path": "=$dir/a file.bin"}]}]},
      {"do": "aria2.js: a batch", "batch": [["aria2.tellStatus", "$gid", ["gid"]], ["aria2.getVersion"],
        ["aria2.tellStatus", "0000000000000001"]]},
      {"do": "an empty list of keys means all", "call": "aria2.tellStatus", "params": ["$gid", []], "want": {"gid": "=$gid",
        "files": ["any"], "dir": "text"}},
      {"do": "a GID of one's own", "call": "aria2.addUri", "params": [["$files/small/$n-own"], {"gid": "00000000000ab$n",
        "dir": "$dir", "pause": "true"}], "want": "=00000000000ab$n"},
      {"do": "the beginning of a GID", "call": "aria2.tellStatus", "params": ["00000000000ab"], "want": {
        "gid": "=00000000000ab$n"}},
      {"do": "remove", "call": "aria2.remove", "params": ["00000000000ab$n"], "want": "=00000000000ab$n"},
      {"do": "remove", "call": "aria2.forceRemove", "params": ["$gid"], "want": "=$gid"},
      {"do": "wait", "call": "aria2.tellStatus", "params": ["$gid"], "until": {"status": "removed"}},
      {"do": "clear", "call": "aria2.purgeDownloadResult", "want": "=OK"}
    ]
  }
]
""")

BASIC = ["gid", "totalLength", "completedLength", "uploadSpeed", "downloadSpeed", "connections", "numSeeders", "seeder", "status",
         "errorCode", "verifiedLength", "verifyIntegrityPending"]
FULL = [*BASIC, "files", "bittorrent", "infoHash"]
WORDS = {"gid": "[0-9a-f]{16}", "digits": "[0-9]+", "hex": "[0-9a-f]+", "text": "(?s).*"}


class Problem(Exception):
    pass


def differs(value, shape, fill, path="result"):
    """Raises a problem if a value does not have the shape."""
    def problem(what):
        raise Problem(f"{path} is {json.dumps(value)[:200]}, {what}")
    if isinstance(shape, dict):
        if not isinstance(value, dict):
            problem("no object")
        names = set()
        for key, child in shape.items():
            name = key.strip("!?")
            names.add(name)
            if key == "only":
                continue
            if key.startswith("!"):
                if name in value:
                    problem(f"and has {name}")
            elif name in value:
                differs(value[name], child, fill, f"{path}.{name}")
            elif not key.endswith("?"):
                raise Problem(f"{path} has no {name}: {sorted(value)}")
        if shape.get("only") and set(value) - names:
            problem(f"and has other names: {sorted(set(value) - names)}")
    elif isinstance(shape, list):
        if not isinstance(value, list):
            problem("no list")
        if bool(value) != bool(shape):
            problem("empty" if shape else "not empty")
        for number, child in enumerate(value):
            differs(child, shape[0], fill, f"{path}[{number}]")
    elif shape == "texts":
        if not isinstance(value, dict) or not all(isinstance(child, str) for child in value.values()):
            problem("no object of texts")
    elif shape == "number":
        if not isinstance(value, int):
            problem("no number")
    elif shape.startswith("="):
        # Positions are the only numbers in results.
        if (str(value) if isinstance(value, int) else value) != fill(shape[1:]):
            problem(f"not {fill(shape[1:])}")
    elif shape != "any":
        pattern = fill(shape[1:]) if shape.startswith("~") else WORDS[shape]
        if not isinstance(value, str) or not re.fullmatch(pattern, value):
            problem(f"not {shape}")


def part(value, path):
    """Returns the part of a value at a path such as 0.files.*.uri. A * stands for all elements of a list."""
    for number, name in enumerate(path.split(".") if path else []):
        if name == "*":
            return [part(child, ".".join(path.split(".")[number + 1:])) for child in value]
        value = value[int(name)] if isinstance(value, list) else value[name]
    return value


class Http:
    def __init__(self, bench):
        self.bench = bench

    def ask(self, document):
        """Returns the status and the answer."""
        request = urllib.request.Request(
            self.bench.address + "/jsonrpc", json.dumps(document).encode(), {"Content-Type": "application/json"}, method="POST")
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read())

    def reconnect(self):
        pass

    def close(self):
        pass


class WebSocket:
    def __init__(self, bench):
        self.bench, self.socket, self.events = bench, None, []
        self.reconnect()

    def reconnect(self):
        self.close()
        self.socket = websocket.create_connection(
            self.bench.address.replace("http", "ws") + "/jsonrpc", timeout=30, suppress_origin=True)

    def close(self):
        if self.socket:
            self.socket.close()

    def receive(self):
        """Returns the next answer, or None after a notification, which is kept."""
        message = json.loads(self.socket.recv())
        if isinstance(message, dict) and "method" in message:
            self.events.append([message["method"], message["params"][0]["gid"]])
            return None
        return message

    def ask(self, document):
        self.socket.send(json.dumps(document))
        while True:
            answer = self.receive()
            if answer is not None:
                return None, answer

    def event(self, wanted):
        while wanted not in self.events:
            self.receive()


class Player:
    """Plays one session over one transport."""

    def __init__(self, bench, session, transport, number):
        self.bench, self.session, self.transport, self.number = bench, session, transport, number
        self.saved = {"files": bench.files, "dir": f"{bench.downloads}/s{number}", "n": f"{number:03}", "basic": BASIC, "full": FULL}
        self.ids = 0

    def fill(self, value):
        """Replaces $names by what was saved."""
        if isinstance(value, str):
            if value[:1] == "$" and value[1:] in self.saved:
                return self.saved[value[1:]]
            return re.sub(r"\$([a-z]+)", lambda match: str(self.saved.get(match.group(1), match.group())), value)
        if isinstance(value, list):
            return [self.fill(child) for child in value]
        if isinstance(value, dict):
            return {key: self.fill(child) for key, child in value.items()}
        return value

    def document(self, method, parameters, step):
        self.ids += 1
        secret = [f"token:{self.bench.secret}"]
        parameters = self.fill(parameters)
        if method == "multicall":
            method = "system.multicall"
            parameters = [[{"methodName": name, "params": secret + rest} for name, *rest in parameters]]
        elif step.get("secret", True):
            parameters = secret + parameters
        found = {"jsonrpc": "2.0", "id": f"ariang_{self.ids}", "method": method}
        # The programs leave out `params` if there are none.
        if parameters:
            found["params"] = parameters
        for key, value in {**self.session.get("fields", {}), **step.get("fields", {})}.items():
            if value is None:
                found.pop(key, None)
            else:
                found[key] = value
        return found

    def once(self, step):
        document = self.document(step["call"], step.get("params", []), step)
        status, answer = self.transport.ask(document)
        if answer.get("id") != document["id"] or type(answer["id"]) is not type(document["id"]):
            raise Problem(f"the id is {answer.get('id')!r}, not {document['id']!r}")
        if answer.get("jsonrpc") != "2.0":
            raise Problem(f"jsonrpc is {answer.get('jsonrpc')!r}")
        if "error" in step:
            if "error" not in answer:
                raise Problem(f"no error, but {json.dumps(answer['result'])[:200]}")
            found = answer["error"]
            if found.get("code") != 1 or self.fill(step["error"]) not in found.get("message", "") or status not in (None, 400):
                raise Problem(f"status {status} and {found}")
            return None
        if "error" in answer:
            raise Problem(f"error {answer['error']}")
        if status not in (None, 200):
            raise Problem(f"status {status}")
        return answer["result"]

    def batch(self, step):
        documents = [self.document(method, rest, step) for method, *rest in step["batch"]]
        status, answers = self.transport.ask(documents)
        if status not in (None, 200) or [one["id"] for one in answers] != [one["id"] for one in documents]:
            raise Problem(f"status {status}, {answers}")
        if ["error" in one for one in answers] != [False, False, True]:
            raise Problem(f"{answers}")

    def reached(self, step):
        result = self.once(step)
        try:
            return all(part(result, path) == self.fill(value) for path, value in step["until"].items())
        except (KeyError, IndexError, TypeError):
            return False

    def bench_step(self, what):
        if what in ("found", "lost"):
            Files.found = what == "found"
        elif what == "reconnect":
            self.transport.reconnect()
        elif what == "restart":
            self.bench.stop()
            self.bench.start()
            self.transport.reconnect()
        else:
            path, fields = self.fill(what).removeprefix("headers of ").split(": ", 1)
            wanted = dict(field.replace("_", " ").split("=", 1) for field in fields.split())
            sent = [headers for seen, headers in Files.seen if seen == path]
            found = {name: sent[-1].get(name) for name in wanted} if sent else None
            if found != wanted:
                raise Problem(f"sent {found}, not {wanted}")

    def play(self, step):
        if "bench" in step:
            return self.bench_step(step["bench"])
        if "event" in step:
            return self.transport.event(self.fill(step["event"]))
        if "heard" in step:
            if self.fill(step["heard"]) not in self.transport.events:
                raise Problem(f"{self.transport.events}")
            return None
        if "batch" in step:
            return self.batch(step)
        if "until" in step:
            try:
                return wait(f"{step['until']}", lambda: self.reached(step), 20)
            except AssertionError as error:
                raise Problem(f"{error}; now {json.dumps(self.once(step))[:300]}") from None
        result = self.once(step)
        if "want" in step:
            differs(result, step["want"], self.fill)
        for name, path in step.get("save", {}).items():
            self.saved[name] = part(result, path)


class Score:
    def __init__(self, aria2):
        self.aria2 = aria2
        self.passed = self.failed = self.known = 0

    def play(self, player, over):
        for place, step in enumerate(player.session["steps"]):
            if step.get("bench") == "restart" and self.aria2:
                return  # aria2 does not keep its list.
            if over == "http" and ("event" in step or "heard" in step):
                continue
            what = step.get("do") or str(step.get("event") or step.get("heard") or step.get("bench"))
            known = step.get("known") if not self.aria2 else None
            where = f"{player.session['name']} over {over}, step {place}, {what}"
            try:
                player.play(step)
            except (Problem, OSError, websocket.WebSocketException, LookupError, TypeError) as error:
                if known:
                    self.known += 1
                    print(f"known: {where}: {error} ({known})", flush=True)
                else:
                    self.failed += 1
                    print(f"FAILED: {where}: {type(error).__name__}: {error}", flush=True)
            else:
                self.passed += 1
                if known:
                    print(f"passes now, remove «known»: {where}")


def main():
    program = os.path.abspath(sys.argv[1])
    score = Score(os.path.basename(program) == "aria2c")
    number = 0
    for session in SESSIONS:
        for over in session["over"]:
            number += 1
            if sys.argv[2:] and session["name"] not in sys.argv[2:]:
                continue
            Files.found = False
            bench = Aria2Bench(program) if score.aria2 else Bench(program)
            try:
                transport = {"http": Http, "ws": WebSocket}[over](bench)
                score.play(Player(bench, session, transport, number), over)
                transport.close()
            finally:
                bench.end()
    print(f"{score.known} known failures")
    print(f"{score.passed} passed, {score.failed} failed")
    return 1 if score.failed else 0


if __name__ == "__main__":
    sys.exit(main())
