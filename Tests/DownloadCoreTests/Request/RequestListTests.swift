import Testing

@testable import DownloadCore

@Suite("DownloadCore: lists of requests")
struct RequestListTests {
    private func url(_ name: String) throws -> SourceURL { try SourceURL.parse("http://h.example/\(name)").get().url }

    private func request(_ name: String, priority: Int = 0) throws -> DownloadRequest {
        var request = DownloadRequest(url: try url(name), destination: Destination(folder: "/"))
        request.priority = priority
        return request
    }

    @Test("A list has the requests from which it was made, in order", arguments: [0, 1, 2, 7, 40])
    func elements(count: Int) throws {
        let requests = try (0..<count).map { try request("\($0 % 9)", priority: $0 / 3 % 2) }
        let list = RequestList(requests)
        #expect(Array(list) == requests)
        #expect(list.count == count && list.indices.allSatisfy { list[$0] == requests[$0] })
        #expect(list.runs.count == (count + 2) / 3)
    }

    @Test("Neighbours share a request if only their URLs differ")
    func runs() throws {
        var list = try RequestList([request("a"), request("b"), request("c", priority: 1), request("d")])
        list.append(try url("e"))
        list.append(try request("f"))
        #expect(list.runs.map(\.urls.count) == [2, 1, 3])
        #expect(list.runs.map(\.start) == [0, 2, 3])
        #expect(try list.runs.map(\.request) == [request("a"), request("c", priority: 1), request("d")])
        #expect(try list[4] == request("e") && list[5] == request("f"))
    }
}
