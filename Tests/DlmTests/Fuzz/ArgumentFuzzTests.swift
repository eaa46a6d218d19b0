import ArgumentParser
import DownloadCore
import DownloadTestSupport
import Foundation
import Testing

@testable import dlm

/// Text that users write: on the command line, in lists and in the configuration.
@Suite("Fuzzing: command line, lists and configuration", .inTurn, .serialized)
struct ArgumentFuzzTests {
    static let commands = [
        ["get", "-x", "4", "-o", "a.bin", "http://h/a"], ["get", "-i", "list", "--limit-rate", "1.5GiB", "-j", "9"],
        ["get", "http://h/a", "--retry-delay", "5m", "--checksum", "md5:00", "-H", "A: b", "--priority", "-5"],
        ["list", "--all", "--limit", "5", "--state", "failed", "--json"], ["show", "3"], ["pause", "3", "5-8"],
        ["resume", "--all", "-k", "-x", "64"], ["remove", "1-100", "--delete-file"], ["limit", "500k", "3"],
        ["wait", "3", "--timeout", "1.5s", "--any"], ["events", "--since", "12"], ["priority", "-5", "1-3", "9"],
        ["set-url", "3", "http://u:p@h/x"], ["verify", "3", "a.bin", "--checksum-file", "http://h/SUMS"],
        ["daemon", "run", "--limit-rate", "none"], ["--version"], [],
    ]

    @Test("Command lines: each is a command or a usage error")
    func commandLine() {
        let corpus = Self.commands.map { $0.joined(separator: "\n") }
        let words = ["\n", "--", "--all", "1-9999999", "-9223372036854775808", "\n-", "--state=", "K", "\n\n"]
        Fuzzing("Command lines", corpus: corpus, words: words).run(scale: 0.02) { input in
            let text = String(decoding: input.prefix(4096), as: UTF8.self)
            do {
                _ = try DLM.command(text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init))
            } catch {
                return "\(error)".isEmpty ? "an error without words" : nil
            }
            return nil
        }
    }

    @Test("Priorities at the limits of integers are refused", arguments: [Int.min, .min + 1, .max])
    func priority(_ number: Int) async throws {
        let (status, captured) = try await run(["priority", "\(number)", "3"], FakeService())
        #expect(status == 2)
        #expect(captured.errors.contains("not a priority"))
    }

    @Test("Times, speeds and numbers are within their bounds, and a time can be written and read again")
    func values() {
        let corpus = ["30", "1.5s", "5m", "2h", "30d", "500k", "2M", "1.5GiB", "none", "3", "5-8", "1-1000000", "1K/s"]
        let fuzzing = Fuzzing("Arguments", corpus: corpus, words: ["GiB", "/s", ".", "K", "\u{212A}", "٣", "５"])
        fuzzing.run { input in
            let text = String(decoding: input, as: UTF8.self)
            if let seconds = try? Seconds(argument: text) {
                guard (0...1e9).contains(seconds.value), let again = try? Seconds(argument: "\(seconds)"),
                    again == seconds || seconds.value < 1e-4
                else { return "\(seconds) s" }
            }
            if let rate = try? ByteRate(argument: text), let limit = rate.limit {
                if limit < 1 || limit > 1 << 50 || rate.description.isEmpty { return "\(rate)" }
            }
            if let range = try? IDRange(argument: text) {
                if range.ids.lowerBound < 1 || range.ids.count > 1_000_000 { return "\(range.ids)" }
            }
            _ = try? DownloadRequest.Connections(argument: text)
            _ = try? HistoryAge(argument: text)
            return nil
        }
        fuzzing.runsInLinearTime { input in
            let text = String(decoding: input, as: UTF8.self)
            _ = try? Seconds(argument: text)
            _ = try? ByteRate(argument: text)
            _ = try? IDRange(argument: text)
        }
    }

    @Test("Lists: the lines do not depend on how the input is split")
    func lists() {
        let corpus = ["http://h/a\n# comment\n\nhttp://h/b\r\n\thttp://h/c  \n", "\u{FEFF}http://h/a", "a b\n  c=d\n"]
        let fuzzing = Fuzzing("Lists", corpus: corpus, words: ["\n", "\r\n", "#", "\u{2028}", "\u{FEFF}", " "])
        fuzzing.run { input in
            var (whole, parts) = (LineSplitter(), LineSplitter())
            let lines = whole.split(input) + whole.end()
            var random = SplitMix64(seed: UInt64(input.count))
            var rest = input[...]
            var others: [InputList.Line] = []
            while !rest.isEmpty {
                let part = rest.prefix(Int.random(in: 1...max(1, input.count / 3), using: &random))
                others += parts.split(Array(part))
                rest = rest.dropFirst(part.count)
            }
            others += parts.end()
            if lines != others { return "\(lines) and \(others)" }
            let isInOrder = zip(lines, lines.dropFirst()).allSatisfy { $0.number < $1.number }
            return isInOrder && lines.allSatisfy { !$0.text.utf8.contains(10) && !$0.text.isEmpty } ? nil : "\(lines)"
        }
        fuzzing.runsInLinearTime { input in
            var splitter = LineSplitter()
            _ = splitter.split(input) + splitter.end()
        }
    }

    @Test("Configuration: the result is entries or one error, in time linear in the size of the file")
    func settings() throws {
        let file = try #require(SettingsFile(environment: ["HOME": "/home/me"]))
        let corpus = [
            "history-age: 30d\nretries: 5\n", "# a comment\nlimit-rate: '1.5GiB'\n", "connections: &a 4\nretries: *a\n",
            "{connections: 3, retries: 2}", "---\nmax-concurrent: 9\n...\n", "retry-delay: |\n  5s\n", "a: [1, 2]\n",
            "hosts:\n  \"*.example.org\":\n    header: [\"A: 1\", \"B: 2\"]\n  h: {max-per-host: 2}\n",
        ]
        let words = [": ", "\n  ", "- ", "&a ", "*a", "<<: *a\n", "!!binary ", "? ", "{{", "[[", "---\n", "|\n", "\t"]
        let fuzzing = Fuzzing("Configuration", corpus: corpus, words: words)
        fuzzing.run { input in
            let text = String(decoding: input, as: UTF8.self)
            do throws(SettingsError) {
                return try file.entries(in: text).allSatisfy { $0.place.contains("config.yaml:") } ? nil : "no place"
            } catch {
                return error.message.hasPrefix("/home/me/.config/dlm/config.yaml") ? nil : error.message
            }
        }
        fuzzing.runsInLinearTime { _ = try? file.entries(in: String(decoding: $0, as: UTF8.self)) }
    }
}
