import DownloadTestSupport
import HTTPTypes
import Testing

@testable import DownloadCore

@Suite("MirrorLinks: Link fields with mirrors and documents", .inTurn, .timeLimit(.minutes(1)))
struct MirrorLinksTests {
    private func links(_ values: String..., near location: String? = nil) throws -> [String] {
        var head = ResponseHead(status: 200)
        for value in values { head.fields.append(HTTPField(name: try #require(HTTPField.Name("Link")), value: value)) }
        return MirrorLinks(head, near: location).mirrors.map(\.string)
    }

    @Test("Mirrors are read in every form, and sorted by priority and location")
    func forms() throws {
        #expect(
            try links(
                "<http://c/f>; rel=duplicate, <http://a/f>;rel=\"duplicate\";pri=1",
                "<http://b/f> ; pri = 2; x; rel=\"a Duplicate\"")
                == ["http://a/f", "http://b/f", "http://c/f"])
        #expect(try links("<http://a/x,y;z>; rel=duplicate; title=\"a, \\\"b\"") == ["http://a/x,y;z"])
        #expect(
            try links("<http://a/>; rel=duplicate; pri=1; geo=us, <http://b/>; rel=duplicate; geo=DE", near: "de")
                == ["http://b/", "http://a/"])
    }

    private func document(_ value: String, from base: String? = "http://h/d/f?x") throws -> String? {
        var head = ResponseHead(status: 200)
        head.fields.append(HTTPField(name: try #require(HTTPField.Name("Link")), value: value))
        let links = MirrorLinks(head, from: try base.map { try SourceURL.parse($0).get().url })
        if links.document != nil { #expect(MirrorLinks.mayDescribe(head)) }
        return links.document?.string
    }

    @Test("The URL of a describing document is resolved against the base")
    func describedBy() throws {
        let type = "type=\"application/metalink4+xml\""
        #expect(try document("<http://a/f.meta4>; rel=describedby; \(type)") == "http://a/f.meta4")
        #expect(try document("<f.meta4>;rel=\"x DescribedBy\";TYPE=Application/Metalink+XML") == "http://h/d/f.meta4")
        #expect(try document("</f.meta4?a=b>; \(type); rel=describedby") == "http://h/f.meta4?a=b")
        #expect(try document("<//b/f.meta4>; rel=describedby; \(type)", from: "https://h/f") == "https://b/f.meta4")
        #expect(
            try document(
                "<f.asc>; rel=describedby; type=\"application/pgp-signature\", <f.meta4>; rel=describedby; \(type)")
                == "http://h/d/f.meta4")
        #expect(
            try document("<http://a/1>; rel=describedby; \(type), <http://a/2>; rel=describedby; \(type)")
                == "http://a/1")
        #expect(try links("<http://a/f>; rel=duplicate; anchor=\"/other\"").isEmpty)
    }

    @Test(
        "A link that does not describe the file is ignored",
        arguments: [
            "<f.meta4>; rel=describedby", "<f.meta4>; rel=duplicate; type=\"application/metalink4+xml\"",
            "<f>; rel=describedby; type=\"text/html\"",
            "<file:///etc/passwd>; rel=describedby; type=\"application/metalink4+xml\"",
            "<ftp://a/f>; rel=describedby; type=\"application/metalink4+xml\"",
            "<http://ann:x@a/f>; rel=describedby; type=\"application/metalink4+xml\"",
            "<f.meta4>; rel=describedby; type=\"application/metalink4+xml\"; anchor=\"/b\"",
            "<\(String(repeating: "x", count: 9000))>; rel=describedby; type=\"application/metalink4+xml\"",
        ])
    func notDescribed(value: String) throws { #expect(try document(value) == nil) }

    @Test(
        "A link that is not a mirror is ignored",
        arguments: [
            "", "<http://a/f>", "<http://a/f>; rel=next", "http://a/f; rel=duplicate", "<http://a/f; rel=duplicate",
            "<ftp://a/f>; rel=duplicate", "</f>; rel=duplicate", "<http://ann:x@a/f>; rel=duplicate",
            "<http://a/>; rel=\"duplicate",
            "<http://a/>; rel=next; rel=duplicate",
        ])
    func others(value: String) throws { #expect(try links(value).isEmpty) }

    @Test("Any Link field is read in linear time and only names http and https URLs")
    func fuzz() {
        let fuzzing = Fuzzing(
            "Link fields",
            corpus: [
                "<http://a/f>; rel=duplicate; pri=1, <http://b/>; rel=\"duplicate x\"; geo=de",
                "<f.meta4>; rel=describedby; type=\"application/metalink4+xml\"",
            ],
            words: ["<", ">", ";", ",", "\"", "\\", "rel=duplicate", "http://"])
        func read(_ input: [UInt8]) -> [SourceURL] {
            var head = ResponseHead(status: 200)
            head.fields[fields: HTTPField.Name("Link") ?? .accept] = [
                HTTPField(name: HTTPField.Name("Link") ?? .accept, value: String(decoding: input, as: UTF8.self))
            ]
            let links = MirrorLinks(head, from: try? SourceURL.parse("http://h/d/").get().url)
            return links.mirrors + [links.document].compactMap(\.self)
        }
        fuzzing.run { input in
            read(input).allSatisfy { ["http", "https"].contains($0.scheme) } ? nil : "another scheme"
        }
        fuzzing.runsInLinearTime { _ = read($0) }
    }
}
