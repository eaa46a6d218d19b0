extension ManualText {
    /// The examples by command.
    static let examples: [String: [(command: String, meaning: String)]] = [
        "get": [
            ("dlm get https://example.org/debian-12.iso", "Download a file into the current folder:"),
            (
                "dlm get -o iso/debian.iso -x 4 https://example.org/debian-12.iso",
                "Use another name, a folder and four connections:"
            ),
            ("dlm get -d data -i urls.txt -j 8", "Download a list of URLs, eight at a time:"),
            (
                "file=$(dlm get --checksum sha256:HEX https://example.org/x.zip) || exit",
                "In a script, with a checksum:"
            ),
            (
                "dlm get --checksum-file https://example.org/SHA256SUMS https://example.org/debian-12.iso",
                "Verify with a published list of checksums:"
            ),
            (
                "dlm get --if-exists newer https://example.org/prices.csv",
                "Download only if the server has a newer file, for example every night:"
            ),
            (
                "dlm get -i urls.txt -d data --shard 0/8 --manifest manifest-0.jsonl",
                "Run as one worker of eight; the command may be run again:"
            ),
            (
                "dlm get -b --limit-rate 2M https://example.org/debian-12.iso",
                "Download in the background, at a limited speed:"
            ),
        ],
        "list": [
            ("dlm list", "List unfinished downloads:"),
            ("dlm list --all --limit 20", "List the newest 20 downloads, finished or not:"),
            ("dlm list --state failed --json | jq .id", "Print the numbers of failed downloads:"),
        ],
        "show": [("dlm show 3", "Show everything about one download:")],
        "pause": [
            ("dlm pause 3 5-8", "Pause some downloads, wherever they run:"),
            ("dlm pause --all", "Pause everything:"),
        ],
        "resume": [
            ("dlm resume 3 5-8", "Resume some downloads:"),
            ("dlm resume -b --all", "Resume everything in the background:"),
            ("dlm resume 3 -H \"Authorization: Bearer $TOKEN\"", "Resume a download and give its secret again:"),
        ],
        "cancel": [
            ("dlm cancel 3", "Cancel a download, and keep the fetched bytes:"),
            ("dlm cancel --state queued", "Cancel downloads that have not started:"),
        ],
        "remove": [
            ("dlm remove 3", "Forget a download and delete its partial file:"),
            ("dlm remove --delete-file 4", "Also delete the finished file:"),
            ("dlm remove --state completed", "Clear the history:"),
        ],
        "wait": [
            ("dlm wait 3 5-8", "Wait until some downloads are finished:"),
            ("file=$(dlm wait 3) || exit", "In a script, with the number that dlm get -b has printed:"),
            ("dlm wait --all --timeout 2h", "Wait for everything, but at most two hours:"),
        ],
        "verify": [
            ("dlm verify 3", "Check a finished download against its recorded checksum:"),
            ("dlm verify --checksum sha256:HEX x.zip", "Check any file:"),
            ("dlm verify --checksum-file SHA256SUMS *.iso", "Check files against a list:"),
        ],
        "watch": [
            ("dlm watch", "Show all downloads, and control them with keys (press ? for help):"),
            ("dlm watch --plain", "Follow everything that runs, until nothing runs any more:"),
            ("dlm watch 3", "Follow one download until it is finished:"),
        ],
        "events": [
            ("dlm events | jq -r .event", "Print new events as they happen:"),
            ("dlm events --since 1200 --once", "Print the events after a cursor, and then end, for example in cron:"),
        ],
        "limit": [
            ("dlm limit 2M", "Limit the speed of each dlm that is running now:"),
            ("dlm limit 500k 3 5-8", "Limit the speed of each of some downloads:"),
            ("dlm limit none 3", "Remove the limit of a download:"),
        ],
        "priority": [
            ("dlm priority 10 3", "Start a download before other waiting downloads:"),
            ("dlm priority -5 5-8", "Start some downloads after other waiting downloads:"),
        ],
        "work": [
            ("dlm get -b --store postgres://db.example.org/dlm -i urls.txt -d data", "Add a list to a queue:"),
            (
                "dlm work --store postgres://db.example.org/dlm -j 32 --manifest manifest.jsonl",
                "Download it, on as many machines as you like:"
            ),
            ("dlm list --store postgres://db.example.org/dlm", "Show the queue and its workers, from anywhere:"),
        ],
        "manifest": [
            ("dlm manifest summary manifest-*.jsonl", "Show the progress of all workers, and what failed:"),
            ("dlm manifest merge manifest-*.jsonl", "Print one line for each URL:"),
            ("dlm manifest failed --retryable manifest-*.jsonl", "List URLs that another run may get:"),
        ],
        "daemon": [
            (
                "dlm daemon start -j 4",
                "Start the background session with four downloads at a time, or change the number:"
            ),
            ("dlm daemon status", "Show whether the background session runs, and what it does:"),
            ("dlm daemon stop --finish", "Stop the background session when its running downloads have finished:"),
        ],
        "rpc": [
            ("dlm daemon start --rpc", "Serve aria2's RPC and a web page:"),
            ("dlm rpc open", "Open the web page:"),
            ("dlm rpc secret", "Print the secret of the server, for a browser extension:"),
        ],
        "doctor": [
            ("dlm doctor", "Check this build and machine:"),
            ("dlm doctor https://example.org/debian-12.iso", "Find out why a download fails or is slow:"),
            ("dlm doctor --json | jq 'select(.result != \"ok\")'", "Show only warnings and problems:"),
        ],
        "config": [
            ("dlm config", "Show every setting, and where it comes from:"),
            ("dlm config --json | jq 'select(.place)'", "Show only settings from the file or the environment:"),
        ],
        "set-url": [
            (
                "dlm set-url 3 https://mirror.example.org/debian-12.iso",
                "Continue from a new URL after the old URL has expired:"
            )
        ],
    ]
}
