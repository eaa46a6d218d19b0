import DownloadCore
import Testing

@testable import DownloadSystem

@Suite("Free file descriptors")
struct FreeDescriptorsTests {
    @Test(
        "A server accepts a share of the files that may be open, but at least 4 and at most 64 connections",
        arguments: [(16, 4), (64, 8), (256, 32), (512, 64), (1024, 64), (Int.max, 64)])
    func connections(limit: Int, count: Int) { #expect(FreeDescriptors.connections(within: limit) == count) }

    @Test(
        "Connections to servers leave a reserve, of which clients may use a half",
        arguments: [(24, 21, 22), (40, 35, 37), (64, 56, 59), (1024, 960, 991), (Int.max, Int.max - 64, Int.max - 33)])
    func reserve(limit: Int, first: Int, last: Int) {
        #expect(FreeDescriptors.firstReserved(within: limit) == first)
        #expect(FreeDescriptors.lastFor(1, within: limit) == last)
    }

    @Test("Room for more descriptors than the limit allows is never found")
    func noRoom() {
        #expect(!FreeDescriptors.isScarce && FreeDescriptors.hasRoom(for: 1) && !FreeDescriptors.hasRoom(for: .max))
    }
}
