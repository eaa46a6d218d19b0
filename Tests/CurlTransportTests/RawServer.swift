import DownloadTestSupport
import Foundation
import Synchronization

/// A server that answers every request with the given bytes. Then it closes the connection, or waits for the next
/// request. The server ends with this object.
final class RawServer: Sendable {
    struct Script: Sendable {
        var reply: [UInt8]
        /// Whether the reply is sent again and again until the client disconnects.
        var isEndless = false
        /// If set, the bytes from this offset on are sent in one write, after the peer's kernel has taken all earlier
        /// bytes.
        var lastWrite: Int?
        /// Whether the connection stays open after the reply, for the next request.
        var staysOpen = false

        init(_ reply: String) { self.reply = Array(reply.utf8) }
        init(_ reply: [UInt8]) { self.reply = reply }
    }

    /// The state that the threads share.
    private final class Core: Sendable {
        let requests = Observed<[String]>([])
        let open = Mutex<Set<Int32>?>([])
        let threads = DispatchGroup()
    }

    /// The TCP port, 0 on a Unix socket.
    let port: Int
    private let core = Core()
    /// The head and body of each request, as they arrived.
    var requests: Observed<[String]> { core.requests }

    convenience init(_ script: Script) throws {
        let (descriptor, port) = try LoopbackSocket.listen(backlog: 64)
        self.init(script, listener: descriptor, port: port)
    }

    convenience init(_ script: Script, unixSocket path: String) throws {
        self.init(script, listener: try LoopbackSocket.listen(unixSocket: path, backlog: 64), port: 0)
    }

    private init(_ script: Script, listener: Int32, port: Int) {
        self.port = port
        core.open.withLock { _ = $0?.insert(listener) }
        core.threads.enter()
        Thread.detachNewThread { [core] in
            while true {
                let descriptor = accept(listener, nil, nil)
                if descriptor < 0 { break }
                guard core.open.withLock({ $0?.insert(descriptor) != nil }) else {
                    close(descriptor)
                    break
                }
                core.threads.enter()
                Thread.detachNewThread {
                    while Self.serve(descriptor, script, core), script.staysOpen {}
                    core.open.withLock {
                        $0?.remove(descriptor)
                        close(descriptor)
                    }
                    core.threads.leave()
                }
            }
            close(listener)
            core.threads.leave()
        }
    }

    var url: String { "http://127.0.0.1:\(port)/file" }

    deinit {
        core.open.withLock { open in
            for descriptor in open ?? [] { shutdown(descriptor, Int32(SHUT_RDWR)) }
            open = nil
        }
        core.threads.wait()
    }

    /// Reads one request and sends its reply. Returns false if the client has disconnected.
    private static func serve(_ descriptor: Int32, _ script: Script, _ core: Core) -> Bool {
        guard let request = readRequest(descriptor) else { return false }
        core.requests.update { $0.append(request) }
        repeat {
            let last = script.lastWrite ?? script.reply.count
            guard send(script.reply[..<last], to: descriptor) else { return false }
            if script.lastWrite != nil { LoopbackSocket.waitUntilTaken(descriptor) }
            guard send(script.reply[last...], to: descriptor) else { return false }
        } while script.isEndless
        return true
    }

    private static func send(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count <= 0 { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    private static func readRequest(_ descriptor: Int32) -> String? {
        var seen = ""
        var piece = [UInt8](repeating: 0, count: 4096)
        while true {
            if let end = seen.range(of: "\r\n\r\n") {
                let length = seen.firstMatch(of: /(?i)content-length: *([0-9]+)/).flatMap { Int($0.1) } ?? 0
                if seen[end.upperBound...].utf8.count >= length { return seen }
            }
            let count = recv(descriptor, &piece, piece.count, 0)
            if count <= 0 { return nil }
            seen += String(decoding: piece[..<count], as: UTF8.self)
        }
    }
}
