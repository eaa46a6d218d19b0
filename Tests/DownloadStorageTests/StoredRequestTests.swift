import DownloadCore
import Foundation
import DownloadTestSupport
import Testing

@testable import DownloadStorage

@Suite("A request in its column", .inTurn)
struct StoredRequestTests {
    /// Nothing in it is as in the baseline.
    private func unusual() throws -> DownloadRequest {
        let blank = DownloadRecord(id: 1, request: try Sample.request(), created: Date())
        var request = try Sample.filled(blank).request
        request.credential = Credential(user: "me", password: nil)
        request.checksums = try ChecksumList(Array("\(String(repeating: "cd", count: 16))  a".utf8), source: "MD5SUMS")
        request.rateLimit = 500_000
        request.acceptsUnverified = true
        request.validation = ResponseValidation(
            types: [try #require(MediaRange("image/*"))], statuses: StatusCodes("200,203"), maximumSize: 7)
        request.retry.statuses = StatusCodes("403,520-529")
        request.timeouts.total = 3600
        request.startsPaused = true
        request.destination.takesServerName = false
        request.destination.keepsRemoteTime = true
        request.destination.continues = true
        request.hooks = Hooks(onComplete: "/usr/bin/true", onError: "/usr/bin/false", timeLimit: 1.5)
        request.mirrors = [request.url]
        request.size = 7
        request.pieces = PieceHashes(
            algorithm: .md5, length: 1 << 10, digests: [String(repeating: "ab", count: 16)])
        request.followsMetalink = false
        request.location = "de"
        request.describedName = "a"
        request.describedBy = request.url
        request.repairs = true
        request.schedule = DownloadSchedule(
            start: Date(timeIntervalSince1970: 0), windows: [try #require(TimeWindow("Mon-Fri 22:00-06:00"))],
            timeZone: "Europe/Berlin")
        request.pacing = 2.5
        return request
    }

    @Test(
        "keeps a limit of connections beside their number, so that older programs read that",
        arguments: [-64, -1, 0, 16])
    func connections(number: Int) throws {
        var request = try Sample.request()
        request.connections = number
        let json = try RequestCoder().encode(request)
        #expect(json.contains("\"connectionLimit\":\(-number)") == (number < 0))
        #expect(json.contains("\"connections\":") == (number > 0))
        #expect(try RequestCoder().decode(json).connections == number)
    }

    @Test("keeps every field that there is: one that the stored form lacks would be forgotten")
    func everyField() throws {
        let request = try unusual()
        let fields = Mirror(reflecting: request).children
        for (field, usual) in zip(fields, Mirror(reflecting: StoredRequest.baseline).children) {
            #expect("\(field.value)" != "\(usual.value)", "\(field.label ?? "") is as usual and tells nothing")
        }
        var restored = try RequestCoder().decode(RequestCoder().encode(request))
        restored.url = request.url
        restored.destination.folder = request.destination.folder
        restored.destination.fileName = request.destination.fileName
        restored.priority = request.priority
        #expect(restored == request)
    }

    @Test("is empty for a plain download")
    func plain() throws { #expect(try RequestCoder().encode(Sample.request()) == "{}") }

    @Test("has the rate limit where the schema's trigger looks for it")
    func rateLimit() throws {
        var request = try Sample.request()
        request.rateLimit = 7
        #expect(try RequestCoder().encode(request) == #"{"rateLimit":7}"#)
    }
}
