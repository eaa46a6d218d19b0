import DownloadCore
import Foundation
import DownloadTestSupport
import Testing

@testable import DownloadControl

/// The document of `POST /v1/downloads`, which is written and read in ways of its own.
@Suite("DownloadControl: the document that adds downloads", .inTurn)
struct AddDocumentTests {
    private func request(_ path: String, folder: String = "/tmp", user: String? = nil) -> DownloadRequest {
        var request = DownloadRequest.example(path)
        request.destination.folder = folder
        request.credential = user.map { Credential(user: $0, password: "p") }
        return request
    }

    @Test(
        "What is written is read again", arguments: ["/tmp", #"/a "urls":[] b\"#, "/ü\n"],
        [nil, #""urls":[]"#] as [String?])
    func roundTrip(folder: String, user: String?) throws {
        let requests = (0..<3).map { request("\($0)", folder: folder, user: user) } + [request("other", folder: "/x")]
        let batch = try #require(RequestBatch.batches(of: requests).first)
        #expect(batch.groups.count == 2)
        let document = try WireAdd(groups: batch.groups, isBrief: true).json()
        let read = try WireAdd.read(document)
        #expect(read.isBrief)
        #expect(try read.groups.flatMap { try $0.requests() } == requests)
        let single = try WireAdd(groups: [batch.groups[0]]).json()
        #expect(try WireAdd.read(single).groups[0].requests() == Array(requests[..<3]))
        #expect(try !WireAdd.read(single).isBrief)
    }

    @Test("A limit of connections travels beside their number", arguments: [-64, -1, 0, 16])
    func connections(number: Int) throws {
        var request = request("a")
        request.connections = number
        let group = WireGroup(request)
        let text = String(decoding: try JSONEncoder().encode(group), as: UTF8.self)
        #expect(text.contains("\"connections\":\(max(0, number))"))
        #expect(text.contains("\"connectionLimit\":\(-number)") == (number < 0))
        #expect(try WireAdd.read(WireAdd(groups: [group]).json()).groups[0].requests() == [request])
        var overrides = RequestOverrides()
        overrides.connections = number
        #expect(try WireVerb(ids: [1], overrides: overrides).overrides().connections == number)
    }

    @Test("Limits of connections that nobody can ask for are refused", arguments: [0, 65, -1])
    func impossibleConnections(limit: Int) throws {
        var verb = WireVerb(ids: [1])
        verb.connectionLimit = limit
        #expect(throws: WireProblem.self) { try verb.overrides() }
        verb.connectionLimit = nil
        #expect(try verb.overrides().connections == nil)
        verb.connections = -1
        #expect(throws: WireProblem.self) { try verb.overrides() }
    }

    @Test("A URL that JSON must escape is")
    func escapes() throws {
        var group = WireGroup(request("a"))
        group.urls = [#"http://a/"b"\c"#, "http://bücher/", "http://a/\u{1}"]
        #expect(try WireAdd.read(WireAdd(groups: [group]).json()).groups[0].urls == group.urls)
    }

    @Test(
        "Whatever the form, it is read as the decoder reads it",
        arguments: [
            #"{"urls":["http://a/1","http://a/2"],"folder":"/t"}"#,
            #" { "folder" : "/t" , "urls" :\#t[ "http://a/1" , "http://a/2" ]\#r\#n} "#,
            #"{"groups":[{"folder":"/t","urls":["http://a/1"]}],"brief":true}"#,
            #"{"groups":[{"folder":"/t","urls":["1"]},{"folder":"/u","urls":["2"]}]}"#,
            #"{"groups":[{"folder":"/t","urls":["1"]}],"urls":["2"],"folder":"/u"}"#,
            #"{"folder":"/t","urls":["1"],"urls":["2"]}"#, #"{"folder":"/t","urls":[]}"#,
            #"{"folder":"/t","urls":["http:\/\/a\/1"]}"#, #"{"folder":"/t","\u0075rls":["1"]}"#,
            #"{"folder":"/t","\u0075rls":["1"],"x":{"urls":["2"]}}"#, #"{"folder":"/t","urls":["ü"]}"#,
            #"{"folder":"urls","urls":["urls"]}"#, #"{"folder":"/t","x":"urls","urls":["1"]}"#,
            #"{"folder":"/t","x":{"urls":["2"]}}"#, #"{"folder":"/t","urls":"1"}"#, #"{"folder":"/t","urls":["1",]}"#,
            #"{"folder":"/t","urls":["1" "2"]}"#, #"{"folder":"/t","urls":[1]}"#, #"{"folder":"/t","urls":["1""#,
            #"{"folder":"/t","urls":["1"]"#, #"{"folder":"/t","urls":["1"]}}"#, #"{"urls":["1"]}"#, #"["urls":["1"]]"#,
            #""urls":["1"]"#, "", #"{"folder":"/t","urls":["1"],"brief":7}"#,
        ])
    func forms(_ text: String) throws {
        let document = Data(text.utf8)
        guard let expected = try? WireCoder.decode(WireAdd.self, document) else {
            #expect(throws: (any Error).self) { try WireAdd.read(document) }
            return
        }
        let read = try WireAdd.read(document)
        #expect(read.isBrief == expected.isBrief)
        #expect(read.groups.map(\.urls) == expected.groups.map(\.urls))
        #expect(read.groups.map(\.folder) == expected.groups.map(\.folder))
    }

    @Test("The array is taken out of a slice of data, too")
    func slice() throws {
        let text = Data(#"xx{"folder":"/t","urls":["1","2"]}"#.utf8)
        let array = try #require(URLArray(in: text.dropFirst(2)))
        #expect(array.urls == ["1", "2"])
        #expect(String(decoding: array.rest, as: UTF8.self) == #"{"folder":"/t","urls":[]}"#)
    }
}
