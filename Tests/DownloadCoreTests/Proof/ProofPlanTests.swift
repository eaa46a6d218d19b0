import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore

@Suite("ProofPlan", .inTurn)
struct ProofPlanTests {
    static let right = String(repeating: "a", count: 64)
    static let other = String(repeating: "b", count: 64)
    static let right512 = String(repeating: "a", count: 128)
    static let rightMD5 = String(repeating: "a", count: 32)
    static let size: Int64 = 9 << 20
    static let notFound = DownloadError.serverRefused(status: 404, phrase: "Not Found")

    static func record(
        _ url: String = "https://cd.example.org/iso/x.iso", _ change: (inout DownloadRecord) throws -> Void = { _ in }
    ) throws -> DownloadRecord {
        var request = DownloadRequest(url: try SourceURL.parse(url).get().url, destination: Destination(folder: "/d"))
        request.proof = .auto
        var record = DownloadRecord(id: 1, request: request, created: Date(timeIntervalSince1970: 0))
        record.resume.total = size
        try change(&record)
        return record
    }

    /// Returns the plan for a record, with each document that exists.
    static func search(_ plan: ProofPlan?, _ documents: [String: String]) throws -> ProofPlan {
        var plan = try #require(plan)
        while let url = plan.next {
            plan.handle(documents[url.string].map { .success(ProofDocument(Array($0.utf8))) } ?? .failure(notFound))
        }
        return plan
    }

    // MARK: What is asked

    @Test("Two documents beside the file are asked, and after a day's memory of them the next two")
    func order() throws {
        var missing: Set<String> = []
        var asked: [String] = []
        for _ in 0..<5 {
            var plan = try #require(ProofPlan(for: try Self.record()))
            #expect(plan.folder == "https://cd.example.org/iso/")
            plan.skip(missing)
            let found = try Self.search(plan, [:])
            missing.formUnion(found.missing)
            asked += found.outcome.asked.map { String($0.dropFirst(plan.folder.count)) }
        }
        #expect(
            asked == [
                "SHA256SUMS", "x.iso.sha256", "SHA512SUMS", "x.iso.sha512", "CHECKSUM", "sha256sum.txt",
                "x.iso.sha256sum", "x.iso.md5",
            ])
    }

    static let all: Set<String> = [
        "SHA256SUMS", ".sha256", "SHA512SUMS", ".sha512", "CHECKSUM", "sha256sum.txt", ".sha256sum", ".md5",
    ]
    static let late = DownloadError.networkFailed(.timedOut, TransportDiagnosis(code: 0, message: ""))
    static let answers: [(answer: Result<ProofDocument, DownloadError>, missing: Set<String>, isOver: Bool)] = [
        (.success(ProofDocument([])), [], false),
        (.failure(.serverRefused(status: 404, phrase: "")), ["SHA256SUMS"], false),
        (.failure(.serverRefused(status: 410, phrase: "")), ["SHA256SUMS"], false),
        (.failure(.serverRefused(status: 401, phrase: "")), [], false),
        (.failure(.verificationFailed(.unverifiable("too long"))), [], false),
        (.failure(.serverRefused(status: 403, phrase: "")), all, true),
        (.failure(.serverRefused(status: 429, phrase: "")), all, true),
        (.failure(.serverRefused(status: 503, phrase: "")), all, true), (.failure(late), [], true),
    ]

    @Test("A document that is not there is missing; a refusal and a silent server end the search and do not count")
    func answers() throws {
        for (answer, missing, isOver) in Self.answers {
            var plan = try #require(ProofPlan(for: try Self.record()))
            plan.handle(answer)
            #expect(plan.missing == missing, "\(answer)")
            #expect((plan.next == nil) == isOver && plan.outcome.asked.isEmpty == isOver, "\(answer)")
        }
    }

    @Test("A required proof is looked for in all places, also after a 403 and where nothing was found before")
    func all() throws {
        var plan = try #require(ProofPlan(for: try Self.record { $0.request.proof = .require }))
        plan.skip(Self.all)
        while plan.next != nil { plan.handle(.failure(.serverRefused(status: 403, phrase: ""))) }
        #expect(plan.outcome.asked.count == Self.all.count && plan.missing.isEmpty)
    }

    @Test("The plan for a second look asks only for the document with the digest")
    func again() throws {
        let list = "https://cd.example.org/iso/SHA256SUMS"
        let found = try Self.search(ProofPlan(for: try Self.record()), [list: "\(Self.other)  x.iso\n"]).outcome
        let record = try Self.record { $0.resume.proof = found }
        let again = try Self.search(ProofPlan.again(for: record), [list: "\(Self.right)  x.iso\n"]).outcome
        #expect(again.asked == [list] && again.found?.digest == Self.right)
        #expect(try ProofPlan.again(for: Self.record()) == nil)
    }

    @Test("A digest is stale if its document is older than the file, and both times are known")
    func stale() throws {
        let old = Date(timeIntervalSince1970: 0)
        for (document, file, isStale) in [
            (old, "Thu, 01 Jan 1970 00:00:01 GMT", true), (old, "Thu, 01 Jan 1970 00:00:00 GMT", false),
            (old, nil, false), (nil, "Thu, 01 Jan 1970 00:00:01 GMT", false),
        ] {
            var outcome = ProofPlan.Outcome()
            outcome.found = Checksum(algorithm: .sha256, digest: Self.right).stated(in: "http://h/SHA256SUMS")
            outcome.modified = document
            #expect(outcome.ignoreIfStale(Validators(lastModified: file), now: Date()) == isStale)
            #expect((outcome.found == nil) == isStale)
            #expect(outcome.stale == (isStale ? "http://h/SHA256SUMS" : nil))
        }
    }

    @Test("The folder of the final URL counts if it has the origin of the file's URL, and else the folder of that URL")
    func folder() throws {
        for (start, end, folder) in [
            ("http://h/iso/x.iso", "http://h/13/y.iso", "http://h/13/"),
            // The server has only turned on TLS.
            ("http://h/iso/x.iso", "https://h/13/y.iso", "https://h/13/"),
            ("https://h/iso/x.iso", "http://h/13/y.iso", "https://h/iso/"),
            ("http://h/iso/x.iso", "http://h:8080/13/y.iso", "http://h/iso/"),
            ("http://h:8080/iso/x.iso", "https://h/13/y.iso", "http://h:8080/iso/"),
            ("http://h/iso/x.iso", "https://h:8443/13/y.iso", "http://h/iso/"),
            ("http://h/iso/x.iso", "http://m/iso/x.iso", "http://h/iso/"),
        ] {
            let plan = ProofPlan(
                for: try Self.record(start) {
                    $0.resume.finalURL = try SourceURL.parse(end).get().url
                })
            #expect(plan?.folder == folder, "\(end)")
        }
    }

    typealias Change = @Sendable (inout DownloadRecord) throws -> Void
    static let refusals: [(what: String, change: Change)] = [
        ("small", { $0.resume.total = ProofPlan.leastSize - 1 }), ("unknown size", { $0.resume.total = nil }),
        ("off", { $0.request.proof = .off }), ("headers", { $0.request.proof = .headers }),
        ("a password", { $0.request.credential = Credential(user: "me", password: "p") }),
        ("a secret field", { $0.request.headers = [RequestHeader(name: "Authorization", value: "x")] }),
        ("cookies", { $0.request.secretFiles.cookies = "/c" }),
        ("a netrc file", { $0.request.secretFiles.netrc = "/n" }),
        ("a method", { $0.request.http.method = "POST" }), ("decoded", { $0.request.http.acceptsCompressed = true }),
        ("encoded", { $0.resume.contentEncoding = "gzip" }),
        ("a checksum", { $0.request.checksum = Checksum(algorithm: .md5, digest: "0") }),
        ("a digest in the answer", { $0.resume.digest = Checksum(algorithm: .md5, digest: "0") }),
        ("a Metalink document", { $0.request.describedName = "x" }),
        (
            "two requests before",
            {
                $0.resume.proof = try JSONDecoder().decode(
                    ProofPlan.Outcome.self, from: Data(#"{"asked":["a","b"]}"#.utf8))
            }
        ),
    ]

    @Test("Files that are not looked up", arguments: refusals.map(\.what))
    func refused(what: String) throws {
        let refusal = try #require(Self.refusals.first { $0.what == what })
        #expect(ProofPlan(for: try Self.record { try refusal.change(&$0) }) == nil)
    }

    @Test(
        "URLs without a place beside them",
        arguments: [
            "https://h/x.iso?a=1", "https://h/", "ftp://h/x.iso", "https://h/a//", "https://h/dl/9f8a7c",
            "https://h/a.", "https://h/.x",
        ])
    func noPlace(url: String) throws {
        #expect(ProofPlan(for: try Self.record(url)) == nil)
        #expect(
            ProofPlan(
                for: try Self.record("https://h/x.iso") {
                    $0.resume.finalURL = try SourceURL.parse("https://h/y?Signature=1").get().url
                }) == nil)
    }

    @Test("A CRC in the answer is no proof, and a required proof is looked up for files of any size")
    func looked() throws {
        #expect(ProofPlan(for: try Self.record { $0.resume.digest = Checksum(algorithm: .crc32c, digest: "0") }) != nil)
        #expect(
            ProofPlan(
                for: try Self.record {
                    $0.request.proof = .require
                    $0.resume.total = 1
                }) != nil)
    }

    @Test("The request for a document has no fields of the user and follows no redirect")
    func request() throws {
        var request = try Self.record().request
        request.headers = [RequestHeader(name: "X-Team", value: "data")]
        request.validation = ResponseValidation(maximumSize: 7)
        let asked = ProofPlan.request(for: request.url, like: request)
        #expect(asked.headers.isEmpty && asked.redirect.limit == 0 && asked.validation == ResponseValidation())
    }

    // MARK: Which digest counts

    static let name = "x.iso"

    /// Documents with a right digest: the name, and the text.
    static let honest: [(place: String, text: String)] = [
        ("x.iso.sha256", "\(right)  x.iso\n"), ("x.iso.sha256", right), ("x.iso.sha256", "\(right) *x.iso"),
        ("x.iso.sha256", "\(right)  x.iso\r\n"), ("x.iso.sha256", "\(right)  -\n"),
        ("SHA256SUMS", "\(other)  y.iso\n\(right) *x.iso\n"), ("SHA256SUMS", "\(right)  ./x.iso\n"),
        ("SHA256SUMS", "\(other) *y.iso\r\n\(right) *x.iso\r\n"), ("SHA256SUMS", "\u{FEFF}\(right)  x.iso\n"),
        ("SHA256SUMS", "SHA256 (x.iso) = \(right)\n"), ("SHA256SUMS", "SHA2-256(x.iso)= \(right)\n"),
        ("SHA256SUMS", "\(rightMD5)  x.iso\n\(right)  x.iso\n\(right)  x.iso\n"),
        (
            "SHA256SUMS",
            "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\n\(right)  x.iso\n"
                + "-----BEGIN PGP SIGNATURE-----\n\niQ==\n-----END PGP SIGNATURE-----\n"
        ),
        ("SHA512SUMS", "\(right512)  x.iso\n"), ("x.iso.sha512", right512),
        ("CHECKSUM", "# x.iso: 9 bytes\nSHA256 (x.iso) = \(right)\n"), ("sha256sum.txt", "\(right) *x.iso\n"),
        ("x.iso.sha256sum", "\(right)  x.iso"), ("x.iso.md5", rightMD5),
    ]

    /// Forged or sloppy documents. None of them may prove that the file has the digest in it.
    static let forged: [(place: String, text: String, why: String)] = [
        ("SHA256SUMS", "\(right)  y.iso\n", "another name"),
        ("SHA256SUMS", "\(right)  X.ISO\n", "a name in another case"),
        ("SHA256SUMS", "\(right)  x.iso.torrent\n", "a longer name"),
        ("SHA256SUMS", "\(right)  ax.iso\n", "a name with more before it"),
        ("SHA256SUMS", "\(right)  x.iso \n", "a name that ends with a space"),
        ("SHA256SUMS", "\(right)  other/x.iso\n", "a file of another folder"),
        ("SHA256SUMS", "\(right)  ../x.iso\n", "a file of the folder above"),
        ("SHA256SUMS", "\(right)  /iso/x.iso\n", "an absolute path"),
        ("SHA256SUMS", "\(right)  /x.iso\n", "a file of the root folder"),
        ("SHA256SUMS", "\(right)  x.iso/\n", "a folder of the name"),
        ("SHA256SUMS", "\(right)  \(String(repeating: "x", count: 1_000_000)).iso\n", "a line of 1 MB"),
        ("SHA256SUMS", "\(right)  \u{445}.iso\n", "a name with a Cyrillic letter"),
        ("SHA256SUMS", "\(right)  x\u{200B}.iso\n", "a name with an invisible character"),
        ("SHA256SUMS", "\(right)  x.iso\u{0}\n", "a name with a NUL"),
        ("SHA256SUMS", "\(right)\n", "a digest without a name in a list"),
        ("SHA256SUMS", "\(right)  -\n", "standard input in a list"),
        ("SHA256SUMS", "\(right)  x.iso", "a last line that may be cut off"),
        ("SHA256SUMS", "\(right.dropLast())  x.iso\n", "a digest that is too short"),
        ("SHA256SUMS", "\(right)a  x.iso\n", "a digest that is too long"),
        ("SHA256SUMS", "\(right)  x.iso\n\(other)  x.iso\n", "two different digests"),
        ("SHA256SUMS", "\(other)  x.iso\nSHA256 (x.iso) = \(right)\n", "two different digests in two formats"),
        ("SHA256SUMS", "\(rightMD5)  x.iso\n", "an MD5 instead of a SHA-256"),
        ("SHA256SUMS", "MD5 (x.iso) = \(rightMD5)\n", "a tagged MD5 instead of a SHA-256"),
        ("SHA256SUMS", "SHA3-256 (x.iso) = \(right)\n", "an algorithm of the same length"),
        ("SHA256SUMS", "SHA512 (x.iso) = \(right)\n", "a digest of the wrong length for its tag"),
        ("SHA256SUMS", "# \(right)  x.iso\n", "a comment"),
        ("SHA256SUMS", "# SHA256 (x.iso) = \(right)\n", "a tagged line in a comment"),
        ("SHA256SUMS", "\(other)  y.iso\r\(right)  x.iso\r\n", "lines that end with CR alone"),
        ("SHA256SUMS", "<!doctype html>\n\(right)  x.iso\n", "HTML"),
        ("SHA256SUMS", "\u{FEFF}<html><pre>\n\(right)  x.iso\n</pre>\n", "HTML after a byte order mark"),
        ("SHA256SUMS", "\n  <html><pre>\n\(right)  x.iso\n</pre>\n", "HTML after blanks"),
        ("SHA256SUMS", "\(right)  x.iso\n" + String(repeating: "#\n", count: 1 << 19), "a list that is too long"),
        (
            "SHA256SUMS",
            "-----BEGIN PGP SIGNED MESSAGE-----\n\n\(other)  y.iso\n-----BEGIN PGP SIGNATURE-----\n\niQ==\n"
                + "-----END PGP SIGNATURE-----\n\(right)  x.iso\n", "a line after the signed part"
        ),
        (
            "SHA256SUMS",
            "\(right)  x.iso\n-----BEGIN PGP SIGNED MESSAGE-----\n\n\(other)  y.iso\n"
                + "-----BEGIN PGP SIGNATURE-----\n", "a line before the signed part"
        ),
        ("SHA512SUMS", "\(right)  x.iso\n", "a SHA-256 instead of a SHA-512"),
        ("CHECKSUM", "MD5 (x.iso) = \(rightMD5)\n", "an MD5 in a list of any algorithm"),
        ("x.iso.sha256", "\(right)  y.iso\n", "another name in the document for the file"),
        ("x.iso.sha256", rightMD5, "an MD5 in the document for the SHA-256"),
        ("x.iso.sha256", "\(right)\n\(other)\n", "two digests without names"),
        ("x.iso.sha256", "\(right)  x.iso\n\(other)\n", "two digests, one without a name"),
        ("x.iso.sha256", "", "an empty document"), ("x.iso.sha256", "\u{0}\(right)", "binary data"),
        ("x.iso.md5", "\(right)  x.iso\n", "a SHA-256 in the document for the MD5"),
        ("x.iso.sha512", "\(right)", "a shorter digest than the document promises"),
    ]

    /// Returns the digest that a document states, after the documents that are asked before it were not found.
    static func digest(_ place: String, _ text: String, of name: String = name) throws -> Checksum? {
        let url = "https://cd.example.org/iso/\(place)"
        var missing: Set<String> = []
        for _ in 0..<4 {
            var plan = try #require(ProofPlan(for: try record("https://cd.example.org/iso/\(name)")))
            plan.skip(missing)
            let found = try search(plan, [url: text])
            if found.outcome.asked.contains(url) { return found.outcome.found }
            missing.formUnion(found.missing)
        }
        Issue.record("\(place) was not asked")
        return nil
    }

    @Test("The documents of publishers", arguments: honest.indices)
    func found(index: Int) throws {
        let (place, text) = Self.honest[index]
        let found = try #require(try Self.digest(place, text), "\(text)")
        #expect(found.digest.allSatisfy { $0 == "a" })
        #expect(found.field == "https://cd.example.org/iso/\(place)")
    }

    @Test("Forged and sloppy documents prove nothing", arguments: forged.map(\.why))
    func refusedDocument(why: String) throws {
        let (place, text, _) = try #require(Self.forged.first { $0.why == why })
        #expect(try Self.digest(place, text) == nil)
    }

    @Test("Names must have the same bytes, whatever Unicode says")
    func unicode() throws {
        let text = { (name: String) in "\(Self.right)  \(name)\n" }
        #expect(try Self.digest("SHA256SUMS", text("\u{E9}.iso"), of: "%C3%A9.iso") != nil)
        #expect(try Self.digest("SHA256SUMS", text("e\u{301}.iso"), of: "%C3%A9.iso") == nil)
        #expect(try Self.digest("SHA256SUMS", text("\u{FFFD}.iso"), of: "%EF%BF%BD.iso") == nil)
        #expect(try Self.digest("x%20y.iso.sha256", text("x y.iso"), of: "x%20y.iso") != nil)
        #expect(try Self.digest("x%20y.iso.sha256", text("x%20y.iso"), of: "x%20y.iso") == nil)
    }

    // MARK: GitHub

    static let link = "https://github.com/o/r/releases/download/v1.0/x.iso"
    static let release = "https://api.github.com/repos/o/r/releases/tags/v1.0"

    static func assets(_ assets: String...) -> String {
        #"{"tag_name":"v1.0","assets":[\#(assets.joined(separator: ","))]}"#
    }

    static func asset(_ name: String = name, size: Int64 = size, digest: String? = "sha256:\(right)") -> String {
        #"{"name":"\#(name)","size":\#(size),"digest":\#(digest.map { "\"\($0)\"" } ?? "null")}"#
    }

    @Test("The digest of a file of a release on GitHub is in the release, and nothing else is asked")
    func released() throws {
        let text = Self.assets(Self.asset("y", digest: nil), Self.asset())
        let found = try Self.search(ProofPlan(for: try Self.record(Self.link)), [Self.release: text]).outcome
        #expect(found.asked == [Self.release] && found.found?.digest == Self.right)
        #expect(found.found?.field == Self.release)
        let latest = "https://github.com/o/r/releases/latest/download/x.iso"
        #expect(
            ProofPlan(for: try Self.record(latest))?.next?.string
                == "https://api.github.com/repos/o/r/releases/latest")
    }

    @Test(
        "Documents about a release that say nothing about this file",
        arguments: [
            "", "{}", "<html>", assets(), assets(asset(digest: nil)), assets(asset("X.iso")), assets(asset(size: 1)),
            assets(asset(), asset()), assets(asset(digest: "md5:\(rightMD5)")), assets(asset(digest: right)),
            assets(asset(digest: "sha256:\(rightMD5)")), assets(asset()) + "x",
        ])
    func unreleased(text: String) throws {
        let found = try Self.search(ProofPlan(for: try Self.record(Self.link)), [Self.release: text]).outcome
        #expect(found.asked == [Self.release] && found.found == nil)
    }

    @Test(
        "Other links have no release, and their folders are asked",
        arguments: [
            "http://github.com/o/r/releases/download/v1/x.iso", "https://github.com/o/r/raw/main/x.iso",
            "https://github.com.example.org/o/r/releases/download/v1/x.iso",
            "https://github.com/o/r/releases/download/v1/a/x.iso", "https://github.com/o/r/releases/x/download/x.iso",
        ])
    func otherLinks(url: String) throws {
        let host = try SourceURL.parse(url).get().url.host
        #expect(ProofPlan(for: try Self.record(url))?.next?.host == host)
    }
}
