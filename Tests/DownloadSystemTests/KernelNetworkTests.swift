import DownloadCore
import Testing

@testable import DownloadSystem

@Suite("KernelNetwork: this machine's network", .timeLimit(.minutes(1)))
struct KernelNetworkTests {
    @Test("The kernel reports this machine's own routes and addresses")
    func kernel() throws {
        let kernel = KernelNetwork()
        #expect(kernel.hasChanged())
        #expect(kernel.reaches("127.0.0.1", from: nil) == true)
        #expect(kernel.usableAddresses()?.contains("127.0.0.1") == true)
        #expect(kernel.has(.interface("lo")) && !kernel.has(.interface("nope0")))
        #expect(kernel.has(.address("127.0.0.1")) && !kernel.has(.address("198.51.100.7")))
        #expect(kernel.reaches("127.0.0.1", from: .interface("nope0")) == false)
        #expect(kernel.reaches("no address", from: nil) == nil)
    }
}
