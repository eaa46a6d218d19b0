import DownloadCore
import DownloadTestSupport
import HTTPTypes
import Testing

@testable import CurlTransport

@Suite("CurlTransport: the answer to a challenge if the request names no scheme", .inTurn)
struct ChallengeAnswerTests {
    private static func head(_ challenges: String..., status: Int = 401) -> ResponseHead {
        var fields = HTTPFields()
        for challenge in challenges { fields.append(HTTPField(name: .wwwAuthenticate, value: challenge)) }
        return ResponseHead(status: status, httpVersion: "1.1", fields: fields)
    }

    private static func answer(
        known: Bool = false, _ change: (inout TransferRequest) -> Void = { _ in }
    ) throws -> ChallengeAnswer? {
        var request = TransferRequest(url: try SourceURL.parse("http://127.0.0.1/").get().url)
        request.options.credential = Credential(user: "ann", password: "p")
        change(&request)
        return ChallengeAnswer(request) { known }
    }

    private func expect(
        _ answer: inout ChallengeAnswer, turns: Bool, at head: ResponseHead,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let hasTurned = answer.turns(at: head)
        #expect(hasTurned == turns, sourceLocation: sourceLocation)
    }

    @Test(
        "The schemes of all challenges are read, whatever is in their parameters",
        arguments: [
            ("Basic realm=\"x\"", ["basic"]), ("digest realm=\"a, Basic b\", nonce=\"\\\"\"", ["digest"]),
            ("Basic realm=\"x\", Digest realm=\"y\", nonce=\"z\", qop=\"auth,auth-int\"", ["basic", "digest"]),
            ("Negotiate, NTLM", ["negotiate", "ntlm"]), ("NTLM TlRMTVNTUAAC=", ["ntlm"]), ("", []),
            ("Digest realm = \"x\", nonce = \"y\"", ["digest"]), (", ,", []),
        ])
    func schemes(value: String, schemes: [String]) {
        #expect(Challenge.schemes(Self.head(value)) == schemes)
        #expect(Challenge.schemes(Self.head("Basic", value)) == ["basic"] + schemes)
    }

    @Test("A Digest challenge is answered once; a second challenge is final")
    func once() throws {
        var answer = try #require(try Self.answer())
        let digest = Self.head("Digest realm=\"x\", nonce=\"y\"", "Basic realm=\"x\"")
        #expect(!answer.usesDigest)
        expect(&answer, turns: true, at: digest)
        expect(&answer, turns: false, at: digest)
        #expect(answer.usesDigest)
    }

    @Test("Basic stays in use if the server does not offer Digest")
    func basic() throws {
        for head in [Self.head("Basic realm=\"x\""), Self.head(), Self.head("Digest nonce=\"x\"", status: 403)] {
            var answer = try #require(try Self.answer())
            expect(&answer, turns: false, at: head)
            #expect(!answer.usesDigest)
        }
    }

    @Test("A server known to ask for Digest gets a digest at once, until it asks for Basic only")
    func known() throws {
        var answer = try #require(try Self.answer(known: true))
        #expect(answer.usesDigest)
        expect(&answer, turns: false, at: Self.head("Digest nonce=\"x\""))
        expect(&answer, turns: true, at: Self.head("Basic realm=\"x\""))
        #expect(!answer.usesDigest)
        expect(&answer, turns: false, at: Self.head("Digest nonce=\"x\""))
    }

    @Test("No challenge is answered if the request has another scheme, a signature or no user name, or is not HTTP")
    func decided() throws {
        #expect(try Self.answer { $0.options.authentication = .basic } == nil)
        #expect(try Self.answer { $0.options.authentication = .any } == nil)
        #expect(try Self.answer { $0.options.signature = "aws:amz" } == nil)
        #expect(try Self.answer { $0.options.credential = nil } == nil)
        #expect(try Self.answer { $0.options.credential = Credential(user: "", password: "") } == nil)
        let other = try SourceURL.parse("ftp://127.0.0.1/x").get().url
        #expect(try Self.answer { $0.url = other } == nil)
    }

    @Test(
        "Only an NTLM or Negotiate challenge with data belongs to a connection",
        arguments: [("NTLM", false), ("NTLM TlRM", true), ("negotiate YII=", true), ("Digest a=b", false)])
    func ofConnection(value: String, isOfConnection: Bool) {
        #expect(Challenge.isOfConnection(Self.head(value)) == isOfConnection)
    }
}
