import DownloadCore
import DownloadTestSupport
import Foundation
import Testing

@testable import dlm

@Suite("The service manager", .inTurn, .serialized)
struct ServiceManagerTests {
    @Test(
        "The service manager is notified by a datagram, at a path or in the abstract namespace",
        arguments: [false, true])
    func notified(isAbstract: Bool) async throws {
        let folder = try TemporaryFolder()
        let address = isAbstract ? "@" + folder("notify") : folder("notify")
        let socket = try UnixSocket(.datagram, at: address)
        let notifier = try #require(ServiceNotifier(environment: ["NOTIFY_SOCKET": address]))
        notifier.ready("Serving")
        notifier.stopping("Pausing downloads")
        let lines = try await socket.receive()?.split(separator: "\n")
        #expect(lines == ["READY=1", "STATUS=Serving", "MAINPID=\(getpid())"])
        #expect(try await socket.receive() == "STOPPING=1\nSTATUS=Pausing downloads")
    }

    @Test("Without a listener, nothing is sent", arguments: ["", "@", "relative", "vsock:2:3", "/nowhere/notify"])
    func nobody(address: String) {
        ServiceNotifier(environment: ["NOTIFY_SOCKET": address])?.ready("")
        #expect((ServiceNotifier(environment: ["NOTIFY_SOCKET": address]) != nil) == address.hasPrefix("/"))
        #expect(ServiceNotifier(environment: [:]) == nil)
        #expect(ServiceNotifier(environment: ["NOTIFY_SOCKET": "/" + String(repeating: "x", count: 107)]) == nil)
    }

    func environment(pid: pid_t = getpid(), count: String = "1") -> [String: String] {
        ["LISTEN_PID": "\(pid)", "LISTEN_FDS": count, "LISTEN_FDNAMES": "dlm.socket"]
    }

    @Test("A listening socket that was passed is adopted, and closed on exec")
    func passed() throws {
        let folder = try TemporaryFolder()
        let socket = try UnixSocket(.stream, at: folder("s"))
        try socket.startListening()
        _ = fcntl(socket.descriptor, F_SETFD, 0)
        let taken = try SocketActivation.listener(
            environment: environment(), path: folder("s"), first: socket.descriptor)
        #expect(taken == socket.descriptor)
        #expect(fcntl(socket.descriptor, F_GETFD) & FD_CLOEXEC != 0)
    }

    @Test("A socket that was passed to another process, or not at all, is ignored")
    func foreign() throws {
        let other = environment(pid: getpid() + 1)
        #expect(try SocketActivation.listener(environment: other, path: "/s") == nil)
        #expect(try SocketActivation.listener(environment: [:], path: "/s") == nil)
    }

    @Test("A descriptor of another kind is refused")
    func refused() throws {
        let folder = try TemporaryFolder()
        let datagram = try UnixSocket(.datagram, at: folder("d"))
        let deaf = try UnixSocket(.stream, at: folder("deaf"))
        let elsewhere = try UnixSocket(.stream, at: folder("elsewhere"))
        try elsewhere.startListening()
        let file = open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        for descriptor in [datagram.descriptor, deaf.descriptor, elsewhere.descriptor, file, 1_000_000] {
            #expect(throws: DownloadError.self, "\(descriptor)") {
                try SocketActivation.listener(environment: environment(), path: folder("s"), first: descriptor)
            }
        }
        for count in ["0", "-1", "2", "x", "99999999999"] {
            #expect(throws: DownloadError.self, "\(count)") {
                try SocketActivation.listener(
                    environment: environment(count: count), path: folder("s"), first: 1_000_000)
            }
        }
    }
}
