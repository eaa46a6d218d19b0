import DownloadKit
import DownloadTestSupport
import Synchronization
import Testing

@testable import dlm

@Suite("URLs without a scheme", .inTurn, .serialized)
struct SchemelessAddressTests {
    @Test(
        "The host, the port and the possible schemes of a text without a scheme",
        arguments: [
            ("example.org/x", "example.org", nil, ["https", "http"]),
            ("example.org", "example.org", nil, ["https", "http"]),
            ("Example.ORG:443/x", "example.org", 443, ["https"]), ("example.org:80", "example.org", 80, ["http"]),
            ("127.0.0.1:8080/x", "127.0.0.1", 8080, ["http"]), ("localhost/x", "localhost", nil, ["https", "http"]),
            ("nas:8080/x", "nas", 8080, ["http"]), ("[::1]:8443/x", "[::1]", 8443, ["http"]),
            ("10.0.0.1?a=b", "10.0.0.1", nil, ["https", "http"]),
            ("bücher.example/x", "bücher.example", nil, ["https", "http"]),
            ("a.example/x@y:z", "a.example", nil, ["https", "http"]),
        ] as [(String, String, Int?, [String])])
    func address(text: String, host: String, port: Int?, schemes: [String]) throws {
        let address = try #require(SchemelessAddress(text))
        #expect(address.host == host && address.port == port)
        #expect(address.schemes(allowed: ["https", "http"]) == schemes)
        #expect(address.schemes(allowed: ["https"]) == ["https"])
    }

    @Test(
        "Texts that probably do not mean a server are refused",
        arguments: [
            "", "lst", "lst/x", "3", "3-5", "1.5", "./example.org", "../x", "/a", "//h/a", "~/x.org", "-x.org",
            ".hidden",
            "http://a/x", "http:/h", "magnet:?xt=urn:btih:abc", "mailto:me@example.org", "me:pw@example.org/x",
            "a b.org",
            "exa..mple.org", "C:\\x.org", "x.org:0", "x.org:65536", "x.org:8o", "x.org:", "[x]:80", "example.1",
            "256.1.1.1",
        ])
    func none(text: String) {
        #expect(SchemelessAddress(text) == nil)
    }

    @Test(
        "A URL in the place of a command is downloaded, and a word of another tool becomes a command of dlm",
        arguments: [
            ("https://a/x", "get https://a/x"), ("example.org/x -o y", "get example.org/x -o y"),
            ("nas:80", "get nas:80"), ("-x4 https://a/x", "get -x4 https://a/x"), ("magnet:?x", "get magnet:?x"),
            ("-q -o x https://a/x", "get -q -o x https://a/x"), ("gopher://a/x", "get gopher://a/x"),
            ("lst", "lst"), ("example.org", "example.org"), ("here.org/x", "here.org/x"), ("urls.txt", "urls.txt"),
            ("-q list https://a/x", "-q list https://a/x"), ("--help", "--help"), ("3:5", "3:5"),
            ("---completion get -- urls https://a", "---completion get -- urls https://a"),
            ("set-url 3 https://a/x", "set-url 3 https://a/x"),
            // Words of other tools.
            ("info 3", "show 3"), ("history", "list --all"), ("add u", "get -b u"), ("stop --all", "pause --all"),
            ("help retry", "help resume"), ("version", "--version"), ("help u.org/x", "help u.org/x"),
        ])
    func command(line: String, meaning: String) {
        let words = line.split(separator: " ").map { String($0) }
        let resolved = CommandAlias.resolved(words) { $0 == "here.org/x" }
        #expect(resolved.joined(separator: " ") == meaning)
    }

    @Test("Aliases are not names of commands, and lead to commands")
    func aliases() throws {
        for (word, command) in CommandAlias.same {
            #expect(!DLM.commandNames.contains(word) && CommandAlias.similar[word] == nil, "\(word)")
            #expect(DLM.commandNames.contains(command[0]) || command == ["--version"], "\(word)")
        }
        for word in CommandAlias.similar.keys { #expect(!DLM.commandNames.contains(word), "\(word)") }
    }

    // MARK: The choice of the scheme

    private static let refused = DownloadError.networkFailed(
        .connect, TransportDiagnosis(code: 7, message: "Failed to connect", errno: 111))
    private static let certificate = DownloadError.trustFailed(
        TransportDiagnosis(code: 60, message: "self-signed certificate"))
    private static let noTLS = DownloadError.trustFailed(
        TransportDiagnosis(code: 35, message: "error:0A00010B:SSL routines::wrong version number"))
    private static func words(_ message: String) -> TransportDiagnosis { TransportDiagnosis(code: 0, message: message) }

    private static let unreachable = DownloadError.networkFailed(
        .connect, TransportDiagnosis(code: 7, message: "Failed to connect", errno: 101))

    /// Returns the chosen URL for a server whose https answers with this error, and the requests that looked for the
    /// scheme.
    private func taken(
        _ arguments: [String], _ error: DownloadError?
    ) async throws -> (url: String?, questions: [DownloadRequest], errors: String, status: Int32) {
        let questions = Mutex<[DownloadRequest]>([])
        let service = FollowerTests.failing(.serverRefused(status: 404, phrase: "Not Found"))
        let (status, captured) = try await run(["get"] + arguments, service) { context in
            context.fetch = { request, _, _, _ in
                questions.withLock { $0.append(request) }
                if let error { throw error }
                return []
            }
        }
        let url = captured.errorLines.compactMap { $0.firstMatch(of: /using (\S+)/).map { String($0.1) } }.first
        return (url, questions.withLock(\.self), captured.errors, status)
    }

    @Test("https is tried first, and http is used only if the server has no https")
    func choice() async throws {
        for (error, scheme) in [
            (nil, "https"), (Self.certificate, "https"), (Self.unreachable, "https"),
            (.networkFailed(.nameResolution, TransportDiagnosis(code: 6, message: "")), "https"),
            (.serverRefused(status: 404, phrase: ""), "https"), (Self.refused, "http"), (Self.noTLS, "http"),
            (.networkFailed(.timedOut, Self.words("Connection timed out after 15001 milliseconds")), "http"),
            (.networkFailed(.timedOut, Self.words("Operation timed out")), "https"),
            (.networkFailed(.connectionLost, Self.words("OpenSSL SSL_connect: SSL_ERROR_SYSCALL")), "http"),
            (.networkFailed(.connectionLost, Self.words("Recv failure")), "https"),
        ] as [(DownloadError?, String)] {
            let (url, questions, errors, _) = try await taken(["example.org/x?once=1"], error)
            #expect(url == "\(scheme)://example.org/x?once=1", "\(errors)")
            // The search for the scheme does not request the file itself, because the link may work only once.
            #expect(questions.map(\.url.string) == ["https://example.org/"])
            #expect(questions.first?.http.method == "HEAD")
        }
    }

    @Test("A port decides the scheme, and no server is asked")
    func port() async throws {
        for (text, url) in [("nas:8080/x", "http://nas:8080/x"), ("a.org:443/x", "https://a.org:443/x")] {
            let result = try await taken([text], Self.refused)
            #expect(result.url == url && result.questions.isEmpty, "\(result.errors)")
        }
    }

    @Test(
        "With secrets, http is never guessed for another machine, because the secrets would not be encrypted",
        arguments: [["-u", "me:pw"], ["-H", "Authorization: Bearer x"], ["--data", "a=b"]])
    func secrets(options: [String]) async throws {
        let result = try await taken(options + ["example.org/x"], Self.refused)
        #expect(result.url == "https://example.org/x" && result.questions.isEmpty, "\(result.errors)")
        let other = try await taken(options + ["example.org:8080/x"], nil)
        #expect(other.status == 2 && other.url == nil && other.errors.contains("write https://"), "\(other.errors)")
        let own = try await taken(options + ["localhost:8080/x"], nil)
        #expect(own.url == "http://localhost:8080/x", "\(own.errors)")
    }

    @Test("A token in the URL counts as a secret, and is not repeated")
    func token() async throws {
        let result = try await taken(["example.org/x?token=hunter2"], Self.refused)
        #expect(result.errors.contains("using https://example.org/x?token=***"), "\(result.errors)")
        #expect(!result.errors.contains("hunter2"))
    }

    @Test("If only https is allowed, no server is asked")
    func only() async throws {
        let result = try await taken(["--proto", "=https", "example.org:8080/x"], Self.refused)
        #expect(result.url == "https://example.org:8080/x" && result.questions.isEmpty, "\(result.errors)")
    }

    @Test("The name of an existing file is not read as a host")
    func file() async throws {
        for path in [#filePath, "/"] {
            let result = try await taken([path], nil)
            #expect(result.status == 2 && result.errors.contains("this is a file, not a URL"))
        }
    }
}
