import Foundation
import Synchronization

/// A system call that failed.
package struct SystemError: Error, CustomStringConvertible {
    package let operation: String
    package let code: Int32

    package init(_ operation: String, code: Int32 = errno) {
        self.operation = operation
        self.code = code
    }

    package var description: String { "\(operation): \(String(cString: strerror(code)))" }
}

/// TCP sockets on 127.0.0.1 or another address of this machine, and Unix sockets.
package enum LoopbackSocket {
    /// The ports to listen on. The kernel gives higher ports to clients (ip(7), ip_local_port_range).
    private static let ports = 10_000..<32_000
    private static let next = Mutex(Int(getpid()))

    /// Opens a listening socket at 127.0.0.`host`. If no port is given, each call takes the next free one of the 22,000 ports. So a
    /// server that has ended stays unreachable, whatever server another test starts.
    package static func listen(
        port given: Int? = nil, host: UInt8 = 1, backlog: Int32
    ) throws -> (descriptor: Int32, port: Int) {
        for _ in ports {
            let port =
                given
                ?? next.withLock { number in
                    number += 1
                    return ports.lowerBound + number % ports.count
                }
            let descriptor = try open()
            var address = loopback(port: port, host: host)
            let isBound = withSocketAddress(&address) { bind(descriptor, $0, $1) } == 0
            if isBound, Glibc.listen(descriptor, backlog) == 0 { return (descriptor, port) }
            let error = failure(isBound ? "listen" : "bind", closing: descriptor)
            guard error.code == EADDRINUSE, given == nil else { throw error }
        }
        throw SystemError("bind", code: EADDRINUSE)
    }

    /// Opens a listening Unix socket at a path of at most 107 bytes at which nothing exists yet.
    package static func listen(unixSocket path: String, backlog: Int32) throws -> Int32 {
        let descriptor = try open(AF_UNIX)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard bound == 0 else { throw failure("bind", closing: descriptor) }
        guard Glibc.listen(descriptor, backlog) == 0 else { throw failure("listen", closing: descriptor) }
        return descriptor
    }

    /// Waits until the peer's kernel has acknowledged the written bytes, or the connection has ended.
    package static func waitUntilTaken(_ descriptor: Int32) {
        var unsent: Int32 = 1
        var watched = pollfd(fd: descriptor, events: 0, revents: 0)
        // After a reset by the peer, the count of unacknowledged bytes stays above zero.
        while ioctl(descriptor, UInt(TIOCOUTQ), &unsent) == 0, unsent > 0, poll(&watched, 1, 1) == 0 {}
    }

    /// Returns a port on which nothing listens. No other test gets this port.
    package static func unusedPort() throws -> Int {
        let (descriptor, port) = try listen(backlog: 1)
        close(descriptor)
        return port
    }

    /// Returns whether a program accepts connections on the port.
    package static func accepts(port: Int) throws -> Bool {
        do {
            close(try connect(port: port))
            return true
        } catch is RefusedConnection {
            return false
        }
    }

    struct RefusedConnection: Error {}

    /// Opens a connection to a port of this machine.
    static func connect(port: Int) throws -> Int32 {
        let descriptor = try open()
        var address = loopback(port: port)
        guard withSocketAddress(&address, { Glibc.connect(descriptor, $0, $1) }) == 0 else {
            close(descriptor)
            throw RefusedConnection()
        }
        return descriptor
    }

    /// Returns the IPv4 address of the peer.
    static func peer(of descriptor: Int32) -> String {
        var address = loopback(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        guard withSocketAddress(&address, { pointer, _ in getpeername(descriptor, pointer, &length) }) == 0 else {
            return ""
        }
        let number = UInt32(bigEndian: address.sin_addr.s_addr)
        return [24, 16, 8, 0].map { String(number >> $0 & 255) }.joined(separator: ".")
    }

    private static func open(_ family: Int32 = AF_INET) throws -> Int32 {
        let descriptor = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw SystemError("socket") }
        return descriptor
    }

    private static func loopback(port: Int, host: UInt8 = 1) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = (0x7F00_0000 | UInt32(host)).bigEndian
        return address
    }

    private static func withSocketAddress<Result>(
        _ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    private static func failure(_ operation: String, closing descriptor: Int32) -> SystemError {
        let error = SystemError(operation)
        close(descriptor)
        return error
    }
}

extension ChildProcess {
    /// The environment of server programs.
    package static let serverEnvironment = ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"]

    /// Ends the program by SIGTERM, or by SIGKILL after a while.
    package func stop() async {
        send(SIGTERM)
        if await !waitForEnd(atMost: .seconds(10)) { send(SIGKILL) }
    }

    /// Runs a program that must succeed.
    package static func succeed(_ launch: ProcessLaunch) async throws {
        let result = try await ChildProcess(launch).result()
        guard result.ending == .exited(0) else {
            throw Failure(description: "\(launch): \(result.stdout) \(result.stderr)")
        }
    }

    /// Waits until the program listens at the port. If it does not, kills the process, and throws an error with its
    /// output.
    package func waitToListen(at port: Int, _ name: String, log: @autoclosure () -> String = "") async throws {
        let deadline = ContinuousClock.now + .seconds(30)
        while try !LoopbackSocket.accepts(port: port) {
            guard ContinuousClock.now < deadline, await !waitForEnd(atMost: .milliseconds(20)) else {
                send(SIGKILL)
                throw Failure(description: "\(name) did not start: \(standardError) \(log())")
            }
        }
    }
}
