import ArgumentParser
import DownloadTestSupport
import Testing

@testable import dlm

@Suite("Usage errors and help", .inTurn, .serialized)
struct UsageTests {
    @Test(
        "A usage error is one line that says what is wrong, and status 2",
        arguments: [
            (["frobnicate"], "'frobnicate'"),
            (["get"], "give a URL"),
            (["get", "--frob", "http://a/"], "'--frob'"),
            (["get", "-o", "x", "http://a/", "http://b/"], "-o names one file"),
            (["get", "-o", "x", "-i", "list"], "-o names one file"),
            (["get", "-o", "-", "-b", "http://a/"], "leave out -b"),
            (["get", "-o", "-", "http://a/", "http://b/"], "one file"),
            (["get", "-o", "x/", "http://a/"], "names a folder"),
            (["get", "-o", "", "http://a/"], "no file name"),
            (["get", "-o", "a/..", "http://a/"], "no file name"),
            (["get", "-o", "/x", "-d", "y", "http://a/"], "both"),
            (["get", "-d", "", "http://a/"], "no folder"),
            (["get", "-x", "0", "http://a/"], "'0' is invalid for '-x <n>': give 1 to 64"),
            (["get", "-x", "65", "http://a/"], "'65' is invalid for '-x <n>': give 1 to 64"),
            (["get", "-j", "0", "http://a/"], "-j 0"),
            (["get", "--retries", "-1", "http://a/"], "--retries"),
            (["get", "--retry-delay", "soon", "http://a/"], "'soon'"),
            (["get", "--connect-timeout", "0", "http://a/"], "--connect-timeout"),
            (["get", "--stall-timeout", "0s", "http://a/"], "--stall-timeout"),
            (["get", "--max-redirects=-1", "http://a/"], "--max-redirects"),
            (["get", "--checksum", "sha256:abc", "http://a/"], "--checksum sha256:abc"),
            (["get", "--checksum", "md5:d41d8cd98f00b204e9800998ecf8427e", "http://a/", "http://b/"], "a single URL"),
            (["get", "--if-exists", "maybe", "http://a/"], "'maybe'"),
            (["get", "--progress", "loud", "http://a/"], "'loud'"),
            (["get", "--color", "pink", "http://a/"], "'pink'"),
            (["list", "--state", "gone"], "'gone'"),
            (["list", "--limit", "-1"], "--limit"),
            (["show"], "id"),
            (["show", "x"], "'x'"),
            (["resume"], "give the numbers"),
            (["resume", "3", "--all"], "give the numbers"),
            (["remove"], "give the numbers"),
            (["pause"], "give the numbers"),
            (["pause", "3", "--state", "queued"], "give the numbers"),
            (["cancel", "x"], "'x'"),
            (["wait"], "give the numbers"),
            (["wait", "3", "--timeout", "soon"], "'soon'"),
            (["watch", "3", "--all"], "give the numbers"),
            (["events", "--since", "-1"], "--since"),
            (["events", "--since", "x"], "'x'"),
            (["limit", "--all"], "rate"),
            (["limit", "fast"], "'fast'"),
            (["priority"], "id"),
            (["priority", "5"], "give the numbers"),
            (["priority", "high", "3"], "'high'"),
            (["priority", "5", "x"], "'x'"),
            (["priority", "5", "3", "--frob"], "'--frob'"),
            (["set-url", "3"], "url"),
            (["set-url", "3-4", "http://a/"], "a single download"),
            (["get", "-b", "-j", "4", "http://a/"], "dlm daemon start -j 4"),
            (["get", "-b", "--max-per-host", "4", "http://a/"], "dlm daemon start --max-per-host 4"),
            (["get", "--max-per-host", "0", "http://a/"], "--max-per-host 0"),
            (["get", "--limit-rate", "fast", "http://a/"], "'fast'"),
            (
                ["get", "-M", "f", "--checksum", "md5:d41d8cd98f00b204e9800998ecf8427e"],
                "--checksum is for a single URL"
            ),
            (["get", "-M", "f", "--mirror", "http://b/"], "--mirror is for a single URL"),
            (["get", "-M", ""], "-M: no file given"),
            (["get", "-M", "f", "-o", "-"], "leave out -M"),
            (["get", "-M", "f", "--name-by", "url"], "leave out --name-by"),
            (["get", "--name-by", "number", "http://a/"], "give them all with -i"),
            (["get", "--name-by", "url", "-o", "x", "http://a/"], "-o and --name-by"),
            (["get", "--spread", "http://a/"], "--spread needs --name-by"),
            (["get", "--wait", "1s", "--per-host-rate", "1", "http://a/"], "--wait and --per-host-rate"),
            (["get", "--per-host-rate", "0", "http://a/"], "0.0001 to 10000"),
            (["get", "-b", "--manifest", "m", "http://a/"], "--manifest is only for"),
            (["get", "-b", "--max-failures", "3", "http://a/"], "--max-failures is only for"),
            (["get", "-b", "--state", "s", "http://a/"], "set XDG_STATE_HOME"),
            (["get", "--state", "", "http://a/"], "--state: no folder given"),
            (["get", "-o", "-", "--manifest", "m", "http://a/"], "leave out --manifest"),
            (["get", "--manifest", "", "http://a/"], "--manifest: no file given"),
            (["get", "--manifest-digest", "http://a/"], "give --manifest, too"),
            (["get", "--retry-failed", "http://a/"], "give --manifest, too"),
            (["get", "--max-failures", "101%", "http://a/"], "a percentage such as 5%"),
            (["get", "--max-failures", "few", "http://a/"], "a number such as 10"),
            (["get", "--shard", "1/2", "http://a/"], "give one with -i"),
            (["get", "--shard-by", "url", "-i", "f"], "--shard-by needs --shard"),
            (["get", "--repair", "-c", "http://a/"], "leave out -c and --if-exists"),
            (["get", "-u", "a:b", "--bearer-command", "c", "http://a/"], "--bearer-command exclude each other"),
            (["get", "-u", "a:b", "--bearer-file", "c", "http://a/"], "--bearer-file exclude each other"),
            (["get", "-u", ":b", "http://a/"], "no name given"),
            (["get", "--basic", "--digest", "http://a/"], "--basic, --digest"),
            (["get", "--aws-sigv4", "aws:", "http://a/"], "PROVIDER1[:PROVIDER2"),
            (["get", "--netrc-file", "", "http://a/"], "--netrc-file: no file given"),
            (["get", "-M", "f", "--metalink-location", "germany"], "a country code of two letters"),
            (["get", "--store", "postgres://h/d", "http://a/"], "give -b, too"),
            (["get", "-b", "--store", "postgres://h/d", "--name-by", "number", "-i", "f"], "give url or hash"),
            (["get", "-b", "--store", "postgres://h/d", "-M", "f"], "--store and -M"),
            (["work", "--store", "postgres://h/d", "--workers-per-host", "0"], "give 1 to 1000 workers"),
            (["work", "--store", "postgres://h/d", "--lease-time", "0.5s"], "--lease-time 0.5: give 1s to 24h"),
            (["work", "--store", "postgres://h/d", "-d", ""], "-d: no folder given"),
            (["work", "--store", "postgres://h/d", "--state", ""], "--state: no folder given"),
            (["work", "--store", "postgres://h/d", "--manifest", ""], "--manifest: no file given"),
            (["work", "--store", "postgres://h/d", "--manifest-digest"], "give --manifest, too"),
        ])
    func wrong(arguments: [String], part: String) async throws {
        let (status, captured) = try await run(arguments, FakeService())
        #expect(status == 2)
        #expect(captured.output == "")
        #expect(captured.errorLines.count == 1, "\(captured.errors)")
        #expect(captured.errors.hasPrefix("dlm: "))
        #expect(captured.errors.contains(part), "\(captured.errors)")
    }

    @Test(
        "An invalid URL is reported before any download begins",
        arguments: [
            ("me@example.org/x", "https://***@example.org/x?"),
            ("not a url", "give one such as https://example.org/file"),
            ("magnet:?xt=urn:btih:abc", "BitTorrent"), ("/nowhere/x", "did you mean file:///nowhere/x?"),
            ("gopher://example.org/x", "unsupported scheme"),
            ("http://", "http://: malformed URL"), ("http://exa mple/", "malformed URL"), ("", "malformed URL"),
        ])
    func badURL(url: String, part: String) async throws {
        let service = FakeService()
        let (status, captured) = try await run(["get", "https://example.org/good", url], service)
        #expect(status == 2)
        #expect(captured.errorLines.count == 1 && captured.errors.contains(part), "\(captured.errors)")
        #expect(service.calls == [])
    }

    @Test("A malformed header field is refused, and the message does not repeat it, because it may be a secret")
    func badHeader() async throws {
        let (status, captured) = try await run(["get", "-H", "hunter2", "http://a/"], FakeService())
        #expect(status == 2)
        #expect(captured.errors.contains("-H") && !captured.errors.contains("hunter2"))
    }

    @Test(
        "A password in a malformed URL is not repeated",
        arguments: ["me:hunter2@example.org/x", "http://me:hunter2@:x/", "gopher://me:hunter2@example.org/"])
    func badURLWithPassword(url: String) async throws {
        let (status, captured) = try await run(["get", url], FakeService())
        #expect(status == 2)
        #expect(!captured.errors.contains("hunter2"), "\(captured.errors)")
    }

    @Test(
        "Help is printed to standard output, with status 0",
        arguments: [["--help"], ["get", "--help"], ["help", "list"]])
    func help(arguments: [String]) async throws {
        let (status, captured) = try await run(arguments, FakeService())
        #expect(status == 0)
        #expect(captured.output.contains("USAGE: dlm"))
        #expect(captured.errors == "")
    }

    @Test("--version is one line")
    func version() async throws {
        let (status, captured) = try await run(["--version"], FakeService())
        #expect(status == 0)
        #expect(captured.output.hasPrefix("dlm ") && captured.outputLines.count == 1)
    }

    @Test("Every command sets its name, because deriving the name from the type slows every start")
    func names() {
        let commands = DLM.configuration.subcommands + Daemon.configuration.subcommands
        #expect(commands.filter { $0.configuration.commandName == nil }.isEmpty)
    }
}
