import Testing

@testable import CurlTransport

@Suite("FailedNames: names that cannot be resolved")
struct FailedNamesTests {
    @Test("Each failure is remembered twice as long as the last, up to the limit, until a success")
    func doubling() {
        var names = FailedNames()
        var now: Int64 = 0
        for seconds: Int64 in [1, 2, 4, 8, 10, 10] {
            names.failed("a", now: now, limit: 10_000)
            #expect(
                names.isFailed("a", now: now + seconds * 1000 - 1) && !names.isFailed("a", now: now + seconds * 1000))
            // A failure within this time does not make the time longer. Such a failure is from a transfer that had
            // begun before.
            names.failed("a", now: now + 1, limit: 10_000)
            now += seconds * 1000
        }
        names.resolved("a")
        names.failed("a", now: now, limit: 10_000)
        #expect(!names.isFailed("a", now: now + 1000) && !names.isFailed("b", now: now))
    }

    @Test("At most ten thousand names are remembered, the newest among them")
    func bounded() {
        var names = FailedNames()
        for number in 0..<25_000 { names.failed("\(number)", now: 0, limit: 60_000) }
        #expect(names.isFailed("24999", now: 1) && !names.isFailed("5", now: 1))
    }
}
