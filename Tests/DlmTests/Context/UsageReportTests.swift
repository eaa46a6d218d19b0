import DownloadTestSupport
import Testing

@testable import dlm

@Suite("Messages of the argument parser", .inTurn, .serialized)
struct UsageReportTests {
    /// Returns the report about a wrong command line.
    func report(_ line: String) throws -> UsageReport {
        let arguments = line.split(separator: " ").map { String($0) }
        let error = #expect(throws: (any Error).self) { try DLM.command(arguments) }
        return UsageReport(try #require(error), arguments: arguments)
    }

    @Test(
        "A usage error is one line that says what to do",
        arguments: [
            ("get", "give a URL, a list with -i, or a Metalink document with -M; run: dlm get --help"),
            ("get --retrys 3 u", "unknown option '--retrys'; did you mean '--retries'?"),
            ("get -Z u", "unknown option '-Z'; run: dlm get --help"),
            ("--frobnicate", "unknown option '--frobnicate'; run: dlm --help"),
            ("gte u", "unknown command 'gte'; did you mean 'get'?"),
            ("shwo 3", "unknown command 'shwo'; did you mean 'show'?"),
            ("frobnicate", "unknown command 'frobnicate'; run: dlm --help"),
            ("lst", "unknown command 'lst'; did you mean 'list'?"),
            ("example.org", "unknown command 'example.org'; to download it run: dlm get example.org"),
            ("3", "unknown command '3'; to see that download run: dlm show 3"),
            (
                "status",
                "unknown command 'status'; dlm list shows the downloads, dlm daemon status the background session"
            ),
            (
                "logs",
                "unknown command 'logs'; dlm events follows every change, and dlm show 3 tells everything about one download"
            ),
            ("daemon strat", "unknown command 'daemon strat'; did you mean 'daemon start'?"),
            ("get --retries x u", "the value 'x' is invalid for '--retries <n>'; run: dlm get --help"),
            (
                "get --if-exists x u",
                "the value 'x' is invalid for '--if-exists <what>'; give one of 'fail', 'overwrite', 'rename', 'skip' or 'newer'"
            ),
            (
                "list --state x",
                "the value 'x' is invalid for '--state <state>'; give one of queued, running, waiting, paused, completed, failed, cancelled"
            ),
            (
                "show x",
                "the value 'x' is invalid for '<id>': give a number such as 3, or a range such as 5-8; run: dlm show --help"
            ),
            (
                "get --retry-delay 5x u",
                "the value '5x' is invalid for '--retry-delay <time>': give a time such as 30, 1.5s, 5m, 2h or 30d; run: dlm get --help"
            ),
            ("resume", "give the numbers of downloads, --all or --state; run: dlm resume --help"),
            ("resume --all 3", "give the numbers of downloads, --all or --state; run: dlm resume --help"),
            (
                "get -x 65 u",
                "the value '65' is invalid for '-x <n>': give 1 to 64 connections, auto, or auto:N for at most N; run: dlm get --help"
            ),
            ("get -j 0 u", "-j 0: give 1 to 1000 downloads; run: dlm get --help"),
            ("get --retries -1 u", "missing value for '--retries <n>'; run: dlm get --help"),
            ("list --limit -1", "--limit -1: give 0 or more; run: dlm list --help"),
            ("get -o x u v", "-o names one file; give several URLs a folder with -d"),
            (
                "get --checksum md5:00112233445566778899aabbccddeeff u v",
                "--checksum is for a single URL; for several give --checksum-file"
            ),
            (
                "get --checksum sha9:00 u",
                "--checksum sha9:00: not of the form ALGO:HEX or ALGO:URL with ALGO one of md5, sha1, sha224, sha256, sha384, sha512; run: dlm get --help"
            ),
            ("get -H secret u", "-H: header field 1 is not of the form 'Name: value'; run: dlm get --help"),
        ])
    func usage(line: String, message: String) throws {
        let report = try report(line)
        #expect(report.message == message)
        #expect(report.status == 2)
    }

    @Test(
        "The message about an unknown option suggests the intended option or the help",
        arguments: [
            ("get --conections 4 u", "--conections", "did you mean '--connections'?"),
            ("get --limit 5M u", "--limit", "did you mean '--limit-rate'?"),
            ("get -output x u", "-output", "did you mean '--output'?"),
            ("list --stat failed", "--stat", "did you mean '--state'?"),
            ("list --foo", "--foo", "run: dlm list --help"),
            ("daemon start --foo", "--foo", "run: dlm daemon start --help"),
            ("--versio", "--versio", "did you mean '--version'?"),
            ("--json list", "--json", "write the options of a command after its name; run: dlm list --help"),
            ("list --ephemeral", "--ephemeral", "it is an option of dlm get"),
            ("get -O x u", "-O", "here it is '--output'"), ("get -nc u", "-nc", "here it is '--if-exists skip'"),
            ("get --tries=3 u", "--tries", "here it is '--retries'"),
            ("get -L u", "-L", "redirects are followed without it"), ("list -L", "-L", "run: dlm list --help"),
            ("get -s16 u", "-s16", "here it is '--connections 16'"),
            ("get -k1M u", "-k1M", "dlm itself decides how to divide a file; leave it out"),
            ("get -qO- u", "-qO-", "here it is '--output -'"), ("get -sSL u", "-sSL", "here it is '--quiet'"),
            ("get -LO u", "-LO", "redirects are followed without it"),
            (
                "resume 3 --limit-rate 10M", "--limit-rate",
                "to change the speed limit of a download run: dlm limit RATE ID"
            ),
            ("resume 3 --zzz 10M", "--zzz", "run: dlm resume --help"),
            ("retry 3 --zzz 10M", "--zzz", "run: dlm resume --help"),
            ("https://a/x --conections 4", "--conections", "did you mean '--connections'?"),
            ("priority -5 3 --frob", "--frob", "run: dlm priority --help"),
        ])
    func unknownOption(line: String, option: String, hint: String) throws {
        #expect(try report(line).message == "unknown option '\(option)'; \(hint)")
    }

    @Test("ForeignOption lists no option that dlm get has")
    func foreign() throws {
        let get = try #require(try CommandDescription.root().subcommands?.first { $0.commandName == "get" })
        let names = get.visibleArguments.flatMap { $0.names ?? [] }.map(\.text)
        for option in ForeignOption.all { #expect(!names.contains(option), "\(option) is an option of dlm get") }
    }

    @Test(
        "Help and version are not errors",
        arguments: ["--help", "get --help", "help get", "help daemon start", "help ls", "help", "--version"])
    func help(line: String) throws {
        let report = try report(line)
        #expect(report.status == 0)
        #expect(report.message.hasPrefix(line == "--version" ? "dlm " : "OVERVIEW: "))
    }

    @Test(
        "Help for an unknown command is a usage error",
        arguments: [
            ("help nonsense", "unknown command 'nonsense'; run: dlm --help"),
            ("help gte", "unknown command 'gte'; did you mean 'get'?"),
            ("help daemon strat", "unknown command 'daemon strat'; did you mean 'daemon start'?"),
            ("help get nonsense", "'nonsense' is not a command; dlm get has no subcommands"),
        ])
    func helpForNothing(line: String, message: String) throws {
        let report = try report(line)
        #expect(report.status == 2 && report.message.hasPrefix(message), "\(report)")
    }

    @Test("An unexpected error gives status 1 and one line")
    func unexpected() {
        struct Odd: Error, CustomStringConvertible { let description = "Something\nwent wrong." }
        let report = UsageReport(Odd(), arguments: ["get"])
        #expect(report.status == 1)
        #expect(report.message == "something went wrong")
    }

    @Test(
        "The distance counts missing, added, changed and swapped letters",
        arguments: [
            ("", "", 0), ("", "abc", 3), ("get", "get", 0), ("gt", "get", 1), ("gett", "get", 1), ("gat", "get", 1),
            ("gte", "get", 1), ("rusume", "resume", 1), ("kitten", "sitting", 3),
        ])
    func distance(first: String, second: String, count: Int) {
        #expect(UnknownCommand.distance(first, second) == count)
        #expect(UnknownCommand.distance(second, first) == count)
    }
}
