import DownloadCore
import Foundation
import DownloadTestSupport
import Testing

@Suite("Boxed: values that are shared until one is changed", .inTurn)
struct BoxedTests {
    private struct Pair: Codable, Equatable, Sendable {
        @Boxed var first: [Int]
        @Boxed var second = "b"
    }

    @Test("A changed copy leaves the other copies as they were")
    func copies() {
        let one = Pair(first: [1])
        var other = one
        #expect(other == one)
        other.first.append(2)
        other.second = "c"
        #expect(one == Pair(first: [1]))
        #expect(other.first == [1, 2] && other.second == "c")
        #expect(other != one)
        other.first.removeLast()
        other.second = "b"
        #expect(other == one)
    }

    @Test("A boxed value is encoded as the value itself")
    func coding() throws {
        let json = try JSONEncoder().encode(Pair(first: [1, 2]))
        let object = try JSONSerialization.jsonObject(with: json) as? [String: Any]
        #expect(object?["first"] as? [Int] == [1, 2])
        #expect(object?["second"] as? String == "b")
        #expect(try JSONDecoder().decode(Pair.self, from: json) == Pair(first: [1, 2]))
    }
}
