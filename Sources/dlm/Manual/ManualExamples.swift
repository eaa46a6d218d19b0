extension ManualText {
    /// The examples by command.
    static let examples: [String: [(command: String, meaning: String)]] = [
        "get": [
            ("dlm get https://example.org/debian-12.iso", "Download a file into the current folder:"),
            (
                "dlm get -o iso/debian.iso -x 4 https://example.org/debian-12.iso",
                "With another name, a folder and four connections:"
            ),
            ("dlm get -d data -i urls.txt -j 8", "A list of URLs, eight at a time:"),
            ("file=$(dlm get --checksum sha256:HEX https://example.org/x.zip) || exit", "In a script, verified:"),
            (
                "dlm get --checksum-file https://example.org/SHA256SUMS https://example.org/debian-12.iso",
                "By the list that is published beside it:"
            ),
            (
                "dlm get --if-exists newer https://example.org/prices.csv",
                "Every night, only when the server's file is newer:"
            ),
            (
                "dlm get -i urls.txt -d data --shard 0/8 --manifest manifest-0.jsonl",
                "As one worker of eight, which can be run again:"
            ),
            ("dlm get -b --limit-rate 2M https://example.org/debian-12.iso", "In the background, and not too fast:"),
        ],
        "list": [
            ("dlm list", "What is not finished:"),
            ("dlm list --all --limit 20", "The newest, finished or not:"),
            ("dlm list --state failed --json | jq .id", "The numbers of the failed ones:"),
        ],
        "show": [("dlm show 3", "Everything about one download:")],
        "pause": [
            ("dlm pause 3 5-8", "Stop some downloads for now, whoever runs them:"),
            ("dlm pause --all", "Stop everything:"),
        ],
        "resume": [
            ("dlm resume 3 5-8", "Go on with some downloads:"),
            ("dlm resume -b --all", "Go on with everything that stands still, in the background:"),
            ("dlm resume 3 -H \"Authorization: Bearer $TOKEN\"", "Give a secret again:"),
        ],
        "cancel": [
            ("dlm cancel 3", "End a download, and keep what was fetched:"),
            ("dlm cancel --state queued", "End what has not begun:"),
        ],
        "remove": [
            ("dlm remove 3", "Forget a download and delete its partial file:"),
            ("dlm remove --delete-file 4", "Delete its finished file as well:"),
            ("dlm remove --state completed", "Clear the history:"),
        ],
        "wait": [
            ("dlm wait 3 5-8", "Until some downloads are finished:"),
            ("file=$(dlm wait 3) || exit", "In a script, once dlm get -b has told the number:"),
            ("dlm wait --all --timeout 2h", "Not for ever:"),
        ],
        "verify": [
            ("dlm verify 3", "A finished download against what it was found to hash to then:"),
            ("dlm verify --checksum sha256:HEX x.zip", "Any file:"),
            ("dlm verify --checksum-file SHA256SUMS *.iso", "Files against a list:"),
        ],
        "watch": [
            ("dlm watch", "Everything that runs, wherever it runs:"),
            ("dlm watch 3", "One download until it is finished:"),
        ],
        "events": [
            ("dlm events | jq -r .event", "What happens from now on:"),
            ("dlm events --since 1200 --once", "What has happened behind a cursor, for cron:"),
        ],
        "limit": [
            ("dlm limit 2M", "All that runs at the moment, for each dlm that runs:"),
            ("dlm limit 500k 3 5-8", "Some downloads, each for itself:"),
            ("dlm limit none 3", "As fast as it goes again:"),
        ],
        "priority": [
            ("dlm priority 10 3", "Start this one before the others:"),
            ("dlm priority -5 5-8", "And these after them:"),
        ],
        "manifest": [
            ("dlm manifest summary manifest-*.jsonl", "How far all workers are, and what fails:"),
            ("dlm manifest merge manifest-*.jsonl", "One line for each URL:"),
            ("dlm manifest failed --retryable manifest-*.jsonl", "A list of what another run may get:"),
        ],
        "daemon": [
            ("dlm daemon start -j 4", "Start the background session, or tell it to run four downloads at a time:"),
            ("dlm daemon status", "See whether it runs, and what it does:"),
            ("dlm daemon stop --finish", "End it once the downloads that run have ended:"),
        ],
        "rpc": [
            ("dlm daemon start --rpc", "Serve aria2's RPC and a web page:"),
            ("dlm rpc open", "Open the page:"),
            ("dlm rpc secret", "Print the secret, for a browser extension:"),
        ],
        "doctor": [
            ("dlm doctor", "What this build and machine can do:"),
            ("dlm doctor https://example.org/debian-12.iso", "Why a download fails, or is slow:"),
            ("dlm doctor --json | jq 'select(.result != \"ok\")'", "Only what is amiss:"),
        ],
        "config": [
            ("dlm config", "Every setting, and where it comes from:"),
            ("dlm config --json | jq 'select(.place)'", "Only those that somebody set:"),
        ],
        "set-url": [("dlm set-url 3 https://mirror.example.org/debian-12.iso", "When the old link has expired:")],
    ]
}
