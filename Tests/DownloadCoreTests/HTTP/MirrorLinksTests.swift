import DownloadTestSupport
import HTTPTypes
import Testing

@testable import DownloadCore

@Suite("Link fields that name mirrors", .inTurn, .timeLimit(.minutes(1)))
struct MirrorLinksTests {
    private func links(_ values: String..., near location: String? = nil) throws -> [String] {
        var head = ResponseHead(status: 200)
        for value in values { head.fields.append(HTTPField(name: try #require(HTTPField.Name("Link")), value: value)) }
        return MirrorLinks(head, near: location).mirrors.map(\.string)
    }

    @Test("By priority, in any of the forms")
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

    @Test(
        "Nothing else",
        arguments: [
            "", "<http://a/f>", "<http://a/f>; rel=next", "http://a/f; rel=duplicate", "<http://a/f; rel=duplicate",
            "<ftp://a/f>; rel=duplicate", "</f>; rel=duplicate", "<http://ann:x@a/f>; rel=duplicate",
            "<http://a/>; rel=\"duplicate",
            "<http://a/>; rel=next; rel=duplicate",
        ])
    func others(value: String) throws { #expect(try links(value).isEmpty) }

    @Test("Whatever comes, it is read in linear time, and names mirrors that can be asked")
    func fuzz() {
        let fuzzing = Fuzzing(
            "Link fields", corpus: ["<http://a/f>; rel=duplicate; pri=1, <http://b/>; rel=\"duplicate x\"; geo=de"],
            words: ["<", ">", ";", ",", "\"", "\\", "rel=duplicate", "http://"])
        func read(_ input: [UInt8]) -> [SourceURL] {
            var head = ResponseHead(status: 200)
            head.fields[fields: HTTPField.Name("Link") ?? .accept] = [
                HTTPField(name: HTTPField.Name("Link") ?? .accept, value: String(decoding: input, as: UTF8.self))
            ]
            return MirrorLinks(head).mirrors
        }
        fuzzing.run { input in
            read(input).allSatisfy { ["http", "https"].contains($0.scheme) } ? nil : "another scheme"
        }
        fuzzing.runsInLinearTime { _ = read($0) }
    }
}
