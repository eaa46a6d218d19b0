import DownloadCore
import DownloadTestSupport
import Testing

@testable import dlm

/// Text of any length from users and servers that becomes part of a message.
@Suite("Fuzzing: time for messages", .inTurn, .serialized, .timeLimit(.minutes(5)))
struct LinearTimeFuzzTests {
    private static let prefixes = ["", "http://", "http://host/", "http://host/?"]
    private static let words = [
        "a:", "@", "a:b@", "://", "http://", "a=b&", "token=", " ", "/", ":", "é", "=", "?token=x,",
    ]

    @Test("Secrets are hidden in linear time, however malformed the URL is")
    func redaction() {
        let fuzzing = Fuzzing("Redaction", corpus: ["http://ann:x@h/a?token=b"], words: Self.words)
        fuzzing.runsInLinearTime(after: Self.prefixes) { input in
            let text = String(decoding: input, as: UTF8.self)
            _ = Redaction.describe(.requestInvalid(.malformedURL(text)))
            _ = Redaction.describe(.requestInvalid(.missingScheme(text)))
            _ = Redaction.describe(.serverRefused(status: 500, phrase: text))
            _ = ArgumentSecrets.secrets(in: input, of: nil)
        }
    }

    @Test("A URL of a command line is accepted or refused in linear time")
    func address() {
        let fuzzing = Fuzzing("Addresses", corpus: ["http://ann:x@h/a?token=b"], words: Self.words)
        fuzzing.runsInLinearTime(after: Self.prefixes) { input in
            let text = String(decoding: input, as: UTF8.self)
            guard case .failure(let error) = RequestMaker.address(text) else { return }
            _ = Redaction.describe(error)
        }
    }

    @Test("The message of a failure is made in linear time")
    func failures() {
        let record = DownloadRecord.example(state: .queued)
        let fuzzing = Fuzzing("Failures", corpus: ["\u{1B}[2J"], words: Self.words + ["\u{202E}", "e\u{301}"])
        fuzzing.runsInLinearTime(after: Self.prefixes) { input in
            let text = String(decoding: input, as: UTF8.self)
            _ = Escaping.line(FailureText.line(record, .serverRefused(status: 500, phrase: text)))
            _ = Escaping.json(text)
        }
    }

    @Test("The message about a wrong word is made in linear time")
    func words() throws {
        let fuzzing = Fuzzing(
            "Wrong words", corpus: ["stop", "--outptu"], words: ["a", "-", ".", "'", "=", ". Did you mean"])
        fuzzing.runsInLinearTime(after: ["", "-", "--"]) { input in
            let text = String(decoding: input, as: UTF8.self)
            _ = UnknownCommand.message([text])
            _ = UnknownOption.message("Unknown option '--\(text)'", ["get", "--\(text)"])
            _ = OptionCatalog.hint(for: text, in: OptionScope.settings)
            _ = try? OptionText(" \(text)=x")?.arguments()
            _ = OptionText.isOption(" " + text)
        }
    }
}

@Suite("Messages about long text", .inTurn, .timeLimit(.minutes(1)))
struct LongTextTests {
    @Test("A malformed URL of 100,000 characters is refused, and the password in it is not shown")
    func malformedURL() async throws {
        let text = "http://ann:hunter2@" + String(repeating: "a:", count: 50_000)
        let (status, captured) = try await run(["get", text], FakeService())
        #expect(status == 2)
        #expect(captured.errors.contains("malformed URL"))
        #expect(!captured.errors.contains("hunter2"))
    }

    @Test(
        "A text that looks like a login is hidden in a malformed URL",
        arguments: [
            ("http:/ann:hunter2@host/a", "http:/***@host/a"), ("ann:hunter2@host", "***@host"),
            ("http://h/ b:c@d e:f@g", "http://h/ ***@d ***@g"), ("a@b:c", "a@b:c"), ("a:b@c:d@e", "***@e"),
            ("plain words: none", "plain words: none"),
        ])
    func hidden(text: String, shown: String) {
        #expect(Redaction.describe(.requestInvalid(.unusableSecret(text))) == shown)
    }
}
