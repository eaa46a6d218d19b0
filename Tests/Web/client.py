"""Tests dlm with the API and the command line of aria2p, a client for aria2. Usage: client.py DLM"""

import os
import subprocess
import sys
import threading

import aria2p
from bench import Bench, Files, wait

bench = Bench(os.path.abspath(sys.argv[1]))
passed = 0


def done(what):
    global passed
    passed += 1
    print(f"ok: {what}", flush=True)


def command(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "aria2p", "-p", str(bench.port), "-s", bench.secret, *arguments], check=True,
        capture_output=True, text=True, env=dict(bench.environment, PATH=os.environ["PATH"])).stdout


try:
    client = aria2p.Client(host="http://127.0.0.1", port=bench.port, secret=bench.secret)
    api = aria2p.API(client)
    heard = []
    listener = threading.Thread(
        target=lambda: client.listen_to_notifications(
            on_download_start=lambda gid: heard.append(("start", gid)),
            on_download_complete=lambda gid: heard.append(("complete", gid)), timeout=1, handle_signals=False))
    listener.start()
    assert len(client.list_methods()) == 36 and client.get_version()["version"] == "1.37.0"
    done("36 methods")
    slow = api.add_uris([bench.files + "/slow/one.bin"], options={"split": "1", "header": ["Cookie: a=b"], "referer": "http://r/"})
    wait("it runs", lambda: api.get_download(slow.gid).is_active and api.get_download(slow.gid).completed_length > 0)
    assert [one.gid for one in api.get_downloads()] == [slow.gid]
    sent = Files.seen[0][1]
    assert sent["Cookie"] == "a=b" and sent["Referer"] == "http://r/", sent
    assert api.pause([slow]) == [True]
    wait("it is paused", lambda: api.get_download(slow.gid).is_paused)
    assert api.set_options({"max-download-limit": "300K"}, [slow]) == [True]
    assert api.get_options([slow])[0].max_download_limit == 300 * 1024
    assert api.resume([slow]) == [True]
    done("add, show, pause, options, resume")
    wait("it is complete", lambda: api.get_download(slow.gid).is_complete, 60)
    done("it completes")
    failed = api.add_uris([bench.files + "/missing/x"])
    wait("it fails", lambda: api.get_download(failed.gid).has_failed)
    assert api.get_download(failed.gid).error_code == "3"
    Files.found = True
    retried = api.retry_downloads([api.get_download(failed.gid)])
    assert retried == [True], retried
    wait("the retry completes", lambda: sum(one.is_complete for one in api.get_downloads()) == 2)
    done("a failure is tried again")
    assert slow.gid in command("show") or "one.bin" in command("show")
    command("add", bench.files + "/small/three.bin")
    wait("three complete", lambda: sum(one.is_complete for one in api.get_downloads()) == 3)
    held = api.add_uris([bench.files + "/small/four.bin"], options={"pause": "true"})
    command("remove", held.gid)
    assert held.gid not in [one.gid for one in api.get_downloads()]
    command("purge")
    assert api.get_downloads() == []
    done("the command line: show, add, remove, purge")
    wait("notifications", lambda: ("complete", slow.gid) in heard and ("start", slow.gid) in heard)
    client.stop_listening()
    listener.join(10)
    assert not listener.is_alive()
    done("notifications")
finally:
    bench.end()
print(f"{passed} passed, 0 failed")
