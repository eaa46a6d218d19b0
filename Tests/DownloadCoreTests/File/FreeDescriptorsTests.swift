import Testing

@testable import DownloadCore

@Suite("Free file descriptors")
struct FreeDescriptorsTests {
    @Test(
        "A server accepts a share of the files that may be open, but at least 4 and at most 64 connections",
        arguments: [(16, 4), (64, 8), (256, 32), (512, 64), (1024, 64), (Int.max, 64)])
    func connections(limit: Int, count: Int) { #expect(FreeDescriptors.connections(within: limit) == count) }
}
