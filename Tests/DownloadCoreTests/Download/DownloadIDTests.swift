import DownloadCore
import Foundation
import Testing

@Suite("DownloadID")
struct DownloadIDTests {
    @Test("In JSON and in text, a number is only its digits", arguments: [1, -1, 123_456_789_012, Int64.max, .min])
    func texts(number: Int64) throws {
        let id = DownloadID(rawValue: number)
        #expect("\(id)" == "\(number)" && DownloadID("\(number)") == id)
        let json = try JSONEncoder().encode(["id": id])
        #expect(json == Data("{\"id\":\(number)}".utf8))
        #expect(try JSONDecoder().decode([String: DownloadID].self, from: json) == ["id": id])
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(DownloadID.self, from: Data("\"1\"".utf8)) }
    }

    @Test("Other text is no number", arguments: ["", " 1", "1.0", "0x1", "1a", "9223372036854775808"])
    func noNumber(text: String) { #expect(DownloadID(text) == nil) }

    @Test("Numbers are ordered, and make ranges")
    func order() {
        #expect([3, 1, 2].map(DownloadID.init(rawValue:)).sorted() == [1, 2, 3])
        #expect(([5, 1, 2, 3, 8] as [DownloadID]).ranges == [5...5, 1...3, 8...8])
        #expect([DownloadID(Int64.max), DownloadID(Int64.min)].ranges.count == 2)
        #expect((1...3 as ClosedRange<DownloadID>).contains(2))
    }
}
