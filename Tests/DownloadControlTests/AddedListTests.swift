@testable import DownloadControl
import DownloadCore
import Foundation
import DownloadTestSupport
import Testing

/// The answer of a session to a list of URLs.
@Suite("DownloadControl: the answer to a list of URLs", .inTurn)
struct AddedListTests {
    @Test(
        "An answer that does not fit the request is refused",
        arguments: [
            #"{"version":1,"downloads":[]}"#, #"{"version":1,"downloads":[],"inserted":[[1,2]]}"#,
            #"{"version":1,"downloads":[],"inserted":[[1,4]]}"#, #"{"version":1,"downloads":[],"inserted":[[3,1]]}"#,
            #"{"version":1,"downloads":[],"inserted":[[1],[2],[3]]}"#,
            #"{"version":1,"downloads":[],"inserted":[[0,2]]}"#,
            #"{"version":1,"downloads":[],"inserted":[[1,9223372036854775807]]}"#,
            #"{"version":1,"downloads":[{"id":1,"index":3,"kind":"inserted","name":"a","state":"queued"}],"inserted":[[2,3]]}"#,
            #"{"version":1,"downloads":[{"id":1,"kind":"gone","name":"a","state":"queued"}],"inserted":[[2,3]]}"#,
        ])
    func nonsense(_ text: String) {
        let answer = try? WireCoder.decode(WireAddedList.self, Data(text.utf8))
        let requests = RequestList((0..<3).map { DownloadRequest.example("\($0)") })
        #expect(answer?.added(requests, session: "s", at: Date()) == nil)
    }

    @Test("An answer may list its downloads one by one")
    func long() throws {
        let text = #"{"version":1,"downloads":[{"id":7,"kind":"inserted","name":"0","state":"queued"}]}"#
        let answer = try WireCoder.decode(WireAddedList.self, Data(text.utf8))
        let added = try #require(answer.added(RequestList([.example("0")]), session: "s", at: Date()))
        #expect(added.map(\.record.id) == [7] && added[0].kind == .inserted && added[0].record.session == "s")
    }
}
