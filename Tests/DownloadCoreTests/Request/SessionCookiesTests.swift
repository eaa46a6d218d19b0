import DownloadTestSupport
import Testing

@testable import DownloadCore

@Suite("CookieMemory: the cookies of a session", .inTurn)
struct SessionCookiesTests {
    private static func line(_ domain: String, _ name: String, _ value: String, end: Int = 0) -> String {
        "\(domain)\tTRUE\t/\tFALSE\t\(end)\t\(name)\t\(value)"
    }

    private static func known(_ sent: [String], _ lines: [String]) -> TransferResult.KnownCookies {
        TransferResult.KnownCookies(host: "a.example.org", sent: sent, lines: lines)
    }

    @Test("The cookies of concurrent transfers are all kept")
    func concurrent() {
        let memory = CookieMemory()
        let (first, second) = (Self.line("a.example.org", "a", "1"), Self.line(".example.org", "b", "1"))
        memory.learn(Self.known([], [first]))
        memory.learn(Self.known([], [second]))
        #expect(Set(memory.applied(to: [], for: "a.example.org")) == [first, second])
        #expect(memory.applied(to: [], for: "b.example.org") == [second])
        #expect(memory.applied(to: [], for: "example.com").isEmpty)
        #expect(memory.applied(to: [], for: "notexample.org").isEmpty)
    }

    @Test("A cookie of the user's file is replaced or deleted as the server says")
    func changed() {
        let memory = CookieMemory()
        let (old, new) = (Self.line(".example.org", "a", "1"), Self.line("#HttpOnly_.example.org", "a", "2"))
        let kept = Self.line("example.org", "kept", "1")
        memory.learn(Self.known([old, kept], [new, kept]))
        #expect(memory.applied(to: [old, kept], for: "www.example.org") == [kept, new])
        memory.learn(Self.known([new, kept], [kept]))
        #expect(memory.applied(to: [old, kept], for: "www.example.org") == [kept])
    }

    @Test("A line that libcurl only formats differently is not a change")
    func same() {
        let memory = CookieMemory()
        let sent = Self.line("example.org", "a", "")
        memory.learn(Self.known([String(sent.dropLast())], [Self.line(".EXAMPLE.org", "a", "")]))
        #expect(memory.applied(to: ["x"], for: "example.org") == ["x"])
    }

    @Test("An attempt keeps its cookies, and the values of all of them count as secrets")
    func list() {
        var secrets = LoadedSecrets(memory: nil)
        let (first, second) = (Self.line("h", "a", "12345678"), Self.line("h", "b", "87654321"))
        secrets.learn(Self.known([first], [first, second]))
        #expect(Set(secrets.cookieLines(for: "h")) == [first, second])
        #expect(Set(secrets.values) == ["12345678", "87654321"])
        secrets.learn(Self.known([first, second], [second]))
        #expect(secrets.cookieLines(for: "h") == [second])
        #expect(secrets.cookieLines(for: "other").isEmpty)
    }

    @Test("Downloads with the same cookie file share a memory; those with a jar or in the background do not")
    func owners() throws {
        var (mine, jar) = (SecretFiles(), SecretFiles())
        (mine.cookies, jar.cookieJar) = ("/cookies", "/jar")
        let command = SessionCookies(areShared: true)
        #expect(command.memory(of: 1, SecretFiles(), user: nil) == command.memory(of: 2, SecretFiles(), user: nil))
        #expect(command.memory(of: 1, mine, user: nil) == command.memory(of: 2, mine, user: nil))
        #expect(command.memory(of: 1, SecretFiles(), user: nil) != command.memory(of: 2, mine, user: nil))
        #expect(command.memory(of: 1, mine, user: "a") != command.memory(of: 2, mine, user: "b"))
        #expect(command.memory(of: 1, jar, user: nil) == nil)
        let background = SessionCookies(areShared: false)
        #expect(background.memory(of: 1, mine, user: nil) != background.memory(of: 2, mine, user: nil))
        #expect(background.memory(of: 1, mine, user: nil) == background.memory(of: 1, mine, user: nil))
    }

    @Test("The number of cookies of a server is limited")
    func limit() {
        let memory = CookieMemory()
        memory.learn(Self.known([], (0..<1000).map { Self.line("h", "n\($0)", "1") }))
        #expect(memory.applied(to: [], for: "h").count == 300)
    }
}
